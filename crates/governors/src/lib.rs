//! Every frequency governor as one object that decides from events.
//!
//! A [`Governor`] has no clock and does no I/O: whoever drives it, the simulated machine, a replay
//! or the daemon on a real machine, hands it [`Event`]s and carries out its [`Decision`]s. So one
//! and the same rule is measured on a model and runs live.
//!
//! [`catalogue`] lists the rules, [`create`] makes one by its name:
//!
//! ```
//! let mut governor = flyball_governors::create("schedutil")?;
//! governor.set("rate_limit_us", 500).unwrap();
//! assert!(governor.needs().utilization);
//! # Ok::<(), flyball_governors::UnknownGovernor>(())
//! ```
//!
//! Polling rules ask to be woken at once when they start: that first [`Event::Poll`] is only what
//! later ones are compared with.

mod accounting;
mod catalogue;
mod decision;
mod delay;
mod domain;
mod event;
mod governor;
mod knobs;
mod policies;
mod policy;
#[cfg(test)]
mod testing;

pub use catalogue::{Entry, UnknownGovernor, catalogue, create};
pub use decision::{Decision, Request};
pub use delay::transition_delay_us;
pub use domain::Domain;
pub use event::{CpuSignals, CpuTimes, Event, UtilFlags};
pub use governor::{Governor, Needs, Tunable, TunableError};
pub use policies::{
    Conservative, Ondemand, Performance, Powerd, PowerdPaper, Powerdxx, Powersave, Schedutil,
    Threshold, Tick, Userspace, Windowed, schedutil,
};
