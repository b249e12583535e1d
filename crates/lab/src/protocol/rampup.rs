//! How long a machine takes to answer a sudden demand: a task sleeps, then spins, and what its core
//! delivers is watched.
//!
//! ```text
//! ask -> plan -> live (this machine, a board's guest) --> rampups, rampup_samples [+ events]
//!     -> cases -> model (virtual time)                -->
//! ```
//! One run directory, whichever machine: the same tables, the same questions to them.

pub mod answer;
pub mod ask;
pub mod error;
pub mod live;
pub mod model;
pub mod plan;
pub mod spin;
mod text;
pub mod variant;

pub use answer::Answer;
pub use ask::{Ask, AskError};
pub use error::RampupError;
pub use variant::Variant;
