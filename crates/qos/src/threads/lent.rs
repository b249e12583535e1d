//! Slices, nice values and upper clamps: given once, and taken back where a thread still has them.

use super::Threads;
use crate::Treatment;
use crate::recover::is_gone;
use flyball_host::{FairShare, Host, Task};
use std::path::Path;

/// Another share of a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loan {
    pub before: FairShare,
    pub wanted: FairShare,
    /// Whether it was given: in the journal it stands before.
    pub given: bool,
}

impl Threads {
    /// The share that a thread is to have, where that is another than it has. `before`: what it had
    /// before, where it has one from us.
    pub(super) fn loan(
        &mut self,
        host: &dyn Host,
        task: &Task,
        treatment: Option<Treatment>,
        before: Option<FairShare>,
    ) -> Option<Loan> {
        let treatment = treatment.unwrap_or_default();
        let asks =
            treatment.nice.is_some() || treatment.slice.is_some() || treatment.most.is_some();
        if !asks && before.is_none() {
            return None;
        }
        // Threads of another class have none.
        let now = host.fair_share(task).ok()?;
        let before = before.unwrap_or(now);
        let mut wanted = treatment.share(before);
        if wanted.nice != before.nice && wanted.nice.min(before.nice) < self.lowest(host) {
            let least = wanted.nice.min(before.nice);
            self.not_lent(format!("a nice value of {least} could not be set, or given back"));
            wanted.nice = before.nice;
        }
        (wanted != now).then_some(Loan { before, wanted, given: false })
    }

    /// The lowest nice value that this process may give a thread: by CAP_SYS_NICE any, else that of
    /// RLIMIT_NICE.
    fn lowest(&mut self, host: &dyn Host) -> i32 {
        const CAP_SYS_NICE: u64 = 1 << 23;
        *self.lowest.get_or_insert_with(|| {
            let status = host.read(Path::new("/proc/self/status")).unwrap_or_default();
            let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
            let effective = effective.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
            if effective.is_some_and(|powers| powers & CAP_SYS_NICE != 0) {
                return -20;
            }
            let limits = host.read(Path::new("/proc/self/limits")).unwrap_or_default();
            let soft = limits.lines().find_map(|line| line.strip_prefix("Max nice priority"));
            let soft = soft.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok());
            20 - soft.unwrap_or(0).clamp(0, 40)
        })
    }

    fn not_lent(&mut self, because: String) {
        self.counts.not_lent += 1;
        self.counts.not_lent_because.get_or_insert(because);
    }

    /// Gives what the journal names and was not given yet.
    pub fn lend(&mut self, host: &dyn Host) {
        let mut refused = Vec::new();
        for thread in &mut self.all {
            let Some(loan) = thread.loan.as_mut().filter(|loan| !loan.given) else { continue };
            match host.fair_share_set(&thread.task, loan.wanted) {
                Ok(()) => loan.given = true,
                Err(error) => {
                    // Part of it may be there.
                    let _ = host.fair_share_set(&thread.task, loan.before);
                    thread.loan = None;
                    refused.extend((!is_gone(&error)).then(|| error.to_string()));
                }
            }
        }
        refused.into_iter().for_each(|because| self.not_lent(because));
    }
}
