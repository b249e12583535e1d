//! Who else uses the CPUs while something is measured, and which blocks that spoils.
//!
//! The processes' accounts are read between blocks, never while something is measured. A stretch of
//! blocks is *disturbed* where others took a notable share of the CPUs, and much more of it than is
//! usual in this run: a machine that is always as busy disturbs all sides alike, and doing its blocks
//! again gains nothing. The rule looks at what others did, never at what was measured, so setting
//! such blocks aside favours no side.

use super::telemetry::RowSender;
use crate::experiment::{Experiment, fit_loads};
use flyball_host::{CpuUsage, Host, HostError, ProcessIdentity, ProcessTimes, Wake};
use flyball_run::CpuUser;
use flyball_units::Nanos;
use std::sync::Arc;

/// Others disturb from this share of all CPUs' time on ...
const DISTURBING: f64 = 0.10;
/// ... if it is so many times the median share of the run so far.
const OUTSTANDING: f64 = 2.0;
/// Others are quiet below this share of all CPUs' time.
const QUIET: f64 = 0.05;
/// How long the machine has to be quiet, and how often that is looked at.
const LOOK: Nanos = Nanos::from_secs(1);
/// For how long others are looked at before the first block.
const GLANCE: Nanos = Nanos::from_millis(300);
/// A stretch is at least so long, and so many times as long as reading the accounts takes.
const LEAST: Nanos = Nanos::from_millis(100);
const TIMES_ITS_COST: u64 = 20;
/// CPU time from which a user of the CPUs has a row of its own.
const NOTABLE: Nanos = Nanos::from_millis(10);
/// Users of the CPUs that are named in a sentence.
const NAMED: usize = 3;

/// Watches the other users of the CPUs.
#[derive(Debug)]
pub(super) struct Others<'a> {
    host: &'a Arc<dyn Host>,
    rows: RowSender,
    /// This process.
    root: u32,
    /// The accounts at the begin of the stretch.
    before: ProcessTimes,
    /// Blocks of the stretch: first and last.
    blocks: Option<(u32, u32)>,
    /// Share of the CPUs that others took, in each stretch so far, ascending.
    shares: Vec<f64>,
}

/// What became of a stretch of blocks.
#[derive(Debug)]
pub(super) struct Stretch {
    /// First and last block.
    pub(super) blocks: (u32, u32),
    /// Who disturbed it; none where nobody did.
    pub(super) disturbed_by: Option<String>,
}

