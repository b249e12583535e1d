//! The tasks' timers: each task has at most one, and a deadline task one for its periods, so nothing is ever cancelled.
//!
//! The machine has all of them in order; a CPU that goes idle asks for the earliest of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Timers by time, then by task, so that equal times have one order: each in one number, which is compared at once.
pub(super) struct Timers(BinaryHeap<Reverse<u128>>);

/// When a timer expires.
#[inline]
fn time_of(timer: u128) -> u64 {
    (timer >> 64) as u64
}

impl Timers {
    /// Room for so many timers: nothing is allocated later.
    pub(super) fn with_capacity(timers: usize) -> Timers {
        Timers(BinaryHeap::with_capacity(timers))
    }

    /// Task `task` is to be woken at `at`.
    pub(super) fn insert(&mut self, at: u64, task: usize) {
        self.0.push(Reverse((u128::from(at) << 64) | task as u128));
    }

    /// Time of the next one; `u64::MAX` where there is none.
    pub(super) fn next(&self) -> u64 {
        self.0.peek().map_or(u64::MAX, |Reverse(timer)| time_of(*timer))
    }

    /// Takes the task whose timer expires at or before `now`.
    pub(super) fn pop(&mut self, now: u64) -> Option<usize> {
        match self.0.peek() {
            Some(Reverse(timer)) if time_of(*timer) <= now => {
                self.0.pop().map(|Reverse(timer)| timer as u64 as usize)
            }
            _ => None,
        }
    }
}

/// Timers of one CPU, in no order: few tasks sleep there.
#[derive(Default)]
pub(super) struct OwnTimers(Vec<(u64, u32)>);

impl OwnTimers {
    /// Room for one timer per task: nothing is allocated later.
    pub(super) fn with_capacity(tasks: usize) -> OwnTimers {
        OwnTimers(Vec::with_capacity(tasks))
    }

    /// Task `task` will wake up at `at`.
    pub(super) fn insert(&mut self, at: u64, task: usize) {
        self.0.push((at, task as u32));
    }

    /// The timer of `task` expired, if it is one of these.
    pub(super) fn remove(&mut self, task: usize) {
        if let Some(place) = self.0.iter().position(|&(_, other)| other == task as u32) {
            self.0.swap_remove(place);
        }
    }

    /// The first time from `at` on at which none expires.
    pub(super) fn free_from(&self, at: u64) -> u64 {
        let mut free = at;
        while self.0.iter().any(|&(other, _)| other == free) {
            free += 1;
        }
        free
    }

    /// Time of the next one.
    pub(super) fn next(&self) -> Option<u64> {
        self.0.iter().map(|&(at, _)| at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expire_in_order_of_time_and_task() {
        let mut timers = Timers::with_capacity(3);
        timers.insert(20, 0);
        timers.insert(10, 2);
        timers.insert(10, 1);
        assert_eq!(timers.next(), 10);
        assert_eq!(timers.pop(9), None);
        assert_eq!([timers.pop(10), timers.pop(10), timers.pop(10)], [Some(1), Some(2), None]);
        assert_eq!(timers.pop(20), Some(0));
        assert_eq!(timers.next(), u64::MAX);
    }
}
