//! Scheduler and frequency events of a run: what they say about a machine.
//!
//! - [`blame`]: what the response of each measured window was made of;
//! - [`capture`]: events of this machine, in an instance of tracefs of its own;
//! - [`dat`]: trace-cmd's binary files;
//! - [`ftrace`]: the text of tracefs and trace-cmd, streamed;
//! - [`import`]: traces into run directories;
//! - [`load`]: a machine's load per CPU and interval, recorded cheaply;
//! - [`perfetto`]: perfetto's traces, and sched-analyzer's, which are such;
//! - [`recording`]: the event tables of one run or trial as typed events, with the stretch of time
//!   that is looked at, the machine's CPUs, and the gaps where events were lost;
//! - [`shadow`]: a governor fed with recorded signals, beside what the kernel did;
//! - [`questions`]: what can be asked of a recording. Every answer is a serialisable structure;
//!   nothing here prints.
//!
//! Whether the events come from a kernel or from a model makes no difference here.

pub mod blame;
pub mod capture;
pub mod dat;
mod file;
pub mod ftrace;
pub mod import;
pub mod load;
pub mod missing;
pub mod perfetto;
pub mod questions;
pub mod recording;
mod ring;
pub mod shadow;
mod source;

pub use file::{Kind, Reader};
pub use missing::Missing;
pub use recording::{Recording, Span};
pub use source::Source;
