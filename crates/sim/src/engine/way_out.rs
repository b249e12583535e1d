//! The way of a task to its sleep: the kernel reads its clock and takes the task out of its queue, which may ask for another
//! frequency, and has some way to go from there to the next one's stack.

use super::Machine;
use super::cpu::Activity;
use super::task::Segment;
use crate::behavior::{Step, Work};
use crate::observe::{Observer, SwitchOut};
use crate::setup::TaskId;
use flyball_platform::ClockReadings;
use flyball_units::{CpuId, Nanos};

/// The end of what a task executes before it sleeps.
#[derive(Clone, Copy, Default)]
pub(super) struct WayOut {
    /// In reference cycles; 0: it has none.
    cycles: u64,
    /// What its program wanted before it had to execute that as any other work.
    next: Option<Step>,
}

impl WayOut {
    #[inline]
    pub(super) fn is_left(&self) -> bool {
        self.cycles > 0 || self.next.is_some()
    }

    /// What is to be executed before the last cycles of `work`, which are this way.
    pub(super) fn begin(&mut self, work: Work, way: u64) -> Work {
        self.cycles = way.min(work.cycles);
        Work { cycles: work.cycles - self.cycles, ..work }
    }
}

impl Machine {
    /// The next step of a task that has come to its way out. None: it does not sleep after all, and has to execute that before, as
    /// any other work.
    #[cold]
    pub(super) fn step_on_way_out<O: Observer>(
        &mut self,
        t: usize,
        observer: &mut O,
    ) -> Option<Step> {
        if let Some(step) = self.tasks[t].way_out.next.take() {
            return Some(step);
        }
        let step = self.step(t, observer);
        let task = &mut self.tasks[t];
        let sleeps = match step {
            Step::SleepUntil(at)
            | Step::AwaitUntil(at)
            | Step::SleepForInterrupt { expires: at, .. } => at.0 > self.now,
            Step::Sleep(time) | Step::WaitForIo(time) => time > Nanos::ZERO,
            Step::Wait => !task.wake_pending,
            _ => false,
        };
        if sleeps {
            return Some(step);
        }
        let cycles = task.way_out.cycles;
        task.segment = Segment::new(Work { cycles, memory: Nanos::ZERO });
        task.way_out = WayOut { cycles: 0, next: Some(step) };
        None
    }

    /// Brings the clocks of CPU `c` up to date for its running task, which goes to sleep: where it has no way of its own there, they
    /// were read a while ago.
    pub(super) fn read_for_sleep(&mut self, t: usize, c: usize) {
        let ClockReadings { wake_cycles, sleep_cycles, crossing_sleep_cycles, .. } = self.readings;
        if wake_cycles == 0 || self.tasks[t].way_out.cycles > 0 {
            return self.cpus[c].touch(self.now);
        }
        for cycles in [crossing_sleep_cycles, sleep_cycles] {
            let ago = self.cpu_time(c, cycles);
            let cpu = &mut self.cpus[c];
            cpu.touch_at(self.now.saturating_sub(ago));
            if self.tasks[t].avg.crosses(cpu.clock.now()) {
                break;
            }
        }
    }

    /// CPU `c` has no running task any more, and switches to the next one's stack when the last one's way is over.
    pub(super) fn set_out<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        let cycles = std::mem::take(&mut self.tasks[t].way_out.cycles);
        if cycles == 0 {
            return self.tell_out(t, c, observer);
        }
        self.cpus[c].leaving = Some(t);
        self.tasks[t].totals.cycles += cycles as f64;
        self.set_activity(c, Activity::Leaving);
        self.cpus[c].awake_at = self.now + self.cpu_time(c, cycles);
        self.requeue(c);
    }

    /// CPU `c`, whose last task is on its way out, looks for work if it has none.
    pub(super) fn look_while_leaving<O: Observer>(&mut self, c: usize, observer: &mut O) {
        if self.cpus[c].runnable_count() == 0 {
            self.pull_when_idle(c, observer);
        }
    }

    /// Whether CPU `c` comes from a way on which it has looked for work already.
    pub(super) fn has_looked(&self, c: usize) -> bool {
        self.cpus[c].activity == Activity::Leaving
    }

    /// CPU `c` is on the next task's stack.
    pub(super) fn tell_left<O: Observer>(&mut self, c: usize, observer: &mut O) {
        if let Some(t) = self.cpus[c].leaving.take() {
            self.tell_out(t, c, observer);
        }
    }

    fn tell_out<O: Observer>(&self, t: usize, c: usize, observer: &mut O) {
        let (task, cpu) = (TaskId(t as u32), CpuId(c as u32));
        observer.switched_out(Nanos(self.now), task, cpu, SwitchOut::Slept);
    }
}
