//! How a task that was woken gets into its CPU's queue, where that takes time (`ttwu_queue`): nobody sees it there before.

use super::Machine;
use super::cpu::Activity;
use crate::behavior::Arrival;
use crate::observe::Observer;
use flyball_platform::Paths;

/// A task's way into a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arriving {
    /// How it gets there, while it does.
    by: Option<Arrival>,
    /// Whether its CPU was told of it together with others, and has yet to come to it.
    pub(super) is_listed: bool,
    /// How it gets there with its next wake-up, and in how many cycles, where that was measured.
    pub(super) measured: Option<(Arrival, u64)>,
}

/// Of how many tasks a CPU is being told, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// How many it does not know of yet.
    pub(super) count: u32,
    /// When it gets to know of them.
    pub(super) at: u64,
    /// When it last got to know of some.
    pub(super) last: u64,
    /// Until when it puts those into its queue.
    listed_until: u64,
}

impl Told {
    pub(super) fn nothing() -> Told {
        Told { count: 0, at: 0, last: u64::MAX, listed_until: 0 }
    }

    /// When it has them all in its queue; None where it has.
    pub(super) fn until(&self, now: u64) -> Option<u64> {
        let listed = Some(self.listed_until).filter(|&until| until > now);
        (self.count > 0).then_some(self.at).or(listed)
    }
}

impl Machine {
    /// Whether it is known what the way into a queue costs.
    #[inline]
    pub(super) fn arrivals_take_time(&self, t: usize) -> bool {
        self.paths != Paths::default() || self.tasks[t].arriving.measured.is_some()
    }

    /// Task `t` gets to CPU `c`, which CPU `by` chose for it, there in an interrupt if it was `timer`'s.
    pub(super) fn get_to<O: Observer>(
        &mut self,
        t: usize,
        (by, c): (usize, usize),
        timer: bool,
        observer: &mut O,
    ) {
        let measured = self.tasks[t].arriving.measured.take();
        let how = self.way_to(t, (by, c), measured);
        if timer {
            // The interrupt there holds up who is on its way out of idle.
            let cycles = match how {
                Some((Arrival::Stays | Arrival::Put, cycles)) => cycles,
                _ => self.paths.put,
            };
            self.goes_on_until(by, self.now + self.cpu_time(by, cycles));
            if c != by {
                self.wake_longer(by);
            }
        }
        match how {
            None => self.join(t, c, false, observer),
            Some((Arrival::Told, cycles)) => {
                let at = self.now + self.cpu_time(c, cycles);
                let told = &mut self.cpus[c].told;
                if told.count == 0 {
                    told.at = at;
                }
                told.count += 1;
                let at = told.at;
                self.arrives_at(t, at, Arrival::Told);
            }
            Some((arrival, cycles)) => {
                self.arrives_at(t, self.now + self.cpu_time(by, cycles), arrival);
            }
        }
    }

    /// How a task gets to CPU `c` that CPU `by` wakes, and in how many cycles; None: at once. A CPU that has nothing to do is told of it
    /// (`ttwu_queue_cond`). All share a cache in the kernel's eyes.
    fn way_to(
        &self,
        t: usize,
        (by, c): (usize, usize),
        measured: Option<(Arrival, u64)>,
    ) -> Option<(Arrival, u64)> {
        let (arrival, cycles) = match self.cpus[c].runnable_count() {
            // Only a choice by size takes time.
            _ if c == by && !self.placed_by_size(t) => return None,
            _ if c == by => (Arrival::Stays, self.paths.stays),
            0 => (Arrival::Told, self.paths.told),
            _ => (Arrival::Put, self.paths.put),
        };
        measured.filter(|of| of.0 == arrival).or((cycles > 0).then_some((arrival, cycles)))
    }

    fn arrives_at(&mut self, t: usize, at: u64, by: Arrival) {
        self.tasks[t].arriving.by = Some(by);
        self.tasks[t].timer = at;
        self.timers.insert(at, t);
        self.requeue_timers();
    }

    /// The timer of task `t` expired. Whether it was on its way into a queue, and has come a part of that.
    pub(super) fn arrives<O: Observer>(&mut self, t: usize, observer: &mut O) -> bool {
        let Some(by) = self.tasks[t].arriving.by else { return false };
        let c = self.tasks[t].cpu;
        if by == Arrival::Told && !self.tasks[t].arriving.is_listed {
            if let Some(until) = self.interrupted_until(c) {
                // It is told when its own interrupt is over.
                let at = until.max(self.now) + 1;
                self.cpus[c].told.at = at;
                self.arrives_at(t, at, by);
                return true;
            }
            self.cpus[c].told.count -= 1;
            if let Some(at) = self.turn_of_told(c) {
                self.tasks[t].arriving.is_listed = true;
                self.arrives_at(t, at, by);
                return true;
            }
        }
        self.tasks[t].timer = u64::MAX;
        let cpu = &self.cpus[c];
        let way_out = (cpu.activity == Activity::Waking).then_some(cpu.awake_at);
        self.join(t, c, false, observer);
        let arriving = &mut self.tasks[t].arriving;
        (arriving.by, arriving.is_listed) = (None, false);
        if let Some(awake_at) = way_out.filter(|_| by == Arrival::Put) {
            // That CPU did nothing for it.
            self.cpus[c].awake_at = awake_at;
            self.requeue(c);
        }
        true
    }

    /// CPU `c` gets to know of a task, and puts the second of one interrupt and others into its queue one after another: when, where that is
    /// later.
    fn turn_of_told(&mut self, c: usize) -> Option<u64> {
        let next = self.cpu_time(c, self.paths.next_told);
        let (now, told) = (self.now, &mut self.cpus[c].told);
        if told.last != now {
            (told.last, told.listed_until) = (now, now);
            return None;
        }
        told.listed_until += next;
        Some(told.listed_until).filter(|&at| at > now)
    }
}
