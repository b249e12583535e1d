//! Files in memory.

use flyball_run::disk::{Disk, DiskFile};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files by path. There is room as long as there is memory, and nothing to sync.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<BTreeMap<PathBuf, Arc<File>>>>);

#[derive(Debug, Default)]
struct File(Mutex<Vec<u8>>);

impl Memory {
    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<File>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Name, length and CRC-32 of each file, by name.
    pub fn sums(&self) -> Vec<(String, usize, u32)> {
        let sum = |(path, file): (&PathBuf, &Arc<File>)| {
            let bytes = file.0.lock().unwrap_or_else(PoisonError::into_inner);
            (path.display().to_string(), bytes.len(), crc32fast::hash(&bytes))
        };
        self.files().iter().map(sum).collect()
    }
}

impl Disk for Memory {
    fn create_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::<File>::clone(self.files().entry(path.to_owned()).or_default()))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = Arc::<File>::default();
        self.files().insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.files();
        let file = files.remove(from).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files().remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for File {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
