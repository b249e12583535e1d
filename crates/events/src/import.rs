//! Traces into run directories.
//!
//! - [`Builder`] turns the items of a trace into rows of the event tables, in bounded memory: rows
//!   can be taken out as they come;
//! - [`import`] reads a file into a run in memory, [`import_to`] into a run directory of any size;
//! - [`pstates`] reads a log of frequency writes seen from outside, [`mod@join`] finds the offset
//!   between its clock and the trace's, and says what became of every change.

mod builder;
mod clocks;
mod file;
mod interrupts;
pub mod join;
mod manifest;
pub mod pstates;
mod scheduling;
mod signals;

pub use builder::{Builder, Built};
pub use file::check;
pub use file::{Added, Imported, Options, add_to, import, import_to, is_trace};
pub use join::{Join, join};
