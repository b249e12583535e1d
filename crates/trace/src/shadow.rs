//! A utilisation-driven governor in the shadow of the kernel's: it is fed with the signals that the
//! kernel recorded, and its decisions stand beside what the kernel did.
//!
//! What the governor is given, per CPU of its clock domain:
//! - util_avg and util_est of the fair run queue, as the probe on `pelt_cfs_tp` recorded them, at
//!   that time; util_est counts as 0 where the CPU switches to the idle loop, for it is a sum over
//!   enqueued tasks;
//! - runnable_avg, where the probe recorded it; else util_avg plus the average of the number of
//!   *waiting* tasks, which follows from the recorded wake-ups, switches and moves: both averages
//!   decay alike, so their difference is the average of runnable tasks that do not run.
//!
//! An update by a CPU outside the domain is not given to the governor: the kernel lets only the
//! domain's own CPUs change its frequency where it switches fast. Signals of real-time and deadline
//! tasks, of interrupts, and clamps are taken as 0: no tracepoint shows them.

mod queue;
mod score;

use std::collections::{BTreeMap, HashMap};

use flyball_governors::{CpuSignals, Domain, Event as Told, Governor, Request, UtilFlags};
use flyball_units::{CpuId, KiloHertz, Nanos};

use crate::ftrace::{Event, Item, Record};
use queue::Queue;
pub use score::{Change, Miss, Report, Score};

/// One clock domain with its governor.
struct Shadowed {
    domain: Domain,
    governor: Box<dyn Governor>,
    /// Whether the governor was given anything: from then on its answers count.
    started: bool,
    /// The frequency in force, by the trace.
    current_khz: Option<u64>,
    signals: Vec<CpuSignals>,
    known: Vec<bool>,
}

impl Shadowed {
    /// Starts the governor; not before the frequency in force is known, where utilisation means
    /// something only beside it.
    fn start(&mut self, now: Nanos) -> bool {
        match self.current_khz {
            Some(khz) => self.domain.current = KiloHertz(khz),
            None if !self.domain.frequency_invariant => return false,
            None => {}
        }
        // Without fast switching a governor hears what the kernel set: it then follows the recorded
        // frequency, and not its own.
        let domain = Domain { fast_switch: false, ..self.domain.clone() };
        self.governor.start(&domain, now);
        self.started = true;
        true
    }
}

/// Governors beside a recorded kernel.
pub struct Shadow {
    domains: Vec<Shadowed>,
    queues: BTreeMap<u32, Queue>,
    /// The last known runnable_avg - util_avg of each task: what it takes along when it moves.
    waited: HashMap<u32, u32>,
    kernel: Vec<Change>,
    decisions: Vec<Change>,
    updates: Vec<(u64, usize)>,
    gaps: Vec<u64>,
}

