//! Who uses the CPUs: the CPU time of every process, and what the hypervisor took.
//!
//! `/proc/PID/stat` counts whole ticks (10 ms), cut off, so a difference is known to one tick per
//! process; nothing is lost over several differences. A process that began and ended between two
//! readings is seen in its parent's account of children; what no process here accounts for (outside
//! this container, or a child that nobody waited for) shows in `/proc/stat`, which counts by sampling.

use crate::{CpuTime, CpuTimes, Host, HostError};
use flyball_units::Nanos;
use std::collections::BTreeMap;
use std::path::Path;

/// The kernel's helper of which all its threads are children.
const KTHREADD: u32 = 2;

/// What `/proc/stat` may show more than the processes do without saying anything, in ticks per CPU.
const SLACK: u64 = 4;

/// CPU time of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProcessTime {
    parent: u32,
    name: String,
    /// When it began, in ticks after boot: tells it from an earlier process of the same number.
    began: u64,
    /// Ticks of its own.
    own: u64,
    /// Ticks of its children that ended and that it waited for, with theirs.
    children: u64,
}

/// CPU time of everything that runs, at one instant.
#[derive(Clone, Debug)]
pub struct ProcessTimes {
    at: Nanos,
    /// How long the reading took.
    pub took: Nanos,
    processes: BTreeMap<u32, ProcessTime>,
    cpus: CpuTimes,
}

/// Who used the CPUs between two instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuUsage {
    /// Begin of the interval.
    pub from: Nanos,
    /// End of the interval.
    pub to: Nanos,
    /// CPUs that were online.
    pub cpus: usize,
    /// This process and its descendants.
    pub own: Nanos,
    /// Other programs by name, most CPU time first; threads of the kernel by the name of their kind.
    pub others: Vec<(String, Nanos)>,
    /// Taken by the hypervisor.
    pub stolen: Nanos,
}

impl ProcessTimes {
    /// Reads the accounts of all processes: some 10 us each.
    ///
    /// # Errors
    /// No `/proc/stat`, or no list of processes.
    pub fn read(host: &dyn Host) -> Result<ProcessTimes, HostError> {
        let begin = host.now();
        let cpus = host.cpu_times()?;
        let names = host.list(Path::new("/proc"))?;
        let numbers = names.into_iter().filter_map(|name| name.parse::<u32>().ok());
        let mut processes = BTreeMap::new();
        for pid in numbers {
            // One that has ended meanwhile is in its parent's account.
            let text = host.read(Path::new(&format!("/proc/{pid}/stat")));
            if let Some(time) = text.ok().as_deref().and_then(parse) {
                processes.insert(pid, time);
            }
        }
        let at = host.now();
        Ok(ProcessTimes { at, took: at.since(begin), processes, cpus })
    }

    /// When the reading ended.
    pub fn at(&self) -> Nanos {
        self.at
    }

