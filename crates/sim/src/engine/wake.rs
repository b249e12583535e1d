//! Wake-ups and moves of tasks between CPUs.

use super::Machine;
use super::cpu::Activity;
use super::fair::virtual_time;
use super::idle::WakeUp;
use super::task::{Program, State};
use crate::observe::{Observer, SwitchOut};
use crate::setup::{Creator, TaskId};
use flyball_governors::UtilFlags;
use flyball_units::{CpuId, KernelRule, Nanos};

impl Machine {
    /// Wakes every task whose timer expired.
    pub(super) fn expire_timers<O: Observer>(&mut self, observer: &mut O) {
        while let Some(t) = self.timers.pop(self.now) {
            if let Some(number) = t.checked_sub(2 * self.tasks.len()) {
                self.cgroup_event(number, observer);
                continue;
            }
            if let Some(t) = t.checked_sub(self.tasks.len()) {
                self.budget_event(t, observer);
                continue;
            }
            if self.waits_for_interrupt(t) || self.arrives(t, observer) {
                continue;
            }
            let task = &mut self.tasks[t];
            if task.is_known_to_idle() {
                self.cpus[task.cpu].timers.remove(t);
            }
            task.timer = u64::MAX;
            task.announced = true;
            match self.tasks[t].state {
                State::Unborn => self.create(t, observer),
                _ => self.wake(t, None, observer),
            }
        }
        self.requeue_timers();
    }

    /// A task on CPU `here` wakes another: one that waits, or else the other's next wait ends at once.
    pub(super) fn wake_other<O: Observer>(&mut self, task: TaskId, here: usize, observer: &mut O) {
        let t = task.0 as usize;
        match self.tasks.get_mut(t) {
            Some(task) if task.state == State::Sleeping && task.timer == u64::MAX => {
                self.wake(t, Some(here), observer);
            }
            Some(task) => task.wake_pending = true,
            None => {}
        }
    }

    fn create<O: Observer>(&mut self, t: usize, observer: &mut O) {
        let c = self.choose_for_new(t);
        // Which is its creator's, if it has one.
        self.caller = self.tasks[t].recent;
        self.read_for_wakeup(t, c);
        self.tasks[t].since = self.now;
        self.tasks[t].go_to(c);
        let new = self.tasks[t].is_new();
        if let Creator::Earlier { comes, was_denied } = self.tasks[t].creator {
            let task = &mut self.tasks[t];
            if was_denied {
                task.lag = virtual_time(self.slice, task.weight);
            }
            if !comes && task.is_fair() {
                // It is none that its queue has to be told of.
                self.cpus[c].cfs.attach(&mut task.avg, task.weight.into());
                task.attached = true;
            }
        }
        if new && self.tasks[t].is_fair() {
            self.tasks[t].avg = self.new_signals(t, c);
        }
        self.join(t, c, new, observer);
    }

    /// Makes a sleeping task runnable, by a task on CPU `here`; None: by a timer where it went to sleep.
    pub(super) fn wake<O: Observer>(&mut self, t: usize, here: Option<usize>, observer: &mut O) {
        let previous = self.tasks[t].cpu;
        if self.tasks[t].in_iowait {
            self.flush(previous);
            self.cpus[previous].iowait_count -= 1;
        }
        self.tasks[t].totals.wakeups += 1;
        if self.cpus[previous].leaving == Some(t) {
            self.tell_left(previous, observer);
        }
        if self.placed_by_size(t) {
            self.sync_blocked(t, previous, observer);
        }
        // One that its queue still has is not asked where to run.
        let in_queue = self.tasks[t].delayed;
        let c = if in_queue { previous } else { self.choose_cpu(t, Some(previous), here) };
        if c != previous {
            if self.tasks[t].is_fair() {
                self.load_remove(t, previous, observer);
            }
            self.note_migration(t, previous, c, observer);
        }
        match in_queue || !self.arrivals_take_time(t) {
            true => self.join(t, c, false, observer),
            false => self.get_to(t, (here.unwrap_or(previous), c), here.is_none(), observer),
        }
    }

    pub(super) fn note_migration<O: Observer>(
        &mut self,
        t: usize,
        from: usize,
        to: usize,
        observer: &mut O,
    ) {
        self.tasks[t].account(self.now);
        self.tasks[t].go_to(to);
        // Nothing of it is in the new one's cache.
        self.tasks[t].exec_start = 0;
        if self.rules.has(KernelRule::Cfs) {
            let queues = self.cpus[to].min_vruntime - self.cpus[from].min_vruntime;
            self.tasks[t].vruntime += queues;
        }
        self.tasks[t].totals.migrations += 1;
        let (from, to) = (CpuId(from as u32), CpuId(to as u32));
        observer.migrated(Nanos(self.now), TaskId(t as u32), from, to);
    }

    /// Brings the clocks of CPU `c` up to date for a task that joins its queue. An idle CPU reads them when the task joins, and has some way to go
    /// from there, at its present frequency, until it is awake; a sampler's worker is, so that was before.
    fn read_for_wakeup(&mut self, t: usize, c: usize) {
        let way = match self.cpus[c].activity {
            Activity::Idle(_) | Activity::Waking => self.cpu_time(c, self.readings.wake_cycles),
            _ => 0,
        };
        let cpu = &mut self.cpus[c];
        match self.tasks[t].program {
            Program::Governor { .. } => {
                cpu.touch_at(self.now.saturating_sub(way).max(cpu.idle_since))
            }
            Program::Behavior(_) => {
                match self.tasks[t].arriving.is_listed {
                    // Together with the first.
                    true => cpu.touch_at(cpu.told.last),
                    false => cpu.touch(self.now),
                }
                let task = &self.tasks[t];
                // The way of one that is new or pushed is told as a whole.
                cpu.wakes_for = if task.is_new() || task.is_pushed() { 0 } else { way };
            }
        }
    }

