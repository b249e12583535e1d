//! Who runs: queues, switches, and the steps of tasks.

use super::Machine;
use super::cpu::{Activity, Runs};
use super::task::{Decision, Program, Segment, State};
use crate::behavior::{Step, Work};
use crate::observe::{Observer, SwitchOut};
use crate::setup::TaskId;
use flyball_units::{CpuId, Nanos};
use std::cmp::Reverse;

/// Steps that take no time which a task may do in a row. Then it works for [`PENANCE`], so that
/// time passes whatever a program does.
pub(super) const MOST_STEPS: u32 = 1000;

/// See [`MOST_STEPS`].
pub(super) const PENANCE: Work = Work { cycles: 0, memory: Nanos(1000) };

impl Machine {
    /// Puts a runnable task into the queue of CPU `c`; the signals of fair tasks join before.
    pub(super) fn queue_task(&mut self, t: usize, c: usize, first_among_equals: bool) {
        let (tasks, cpu) = (&self.tasks, &mut self.cpus[c]);
        if tasks[t].is_fair() {
            cpu.fair.push(t);
            self.fair_waiting += 1;
            self.crowded.set(c, true);
            self.overloaded |= cpu.queued_count() > 1;
        } else {
            let urgency = tasks[t].urgency();
            let before = |&other: &usize| {
                let others = tasks[other].urgency();
                others < urgency || (first_among_equals && others == urgency)
            };
            let at = cpu.urgent.partition_point(before);
            cpu.urgent.insert(at, t);
        }
        cpu.stale = true;
    }

    /// Takes the fair task at this position out of the queue of CPU `c`.
    pub(super) fn take_from_queue(&mut self, c: usize, at: usize) -> usize {
        let fair = &mut self.cpus[c].fair;
        let t = fair.remove(at);
        self.fair_waiting -= 1;
        self.crowded.set(c, !fair.is_empty());
        t
    }

