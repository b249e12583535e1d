//! Files that deliver bytes as they come, such as tracefs' pipes: read without blocking, waited
//! for together.

use super::unix::{O_NONBLOCK, OpenOptionsExt};
#[cfg(target_os = "linux")]
use super::{poll, signal};
use crate::{Call, Errno, HostError};
use flyball_units::Nanos;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;

/// A file open for reading that never blocks.
#[derive(Debug)]
pub struct Stream {
    path: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    File(File),
    /// A recording: what is left of it.
    Fixed(std::io::Cursor<Vec<u8>>),
}

impl Stream {
    /// Opens `path`.
    pub(crate) fn open(path: &Path) -> Result<Stream, HostError> {
        let file =
            OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path).map_err(|error| {
                HostError::call(Call::OpenStream, path.display(), Errno::of(&error))
            })?;
        Ok(Stream { path: path.display().to_string(), source: Source::File(file) })
    }

    /// A stream that delivers `bytes` and then nothing more.
    pub(crate) fn recorded(path: &Path, bytes: Vec<u8>) -> Stream {
        let source = Source::Fixed(std::io::Cursor::new(bytes));
        Stream { path: path.display().to_string(), source }
    }

    /// Reads what is there, at most the length of `buffer`; none where nothing is there now, which
    /// is also the answer of a file at its end.
    ///
    /// # Errors
    /// The system's, other than `EAGAIN` and `EINTR`.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, HostError> {
        loop {
            let result = match &mut self.source {
                Source::File(file) => file.read(buffer),
                Source::Fixed(bytes) => bytes.read(buffer),
            };
            match result {
                Ok(0) => return Ok(None),
                Ok(length) => return Ok(Some(length)),
                Err(error) => match Errno::of(&error) {
                    Errno::EAGAIN => return Ok(None),
                    Errno::EINTR => {}
                    errno => return Err(HostError::call(Call::OpenStream, &self.path, errno)),
                },
            }
        }
    }

    /// Waits until one of `streams` has something to read (true), or until `deadline`
    /// (CLOCK_MONOTONIC) or an interrupt came first (false). What counts as something is the
    /// file's affair: tracefs has a threshold (`buffer_percent`).
    #[cfg(target_os = "linux")]
    pub(crate) fn wait(streams: &[Stream], deadline: Nanos) -> Result<bool, HostError> {
        use std::os::fd::AsRawFd;
        let mut events: Vec<libc::pollfd> = streams
            .iter()
            .filter_map(|stream| match &stream.source {
                Source::File(file) => Some(file.as_raw_fd()),
                Source::Fixed(_) => None,
            })
            .map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 })
            .collect();
        let object = || streams.first().map_or("no stream".to_owned(), |first| first.path.clone());
        loop {
            match poll::until(&mut events, deadline, Call::WaitStreams, object) {
                Ok(ready) => return Ok(ready > 0),
                Err(error) if error.errno() == Some(Errno::EINTR) => {
                    if signal::interrupted() > 0 {
                        return Ok(false);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Only Linux has such files.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn wait(streams: &[Stream], _deadline: Nanos) -> Result<bool, HostError> {
        let object = streams.first().map_or("no stream", |first| &first.path);
        Err(HostError::call(Call::WaitStreams, object, Errno::ENOSYS))
    }
}
