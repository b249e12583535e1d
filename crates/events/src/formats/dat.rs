//! trace-cmd's binary `trace.dat`, versions 6 and 7, packed or not.
//!
//! A file holds the layouts of its events as the kernel printed them, and per CPU the pages of the
//! kernel's ring buffer as they were. [`Reader`] merges the CPUs by time and hands out the same
//! items as the reader of text does, in memory of some blocks per CPU. The format is described in
//! trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5), that of a page by the kernel in `header_page` and
//! `header_event` of tracefs.

mod bprint;
mod broken;
mod cursor;
mod decode;
mod head;
mod reader;
mod stream;
mod symbols;
mod unpack;

pub use broken::Broken;
pub(crate) use reader::HINT;
pub use reader::Reader;

/// What every such file begins with.
pub const MAGIC: &[u8] = b"\x17\x08\x44tracing";