    /// Looks whether the running task of CPU `c` has to give way; to be called after a wake-up or
    /// the end of a slice.
    pub(super) fn reschedule<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let Some(running) = self.cpus[c].current else {
            return;
        };
        let rank = self.tasks[running].rank;
        let urgent = self.cpus[c].urgent.last().is_some_and(|&t| {
            let first = match self.cpus[c].server.boosts {
                true => (u8::MAX - 1, Reverse(0)),
                false => self.tasks[running].urgency(),
            };
            self.tasks[t].urgency() > first
        });
        let exhausted = self.tasks[running].is_exhausted() || self.is_out_of_time(running, c);
        if urgent || exhausted || (rank == 0 && self.next_fair(c).is_some()) {
            self.put_current(c, SwitchOut::Preempted, observer);
            self.hold_back(running, c, observer);
            self.schedule(c, observer);
            self.requeue(c);
        } else if rank == 0 {
            // It goes on with the slice that it has now.
            self.tasks[running].protected = true;
            self.watch_slice(c);
        } else if self.urgent_moves && !self.cpus[c].urgent.is_empty() {
            self.push_urgent(c, observer);
        }
    }

    /// Takes the CPU from its running task, which stays runnable.
    pub(super) fn put_current<O: Observer>(&mut self, c: usize, why: SwitchOut, observer: &mut O) {
        let Some(t) = self.cpus[c].current else { return };
        self.progress(c);
        self.cpus[c].touch(self.now);
        if self.tasks[t].is_fair() {
            self.update_current(c);
            self.grow_util_est(t, c);
            self.update_task(t, c, true, observer);
        } else if !self.tasks[t].is_interrupt() {
            self.update_urgent(t, c, true);
        }
        self.release_cpu(c);
        self.tasks[t].enter(State::Runnable, self.now);
        self.follow(t);
        if why == SwitchOut::Preempted {
            self.tasks[t].totals.preemptions += 1;
        }
        if self.tasks[t].is_exhausted() && self.await_period(t) {
            self.cpus[c].dl_count -= 1;
        } else {
            self.queue_task(t, c, true);
        }
        observer.switched_out(Nanos(self.now), TaskId(t as u32), CpuId(c as u32), why);
    }

    /// CPU `c` has no running task for the moment.
    #[inline]
    pub(super) fn release_cpu(&mut self, c: usize) {
        self.flush(c);
        self.account_fair(c, false);
        let cpu = &mut self.cpus[c];
        cpu.current = None;
        cpu.runs = Runs::default();
        cpu.move_at = u64::MAX;
        cpu.slice_at = u64::MAX;
        cpu.complete_at = u64::MAX;
        cpu.stale = true;
    }

    /// Gives CPU `c`, which has no running task and an up-to-date clock, to the next one; pulls
    /// one from another CPU, or goes idle, where there is none.
    pub(super) fn schedule<O: Observer>(&mut self, c: usize, observer: &mut O) {
        loop {
            if self.urgent_moves {
                self.pull_urgent(c, observer);
            }
            let next = match self.next_urgent(c) {
                Some(t) => Some(t),
                None => match self.next_fair(c) {
                    Some(at) if self.hold_back(self.cpus[c].fair[at], c, observer) => continue,
                    Some(at) => Some(self.take_from_queue(c, at)),
                    None => None,
                },
            };
            match next {
                Some(t) => {
                    self.switch_in(t, c, observer);
                    if self.advance_program(t, c, observer) {
                        if self.urgent_moves && !self.cpus[c].urgent.is_empty() {
                            self.push_urgent(c, observer);
                        }
                        return;
                    }
                    if self.cpus[c].activity == Activity::Leaving {
                        return self.look_while_leaving(c, observer);
                    }
                }
                None if !self.has_looked(c) && self.pull_when_idle(c, observer) => {}
                None => {
                    self.enter_idle(c, observer);
                    return;
                }
            }
        }
    }

    /// Position in the queue of the fair task that is next, once those that only wait to leave it have.
    #[inline]
    fn next_fair(&mut self, c: usize) -> Option<usize> {
        self.settle_delayed(c);
        self.pick_fair(c)
    }

    /// Takes the FIFO task or interrupt that is next; none where fair tasks have their turn.
    fn next_urgent(&mut self, c: usize) -> Option<usize> {
        let cpu = &mut self.cpus[c];
        let next = cpu.urgent.last()?;
        if cpu.server.boosts && !cpu.fair.is_empty() && !self.tasks[*next].is_interrupt() {
            return None;
        }
        cpu.urgent.pop()
    }

    fn switch_in<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        self.flush(c);
        if self.tasks[t].was_pushed() || self.readings.wake_cycles == 0 {
            // Else the clock was read for what made it run: it is not read again.
            self.cpus[c].touch(self.now);
        }
        if self.tasks[t].is_fair() {
            // It has waited up to now.
            self.cpus[c].fair.push(t);
            self.update_task(t, c, false, observer);
            self.cpus[c].fair.pop();
        } else if !self.tasks[t].is_interrupt() {
            self.update_urgent(t, c, false);
        }
        let (task, cpu) = (&mut self.tasks[t], &mut self.cpus[c]);
        task.enter(State::Running, self.now);
        task.exec_start = cpu.clock.clock_task();
        task.protected = true;
        task.ran = 0;
        cpu.new_idle.end(self.now);
        cpu.got_tick = false;
        cpu.current = Some(t);
        cpu.runs = Runs::of(task.class);
        cpu.progress_at = self.now;
        cpu.misfit = false;
        cpu.stale = true;
        self.set_activity(c, Activity::Busy);
        self.watch_slice(c);
        match self.tasks[t].is_fair() {
            true => self.account_fair(c, true),
            false => self.watch_fair(c),
        }
        if !self.cpus[c].siblings.is_empty() {
            self.share_core(c);
        }
        self.set_power(c);
        self.follow(t);
        observer.switched_in(Nanos(self.now), TaskId(t as u32), CpuId(c as u32));
    }

    /// The running task of CPU `c` has done its step.
    pub(super) fn complete<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.progress(c);
        let Some(t) = self.cpus[c].current else { return };
        if let Some(segment) = self.tasks[t].segment.take() {
            // What rounding left over.
            self.tasks[t].totals.cycles += segment.units * segment.cycles;
        }
        if self.advance_program(t, c, observer) {
            return;
        }
        match self.cpus[c].activity {
            Activity::Leaving => self.look_while_leaving(c, observer),
            _ => self.schedule(c, observer),
        }
        self.requeue(c);
    }

    /// Asks the running task of CPU `c` for steps until one takes time. Whether it still runs.
    fn advance_program<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) -> bool {
        let mut steps = 0;
        while self.tasks[t].segment.is_none() {
            steps += 1;
            let step = if self.tasks[t].way_out.is_left() {
                match self.step_on_way_out(t, observer) {
                    Some(step) => step,
                    None => continue,
                }
            } else if steps > MOST_STEPS {
                Step::Run(PENANCE)
            } else {
                self.step(t, observer)
            };
            match step {
                Step::Run(work) => {
                    self.begins(t);
                    self.tasks[t].segment = Segment::new(work);
                }
                Step::Leave { work, way } => {
                    let before = self.tasks[t].way_out.begin(work, way);
                    self.tasks[t].segment = Segment::new(before);
                }
                Step::SleepUntil(at) if at.0 > self.now => return self.sleep(t, c, at.0, observer),
                Step::SleepForInterrupt { expires, interrupt } if expires.0 > self.now => {
                    self.tasks[t].interrupt = Some(interrupt);
                    let expires = self.in_turn(c, expires.0);
                    return self.sleep(t, c, expires, observer);
                }
                Step::AwaitUntil(at) if at.0 > self.now => {
                    self.tasks[t].announced = false;
                    return self.sleep(t, c, at.0, observer);
                }
                Step::SleepUntil(_)
                | Step::SleepForInterrupt { .. }
                | Step::AwaitUntil(_)
                | Step::Sleep(Nanos(0))
                | Step::WaitForIo(Nanos(0)) => {}
                Step::Sleep(time) => {
                    return self.sleep(t, c, self.now.saturating_add(time.0), observer);
                }
                Step::WaitForIo(time) => {
                    self.tasks[t].in_iowait = true;
                    return self.sleep(t, c, self.now.saturating_add(time.0), observer);
                }
                Step::Wait => {
                    self.waits(t);
                    if !std::mem::take(&mut self.tasks[t].wake_pending) {
                        return self.sleep(t, c, u64::MAX, observer);
                    }
                }
                Step::Wake(other) => self.wake_other(other, c, observer),
                Step::Begin { item, released } => {
                    let (task, cpu) = (TaskId(t as u32), CpuId(c as u32));
                    observer.item_begun(Nanos(self.now), task, item, released, cpu);
                }
                Step::End { item } => {
                    let (task, cpu) = (TaskId(t as u32), CpuId(c as u32));
                    observer.item_ended(Nanos(self.now), task, item, cpu);
                }
                Step::Mark(name) => observer.mark(Nanos(self.now), TaskId(t as u32), name),
                Step::Exit => {
                    self.leave_cpu(t, c, State::Ended, observer);
                    self.load_remove(t, c, observer);
                    self.tasks[t].totals.ended = Some(self.now);
                    return false;
                }
            }
        }
        self.set_completion(c);
        true
    }

    #[inline]
    pub(super) fn step<O: Observer>(&mut self, t: usize, observer: &mut O) -> Step {
        let task = &mut self.tasks[t];
        let work = |cycles| Step::Run(Work { cycles, memory: Nanos::ZERO });
        match &mut task.program {
            Program::Behavior(behavior) => behavior.next(Nanos(self.now), &mut task.random),
            Program::Governor { cycles, at: at @ Decision::Due, .. } => {
                *at = Decision::Ready;
                work(*cycles)
            }
            Program::Governor { domain, rest, change, at: at @ Decision::Ready, .. } => {
                let (d, rest, change, writer) = (*domain, *rest, *change, task.cpu);
                *at = Decision::Done;
                let before = self.domains[d].destination();
                self.poll_governor(d, writer, observer);
                let changed = self.domains[d].destination() != before;
                work(rest + if changed { change } else { 0 })
            }
            Program::Governor { at, .. } => {
                *at = Decision::Due;
                Step::Wait
            }
        }
    }

    /// The running task of CPU `c` sleeps until `until`, or until it is woken. Always false: it
    /// does not run any more.
    fn sleep<O: Observer>(&mut self, t: usize, c: usize, until: u64, observer: &mut O) -> bool {
        if self.tasks[t].in_iowait {
            self.flush(c);
            self.cpus[c].iowait_count += 1;
        }
        self.leave_cpu(t, c, State::Sleeping, observer);
        self.tasks[t].timer = until;
        if until != u64::MAX {
            self.timers.insert(until, t);
            if self.tasks[t].is_known_to_idle() {
                self.cpus[c].timers.insert(until, t);
            }
            self.requeue_timers();
        }
        false
    }

    /// The running task of CPU `c` gives it up and is not runnable any more.
    fn leave_cpu<O: Observer>(&mut self, t: usize, c: usize, state: State, observer: &mut O) {
        self.progress(c);
        self.read_for_sleep(t, c);
        // cpufreq sees the signals with the task but the clamps without it.
        self.aggregate_clamps(c, Some(t), None);
        if self.tasks[t].is_fair() {
            self.update_current(c);
            self.load_sleep(t, c, observer);
            self.keep_lag(t, c);
            self.leave_cgroup(t, c, observer);
        } else if !self.tasks[t].is_interrupt() {
            self.count_urgent(t, c, -1);
            if self.tasks[t].is_fifo() {
                // Its class's signal is brought up to date only then.
                self.ask(c, flyball_governors::UtilFlags::default(), observer);
            }
            self.update_urgent(t, c, true);
        }
        self.release_cpu(c);
        self.tasks[t].enter(state, self.now);
        if state == State::Sleeping && self.tasks[t].is_fair() {
            self.delay_dequeue(t, c);
        }
        if self.tasks[t].is_deadline() {
            self.stop_contending(t, observer);
        }
        self.follow(t);
        self.set_out(t, c, observer);
        if !self.tasks[t].is_interrupt() {
            self.call_simply(c);
        }
        if self.tasks[t].is_fifo() {
            self.renew_level(c);
        }
    }

    /// A FIFO or deadline task joins CPU `c` (1) or leaves it (-1).
    pub(super) fn count_urgent(&mut self, t: usize, c: usize, by: i32) {
        if self.tasks[t].is_stop() {
            return;
        }
        let cpu = &mut self.cpus[c];
        let count = match self.tasks[t].is_deadline() {
            true => &mut cpu.dl_count,
            false => &mut cpu.fifo_count,
        };
        *count = count.saturating_add_signed(by);
        cpu.stale = true;
    }

    /// The clamps of CPU `c`'s runnable tasks but for one that `leaves`, and of one that `joins`: of several the
    /// highest. An idle CPU keeps the upper one that it had.
    #[inline]
    pub(super) fn aggregate_clamps(
        &mut self,
        c: usize,
        leaves: Option<usize>,
        joins: Option<usize>,
    ) {
        if self.uclamp_used {
            self.aggregate_used_clamps(c, leaves, joins);
        }
    }

    /// The same where anybody has any.
    #[inline(never)]
    fn aggregate_used_clamps(&mut self, c: usize, leaves: Option<usize>, joins: Option<usize>) {
        let cpu = &self.cpus[c];
        let here = || cpu.fair.iter().chain(&cpu.parked).chain(&cpu.urgent).chain(&cpu.current);
        let present = || here().copied();
        let runnable = || present().filter(|&t| Some(t) != leaves).chain(joins);
        let clamped = || runnable().map(|t| &self.tasks[t]).filter(|task| task.is_clamped());
        let min = clamped().map(|task| task.uclamp_min).max().unwrap_or(0);
        let max = clamped().map(|task| task.uclamp_max).max();
        let cpu = &mut self.cpus[c];
        cpu.uclamp_min = min;
        cpu.uclamp_max = max.unwrap_or(cpu.uclamp_max);
        cpu.stale = true;
    }
}
