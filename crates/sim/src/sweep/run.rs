//! A sweep: every point, every phase, on all cores.

use super::axis::{Axis, Point};
use super::journal::{Finished, Header, Journal, JournalError};
use super::phases::Progress;
use crate::engine::SetupError;
use crate::record::{Outcome, Stop, manifest, simulate};
use crate::scenario::{Node, Scenario, ScenarioError, Source, from_tree, set};
use flyball_run::manifest::PlanRecord;
use flyball_run::{Run, RunState, SweepValue};
use flyball_units::Diagnostic;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A sweep that was checked.
pub struct Sweep<'a> {
    root: &'a Node,
    source: Source<'a>,
    /// The scenario without the sweep's parameters.
    pub scenario: Scenario,
    axes: Vec<Axis>,
    points: Vec<Point>,
}

/// How a sweep ended.
pub struct SweepEnd {
    /// Every finished point by number.
    pub finished: BTreeMap<usize, Finished>,
    /// Whether there are all.
    pub complete: bool,
}

/// A sweep that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A point that is not a scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A point that is not a machine.
    #[error("point {point}: {source}")]
    Setup {
        /// Its number.
        point: usize,
        /// What is wrong.
        source: SetupError,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Diagnostic for SweepError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            SweepError::Scenario(error) => Some(error),
            SweepError::Journal(error) => Some(error),
            SweepError::Setup { .. } => None,
        }
    }
}

/// A point while its phases come in.
type Growing = BTreeMap<usize, Vec<Option<Outcome>>>;

impl<'a> Sweep<'a> {
    /// Checks every point before the first is simulated.
    ///
    /// # Errors
    /// A point that is not a scenario: the error is at the parameter's value.
    pub fn new(
        root: &'a Node,
        source: Source<'a>,
        axes: Vec<Axis>,
        points: Vec<Point>,
    ) -> Result<Sweep<'a>, SweepError> {
        let scenario = from_tree(root, source)?;
        let sweep = Sweep { root, source, scenario, axes, points };
        for number in 0..sweep.points.len() {
            sweep.at(number)?;
        }
        Ok(sweep)
    }

    /// The scenario of one point.
    ///
    /// # Errors
    /// A point that is not a scenario.
    pub fn at(&self, number: usize) -> Result<Scenario, ScenarioError> {
        let mut root = self.root.clone();
        for (path, value) in self.points.get(number).into_iter().flatten() {
            set(&mut root, path, value)?;
        }
        from_tree(&root, self.source)
    }

    /// The points: a value for each parameter.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// What the journal begins with.
    pub fn header(&self) -> Header {
        Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: self.scenario.text.clone(),
            axes: self.axes.clone(),
        }
    }

    /// Simulates what the journal does not have yet. Points finish in any order; what comes of
    /// them does not depend on it.
    ///
    /// # Errors
    /// A point that is not a machine; a journal that cannot be written.
    pub fn run(
        &self,
        journal: &Path,
        stop: Stop<'_>,
        progress: Progress<'_>,
    ) -> Result<SweepEnd, SweepError> {
        let journal = Journal::open(journal, &self.header())?;
        progress(journal.finished.len());
        let open: Vec<usize> =
            (0..self.points.len()).filter(|n| !journal.finished.contains_key(n)).collect();
        let collector =
            Collector { journal: Mutex::new(journal), growing: Mutex::default(), progress };
        open.par_iter().with_max_len(1).try_for_each(|&number| -> Result<(), SweepError> {
            if stop() {
                return Ok(());
            }
            let scenario = self.at(number)?;
            (0..scenario.phases).into_par_iter().with_max_len(1).try_for_each(|phase| {
                let outcome = simulate(&scenario, phase, None, stop)
                    .map_err(|source| SweepError::Setup { point: number, source })?;
                outcome.map_or(Ok(()), |outcome| collector.add(number, &scenario, outcome))
            })
        })?;
        let journal = collector.journal.into_inner().unwrap_or_else(PoisonError::into_inner);
        journal.sync()?;
        let complete = journal.finished.len() == self.points.len();
        Ok(SweepEnd { finished: journal.finished, complete })
    }

    /// A run directory of the finished points: one point of the table per point of the sweep and
    /// phase, in their order.
    pub fn to_run(&self, end: &SweepEnd) -> Run {
        let state = if end.complete { RunState::Complete } else { RunState::Interrupted };
        let mut run = Run {
            manifest: flyball_run::Manifest {
                state,
                plan: Some(PlanRecord {
                    what: "points".to_owned(),
                    planned: self.points.len() as u64,
                    done: Some(end.finished.len() as u64),
                }),
                ..manifest("sweep", &self.scenario)
            },
            ..Run::default()
        };
        let mut row = 0;
        for (number, finished) in &end.finished {
            for (phase, values) in finished.values.iter().enumerate() {
                let parameters = self.points.get(*number).map(Vec::as_slice).unwrap_or_default();
                for (path, value) in parameters {
                    run.tables.sweep.push(parameter(row, path, value));
                }
                run.tables.sweep.push(parameter(row, "phase", &phase.to_string()));
                for (name, value) in finished.names.iter().zip(values) {
                    run.tables.sweep.push(result(row, name, *value));
                }
                row += 1;
            }
        }
        run
    }
}

/// Puts the phases of each point together and journals whole points.
struct Collector<'a> {
    journal: Mutex<Journal>,
    growing: Mutex<Growing>,
    progress: Progress<'a>,
}

impl Collector<'_> {
    fn add(&self, number: usize, scenario: &Scenario, outcome: Outcome) -> Result<(), SweepError> {
        let whole = {
            let mut growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
            let phases =
                growing.entry(number).or_insert_with(|| vec![None; scenario.phases as usize]);
            let phase = outcome.phase as usize;
            if let Some(slot) = phases.get_mut(phase) {
                *slot = Some(outcome);
            }
            let whole = phases.iter().all(Option::is_some);
            if whole { growing.remove(&number) } else { None }
        };
        let Some(phases) = whole else { return Ok(()) };
        let outcomes: Vec<Outcome> = phases.into_iter().flatten().collect();
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.add(finished(number, &outcomes))?;
        (self.progress)(journal.finished.len());
        Ok(())
    }
}

fn finished(point: usize, outcomes: &[Outcome]) -> Finished {
    let names = outcomes.first().map(|outcome| outcome.metrics.iter().map(|m| m.path()).collect());
    let values = outcomes.iter().map(|o| o.metrics.iter().map(|metric| metric.value).collect());
    Finished { point, names: names.unwrap_or_default(), values: values.collect() }
}

/// The rows of the phases of one scenario: there, point and phase are the same.
pub fn phase_rows(outcomes: &[Outcome]) -> Vec<SweepValue> {
    let mut rows = Vec::new();
    for outcome in outcomes {
        let point = u64::from(outcome.phase);
        rows.push(parameter(point, "phase", &outcome.phase.to_string()));
        rows.extend(outcome.metrics.iter().map(|m| result(point, &m.path(), m.value)));
    }
    rows
}

/// A parameter: a number where it is one, else its text.
fn parameter(point: u64, name: &str, value: &str) -> SweepValue {
    let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
    SweepValue {
        point,
        kind: "parameter".to_owned(),
        name: name.to_owned(),
        value: number,
        text: number.is_none().then(|| value.to_owned()),
    }
}

fn result(point: u64, name: &str, value: Option<f64>) -> SweepValue {
    SweepValue { point, kind: "result".to_owned(), name: name.to_owned(), value, text: None }
}
