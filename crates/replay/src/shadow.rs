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

mod choice;
mod queue;
mod run;
mod score;
mod seen;
mod setup;
mod tables;
mod text;

use std::collections::{BTreeMap, HashMap};

use flyball_governors::schedutil::cpuperf_frequency;
use flyball_governors::{
    CpuSignals, Decision, Domain, Event as GovernorEvent, Governor, Request, UtilFlags,
};
use flyball_pelt::PerfLevel;
use flyball_sim::engine::RESERVED_FOR_FAIR;
use flyball_units::{CpuId, KernelRule, KiloHertz, Nanos, Relation};

pub use choice::{create, governor};
use flyball_events::event::{Event, Record};
use flyball_events::stream::Item;
use queue::Queue;
pub use run::{Answer, Ask, ShadowError, Source, Trial, shadow};
pub use score::{Change, DomainReport, Miss, Report, Score};
pub use seen::{Seen, SeenDomain};
pub use setup::{Governed, Setup};
pub use text::text;

/// Scale of clamps.
const SCALE: u32 = 1024;

/// By how much a wake-up or a switch is recorded later than the kernel's question before it, at most: what lies
/// between is the kernel's own way, some thousand instructions.
const LAG_NS: u64 = 300_000;

/// One clock domain with its governor.
struct Shadowed {
    name: String,
    domain: Domain,
    governor: Box<dyn Governor>,
    /// Whether the governor was given anything: from then on its answers count.
    started: bool,
    /// The frequency in force, by the trace.
    current_khz: Option<u64>,
    /// When the kernel changed it last, and from what; until a question may be what it answered.
    answered: Option<(u64, u64)>,
    /// What the governor asked for last.
    asked_khz: Option<u64>,
    signals: Vec<CpuSignals>,
    known: Vec<bool>,
}

impl Shadowed {
    /// Starts the governor; not before the frequency in force is known, where utilisation means
    /// something only beside it.
    fn start(&mut self, now: Nanos) -> Option<Decision> {
        match self.current_khz {
            Some(khz) => self.domain.current = KiloHertz(khz),
            None if !self.domain.frequency_invariant => return None,
            None => {}
        }
        // Without fast switching a governor hears what the kernel set: it then follows the recorded
        // frequency, and not its own.
        let domain = self.domain.clone().fast_switch(false);
        self.started = true;
        Some(self.governor.start(&domain, now))
    }

    /// The operating point that a decision asks for; none where it leaves things as they are.
    fn point(&self, decision: &Decision) -> Option<u64> {
        let Domain { opps, min, max, capacity, .. } = &self.domain;
        let (target, relation) = match decision.request? {
            Request::Frequency { target, relation } => (target, relation),
            Request::Range { max, .. } => (max, Relation::H),
            // As schedutil carries out a sched_ext scheduler's level.
            Request::Perf(perf) => {
                let current = self.current_khz.map_or(self.domain.current, KiloHertz);
                let level = PerfLevel { perf, capacity: *capacity };
                let reference = self.domain.reference_frequency(current);
                (cpuperf_frequency(level, reference), Relation::LE)
            }
            _ => return None,
        };
        Some(opps.resolve(target, *min, *max, relation).0)
    }
}

/// An update of real-time and deadline tasks' signals.
struct Updating {
    t_ns: u64,
    cpu: u32,
    by: u32,
}

/// What is told of a fair queue.
struct Told {
    util: u32,
    runnable: Option<u32>,
    util_est: u32,
    contrib: Option<u32>,
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
    /// An update of all that a CPU has, of which the fair queue's signals are not seen yet.
    updating: Option<Updating>,
    /// Clamps of tasks, by their numbers.
    clamps: HashMap<u32, (u32, u32)>,
    /// Up to when time was accounted, how long CPUs were busy then, and how long with the frequency that the
    /// governor asked for.
    accounted_ns: u64,
    busy_ns: u64,
    same_ns: u64,
}

/// Signals of a CPU, with what follows from its runnable tasks: real-time ones have a lower clamp of 1024.
fn with_tasks(
    signals: CpuSignals,
    queue: &Queue,
    clamps: &HashMap<u32, (u32, u32)>,
    uclamp_used: bool,
) -> CpuSignals {
    let urgent = queue.is_urgent();
    let (low, high) = if urgent { (SCALE, SCALE) } else { queue.clamps(clamps) };
    let signals = signals.rt(queue.rt()).dl(queue.dl()).rt_runnable(urgent);
    if uclamp_used { signals.uclamp_min(low).uclamp_max(high) } else { signals }
}