impl<'a> Others<'a> {
    /// Begins to watch; none where this machine does not tell of its processes.
    pub(super) fn watch(host: &'a Arc<dyn Host>, rows: &RowSender) -> Option<Others<'a>> {
        let before = ProcessTimes::read(host.as_ref()).ok()?;
        let root = ProcessIdentity::this(host.as_ref()).ok()?.pid;
        Some(Others { host, rows: rows.clone(), root, before, blocks: None, shares: Vec::new() })
    }

    /// A block is done.
    pub(super) fn block(&mut self, block: u32) {
        self.blocks = Some((self.blocks.map_or(block, |blocks| blocks.0), block));
    }

    /// Whether the stretch is long enough to be judged, for what a reading costs.
    pub(super) fn is_due(&self) -> bool {
        let least = LEAST.max(Nanos(self.before.took.0.saturating_mul(TIMES_ITS_COST)));
        self.host.now().since(self.before.at()) >= least
    }

    /// Ends the stretch and judges it; none where it holds no block.
    pub(super) fn judge(&mut self) -> Option<Stretch> {
        let blocks = self.blocks.take()?;
        let usage = self.read(Some(blocks)).ok()?;
        let disturbed = is_disturbed(usage.share_taken(), &mut self.shares);
        Some(Stretch { blocks, disturbed_by: disturbed.then(|| users(&usage)) })
    }

    /// Begins the stretch anew, after a time in which nothing was measured.
    pub(super) fn restart(&mut self) {
        // Without a reading the next stretch is longer, and so is who disturbed it.
        if let Ok(now) = ProcessTimes::read(self.host.as_ref()) {
            self.before = now;
        }
    }

    /// What was used since the last reading, into the table; the next stretch begins.
    fn read(&mut self, blocks: Option<(u32, u32)>) -> Result<CpuUsage, HostError> {
        let now = ProcessTimes::read(self.host.as_ref())?;
        let usage = now.since(&self.before, self.root);
        self.before = now;
        let row = |who: &str, name: &str, time: Nanos| CpuUser {
            from_ns: usage.from.0,
            to_ns: usage.to.0,
            cpus: u32::try_from(usage.cpus).unwrap_or(u32::MAX),
            first_block: blocks.map(|blocks| blocks.0),
            last_block: blocks.map(|blocks| blocks.1),
            who: who.to_owned(),
            name: name.to_owned(),
            cpu_ns: time.0,
        };
        self.rows.cpu_user(row("run", "", usage.own));
        let others = usage.others.iter().filter(|(_, time)| *time >= NOTABLE);
        others.for_each(|(name, time)| self.rows.cpu_user(row("other", name, *time)));
        if usage.stolen >= NOTABLE {
            self.rows.cpu_user(row("hypervisor", "", usage.stolen));
        }
        Ok(usage)
    }
}

/// Whether a stretch in which others took this share of the CPUs is disturbed, after those of `shares`,
/// to which it is added.
fn is_disturbed(share: f64, shares: &mut Vec<f64>) -> bool {
    let at = shares.partition_point(|known| *known < share);
    shares.insert(at, share);
    let usual = shares.get(shares.len() / 2).copied().unwrap_or(0.0);
    // The first one stands out from nothing: it is judged by itself.
    share >= DISTURBING && (shares.len() == 1 || share >= OUTSTANDING * usual)
}

/// Waits until others have been quiet for a second, at most for `limit`, saying once on whom it waits.
/// The error says who is not quiet.
pub(super) fn wait_quiet(
    host: &dyn Host,
    limit: Nanos,
    waiting: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let (Ok(root), Ok(mut before)) = (ProcessIdentity::this(host), ProcessTimes::read(host)) else {
        return Ok(());
    };
    let begun = host.now();
    let mut told = false;
    loop {
        let woken = host.sleep_until(host.now() + LOOK);
        let Ok(now) = ProcessTimes::read(host) else { return Ok(()) };
        let usage = now.since(&before, root.pid);
        before = now;
        // Who asks to end is heard by the trials.
        if usage.share_taken() < QUIET || !matches!(woken, Ok(Wake::OnTime)) {
            return Ok(());
        }
        let by = users(&usage);
        if host.now().since(begun) >= limit {
            return Err(by);
        }
        if !told {
            waiting(&by);
            told = true;
        }
    }
}

/// Who took how much, the first few of them: `rustc 62 %, the hypervisor 5 % of the CPUs`.
pub(super) fn users(usage: &CpuUsage) -> String {
    let mut all: Vec<(&str, Nanos)> =
        usage.others.iter().map(|(name, time)| (name.as_str(), *time)).collect();
    all.push(("the hypervisor", usage.stolen));
    all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    // What is accounted too late is no share above all that there is.
    let whole = usage.share_of(usage.taken()).max(1.0);
    let named: Vec<String> = (all.iter().take(NAMED))
        .map(|(name, time)| (name, 100.0 * usage.share_of(*time) / whole))
        .filter(|(_, percent)| *percent >= 0.5)
        .map(|(name, percent)| format!("{name} {percent:.0} %"))
        .collect();
    match named.is_empty() {
        true => format!("{:.0} % of the CPUs", 100.0 * usage.share_taken()),
        false => format!("{} of the CPUs", named.join(", ")),
    }
}

/// Looks for a moment who else uses the CPUs, before the first block, and fits what `ours` loads them with beside
/// them. What is to be said of it, where they are many.
pub fn beside(host: &dyn Host, ours: Option<&mut Experiment>) -> Option<String> {
    let before = ProcessTimes::read(host).ok()?;
    // Accounts are in ticks of 10 ms: a shorter look tells nothing.
    let _ = host.sleep_until(before.at() + GLANCE);
    let root = ProcessIdentity::this(host).ok()?.pid;
    let usage = ProcessTimes::read(host).ok()?.since(&before, root);
    let cpus = usage.cpus as f64;
    let share = usage.share_taken();
    (share >= DISTURBING).then(|| {
        let so = match ours.and_then(|experiment| fit_loads(experiment, share)) {
            Some(percent) => format!("the load is {percent} % of each CPU, not 90"),
            None => "they take time from what is measured".to_owned(),
        };
        let (others, users) = (share * cpus, users(&usage));
        format!("others use {others:.1} of {cpus} CPUs ({users}): {so}")
    })
}

/// What is said before the first block where programs that use so many CPUs, and others, together want
/// more CPUs than there are.
pub(crate) fn crowded(name: &str, wanted: f64, usage: &CpuUsage) -> Option<String> {
    let cpus = usage.cpus as f64;
    let others = usage.share_taken() * cpus;
    // What a program gets beside others is less than it wants: an eighth is left for that.
    (wanted + others > cpus * 0.875 && others > 0.125).then(|| {
        format!(
            "{name} uses {wanted:.1} of {cpus} CPUs and others use {others:.1} ({}): they will wait for \
             each other",
            users(usage)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(others_ms: u64, stolen_ms: u64) -> CpuUsage {
        CpuUsage {
            to: Nanos::from_secs(1),
            cpus: 2,
            others: vec![("cc1".to_owned(), Nanos::from_millis(others_ms))],
            stolen: Nanos::from_millis(stolen_ms),
            ..CpuUsage::default()
        }
    }

    #[test]
    fn who_takes_how_much_is_said() {
        assert_eq!(users(&usage(600, 100)), "cc1 30 %, the hypervisor 5 % of the CPUs");
        assert_eq!(users(&usage(0, 0)), "0 % of the CPUs");
        assert_eq!(users(&usage(2500, 0)), "cc1 100 % of the CPUs", "children that ended at once");
    }

    #[test]
    fn programs_that_do_not_fit_are_told_beforehand() {
        assert_eq!(crowded("a", 1.9, &usage(20, 0)), None, "nobody else is there");
        assert_eq!(crowded("a", 0.9, &usage(600, 0)), None, "a CPU is left");
        let told = crowded("a", 1.0, &usage(1000, 0)).unwrap();
        assert!(told.starts_with("a uses 1.0 of 2 CPUs and others use 1.0 (cc1 50 %"), "{told}");
    }

    #[test]
    fn a_stretch_is_disturbed_where_it_stands_out() {
        let judged = |shares: &[f64]| {
            let mut seen = Vec::new();
            shares.iter().map(|share| is_disturbed(*share, &mut seen)).collect::<Vec<bool>>()
        };
        assert_eq!(judged(&[0.01, 0.02, 0.3, 0.01]), [false, false, true, false]);
        assert_eq!(judged(&[0.02, 0.09, 0.02]), [false; 3], "hardly anything");
        // As busy as ever: doing it again gains nothing.
        assert_eq!(judged(&[0.5, 0.5, 0.55, 0.45]), [true, false, false, false]);
    }
}
