//! Load tracking: when the kernel updates which signal, and when it asks cpufreq.
//!
//! cpufreq is asked when the update of a root run queue crossed a period, at attach and detach,
//! when a task that waited for I/O is enqueued, and when a FIFO task comes or goes; not at each
//! enqueue. A task that sleeps and wakes up elsewhere leaves its share in the old CPU's signals
//! until that CPU updates them next: then they count as changed, and cpufreq is asked.

use super::Machine;
use super::cpu::{Cpu, Runs};
use crate::observe::Observer;
use crate::setup::TaskId;
use flyball_governors::UtilFlags;
use flyball_pelt::{
    CpuSpeed, EntityState, NewTask, QueueLoad, RunningTask, SchedAvg, SleepingTask,
    new_task_utilization,
};
use flyball_units::{CpuId, KernelRule, Nanos};

/// A period of load tracking, in ns.
const PERIOD_NS: u64 = 1 << 20;

impl Cpu {
    pub(super) fn speed(&self) -> CpuSpeed {
        CpuSpeed { capacity: self.capacity, frequency_scale: self.frequency_scale }
    }

    /// Brings the clocks to `now`. The whole time since the last update counts with the frequency
    /// that holds now.
    #[inline]
    pub(super) fn touch(&mut self, now: u64) {
        let delta = now - self.clock_at;
        if delta == 0 {
            return;
        }
        self.clock_at = now;
        if self.current.is_none() {
            self.clock.advance_idle(delta);
        } else if self.runs == Runs::Interrupt {
            self.count_interrupt(delta, now);
        } else {
            self.clock.advance(delta, self.speed());
        }
    }

    /// Brings the clocks to a time before now, at which they were read, if they were not brought to a later one.
    pub(super) fn touch_at(&mut self, read: u64) {
        if read > self.clock_at {
            self.touch(read);
        }
    }

    /// An interrupt took the last `delta` ns: the task clock stood still.
    #[cold]
    fn count_interrupt(&mut self, delta: u64, now: u64) {
        self.irq.update_irq(now, delta, self.speed(), self.clock.multiplier());
        self.stale = true;
    }

    /// Brings the real-time signal up to date. Whether a period was crossed.
    fn update_rt(&mut self, running: bool) -> bool {
        // Sums of 0 stay 0, and the position in the period comes out the same however late.
        if !running && self.rt.is_zero() {
            return false;
        }
        self.stale = true;
        self.rt.update_class(self.clock.now(), running)
    }

    /// Brings the deadline signal up to date. Whether a period was crossed.
    fn update_dl(&mut self, running: bool) -> bool {
        if !running && self.dl.is_zero() {
            return false;
        }
        self.stale = true;
        self.dl.update_class(self.clock.now(), running)
    }

    /// Lets the signal of interrupts decay. Whether a period was crossed.
    fn update_irq(&mut self, now: u64) -> bool {
        if self.irq.is_zero() {
            return false;
        }
        self.stale = true;
        self.irq.update_irq(now, 0, self.speed(), self.clock.multiplier())
    }

    /// Whether any signal still has to decay.
    pub(super) fn has_signals(&self) -> bool {
        !(self.cfs.is_zero() && self.rt.is_zero() && self.dl.is_zero() && self.irq.is_zero())
    }
}

impl Machine {
    /// Updates the fair run queue of CPU `c`, whose clock is up to date, and asks cpufreq where a
    /// period was crossed.
    #[inline]
    pub(super) fn update_queue<O: Observer>(&mut self, c: usize, observer: &mut O) {
        if self.update_queue_silently(c, observer) {
            self.ask(c, UtilFlags::default(), observer);
        }
    }

    #[inline(never)]
    fn update_queue_silently<O: Observer>(&mut self, c: usize, observer: &mut O) -> bool {
        let cpu = &mut self.cpus[c];
        let now = cpu.clock.now();
        let queue = QueueLoad {
            load: cpu.weight,
            runnable: cpu.fair_count.into(),
            running: cpu.fair_count as usize > cpu.fair.len(),
        };
        let left = cpu.cfs.take_off(&mut cpu.removed);
        let crossed = cpu.cfs.update(now, queue);
        let changed = left | crossed;
        if changed {
            cpu.stale = true;
            Self::show_queue(cpu, c, self.now, observer);
        }
        changed
    }