impl Shadow {
    /// Governors over the domains that they are to rule; each is started at the first event.
    pub fn new(domains: Vec<(Domain, Box<dyn Governor>)>) -> Shadow {
        let mut queues = BTreeMap::new();
        let shadowed = domains.into_iter().enumerate().map(|(number, (domain, governor))| {
            for cpu in &domain.cpus {
                queues.insert(cpu.0, Queue::new(number, &domain));
            }
            let cpus = domain.cpus.len();
            let signals = vec![CpuSignals::default(); cpus];
            let known = vec![false; cpus];
            Shadowed { domain, governor, started: false, current_khz: None, signals, known }
        });
        let domains = shadowed.collect();
        Shadow {
            domains,
            queues,
            waited: HashMap::new(),
            kernel: Vec::new(),
            decisions: Vec::new(),
            updates: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// Takes the next item of the trace.
    pub fn item(&mut self, item: Item<'_>) {
        match item {
            Item::Record(record) => self.record(record),
            Item::Lost { cpu, .. } => {
                if let Some(queue) = self.queues.get_mut(&cpu) {
                    queue.forget();
                    self.gaps.push(queue.last_ns());
                }
            }
        }
    }

    /// What the governors decided beside what the kernel did. A decision meets a change of the same
    /// domain and frequency that lies at most `tolerance` away.
    pub fn finish(self, tolerance: Nanos) -> Report {
        score::report(&Score {
            kernel: &self.kernel,
            decisions: &self.decisions,
            updates: &self.updates,
            gaps: &self.gaps,
            tolerance_ns: tolerance.0,
        })
    }

    fn record(&mut self, record: &Record<'_>) {
        let t_ns = record.t_ns;
        match record.event {
            Event::Switch { prev, state, next } => {
                let Some(queue) = self.queues.get_mut(&record.cpu) else { return };
                queue.switch(t_ns, prev, state, next);
                if next.tid == 0 {
                    self.no_estimate(record.cpu);
                }
            }
            Event::Wakeup { task, cpu } => {
                if let Some(queue) = self.queues.get_mut(&cpu) {
                    queue.wake(t_ns, task);
                }
            }
            Event::Migrate { task, from, to } => {
                let waited = self.waited.get(&task.tid).copied().unwrap_or(0);
                let left =
                    self.queues.get_mut(&from).is_some_and(|queue| queue.leave(t_ns, task, waited));
                if let Some(queue) = self.queues.get_mut(&to) {
                    queue.join(t_ns, task, waited, left);
                }
            }
            Event::EntityAverages { tid: Some(tid), util, runnable: Some(runnable) } => {
                self.waited.insert(tid, runnable.saturating_sub(util));
            }
            Event::QueueAverages { cpu, util, runnable, estimate } => {
                self.update(record, cpu, util, runnable, estimate.unwrap_or(0));
            }
            Event::Frequency { cpu, khz } => self.changed(t_ns, cpu, khz),
            _ => {}
        }
    }

    /// The CPU switches to the idle loop: nothing is enqueued.
    fn no_estimate(&mut self, cpu: u32) {
        let domains = self.domains.iter_mut();
        for shadowed in domains {
            let at = shadowed.domain.cpus.iter().position(|own| own.0 == cpu);
            if let Some(signals) = at.and_then(|at| shadowed.signals.get_mut(at)) {
                signals.util_est = 0;
            }
        }
    }

    /// New averages of a CPU: the kernel asks its governor at this moment, so it is asked here.
    fn update(
        &mut self,
        record: &Record<'_>,
        cpu: u32,
        util: u32,
        runnable: Option<u32>,
        util_est: u32,
    ) {
        let Some(queue) = self.queues.get_mut(&cpu) else { return };
        let waiting = queue.waiting(record.t_ns);
        let number = queue.domain();
        let Some(shadowed) = self.domains.get_mut(number) else { return };
        let Some(at) = shadowed.domain.cpus.iter().position(|own| own.0 == cpu) else { return };
        let runnable = runnable.unwrap_or(util.saturating_add(waiting));
        let told = CpuSignals { util, runnable, util_est, ..CpuSignals::default() };
        if let (Some(signals), Some(known)) =
            (shadowed.signals.get_mut(at), shadowed.known.get_mut(at))
        {
            (*signals, *known) = (told, true);
        }
        let own = shadowed.domain.cpus.contains(&CpuId(record.cpu));
        if !own || !shadowed.known.iter().all(|known| *known) {
            return;
        }
        let now = Nanos(record.t_ns);
        let first = !shadowed.started;
        if first && !shadowed.start(now) {
            return;
        }
        let signals = shadowed.signals.as_slice().into();
        let event = Told::Util { cpu: CpuId(cpu), signals, flags: UtilFlags::default() };
        let decision = shadowed.governor.on(&event, now);
        self.updates.push((record.t_ns, number));
        if let Some(Request::Frequency { target, relation }) = decision.request {
            let Domain { opps, min, max, .. } = &shadowed.domain;
            let khz = opps.resolve(target, *min, *max, relation).0;
            // The first answer tells what is in force already, unless that is known to differ.
            let in_force = if first { shadowed.current_khz.unwrap_or(khz) } else { 0 };
            if khz != in_force {
                self.decisions.push(Change { t_ns: record.t_ns, domain: number, khz });
            }
        }
    }

    /// The kernel changed a frequency: one event per CPU of the domain, the first counts.
    fn changed(&mut self, t_ns: u64, cpu: u32, khz: u64) {
        let Some(number) = self.queues.get(&cpu).map(Queue::domain) else { return };
        let Some(shadowed) = self.domains.get_mut(number) else { return };
        if shadowed.current_khz.replace(khz) == Some(khz) {
            return;
        }
        for cpu in &shadowed.domain.cpus {
            if let Some(queue) = self.queues.get_mut(&cpu.0) {
                queue.frequency(t_ns, khz);
            }
        }
        if shadowed.started {
            shadowed.governor.on(&Told::Applied { frequency: KiloHertz(khz) }, Nanos(t_ns));
        }
        self.kernel.push(Change { t_ns, domain: number, khz });
    }
}
