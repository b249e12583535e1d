//! By what a ramp is given, once it is in force.

use crate::floors::Floors;
use crate::kernel::KernelRamp;
use crate::{By, QosError, Wish};
use flyball_host::Host;
use std::sync::Arc;

/// Every [`By`], started.
#[derive(Debug)]
pub(crate) enum Means {
    /// Each thread's own.
    Clamps,
    /// The kernel follows the ramps by itself.
    Inside(KernelRamp),
    /// Those of the CPUs on which threads run.
    Limits(Box<Floors>),
}

impl Means {
    /// Starts what is wished, with no thread in it.
    ///
    /// # Errors
    /// What this machine cannot do; no permission; somebody else who does it.
    pub fn start(host: &Arc<dyn Host>, wish: &Wish) -> Result<Means, QosError> {
        Ok(match wish.by {
            By::Clamps => Means::Clamps,
            By::SchedExt => Means::Inside(KernelRamp::start(host.as_ref())?),
            // For nothing but slices and nice values no limit is held.
            By::Limits if !wish.has_ramps() => Means::Clamps,
            By::Limits => Means::Limits(Box::new(Floors::start(host)?)),
        })
    }

    pub fn inside(&self) -> Option<&KernelRamp> {
        match self {
            Means::Inside(kernel) => Some(kernel),
            Means::Clamps | Means::Limits(_) => None,
        }
    }

    pub fn inside_mut(&mut self) -> Option<&mut KernelRamp> {
        match self {
            Means::Inside(kernel) => Some(kernel),
            Means::Clamps | Means::Limits(_) => None,
        }
    }
}
