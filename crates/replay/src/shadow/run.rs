//! From a recording to the report: looks at it once, sets governors over its domains, feeds them.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use flyball_governors::{TunableError, UnknownGovernor};
use flyball_platform::{Kernel, Platform};
use flyball_run::{Error, Run};
use flyball_units::{Diagnostic, ErrorKind, GovernorSpec, Mismatch, Nanos};
use serde::Serialize;

use super::{Governed, Report, Seen, Setup, Shadow, choice, tables};
use flyball_events::Reader;
use flyball_events::Recording;

/// Where the recording is.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The text of a trace.
    Text(&'a Path),
    /// The tables of a run.
    Run(&'a Run),
}

/// What to put beside the kernel.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The governor.
    pub choice: GovernorSpec,
    /// The hardware; as the recording shows it where absent.
    pub platform: Option<Platform>,
    /// The kernel; needed beside a platform.
    pub kernel: Option<Kernel>,
    /// How far a decision may lie from its change.
    pub tolerance: Nanos,
    /// Clamps of tasks by their names, (lower, upper): no tracepoint shows them.
    pub clamps: Vec<(String, (u32, u32))>,
}

/// A governor beside the kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The governor, with what the kernel's description adds.
    pub governor: GovernorSpec,
    /// Where the clock domains come from.
    pub origin: String,
    /// Whether utilisation is taken as frequency-invariant, per domain.
    pub frequency_invariant: Vec<bool>,
    /// One per trial of the run that has any frequency; one without a number for a trace.
    pub trials: Vec<Trial>,
    /// What is assumed, and what does not fit.
    pub notes: Vec<String>,
}

impl Answer {
    /// Whether the kernel changed frequencies and not one change was predicted: such an answer says
    /// nothing about the governor.
    pub fn predicts_nothing(&self) -> bool {
        let sum = |of: fn(&Report) -> usize| -> usize {
            self.trials.iter().map(|trial| of(&trial.report)).sum()
        };
        sum(|report| report.changes) > 0 && sum(|report| report.predicted) == 0
    }
}

/// One recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// Its number in a run of several.
    pub trial: Option<u32>,
    /// What came of it.
    pub report: Report,
}

/// Why there is no shadow.
#[derive(Debug, thiserror::Error)]
pub enum ShadowError {
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] Error),
    /// No such governor.
    #[error(transparent)]
    Governor(UnknownGovernor),
    /// No such tunable, or a value outside its range.
    #[error(transparent)]
    Tunable(TunableError),
    /// A governor or a tunable that is not written as one.
    #[error(transparent)]
    Spelling(#[from] Mismatch),
    /// The governor needs what the recording does not have.
    #[error("{governor} needs {lacks}")]
    Need {
        /// The governor.
        governor: String,
        /// What it lacks.
        lacks: String,
        /// What to do.
        hint: &'static str,
    },
    /// The platform's hardware chooses by itself.
    #[error("platform {platform}: expected clock domains that software rules, found none")]
    Hardware {
        /// The platform.
        platform: String,
    },
    /// The platform is not the machine of the recording.
    #[error("platform {platform}: expected a recording of its domains {expected}, found {found}")]
    Domains {
        /// The platform.
        platform: String,
        /// Its domains.
        expected: String,
        /// The domain that does not fit.
        found: String,
    },
    /// Neither a platform nor a frequency.
    #[error("the recording: expected changes of frequency, found no domain with two frequencies")]
    NoDomain,
}

impl Diagnostic for ShadowError {
    fn kind(&self) -> ErrorKind {
        match self {
            ShadowError::Recording(error) => error.kind(),
            ShadowError::Governor(_) | ShadowError::Tunable(_) | ShadowError::Spelling(_) => {
                ErrorKind::Usage
            }
            ShadowError::Need { .. } | ShadowError::Hardware { .. } => ErrorKind::Unsupported,
            ShadowError::Domains { .. } | ShadowError::NoDomain => ErrorKind::BadInput,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ShadowError::Recording(error) => Diagnostic::hint(error),
            ShadowError::Governor(error) => error.hint(),
            ShadowError::Tunable(_) => None,
            ShadowError::Spelling(slip) => slip.hint.clone(),
            ShadowError::Need { hint, .. } => Some((*hint).to_owned()),
            ShadowError::Hardware { .. } => {
                Some("name a platform with governors: board-aarch64, rk3399".to_owned())
            }
            ShadowError::Domains { .. } => {
                Some("name the machine that was recorded, or no platform".to_owned())
            }
            ShadowError::NoDomain => {
                Some("record cpu_frequency as well, or name the platform".to_owned())
            }
        }
    }
}

