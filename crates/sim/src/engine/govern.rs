//! Calls governors with events and carries out their decisions.

use super::Machine;
use super::cpu::{Activity, Cpu, Totals};
use super::domain::{Domain, Question};
use super::task::State;
use crate::observe::Observer;
use crate::workload::exponential;
use flyball_governors::{CpuSignals, CpuTimes, Decision, Event, UtilFlags};
use flyball_platform::{IdleTick, TickReading};
use flyball_units::{CpuId, Nanos};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::borrow::Cow;

/// How long the machine had been up when the simulation began, in ns. Governors compare times with
/// their last change, 0 before the first: no rate limit (the longest known is 6.44 s) may hold up
/// the first request.
const UPTIME: u64 = 60_000_000_000;

/// The time that governors see.
#[inline]
pub(super) fn since_boot(now: u64) -> Nanos {
    Nanos(now.saturating_add(UPTIME))
}

/// The simulation's time of a governor's.
#[inline]
pub(super) fn of_simulation(at: Nanos) -> u64 {
    at.0.saturating_sub(UPTIME)
}

impl Machine {
    /// The scheduler asks cpufreq on behalf of CPU `c`.
    #[inline]
    pub(super) fn ask<O: Observer>(&mut self, c: usize, flags: UtilFlags, observer: &mut O) {
        let (d, by) = (self.cpus[c].domain, self.caller.unwrap_or(c));
        if !self.simple_calls {
            self.call(d, by);
        }
        if !self.domains[d].needs.utilization || self.is_foreign(d) {
            return;
        }
        let read_at = match self.question == 0 && self.cpus[by].ticks.is_empty() {
            // Nothing is known of how CPUs come to it.
            true => self.now,
            false => self.now + self.asks_after(d, c, by),
        };
        let way = match self.readings.change_cycles {
            cycles @ 1.. if self.domains[d].governor_task.is_none() => self.cpu_time(by, cycles),
            _ => 0,
        };
        if way == 0 {
            self.refresh_signals(d);
            return self.answer(d, (c, flags), read_at, observer);
        }
        if self.caller.is_some_and(|by| by != c) && self.cpus[c].is_idle() {
            // Who looks after it comes to it only then.
            self.cpus[c].seen_from = read_at;
        }
        let own = signals_of(&self.cpus[c], self.slice, self.now);
        self.domains[d].expect(Question { at: read_at + way, read_at, cpu: c, own, flags });
        self.requeue_domain(d);
    }

