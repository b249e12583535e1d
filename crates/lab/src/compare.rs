//! A scenario on a model beside the same scenario on a virtual board under a real kernel.
//!
//! ```text
//! Scenario ─┬ board: `flyball sim --machine host --trace` ─> runs ── figures ──────┬─> judge: lines, each with
//!           │ several times in a guest          └ given ──────┐       │   its bar and outcome
//!           ├ sim: each phase a playing again, informed <──────┴ figures
//!           │ (there, or on the board of an earlier comparison: a prediction)
//!           └ sim: every phase, alone ─────────────────────────── figures
//!           └ one step ahead: from the kernel's own state at each decision ─────────> one_step
//! judge ── cause (of what differs: each phase once more, with decisions of the kernel's) ── sim
//!       └─ chance (how certain a distance is, and how well the playings agree among themselves)
//! runs ── clocks (what ran at which speed) ── readings (when the kernel looked at its clock) ─┬ on_cpu (who ran when) ──> given, figures
//!                       before (what was there when a playing began), background (what else ran),
//!                       wake_up (how a task came to an item), deadlines (when a thread took its class, and its periods),
//!                       decided (CPUs and frequencies) ──> given
//! ```

mod background;
mod before;
mod cause;
mod chance;
mod clocks;
mod deadlines;
mod decided;
mod figures;
mod given;
mod guest;
mod informed;
mod judge;
mod on_cpu;
mod one_step;
mod readings;
mod run;
mod speed_up;
mod stretch;
mod text;
mod ticks;
mod wake_up;

pub use background::Background;
pub use cause::{Because, Cause, Kernels};
pub use figures::{Figures, Quantity, of_outcome, of_run};
pub use given::{ControllerCost, Given, Item, Played, Task, given};
pub use guest::{LOST_SHARE, Playing, Rehearsed, measured, rehearse, rehearsed};
pub use informed::informed;
pub use judge::{Agreement, Bar, LEAST_SHARE, Line, POINTS, Sides, judge};
pub use one_step::{Decisions, FREQUENCIES, OneStep, PLACEMENTS, one_step};
pub use run::{CompareError, Compared, RESULT, compare};
pub use stretch::Stretch;
pub use wake_up::{By, WakeUp};

/// The upper median; None of none.
fn median(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    flyball_stats::median_high(values)
}
