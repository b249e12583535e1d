//! Which of the kernel's counters say how long a CPU was busy.

use std::path::{Path, PathBuf};

use flyball_host::{Access, Host, KeptFile, Topology};
use flyball_units::{Mismatch, Nanos};
use std::str::FromStr;

use crate::trace::CaptureError;

const CPUS: &str = "/sys/devices/system/cpu";
const SCHEDSTAT: &str = "/proc/schedstat";
const STAT: &str = "/proc/stat";

/// Shortest interval that `/proc/stat` can tell something about: ten of its steps.
const COARSE_INTERVAL: Nanos = Nanos::from_millis(100);

/// Between two readings of everything; in between only the idle states in which time is spent are read.
const ROUND_NS: u64 = 1_000_000_000;

/// A state is one of these for this many rounds after it took this share of one.
const ROUNDS: u8 = 10;
const SHARE: u64 = 100;

/// Clocks read per sample, in turn; the others are as they were found last.
const CLOCKS: usize = 4;

/// Every so many samples the runnable tasks are looked at.
const RUNNABLE_EVERY: u64 = 10;

/// A counter that could not be read: the CPU is offline.
pub(super) const UNREADABLE: u64 = u64::MAX;

/// What is counted, and how finely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Switches to and from the idle task as events (tracefs), in nanoseconds.
    Events,
    /// Time in cpuidle's states (`cpuidle/state*/time`), in microseconds, when a stay ends.
    Cpuidle,
    /// Running time of tasks (`/proc/schedstat`), in nanoseconds, when a task gives the CPU up.
    Schedstat,
    /// Idle time of `/proc/stat`, in steps of 10 ms.
    Stat,
}

impl FromStr for Counting {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Counting, Mismatch> {
        let all = [Counting::Events, Counting::Cpuidle, Counting::Schedstat, Counting::Stat];
        let named = all.into_iter().find(|counting| counting.name() == text);
        named.ok_or_else(|| Mismatch::text("events, cpuidle, schedstat or stat", text))
    }
}

impl Counting {
    /// As the manifest names it.
    pub fn name(self) -> &'static str {
        match self {
            Counting::Events => "events",
            Counting::Cpuidle => "cpuidle",
            Counting::Schedstat => "schedstat",
            Counting::Stat => "stat",
        }
    }

    /// The step in which it counts.
    pub fn resolution(self, user_hz: u64) -> Nanos {
        match self {
            Counting::Cpuidle => Nanos(1000),
            Counting::Events | Counting::Schedstat => Nanos(1),
            Counting::Stat => Nanos(1_000_000_000 / user_hz.max(1)),
        }
    }

    /// Whether a counter is one of idle time, not busy time.
    pub(super) fn is_idle(self) -> bool {
        matches!(self, Counting::Cpuidle | Counting::Stat)
    }

    /// The finest counter that this machine has; events are none.
    ///
    /// # Errors
    /// None that is fine enough for `interval`.
    pub fn finest(
        host: &dyn Host,
        cpus: &[u32],
        interval: Nanos,
    ) -> Result<Counting, CaptureError> {
        let idles = |cpu: &u32| !states(host, *cpu).is_empty();
        if !cpus.is_empty() && cpus.iter().all(idles) {
            return Ok(Counting::Cpuidle);
        }
        if host.read(Path::new(SCHEDSTAT)).is_ok_and(|text| text.contains("\ncpu0 ")) {
            return Ok(Counting::Schedstat);
        }
        if interval >= COARSE_INTERVAL {
            return Ok(Counting::Stat);
        }
        Err(CaptureError::Lacking {
            object: "idle time".to_owned(),
            expected: format!(
                "a counter finer than {} ms: {CPUS}/cpu*/cpuidle or {SCHEDSTAT}",
                interval.0 as f64 / 1e6
            ),
            found: format!("{STAT} only, which counts in steps of 10 ms"),
            hint: Some("record with an interval of 100ms or longer".to_owned()),
            permission: false,
        })
    }
}

/// The files of the idle states of a CPU.
fn states(host: &dyn Host, cpu: u32) -> Vec<PathBuf> {
    let folder = Path::new(CPUS).join(format!("cpu{cpu}/cpuidle"));
    let names = host.list(&folder).unwrap_or_default();
    let states = names.into_iter().filter(|name| name.starts_with("state"));
    let files = states.map(|name| folder.join(name).join("time"));
    files.filter(|file| host.exists(file)).collect()
}