    /// How much later than now it is when CPU `by`, which asks on behalf of CPU `c`, has come to that: CPUs ask beside each other, and
    /// each of them one question after the other.
    fn asks_after(&mut self, d: usize, c: usize, by: usize) -> u64 {
        let now = self.now;
        let round = self.round.take();
        let next = self.cpu_time(by, self.question);
        let drawn = |spread: Nanos| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ now ^ c as u64);
            exponential(&mut random, spread).0
        };
        let domain = &self.domains[d];
        let (at, last, ticked) = domain.asked;
        let later = match self.cpus[by].asked {
            (own_at, own) if own_at == now => own + next,
            _ if let Some(round) = round => match round.is_beside {
                true => round.after + drawn(self.round_spread),
                false => round.after + next,
            },
            _ if at != now => self.begins_after,
            _ if !self.tick_begins => last + next,
            _ if self.cpus[by].ticks.is_empty() => ticked + drawn(self.tick_spread),
            _ => self.begins_after,
        };
        let in_tick = self.tick_begins && self.cpus[by].asked.0 != now && round.is_none();
        self.domains[d].asked = (now, later, if in_tick { later } else { ticked });
        self.cpus[by].asked = (now, later);
        later
    }

    /// How much later than now CPU `by` has come to its next question.
    pub(super) fn next_question_after(&self, by: usize) -> u64 {
        let (at, later) = self.cpus[by].asked;
        if at == self.now { later + self.cpu_time(by, self.question) } else { 0 }
    }

    /// A CPU asks that was on the way to it.
    pub(super) fn put_question<O: Observer>(
        &mut self,
        d: usize,
        Question { read_at, cpu: c, own, flags, .. }: Question,
        observer: &mut O,
    ) {
        self.refresh_signals(d);
        // The others' are as they are by now.
        if let Some(at) = self.domains[d].cpus.iter().position(|&cpu| cpu == c) {
            self.domains[d].signals[at] = own;
            self.cpus[c].stale = true;
        }
        self.answer(d, (c, flags), read_at, observer);
    }

    /// The governor of domain `d` is asked on behalf of a CPU, whose clock was read at this time.
    #[inline]
    fn answer<O: Observer>(
        &mut self,
        d: usize,
        (c, flags): (usize, UtilFlags),
        read_at: u64,
        observer: &mut O,
    ) {
        let domain = &mut self.domains[d];
        let signals = Cow::Borrowed(domain.signals.as_slice());
        let event = Event::Util { cpu: CpuId(c as u32), signals, flags };
        let decision = domain.governor.on(&event, since_boot(read_at));
        domain.governor_events += 1;
        observer.governor(Nanos(self.now), d, &event, &decision);
        if decision.request.is_some() || decision.wake_at.is_some() {
            self.apply(d, &decision, c);
        }
    }

    /// Whether what happens is done by a CPU that may not change the frequency of domain `d`.
    #[inline]
    fn is_foreign(&self, d: usize) -> bool {
        let foreign = |by: usize| !self.domains[d].from_any_cpu && self.cpus[by].domain != d;
        self.caller.is_some_and(foreign)
    }

    #[inline]
    fn refresh_signals(&mut self, d: usize) {
        let Domain { cpus, signals, .. } = &mut self.domains[d];
        for (&c, signals) in cpus.iter().zip(signals) {
            let cpu = &mut self.cpus[c];
            if cpu.stale && cpu.seen_from <= self.now {
                cpu.stale = false;
                *signals = signals_of(cpu, self.slice, self.now);
            }
        }
    }

    /// Tells the governor of domain `d` anything that does not borrow from the machine. `writer`
    /// is the CPU that would write a change.
    pub(super) fn tell<O: Observer>(
        &mut self,
        d: usize,
        event: &Event<'_>,
        writer: usize,
        observer: &mut O,
    ) {
        let domain = &mut self.domains[d];
        let decision = domain.governor.on(event, since_boot(self.now));
        domain.governor_events += 1;
        observer.governor(Nanos(self.now), d, event, &decision);
        self.apply(d, &decision, writer);
    }

    pub(super) fn tell_idle<O: Observer>(&mut self, c: usize, enter: bool, observer: &mut O) {
        let d = self.cpus[c].domain;
        if self.domains[d].needs.idle {
            self.tell(d, &Event::Idle { cpu: CpuId(c as u32), enter }, c, observer);
        }
    }

    #[inline]
    pub(super) fn apply(&mut self, d: usize, decision: &Decision, writer: usize) {
        if let Some(at) = decision.wake_at {
            let mut at = of_simulation(at);
            if self.waits_for_calls(d) {
                // A sampler's period begins with the call, not when its worker is done.
                let domain = &mut self.domains[d];
                at = at.saturating_sub(self.now - domain.called_at);
                domain.period_ends_at = at;
            }
            // Not now: time has to pass between two decisions. A worker that was called is on its way.
            if !self.domains[d].called {
                self.domains[d].wake_at = at.max(self.now + 1);
                self.requeue_domain(d);
            }
        }
        if let Some(request) = decision.request {
            self.request(d, request, writer);
        }
    }

    /// A tick of CPU `c`, a wake-up or a sleep: there the scheduler calls where it is not simulated when it does.
    #[inline]
    pub(super) fn call_simply(&mut self, c: usize) {
        if self.simple_calls {
            self.call(self.cpus[c].domain, c);
        }
    }

    /// The scheduler calls cpufreq for domain `d`, and CPU `c` does so: a governor that waits for that has its turn,
    /// on that CPU if it has a worker. Whether it has; not where its period ends just now, and the clock was read later
    /// when it began.
    #[inline]
    pub(super) fn call(&mut self, d: usize, c: usize) -> bool {
        let waits = self.domains[d].deferred && !self.domains[d].called;
        waits && !self.is_foreign(d) && self.call_waiting(d, c)
    }

    #[cold]
    fn call_waiting(&mut self, d: usize, c: usize) -> bool {
        let late = self.lateness(c);
        let domain = &mut self.domains[d];
        if domain.period_ends_at == self.now && late < domain.called_late {
            return false;
        }
        let way = self.cpus[c].time_of(self.sampler_wake);
        domain.called = true;
        domain.called_at = self.now;
        domain.called_late = late;
        domain.wake_at = self.now + way;
        if let Some(worker) = domain.governor_task {
            self.forget_delayed(worker);
            let (task, domain) = (&mut self.tasks[worker], &mut self.domains[d]);
            let number = |c: usize| domain.cpus.iter().position(|&own| own == c);
            let (from, to) = (number(task.cpu), number(c));
            if let (Some(from), Some(to)) = (from, to) {
                domain.worker_lags[from] = task.lag;
                task.lag = domain.worker_lags[to];
            }
            task.pin(c);
        }
        self.requeue_domain(d);
        true
    }

    /// Whether a sampler's worker, called just now, is about to run on CPU `c`.
    pub(super) fn calls_worker(&self, c: usize) -> bool {
        let is_called = |domain: &Domain| domain.called && domain.called_at == self.now;
        let worker = |domain: &Domain| domain.governor_task.map(|t| self.tasks[t].pinned);
        let mut governed = self.governed_by_tasks.iter().map(|&d| &self.domains[d]);
        governed.any(|domain| is_called(domain) && worker(domain) == Some(Some(c)))
    }

    /// Where a wake-up has called, the worker is awake in the same interrupt, before its CPU looks who is to run.
    #[inline]
    pub(super) fn begin_called<O: Observer>(&mut self, d: usize, observer: &mut O) {
        let domain = &self.domains[d];
        if domain.called && domain.called_at == self.now && domain.governor_task.is_some() {
            self.wake_governor(d, observer);
            self.requeue_domain(d);
            self.wake_with_worker(d);
        }
    }

    /// The interrupt in which the worker of domain `d` is awake holds its CPU up, where that was idle.
    fn wake_with_worker(&mut self, d: usize) {
        let Some(c) = self.domains[d].governor_task.map(|t| self.tasks[t].cpu) else { return };
        if self.readings.wake_cycles > 0 && self.cpus[c].activity == Activity::Waking {
            let over = self.now + self.cpu_time(c, self.sampler_wake + self.paths.switch);
            let cpu = &mut self.cpus[c];
            cpu.awake_at = cpu.awake_at.max(over);
            self.requeue(c);
        }
    }

    /// Whether the governor of domain `d` samples when the scheduler calls. A daemon has a timer of its
    /// own.
    #[inline]
    pub(super) fn waits_for_calls(&self, d: usize) -> bool {
        self.domains[d].needs.deferrable && !self.domains[d].daemon
    }

    /// The same for its next sample: the first one needs no call.
    #[inline]
    fn needs_call(&self, d: usize) -> bool {
        self.waits_for_calls(d) && self.domains[d].governor_wakeups > 0
    }

    /// How late CPU `c` reads the clock that a governor compares, now, in ns: nothing that would matter but
    /// where a period ends just with a tick. Which of the two readings was the later one then decides
    /// whether the period is over, or a tick later. The way there is cycles, so a slow CPU's reading is the later one.
    #[inline]
    fn lateness(&self, c: usize) -> u64 {
        let TickReading { busy_cycles, idle_cycles, jitter } = self.tick_reading;
        let cycles = if self.tick_wakes_cpu { idle_cycles } else { busy_cycles };
        let varies = (u128::from(self.drawn_now()) * u128::from(jitter.0)) >> 64;
        self.cpu_time(c, cycles) + varies as u64
    }

    /// A random number of this seed and this time, the same for all who ask now.
    pub(super) fn drawn_now(&self) -> u64 {
        Xoshiro256PlusPlus::seed_from_u64(self.seed ^ self.now).next_u64()
    }

    /// Whether the governor of domain `d`, whose time has come, waits for the scheduler's call. What the
    /// first poll is compared with is taken at once.
    fn defers<O: Observer>(&mut self, d: usize, observer: &mut O) -> bool {
        if !self.needs_call(d) {
            return false;
        }
        let domain = &mut self.domains[d];
        if std::mem::take(&mut domain.called) {
            domain.deferred = false;
            return false;
        }
        domain.deferred = true;
        domain.wake_at = u64::MAX;
        if self.leaping && self.leap_calls(d, observer) && !self.call(d, self.domains[d].cpus[0]) {
            self.domains[d].wake_at = self.now + 1;
            self.requeue_domain(d);
        }
        true
    }

    /// The time that a governor asked to be woken at. One that costs something is a task.
    pub(super) fn wake_governor<O: Observer>(&mut self, d: usize, observer: &mut O) {
        if self.defers(d, observer) {
            return;
        }
        if !self.needs_call(d) {
            let late = self.lateness(self.domains[d].cpus[0]);
            let domain = &mut self.domains[d];
            (domain.called_at, domain.called_late) = (self.now, late);
        }
        let domain = &mut self.domains[d];
        domain.wake_at = u64::MAX;
        domain.governor_wakeups += 1;
        match domain.governor_task {
            Some(t) if self.tasks[t].state == State::Sleeping => {
                // A worker is woken on the CPU whose it is, wherever the task that stands for all was last.
                let here = self.tasks[t].pinned;
                self.wake(t, here, observer);
            }
            Some(t) => self.tasks[t].wake_pending = true,
            None if domain.needs.poll => {
                let writer = domain.cpus[0];
                self.poll_governor(d, writer, observer);
            }
            None => {
                let writer = domain.cpus[0];
                self.tell(d, &Event::Timer, writer, observer);
            }
        }
    }

    /// Gives a polling governor the times of its CPUs.
    pub(super) fn poll_governor<O: Observer>(&mut self, d: usize, writer: usize, observer: &mut O) {
        let whole_machine = self.domains[d].needs.whole_machine;
        for at in 0..self.domains[d].times.len() {
            let c = if whole_machine { at } else { self.domains[d].cpus[at] };
            self.flush(c);
            let uncounted = self.uncounted_idle_time(c);
            let mut times = times_of(&self.cpus[c], uncounted, self.idle_tick);
            times.idle.0 += self.idle_before_samples;
            self.domains[d].times[at] = times;
        }
        let domain = &mut self.domains[d];
        let event = Event::Poll { times: Cow::Borrowed(domain.times.as_slice()) };
        let decision = domain.governor.on(&event, since_boot(self.now));
        domain.governor_events += 1;
        observer.governor(Nanos(self.now), d, &event, &decision);
        self.apply(d, &decision, writer);
    }
}

