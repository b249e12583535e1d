//! Captures scheduler and frequency events of this machine, without touching anybody else's tracing.
//!
//! A [`Capture`] works in an instance of tracefs of its own, with buffers, clock and switches of its
//! own, and with probe events of its own where the kernel has no event. Everything is named after
//! the process that owns it, and goes with it: at [`Capture::stop`], when it is dropped, and, where a
//! process was killed, at the next start or by [`recover`].

mod cost;
mod error;
mod groups;
mod names;
mod pages;
mod probes;
mod reader;
mod recover;
mod run;
mod session;
mod setup;
mod size;
mod tracefs;

pub use cost::Cost;
pub use error::CaptureError;
pub use groups::Group;
pub(crate) use pages::{Pages, Wanted};
pub use recover::{Recovered, recover};
pub use run::workload;
pub use session::{Capture, Captured, Options};
pub use size::bytes;

/// The marker that [`Capture::start`] leaves: the zero of later questions.
pub const BEGIN: &str = "flyball begin";
/// The marker that [`Capture::stop`] leaves.
pub const END: &str = "flyball end";
