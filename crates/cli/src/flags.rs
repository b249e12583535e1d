//! Values of flags.

use crate::args::{BlockArgs, QuietArgs};
use crate::failure::Failure;
use flyball_capture::trace::Group;
use flyball_console::Bar;
use flyball_lab::experiment::Experiment;
use flyball_lab::session::Progress;
use flyball_units::{Duration, Mismatch, Nanos, Share};

/// A duration on the command line.
pub fn time(flag: &str, text: &str) -> Result<Duration, Failure> {
    text.parse().map_err(|slip: Mismatch| slip.at(flag).into())
}

/// `--duration`, where it is given: more than nothing.
pub fn duration(text: Option<&str>) -> Result<Option<Nanos>, Failure> {
    let Some(text) = text else { return Ok(None) };
    match time("--duration", text)?.0 {
        Nanos::ZERO => {
            Err(Failure::usage(format!("--duration: expected a time above 0, found {text}")))
        }
        duration => Ok(Some(duration)),
    }
}

/// The groups of events that `--trace[=GROUPS]` names; none where it names none.
pub fn groups(text: &str) -> Result<Option<Vec<Group>>, Failure> {
    let usage = |error: String| Failure::usage(format!("--trace: expected {error}"));
    match text.trim() {
        "" => Ok(None),
        names => Group::parse_list(names).map(Some).map_err(usage),
    }
}

impl BlockArgs {
    /// What differs by less is equal.
    pub fn margin(&self) -> Result<f64, Failure> {
        let Share(margin) = self.margin.parse().map_err(|slip: Mismatch| slip.at("--margin"))?;
        Ok(margin)
    }

    /// Writes into the experiment what was asked for.
    pub fn apply(&self, experiment: &mut Experiment) -> Result<(), Failure> {
        (experiment.seed, experiment.margin) = (self.seed, self.margin()?);
        self.quiet.apply(experiment)
    }
}

impl QuietArgs {
    /// Writes into the experiment what was asked for; what was not stays as it is.
    pub fn apply(&self, experiment: &mut Experiment) -> Result<(), Failure> {
        if let Some(blocks) = self.retry {
            experiment.retry = blocks;
        }
        if let Some(text) = &self.wait_quiet {
            experiment.wait_quiet = Some(time("--wait-quiet", text)?);
        }
        Ok(())
    }

    /// Says how to wait for others, where they are many and nobody waits for them.
    pub fn advise(&self, others: Option<String>, bar: &mut Bar) {
        if let (None, Some(others)) = (&self.wait_quiet, others) {
            bar.note(&format!("{others}; --wait-quiet waits until they are done"));
        }
    }
}
