//! The idle governors of Linux: which idle state a CPU enters, learnt from how long it slept before.
//!
//! As the frequency governors they have no clock: whoever drives one asks it when a CPU has nothing
//! to do ([`Menu::select`], [`Teo::select`], [`Haltpoll::select`]) and tells it how the sleep ended. Their arithmetic is the
//! kernel's, held against its own files by `scripts/kernel-diff`.

mod haltpoll;
mod menu;
mod teo;

pub use haltpoll::Haltpoll;
pub use menu::Menu;
pub use teo::Teo;

use flyball_units::Nanos;

/// Residencies below this are not worth a look at the timers.
const HARDLY: u64 = 15_000;

/// The furthest that a timer can be: how long Linux lets a CPU sleep in which no timer is set.
const FURTHEST: u64 = i64::MAX as u64;

/// What an idle governor has to know of an idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleState {
    /// Time to wake up from it, at worst.
    pub exit_latency: Nanos,
    /// Shortest stay that pays.
    pub target_residency: Nanos,
    /// Whether the CPU asks again and again whether there is work, instead of sleeping.
    pub polling: bool,
    /// Whether it may not be used.
    pub disabled: bool,
}

impl IdleState {
    /// A state that sleeps.
    pub const fn new(exit_latency: Nanos, target_residency: Nanos) -> IdleState {
        IdleState { exit_latency, target_residency, polling: false, disabled: false }
    }
}

/// What is known when a CPU has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleAsk {
    /// Time until the CPU's next timer, without the tick.
    pub next_timer: Nanos,
    /// Time until its next timer or tick.
    pub next_event: Nanos,
    /// The tick's period.
    pub tick: Nanos,
    /// Whether the tick is stopped already.
    pub tick_stopped: bool,
    /// The longest exit latency that is allowed (PM QoS).
    pub latency_limit: Nanos,
    /// Tasks of this CPU that wait for I/O.
    pub io_waiters: u32,
}

/// What an idle governor decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleChoice {
    /// The state to enter.
    pub state: usize,
    /// Whether the tick may stop; else it ends a sleep that was guessed too short.
    pub stops_tick: bool,
}

/// How a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleEnd {
    /// The state that was entered.
    pub state: usize,
    /// How long it lasted, the way out included.
    pub length: Nanos,
    /// Whether the tick ended it, which had not been stopped.
    pub by_tick: bool,
    /// Whether polling went on for as long as it may.
    pub polled_out: bool,
}

/// The nearest state above `from` in the list that may be used and pays in `length`; where none pays, the
/// shallowest that may be used.
fn shallower(states: &[IdleState], from: usize, length: u64) -> usize {
    let mut chosen = from;
    for (at, state) in states.iter().enumerate().take(from).rev() {
        if !state.disabled {
            chosen = at;
            if state.target_residency.0 <= length {
                break;
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three states, as a processor of a desk has them.
    pub(super) fn states() -> Vec<IdleState> {
        let of = |(latency, residency)| {
            IdleState::new(Nanos::from_micros(latency), Nanos::from_micros(residency))
        };
        [(1, 1), (50, 200), (500, 5000)].map(of).to_vec()
    }
}
