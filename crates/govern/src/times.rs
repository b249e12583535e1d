//! Busy and idle times of CPUs, as the kernel tells them to user space.
//!
//! `/proc/stat` counts in ticks of USER_HZ, 10 ms. Its idle time is right at every moment, also of a
//! CPU that has been idle for long: the kernel adds the idle period in progress (NO_HZ). Two finer
//! counters lag behind:
//!
//! - `cpuidle/stateN/time` (us) grows when an idle period *ends*: exact while the CPU is busy, behind
//!   by the period in progress while it idles;
//! - the run time in `/proc/schedstat` (ns) grows when a task *leaves* the CPU: exact while the CPU
//!   idles, behind by the slice in progress while it is busy.
//!
//! So neither may be believed alone. Both are kept inside what `/proc/stat` leaves open: with its
//! idle time S and its resolution R the true one lies in S..S + 2 R (idle and iowait are cut off each
//! by itself). The guarantee stays that of `/proc/stat`; what lies between is finer.

use crate::GovernError;
use flyball_governors::{CpuTimes, Governor};
use flyball_host::{Access, Call, Host, HostError, KeptFile};
use flyball_units::{CpuId, CpuSet, Mismatch, Nanos};
use serde::Serialize;
use std::path::Path;

const STAT: &str = "/proc/stat";
const SCHEDSTAT: &str = "/proc/schedstat";
/// Where run time stands in a line of `/proc/schedstat`, behind the CPU's name.
const RUN_TIME: usize = 6;
/// Room for the CPUs' lines of both files, which come first or are short.
const ROOM_PER_CPU: usize = 1_024;
const ROOM: usize = 8_192;

/// Where busy and idle times come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// `/proc/stat` alone.
    #[default]
    Stat,
    /// `/proc/stat`, refined by the idle states' times.
    Cpuidle,
    /// `/proc/stat`, refined by the tasks' run time.
    Schedstat,
}

impl SourceKind {
    /// The files' names, for people.
    pub fn name(self) -> &'static str {
        match self {
            SourceKind::Stat => "/proc/stat",
            SourceKind::Cpuidle => "/proc/stat with cpuidle",
            SourceKind::Schedstat => "/proc/stat with /proc/schedstat",
        }
    }

    /// The unit in which the finer counter counts; none where there is none.
    pub fn finer_unit(self) -> Option<Nanos> {
        match self {
            SourceKind::Stat => None,
            SourceKind::Cpuidle => Some(Nanos(1_000)),
            SourceKind::Schedstat => Some(Nanos(1)),
        }
    }
}

/// The times of some CPUs, read again and again without allocation.
#[derive(Debug)]
pub struct Times {
    kind: SourceKind,
    resolution: Nanos,
    stat: KeptFile,
    schedstat: Option<KeptFile>,
    buffer: Box<[u8]>,
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    cpu: CpuId,
    /// In `/proc/stat`: it is online.
    present: bool,
    coarse: CpuTimes,
    times: CpuTimes,
    idle_states: Vec<KeptFile>,
    /// The finer counter, in ns.
    finer: Option<u64>,
    refined: Option<Refined>,
}

/// Where the finer counter was set against the coarse one.
#[derive(Clone, Copy, Debug)]
struct Refined {
    at: Nanos,
    first: CpuTimes,
    finer: u64,
    /// Added to what the finer counter says, so that it lies inside the bounds.
    offset: i128,
    idle: u64,
}

