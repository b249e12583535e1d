//! The disk as the writers use it, so that what a power cut leaves can be tested at every point, and
//! the order in which a file becomes one that lasts: its data, then its name, then its folder.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fs_err as fs;

/// What a writer asks of a file system. Nothing lasts through a power cut until it is synced: the bytes
/// of a file by [`DiskFile::sync`], its name by [`Disk::sync_dir`] of its folder. Errors are those of the
/// file system.
#[allow(clippy::missing_errors_doc, reason = "they are the same for all methods")]
pub trait Disk: Debug + Send + Sync {
    /// Makes one directory.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Opens a file to append to, made where it is not there.
    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Makes a file of a name that is free, also of links: `AlreadyExists` otherwise.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Gives `from` the name `to`, in place of what had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes what was made, renamed and removed in a directory last.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// A file that is written from its start to its end. One thread writes, another may sync.
pub trait DiskFile: Debug + Send + Sync {
    /// Writes some of `bytes` at the end; how many.
    ///
    /// # Errors
    /// A full or failing disk.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Makes what was written last; returns when it does.
    ///
    /// # Errors
    /// A failing disk.
    fn sync(&self) -> io::Result<()>;
}

/// The file systems of this computer.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(RealFile(fs::OpenOptions::new().append(true).create(true).open(path)?)))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(RealFile(fs::OpenOptions::new().write(true).create_new(true).open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match fs::File::open(path)?.sync_all() {
            // Some file systems (9p, some of FUSE) can't sync a directory: there is nothing to do better.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        }
    }
}

#[derive(Debug)]
struct RealFile(fs::File);

impl DiskFile for RealFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        match self.0.sync_data() {
            // A pipe or a device has nothing that lasts.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        }
    }
}

/// Files in memory: for what goes somewhere else as a whole.
#[derive(Debug, Default)]
pub struct MemoryDisk(Mutex<BTreeMap<PathBuf, Arc<MemoryFile>>>);

#[derive(Debug, Default)]
struct MemoryFile(Mutex<Vec<u8>>);

/// What is in a lock, also where somebody who held it panicked: each change is whole.
fn inside<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryDisk {
    /// The files and what they hold, by name.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        inside(&self.0).iter().map(|(path, file)| (path.clone(), inside(&file.0).clone())).collect()
    }
}

impl Disk for MemoryDisk {
    fn create_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::clone(inside(&self.0).entry(path.to_owned()).or_default()) as Arc<dyn DiskFile>)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        if inside(&self.0).contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.append(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = inside(&self.0);
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        inside(&self.0).remove(path).map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for MemoryFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        inside(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is read at any place, by several at a time.
pub trait ReadAt {
    /// Fills some of `buffer` from the place `offset` on; how many bytes.
    ///
    /// # Errors
    /// A failing disk; a system that cannot do that.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Fills `buffer` whole.
    ///
    /// # Errors
    /// As [`ReadAt::read_at`]; a file that ends before.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read_at(rest, offset.saturating_add(filled as u64)) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReadAt for fs::File {
    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self.file(), buffer, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, _buffer: &mut [u8], _offset: u64) -> io::Result<usize> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// A file as `std::io` writes it.
#[derive(Clone, Debug)]
pub struct Writing(pub Arc<dyn DiskFile>);

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes a directory and those above it that are missing; each lasts.
///
/// # Errors
/// One that cannot be made.
pub fn create_dir_all(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    // The folder that a relative path begins in is there, also where no file system can say so.
    if path.as_os_str().is_empty() || path == Path::new(".") || path.is_dir() {
        return Ok(());
    }
    let above = folder(path);
    create_dir_all(disk, above)?;
    match disk.create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {
            return Ok(());
        }
        made => made?,
    }
    disk.sync_dir(above)
}

/// Writes a file so that it is there as a whole, or is what it was before: beside it, synced, renamed,
/// its folder synced.
///
/// # Errors
/// A full or failing disk; what had the name before then stays.
pub fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    swap_in(disk, path, |file| {
        let mut file = Writing(Arc::clone(file));
        file.write_all(bytes)
    })
}

/// [`replace`] on this computer: for pages, figures and whatever else somebody will open by its name.
/// What is no plain file (a pipe, `/dev/stdout`) is written as it is.
///
/// # Errors
/// As [`replace`].
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => fs::write(path, bytes),
        // A link stays one: the file that it leads to is replaced.
        Ok(_) => replace(&RealDisk, &fs::canonicalize(path)?, bytes),
        Err(_) => replace(&RealDisk, path, bytes),
    }
}

/// Most bytes of a description: an experiment, a scenario, a manifest.
pub const DESCRIPTION_BYTES: u64 = 64 << 20;

/// Most bytes of a file that is held in memory as text.
pub const TEXT_BYTES: u64 = 512 << 20;

/// The whole text of a file of at most so many bytes. What has no end (`/dev/zero`) is refused as soon as
/// it has more.
///
/// # Errors
/// A file that cannot be read, holds more, or other bytes than UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    let refused = |kind, why: String| io::Error::new(kind, format!("{}: {why}", path.display()));
    if bytes.len() as u64 > most {
        let found = format!("expected at most {} MiB, found more", most >> 20);
        return Err(refused(io::ErrorKind::FileTooLarge, found));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let found = format!("expected text, found bytes that are no UTF-8 at offset {at}");
        refused(io::ErrorKind::InvalidData, found)
    })
}

/// Lets `fill` write a file, and gives it its name when it is whole and on the disk.
pub(crate) fn swap_in<E: From<io::Error>>(
    disk: &dyn Disk,
    path: &Path,
    fill: impl FnOnce(&Arc<dyn DiskFile>) -> Result<(), E>,
) -> Result<(), E> {
    let (beside, file) = begin_beside(disk, path)?;
    let outcome = fill(&file).and_then(|()| {
        file.sync()?;
        Ok(disk.rename(&beside, path)?)
    });
    if outcome.is_err() {
        // Half a file is useless, and its space may be what is missing.
        let _ = disk.remove(&beside);
    }
    outcome?;
    Ok(disk.sync_dir(folder(path))?)
}

/// A new file beside `path`, for what is not whole yet. Nobody else writes to it, also who replaces the same
/// file at the same time, and a link that somebody has put there leads nowhere.
fn begin_beside(disk: &dyn Disk, path: &Path) -> io::Result<(PathBuf, Arc<dyn DiskFile>)> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    // WebAssembly has no processes, and asking for the number of one panics.
    let process = if cfg!(target_family = "wasm") { 0 } else { std::process::id() };
    loop {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{process}-{number}.tmp"));
        let beside = path.with_file_name(name);
        match disk.create(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (beside, file)),
        }
    }
}

/// The folder of a path, `.` where it names none.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