    /// What so many cycles of the reference kind of core take CPU `c` at its present frequency, in ns.
    pub(super) fn cpu_time(&self, c: usize, cycles: u64) -> u64 {
        self.cpus[c].time_of(cycles)
    }

    /// A task joins the queue of CPU `c`: after a wake-up, a move, or its creation (`new`).
    pub(super) fn join<O: Observer>(&mut self, t: usize, c: usize, new: bool, observer: &mut O) {
        self.read_for_wakeup(t, c);
        if !self.tasks[t].is_interrupt() {
            self.call_simply(c);
        }
        let woken = self.tasks[t].state != State::Runnable;
        self.tasks[t].enter(State::Runnable, self.now);
        let clamp_counts_late = self.rules.has(KernelRule::RequestBeforeClamp);
        if !clamp_counts_late {
            self.aggregate_clamps(c, None, Some(t));
        }
        if self.tasks[t].is_fair() {
            if self.cpus[c].current.is_some_and(|current| self.tasks[current].is_fair()) {
                self.update_current(c);
            }
            if let Some(g) = self.tasks[t].cgroup {
                self.join_cgroup(t, g, c);
                self.begin_cgroup(t, c, observer);
            }
            if self.is_throttled_on(t, c) && !self.rules.has(KernelRule::ThrottleByTask) {
                self.park_at_once(t, c);
            } else {
                self.place_virtually(t, c, new, woken);
                self.load_enqueue(t, c, observer);
                self.queue_task(t, c, false);
                self.watch_slice(c);
            }
        } else {
            self.tasks[t].in_iowait = false;
            if self.tasks[t].is_deadline() && !self.may_run(t, c, woken, observer) {
                self.caller = None;
                observer.woken(Nanos(self.now), TaskId(t as u32), CpuId(c as u32));
                return;
            }
            self.queue_task(t, c, false);
            if !self.tasks[t].is_interrupt() {
                self.count_urgent(t, c, 1);
            }
            if self.tasks[t].is_fifo() {
                self.ask(c, UtilFlags::default(), observer);
                self.renew_level(c);
            }
        }
        if clamp_counts_late {
            self.aggregate_clamps(c, None, None);
        }
        // The rest is the CPU's own.
        self.caller = None;
        if woken {
            observer.woken(Nanos(self.now), TaskId(t as u32), CpuId(c as u32));
        }
        self.look_again(t, c, observer);
        self.begin_called(self.cpus[c].domain, observer);
    }

    /// Whether a new task waits for the fair one that runs on CPU `c`. Where others wait there, too, that one gives way as at any
    /// other time: its execution was just accounted.
    fn waits_at_birth(&self, t: usize, c: usize) -> bool {
        let cpu = &self.cpus[c];
        self.rules.has(KernelRule::BirthKeepsCurrent)
            && self.tasks[t].is_new()
            && self.tasks[t].is_fair()
            && cpu.current.is_some_and(|running| self.tasks[running].is_fair())
            && cpu.fair.len() == 1
    }

    /// CPU `c` has got a task: it leaves its idle state, or looks who is to run.
    #[inline]
    pub(super) fn look_again<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        match self.cpus[c].activity {
            Activity::Idle(_) => {
                let why = match self.tasks[t].program {
                    Program::Governor { .. } => WakeUp::Governor,
                    Program::Behavior(_) if self.tasks[t].is_new() => WakeUp::Birth,
                    Program::Behavior(_) if self.tasks[t].is_pushed() => WakeUp::Push,
                    Program::Behavior(_) => WakeUp::Task,
                };
                self.leave_idle(c, why, observer);
            }
            Activity::Waking => self.wake_longer(c),
            Activity::Leaving => {}
            Activity::Busy => {
                self.watch_fair(c);
                if self.tasks[t].is_pushed() && self.paths.pushed_busy > 0 {
                    self.end_slice_after(c, self.paths.pushed_busy);
                } else if !self.waits_at_birth(t, c) {
                    self.pending.push(c);
                }
            }
        }
    }

    /// Moves a fair task that waits or runs from CPU `from` to CPU `to`; `by` is the CPU that does so.
    pub(super) fn move_task<O: Observer>(
        &mut self,
        t: usize,
        (from, to): (usize, usize),
        by: usize,
        observer: &mut O,
    ) {
        let running = self.cpus[from].current == Some(t);
        if running {
            self.put_current(from, SwitchOut::Migrated, observer);
        }
        self.cpus[from].touch(self.now);
        self.aggregate_clamps(from, Some(t), None);
        self.keep_lag(t, from);
        self.load_migrate(t, from, observer);
        self.leave_cgroup(t, from, observer);
        if let Some(at) = self.cpus[from].fair.iter().position(|&other| other == t) {
            self.take_from_queue(from, at);
        }
        self.caller = Some(by);
        self.ask(from, UtilFlags::default(), observer);
        // Until it is there the task counts nowhere.
        self.cpus[to].seen_from = self.now + self.next_question_after(by);
        self.note_migration(t, from, to, observer);
        self.join(t, to, false, observer);
        if running {
            self.schedule(from, observer);
            self.requeue(from);
        }
    }
}
