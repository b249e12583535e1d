//! A recorded trace of any kind: found out by content, read through one door.

pub mod dat;
pub mod ftrace;
pub mod perfetto;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_run::{Error, Result};
use fs_err as fs;

use crate::stream::{Counts, Item};
use dat::Broken;
use ftrace::{Header, Line, parse};

/// Bytes looked at to find the kind out.
const HEAD_BYTES: u64 = 64 * 1024;
/// Lines of these.
const HEAD_LINES: usize = 256;

/// Largest file that is held in memory.
const WHOLE_BYTES: u64 = 1 << 30;

/// The formats, a row each: its name here, the reader, the tool in the manifest, what to record
/// where a file has no event, how its head is known, and how it is opened. The first that knows the
/// head is taken; the last one is read where none does.
macro_rules! formats {
    ($($(#[$doc:meta])* $kind:ident($reader:ty) $tool:literal, $hint:expr, $is:expr, $open:expr;)+) => {
        /// What wrote a trace.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
        }

        #[derive(Debug)]
        enum Inner {
            $($kind(Box<$reader>),)+
        }

        impl Kind {
            fn of_head(head: &[u8]) -> Option<Kind> {
                let known: &[(Kind, fn(&[u8]) -> bool)] = &[$((Kind::$kind, $is),)+];
                known.iter().find(|(_, is)| is(head)).map(|(kind, _)| *kind)
            }

            /// The tool's name in the manifest.
            pub fn tool(self) -> &'static str {
                match self {
                    $(Kind::$kind => $tool,)+
                }
            }

            /// What to record, where a file has no event.
            pub(crate) fn hint(self) -> &'static str {
                match self {
                    $(Kind::$kind => $hint,)+
                }
            }

            fn open(self, file: fs::File, path: &Path) -> Result<Inner> {
                match self {
                    $(Kind::$kind => {
                        let open: fn(fs::File, &Path) -> Result<$reader> = $open;
                        open(file, path).map(|reader| Inner::$kind(Box::new(reader)))
                    })+
                }
            }
        }

        impl Reader {
            /// What the file says of the recording; of text, as far as it was read.
            pub fn header(&self) -> &Header {
                match &self.inner {
                    $(Inner::$kind(reader) => reader.header(),)+
                }
            }

            /// What became of what was read so far.
            pub fn counts(&self) -> &Counts {
                match &self.inner {
                    $(Inner::$kind(reader) => reader.counts(),)+
                }
            }

            /// Calls `each` for everything that the trace tells, until the end.
            ///
            /// # Errors
            /// The operating system's, and those of `each`, which end the reading.
            pub fn for_each<E: From<io::Error>>(
                &mut self,
                each: impl FnMut(Item<'_>) -> std::result::Result<(), E>,
            ) -> std::result::Result<(), E> {
                match &mut self.inner {
                    $(Inner::$kind(reader) => reader.for_each(each),)+
                }
            }
        }
    };
}

formats! {
    /// trace-cmd's binary file.
    Dat(dat::Reader<Arc<fs::File>>) "trace-cmd",
        "record the events sched_switch, cpu_frequency, ...: trace-cmd record -e sched -e power",
        |head| head.starts_with(dat::MAGIC),
        |file, path| dat::Reader::open(Arc::new(file)).map_err(|broken| broken.of_file(path, dat::HINT));
    /// perfetto's.
    Perfetto(perfetto::Reader) "perfetto",
        "record the data source linux.ftrace with sched/sched_switch, power/cpu_frequency, ...",
        perfetto::is_trace,
        |file, path| Ok(perfetto::Reader::of(whole(file, path)?));
    /// Text of ftrace's, of trace-cmd's report.
    Text(ftrace::Reader<fs::File>) "ftrace",
        "expected is the text of /sys/kernel/tracing/trace or of `trace-cmd report`",
        is_text,
        |file, _| Ok(ftrace::Reader::new(file));
}

fn is_text(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').take(HEAD_LINES);
    head.starts_with(b"# tracer:")
        || lines.any(|line| matches!(parse(line), Ok(Line::Record(_) | Line::Lost { .. })))
}

impl Kind {
    /// The kind of a file by its content; none where it is not a trace.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(path: impl AsRef<Path>) -> Result<Option<Kind>> {
        let path = path.as_ref();
        let failed = |error: io::Error| Error::io(path, "to read it", &error);
        if fs::metadata(path).map_err(failed)?.is_dir() {
            return Ok(None);
        }
        let mut head = Vec::new();
        let file = fs::File::open(path).map_err(failed)?;
        file.take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
        Ok(Kind::of_head(&head))
    }
}

/// Reads a trace of any kind in one pass.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    kind: Kind,
    inner: Inner,
}

/// A file that is held in memory.
fn whole(file: fs::File, path: &Path) -> Result<Vec<u8>> {
    let failed = |error: io::Error| Error::io(path, "to read it", &error);
    let mut bytes = Vec::new();
    // The length of what is no plain file is not known before.
    file.take(WHOLE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > WHOLE_BYTES {
        let found = "more".to_owned();
        let broken = Broken::unsupported("a perfetto trace of at most 1 GiB", found);
        return Err(broken.of_file(path, "record a shorter time, or fewer data sources"));
    }
    Ok(bytes)
}

impl Reader {
    /// Opens a trace. What is not a trace of another kind is read as text.
    ///
    /// # Errors
    /// The file cannot be read, or what stands before its events is torn or of another version.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader> {
        let path = path.as_ref();
        let kind = Kind::of(path)?.unwrap_or(Kind::Text);
        let file = fs::File::open(path).map_err(|error| Error::io(path, "to read it", &error))?;
        Ok(Reader { path: path.to_owned(), kind, inner: kind.open(file, path)? })
    }

    /// What wrote it.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
