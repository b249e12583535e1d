//! Recording a machine's load: per CPU and interval how long it was busy, and how fast it was.
//!
//! ```text
//!   Recorder -> Sampled: counters of the kernel -> Sampler (its own thread) -> Attribution (per CPU)
//!            -> Traced:  events of the kernel -> pages of its buffers, once a second
//!                                                                         both -> table activity
//! ```
//! `/proc/stat` counts in steps of 10 ms, which is a whole interval here. Finer counters are brought
//! up to date late: the time in an idle state when the CPU leaves it, a task's running time when it
//! gives the CPU up. So a counter that stands still says nothing yet; [`Attribution`] decides when
//! the counter moves, and goes back in time.

mod attribution;
mod recorder;
mod recording;
mod sampled;
mod sampler;
mod source;
mod traced;

pub use attribution::{Attribution, Interval};
pub use recorder::{Options, Recorded, Recorder};
pub use recording::{Recording, RecordingError};
pub use source::Counting;
