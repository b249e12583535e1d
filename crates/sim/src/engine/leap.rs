//! Time in leaps, where CPUs have nothing to do with each other between two events of their clock
//! domain.
//!
//! Under governors that poll, or that decide nothing, nothing reads the scheduler's signals: a
//! tick and an update of load tracking change nothing that can be seen. If each CPU moreover has at
//! most one task, which is pinned to it and only works and sleeps, then between two events of its
//! domain (a poll, a change of frequency) a CPU goes through its own items undisturbed. So the loop
//! goes over the domains' events only, and brings each CPU of a domain up to that time in one go;
//! and one domain goes all the way to the next look at the temperature, which they share, before
//! the next one begins. Accounting, idle states, changes of frequency and governors are the
//! engine's own; a test holds the totals against the engine's, bit for bit. Only the temperature is
//! not: see [`Machine::mean_power`].

use super::Machine;
use super::cpu::{Activity, Runs};
use super::idle::TickAhead;
use super::schedule::{MOST_STEPS, PENANCE};
use super::task::{Program, Segment, State, Task};
use crate::behavior::Step;
use crate::observe::Observer;
use crate::setup::{Class, TaskId};
use flyball_governors::idle::IdleChoice;
use flyball_platform::IdleTick;
use flyball_units::{CpuId, Nanos};

impl Machine {
    /// Whether CPUs of one core, of which each slows the other, both have some of these tasks.
    fn shares_a_core(&self, tasks: &[u32]) -> bool {
        let has = |c: usize| tasks.get(c).is_some_and(|&count| count > 0);
        self.cpus.iter().enumerate().any(|(c, cpu)| {
            has(c) && cpu.thread_speed < 1.0 && cpu.siblings.iter().any(|&other| has(other))
        })
    }

