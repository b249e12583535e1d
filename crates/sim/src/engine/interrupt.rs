//! A timer's interrupt: it wakes its CPU's tasks one after another, in the order in which they went to sleep.

use super::Machine;
use super::cpu::Activity;
use super::progress::rounded_up;
use crate::behavior::Interrupt;
use crate::observe::Observer;
use std::collections::VecDeque;

/// The interrupt of a CPU.
pub(super) struct TimerInterrupt {
    /// Whom it has yet to come to, in their order.
    due: VecDeque<(usize, Interrupt)>,
    /// When it comes to the first of them; `u64::MAX` where there is none.
    at: u64,
    /// Whom it has come to, on a CPU that first goes on with what it does.
    reached: Vec<usize>,
    /// Until when it puts those into queues, as far as that is known.
    until: u64,
}

impl TimerInterrupt {
    pub(super) fn none() -> TimerInterrupt {
        TimerInterrupt { due: VecDeque::new(), at: u64::MAX, reached: Vec::new(), until: 0 }
    }
}

impl Machine {
    /// A timer of CPU `c` that is to expire at `at`, behind those that expire then already.
    pub(super) fn in_turn(&self, c: usize, at: u64) -> u64 {
        self.cpus[c].timers.free_from(at)
    }

    /// When the next interrupt comes to its next task.
    #[inline]
    pub(super) fn next_of_interrupts(&self) -> u64 {
        match self.interrupted {
            0 => u64::MAX,
            _ => self.interrupts.iter().map(|of| of.at).min().unwrap_or(u64::MAX),
        }
    }

    /// The timer of task `t` expired. Whether an interrupt has to come to it first.
    #[inline]
    pub(super) fn waits_for_interrupt(&mut self, t: usize) -> bool {
        let Some(interrupt) = self.tasks[t].interrupt.take() else { return false };
        self.tasks[t].arriving.measured = interrupt.arrival;
        let c = self.tasks[t].cpu;
        self.cpus[c].timers.remove(t);
        self.interrupts[c].due.push_back((t, interrupt));
        if self.interrupts[c].due.len() == 1 {
            self.interrupted += 1;
            self.go_on(c, false);
        }
        true
    }

    /// The interrupt of CPU `c` begins, or `follows` a task to the next one.
    fn go_on(&mut self, c: usize, follows: bool) {
        let next = self.interrupts[c].due.front().map(|(_, of)| match follows {
            _ if follows == of.follows => of.cycles,
            true => self.paths.next,
            false => self.paths.interrupt,
        });
        let at = next.map(|cycles| self.now + self.cpu_time(c, cycles));
        if at.is_none() {
            self.interrupted -= 1;
        }
        self.interrupts[c].at = at.unwrap_or(u64::MAX);
        self.requeue_periodic();
    }

    /// Interrupts come to tasks.
    #[cold]
    pub(super) fn go_on_with_interrupts<O: Observer>(&mut self, observer: &mut O) {
        for c in 0..self.interrupts.len() {
            while self.interrupts[c].at <= self.now {
                let of = &mut self.interrupts[c];
                of.reached.extend(of.due.pop_front().map(|(t, _)| t));
                self.go_on(c, true);
                // Who runs goes on until it is over.
                let goes_on = matches!(self.cpus[c].activity, Activity::Busy);
                if goes_on && self.interrupts[c].at != u64::MAX {
                    continue;
                }
                let reached = std::mem::take(&mut self.interrupts[c].reached);
                for &t in &reached {
                    self.tasks[t].timer = u64::MAX;
                    self.wake(t, None, observer);
                }
                self.interrupts[c].reached = reached;
                self.interrupts[c].reached.clear();
            }
        }
    }

    /// Interrupts go on at operating point `to` of domain `d` instead of `from`.
    pub(super) fn hurry_interrupts(&mut self, d: usize, (from, to): (usize, usize)) {
        if self.interrupted == 0 {
            return;
        }
        for &c in &self.domains[d].cpus {
            let (cpu, of) = (&self.cpus[c], &mut self.interrupts[c]);
            if of.at != u64::MAX {
                let cycles = of.at.saturating_sub(self.now) as f64 / cpu.ns_per_cycle[from];
                of.at = self.now + rounded_up(cycles * cpu.ns_per_cycle[to]);
            }
        }
        self.requeue_periodic();
    }

    /// Until when CPU `c` executes a timer's interrupt, as far as that is known now; None where it does not.
    pub(super) fn interrupted_until(&self, c: usize) -> Option<u64> {
        let of = &self.interrupts[c];
        match of.at {
            u64::MAX => Some(of.until).filter(|&until| until > self.now),
            at => Some(at),
        }
    }

    /// That of CPU `c` goes on until a time at least.
    pub(super) fn goes_on_until(&mut self, c: usize, until: u64) {
        let of = &mut self.interrupts[c];
        of.until = of.until.max(until);
    }
}
