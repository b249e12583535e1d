//! The measured loop: one trial of one workload.
//!
//! A trial runs in a thread of its own. That thread applies its settings to itself, reads them
//! back, and releases windows on a grid of absolute times; see [`run`].

mod bookkeeping;
mod error;
mod grid;
mod measured;
mod overhead;
mod plan;
mod record;
mod setup;
mod work;

pub use bookkeeping::Bookkeeper;
pub use error::TrialError;
pub use grid::Grid;
pub use overhead::overheads;
pub use plan::{Applied, Degraded, ProbeMode, TrialLabels, TrialPlan};
pub use record::WindowRecord;
pub use work::{CommandWork, NoWork, SignalWork, Work, WorkInfo};

use crate::protocol::windows::telemetry::Recorder;
use flyball_host::Host;
use flyball_probe::Chain;
use flyball_units::Nanos;
use measured::MeasuredLoop;
use setup::Settings;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stack of the measuring thread.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// Asks a running trial to end before its next window. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Raises the flag for good.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// After its last release.
    Complete,
    /// Early: by the flag, or because the program was asked to end. What was measured is kept.
    Stopped,
    /// Not begun: something could not be applied, and the plan does not allow that.
    Refused,
}

/// What became of a trial's releases: recorded + skipped are all of a complete trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialCounts {
    /// Windows that were run.
    pub recorded: u64,
    /// Releases that passed while a window overran them by a whole period.
    pub skipped: u64,
    /// Windows that were run, but whose record found the ring full: the run is invalid.
    pub dropped: u64,
}

/// The result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialOutcome {
    /// How it ended.
    pub ended: Ended,
    /// What became of its releases.
    pub counts: TrialCounts,
    /// The measuring thread's settings, read back there.
    pub applied: Applied,
}

/// Runs one trial in a thread of its own and waits for its end.
///
/// `chain` is the calibrated probe; without one nothing is probed, whatever the plan says.
/// Windows go to `recorder`; [`crate::protocol::windows::telemetry`] turns them into rows.
///
/// # Errors
/// A plan without period or deadline; a machine without clocks or threads; work that can't go on.
/// A setting that could not be applied is no error here: it is listed in
/// [`Applied::degraded`], and ends the trial as [`Ended::Refused`] unless the plan allows it.
pub fn run(
    host: &dyn Host,
    plan: &TrialPlan,
    work: &mut dyn Work,
    chain: Option<Chain>,
    recorder: &mut Recorder,
    stop: &StopFlag,
) -> Result<TrialOutcome, TrialError> {
    check(plan)?;
    in_thread(format!("trial-{}", plan.labels.trial), || {
        run_here(host, plan, work, chain, recorder, stop)
    })
}

/// What of a plan's settings this machine refuses, tried in a thread that ends at once: so that a
/// run that cannot be whole is refused before its first trial.
///
/// # Errors
/// No thread could be started.
pub fn refused(host: &dyn Host, plan: &TrialPlan) -> Result<Vec<Degraded>, TrialError> {
    in_thread("trial-settings".to_owned(), || {
        Ok(Settings::apply(host, plan).applied.degraded.clone())
    })
}

/// Runs `job` in a thread as a trial has it, and waits for its end.
fn in_thread<T: Send>(
    name: String,
    job: impl FnOnce() -> Result<T, TrialError> + Send,
) -> Result<T, TrialError> {
    let failed = |found: String| TrialError::Thread { thread: "measuring", found };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name(name)
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, job)
            .map_err(|error| failed(error.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(failed("a panic".to_owned())))
    })
}

/// Runs one trial in the calling thread.
fn run_here(
    host: &dyn Host,
    plan: &TrialPlan,
    work: &mut dyn Work,
    chain: Option<Chain>,
    recorder: &mut Recorder,
    stop: &StopFlag,
) -> Result<TrialOutcome, TrialError> {
    let mut settings = Settings::apply(host, plan);
    let bookkeeper = Bookkeeper::open(host, plan.count_cycles);
    settings.applied.counts_cycles = bookkeeper.counts_cycles();
    if !settings.applied.degraded.is_empty() && !plan.allow_degraded {
        let applied = settings.applied.clone();
        return Ok(TrialOutcome { ended: Ended::Refused, counts: TrialCounts::default(), applied });
    }
    let measured = MeasuredLoop { host, plan, chain, work, bookkeeper, recorder, stop }.run();
    let applied = settings.end()?;
    let (ended, counts) = measured?;
    Ok(TrialOutcome { ended, counts, applied })
}

fn check(plan: &TrialPlan) -> Result<(), TrialError> {
    // Back to back there is neither.
    if (plan.period == Nanos::ZERO) == (plan.deadline == Nanos::ZERO) {
        return Ok(());
    }
    Err(TrialError::Plan {
        trial: plan.labels.trial,
        expected: "a period and a deadline above zero, or neither",
        found: format!("{} ns and {} ns", plan.period.0, plan.deadline.0),
    })
}
