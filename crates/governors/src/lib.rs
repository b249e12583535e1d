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

/// Builder methods: one per field, of the field's name.
macro_rules! setters {
    ($type:ident { $($field:ident: $value:ty),+ $(,)? }) => {
        impl $type {
            $(
                #[doc = concat!(
                    "The same with another [`", stringify!($field), "`](#structfield.",
                    stringify!($field), ").",
                )]
                #[inline]
                #[must_use]
                pub const fn $field(mut self, $field: $value) -> $type {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}

mod accounting;
mod catalogue;
mod clamp_ramp;
mod cpufreq_policy;
mod decision;
mod domain;
mod event;
mod governor;
pub mod idle;
mod response_ramp;
#[cfg(test)]
mod testing;
mod transition_delay;
mod tunables;

pub use catalogue::{
    Conservative, GovernorInfo, Ondemand, PolicyLimit, Powerd, PowerdPaper, Powerdxx, Schedutil,
    Threshold, Tick, UnknownGovernor, Userspace, Windowed, catalogue, create, schedutil,
};
pub use clamp_ramp::{ClampRamp, ClampStep};
pub use decision::{Decision, Request};
pub use domain::Domain;
pub use event::{CpuSignals, CpuTimes, Event, UtilFlags};
pub use governor::{Governor, Needs, Tunable, TunableError};
pub use response_ramp::ResponseRamp;
pub use transition_delay::{DriverDelay, transition_delay_us};

/// The types of load tracking that a [`Domain`] and a schedutil policy speak of.
pub use flyball_pelt as pelt;
/// The units that events and decisions speak in.
pub use flyball_units as units;
