//! What a bench tells while it runs.

use flyball_units::Nanos;

/// Somebody who watches a bench. All methods do nothing by default.
pub trait Progress {
    /// The plan is made: how many trials, how long all of them take, and their order in words.
    fn planned(&mut self, _trials: usize, _total: Nanos, _order: &str) {}
    /// A trial begins.
    fn trial(&mut self, _done: usize, _workload: &str, _condition: &str) {}
    /// Something the user should know now.
    fn note(&mut self, _text: &str) {}
    /// The measuring is over; the run is being closed.
    fn closing(&mut self) {}
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
