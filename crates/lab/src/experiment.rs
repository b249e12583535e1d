//! Experiments: a TOML file that says what is measured under which conditions.
//!
//! [`read`] turns text into a checked [`Experiment`]; every error names the place, what was
//! expected and what was found. [`quick`] is what `flyball bench` runs without a file.

mod builtin;
mod checked;
mod condition;
mod error;
mod fit;
mod model;
mod program;
#[cfg(feature = "schema")]
mod schema;

pub use builtin::{BUILT_IN, BuiltIn, named, quick, template};
pub use condition::{Class, Condition, Placement};
pub use error::ExperimentError;
pub(crate) use fit::fit_loads;
pub use model::{Experiment, Input, ProbeTiming, Workload};
pub use program::{PILOTS, of_program};
#[cfg(feature = "schema")]
pub use schema::json_schema;

use flyball_host::Scheduling;
use flyball_run::Manifest;
use flyball_run::name::{NAME_BYTES, check_name};
use flyball_units::Duration;
use std::collections::HashSet;

/// Most trials of an experiment: a day of half a second each.
const MAX_TRIALS: u64 = 200_000;

/// Windows in one trial above which a typing error is more likely than a wish (11 days at 1 ms).
const MAX_WINDOWS: u64 = 1_000_000_000;

/// The margin that the experiment of a run stated; none where it has no experiment.
#[must_use]
pub fn margin_of(run: &Manifest) -> Option<f64> {
    Some(read(run.experiment.as_deref()?, "run.toml").ok()?.margin)
}

/// Reads an experiment from TOML. `origin` is the file's name for error messages.
pub fn read(text: &str, origin: &str) -> Result<Experiment, ExperimentError> {
    let experiment: Experiment =
        toml::from_str(text).map_err(|error| ExperimentError::from_toml(origin, text, &error))?;
    check(&experiment, origin)?;
    Ok(experiment)
}

/// Checks what no single field can say about itself.
pub fn check(experiment: &Experiment, origin: &str) -> Result<(), ExperimentError> {
    let bad = |message: String| Err(ExperimentError::bad(origin, message));
    if experiment.workloads.is_empty() {
        return Err(ExperimentError::bad(origin, "expected at least one [[workload]], found none")
            .with_hint("add:\n  [[workload]]\n  kernel = \"car\""));
    }
    if experiment.conditions.is_empty() {
        return Err(ExperimentError::bad(
            origin,
            "expected at least one [[condition]], found none",
        )
        .with_hint("add:\n  [[condition]]\n  load = \"idle\""));
    }
    if experiment.repeats == 0 {
        return bad("repeats: expected at least 1, found 0".into());
    }
    // Every trial stands in the plan and in the manifest: their number is bounded before they are
    // laid out.
    let cells = (experiment.workloads.len() * experiment.conditions.len()) as u64;
    let trials = cells.saturating_mul(u64::from(experiment.repeats));
    if trials > MAX_TRIALS {
        return Err(ExperimentError::bad(
            origin,
            format!(
                "repeats: expected at most {MAX_TRIALS} trials in all, found {trials} ({} repeats of \
                 {cells} cells)",
                experiment.repeats
            ),
        )
        .with_hint("intervals rest on repeats and hardly gain beyond some dozens of them"));
    }
    if !(experiment.margin > 0.0 && experiment.margin < 1.0) {
        return bad(format!(
            "margin: expected a fraction above 0 and below 1 (0.03 is 3 %), found {}",
            experiment.margin
        ));
    }
    check_times(experiment, origin)?;
    check_input(experiment, origin)?;
    for (index, workload) in experiment.workloads.iter().enumerate() {
        check_workload(workload, index + 1, origin)?;
    }
    unique(origin, "workload", experiment.workloads.iter().map(Workload::label))?;
    unique(origin, "condition", experiment.conditions.iter().map(Condition::label))?;
    check_deadline_class(experiment, origin)?;
    experiment.conditions.iter().try_for_each(|condition| condition::check(condition, origin))
}

/// A deadline thread may not start programs: the kernel forbids it to fork.
fn check_deadline_class(experiment: &Experiment, origin: &str) -> Result<(), ExperimentError> {
    let is_deadline = |c: &&Condition| matches!(c.scheduling.0, Scheduling::Deadline { .. });
    let deadline = experiment.conditions.iter().find(is_deadline);
    let program = experiment.workloads.iter().find(|workload| workload.command.is_some());
    match (deadline, program) {
        (Some(condition), Some(workload)) => Err(ExperimentError::bad(
            origin,
            format!(
                "condition \"{}\": expected a class under which a thread may start programs, \
                 found deadline, and workload \"{}\" is a program",
                condition.label(),
                workload.label()
            ),
        )
        .with_hint("use scheduling = \"fifo:80\" for programs")),
        _ => Ok(()),
    }
}