    fn show_queue<O: Observer>(cpu: &Cpu, c: usize, now: u64, observer: &mut O) {
        let (util, util_est) = (cpu.cfs.util_avg(), cpu.util_est.sum());
        let runnable = cpu.cfs.runnable_avg().min(u32::MAX.into()) as u32;
        observer.cpu_util(Nanos(now), CpuId(c as u32), util, runnable, util_est);
    }

    /// Updates a task on the queue of CPU `c`, then the queue.
    #[inline]
    pub(super) fn update_task<O: Observer>(
        &mut self,
        t: usize,
        c: usize,
        running: bool,
        observer: &mut O,
    ) {
        let state = if running { EntityState::Running } else { EntityState::Waiting };
        self.update_entity(t, c, state, observer);
        self.update_queue(c, observer);
    }

    #[inline(never)]
    fn update_entity<O: Observer>(
        &mut self,
        t: usize,
        c: usize,
        state: EntityState,
        observer: &mut O,
    ) {
        let task = &mut self.tasks[t];
        let now = self.cpus[c].clock.now();
        let crossed = task.avg.update_entity(now, task.weight.into(), state);
        if crossed {
            task.util_est.after_update(true);
        }
        if self.features.waiting_avg {
            self.update_waiting(t, c, state);
        }
        if crossed {
            self.show_task(t, c, observer);
        }
    }

    /// Patch 12.
    fn update_waiting(&mut self, t: usize, c: usize, state: EntityState) {
        let (task, cpu) = (&mut self.tasks[t], &mut self.cpus[c]);
        let on_rq = state != EntityState::Blocked;
        if on_rq {
            cpu.waiting.subtract(&task.waiting);
        }
        task.waiting.update(cpu.clock.now(), state);
        if on_rq {
            cpu.waiting.add(&task.waiting);
        }
    }

    pub(super) fn show_task<O: Observer>(&self, t: usize, c: usize, observer: &mut O) {
        let (util, util_est) = (self.tasks[t].avg.util_avg(), self.tasks[t].util_est.value());
        observer.task_util(Nanos(self.now), TaskId(t as u32), CpuId(c as u32), util, util_est);
    }