/// The file of one idle state, and what it said.
struct State {
    file: KeptFile,
    /// In ns, at the last reading.
    last: u64,
    /// In ns, at the last reading of everything.
    at_round: u64,
    /// Rounds for which it is still read every time.
    rounds: u8,
}

/// The open files, and what is read from them.
pub(super) struct Counters {
    counting: Counting,
    user_hz: u64,
    /// Idle states of each CPU.
    states: Vec<Vec<State>>,
    /// The one file of all CPUs, where it is one.
    table: Option<KeptFile>,
    cpus: Vec<u32>,
    runnable: Option<KeptFile>,
    /// `scaling_cur_freq` of each clock domain, and what it said.
    clocks: Vec<(KeptFile, u64)>,
    buffer: Vec<u8>,
    /// Samples so far, and samples per round.
    samples: u64,
    round: u64,
}

impl Counters {
    /// Opens everything.
    pub(super) fn open(
        host: &dyn Host,
        counting: Counting,
        cpus: &[u32],
        policies: &[PathBuf],
        interval: Nanos,
    ) -> Result<Counters, CaptureError> {
        let failed = CaptureError::host("opening the counters");
        let open = |path: &Path| host.open_kept(path, Access::Read).map_err(&failed);
        let state = |path: &PathBuf| -> Result<State, CaptureError> {
            Ok(State { file: open(path)?, last: 0, at_round: 0, rounds: ROUNDS })
        };
        let of_cpu = |cpu: &u32| -> Result<Vec<State>, CaptureError> {
            states(host, *cpu).iter().map(state).collect()
        };
        let (states, table) = match counting {
            Counting::Cpuidle => (cpus.iter().map(of_cpu).collect::<Result<_, _>>()?, None),
            Counting::Schedstat => (Vec::new(), Some(Path::new(SCHEDSTAT))),
            Counting::Events | Counting::Stat => (Vec::new(), Some(Path::new(STAT))),
        };
        let clock = |policy: &PathBuf| {
            let file = host.open_kept(&policy.join("scaling_cur_freq"), Access::Read).ok()?;
            Some((file, UNREADABLE))
        };
        // A number; a whole table of all CPUs where it is one file: measured now, with room to grow.
        let length = match table {
            None => 256,
            Some(path) => 2 * host.read(path).map_err(&failed)?.len() + 4096,
        };
        Ok(Counters {
            counting,
            user_hz: host.user_hz(),
            states,
            table: table.map(open).transpose()?,
            cpus: cpus.to_vec(),
            runnable: host.open_kept(Path::new("/proc/loadavg"), Access::Read).ok(),
            clocks: policies.iter().filter_map(clock).collect(),
            buffer: vec![0; length],
            samples: 0,
            round: (ROUND_NS / interval.0.max(1)).max(1),
        })
    }

    /// Numbers per sample: counters, waiting times, what rarely read states grew by, runnable tasks,
    /// clocks.
    pub(super) fn width(&self) -> usize {
        3 * self.cpus.len() + 1 + self.clocks.len()
    }

    /// Number of files read per sample now, on average.
    pub(super) fn reads(&self) -> f64 {
        let often = |state: &&State| state.rounds > 0;
        let states = self.states.iter().flatten();
        let rare = states.clone().count() as f64 / self.round as f64;
        let one_of = |file: &Option<KeptFile>| f64::from(u8::from(file.is_some()));
        states.filter(often).count() as f64
            + rare
            + one_of(&self.table)
            + self.clocks.len().min(CLOCKS) as f64
            + one_of(&self.runnable) / RUNNABLE_EVERY as f64
    }

