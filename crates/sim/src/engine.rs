//! The machine in virtual time: a loop over the earliest of a few next events.
//!
//! ```text
//!   clock domains | timers | statistics clock, temperature, hints | CPUs: out of idle, work done, slice over, tick
//! ```
//! Each source keeps the time of its next event in an agenda; at equal times the first in this order
//! is served. Nothing is allocated while time passes, and nothing random is drawn except
//! from the tasks' own streams, so that the same setup gives the same events.
//!
//! What several events do is compiled once where it is not short (`inline(never)`): the code that events execute by turns
//! hardly fits a CPU's cache of instructions.

mod agenda;
mod arrival;
mod balance;
mod build;
mod cfs;
mod cgroup;
mod check;
mod cpu;
mod cpu_bits;
mod deadline;
mod domain;
mod energy;
mod error;
mod fair;
mod finish;
mod fork;
mod frequency;
mod govern;
mod hints;
mod idle;
mod idle_care;
mod interrupt;
mod leap;
mod load;
mod near;
mod new_idle;
mod place;
mod pose;
mod power;
mod prescribed;
mod progress;
mod ramped;
mod rt;
mod schedule;
mod server;
mod summary;
mod task;
mod tick;
mod timers;
mod wake;
mod way_out;

pub use deadline::RESERVED_FOR_FAIR;
pub use error::SetupError;
pub use pose::{PosedCpu, PosedTask};
pub use summary::{
    CgroupSummary, CpuSummary, DomainSummary, FrequencyResidency, LimitSummary, Summary,
    TaskSummary, TemperatureSummary,
};

use crate::observe::{All, Blind, Observer};
use crate::setup::{Controller, HintCall, Placement, Setup};
use agenda::Agenda;
use cgroup::Cgroup;
use cpu::{Activity, Cpu};
use cpu_bits::CpuBits;
use domain::Domain;
use flyball_pelt::Features;
use flyball_platform::{ClockReadings, IdleTick, Paths, TickReading};
use flyball_units::{CpuId, KernelRules, Nanos};
use interrupt::TimerInterrupt;
use power::Temperature;
use prescribed::Prescriptions;
use task::Task;
use timers::Timers;

/// A simulated machine.
pub struct Machine {
    now: u64,
    duration: u64,
    events: u64,
    /// Whether the observer was given the machine's initial state.
    announced: bool,
    /// Times of the next events: one per domain, the timers', the periodic ones', one per CPU.
    next: Agenda,
    cpus: Vec<Cpu>,
    /// Those whose activity is to be idle, as [`Machine::set_activity`] keeps them.
    idle_cpus: CpuBits,
    /// CPUs on which fair tasks wait.
    crowded: CpuBits,
    domains: Vec<Domain>,
    /// Those whose governor is a task.
    governed_by_tasks: Vec<usize>,
    tasks: Vec<Task>,
    cgroups: Vec<Cgroup>,
    timers: Timers,
    /// Fair tasks that wait for a CPU, on all of them.
    fair_waiting: usize,
    /// Whether a task waited anywhere since a CPU last looked for one (`overloaded` of the root domain).
    overloaded: bool,
    /// Whether a fair task's slice ends by a timer.
    slice_timer: bool,
    /// How long before events its clock is read.
    readings: ClockReadings,
    /// What the way from a timer to its task's first instruction costs.
    paths: Paths,
    /// Timers' interrupts, of each CPU.
    interrupts: Vec<TimerInterrupt>,
    /// How many of these go on.
    interrupted: usize,
    /// From one question of a CPU to its next that comes at once, in cycles.
    question: u64,
    /// Whether the scheduler is taken to call cpufreq at each tick, wake-up and sleep: where time can pass in leaps, in which its
    /// signals are not simulated. Else it calls samplers where it asks schedutil.
    simple_calls: bool,
    /// Idle time before time began that samplers have not seen yet, in ns.
    idle_before_samples: u64,
    /// From the scheduler's call until the sampler's worker is awake, in cycles.
    sampler_wake: u64,
    /// How late a tick reads the clock that samplers look at.
    tick_reading: TickReading,
    /// From the tick of one CPU to that of another, on average.
    tick_spread: Nanos,
    /// From the question of a busy CPU's tick to the first one of the round that it begins, on average.
    round_spread: Nanos,
    /// From the tick that finds a misfit to its move, in ns.
    balancer_latency: u64,
    /// A CPU's tick is done: its first question comes some time after that of another CPU.
    tick_begins: bool,
    /// How much later than now the tick that is done is, in ns.
    begins_after: u64,
    /// An idle CPU was woken by a tick, and has not asked yet.
    round: Option<idle_care::Round>,
    /// A tick that found its CPU idle lets signals decay.
    tick_wakes_cpu: bool,
    /// CPUs on which the running task may have to give way.
    pending: Vec<usize>,
    /// The CPU that creates a task, moves one, or lets signals decay, while it does that to others.
    caller: Option<usize>,

