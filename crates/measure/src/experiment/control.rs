//! Settings of the machine that a condition may ask for: governor, frequency, limits.
//!
//! A model has them all at hand. On a real machine they are refused: see [`refuse_on_host`].

use super::{Condition, ErrorKind, Experiment, ExperimentError, Frequency};

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
            (_, Some(frequency)) => Frequency::parse(frequency).map(Control::Pinned),
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

    /// The policy limits that it asks for.
    ///
    /// # Errors
    /// As [`Condition::control`].
    pub fn limits(&self) -> Result<Limits, String> {
        let read = |text: &Option<String>| text.as_deref().map(Frequency::parse).transpose();
        Ok(Limits { min: read(&self.min_frequency)?, max: read(&self.max_frequency)? })
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

/// Refuses what this version cannot do on a real machine: changing its settings needs a journal
/// that restores them whatever happens.
///
/// # Errors
/// The first setting that is asked for, as [`ErrorKind::Unsupported`].
pub fn refuse_on_host(experiment: &Experiment) -> Result<(), ExperimentError> {
    for condition in &experiment.conditions {
        let asked = [
            ("governor", condition.governor.is_some()),
            ("frequency", condition.frequency.is_some()),
            ("min_frequency", condition.min_frequency.is_some()),
            ("max_frequency", condition.max_frequency.is_some()),
            ("boost", condition.boost.is_some()),
            ("epp", condition.epp.is_some()),
        ];
        let Some((key, _)) = asked.iter().find(|(_, asked)| *asked) else { continue };
        return Err(ExperimentError {
            origin: format!("condition \"{}\"", condition.label()),
            place: None,
            message: format!(
                "`{key}` is not supported on a real machine yet: this version changes no setting \
                 of the machine, because it could not promise to restore it after a crash"
            ),
            hint: Some(
                "hold it around the run (sudo flyball hold --governor performance -- flyball bench \
                 EXPERIMENT), once per setting, and compare: flyball report RUN-A RUN-B; or run it \
                 on a model: flyball bench --machine model:NAME"
                    .into(),
            ),
            kind: ErrorKind::Unsupported,
        });
    }
    Ok(())
}
