//! A scenario's tasks on a real kernel: threads that do what the model's tasks do.
//!
//! ```text
//! Scenario ── Score::new ──> tasks with their behaviours, refused where a machine can't have them
//!          ── Speed::of  ──> multiplications that stand for a cycle of work
//!          ── play       ──> threads; marks and items of work, on CLOCK_MONOTONIC
//! ```
//!
//! The behaviours are the model's own ([`flyball_sim::behavior::Behavior`]): what they do and when is
//! decided by one piece of code, where and how fast by the model's engine or by a kernel.

/// The mark at which a scenario begins, and that at its end.
pub const BEGIN: &str = "scenario begin";
/// See [`BEGIN`].
pub const END: &str = "scenario end";

mod cgroups;
mod error;
mod performer;
mod play;
mod run;
mod signal;
mod speed;
mod tasks;
pub mod text;

pub use error::PlayError;
pub use performer::Player;
pub use play::{Played, play};
pub use run::PreparedScore;
pub use speed::{Basis, Speed};
pub use tasks::Score;
