//! Quantities as types, and as people write them: what a number means is in its type, and there is
//! one reader of each.
//!
//! A reader is [`std::str::FromStr`], its writer [`std::fmt::Display`]: what one prints, the other
//! reads. What is not read is a [`Mismatch`], with the place, what was expected, what was found,
//! and often a hint with the [`nearest()`] name. Nothing here does I/O.

mod cpus;
mod decimal;
pub mod described;
mod diagnostic;
mod digits;
mod duration;
mod frequency;
pub mod goal;
mod governor;
mod kernel_rules;
pub mod load;
mod machine;
mod mismatch;
mod nearest;
mod opp;
mod pattern;
mod rate_limit;
mod share;
pub mod text;

pub use cpus::CpuSet;
pub use decimal::{Unit, with_unit};
pub use diagnostic::{Diagnostic, ErrorKind};
pub use digits::leading_number;
pub use duration::Duration;
pub use frequency::Frequency;
pub use goal::Goal;
pub use governor::{GovernorSpec, Tunables, tunable};
pub use kernel_rules::{
    KERNEL_RULES, KernelRule, KernelRuleInfo, KernelRules, KernelVersion, NoKernelVersion,
    UnknownKernelRule,
};
pub use machine::{BoardSpec, MachineSpec};
pub use mismatch::Mismatch;
pub use nearest::{nearest, nearest_file};
pub use opp::{Opp, OppTable, OppTableError, Relation};
pub use pattern::Pattern;
pub use rate_limit::RateLimitRule;
pub use share::Share;

use serde::{Deserialize, Serialize};
use std::fmt;

/// A duration or a point on a monotonic clock, in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Zero nanoseconds.
    pub const ZERO: Nanos = Nanos(0);

    /// From whole microseconds; saturates at the type's limit.
    pub const fn from_micros(us: u64) -> Nanos {
        Nanos(us.saturating_mul(1_000))
    }

    /// From whole milliseconds; saturates at the type's limit.
    pub const fn from_millis(ms: u64) -> Nanos {
        Nanos(ms.saturating_mul(1_000_000))
    }

    /// From whole seconds; saturates at the type's limit.
    pub const fn from_secs(s: u64) -> Nanos {
        Nanos(s.saturating_mul(1_000_000_000))
    }

    /// As seconds, for arithmetic on long durations.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// As microseconds, the unit in which latencies are printed.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The difference to an earlier point; zero where `earlier` is later.
    pub const fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// The signed difference `self - other`, in nanoseconds.
    pub const fn signed_since(self, other: Nanos) -> i64 {
        self.0.wrapping_sub(other.0) as i64
    }
}

impl std::ops::Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

/// A clock frequency in kilohertz, the unit of Linux's cpufreq files.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct KiloHertz(pub u64);

impl KiloHertz {
    /// As gigahertz, the unit in which frequencies are printed.
    pub fn as_ghz_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Display for KiloHertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} GHz", self.as_ghz_f64())
    }
}

/// The kernel's number of a logical CPU.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct CpuId(pub u32);

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cpu{}", self.0)
    }
}

/// Relative computing capacity of a CPU on the kernel's scale, 0 to 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Capacity(pub u32);

impl Capacity {
    /// The capacity of the largest CPU at its maximum frequency.
    pub const SCALE: Capacity = Capacity(1024);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_difference_keeps_its_sign() {
        assert_eq!(Nanos(5).signed_since(Nanos(7)), -2);
        assert_eq!(Nanos(5).since(Nanos(7)), Nanos::ZERO);
    }

    #[test]
    fn constructors_saturate() {
        assert_eq!(Nanos::from_secs(u64::MAX), Nanos(u64::MAX));
    }
}