/// Sets the governor over the recording's clock domains, feeds it, and says what it would have
/// done beside what the kernel did. Where nobody says whether utilisation is frequency-invariant,
/// both are tried and the better one is told.
///
/// # Errors
/// A recording that cannot be read, a governor that it cannot feed, a platform that is not its.
pub fn shadow(source: Source<'_>, ask: &Ask) -> Result<Answer, ShadowError> {
    let numbers = match source {
        Source::Text(_) => vec![None],
        Source::Run(run) => match Recording::trials(run) {
            none if none.is_empty() => vec![None],
            some => some.into_iter().map(Some).collect(),
        },
    };
    let mut answer: Option<Answer> = None;
    let mut skipped = None;
    for number in numbers {
        let seen = match source {
            Source::Text(path) => Seen::of_text(path)?,
            Source::Run(run) => Seen::of(&Recording::new(&run.tables, &run.manifest, number)),
        };
        let (setup, report) = match of(source, number, &seen, ask) {
            Ok(found) => found,
            // One trial at a fixed frequency does not hide the others.
            Err(error @ ShadowError::NoDomain) => {
                skipped = Some(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let told = answer.get_or_insert_with(|| Answer {
            governor: setup.choice.clone(),
            origin: setup.origin.clone(),
            frequency_invariant: setup
                .domains
                .iter()
                .map(|own| own.domain.frequency_invariant)
                .collect(),
            trials: Vec::new(),
            notes: Vec::new(),
        });
        for note in setup.notes {
            if !told.notes.contains(&note) {
                told.notes.push(note);
            }
        }
        told.trials.push(Trial { trial: number, report });
    }
    answer.ok_or(skipped.unwrap_or(ShadowError::NoDomain))
}

fn of(
    source: Source<'_>,
    trial: Option<u32>,
    seen: &Seen,
    ask: &Ask,
) -> Result<(Setup, Report), ShadowError> {
    let choice = &ask.choice;
    choice::check(choice, choice::create(choice)?.as_ref(), seen.updates)?;
    let kernel = ask.kernel.as_ref();
    let mut setups = match (&ask.platform, kernel) {
        (Some(platform), Some(kernel)) => {
            vec![Setup::of_platform(choice, platform, kernel, seen)?]
        }
        _ => [true, false]
            .into_iter()
            .map(|invariant| Setup::of_seen(choice, seen, kernel, invariant))
            .collect::<Result<Vec<Setup>, _>>()?,
    };
    if !ask.clamps.is_empty() {
        for own in setups.iter_mut().flat_map(|setup| &mut setup.domains) {
            own.domain.uclamp_used = true;
        }
    }
    let mut shadows = setups.iter().map(create).collect::<Result<Vec<Shadow>, _>>()?;
    match source {
        Source::Text(path) => {
            let failed = |error: &io::Error| Error::io(path, "to read it", error);
            let outcome = Reader::open(path)?.for_each(|item| -> io::Result<()> {
                shadows.iter_mut().for_each(|shadow| shadow.item(item));
                Ok(())
            });
            outcome.map_err(|error| failed(&error))?;
        }
        Source::Run(run) => {
            if run.manifest.is_model() {
                shadows.iter_mut().for_each(Shadow::begin_idle);
            }
            let recording = Recording::new(&run.tables, &run.manifest, trial);
            let clamps = recording.tasks().filter_map(|task| {
                let found = ask.clamps.iter().find(|(name, _)| *name == task.name)?;
                Some((task.tid, found.1))
            });
            let clamps: HashMap<u32, (u32, u32)> = clamps.collect();
            shadows.iter_mut().for_each(|shadow| shadow.clamp(clamps.clone()));
            tables::feed(&run.tables, trial, &recording, |item| {
                shadows.iter_mut().for_each(|shadow| shadow.item(item));
            });
        }
    }
    let reports = shadows.into_iter().map(|shadow| shadow.finish(ask.tolerance));
    let mut reports: Vec<Report> = reports.collect();
    let tried: Vec<usize> = reports.iter().map(|report| report.predicted).collect();
    let better = |at: &usize| (reports[*at].predicted, std::cmp::Reverse(reports[*at].alone.len()));
    // Of equals the first.
    let best = (0..reports.len()).rev().max_by_key(better).unwrap_or(0);
    let (mut setup, report) = (setups.swap_remove(best), reports.swap_remove(best));
    if let [with, without] = tried.as_slice() {
        let told = if best == 0 { "frequency-invariant" } else { "not frequency-invariant" };
        setup.notes.push(format!(
            "utilisation taken as {told}: with invariance {with} changes are predicted, without {without}"
        ));
    }
    if let Source::Run(_) = source {
        setup.notes.push(
            "the tables do not hold which CPU asked for an update; the trace's text does"
                .to_owned(),
        );
    }
    Ok((setup, report))
}

fn create(setup: &Setup) -> Result<Shadow, ShadowError> {
    let governed = setup.domains.iter().map(|Governed { name, domain }| {
        Ok((name.clone(), domain.clone(), choice::create(&setup.choice)?))
    });
    Ok(Shadow::named(governed.collect::<Result<Vec<_>, ShadowError>>()?))
}