impl Shadow {
    /// Governors over the domains that they are to rule; each is started at the first event.
    pub fn new(domains: Vec<(Domain, Box<dyn Governor>)>) -> Shadow {
        // As cpufreq names its policies: after the lowest CPU.
        let named = domains.into_iter().map(|(domain, governor)| {
            let lowest = domain.cpus.iter().map(|cpu| cpu.0).min().unwrap_or_default();
            (format!("policy{lowest}"), domain, governor)
        });
        Shadow::named(named.collect())
    }

    /// The same over domains that have names.
    pub fn named(domains: Vec<(String, Domain, Box<dyn Governor>)>) -> Shadow {
        let mut queues = BTreeMap::new();
        let shadowed = domains.into_iter().enumerate().map(|(number, (name, domain, governor))| {
            for cpu in &domain.cpus {
                queues.insert(cpu.0, Queue::new(number, &domain));
            }
            let cpus = domain.cpus.len();
            let signals = vec![CpuSignals::default(); cpus];
            let known = vec![false; cpus];
            Shadowed {
                name,
                domain,
                governor,
                started: false,
                current_khz: None,
                answered: None,
                asked_khz: None,
                signals,
                known,
            }
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
            updating: None,
            clamps: HashMap::new(),
            accounted_ns: 0,
            busy_ns: 0,
            same_ns: 0,
        }
    }

    /// Tasks that have clamps, by their numbers: (lower, upper).
    pub fn clamp(&mut self, clamps: HashMap<u32, (u32, u32)>) {
        self.clamps = clamps;
    }

    /// Takes the averages of every CPU as 0 until a signal says otherwise, as a simulation begins.
    /// Without this a governor waits for a signal of each CPU of its domain, and one that stays idle
    /// has none.
    pub fn begin_idle(&mut self) {
        for shadowed in &mut self.domains {
            shadowed.known.fill(true);
        }
    }

    /// Takes the next item of the trace.
    pub fn item(&mut self, item: Item<'_>) {
        match item {
            Item::Record(record) | Item::Reading(record) => self.record(record),
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
        let cpus = |domain: &Domain| domain.cpus.iter().map(|cpu| cpu.0).collect();
        let domains = self.domains.iter().map(|own| (own.name.clone(), cpus(&own.domain)));
        score::report(&Score {
            domains: &domains.collect::<Vec<(String, Vec<u32>)>>(),
            kernel: &self.kernel,
            decisions: &self.decisions,
            updates: &self.updates,
            gaps: &self.gaps,
            tolerance_ns: tolerance.0,
            busy_ns: self.busy_ns,
            same_ns: self.same_ns,
        })
    }

    fn record(&mut self, record: &Record<'_>) {
        let t_ns = record.t_ns;
        self.account(t_ns);
        self.end_update(record);
        match record.event {
            Event::Switch { prev, state, next } => {
                let asks =
                    self.asks_after(record.cpu, |queue| queue.switch(t_ns, prev, state, next));
                if next.tid == 0 {
                    self.idle(record.cpu);
                }
                if asks {
                    self.renew(record, record.cpu);
                }
                // Who leaves is counted after the question, who comes before the next one.
                if let Some(queue) = self.queues.get_mut(&record.cpu) {
                    queue.see_rt(t_ns);
                }
            }
            Event::Wakeup { task, cpu } => {
                let asks = self.asks_after(cpu, |queue| queue.wake(t_ns, task));
                if asks {
                    self.renew(record, cpu);
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
            Event::QueueAverages { cpu, util, runnable, estimate, contrib } => {
                self.updating.take_if(|updating| updating.cpu == cpu);
                let told = Told { util, runnable, util_est: estimate.unwrap_or(0), contrib };
                self.update(record, cpu, told);
            }
            Event::ClassAverages { class, cpu, util, contrib } => {
                let queue = self.queues.get_mut(&cpu);
                if queue.is_some_and(|queue| queue.tell(t_ns, class, util, contrib)) {
                    self.updating = Some(Updating { t_ns, cpu, by: record.cpu });
                }
            }
            Event::Frequency { cpu, khz } => self.changed(t_ns, cpu, khz),
            _ => {}
        }
    }

    /// Where an update of all that a CPU has changed nothing of its fair queue, the kernel asks all the same, as real-time and
    /// deadline tasks' utilisations changed. A change of frequency is the answer.
    fn end_update(&mut self, record: &Record<'_>) {
        let answers = matches!(record.event, Event::Frequency { .. });
        let is_over = |of: &mut Updating| answers || record.t_ns.saturating_sub(of.t_ns) > LAG_NS;
        let Some(Updating { t_ns, cpu, by }) = self.updating.take_if(is_over) else { return };
        let Some(queue) = self.queues.get(&cpu) else { return };
        let number = queue.domain();
        let Some(shadowed) = self.domains.get_mut(number) else { return };
        let at = shadowed.domain.cpus.iter().position(|own| own.0 == cpu);
        if let Some(signals) = at.and_then(|at| shadowed.signals.get_mut(at)) {
            *signals = with_tasks(*signals, queue, &self.clamps, shadowed.domain.uclamp_used);
        }
        self.ask((t_ns, by), number, cpu);
    }

    /// Counts the time up to now in which CPUs of a domain were busy.
    fn account(&mut self, t_ns: u64) {
        let passed = t_ns.saturating_sub(self.accounted_ns);
        self.accounted_ns = self.accounted_ns.max(t_ns);
        for shadowed in &self.domains {
            let (Some(asked), Some(current)) = (shadowed.asked_khz, shadowed.current_khz) else {
                continue;
            };
            let busy = |cpu: &CpuId| self.queues.get(&cpu.0).is_some_and(Queue::is_busy);
            if shadowed.domain.cpus.iter().any(busy) {
                self.busy_ns += passed;
                self.same_ns += if asked == current { passed } else { 0 };
            }
        }
    }

    /// Whether clamps of tasks that come and go count at once, in the question that their coming or going asks.
    fn clamps_first(domain: &Domain) -> bool {
        domain.uclamp_used && !domain.rules.has(KernelRule::RequestBeforeClamp)
    }

    /// Changes a queue; whether the kernel asked its governor because of that about this moment, where a
    /// real-time task came or went, or a clamp came. (Who goes is seen in the last update, see [`Self::update`].)
    fn asks_after(&mut self, cpu: u32, change: impl FnOnce(&mut Queue)) -> bool {
        let Some(queue) = self.queues.get_mut(&cpu) else { return false };
        let (urgent, clamps, tasks) = (queue.is_urgent(), queue.clamps(&self.clamps), queue.fair());
        change(queue);
        let Some(Shadowed { domain, .. }) = self.domains.get(queue.domain()) else { return false };
        let clamp_came = queue.fair() > tasks && queue.clamps(&self.clamps) != clamps;
        let asks = !domain.uclamp_used || Self::clamps_first(domain);
        asks && (clamp_came || queue.is_urgent() != urgent)
    }

    /// The kernel asked its governor with the averages that it has: in front of the event that shows it. A change
    /// that came in between is the answer already, so the question is asked at the frequency before it.
    fn renew(&mut self, record: &Record<'_>, cpu: u32) {
        let Some(queue) = self.queues.get(&cpu) else { return };
        let number = queue.domain();
        let Some(shadowed) = self.domains.get_mut(number) else { return };
        let Some(at) = shadowed.domain.cpus.iter().position(|own| own.0 == cpu) else { return };
        if let Some(signals) = shadowed.signals.get_mut(at) {
            *signals = with_tasks(*signals, queue, &self.clamps, shadowed.domain.uclamp_used);
            if !queue.is_urgent() {
                *signals = signals.rt(queue.rt_before(record.t_ns));
            }
        }
        let now = Nanos(record.t_ns);
        let answered = shadowed.answered.take_if(|(at, _)| record.t_ns - *at < LAG_NS);
        if let Some((_, before)) = answered {
            shadowed.governor.on(&GovernorEvent::Applied { frequency: KiloHertz(before) }, now);
        }
        self.ask((record.t_ns, record.cpu), number, cpu);
        let current = self.domains.get(number).and_then(|shadowed| shadowed.current_khz);
        if let (Some(_), Some(khz), Some(shadowed)) =
            (answered, current, self.domains.get_mut(number))
        {
            shadowed.governor.on(&GovernorEvent::Applied { frequency: KiloHertz(khz) }, now);
        }
    }

    /// The CPU switches to the idle loop: nothing is enqueued. A governor of one CPU holds its
    /// frequency until the CPU was idle, by the number of its calls of the idle loop.
    fn idle(&mut self, cpu: u32) {
        let domains = self.domains.iter_mut();
        for shadowed in domains {
            let at = shadowed.domain.cpus.iter().position(|own| own.0 == cpu);
            if let Some(signals) = at.and_then(|at| shadowed.signals.get_mut(at)) {
                signals.util_est = 0;
                signals.idle_calls += 1;
            }
        }
    }

    /// New averages of a CPU: the kernel asks its governor at this moment, so it is asked here.
    fn update(
        &mut self,
        record: &Record<'_>,
        cpu: u32,
        Told { util, runnable, util_est, contrib }: Told,
    ) {
        let Some(queue) = self.queues.get_mut(&cpu) else { return };
        let now = queue.clock_of_update(record.t_ns, contrib);
        let waiting = queue.waiting(record.t_ns);
        // Where nobody fair is enqueued, it was the update of everything that a CPU has.
        if util_est == 0 || queue.runs_urgent() {
            queue.see_rt(record.t_ns);
        }
        let number = queue.domain();
        let Some(shadowed) = self.domains.get_mut(number) else { return };
        let Some(at) = shadowed.domain.cpus.iter().position(|own| own.0 == cpu) else { return };
        let runnable = runnable.unwrap_or(util.saturating_add(waiting));
        let told = CpuSignals::IDLE.util(util).runnable(runnable).util_est(util_est);
        let mut told = with_tasks(told, queue, &self.clamps, shadowed.domain.uclamp_used);
        if !shadowed.domain.uclamp_used && queue.is_left(record.t_ns, contrib) {
            told = told.rt_runnable(false);
        }
        // Fair tasks were there a moment ago: what changes are their averages.
        if shadowed.domain.rules.has(KernelRule::FairServer) {
            told = told.bw_dl(RESERVED_FOR_FAIR);
        }
        // The only task has left util_est in front of its last update, and with it its lower clamp.
        let expected = shadowed.signals.get(at).is_some_and(|before| before.util_est > 0);
        let leaves = util_est == 0 && expected && queue.fair() == 1 && !queue.is_urgent();
        if leaves && Self::clamps_first(&shadowed.domain) {
            told = told.uclamp_min(0);
        }
        shadowed.answered = None;
        if let (Some(signals), Some(known)) =
            (shadowed.signals.get_mut(at), shadowed.known.get_mut(at))
        {
            let idle_calls = signals.idle_calls;
            (*signals, *known) = (told.idle_calls(idle_calls), true);
        }
        self.ask((now, record.cpu), number, cpu);
    }

    /// Asks a domain's governor on behalf of a CPU; when, and which CPU does.
    fn ask(&mut self, (t_ns, by): (u64, u32), number: usize, cpu: u32) {
        let Some(shadowed) = self.domains.get_mut(number) else { return };
        let own = shadowed.domain.cpus.contains(&CpuId(by));
        if !own || !shadowed.known.iter().all(|known| *known) {
            return;
        }
        let now = Nanos(t_ns);
        let mut first = None;
        if !shadowed.started {
            match shadowed.start(now) {
                Some(decision) => first = Some(decision),
                None => return,
            }
        }
        let signals = shadowed.signals.as_slice().into();
        let event = GovernorEvent::Util { cpu: CpuId(cpu), signals, flags: UtilFlags::default() };
        let decision = shadowed.governor.on(&event, now);
        self.updates.push((t_ns, number));
        // Of a start and the first answer to a signal the latter counts.
        let starts = first.is_some();
        let point = shadowed.point(&decision);
        let point = point.or_else(|| first.and_then(|first| shadowed.point(&first)));
        let Some(khz) = point else { return };
        // The first answer tells what is in force already, unless that is known to differ; a
        // governor that says the same again decides nothing.
        let repeats = match decision.request {
            Some(Request::Frequency { .. }) => false,
            _ => shadowed.asked_khz == Some(khz),
        };
        shadowed.asked_khz = Some(khz);
        let in_force = starts && shadowed.current_khz.unwrap_or(khz) == khz;
        if !in_force && !repeats {
            self.decisions.push(Change { t_ns, domain: number, khz });
        }
    }

    /// The kernel changed a frequency: one event per CPU of the domain, the first counts.
    fn changed(&mut self, t_ns: u64, cpu: u32, khz: u64) {
        let Some(number) = self.queues.get(&cpu).map(Queue::domain) else { return };
        let Some(shadowed) = self.domains.get_mut(number) else { return };
        let before = shadowed.current_khz.replace(khz);
        if before == Some(khz) {
            return;
        }
        shadowed.answered = before.map(|before| (t_ns, before));
        for cpu in &shadowed.domain.cpus {
            if let Some(queue) = self.queues.get_mut(&cpu.0) {
                queue.frequency(t_ns, khz);
            }
        }
        if shadowed.started {
            shadowed
                .governor
                .on(&GovernorEvent::Applied { frequency: KiloHertz(khz) }, Nanos(t_ns));
        }
        self.kernel.push(Change { t_ns, domain: number, khz });
    }
}
