//! Recorded scheduler and frequency events: what they say about a machine.
//!
//! - [`event`], [`stream`]: the vocabulary, and what a reader gives;
//! - [`ftrace`]: the text of tracefs and trace-cmd, streamed;
//! - [`dat`]: trace-cmd's binary files; [`ring`]: the pages of the kernel's ring buffer in them;
//! - [`perfetto`]: perfetto's traces, and sched-analyzer's, which are such;
//! - [`import`]: traces into run directories;
//! - [`recording`]: the event tables of one run or trial as typed events, with the stretch of time
//!   that is looked at, the machine's CPUs, and the gaps where events were lost;
//! - [`questions`]: what can be asked of a recording. Every answer is a serialisable structure;
//!   nothing here prints;
//! - [`blame`]: what the response of each measured window was made of.
//!
//! Whether the events come from a kernel or from a model makes no difference here.

pub mod blame;
pub mod event;
mod formats;
pub mod import;
pub mod missing;
mod open;
pub mod questions;
pub mod recording;
pub mod ring;
mod source;
pub mod stream;

pub use formats::{Kind, Reader, dat, ftrace, perfetto};
pub use missing::Missing;
pub use open::{Kept, Reading};
pub use recording::{Recording, Span};
pub use source::Source;
