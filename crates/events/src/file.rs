//! A recorded trace of any kind: found out by content, read through one door.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_run::{Error, Result};
use fs_err as fs;

use crate::dat::{self, Broken};
use crate::ftrace::{self, Header, Line, parse};
use crate::perfetto;
use crate::stream::{Counts, Item};

/// Bytes looked at to find the kind out.
const HEAD_BYTES: u64 = 64 * 1024;
/// Lines of these.
const HEAD_LINES: usize = 256;

/// Largest file that is held in memory.
const WHOLE_BYTES: u64 = 1 << 30;

/// What wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text of ftrace's, of trace-cmd's report.
    Text,
    /// trace-cmd's binary file.
    Dat,
    /// perfetto's.
    Perfetto,
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

    fn of_head(head: &[u8]) -> Option<Kind> {
        if head.starts_with(dat::MAGIC) {
            return Some(Kind::Dat);
        }
        if perfetto::is_trace(head) {
            return Some(Kind::Perfetto);
        }
        let mut lines = head.split(|byte| *byte == b'\n').take(HEAD_LINES);
        let is_text = head.starts_with(b"# tracer:")
            || lines.any(|line| matches!(parse(line), Ok(Line::Record(_) | Line::Lost { .. })));
        is_text.then_some(Kind::Text)
    }

    /// The tool's name in the manifest.
    pub fn tool(self) -> &'static str {
        match self {
            Kind::Text => "ftrace",
            Kind::Dat => "trace-cmd",
            Kind::Perfetto => "perfetto",
        }
    }
}

/// Reads a trace of any kind in one pass.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    kind: Kind,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Text(Box<ftrace::Reader<fs::File>>),
    Dat(Box<dat::Reader<Arc<fs::File>>>),
    Perfetto(Box<perfetto::Reader>),
}

/// A file that is held in memory.
fn whole(mut file: fs::File, path: &Path) -> Result<Vec<u8>> {
    let failed = |error: io::Error| Error::io(path, "to read it", &error);
    let length = file.metadata().map_err(failed)?.len();
    if length > WHOLE_BYTES {
        let found = format!("{} MiB", length >> 20);
        let broken = Broken::unsupported("a perfetto trace of at most 1 GiB", found);
        return Err(broken.of_file(path, "record a shorter time, or fewer data sources"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
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
        let inner = match kind {
            Kind::Text => Inner::Text(Box::new(ftrace::Reader::new(file))),
            Kind::Dat => {
                let reader = dat::Reader::open(Arc::new(file));
                Inner::Dat(Box::new(reader.map_err(|broken| broken.of_file(path, dat::HINT))?))
            }
            Kind::Perfetto => Inner::Perfetto(Box::new(perfetto::Reader::of(whole(file, path)?))),
        };
        Ok(Reader { path: path.to_owned(), kind, inner })
    }

    /// What wrote it.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file says of the recording; of text, as far as it was read.
    pub fn header(&self) -> &Header {
        match &self.inner {
            Inner::Text(reader) => reader.header(),
            Inner::Dat(reader) => reader.header(),
            Inner::Perfetto(reader) => reader.header(),
        }
    }

    /// What became of what was read so far.
    pub fn counts(&self) -> &Counts {
        match &self.inner {
            Inner::Text(reader) => reader.counts(),
            Inner::Dat(reader) => reader.counts(),
            Inner::Perfetto(reader) => reader.counts(),
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
            Inner::Text(reader) => reader.for_each(each),
            Inner::Dat(reader) => reader.for_each(each),
            Inner::Perfetto(reader) => reader.for_each(each),
        }
    }
}