    /// Who used the CPUs since `earlier`; `root` and its descendants are the caller's own.
    pub fn since(&self, earlier: &ProcessTimes, root: u32) -> CpuUsage {
        let mut own = 0_u64;
        let mut others: BTreeMap<String, u64> = BTreeMap::new();
        // What ended ones had used when they were last seen. The account of the next ancestor that lives
        // holds it, too.
        let mut ended: BTreeMap<u32, u64> = BTreeMap::new();
        let lives = |pid: u32| {
            let before = earlier.processes.get(&pid);
            before.zip(self.processes.get(&pid)).is_some_and(|(then, now)| then.began == now.began)
        };
        for (pid, before) in earlier.processes.iter().filter(|(pid, _)| !lives(**pid)) {
            let mut heir = before.parent;
            for _ in 0..earlier.processes.len() {
                match earlier.processes.get(&heir) {
                    Some(parent) if !lives(heir) && parent.parent != *pid => heir = parent.parent,
                    _ => break,
                }
            }
            *ended.entry(heir).or_default() += before.own + before.children;
        }
        for (pid, now) in &self.processes {
            let before = earlier.processes.get(pid).filter(|before| before.began == now.began);
            let itself = now.own.saturating_sub(before.map_or(0, |before| before.own));
            let children = now.children.saturating_sub(before.map_or(0, |before| before.children));
            let children = children.saturating_sub(ended.get(pid).copied().unwrap_or(0));
            if self.descends(*pid, root) {
                own += itself + children;
                continue;
            }
            for (ticks, name) in [
                (itself, self.name_of(now)),
                (children, format!("programs started by {}", now.name)),
            ] {
                if ticks > 0 {
                    *others.entry(name).or_default() += ticks;
                }
            }
        }
        let cpus = self.cpus.since(&earlier.cpus);
        let sum = |of: fn(&CpuTime) -> u64| cpus.cpus.iter().map(|(_, time)| of(time)).sum::<u64>();
        let interrupts = sum(|time| time.irq + time.softirq);
        let busy = sum(|time| time.user + time.nice + time.system);
        let known = own + others.values().sum::<u64>();
        let whole = sum(|time| time.busy() + time.idle + time.iowait + time.steal);
        // Accounts and samples differ by ticks: together they are not more than there was.
        let unseen = busy.saturating_sub(known).min(whole.saturating_sub(known + interrupts));
        let slack = SLACK * cpus.cpus.len() as u64 + busy / 20;
        for (name, ticks) in [
            ("interrupts", interrupts),
            ("programs that cannot be seen from here", if unseen > slack { unseen } else { 0 }),
        ] {
            if ticks > 0 {
                others.insert(name.to_owned(), ticks);
            }
        }
        let duration = |ticks: u64| self.cpus.duration(ticks);
        let mut others: Vec<(String, Nanos)> =
            others.into_iter().map(|(name, ticks)| (name, duration(ticks))).collect();
        let stolen = sum(|time| time.steal);
        // Accounts are cut to ticks, so that a short interval may hold a tick too many.
        let left = whole.saturating_sub(own) as f64 / self.cpus.user_hz.max(1) as f64 * 1e9;
        let taken = others.iter().map(|(_, time)| time.0).sum::<u64>() + duration(stolen).0;
        let scale = if whole > 0 && taken as f64 > left { left / taken as f64 } else { 1.0 };
        let scaled = |time: Nanos| Nanos((time.0 as f64 * scale) as u64);
        others.iter_mut().for_each(|(_, time)| *time = scaled(*time));
        others.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        CpuUsage {
            from: earlier.at,
            to: self.at,
            cpus: cpus.cpus.len(),
            own: duration(own),
            others,
            stolen: scaled(duration(stolen)),
        }
    }

    fn name_of(&self, process: &ProcessTime) -> String {
        match process.name.split_once('/') {
            Some((kind, _)) if process.parent == KTHREADD => kind.to_owned(),
            _ => process.name.clone(),
        }
    }

    /// Whether `pid` is `root` or descends from it.
    fn descends(&self, pid: u32, root: u32) -> bool {
        let mut at = pid;
        // As deep as a chain can be without a circle, which a torn reading might show.
        for _ in 0..=self.processes.len() {
            if at == root {
                return true;
            }
            match self.processes.get(&at) {
                Some(process) if process.parent != at => at = process.parent,
                _ => return false,
            }
        }
        false
    }
}

impl CpuUsage {
    /// Length of the interval.
    pub fn interval(&self) -> Nanos {
        self.to.since(self.from)
    }

    /// CPU time that the caller did not get: other programs' and the hypervisor's.
    pub fn taken(&self) -> Nanos {
        Nanos(self.others.iter().map(|(_, time)| time.0).sum::<u64>() + self.stolen.0)
    }

    /// [`CpuUsage::taken`] as a share of all CPUs' time, from 0 to 1. A process has the time of its
    /// children at once when they end, so in a short interval more may seem to be taken than there was.
    pub fn share_taken(&self) -> f64 {
        self.share_of(self.taken()).min(1.0)
    }

    /// A time as a share of all CPUs' time.
    pub fn share_of(&self, time: Nanos) -> f64 {
        let whole = self.interval().0.saturating_mul(self.cpus as u64);
        if whole == 0 { 0.0 } else { time.0 as f64 / whole as f64 }
    }
}

