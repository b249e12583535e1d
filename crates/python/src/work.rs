//! Work that takes long: without the interpreter, on threads of its own, ended by Ctrl-C.

use crate::error::wrong;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// What work looks at, and tells.
#[derive(Debug, Default)]
pub struct Watched {
    stop: AtomicBool,
    done: AtomicUsize,
}

impl Watched {
    /// Whether it has to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How much is done.
    pub fn at(&self, done: usize) {
        self.done.fetch_max(done, Ordering::Relaxed);
    }
}

/// Does `task` without the interpreter. `progress` is called with how much is done; what it raises ends the
/// work, as a signal's handler does.
///
/// The threads end with the work: a pool that outlives it would hang in a process that is forked.
///
/// # Errors
/// What a signal's handler or `progress` raised.
pub fn work<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    task: impl FnOnce(&Watched) -> T + Send,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .build()
        .map_err(|error| wrong(format!("expected to start threads, found {error}"), None))?;
    let watched = Watched::default();
    py.detach(|| {
        thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let worker = scope.spawn(|| {
                // Dropped at the end, also of a panic.
                let _ended = ended;
                pool.install(|| task(&watched))
            });
            let mut raised = None;
            let mut told = 0;
            while raised.is_none() && end.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let done = watched.done.load(Ordering::Relaxed);
                let looked = Python::attach(|py| {
                    py.check_signals()?;
                    match progress.filter(|_| done != told) {
                        Some(progress) => progress.call1(py, (done,)).map(drop),
                        None => Ok(()),
                    }
                });
                told = done;
                raised = looked.err();
            }
            watched.stop.store(raised.is_some(), Ordering::Relaxed);
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            raised.map_or(Ok(result), Err)
        })
    })
}
