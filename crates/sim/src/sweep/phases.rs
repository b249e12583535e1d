//! The phases of one scenario, on all cores.

use crate::engine::SetupError;
use crate::record::{Outcome, Stop, simulate};
use crate::scenario::Scenario;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Told how many are done.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// Simulates these phases; without those that were stopped. The order of the outcomes is that of the
/// phases, however the work was spread.
///
/// # Errors
/// A setup that contradicts itself.
pub fn run_phases(
    scenario: &Scenario,
    phases: Range<u32>,
    stop: Stop<'_>,
    progress: Progress<'_>,
) -> Result<Vec<Outcome>, SetupError> {
    let done = AtomicUsize::new(phases.start as usize);
    let outcomes: Result<Vec<Option<Outcome>>, SetupError> = phases
        .into_par_iter()
        .with_max_len(1)
        .map(|phase| {
            let outcome = simulate(scenario, phase, None, stop);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            outcome
        })
        .collect();
    Ok(outcomes?.into_iter().flatten().collect())
}