    /// Reads into `sample`, [`Counters::width`] numbers long; `last`: everything, whatever is due.
    /// Whether everything was read. Nothing is allocated.
    pub(super) fn read(&mut self, sample: &mut [u64], last: bool) -> bool {
        sample.fill(UNREADABLE);
        let count = self.cpus.len();
        let (counters, rest) = sample.split_at_mut(count.min(sample.len()));
        let (waiting, rest) = rest.split_at_mut(count.min(rest.len()));
        let (rare, rest) = rest.split_at_mut(count.min(rest.len()));
        let all = last || self.samples.is_multiple_of(self.round);
        let first = self.samples == 0;
        if self.table.is_some() {
            self.read_table(counters, waiting);
        } else {
            let round_ns = ROUND_NS / SHARE;
            for ((counter, rare), states) in counters.iter_mut().zip(rare).zip(&mut self.states) {
                (*counter, *rare) = read_states(states, all, first, round_ns, &mut self.buffer);
            }
        }
        let (runnable, clocks) = rest.split_at_mut(1.min(rest.len()));
        if let (Some(slot), Some(file)) = (runnable.first_mut(), &self.runnable)
            && self.samples.is_multiple_of(RUNNABLE_EVERY)
        {
            let text = file.read(&mut self.buffer).unwrap_or_default();
            *slot = runnable_of(text).unwrap_or(UNREADABLE);
        }
        let turn = (self.samples as usize).wrapping_mul(CLOCKS);
        let domains = self.clocks.len().max(1);
        for (at, (slot, (file, known))) in clocks.iter_mut().zip(&mut self.clocks).enumerate() {
            if first || (at + domains - turn % domains) % domains < CLOCKS {
                *known = file.read(&mut self.buffer).ok().and_then(number).unwrap_or(UNREADABLE);
            }
            *slot = *known;
        }
        self.samples += 1;
        all || self.table.is_some()
    }

    /// The lines of all CPUs in one file.
    fn read_table(&mut self, counters: &mut [u64], waiting: &mut [u64]) {
        let buffer = &mut self.buffer;
        let text = self.table.as_ref().and_then(|file| file.read(buffer).ok()).unwrap_or_default();
        for line in text.split(|&byte| byte == b'\n') {
            let Some((cpu, fields)) = cpu_line(line) else { continue };
            let Some(at) = self.cpus.iter().position(|known| *known == cpu) else { continue };
            let (counter, wait) = match self.counting {
                Counting::Schedstat => (field(fields, 6), field(fields, 7)),
                _ => (idle_of(fields, self.user_hz), None),
            };
            if let (Some(slot), Some(value)) = (counters.get_mut(at), counter) {
                *slot = value;
            }
            if let (Some(slot), Some(value)) = (waiting.get_mut(at), wait) {
                *slot = value;
            }
        }
    }
}

/// Reads the idle states of a CPU: those in which it spends time, or `all`. The sum of the first, and
/// what the others grew by since they were read, in ns.
fn read_states(
    states: &mut [State],
    all: bool,
    first: bool,
    share_ns: u64,
    buffer: &mut [u8],
) -> (u64, u64) {
    let (mut sum, mut rare) = (0_u64, 0_u64);
    for state in states {
        let often = state.rounds > 0;
        if often || all {
            let us = state.file.read(buffer).ok().and_then(number);
            let Some(us) = us else { return (UNREADABLE, UNREADABLE) };
            let now = us.saturating_mul(1000);
            let grown = now.saturating_sub(std::mem::replace(&mut state.last, now));
            rare = rare.saturating_add(if often { 0 } else { grown });
        }
        if all {
            let grown =
                state.last.saturating_sub(std::mem::replace(&mut state.at_round, state.last));
            state.rounds = match grown >= share_ns || first {
                true => ROUNDS,
                false => state.rounds.saturating_sub(1),
            };
        }
        // Of the others as it was: a sum that never falls.
        sum = sum.saturating_add(state.last);
    }
    // What was just added to `rare` is in the sum as well.
    (sum, rare)
}

/// Idle and iowait of a line of `/proc/stat`, in ns.
fn idle_of(fields: &[u8], user_hz: u64) -> Option<u64> {
    let ticks = field(fields, 3)?.checked_add(field(fields, 4).unwrap_or(0))?;
    ticks.checked_mul(1_000_000_000 / user_hz.max(1))
}

/// The number of a line `cpuN ...`, and what follows it.
fn cpu_line(line: &[u8]) -> Option<(u32, &[u8])> {
    let rest = line.strip_prefix(b"cpu")?;
    let space = rest.iter().position(|&byte| byte == b' ')?;
    let cpu = number(rest.get(..space)?)?;
    Some((u32::try_from(cpu).ok()?, rest.get(space..)?))
}

/// Field `at` of a line, from 0.
fn field(line: &[u8], at: usize) -> Option<u64> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    number(fields.nth(at)?)
}