fn check_times(experiment: &Experiment, origin: &str) -> Result<(), ExperimentError> {
    let bad = |message: String| Err(ExperimentError::bad(origin, message));
    if experiment.within.is_some() && experiment.runs.is_none() {
        return bad("within: expected runs beside it, found none".into());
    }
    if experiment.runs.is_some() {
        let kernel = experiment.workloads.iter().find(|workload| workload.command.is_none());
        return match kernel {
            Some(workload) => bad(format!(
                "runs: expected programs only, found workload \"{}\"",
                workload.label()
            )),
            None => Ok(()),
        };
    }
    let period = experiment.period.nanos();
    if period < 50_000 {
        return bad(format!("period: expected at least 50us, found {}", experiment.period));
    }
    if experiment.duration < experiment.period {
        return bad(format!(
            "duration: expected at least one period ({}), found {}",
            experiment.period, experiment.duration
        ));
    }
    if experiment.duration.nanos() / period > MAX_WINDOWS {
        return bad(format!(
            "duration: expected at most {MAX_WINDOWS} windows per trial, found {}",
            experiment.duration.nanos() / period
        ));
    }
    match experiment.deadline {
        Some(deadline) if deadline.nanos() == 0 => bad("deadline: expected more than 0".into()),
        _ => Ok(()),
    }
}

fn check_input(experiment: &Experiment, origin: &str) -> Result<(), ExperimentError> {
    let input = &experiment.input;
    let bad = |message: String| Err(ExperimentError::bad(origin, message));
    if !(0.0..=1e6).contains(&input.dropouts_per_minute) {
        return bad(format!(
            "input.dropouts_per_minute: expected 0 to 1000000, found {}",
            input.dropouts_per_minute
        ));
    }
    if input.file.is_some() && input.dropouts_per_minute > 0.0 {
        return Err(ExperimentError::bad(
            origin,
            "input.dropouts_per_minute: expected a synthetic input, found a file",
        )
        .with_hint("drop-outs are made up only in made-up signals; remove one of the two keys"));
    }
    if input.channels == Some(0) {
        return bad("input.channels: expected at least 1, found 0".into());
    }
    if input.rate_hz.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
        return bad("input.rate_hz: expected a positive number of samples per second".into());
    }
    Ok(())
}

fn check_workload(workload: &Workload, number: usize, origin: &str) -> Result<(), ExperimentError> {
    let bad = |message: String| Err(ExperimentError::bad(origin, message));
    match (&workload.kernel, &workload.command) {
        (None, None) => {
            let names: Vec<&str> = checked::kernel_names().collect();
            Err(ExperimentError::bad(
                origin,
                format!("workload {number}: expected a kernel or a command, found neither"),
            )
            .with_hint(format!("kernels: {}", names.join(", "))))
        }
        (Some(_), Some(_)) => {
            bad(format!("workload {number}: expected a kernel or a command, found both"))
        }
        (None, Some(command)) if command.first().is_none_or(String::is_empty) => {
            bad(format!("workload {number}: expected a program in command, found none"))
        }
        _ => Ok(()),
    }
}

fn unique(
    origin: &str,
    what: &str,
    labels: impl Iterator<Item = String>,
) -> Result<(), ExperimentError> {
    let mut seen = HashSet::new();
    for label in labels {
        if let Err(found) = check_name(&label) {
            let text = format!(
                "{what}: expected a name of one line and at most {NAME_BYTES} bytes, found {found}"
            );
            return Err(ExperimentError::bad(origin, text));
        }
        if !seen.insert(label.clone()) {
            return Err(ExperimentError::bad(
                origin,
                format!("{what} \"{label}\": expected names that differ, found this one twice"),
            )
            .with_hint(format!("give each {what} a name of its own: name = \"...\"")));
        }
    }
    Ok(())
}

impl Workload {
    /// Its name in the report.
    pub fn label(&self) -> String {
        let own = self.name.clone().or_else(|| self.kernel.clone());
        own.or_else(|| {
            let program = self.command.as_ref()?.first()?;
            Some(program.rsplit('/').next().unwrap_or(program).to_owned())
        })
        .unwrap_or_else(|| "workload".into())
    }
}

impl Experiment {
    /// The relative deadline: as given, or the period.
    pub fn deadline(&self) -> Duration {
        self.deadline.unwrap_or(self.period)
    }

    /// Measured windows per trial.
    pub fn windows(&self) -> u64 {
        if let Some(runs) = self.runs {
            return u64::from(runs.get());
        }
        self.duration.nanos() / self.period.nanos().max(1)
    }

    /// Warm-up windows per trial.
    pub fn warmup_windows(&self) -> u64 {
        if self.runs.is_some() {
            return 0;
        }
        self.warmup.nanos().div_ceil(self.period.nanos().max(1))
    }
}

#[cfg(test)]
mod tests;
