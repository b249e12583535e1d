//! Settings of the machine that a condition may ask for: governor, frequency, limits.
//!
//! A model has them all at hand; on a real machine they are held, and restored.

use super::{Condition, ExperimentError};
use flyball_control::Request;
use flyball_units::{CpuSet, Frequency, Mismatch};

/// The largest utilisation: no upper bound.
const FULL: u32 = 1024;

/// What a condition asks of the machine's frequency control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Nothing: as the machine comes.
    AsIs,
    /// One governor on every clock domain, with these tunables.
    Governor {
        /// Its upstream name.
        name: String,
        /// Tunables by their upstream names.
        tunables: Vec<(String, i64)>,
    },
    /// One frequency, held.
    Pinned(Frequency),
}

/// Policy limits that a condition asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Lowest frequency; the hardware's where absent.
    pub min: Option<Frequency>,
    /// Highest frequency; the hardware's where absent.
    pub max: Option<Frequency>,
}

impl Condition {
    /// What it asks of the frequency control.
    ///
    /// # Errors
    /// A frequency that cannot be read; [`super::read`] has refused it before.
    pub fn control(&self) -> Result<Control, String> {
        match (&self.governor, &self.frequency) {
            (_, Some(frequency)) => {
                frequency.parse().map(Control::Pinned).map_err(|slip: Mismatch| slip.line())
            }
            (Some(name), None) => Ok(Control::Governor {
                name: name.clone(),
                tunables: self
                    .tunables
                    .iter()
                    .map(|(name, &value)| (name.clone(), value))
                    .collect(),
            }),
            (None, None) => Ok(Control::AsIs),
        }
    }

    /// The CPUs whose clock domains get its settings; none where all do.
    pub fn domains_of(&self) -> Option<CpuSet> {
        // Reading the experiment has checked it.
        self.domains_of.as_ref().and_then(|cpus| cpus.parse().ok())
    }

    /// Bounds of the measuring thread's utilisation; none where it asks for none.
    pub fn utilization_clamp(&self) -> Option<(u32, u32)> {
        let asked = self.uclamp_min.is_some() || self.uclamp_max.is_some();
        asked.then(|| (self.uclamp_min.unwrap_or(0), self.uclamp_max.unwrap_or(FULL)))
    }

    /// The policy limits that it asks for.
    ///
    /// # Errors
    /// As [`Condition::control`].
    pub fn limits(&self) -> Result<Limits, String> {
        let read = |text: &Option<String>| {
            text.as_deref().map(str::parse).transpose().map_err(|slip: Mismatch| slip.line())
        };
        Ok(Limits { min: read(&self.min_frequency)?, max: read(&self.max_frequency)? })
    }

    /// The settings of the machine to hold while it is measured; none where it asks for none. Idle
    /// states are the trial's own matter.
    ///
    /// # Errors
    /// As [`Condition::control`].
    pub fn settings(&self) -> Result<Option<Request>, String> {
        let limits = self.limits()?;
        let frequency = match self.control()? {
            Control::Pinned(frequency) => Some(frequency),
            Control::AsIs | Control::Governor { .. } => None,
        };
        let request = Request {
            governor: self.governor.clone(),
            tunables: self.tunables.clone(),
            frequency,
            min: limits.min,
            max: limits.max,
            boost: self.boost,
            epp: self.epp.clone(),
            cpus: self.domains_of(),
            ..Request::default()
        };
        Ok(Some(request).filter(|request| !request.is_empty()))
    }
}

/// Refuses combinations that no machine could carry out.
pub(super) fn check(condition: &Condition, origin: &str) -> Result<(), ExperimentError> {
    let bad = |message: String| {
        Err(ExperimentError::bad(origin, format!("condition \"{}\": {message}", condition.label())))
    };
    let limited = condition.min_frequency.is_some() || condition.max_frequency.is_some();
    match (&condition.governor, &condition.frequency) {
        (Some(governor), Some(_)) => {
            return bad(format!(
                "expected a governor or a pinned frequency, found both (governor \"{governor}\")"
            ));
        }
        (Some(governor), None) if governor.trim().is_empty() => {
            return bad("governor: expected a name such as \"schedutil\", found none".into());
        }
        (None, _) if !condition.tunables.is_empty() => {
            return bad("tunables: expected a governor to set them on, found none".into());
        }
        (_, Some(_)) if limited => {
            return bad("expected a pinned frequency or limits, found both".into());
        }
        _ => {}
    }
    if let Some((least, most)) = condition.utilization_clamp()
        && !(least <= most && most <= FULL)
    {
        return bad(format!(
            "expected uclamp_min up to uclamp_max up to {FULL}, found {least} and {most}"
        ));
    }
    let limits = condition.limits().map_err(|error| ExperimentError::bad(origin, error))?;
    match (limits.min, limits.max) {
        (Some(Frequency::At(min)), Some(Frequency::At(max))) if min > max => bad(format!(
            "expected min_frequency up to max_frequency ({}), found {}",
            Frequency::At(max),
            Frequency::At(min)
        )),
        (Some(Frequency::Max), Some(Frequency::At(_) | Frequency::Min)) => {
            bad("expected min_frequency up to max_frequency, found \"max\"".into())
        }
        _ => Ok(()),
    }
}