impl Times {
    /// Opens the files for `cpus`.
    ///
    /// # Errors
    /// A file that is not there: no idle states, a kernel without `CONFIG_SCHEDSTATS`.
    pub fn open(host: &dyn Host, kind: SourceKind, cpus: &CpuSet) -> Result<Times, GovernError> {
        let open = |path: &str| host.open_kept(Path::new(path), Access::Read);
        let slots = cpus.iter().map(|cpu| {
            let idle_states = match kind {
                SourceKind::Cpuidle => idle_states(host, cpu)?,
                SourceKind::Stat | SourceKind::Schedstat => Vec::new(),
            };
            Ok(Slot {
                cpu,
                present: false,
                coarse: CpuTimes::default(),
                times: CpuTimes::default(),
                idle_states,
                finer: None,
                refined: None,
            })
        });
        let schedstat = match kind {
            SourceKind::Schedstat => Some(open(SCHEDSTAT).map_err(absent(SCHEDSTAT))?),
            SourceKind::Stat | SourceKind::Cpuidle => None,
        };
        Ok(Times {
            kind,
            resolution: Nanos(1_000_000_000 / host.user_hz().max(1)),
            stat: open(STAT).map_err(GovernError::host("opening the CPUs' times"))?,
            schedstat,
            buffer: vec![0; ROOM + ROOM_PER_CPU * cpus.len()].into_boxed_slice(),
            slots: slots.collect::<Result<_, GovernError>>()?,
        })
    }

    /// The same with another file in the place of `/proc/stat`, for measurements of the loop itself.
    pub fn with_stat(self, stat: KeptFile) -> Times {
        Times { stat, ..self }
    }

    /// Where they come from.
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// What is certain: one tick of `/proc/stat`.
    pub fn resolution(&self) -> Nanos {
        self.resolution
    }

    /// Whether a governor's polls are far enough apart for these times.
    ///
    /// # Errors
    /// [`GovernError::TooFast`].
    pub fn allows(&self, governor: &dyn Governor) -> Result<(), GovernError> {
        crate::rules::slow_enough(governor, self.kind, self.resolution)
    }

    /// Reads the times. `now` dates them.
    ///
    /// # Errors
    /// A file that cannot be read, or says something else than it should.
    pub fn look(&mut self, now: Nanos) -> Result<(), HostError> {
        let Times { stat, schedstat, buffer, slots, resolution, kind } = self;
        slots.iter_mut().for_each(|slot| slot.present = false);
        let text = stat.read(buffer).map_err(|errno| stat.error(Call::Read, errno))?;
        let mut seen = false;
        for (cpu, numbers) in cpu_lines(text) {
            let Some(slot) = slots.iter_mut().find(|slot| slot.cpu == cpu) else {
                seen = true;
                continue;
            };
            slot.coarse = coarse(numbers, *resolution);
            (slot.present, seen) = (true, true);
        }
        if !seen {
            let found = String::from_utf8_lossy(&text[..text.len().min(80)]).into_owned();
            return Err(HostError::malformed(stat.path().display(), "lines of CPUs", &found));
        }
        if let Some(file) = schedstat {
            let text = file.read(buffer).map_err(|errno| file.error(Call::Read, errno))?;
            for (cpu, numbers) in cpu_lines(text) {
                if let Some(slot) = slots.iter_mut().find(|slot| slot.cpu == cpu) {
                    slot.finer = numbers_of(numbers).nth(RUN_TIME);
                }
            }
        }
        for slot in slots.iter_mut().filter(|slot| slot.present) {
            if *kind == SourceKind::Cpuidle {
                slot.finer = idle_time(&slot.idle_states);
            }
            slot.times = match slot.finer {
                Some(finer) => refine(slot, *kind, finer, now, *resolution),
                None => slot.coarse,
            };
        }
        Ok(())
    }

    /// The times of a CPU as last read; none where it was offline.
    pub fn of(&self, cpu: CpuId) -> Option<CpuTimes> {
        self.slots.iter().find(|slot| slot.cpu == cpu && slot.present).map(|slot| slot.times)
    }

    /// The times of every online CPU that is looked at, in order.
    pub fn all(&self) -> impl Iterator<Item = CpuTimes> {
        self.slots.iter().filter(|slot| slot.present).map(|slot| slot.times)
    }
}

fn absent(path: &'static str) -> impl Fn(HostError) -> GovernError {
    move |error| {
        GovernError::Unsupported(
            Mismatch::value("a finer account of the CPUs' time", error)
                .at(path.to_owned())
                .hint("the source stat is always there"),
        )
    }
}

