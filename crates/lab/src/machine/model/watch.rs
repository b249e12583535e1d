//! The observer of a trial: what a measuring thread, its kernel and a cycle counter would see.

use super::window::{DONE, Whereabouts};
use flyball_host::{CpuTime, CpuTimes};
use flyball_load::{Reading, ThreadReading};
use flyball_platform::Platform;
use flyball_sim::observe::{Observer, SwitchOut};
use flyball_sim::setup::TaskId;
use flyball_units::{CpuId, KiloHertz, Nanos};
use std::sync::atomic::Ordering;

/// The measured task is the first one; the load's follow.
pub(super) const MEASURED: TaskId = TaskId(0);

/// One window as it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    pub index: u64,
    pub release: Nanos,
    pub dispatch: Nanos,
    pub end: Nanos,
    pub cpu_before: CpuId,
    pub cpu_after: CpuId,
    pub migrations: u32,
    pub preemptions: u32,
    /// Time on a CPU.
    pub running: Nanos,
    /// Time from the wake-up to the dispatch.
    pub waited: Nanos,
    /// Clock cycles while it ran.
    pub cycles: f64,
}

/// Totals of one clock domain since the last sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DomainClock {
    pub frequency: KiloHertz,
    since: Nanos,
    /// Frequency times time, kHz ns.
    integral: u128,
}

/// Watches a trial.
pub(super) struct Watch {
    whereabouts: Whereabouts,
    domain_of: Vec<usize>,
    domains: Vec<DomainClock>,
    /// Who runs on each CPU, and since when.
    running: Vec<Option<(TaskId, Nanos)>>,
    /// Time of each load task on each CPU.
    load_time: Vec<Vec<Nanos>>,
    /// Busy time of each CPU.
    busy: Vec<Nanos>,
    open: Option<Seen>,
    /// Since when the measured task has run at the present frequency, and where.
    segment: Option<(Nanos, CpuId)>,
    /// How the measured task waits for a CPU for the window that it has not begun yet.
    waiting: Option<Waiting>,
    /// Windows that are over.
    pub windows: Vec<Seen>,
    /// Whether the measured task has left.
    pub done: bool,
}

impl Watch {
    /// Watches a machine whose clock domains start at the frequencies `start`.
    pub(super) fn new(
        platform: &Platform,
        start: &[KiloHertz],
        loads: usize,
        whereabouts: Whereabouts,
    ) -> Watch {
        let cpus = platform.cpus.len();
        Watch {
            whereabouts,
            domain_of: platform.cpus.iter().map(|cpu| cpu.domain).collect(),
            domains: start
                .iter()
                .map(|&frequency| DomainClock { frequency, ..DomainClock::default() })
                .collect(),
            running: vec![None; cpus],
            load_time: vec![vec![Nanos::ZERO; cpus]; loads],
            busy: vec![Nanos::ZERO; cpus],
            open: None,
            segment: None,
            waiting: None,
            windows: Vec::new(),
            done: false,
        }
    }

    /// Mean frequency of each domain since the last call, and the present one.
    pub(super) fn sample_frequency(&mut self, at: Nanos, since: Nanos) -> Vec<(KiloHertz, u64)> {
        let interval = u128::from(at.since(since).0.max(1));
        let domains = self.domains.iter_mut();
        domains
            .map(|clock| {
                clock.advance(at);
                let mean = std::mem::take(&mut clock.integral) / interval;
                (clock.frequency, u64::try_from(mean).unwrap_or(u64::MAX))
            })
            .collect()
    }

    /// The clocks of the load's tasks and of the CPUs, as a kernel would report them.
    pub(super) fn reading(&self, at: Nanos) -> Reading {
        let now = |task: TaskId, cpu: usize| match self.running.get(cpu).copied().flatten() {
            Some((running, since)) if running == task => at.since(since),
            _ => Nanos::ZERO,
        };
        let threads = self.load_time.iter().zip(1_u32..).map(|(times, task)| {
            let by_cpu: Vec<(CpuId, Nanos)> = times
                .iter()
                .zip(0_u32..)
                .map(|(time, cpu)| (CpuId(cpu), *time + now(TaskId(task), cpu as usize)))
                .collect();
            let cpu_time = by_cpu.iter().fold(Nanos::ZERO, |sum, (_, time)| sum + *time);
            ThreadReading { cpu_time, waited: None, by_cpu }
        });
        let cpus =
            self.busy.iter().zip(&self.running).zip(0_u32..).map(|((busy, running), cpu)| {
                let present = running.map_or(Nanos::ZERO, |(_, since)| at.since(since));
                let user = (*busy + present).0;
                (
                    CpuId(cpu),
                    CpuTime { user, idle: at.0.saturating_sub(user), ..CpuTime::default() },
                )
            });
        let machine = CpuTimes { user_hz: 1_000_000_000, cpus: cpus.collect(), running: None };
        Reading { at, threads: threads.collect(), machine: Some(machine) }
    }