    /// A fair task joins the queue of CPU `c`, whose clock is up to date. Its own weight counts
    /// from now on.
    pub(super) fn load_enqueue<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        let iowait = std::mem::take(&mut self.tasks[t].in_iowait);
        self.cpus[c].util_est.enqueue(self.tasks[t].util_est);
        self.cpus[c].stale = true;
        if iowait {
            self.ask(c, UtilFlags::NONE.iowait(true), observer);
        }
        self.load_join(t, c, observer);
    }

    /// The load of a fair task counts on CPU `c` from now on; what is expected of it does already.
    #[inline(always)]
    fn load_join<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        if self.tasks[t].attached {
            self.update_entity(t, c, EntityState::Blocked, observer);
            self.update_queue(c, observer);
        } else {
            self.update_queue_silently(c, observer);
            self.attach(t, c, observer);
        }
        let cpu = &mut self.cpus[c];
        cpu.weight += u64::from(self.tasks[t].weight);
        cpu.fair_count += 1;
        cpu.fair_at = self.rules.has(KernelRule::FairServer).then_some(self.now);
        cpu.waiting.add(&self.tasks[t].waiting);
    }

    /// The load of a fair task that waits on CPU `c` does not count as long as its control group waits for its next period;
    /// nor does what is expected of it ([`KernelRule::ThrottleByTask`]).
    pub(super) fn load_hold<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        let by_task = self.rules.has(KernelRule::ThrottleByTask);
        if by_task {
            self.cpus[c].util_est.dequeue(self.tasks[t].util_est);
        }
        self.update_task(t, c, false, observer);
        if by_task {
            self.update_util_est(t, c);
        }
        self.load_leave(t, c);
    }

    /// It counts again.
    pub(super) fn load_resume<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        if self.rules.has(KernelRule::ThrottleByTask) {
            self.cpus[c].util_est.enqueue(self.tasks[t].util_est);
        }
        self.load_join(t, c, observer);
    }

    /// A fair task leaves the queue of CPU `c` to sleep. util_est sees the signals of this last
    /// update, or of the one before ([`KernelRule::UtilEstBeforeUpdate`]).
    pub(super) fn load_sleep<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        self.cpus[c].util_est.dequeue(self.tasks[t].util_est);
        let before = self.rules.has(KernelRule::UtilEstBeforeUpdate);
        if before {
            self.update_util_est(t, c);
        }
        self.update_task(t, c, true, observer);
        if !before {
            self.update_util_est(t, c);
        }
        self.load_leave(t, c);
    }

    /// Updates util_est of a task that goes to sleep on CPU `c`.
    fn update_util_est(&mut self, t: usize, c: usize) {
        let (task, cpu) = (&mut self.tasks[t], &self.cpus[c]);
        let needs_idle_time = self.rules.has(KernelRule::UtilEstNeedsIdleTime);
        let seen = SleepingTask {
            util: task.avg.util_avg(),
            runnable: task.avg.runnable_avg(),
            capacity: if needs_idle_time { cpu.capacity } else { u32::MAX },
        };
        if task.util_est.sleep_with(seen, task.multiplier, &self.features) {
            task.util_at_dequeue = seen.util;
        }
    }

    /// A fair task that waits on CPU `c` takes its signals with it to another CPU. cpufreq is to
    /// be asked once it is out of the queue.
    pub(super) fn load_migrate<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        self.cpus[c].util_est.dequeue(self.tasks[t].util_est);
        self.update_entity(t, c, EntityState::Waiting, observer);
        self.update_queue_silently(c, observer);
        let task = &mut self.tasks[t];
        self.cpus[c].cfs.detach(&task.avg, task.weight.into());
        task.attached = false;
        self.load_leave(t, c);
    }

    fn load_leave(&mut self, t: usize, c: usize) {
        let cpu = &mut self.cpus[c];
        cpu.weight = cpu.weight.saturating_sub(self.tasks[t].weight.into());
        cpu.fair_count -= 1;
        cpu.fair_at = cpu.fair_at.map(|_| self.now);
        cpu.waiting.subtract(&self.tasks[t].waiting);
        cpu.stale = true;
    }

    /// A task that sleeps, or ended, gives up its share of CPU `c`'s signals, because it will wake
    /// up elsewhere or never. Only CPU `c` changes its signals, at its next update.
    ///
    /// The share is what the task had at the queue's last update. Where CPU `c` is idle its clock
    /// has stood still since then, and what the task takes along decays on to the present.
    pub(super) fn load_remove<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        if !self.tasks[t].attached {
            return;
        }
        self.sync_blocked(t, c, observer);
        self.tasks[t].attached = false;
        let cpu = &mut self.cpus[c];
        cpu.removed.add(&self.tasks[t].avg);
        if cpu.current.is_none() {
            cpu.touch(self.now);
            let now = cpu.clock.now().max(cpu.cfs.last_update());
            self.decay_blocked(t, c, now, observer);
        }
    }

    /// Lets the signals of a task that sleeps decay to the last update of its queue on CPU `c`.
    pub(super) fn sync_blocked<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        if self.tasks[t].attached {
            self.decay_blocked(t, c, self.cpus[c].cfs.last_update(), observer);
        }
    }

    /// A decay that leaves util_est's flag alone, unlike updates on a queue.
    fn decay_blocked<O: Observer>(&mut self, t: usize, c: usize, now: u64, observer: &mut O) {
        let task = &mut self.tasks[t];
        let crossed = task.avg.update_entity(now, task.weight.into(), EntityState::Blocked);
        if self.features.waiting_avg {
            task.waiting.update(now, EntityState::Blocked);
        }
        if crossed {
            self.show_task(t, c, observer);
        }
    }

    fn attach<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        let (task, cpu) = (&mut self.tasks[t], &mut self.cpus[c]);
        cpu.cfs.attach(&mut task.avg, task.weight.into());
        task.waiting.attach(&cpu.cfs);
        task.attached = true;
        cpu.stale = true;
        Self::show_queue(cpu, c, self.now, observer);
        self.show_task(t, c, observer);
        self.ask(c, UtilFlags::default(), observer);
    }

    /// Brings the signal of a FIFO or deadline task's class on CPU `c` up to date, and charges the latter where it ran;
    /// `running` tells what was the case.
    pub(super) fn update_urgent(&mut self, t: usize, c: usize, running: bool) {
        if self.tasks[t].is_stop() {
            return;
        }
        let is_deadline = self.tasks[t].is_deadline();
        let cpu = &mut self.cpus[c];
        let signal = if is_deadline { &mut cpu.dl } else { &mut cpu.rt };
        // Also where there is nothing to decay: else the time since its last update would count as the task's.
        signal.update_class(cpu.clock.now(), running);
        cpu.stale = true;
        if running && is_deadline {
            self.charge(t, c);
        }
    }

    /// Lets the signals of CPU `c` decay that no task updates, and asks cpufreq where one crossed a period: also one
    /// that is 0, and those of other classes than the fair one are updated here alone while none of their tasks runs.
    pub(super) fn update_blocked<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let now = self.last_tick();
        let cpu = &mut self.cpus[c];
        cpu.touch(self.now);
        cpu.decayed = Some(now);
        let period = cpu.clock.now() / PERIOD_NS;
        let crossed = std::mem::replace(&mut cpu.decayed_in, period) != period;
        if !self.cgroups.is_empty() {
            self.age_cgroups(c);
        }
        let urgent_runs = self.current_is_urgent(c);
        let queue = self.update_queue_silently(c, observer);
        let others = self.update_others(c, urgent_runs);
        let cpu = &mut self.cpus[c];
        if cpu.has_blocked {
            let left = [&cpu.cfs, &cpu.rt, &cpu.dl, &cpu.irq];
            let is_left = |of: &&SchedAvg| of.util_avg() > 0 || of.load_avg() > 0;
            cpu.has_blocked = left.iter().any(is_left);
        }
        if queue || others || crossed {
            self.ask(c, UtilFlags::default(), observer);
        }
    }

    /// Real-time, deadline and interrupt signals; `urgent_runs`: a FIFO or deadline task does.
    fn update_others(&mut self, c: usize, urgent_runs: bool) -> bool {
        let cpu = &mut self.cpus[c];
        let never = |signal: &SchedAvg| signal.was_never_runnable();
        if !urgent_runs && never(&cpu.rt) && never(&cpu.dl) && never(&cpu.irq) {
            // Nothing ever ran there, or it is forgotten.
            return false;
        }
        self.update_used_others(c, urgent_runs)
    }

    /// The same where any ran.
    #[inline(never)]
    fn update_used_others(&mut self, c: usize, urgent_runs: bool) -> bool {
        let cpu = &mut self.cpus[c];
        let deadline_runs = urgent_runs && cpu.current.is_some_and(|t| self.tasks[t].is_deadline());
        let rt = cpu.update_rt(urgent_runs && !deadline_runs);
        let dl = cpu.update_dl(deadline_runs);
        rt | dl | cpu.update_irq(self.now)
    }

    pub(super) fn current_is_fifo(&self, c: usize) -> bool {
        self.cpus[c].current.is_some_and(|t| self.tasks[t].is_fifo())
    }

    /// Whether a FIFO or a deadline task runs on CPU `c`.
    pub(super) fn current_is_urgent(&self, c: usize) -> bool {
        self.cpus[c].current.is_some_and(|t| self.tasks[t].is_fifo() || self.tasks[t].is_deadline())
    }

    /// Patches 8, 9, 11 and 15: the running task's util_est grows by what it executed.
    #[inline]
    pub(super) fn grow_util_est(&mut self, t: usize, c: usize) {
        if !self.features.util_est_ramp_up {
            return;
        }
        let task = &mut self.tasks[t];
        let seen = RunningTask {
            executed_us: task.ungrown / 1000,
            util: task.avg.util_avg(),
            util_at_dequeue: task.util_at_dequeue,
            multiplier: task.multiplier,
        };
        task.ungrown = 0;
        let before = task.util_est;
        if task.util_est.run(seen, &self.features) {
            let cpu = &mut self.cpus[c];
            cpu.util_est.dequeue(before);
            cpu.util_est.enqueue(task.util_est);
            cpu.stale = true;
        }
    }

    /// The signals that a new task starts with on CPU `c`.
    pub(super) fn new_signals(&self, t: usize, c: usize) -> SchedAvg {
        let (task, cpu) = (&self.tasks[t], &self.cpus[c]);
        let weight = u64::from(task.weight);
        let new = NewTask {
            weight,
            capacity: cpu.capacity,
            queue_util: cpu.cfs.util_avg(),
            queue_load: cpu.cfs.load_avg(),
        };
        let start = || new_task_utilization(new, &self.features);
        SchedAvg::new_task(weight, task.initial_util.unwrap_or_else(start))
    }
}
