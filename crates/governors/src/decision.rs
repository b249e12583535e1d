//! What a governor answers.

use flyball_units::{KiloHertz, Nanos, Relation};
use serde::Serialize;

/// The answer to an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// What to ask of the hardware; None leaves things as they are.
    pub request: Option<Request>,
    /// When to send [`crate::Event::Poll`] or [`crate::Event::Timer`] next. It replaces an earlier
    /// wish; None keeps it.
    pub wake_at: Option<Nanos>,
    /// The rule that led here, in a few words for a log; empty where nothing was decided.
    pub why: &'static str,
}

impl Decision {
    /// Nothing changes.
    pub const NONE: Decision = Decision { request: None, wake_at: None, why: "" };

    /// Something to ask of the hardware, because of the rule `why`.
    pub const fn request(request: Request, why: &'static str) -> Decision {
        Decision { request: Some(request), wake_at: None, why }
    }

    /// A frequency, resolved to an operating point by `relation` under the policy's limits.
    pub const fn frequency(target: KiloHertz, relation: Relation, why: &'static str) -> Decision {
        Decision::request(Request::Frequency { target, relation }, why)
    }

    /// The same decision with a time for the next poll or timer.
    pub const fn wake_at(mut self, at: Nanos) -> Decision {
        self.wake_at = Some(at);
        self
    }
}

/// What a governor may ask of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Request {
    /// One frequency.
    Frequency {
        /// Wanted frequency; need not be an operating point.
        target: KiloHertz,
        /// How it becomes one.
        relation: Relation,
    },
    /// Limits within which the hardware chooses.
    Range {
        /// Lowest frequency.
        min: KiloHertz,
        /// Highest frequency.
        max: KiloHertz,
    },
    /// A performance level on the capacity scale, 0 to 1024.
    Perf(u32),
    /// An energy performance preference, 0 (performance) to 255 (power).
    Epp(u8),
}
