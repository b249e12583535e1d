//! haltpoll: a guest's CPU asks for work for a while before it gives itself back to the host, the longer, the more often that
//! would have paid.

use super::{IdleAsk, IdleChoice, IdleEnd};
use flyball_units::{KernelRule, KernelRules, Nanos};

/// The longest that it polls, in ns (`guest_halt_poll_ns`).
const MOST: u64 = 200_000;

/// Where it begins to poll, in ns (`guest_halt_poll_grow_start`).
const FIRST: u64 = 50_000;

/// By how much the time grows and shrinks (`guest_halt_poll_grow`, `guest_halt_poll_shrink`).
const FACTOR: u64 = 2;

/// The haltpoll governor of one CPU. Its first state polls, its second one halts.
#[derive(Clone, Debug)]
pub struct Haltpoll {
    rules: KernelRules,
    /// How long it polls, in ns; 0: not at all.
    limit: u64,
    /// The last state, and whether polling there went on for as long as it may.
    last: usize,
    polled_out: bool,
}

impl Haltpoll {
    /// One without experience, of a kernel with these rules: it does not poll.
    pub const fn new(rules: KernelRules) -> Haltpoll {
        Haltpoll { rules, limit: 0, last: 0, polled_out: false }
    }

    /// The state to enter: the first, or the second.
    pub const fn select(&self, ask: &IdleAsk) -> IdleChoice {
        const POLL: IdleChoice = IdleChoice { state: 0, stops_tick: false };
        const HALT: IdleChoice = IdleChoice { state: 1, stops_tick: true };
        if ask.latency_limit.0 == 0 {
            return POLL;
        }
        let polled_in_vain = self.last == 0 && self.polled_out;
        if self.limit == 0 || polled_in_vain { HALT } else { POLL }
    }

    /// How long it polls.
    pub const fn limit(&self) -> Nanos {
        Nanos(self.limit)
    }

    /// Learns from a sleep: halts that were short enough to have been polled through let it poll longer.
    pub fn reflect(&mut self, ended: IdleEnd) {
        (self.last, self.polled_out) = (ended.state, ended.polled_out);
        if ended.state == 0 {
            return;
        }
        if ended.length.0 > MOST {
            self.limit /= FACTOR;
            if self.limit < FIRST && self.rules.has(KernelRule::HaltpollResets) {
                self.limit = 0;
            }
        } else if ended.length.0 > self.limit {
            self.limit = (self.limit * FACTOR).clamp(FIRST, MOST);
        }
    }

    /// Its state, to be held against the kernel's.
    #[doc(hidden)]
    pub fn state(&self) -> [u64; 1] {
        [self.limit]
    }
}