/// The runnable tasks in `/proc/loadavg`, without the one that reads it: `0.5 0.4 0.3 3/99 4700`.
pub(super) fn runnable_of(text: &[u8]) -> Option<u64> {
    let fourth = text.split(|&byte| byte == b' ').nth(3)?;
    number(fourth.split(|&byte| byte == b'/').next()?).map(|count| count.saturating_sub(1))
}

/// The digits at the beginning of a text.
fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let mut value = None;
    for digit in digits {
        let next = value.unwrap_or(0_u64).checked_mul(10)?;
        value = Some(next.checked_add(u64::from(digit - b'0'))?);
    }
    value
}

/// The clock domains: name, folder, CPUs.
pub(super) fn policies(topology: &Topology) -> Vec<(String, PathBuf, Vec<u32>)> {
    let policy = |policy: &flyball_host::Policy| {
        let name = format!("policy{}", policy.id);
        let folder = Path::new(CPUS).join("cpufreq").join(&name);
        (name, folder, policy.cpus.iter().map(|cpu| cpu.0).collect())
    };
    topology.policies.iter().map(policy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;

    fn machine(more: &str) -> RecordedHost {
        RecordedHost::from_listing(&format!("/proc/loadavg = 0.5 0.4 0.3 3/99 47\n{more}")).unwrap()
    }

    fn sample(host: &RecordedHost, counting: Counting, cpus: &[u32]) -> Vec<u64> {
        let policy = PathBuf::from("/sys/devices/system/cpu/cpufreq/policy0");
        let ms = Nanos::from_millis(10);
        let mut counters = Counters::open(host, counting, cpus, &[policy], ms).unwrap();
        let mut sample = vec![0; counters.width()];
        assert!(counters.read(&mut sample, false), "the first one is of everything");
        sample
    }

    #[test]
    fn idle_states_add_up() {
        let host = machine(
            "/sys/devices/system/cpu/cpu0/cpuidle/state0/time = 5\n\
             /sys/devices/system/cpu/cpu0/cpuidle/state1/time = 7\n\
             /sys/devices/system/cpu/cpu1/cpuidle/state0/time = 1\n\
             /sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq = 1200000",
        );
        let ms = Nanos::from_millis(10);
        assert_eq!(Counting::finest(&host, &[0, 1], ms).unwrap(), Counting::Cpuidle);
        let expected = [12_000, 1000, UNREADABLE, UNREADABLE, 0, 0, 2, 1_200_000];
        assert_eq!(sample(&host, Counting::Cpuidle, &[0, 1]), expected);
    }

    #[test]
    fn running_and_waiting_time_of_schedstat() {
        let host = machine(
            "/proc/schedstat = version 17\n\
             /proc/schedstat = timestamp 4295\n\
             /proc/schedstat = cpu0 0 0 0 0 0 0 700 80 9\n\
             /proc/schedstat = domain0 MC 3 1 2 3\n\
             /proc/schedstat = cpu1 0 0 0 0 0 0 600 70 9",
        );
        let ms = Nanos::from_millis(10);
        assert_eq!(Counting::finest(&host, &[0, 1], ms).unwrap(), Counting::Schedstat);
        assert_eq!(
            sample(&host, Counting::Schedstat, &[0, 1, 2])[..6],
            [700, 600, UNREADABLE, 80, 70, UNREADABLE]
        );
    }

    #[test]
    fn stat_is_for_long_intervals() {
        let host = machine("/proc/stat = cpu  9 9 9 9 9\n/proc/stat = cpu0 1 2 3 4 5 6");
        let error = Counting::finest(&host, &[0], Nanos::from_millis(10)).unwrap_err();
        assert!(error.to_string().contains("steps of 10 ms"), "{error}");
        let coarse = Counting::finest(&host, &[0], Nanos::from_millis(100)).unwrap();
        assert_eq!(coarse, Counting::Stat);
        assert_eq!(sample(&host, coarse, &[0])[0], 9 * 10_000_000, "idle and iowait");
    }

    #[test]
    fn numbers_end_where_digits_end() {
        assert_eq!(number(b"12\n"), Some(12));
        assert_eq!(
            (number(b""), number(b"x"), number(b"99999999999999999999")),
            (None, None, None)
        );
        assert_eq!(runnable_of(b"0.00 0.01 0.05 1/99 4700\n"), Some(0));
    }
}