    /// Seed of what is random about the machine itself.
    seed: u64,
    tick: u64,
    tick_phase: u64,
    stat_period: u64,
    /// Next tick of the statistics clock; `u64::MAX` where nothing reads it.
    stat_at: u64,
    slice: u64,
    idle_tick: IdleTick,
    energy_aware: bool,
    /// Whether real-time tasks may move between CPUs.
    urgent_moves: bool,
    uclamp_used: bool,
    /// Whether uclamp is built into the kernel.
    uclamp_built: bool,
    capacities_equal: bool,
    /// The largest of them.
    largest: u32,
    placement: Placement,
    features: Features,
    /// Which named rules of kernel versions hold.
    rules: KernelRules,
    /// Tasks whose lower clamps follow a ramp.
    ramped: Vec<usize>,
    /// Who sets their clamps.
    controller: Controller,
    /// Its task was woken for clamps that are due: since when, and once it runs, since when it does.
    controller_called: Option<u64>,
    /// Hints that tasks are given, the latest first: the next one is at the end.
    hints: Vec<HintCall>,
    /// Decisions that are not its own.
    prescriptions: Prescriptions,
    /// Whether it is one of these when idle CPUs are looked after.
    care_is_prescribed: bool,
    /// When the signals of idle CPUs next decay, at the first tick of any CPU after that.
    decay_at: u64,
    /// Whether idle CPUs may have signals to decay: since one stopped its tick, until none that is idle has.
    idle_blocked: bool,
    /// Whether a CPU has come to those for which others balance since these were last looked at.
    idle_came: bool,
    /// How many CPUs a task looks at for an idle one, where all have one capacity.
    idle_search: usize,
    /// When a busy CPU may next wake an idle one to balance, which does so, too.
    kick_at: u64,
    /// Whether fair tasks get their share beside FIFO tasks: on Linux.
    fair_server: bool,

    /// In milliwatts.
    base_power: f64,
    /// Sum of the CPUs' power, in whole nanowatts so that it can follow each change exactly.
    nanowatts: i64,
    temperature: Option<Temperature>,
    /// Next look at the temperature.
    temperature_at: u64,
    /// Time during which a domain was throttled.
    throttled: u64,
    /// Whether time passes in leaps, and the CPUs' energy at the last look at the temperature.
    leaping: bool,
    leap_energy: f64,
}

impl Machine {
    /// A machine at time 0, before anything happened: governors are started, tasks are not.
    ///
    /// # Errors
    /// A setup that contradicts itself.
    pub fn new(setup: Setup) -> Result<Machine, SetupError> {
        check::check(&setup)?;
        Ok(build::build(setup))
    }

    /// The present time.
    pub fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    /// Lets the whole duration pass.
    pub fn run<O: Observer>(&mut self, observer: &mut O) {
        self.run_until(Nanos(self.duration), observer);
    }

    /// Lets time pass until `until`, or until the setup's duration where that is earlier. Events
    /// at that very time have happened then.
    pub fn run_until<O: Observer>(&mut self, until: Nanos, observer: &mut O) {
        let until = until.0.min(self.duration);
        if !std::mem::replace(&mut self.announced, true) {
            self.announce(observer);
            for (c, cpu) in self.cpus.iter().enumerate() {
                if let Activity::Idle(state) = cpu.activity {
                    observer.idle(Nanos::ZERO, CpuId(c as u32), state);
                }
            }
        }
        while let Some((slot, at)) = self.earliest(until) {
            self.now = at;
            self.events += 1;
            self.dispatch(slot, observer);
            while let Some(c) = self.pending.pop() {
                self.reschedule(c, observer);
            }
        }
        self.now = self.now.max(until);
    }

