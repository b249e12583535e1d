//! A scenario on a model beside the same scenario on a virtual board under a real kernel.
//!
//! ```text
//! Scenario ── sim: every phase ──────────────> figures of the model ─┐
//!          └─ board: `flyball play --trace` ─> runs ── figures ──────┴─> judge: lines, each with
//!             several times in a guest                                    its bar and outcome
//! ```

mod figures;
mod guest;
mod judge;

pub use figures::{Figures, Quantity, of_outcome, of_run};
pub use guest::{LOST_SHARE, Playing, Rehearsed, rehearse};
pub use judge::{Agreement, Line, POINTS, judge};