fn idle_states(host: &dyn Host, cpu: CpuId) -> Result<Vec<KeptFile>, GovernError> {
    const FOLDER: &str = "/sys/devices/system/cpu/cpuN/cpuidle";
    let folder = format!("/sys/devices/system/cpu/cpu{}/cpuidle", cpu.0);
    let names = host.list(Path::new(&folder)).map_err(absent(FOLDER))?;
    let states = names.iter().filter(|name| name.starts_with("state"));
    let open = |name: &String| {
        let path = format!("{folder}/{name}/time");
        host.open_kept(Path::new(&path), Access::Read).map_err(absent(FOLDER))
    };
    states.map(open).collect()
}

/// Sum of the idle states' times; none where one cannot be read.
fn idle_time(states: &[KeptFile]) -> Option<u64> {
    let mut buffer = [0; 32];
    states.iter().try_fold(0_u64, |sum, state| {
        let text = state.read(&mut buffer).ok()?;
        Some(sum.saturating_add(numbers_of(text).next()?.saturating_mul(1_000)))
    })
}

/// The lines of single CPUs at the beginning of `/proc/stat`, or anywhere in `/proc/schedstat`, with
/// what follows the name.
fn cpu_lines(text: &[u8]) -> impl Iterator<Item = (CpuId, &[u8])> {
    text.split(|&byte| byte == b'\n').filter_map(|line| {
        let rest = line.strip_prefix(b"cpu")?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = rest.split_at(digits);
        Some((CpuId(u32::try_from(numbers_of(number).next()?).ok()?), rest))
    })
}

/// The natural numbers of a line, up to the first thing that is none; too large ones saturate.
fn numbers_of(line: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    words.map_while(|word| {
        word.iter().try_fold(0_u64, |number, byte| {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            Some(number.saturating_mul(10).saturating_add(digit))
        })
    })
}

/// user, nice, system, idle, iowait, irq, softirq; steal is nobody's.
fn coarse(line: &[u8], tick: Nanos) -> CpuTimes {
    let mut ticks = [0_u64; 7];
    for (slot, number) in ticks.iter_mut().zip(numbers_of(line)) {
        *slot = number;
    }
    let [user, nice, system, idle, iowait, irq, softirq] = ticks;
    let time = |ticks: u64| Nanos(ticks.saturating_mul(tick.0));
    let busy = [system, irq, softirq].iter().fold(user, |sum, more| sum.saturating_add(*more));
    CpuTimes::ZERO.busy(time(busy)).nice(time(nice)).idle(time(idle)).iowait(time(iowait))
}

