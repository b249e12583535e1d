//! Rows reach the disk while the run goes on: a thread of its own syncs what was written, so that
//! nobody who writes waits for the disk.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::disk::{Disk, DiskFile};
use crate::error::{Error, Result};

/// Time between two syncs: with [`super::FLUSH_NS`] before, and the sync itself behind, no row waits
/// longer than [`super::KEPT_NS`] on a disk that syncs in 0.3 s.
const EVERY: Duration = Duration::from_millis(500);

/// Makes the files of one directory last, each within [`super::KEPT_NS`] after it was written.
#[derive(Debug)]
pub struct Syncer {
    shared: Arc<Shared>,
    /// Whether a thread syncs from time to time.
    threaded: bool,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    state: Mutex<State>,
    ending: Condvar,
    /// Held while a sync goes on: who asks for one meanwhile waits for it, for it may be of the same rows.
    syncing: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    files: Vec<File>,
    /// Whether a name is new in the directory.
    named: bool,
    error: Option<Error>,
    ended: bool,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    written: bool,
}

impl Syncer {
    /// Of files in `dir`; `threaded` where a thread syncs from time to time, not the caller alone.
    pub fn new(disk: Arc<dyn Disk>, dir: &Path, threaded: bool) -> Syncer {
        let (state, ending) = (Mutex::default(), Condvar::new());
        let (dir, syncing) = (dir.to_owned(), Mutex::default());
        let shared = Arc::new(Shared { disk, dir, state, ending, syncing });
        Syncer { shared, threaded, thread: None }
    }

    /// Takes a new file; its number. The thread begins with the first, and has the priority and the
    /// CPUs of the thread that calls.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub fn add(&mut self, path: &Path, file: Arc<dyn DiskFile>) -> Result<usize> {
        if self.threaded && self.thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let spawned =
                std::thread::Builder::new().name("sync".to_owned()).spawn(move || shared.run());
            let failed = |error| Error::io(path, "to start the thread that syncs", &error);
            self.thread = Some(spawned.map_err(failed)?);
        }
        let mut state = self.shared.lock();
        state.named = true;
        state.files.push(File { path: path.to_owned(), file, written: false });
        Ok(state.files.len() - 1)
    }

    /// Something was written to the file of this number.
    ///
    /// # Errors
    /// That of an earlier sync.
    pub fn written(&self, number: usize) -> Result<()> {
        let mut state = self.shared.lock();
        if let Some(file) = state.files.get_mut(number) {
            file.written = true;
        }
        state.error.take().map_or(Ok(()), Err)
    }

    /// Syncs now, in this thread.
    ///
    /// # Errors
    /// A failing disk, now or in an earlier sync.
    pub fn sync(&self) -> Result<()> {
        self.shared.sync();
        self.shared.lock().error.take().map_or(Ok(()), Err)
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.ending.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic there was told of by the thread.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        loop {
            let waited = self.ending.wait_timeout_while(self.lock(), EVERY, |state| !state.ended);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if state.ended {
                return;
            }
            drop(state);
            self.sync();
        }
    }

    /// Data first, then names. Nobody who writes waits for the lock meanwhile. What fails is not on the disk, and is
    /// tried again by the next.
    fn sync(&self) {
        let _alone = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        let named = std::mem::take(&mut state.named);
        let mut files = Vec::new();
        for (number, file) in state.files.iter_mut().enumerate() {
            if std::mem::take(&mut file.written) {
                files.push((number, file.path.clone(), Arc::clone(&file.file)));
            }
        }
        drop(state);
        let mut failed = None;
        for (number, path, file) in files {
            if let Err(error) = file.sync() {
                failed.get_or_insert(Error::io(&path, "to sync the rows to the disk", &error));
                if let Some(file) = self.lock().files.get_mut(number) {
                    file.written = true;
                }
            }
        }
        if named && let Err(error) = self.disk.sync_dir(&self.dir) {
            failed.get_or_insert(Error::io(&self.dir, "to sync the run directory", &error));
            self.lock().named = true;
        }
        if let Some(error) = failed {
            self.lock().error.get_or_insert(error);
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the disk of the test takes its time")]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use std::io;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A file whose syncs take a while, and of which the first may fail.
    #[derive(Debug, Default)]
    struct Slow {
        begun: AtomicU32,
        ended: AtomicU32,
        fails: bool,
    }

    impl DiskFile for Slow {
        fn write(&self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn sync(&self) -> io::Result<()> {
            let first = self.begun.fetch_add(1, Ordering::SeqCst) == 0;
            std::thread::sleep(Duration::from_millis(300));
            if self.fails && first {
                return Err(io::Error::other("failed"));
            }
            self.ended.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    #[test]
    fn who_asks_while_a_sync_goes_on_waits_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = Arc::new(Slow::default());
        let mut syncer = Syncer::new(Arc::new(RealDisk), dir.path(), true);
        let number = syncer.add(dir.path(), Arc::clone(&file) as Arc<dyn DiskFile>).unwrap();
        syncer.written(number).unwrap();
        while file.begun.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        syncer.sync().unwrap();
        assert!(file.ended.load(Ordering::SeqCst) > 0, "told as synced before it was");
    }

    #[test]
    fn what_could_not_be_synced_is_synced_by_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let file = Arc::new(Slow { fails: true, ..Slow::default() });
        let mut syncer = Syncer::new(Arc::new(RealDisk), dir.path(), false);
        let number = syncer.add(dir.path(), Arc::clone(&file) as Arc<dyn DiskFile>).unwrap();
        syncer.written(number).unwrap();
        assert!(syncer.sync().is_err());
        syncer.sync().unwrap();
        assert_eq!(file.ended.load(Ordering::SeqCst), 1);
        syncer.sync().unwrap();
        assert_eq!(file.begun.load(Ordering::SeqCst), 2, "nothing new to sync");
    }
}
