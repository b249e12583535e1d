//! One condition in one block: the load runs from before its first trial to after its last, and
//! proves itself.

use crate::protocol::windows::telemetry::RowSender;
use flyball_host::{Host, Wake};
use flyball_load::{Load, LoadError, LoadProof, Profile, Site, Tolerance};
use flyball_run::Note;
use flyball_units::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

/// Time for a load to reach its level, and for a governor to answer it, before the first trial.
const SETTLE: Nanos = Nanos::from_millis(100);

/// A load cannot be judged in less than this.
const LEAST: Nanos = Nanos::from_millis(700);

/// How often the load is sampled.
const EVERY: Nanos = Nanos::from_secs(1);

/// Runs `trials` under `profile`. The load is started and sampled by a thread of its own, so that
/// the samples go on while trials run and a generator's child processes have a parent that lives.
pub(super) fn under_load<T>(
    host: &Arc<dyn Host>,
    profile: &Profile,
    site: &Site,
    seed: u64,
    rows: &RowSender,
    condition: &str,
    trials: impl FnOnce() -> T,
) -> Ran<T> {
    if profile.is_idle() {
        return Ran { trials: Some(trials()), load: Ok(None) };
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (started, ready) = channel();
        let over = &over;
        let watch = move || {
            let load = Load::start(host, profile, site, seed);
            let running = load.is_ok();
            // The receiver waits for exactly this message.
            let _ = started.send(running);
            watch(host.as_ref(), load?, over, rows, condition)
        };
        let failed =
            |reason: String| LoadError::Ended { thread: 0, cpus: site.usable.clone(), reason };
        let watcher = match std::thread::Builder::new().spawn_scoped(scope, watch) {
            Ok(watcher) => watcher,
            Err(error) => {
                let load = Err(failed(format!("its watcher did not start: {error}")));
                return Ran { trials: None, load };
            }
        };
        let running = ready.recv().unwrap_or(false);
        let begin = host.now();
        let ending = Ending(over);
        let trials = running.then(|| {
            let _ = host.sleep_until(begin + SETTLE);
            let result = trials();
            let _ = host.sleep_until(begin + LEAST);
            result
        });
        drop(ending);
        let load =
            watcher.join().unwrap_or_else(|_| Err(failed("its watcher panicked".to_owned())));
        Ran { trials, load: load.map(Some) }
    })
}

/// What became of a segment: its trials and its load are judged apart.
pub(super) struct Ran<T> {
    /// The trials' result; none where the load did not start.
    pub(super) trials: Option<T>,
    /// The load's proof; none where no load was asked for.
    pub(super) load: Result<Option<LoadProof>, LoadError>,
}

/// Ends the load when it is dropped: also where a trial panics, so that the watcher ends too.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Samples the load every second until `over`, then stops it.
fn watch(
    host: &dyn Host,
    mut load: Load,
    over: &AtomicBool,
    rows: &RowSender,
    condition: &str,
) -> Result<LoadProof, LoadError> {
    const STEP: Nanos = Nanos::from_millis(20);
    let mut next = host.now() + EVERY;
    let mut reported = 0;
    loop {
        let wake = host.sleep_until(host.now() + STEP)?;
        if over.load(Ordering::Relaxed) {
            break;
        }
        if wake == Wake::Interrupted {
            // The trials see the interruption too and end; sleeping would return at once.
            std::thread::yield_now();
        }
        if host.now() >= next {
            let sampled = load.sample()?;
            reported += sampled.len();
            sampled.iter().for_each(|row| rows.load(row.sample(condition, None)));
            next = next + EVERY;
        }
    }
    let proof = load.stop(Tolerance::default())?;
    for row in proof.rows.iter().skip(reported) {
        rows.load(row.sample(condition, None));
    }
    for note in &proof.notes {
        rows.note(Note {
            t_ns: Some(host.now().0),
            severity: "info".to_owned(),
            object: format!("condition {condition}"),
            message: note.clone(),
            hint: None,
        });
    }
    Ok(proof)
}
