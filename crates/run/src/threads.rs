//! The threads that compute.

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::sync::Once;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, available_parallelism};

/// As rayon reads it: how many threads instead of one per CPU.
const WANTED: &str = "RAYON_NUM_THREADS";

/// Starts them: one per CPU, or as many as the system gives (too little memory, too many threads), where it
/// gives none this one alone. Rayon itself tries once, and its first parallel loop panics where one of its threads
/// was refused; so it is handed threads that run already. Once they run, nothing happens.
pub fn start_threads() {
    static START: Once = Once::new();
    START.call_once(|| {
        let waiting: Vec<Sender<ThreadBuilder>> = (0..wanted()).map_while(|_| thread()).collect();
        // Refused where somebody started threads otherwise: then there is nothing to do.
        let _ = match waiting.len() {
            0 => ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global(),
            started => {
                let mut free = waiting.into_iter();
                let pool = ThreadPoolBuilder::new().num_threads(started);
                // As many as were started are asked for, and none has ended.
                let mut hand = |work| free.next().and_then(|thread| thread.send(work).ok());
                pool.spawn_handler(|work| hand(work).ok_or(std::io::ErrorKind::WouldBlock.into()))
                    .build_global()
            }
        };
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "rayon would read it itself, and it changes no result"
)]
fn wanted() -> usize {
    let asked = std::env::var(WANTED).ok().and_then(|text| text.parse().ok());
    let cpus = || available_parallelism().map_or(1, NonZeroUsize::get);
    asked.filter(|count| *count > 0).unwrap_or_else(cpus)
}

/// A thread that waits for what it is to do; none where the system gives none.
fn thread() -> Option<Sender<ThreadBuilder>> {
    let (work, asked) = channel::<ThreadBuilder>();
    let wait = move || asked.recv().map_or((), ThreadBuilder::run);
    Builder::new().spawn(wait).is_ok().then_some(work)
}