    /// Counts the measured task's time and cycles up to `at`.
    fn count(&mut self, at: Nanos) {
        let Some((since, cpu)) = self.segment else { return };
        self.segment = Some((at, cpu));
        let Some(open) = &mut self.open else { return };
        let time = at.since(since);
        let domain = self.domain_of.get(cpu.0 as usize).and_then(|&at| self.domains.get(at));
        let khz = domain.map_or(0, |clock| clock.frequency.0);
        open.running = open.running + time;
        open.cycles += khz as f64 * time.0 as f64 / 1e6;
    }
}

/// A task that is ready to run and has no CPU: other tasks have it, or it is on its way out of an idle
/// state, which a kernel does not count as waiting.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    cpu: CpuId,
    /// Time in which another task ran there.
    others: Nanos,
    /// Since when another task runs there.
    since: Option<Nanos>,
}

impl Waiting {
    fn count(&mut self, at: Nanos) {
        if let Some(since) = self.since.take() {
            self.others = self.others + at.since(since);
        }
    }
}

impl DomainClock {
    fn advance(&mut self, at: Nanos) {
        let time = at.since(self.since);
        self.integral += u128::from(self.frequency.0) * u128::from(time.0);
        self.since = at;
    }
}

impl Observer for Watch {
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if task == MEASURED {
            let taken = self.running.get(cpu.0 as usize).copied().flatten().is_some();
            self.waiting = Some(Waiting { cpu, others: Nanos::ZERO, since: taken.then_some(at) });
        }
    }

    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if let Some(running) = self.running.get_mut(cpu.0 as usize) {
            *running = Some((task, at));
        }
        if task == MEASURED {
            self.segment = Some((at, cpu));
        } else if let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.cpu == cpu) {
            waiting.since = Some(at);
        }
    }

    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {
        let running = self.running.get_mut(cpu.0 as usize).and_then(Option::take);
        let time = running.map_or(Nanos::ZERO, |(_, since)| at.since(since));
        if let Some(busy) = self.busy.get_mut(cpu.0 as usize) {
            *busy = *busy + time;
        }
        if let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.cpu == cpu) {
            waiting.count(at);
        }
        if task == MEASURED {
            self.count(at);
            self.segment = None;
            if let Some(open) = self.open.as_mut().filter(|_| why == SwitchOut::Preempted) {
                open.preemptions += 1;
            }
        } else if let Some(times) = self.load_time.get_mut((task.0 as usize).wrapping_sub(1))
            && let Some(total) = times.get_mut(cpu.0 as usize)
        {
            *total = *total + time;
        }
    }

    fn migrated(&mut self, at: Nanos, task: TaskId, _: CpuId, to: CpuId) {
        if let Some(waiting) = self.waiting.as_mut().filter(|_| task == MEASURED) {
            waiting.count(at);
            let taken = self.running.get(to.0 as usize).copied().flatten().is_some();
            (waiting.cpu, waiting.since) = (to, taken.then_some(at));
        }
        if let Some(open) = self.open.as_mut().filter(|_| task == MEASURED) {
            open.migrations += 1;
        }
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        let under = self.segment.and_then(|(_, cpu)| self.domain_of.get(cpu.0 as usize).copied());
        if under == Some(domain) {
            self.count(at);
        }
        if let Some(clock) = self.domains.get_mut(domain) {
            clock.advance(at);
            clock.frequency = frequency;
        }
    }

    fn item_begun(&mut self, at: Nanos, _: TaskId, item: u64, released: Nanos, cpu: CpuId) {
        self.whereabouts.store(cpu.0, Ordering::Relaxed);
        self.segment = Some((at, cpu));
        let waited = self.waiting.take().map_or(Nanos::ZERO, |mut waiting| {
            waiting.count(at);
            waiting.others
        });
        self.open = Some(Seen {
            index: item,
            release: released,
            dispatch: at,
            cpu_before: cpu,
            waited,
            ..Seen::default()
        });
    }

    fn item_ended(&mut self, at: Nanos, _: TaskId, _: u64, cpu: CpuId) {
        self.count(at);
        if let Some(open) = self.open.take() {
            self.windows.push(Seen { end: at, cpu_after: cpu, ..open });
        }
    }

    fn mark(&mut self, _: Nanos, _: TaskId, name: &'static str) {
        self.done |= name == DONE;
    }
}