/// Idle time by the finer counter, inside what the coarse one leaves open; busy is what remains of
/// the time that passed. Never backwards.
fn refine(slot: &mut Slot, kind: SourceKind, finer: u64, now: Nanos, tick: Nanos) -> CpuTimes {
    let coarse = slot.coarse;
    let least = coarse.idle.0.saturating_add(coarse.iowait.0);
    let most = least.saturating_add(tick.0.saturating_mul(2));
    let known = slot.refined.get_or_insert(Refined {
        at: now,
        first: coarse,
        finer,
        offset: i128::from(least),
        idle: least,
    });
    let elapsed = now.since(known.at).0;
    let grown = finer.saturating_sub(known.finer);
    let idle = match kind {
        SourceKind::Schedstat => i128::from(elapsed) - i128::from(grown),
        SourceKind::Stat | SourceKind::Cpuidle => i128::from(grown),
    };
    let wanted = idle + known.offset;
    let inside = wanted.clamp(i128::from(least), i128::from(most));
    known.offset += inside - wanted;
    known.idle = u64::try_from(inside).unwrap_or(least).max(known.idle);
    let first = known.first;
    let before = first.idle.0.saturating_add(first.iowait.0);
    let nice = coarse.nice.since(first.nice).0;
    let worked = elapsed.saturating_sub(known.idle.saturating_sub(before)).saturating_sub(nice);
    coarse
        .busy(Nanos(first.busy.0.saturating_add(worked)))
        .idle(Nanos(known.idle.saturating_sub(coarse.iowait.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;
    use flyball_units::Diagnostic;
    use proptest::prelude::*;

    const TICK: Nanos = Nanos(10_000_000);

    #[test]
    fn the_lines_of_single_cpus_are_read() {
        let listing = "/proc/stat = cpu 9 9 9 9\n/proc/stat = cpu0 1 2 3 4 5 6 7 8\n\
                       /proc/stat = cpu2 10 0 0 20\n/proc/stat = intr 5 6";
        let host = RecordedHost::from_listing(listing).unwrap();
        let cpus: CpuSet = "0-2".parse().unwrap();
        let mut times = Times::open(&host, SourceKind::Stat, &cpus).unwrap();
        times.look(Nanos(0)).unwrap();
        let ms = |ticks: u64| Nanos(ticks * 10_000_000);
        let first = CpuTimes::ZERO.busy(ms(17)).nice(ms(2)).idle(ms(4)).iowait(ms(5));
        assert_eq!(times.of(CpuId(0)), Some(first));
        assert_eq!(times.of(CpuId(1)), None, "offline");
        assert_eq!(times.of(CpuId(2)).map(|times| times.idle), Some(ms(20)));
        assert_eq!(times.resolution(), TICK);
        host.put(Path::new("/proc/stat"), "intr 5\n");
        assert!(times.look(Nanos(1)).unwrap_err().to_string().contains("lines of CPUs"));
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        let host = RecordedHost::from_listing("/proc/stat = cpu0 1 2 3 4").unwrap();
        for kind in [SourceKind::Cpuidle, SourceKind::Schedstat] {
            let error = Times::open(&host, kind, &CpuId(0).into()).unwrap_err();
            assert!(error.hint().unwrap().contains("source stat"), "{error}");
        }
    }

    /// A CPU that is busy and idle in turn, seen through lagging counters.
    struct Cpu {
        now: u64,
        idle: u64,
        idle_done: u64,
        busy: u64,
        busy_done: u64,
    }

    impl Cpu {
        fn pass(&mut self, idle: bool, time: u64) {
            self.now += time;
            match idle {
                true => {
                    self.idle += time;
                    self.busy_done = self.busy;
                }
                false => {
                    self.busy += time;
                    self.idle_done = self.idle;
                }
            }
        }

        fn slot(&self, slot: &mut Slot) {
            let floor = |time: u64| Nanos(time / TICK.0 * TICK.0);
            slot.coarse = CpuTimes::ZERO.busy(floor(self.busy)).idle(floor(self.idle));
        }
    }

    fn slot() -> Slot {
        Slot {
            cpu: CpuId(0),
            present: true,
            coarse: CpuTimes::default(),
            times: CpuTimes::default(),
            idle_states: Vec::new(),
            finer: None,
            refined: None,
        }
    }

    proptest! {
        #[test]
        fn refined_times_stay_near_the_truth_and_never_run_back(
            parts in proptest::collection::vec((any::<bool>(), 1_000_u64..80_000_000), 1..60),
            schedstat in any::<bool>(),
        ) {
            let kind = if schedstat { SourceKind::Schedstat } else { SourceKind::Cpuidle };
            let mut cpu = Cpu { now: 0, idle: 0, idle_done: 0, busy: 0, busy_done: 0 };
            let mut slot = slot();
            let mut last = 0;
            for (idle, time) in parts {
                cpu.pass(idle, time);
                cpu.slot(&mut slot);
                let finer = if schedstat { cpu.busy_done } else { cpu.idle_done };
                let times = refine(&mut slot, kind, finer, Nanos(cpu.now), TICK);
                prop_assert!(times.idle.0 >= last, "backwards");
                last = times.idle.0;
                prop_assert!(times.idle.0.abs_diff(cpu.idle) <= 2 * TICK.0);
                prop_assert!(times.busy.0.abs_diff(cpu.busy) <= 4 * TICK.0);
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            for (_, line) in cpu_lines(&text) {
                let _ = coarse(line, TICK);
            }
        }
    }
}
