//! What is replayed: whatever holds work.

use crate::error::ReplayError;
use crate::place::{Load, Placing};
use crate::subject::Subject;
use crate::work::Work;
use crate::{activity, events};
use flyball_events::Reading;
use flyball_platform::{Kernel, Platform};
use flyball_run::disk::{DESCRIPTION_BYTES, read_text};
use flyball_sim::scenario::{Scenario, ScenarioError, Source, read};
use flyball_sim::workload::rt_app;
use flyball_units::{Diagnostic, Nanos};
use std::path::Path;

/// How much of a program without an end is replayed.
const ENDLESS: Nanos = Nanos::from_secs(10);

/// Longest recording: a month. A gap of years in it is a wrong clock.
const LONGEST: Nanos = Nanos::from_secs(31 * 86_400);

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A file that cannot be read.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// A recording, or another tool's file.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
    /// A scenario, or an rt-app program.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Nothing to replay in it.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl Diagnostic for SourceError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        Some(match self {
            SourceError::File(error) => error,
            SourceError::Run(error) => error,
            SourceError::Scenario(error) => error,
            SourceError::Replay(error) => error,
        })
    }
}

/// A recording that was read.
pub enum Opened {
    /// Work to be put onto a machine.
    Work(Work),
    /// A scenario, with its machine.
    Scenario(Box<Scenario>),
}

impl Opened {
    /// Reads a run directory, another tool's file, a trace, an rt-app program (which runs on
    /// `platform`) or a scenario.
    ///
    /// # Errors
    /// None of these, or one without work in it.
    pub fn open(path: &Path, platform: &str) -> Result<Opened, SourceError> {
        if path.is_file() {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("toml") => return scenario(&read_text(path, DESCRIPTION_BYTES)?, path),
                Some("json") => {
                    let text = read_text(path, DESCRIPTION_BYTES)?;
                    return scenario(&around_rt_app(text, path, platform)?, path);
                }
                _ => {}
            }
        }
        let run = Reading::default().open(path)?;
        // Of a recorded load, else of its scheduler events.
        let mut work = match run.tables.activity.is_empty() {
            false => activity::work(&run)?,
            true => events::work(&run)?,
        };
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            work.name = name.to_string_lossy().into_owned();
        }
        Opened::of(work)
    }

    /// Work of a length that can be replayed.
    fn of(work: Work) -> Result<Opened, SourceError> {
        if work.duration > LONGEST {
            let found = format!("{:.0} s", work.duration.as_secs_f64());
            let error = ReplayError::bad_input(&work.name, "a recording of at most 31 days", found);
            return Err(error
                .hint("look for a jump of its clock, and cut the recording there")
                .into());
        }
        Ok(Opened::Work(work))
    }

    /// On its machine; a scenario has its own.
    ///
    /// # Errors
    /// A platform that is too small.
    pub fn subject(
        &self,
        machine: &(Platform, Kernel),
        placing: &Placing,
    ) -> Result<Subject, ReplayError> {
        let work = match self {
            Opened::Scenario(scenario) => return Ok(Subject::Scenario(scenario.clone())),
            Opened::Work(work) => work,
        };
        let (platform, kernel) = machine.clone();
        let load = Load::new(work, &platform, placing)?;
        Ok(Subject::Recorded { load, platform: Box::new(platform), kernel: Box::new(kernel) })
    }

    /// What a search sees, and what is held out: the last third of a recording, or another seed of a
    /// scenario.
    ///
    /// # Errors
    /// As [`Opened::subject`].
    pub fn parts(
        &self,
        machine: &(Platform, Kernel),
        placing: &Placing,
    ) -> Result<(Subject, Option<Subject>), ReplayError> {
        match self {
            Opened::Work(work) => {
                let cut = Nanos(work.duration.0 / 3 * 2);
                let first = Opened::Work(work.between(Nanos::ZERO, cut));
                let last = work.between(cut, work.duration);
                let held_out = match last.items() {
                    0 => None,
                    _ => Some(Opened::Work(last).subject(machine, placing)?),
                };
                Ok((first.subject(machine, placing)?, held_out))
            }
            Opened::Scenario(scenario) => {
                let mut other = scenario.clone();
                other.seed = other.seed.wrapping_add(1);
                Ok((Subject::Scenario(scenario.clone()), Some(Subject::Scenario(other))))
            }
        }
    }
}

/// An rt-app program as a scenario of its own, which lasts as long as the program says.
fn around_rt_app(text: String, path: &Path, platform: &str) -> Result<String, SourceError> {
    let program = rt_app::parse(&text, &path.display().to_string())?;
    let duration = program.duration.unwrap_or(ENDLESS).0;
    // A JSON string is a TOML string.
    let (json, name) = (serde_json::Value::from(text), serde_json::Value::from(platform));
    Ok(format!(
        "platform = {name}\nduration = \"{duration}ns\"\n[[task]]\nkind = \"rt-app\"\njson = {json}\n"
    ))
}

fn scenario(text: &str, path: &Path) -> Result<Opened, SourceError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let open = |name: &str| {
        read_text(&folder.join(name), DESCRIPTION_BYTES).map_err(|error| error.to_string())
    };
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let origin = path.display().to_string();
    let name = name.unwrap_or_else(|| origin.clone());
    let source = Source { origin: &origin, name: &name, open: &open };
    Ok(Opened::Scenario(Box::new(read(text, source)?)))
}