    /// Why time cannot pass in leaps here; None where it can.
    pub fn cannot_leap(&self) -> Option<&'static str> {
        let needs =
            |d: &super::Domain| d.needs.utilization || d.needs.idle || d.needs.tick_hz.is_some();
        let mut tasks = vec![0_u32; self.cpus.len()];
        for task in &self.tasks {
            let alone = match &task.program {
                Program::Behavior(behavior) => behavior.is_alone(),
                Program::Governor { .. } => return Some("a governor runs as a task"),
            };
            if task.is_deadline() {
                return Some("a task may use up its runtime");
            }
            if task.cgroup.is_some_and(|g| self.cgroups[g].is_limited()) {
                return Some("a control group may use up its quota");
            }
            if !alone || task.class == Class::Interrupt {
                return Some("tasks wait for each other, or interrupts come");
            }
            match task.pinned.and_then(|c| tasks.get_mut(c)) {
                Some(count) => *count += 1,
                None => return Some("a task may run on several CPUs"),
            }
        }
        if self.now > 0 {
            Some("time has passed")
        } else if self.idle_tick == IdleTick::Continues {
            Some("the tick goes on in idle CPUs")
        } else if self.domains.iter().any(needs) {
            Some("a governor needs more than polls")
        } else if self.domains.len() > 1 && self.domains.iter().any(|d| d.needs.whole_machine) {
            Some("a governor looks at CPUs of other clock domains")
        } else if self.domains.iter().flat_map(|d| &d.idle_states).any(|state| state.polling) {
            Some("idle CPUs may poll")
        } else if (0..self.domains.len()).any(|d| self.keeps_tick_once(d)) {
            Some("idle CPUs keep their tick once")
        } else if self.paths.switch > 0 || self.paths.interrupt > 0 || self.readings.wake_cycles > 0
        {
            Some("wake-ups take as long as was measured")
        } else if self.domains.iter().any(|domain| self.ticks_may_count_idle_time(domain)) {
            Some("ticks count the idle time that a governor sees")
        } else if tasks.iter().any(|&count| count > 1) {
            Some("several tasks share a CPU")
        } else if !self.hints.is_empty() {
            Some("hints are given")
        } else if self.prescriptions.next() < u64::MAX {
            Some("decisions are prescribed")
        } else if !self.ramped.is_empty() {
            Some("clamps follow a ramp")
        } else if self.shares_a_core(&tasks) {
            Some("tasks share a core")
        } else {
            None
        }
    }

    /// As [`Machine::run_until`], in leaps, on a machine that [can](Machine::cannot_leap); where it
    /// cannot, nothing happens. Of the observer's methods only `frequency`, `governor`, `item_begun`,
    /// `item_ended` and `temperature` are called, in order of time per clock domain, not over all.
    /// One stretch of time goes one way: in leaps, or not.
    pub fn leap<O: Observer>(&mut self, until: Nanos, observer: &mut O) {
        if !self.announced {
            if self.cannot_leap().is_some() {
                return;
            }
            self.announced = true;
            self.leaping = true;
            for (t, task) in self.tasks.iter().enumerate() {
                if let Some(c) = task.pinned {
                    (self.cpus[c].alone, self.cpus[c].awake_at) = (Some(t), task.timer);
                }
            }
            self.announce(observer);
        }
        let until = until.0.min(self.duration);
        loop {
            let end = until.min(self.temperature_at);
            for d in 0..self.domains.len() {
                self.leap_domain(d, end, observer);
            }
            if self.temperature_at > until {
                break;
            }
            self.leap_to_temperature(observer);
        }
        // What happens at the very end has happened, as in the engine.
        for c in 0..self.cpus.len() {
            self.leap_cpu(c, until.saturating_add(1), observer);
        }
        self.now = until;
    }

    /// Lets clock domain `d` go through all of its events up to `end`. Until something reads the
    /// temperature, domains have nothing to do with each other: each one goes all the way alone,
    /// and its time begins again where the one of the domain before did.
    fn leap_domain<O: Observer>(&mut self, d: usize, end: u64, observer: &mut O) {
        loop {
            let at = self.next.at(d);
            if at > end || at == u64::MAX {
                return;
            }
            for index in 0..self.domains[d].cpus.len() {
                let c = self.domains[d].cpus[index];
                self.leap_cpu(c, at, observer);
            }
            self.now = at;
            self.events += 1;
            if self.domains[d].deferred && !self.domains[d].called {
                // Whatever happens may change when the scheduler calls next.
                self.domains[d].wake_at = at;
            }
            self.domain_event(d, observer);
        }
    }

    /// Whether the scheduler calls cpufreq for a CPU of domain `d` now; if not, the governor looks again
    /// when it may.
    pub(super) fn leap_calls<O: Observer>(&mut self, d: usize, observer: &mut O) -> bool {
        let (now, mut next) = (self.now, u64::MAX);
        if now == self.temperature_at {
            return false; // ticks come after the look at the temperature, which calls again
        }
        for index in 0..self.domains[d].cpus.len() {
            let c = self.domains[d].cpus[index];
            let before = self.cpus[c].calls;
            self.leap_cpu(c, now + 1, observer);
            let cpu = &self.cpus[c];
            if cpu.calls != before {
                return true;
            }
            next = next.min(cpu.awake_at).min(cpu.complete_at);
            if let Activity::Busy = cpu.activity {
                let tick = self.tick_from(now);
                if tick == now {
                    return true;
                }
                next = next.min(tick);
            }
        }
        self.domains[d].wake_at = next;
        self.requeue_domain(d);
        false
    }

    /// Up to the next look at the temperature. Since the last one the mean power has flowed: within
    /// the 100 ms between two looks, the moment at which it flowed does not matter.
    fn leap_to_temperature<O: Observer>(&mut self, observer: &mut O) {
        let at = self.temperature_at;
        for c in 0..self.cpus.len() {
            self.leap_cpu(c, at, observer);
        }
        self.now = at;
        self.events += 1;
        self.check_temperature(observer);
        // It may have changed a frequency, and with it when the scheduler calls next; that may be now.
        for d in 0..self.domains.len() {
            if self.domains[d].deferred && !self.domains[d].called {
                self.domains[d].wake_at = at;
                self.requeue_domain(d);
            }
        }
    }

    /// Mean power since the last time that this was asked, in milliwatts.
    pub(super) fn mean_power(&mut self) -> f64 {
        // With what is not accounted yet: accounting it here would round it otherwise than the engine.
        let open = |cpu: &super::Cpu| cpu.power * (self.now - cpu.power_since) as f64;
        let energy: f64 = self.cpus.iter().map(|cpu| cpu.totals.energy + open(cpu)).sum();
        let passed = self.now - self.temperature.as_ref().map_or(0, |heat| heat.since);
        let before = std::mem::replace(&mut self.leap_energy, energy);
        // Picojoules per nanosecond are milliwatts.
        self.base_power + if passed > 0 { (energy - before) / passed as f64 } else { 0.0 }
    }

    /// Lets CPU `c` go through everything that happens before `end`.
    #[inline]
    fn leap_cpu<O: Observer>(&mut self, c: usize, end: u64, observer: &mut O) {
        loop {
            let cpu = &self.cpus[c];
            let at = cpu.awake_at.min(cpu.complete_at);
            if at >= end {
                return;
            }
            self.now = at;
            self.events += 1;
            self.leap_cpu_event(c, observer);
        }
    }

    /// What CPU `c` waited for has come. One without a task waits for nothing.
    fn leap_cpu_event<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let Some(t) = self.cpus[c].alone else { return };
        let due = self.tasks[t].timer <= self.now;
        match self.cpus[c].activity {
            Activity::Idle(state) => {
                self.leap_out_of_idle(c, t, state);
                if due {
                    self.leap_wake(c, t);
                }
            }
            Activity::Waking if due => self.leap_wake(c, t),
            Activity::Waking if self.tasks[t].state == State::Runnable => {
                self.leap_in(c, t);
                self.leap_program(c, t, observer);
            }
            // The tick woke it up, for nothing.
            Activity::Waking => self.leap_idle(c, t),
            Activity::Busy | Activity::Leaving => {
                self.progress(c);
                if let Some(segment) = self.tasks[t].segment.take() {
                    self.tasks[t].totals.cycles += segment.units * segment.cycles;
                }
                self.leap_program(c, t, observer);
            }
        }
    }

    /// The task's timer expired.
    fn leap_wake(&mut self, c: usize, t: usize) {
        let task = &mut self.tasks[t];
        match task.state {
            State::Unborn => task.since = self.now,
            _ => task.totals.wakeups += 1,
        }
        task.timer = u64::MAX;
        task.announced = true;
        task.enter(State::Runnable, self.now);
        self.cpus[c].calls += 1;
        self.cpus[c].complete_at = u64::MAX;
    }

    /// The task's timer expired, or the tick that was kept came: the CPU begins to leave its idle
    /// state. The timer may expire before it is awake.
    fn leap_out_of_idle(&mut self, c: usize, t: usize, state: Option<usize>) {
        self.flush(c);
        let timer = self.tasks[t].timer;
        let cpu = &mut self.cpus[c];
        let states = &self.domains[cpu.domain].idle_states;
        cpu.sleeps.learn(self.now - cpu.idle_since, timer > self.now);
        cpu.totals.wakeups += 1;
        let latency = state.and_then(|at| states.get(at)).map_or(0, |state| state.exit_latency.0);
        cpu.awake_at = self.now.saturating_add(latency);
        cpu.complete_at = if timer <= cpu.awake_at { timer } else { u64::MAX };
        self.set_activity(c, Activity::Waking);
        self.set_power(c);
    }

    /// The CPU is awake and has its task.
    fn leap_in(&mut self, c: usize, t: usize) {
        self.flush(c);
        self.tasks[t].enter(State::Running, self.now);
        let cpu = &mut self.cpus[c];
        cpu.awake_at = u64::MAX;
        cpu.current = Some(t);
        cpu.runs = Runs::of(self.tasks[t].class);
        cpu.progress_at = self.now;
        self.set_activity(c, Activity::Busy);
        self.set_power(c);
    }

    /// Asks the running task for steps until one takes time.
    fn leap_program<O: Observer>(&mut self, c: usize, t: usize, observer: &mut O) {
        let (task, cpu) = (TaskId(t as u32), CpuId(c as u32));
        let mut steps = 0;
        while self.tasks[t].segment.is_none() {
            steps += 1;
            let Task { program, random, .. } = &mut self.tasks[t];
            let step = match program {
                _ if steps > MOST_STEPS => Step::Run(PENANCE),
                Program::Behavior(behavior) => behavior.next(Nanos(self.now), random),
                Program::Governor { .. } => Step::Exit,
            };
            match step {
                Step::Run(work) | Step::Leave { work, .. } => {
                    self.tasks[t].segment = Segment::new(work);
                }
                Step::SleepUntil(at) if at.0 > self.now => return self.leap_to_idle(c, t, at.0),
                Step::AwaitUntil(at) if at.0 > self.now => {
                    self.tasks[t].announced = false;
                    return self.leap_to_idle(c, t, at.0);
                }
                Step::Sleep(time) if time.0 > 0 => {
                    return self.leap_to_idle(c, t, self.now.saturating_add(time.0));
                }
                Step::Begin { item, released } => {
                    observer.item_begun(Nanos(self.now), task, item, released, cpu);
                }
                Step::End { item } => observer.item_ended(Nanos(self.now), task, item, cpu),
                Step::Exit => {
                    self.tasks[t].totals.ended = Some(self.now);
                    return self.leap_to_idle(c, t, u64::MAX);
                }
                // Steps that take no time here; the last three are not those of a task alone.
                Step::SleepUntil(_)
                | Step::AwaitUntil(_)
                | Step::SleepForInterrupt { .. }
                | Step::Sleep(_)
                | Step::Mark(_) => {}
                Step::WaitForIo(_) | Step::Wait | Step::Wake(_) => {}
            }
        }
        self.set_completion(c);
    }

    /// The task sleeps until `until`, for ever where that is the end of time: the CPU goes idle.
    fn leap_to_idle(&mut self, c: usize, t: usize, until: u64) {
        self.progress(c);
        self.release_cpu(c);
        let task = &mut self.tasks[t];
        let ended = task.totals.ended.is_some();
        task.enter(if ended { State::Ended } else { State::Sleeping }, self.now);
        task.timer = until;
        self.cpus[c].calls += 1;
        self.leap_idle(c, t);
    }

    /// CPU `c` goes idle until its task's timer expires, or the tick comes, if that is kept.
    fn leap_idle(&mut self, c: usize, t: usize) {
        self.flush(c);
        let (until, tick) = (self.tasks[t].timer, self.next_tick());
        let known = self.tasks[t].announced && until != u64::MAX;
        let timer = known.then(|| until - self.now);
        let cpu = &mut self.cpus[c];
        let choice = cpu.sleeps.choose(timer, TickAhead::Runs(tick - self.now), 0);
        let state = choice.map(|choice| choice.state);
        cpu.complete_at = u64::MAX;
        cpu.awake_at = match choice {
            Some(IdleChoice { stops_tick: false, .. }) => until.min(tick),
            _ => until,
        };
        cpu.idle_since = self.now;
        if let Some(entries) = state.and_then(|state| cpu.totals.entries.get_mut(state)) {
            *entries += 1;
        }
        self.set_activity(c, Activity::Idle(state));
        self.set_power(c);
    }

    /// Whether every task has ended.
    pub fn all_ended(&self) -> bool {
        self.tasks.iter().all(|task| task.state == State::Ended)
    }
}
