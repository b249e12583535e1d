//! One task: its thread goes through the steps of its behaviour.

use crate::protocol::score::signal::Signal;
use crate::protocol::score::speed::Speed;
use flyball_host::{Host, HostError, Scheduling, Wake};
use flyball_run::{Item, Marker};
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// Rows for which there is room without another allocation.
const ROOM: usize = 1024;

/// What all performers of a playing share.
#[derive(Debug)]
pub struct Stage {
    /// The machine.
    pub host: Arc<dyn Host>,
    /// What stands for work.
    pub speed: Speed,
    /// Time zero of the scenario.
    pub begin: Nanos,
    /// Nobody works after it.
    pub end: Nanos,
    /// One per task.
    pub signals: Vec<Signal>,
}

/// A task that is to be performed.
pub struct Performer {
    /// Its name, for rows.
    pub name: String,
    /// Its number among the tasks.
    pub number: usize,
    /// What it does.
    pub behavior: Box<dyn Behavior>,
    /// Its random stream.
    pub random: Xoshiro256PlusPlus,
    /// How long after its release an item is due.
    pub deadline: Option<Nanos>,
    /// The class that its thread takes itself, where it cannot inherit it.
    pub scheduling: Option<Scheduling>,
}

/// A task that was played.
#[derive(Clone, Debug)]
pub struct Player {
    /// Its name.
    pub name: String,
    /// The kernel's number of its thread.
    pub tid: u32,
    /// When its thread began.
    pub began: Nanos,
    /// Its marks.
    pub marks: Vec<Marker>,
    /// Its items of work.
    pub items: Vec<Item>,
}

impl Performer {
    /// Goes through the steps until the behaviour or the playing ends.
    ///
    /// # Errors
    /// The machine refused a sleep, or the class.
    pub fn perform(mut self, stage: &Stage) -> Result<Player, HostError> {
        let host = stage.host.as_ref();
        if let Some(scheduling) = self.scheduling {
            host.scheduling_set(scheduling)?;
        }
        let mut done = Player {
            name: self.name.clone(),
            tid: host.thread_id(),
            began: host.now(),
            marks: Vec::with_capacity(8),
            items: Vec::with_capacity(ROOM),
        };
        loop {
            let now = host.now();
            if now >= stage.end {
                return Ok(done);
            }
            let going_on = match self.behavior.next(now.since(stage.begin), &mut self.random) {
                Step::Run(work) | Step::Leave { work, .. } => stage.run(work)?,
                Step::SleepUntil(at)
                | Step::AwaitUntil(at)
                | Step::SleepForInterrupt { expires: at, .. } => {
                    stage.sleep_until(stage.begin + at)?
                }
                // A wait for I/O is a sleep here: what sets its flag is a device.
                Step::Sleep(time) | Step::WaitForIo(time) => stage.sleep_until(now + time)?,
                Step::Wait => {
                    if let Some(signal) = stage.signals.get(self.number) {
                        signal.wait();
                    }
                    true
                }
                Step::Wake(task) => {
                    if let Some(signal) = stage.signals.get(task.0 as usize) {
                        signal.wake();
                    }
                    true
                }
                Step::Begin { item, released } => {
                    let item = self.begins(stage, done.tid, item, released);
                    done.items.push(item);
                    true
                }
                Step::End { .. } => {
                    if let Some(item) = done.items.last_mut() {
                        let now = host.now().0;
                        item.ended_ns = Some(now);
                        item.latency_ns = Some(now.saturating_sub(item.released_ns));
                        item.ended_cpu = host.current_cpu().ok().map(|cpu| cpu.0);
                    }
                    true
                }
                Step::Mark(text) => {
                    done.marks.push(Marker {
                        t_ns: host.now().0,
                        cpu: host.current_cpu().ok().map(|cpu| cpu.0),
                        tid: Some(done.tid),
                        task: Some(self.name.clone()),
                        name: text.to_owned(),
                        trial: None,
                    });
                    true
                }
                Step::Exit => false,
            };
            if !going_on {
                return Ok(done);
            }
        }
    }

    fn begins(&self, stage: &Stage, tid: u32, item: u64, released: Nanos) -> Item {
        let released = stage.begin + released;
        Item {
            tid,
            task: self.name.clone(),
            item,
            released_ns: released.0,
            started_ns: Some(stage.host.now().0),
            ended_ns: None,
            latency_ns: None,
            deadline_ns: self.deadline.map(|deadline| (released + deadline).0),
            cpu: stage.host.current_cpu().ok().map(|cpu| cpu.0),
            ended_cpu: None,
            trial: None,
        }
    }
}

impl Stage {
    /// Executes; false where the end came before the work was done.
    fn run(&self, work: Work) -> Result<bool, HostError> {
        let host = self.host.as_ref();
        // A tenth of a millisecond of the fastest CPU: looking at the clock in between is below 1 %
        // of it, also in an emulator.
        let chunk = ((self.speed.per_ms / 10.0) as u64).max(1);
        let mut left = self.speed.multiplications(work.cycles);
        while left > 0 {
            let now = left.min(chunk);
            std::hint::black_box(host.multiply_chain(now));
            left -= now;
            if host.now() >= self.end {
                return Ok(false);
            }
        }
        if work.memory == Nanos::ZERO {
            return Ok(true);
        }
        // Time that does not scale with frequency: as long as the kernel says that it ran. Asking it ends slices that are
        // over before the tick would, so it is asked again only when as much time has passed as was left.
        let until = host.thread_cpu_time()? + work.memory;
        loop {
            let left = until.since(host.thread_cpu_time()?);
            if left == Nanos::ZERO {
                return Ok(true);
            }
            let look_at = host.now() + left;
            while host.now() < look_at {
                if host.now() >= self.end {
                    return Ok(false);
                }
                std::hint::black_box(host.multiply_chain(chunk / 8));
            }
        }
    }

    /// Sleeps; false where the program was asked to end.
    fn sleep_until(&self, at: Nanos) -> Result<bool, HostError> {
        if at <= self.host.now() {
            return Ok(true);
        }
        Ok(self.host.sleep_until(at.min(self.end))? == Wake::OnTime)
    }
}