/// As the kernel keeps them where idle CPUs stop their tick, else as the statistics clock sampled them.
#[inline]
fn times_of(cpu: &Cpu, uncounted: u64, idle_tick: IdleTick) -> CpuTimes {
    match idle_tick {
        IdleTick::Continues => cpu.sampled,
        IdleTick::Stops => {
            let Totals { busy, nice, idle, iowait, mut unseen, mut unseen_iowait, .. } = cpu.totals;
            match cpu.iowait_count {
                0 => unseen += uncounted as i64,
                _ => unseen_iowait += uncounted as i64,
            }
            CpuTimes::ZERO
                .busy(Nanos((busy - nice).saturating_add_signed(unseen + unseen_iowait)))
                .nice(Nanos(nice))
                .idle(Nanos((idle - iowait).saturating_add_signed(-unseen)))
                .iowait(Nanos(iowait.saturating_add_signed(-unseen_iowait)))
        }
    }
}

#[inline]
fn signals_of(cpu: &Cpu, slice: u64, now: u64) -> CpuSignals {
    CpuSignals::IDLE
        .util(cpu.cfs.util_avg())
        // Ten thousand runnable tasks are ten million: the conversion holds.
        .runnable(cpu.cfs.runnable_avg() as u32)
        .util_est(cpu.util_est.sum())
        .waiting(cpu.waiting.sum())
        .rt(cpu.rt.util_avg())
        .dl(cpu.dl.util_avg())
        .bw_dl(cpu.reserved(now))
        .irq(cpu.irq.util_avg())
        .uclamp_min(cpu.uclamp_min)
        .uclamp_max(cpu.uclamp_max)
        .rt_runnable(cpu.fifo_count > 0)
        .nr_running(cpu.runnable_count())
        .slice(Nanos(slice))
        .idle_calls(cpu.idle_calls)
}
