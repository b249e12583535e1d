//! The text that ftrace and its tools write: `trace` and `trace_pipe` of tracefs, `trace-cmd report`,
//! `perf script`.
//!
//! ```text
//!           <idle>-0       [001] d..1.    10.421724: cpu_idle: state=1 cpu_id=1
//!   task and thread id     CPU   flags    time       event     text
//! ```
//!
//! [`Reader`] streams: it holds one block of the input, never the whole. A line that does not read
//! is counted and named with what was expected and what was found, events that nobody here knows
//! are counted by name, and so are the events that the kernel says it lost.

mod event;
mod fields;
mod header;
mod interrupt;
mod line;
mod probe;
mod reader;

pub(crate) use event::state_letters;
pub use header::Header;
pub(crate) use interrupt::{SOFTIRQS, known_vector};
pub use line::{Line, Malformed, parse};
pub(crate) use probe::{is_probe_name, parse as parse_probe};
pub use reader::Reader;
