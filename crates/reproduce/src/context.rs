//! What evaluators share: the catalogue, the recordings, and simulations that several numbers need.

use crate::catalogue::Catalogue;
use crate::data::Recordings;
use crate::model::load::{self, Loads};
use crate::model::mixture;
use crate::quantity::Undecided;
use crate::ramp::Scenarios;
use flyball_lab::ShareSweep;
use std::sync::OnceLock;

/// Everything an evaluator may look at.
pub(crate) struct Context<'a> {
    pub catalogue: &'a Catalogue,
    pub recordings: Recordings,
    pub ramps: Scenarios,
    mixture: OnceLock<Result<ShareSweep, Undecided>>,
    loads: OnceLock<Result<Loads, Undecided>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue, recordings: Recordings) -> Context<'a> {
        Context {
            catalogue,
            recordings,
            ramps: Scenarios::default(),
            mixture: OnceLock::new(),
            loads: OnceLock::new(),
        }
    }

    /// CORTEX's governor validation on the M1 model, over all mixtures of cores.
    pub(crate) fn mixture(&self) -> Result<&ShareSweep, Undecided> {
        self.mixture.get_or_init(mixture::sweep).as_ref().map_err(Clone::clone)
    }

    /// CORTEX's background-load text on the M1 model under macOS.
    pub(crate) fn loads(&self) -> Result<&Loads, Undecided> {
        self.loads.get_or_init(load::simulate).as_ref().map_err(Clone::clone)
    }
}
