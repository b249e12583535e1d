//! Recorded work again: through any governor, on any platform of the model.
//!
//! ```text
//!   table activity  --+
//!   scheduler events -+-> Work (cycles per CPU or task) -> Load (on a platform) -> Outcome per governor
//!   loadrec's files --+                                         |
//!   rt-app, scenarios ------------------------------------------+-> tune: tunables for a goal
//!                                                               +-> scenario: for the model and boards
//! ```
//! What is replayed are *cycles*, not percent: a CPU that was half busy at 1 GHz is a quarter busy at
//! 2 GHz. Where a recording has no frequency, one is assumed, and the result says which.

pub mod activity;
mod error;
pub mod events;
pub mod goal;
mod keep;
mod outcome;
mod place;
mod play;
mod scenario;
pub mod search;
pub mod shadow;
mod source;
mod subject;
pub mod text;
pub mod tune;
mod work;

pub use error::ReplayError;
pub use keep::{Played, keep, to_run};
pub use outcome::{DomainOutcome, Latency, Outcome, Share, Way};
pub use place::{Load, Placing, Stint};
pub use play::{Kept, play};
pub use scenario::scenario;
pub use source::{Opened, SourceError};
pub use subject::Subject;
pub use work::{Item, Stream, Work};
