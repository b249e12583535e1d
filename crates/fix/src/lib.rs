//! The smallest change of settings that meets a latency goal: found, proven, and never left behind.
//!
//! ```text
//! pilot    the baseline alone: is the goal met already, and where does the work run?
//! screen   the strongest of each kind of change, and all together, alternated with the baseline
//! levels   of the smallest kind that met the goal: its weakest level that still does
//! confirm  that one against the baseline, in fresh windows
//! ```
//!
//! Each stage is a bench: settings are held by a journal and restored after each of its blocks. What
//! was chosen for being the best of many is judged by windows that had no part in choosing it.

mod change;
mod error;
mod goal;
mod ladder;
mod persist;
mod search;
pub mod text;
mod trier;

pub use change::{Candidate, Change, Kind};
pub use error::FixError;
pub use goal::{Goal, Milliseconds, Standing};
pub use ladder::{Ladder, Rung, Unavailable};
pub use search::{Outcome, Report, Stage, Tried, Trier, fix};
pub use trier::{Bench, Windows};