    /// As [`Machine::run_until`], for observers whose calls are few beside their work: the engine is compiled for all of them
    /// here, where `run_until` is compiled again for each.
    #[inline(never)]
    pub fn run_seen(&mut self, until: Nanos, observers: &mut [&mut dyn Observer]) {
        self.run_until(until, &mut All(observers));
    }

    /// As [`Machine::run_until`], with nobody to see it, compiled here.
    #[inline(never)]
    pub fn run_unseen(&mut self, until: Nanos) {
        self.run_until(until, &mut Blind);
    }

    /// Tells how the machine starts: frequencies, temperature.
    fn announce<O: Observer>(&self, observer: &mut O) {
        for (d, domain) in self.domains.iter().enumerate() {
            observer.frequency(Nanos::ZERO, d, domain.points[domain.point].frequency);
        }
        if let Some(temperature) = &self.temperature {
            observer.temperature(Nanos::ZERO, temperature.celsius);
        }
    }

    /// The first event that is not after `until`.
    #[inline]
    fn earliest(&mut self, until: u64) -> Option<(usize, u64)> {
        let (at, slot) = self.next.earliest();
        (at <= until && at != u64::MAX).then_some((slot, at))
    }

    #[inline]
    fn dispatch<O: Observer>(&mut self, slot: usize, observer: &mut O) {
        let first_cpu = self.first_cpu();
        if slot >= first_cpu {
            self.cpu_event(slot - first_cpu, observer);
        } else if slot < self.domains.len() {
            self.domain_event(slot, observer);
        } else if slot == self.domains.len() {
            self.expire_timers(observer);
        } else {
            self.periodic_event(observer);
        }
    }

    fn cpu_event<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let (now, cpu) = (self.now, &self.cpus[c]);
        if cpu.awake_at <= now {
            self.awake(c, observer);
        } else if cpu.complete_at <= now {
            self.complete(c, observer);
        } else if cpu.server.at <= now {
            self.server_event(c, observer);
        } else if cpu.move_at <= now {
            self.move_misfit(c, observer);
        } else if cpu.slice_at <= now {
            self.end_slice(c, observer);
        } else {
            self.tick(c, observer);
        }
    }

    fn domain_event<O: Observer>(&mut self, d: usize, observer: &mut O) {
        if self.domains[d].demand_at <= self.now {
            self.decide_by_demand(d);
        }
        while let Some(question) = self.domains[d].next_question(self.now) {
            self.put_question(d, question, observer);
        }
        self.advance_change(d, observer);
        if self.domains[d].wake_at <= self.now {
            self.wake_governor(d, observer);
        }
        self.requeue_domain(d);
    }

    fn periodic_event<O: Observer>(&mut self, observer: &mut O) {
        if self.stat_at <= self.now {
            self.statistics_tick(observer);
        }
        if self.temperature_at <= self.now {
            self.check_temperature(observer);
        }
        if self.interrupted > 0 {
            self.go_on_with_interrupts(observer);
        }
        self.give_hints(observer);
        self.do_prescribed(observer);
        self.see_to_ramps(observer);
        self.requeue_periodic();
    }

    fn requeue_periodic(&mut self) {
        let slot = self.domains.len() + 1;
        let rest = self.next_hint().min(self.next_look());
        let rest = rest.min(self.next_of_interrupts()).min(self.prescriptions.next());
        self.next.set(slot, self.stat_at.min(self.temperature_at).min(rest));
    }

    #[inline]
    fn first_cpu(&self) -> usize {
        self.domains.len() + 2
    }

    /// The events of CPU `c` changed.
    #[inline(never)]
    fn requeue(&mut self, c: usize) {
        let slot = self.first_cpu() + c;
        self.next.set(slot, self.cpus[c].next_event());
    }

    #[inline]
    fn requeue_domain(&mut self, d: usize) {
        self.next.set(d, self.domains[d].next_event());
    }

    fn requeue_timers(&mut self) {
        let slot = self.domains.len();
        self.next.set(slot, self.timers.next());
    }
}
