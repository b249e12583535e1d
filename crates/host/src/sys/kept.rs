//! Small files that are kept open: one system call per reading or writing, no allocation. For loops
//! that look at the same files of sysfs and /proc again and again.

use super::unix::{FileExt, O_NOFOLLOW, OpenOptionsExt};
use crate::fault::Faults;
use crate::tree::Tree;
use crate::{Call, Effect, Errno, HostError};
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// A small file, open. Reading starts at its beginning every time, as files of sysfs and /proc make
/// their text anew; writing replaces its value in one call.
///
/// Errors are bare numbers, because an error that names its file would allocate:
/// [`KeptFile::error`] makes one of them.
#[derive(Debug)]
pub struct KeptFile {
    path: PathBuf,
    source: Source,
}

/// What a file is kept open for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

#[derive(Debug)]
enum Source {
    File(File),
    Recorded { tree: Arc<RwLock<Tree>>, may_write: bool },
    Faulty { inner: Box<KeptFile>, faults: Arc<Faults> },
}

impl KeptFile {
    /// Opens `path`; a link in its place is not followed for writing.
    pub(crate) fn open(path: &Path, access: Access) -> Result<KeptFile, HostError> {
        let write = access == Access::Write;
        let mut options = OpenOptions::new();
        options.read(true).write(write);
        if write {
            options.custom_flags(O_NOFOLLOW);
        }
        let file = options
            .open(path)
            .map_err(|error| HostError::call(Call::OpenKept, path.display(), Errno::of(&error)))?;
        Ok(KeptFile { path: path.to_owned(), source: Source::File(file) })
    }

    /// A file of a recorded machine.
    pub(crate) fn recorded(tree: &Arc<RwLock<Tree>>, path: PathBuf, may_write: bool) -> KeptFile {
        KeptFile { path, source: Source::Recorded { tree: Arc::clone(tree), may_write } }
    }

    /// `inner`, whose readings and writings fail as told.
    pub(crate) fn faulty(inner: KeptFile, faults: &Arc<Faults>) -> KeptFile {
        let path = inner.path.clone();
        KeptFile {
            path,
            source: Source::Faulty { inner: Box::new(inner), faults: Arc::clone(faults) },
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of `call` on this file.
    pub fn error(&self, call: Call, errno: Errno) -> HostError {
        HostError::call(call, self.path.display(), errno)
    }

    /// Reads from its beginning into `buffer`; gives the bytes that are there, at most the buffer's
    /// length. A longer file is cut.
    ///
    /// # Errors
    /// The system's, other than `EINTR`: `ENODEV` where what the file told of is gone, `EBUSY` where
    /// all CPUs of its policy are offline.
    pub fn read<'a>(&self, buffer: &'a mut [u8]) -> Result<&'a [u8], Errno> {
        match &self.source {
            Source::File(file) => {
                let mut length = 0;
                // Files of /proc come in pieces of a page.
                while length < buffer.len() {
                    match file.read_at(&mut buffer[length..], length as u64) {
                        Ok(0) => break,
                        Ok(more) => length += more,
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) => return Err(Errno::of(&error)),
                    }
                    // A file of sysfs is whole at once, and asking for its end makes it anew.
                    if length < PIECE {
                        break;
                    }
                }
                Ok(&buffer[..length])
            }
            Source::Recorded { tree, .. } => {
                let tree = tree.read().unwrap_or_else(PoisonError::into_inner);
                let length = tree.read_into(&self.path, buffer)?;
                Ok(&buffer[..length])
            }
            Source::Faulty { inner, faults } => {
                match faults.effect(Call::Read, &self.path.to_string_lossy()) {
                    Some(Effect::Short) => {
                        inner.read(buffer).map(|bytes| &bytes[..bytes.len() / 2])
                    }
                    Some(effect) => Err(effect.errno()),
                    None => inner.read(buffer),
                }
            }
        }
    }

    /// Writes `bytes` as the file's new value, in one call.
    ///
    /// # Errors
    /// The system's, other than `EINTR`; `EIO` where only a part was taken.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Errno> {
        match &self.source {
            Source::File(file) => loop {
                match file.write_at(bytes, 0) {
                    Ok(length) if length == bytes.len() => return Ok(()),
                    Ok(_) => return Err(Errno::EIO),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(Errno::of(&error)),
                }
            },
            Source::Recorded { may_write: false, .. } => Err(Errno::EACCES),
            Source::Recorded { tree, may_write: true } => {
                let text = std::str::from_utf8(bytes).map_err(|_| Errno::EINVAL)?;
                let mut tree = tree.write().unwrap_or_else(PoisonError::into_inner);
                tree.write(&self.path, text)
            }
            Source::Faulty { inner, faults } => {
                match faults.effect(Call::Write, &self.path.to_string_lossy()) {
                    Some(Effect::Lost) => Ok(()),
                    Some(effect) => Err(effect.errno()),
                    None => inner.write(bytes),
                }
            }
        }
    }
}

/// What sysfs never exceeds but for lists that fill a page, and what /proc gives at once.
const PIECE: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FaultyHost, Host, RealHost, RecordedHost};

    #[test]
    fn a_file_is_read_and_replaced_again_and_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("value");
        fs_err::write(&path, "1200\n").unwrap();
        let file = RealHost::new().open_kept(&path, Access::Write).unwrap();
        let mut buffer = [0; 16];
        assert_eq!(file.read(&mut buffer), Ok(&b"1200\n"[..]));
        file.write(b"3400\n").unwrap();
        assert_eq!(file.read(&mut buffer), Ok(&b"3400\n"[..]));
        assert_eq!(file.read(&mut buffer[..2]), Ok(&b"34"[..]));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let error = RealHost::new().open_kept(&link, Access::Write).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ELOOP));
        assert!(RealHost::new().open_kept(&link, Access::Read).is_ok());
    }

    #[test]
    fn a_long_file_comes_whole() {
        let host = RealHost::new();
        let file = host.open_kept(Path::new("/proc/stat"), Access::Read).unwrap();
        let mut buffer = vec![0; 1 << 20];
        let bytes = file.read(&mut buffer).unwrap();
        assert!(bytes.ends_with(b"\n") && bytes.starts_with(b"cpu "));
        assert!(bytes.windows(8).any(|word| word == b"softirq "), "to its last line");
    }

    #[test]
    fn recorded_and_faulty_files_follow_their_machines() {
        let listing = "/sys/a = 1\n/sys/b -> a";
        let recorded = || Arc::new(RecordedHost::from_listing(listing).unwrap());
        let host = recorded();
        let path = Path::new("/sys/b");
        let file = host.open_kept(path, Access::Read).unwrap();
        let mut buffer = [0; 8];
        assert_eq!(file.read(&mut buffer), Ok(&b"1\n"[..]));
        assert_eq!(file.write(b"2"), Err(Errno::EACCES));
        assert!(host.open_kept(Path::new("/sys/none"), Access::Read).is_err());
        let faulty = FaultyHost::parse(recorded(), "read:/sys/a#2=EIO,open_kept:/x=EIO").unwrap();
        assert!(faulty.open_kept(Path::new("/x"), Access::Read).is_err());
        let file = faulty.open_kept(Path::new("/sys/a"), Access::Read).unwrap();
        assert_eq!(file.read(&mut buffer), Ok(&b"1\n"[..]));
        assert_eq!(file.read(&mut buffer), Err(Errno::EIO));
        assert_eq!(file.read(&mut buffer), Ok(&b"1\n"[..]));
    }
}
