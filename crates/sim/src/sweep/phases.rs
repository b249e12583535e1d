//! The phases of one scenario, on all cores.

use crate::engine::SetupError;
use crate::record::{Outcome, Stop, simulate};
use crate::scenario::Scenario;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Told how many are done.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// Simulates every phase; None where it was stopped. The order of the outcomes is that of the
/// phases, however the work was spread.
///
/// # Errors
/// A setup that contradicts itself.
pub fn run_phases(
    scenario: &Scenario,
    stop: Stop<'_>,
    progress: Progress<'_>,
) -> Result<Option<Vec<Outcome>>, SetupError> {
    let done = AtomicUsize::new(0);
    (0..scenario.phases)
        .into_par_iter()
        .with_max_len(1)
        .map(|phase| {
            let outcome = simulate(scenario, phase, None, stop);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            outcome
        })
        .collect()
}