/// The fields of `/proc/PID/stat` that count; the name may hold blanks and brackets.
fn parse(text: &str) -> Option<ProcessTime> {
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    // From the third field of the manual on: state, ppid, ...
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
    Some(ProcessTime {
        parent: u32::try_from(number(1)?).ok()?,
        name: name.to_owned(),
        began: number(19)?,
        own: number(11)?.checked_add(number(12)?)?,
        // Signed in the manual, never below zero.
        children: number(13)?.checked_add(number(14)?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedHost;

    /// A machine of two CPUs with these processes: pid, parent, name, begin, own and children's ticks.
    fn times(processes: &[(u32, u32, &str, u64, u64, u64)], steal: u64) -> ProcessTimes {
        // As much idle time as any of these needs.
        let idle = 1000 * steal;
        let mut listing = format!(
            "/proc/stat = cpu0 0 0 0 {idle} 0 0 0 {steal}\n/proc/stat = cpu1 0 0 0 0 0 0 0 0\n"
        );
        for (pid, parent, name, began, own, children) in processes {
            listing.push_str(&format!(
                "/proc/{pid}/stat = {pid} ({name}) R {parent} 1 1 0 -1 0 0 0 0 0 {own} 0 {children} 0 20 \
                 0 1 0 {began} 0 0\n"
            ));
        }
        ProcessTimes::read(&RecordedHost::from_listing(&listing).unwrap()).unwrap()
    }

    fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    #[test]
    fn own_programs_are_told_from_others_and_kinds_of_kernel_threads_are_one() {
        let before = times(
            &[
                (2, 0, "kthreadd", 1, 0, 0),
                (10, 1, "flyball", 5, 100, 0),
                (11, 10, "old", 6, 7, 0),
                (20, 1, "a ) b", 5, 50, 0),
                (30, 2, "kworker/0:1", 5, 3, 0),
                (31, 2, "kworker/u8:2", 5, 3, 0),
            ],
            2,
        );
        let after = times(
            &[
                (2, 0, "kthreadd", 1, 0, 0),
                (10, 1, "flyball", 5, 101, 20),
                (12, 10, "new", 9, 4, 0),
                (20, 1, "a ) b", 5, 55, 0),
                (30, 2, "kworker/0:1", 5, 4, 0),
                (31, 2, "kworker/u8:2", 5, 5, 0),
            ],
            3,
        );
        let usage = after.since(&before, 10);
        // 1 of its own, 20 - 7 of what ended, 4 of the new one.
        assert_eq!(usage.own, ms(180));
        assert_eq!(usage.others, [("a ) b".to_owned(), ms(50)), ("kworker".to_owned(), ms(30))]);
        assert_eq!(usage.stolen, ms(10));
        assert_eq!(usage.taken(), ms(90));
        assert_eq!(usage.cpus, 2);
    }

    #[test]
    fn what_begins_and_ends_between_two_readings_is_its_parents() {
        let before = times(&[(20, 1, "make", 5, 1, 10)], 0);
        let after = times(&[(20, 1, "make", 5, 1, 90), (21, 20, "cc1", 8, 6, 0)], 0);
        let others = after.since(&before, 10).others;
        assert_eq!(
            others,
            [("programs started by make".to_owned(), ms(800)), ("cc1".to_owned(), ms(60))]
        );
    }

    #[test]
    fn a_chain_that_ended_is_counted_once() {
        let before = times(
            &[(20, 1, "make", 5, 1, 0), (21, 20, "timeout", 6, 0, 0), (22, 21, "hog", 7, 500, 0)],
            0,
        );
        let after = times(&[(20, 1, "make", 5, 1, 510)], 0);
        let others = after.since(&before, 10).others;
        assert_eq!(others, [("programs started by make".to_owned(), ms(100))]);
    }

    #[test]
    fn what_no_process_here_accounts_for_shows_in_the_whole() {
        let at = |user: u64, irq: u64| {
            let listing = format!(
                "/proc/stat = cpu0 {user} 0 0 0 0 {irq} 0 0\n\
                 /proc/20/stat = 20 (x) R 1 1 1 0 -1 0 0 0 0 0 {user} 0 0 0 20 0 1 0 5 0 0\n"
            );
            ProcessTimes::read(&RecordedHost::from_listing(&listing).unwrap()).unwrap()
        };
        let mut after = at(100, 3);
        assert_eq!(
            after.since(&at(0, 0), 10).others,
            [("x".to_owned(), ms(1000)), ("interrupts".to_owned(), ms(30))]
        );
        after.processes.clear();
        let others = after.since(&at(0, 0), 10).others;
        assert_eq!(others[0], ("programs that cannot be seen from here".to_owned(), ms(1000)));
    }

    #[test]
    fn a_number_that_was_used_again_is_another_process() {
        let before = times(&[(20, 1, "old", 5, 900, 0)], 0);
        let after = times(&[(20, 1, "new", 8, 2, 0)], 0);
        assert_eq!(after.since(&before, 10).others, [("new".to_owned(), ms(20))]);
    }

    #[test]
    fn torn_lines_are_no_process() {
        for text in ["", "5 (x) R", "5 (x R 1", "5 (x) R 1 1 0 -1 0 0 0 0 0 a b c d 20 0 1 0 9 0"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
