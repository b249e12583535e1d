//! A sweep: every point, every phase, on all cores.

use super::axis::{Axis, AxisError, Point, points};
use super::journal::{Finished, Header, Journal, JournalError};
use super::phases::Progress;
use super::shard::Shard;
use crate::engine::SetupError;
use crate::record::{Outcome, Stop, manifest, simulate};
use crate::scenario::{Node, Scenario, ScenarioError, Source, from_tree, set};
use flyball_run::manifest::PlanRecord;
use flyball_run::{Manifest, Run, RunState, SweepValue};
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
    /// Checksums of the files that the points name.
    files: BTreeMap<String, u32>,
}

/// How a sweep ended.
pub struct SweepEnd {
    /// What it was.
    pub header: Header,
    /// The points: a value for each parameter.
    pub points: Vec<Point>,
    /// Every finished point by number.
    pub finished: BTreeMap<usize, Finished>,
    /// Whether there are all that were asked for.
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
        let files = Mutex::new(BTreeMap::new());
        let open = |path: &str| {
            let text = (source.open)(path)?;
            let checksum = crc32fast::hash(text.as_bytes());
            let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
            files.insert(path.to_owned(), checksum);
            Ok(text)
        };
        let noted = Source { open: &open, ..source };
        let scenario = from_tree(root, noted)?;
        for point in &points {
            at(root, noted, point)?;
        }
        let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Sweep { root, source, scenario, axes, points, files })
    }

    /// The scenario of one point.
    ///
    /// # Errors
    /// A point that is not a scenario.
    pub fn at(&self, number: usize) -> Result<Scenario, ScenarioError> {
        at(self.root, self.source, self.points.get(number).map(Vec::as_slice).unwrap_or_default())
    }

    /// The points: a value for each parameter.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// What the journal of the sweep, or of a part of it, begins with.
    pub fn header(&self, shard: Option<Shard>, command: Vec<String>) -> Header {
        let mut manifest = Manifest { command, ..manifest("sweep", &self.scenario) };
        let axes: String =
            self.axes.iter().map(|axis| format!("# sweep: {}\n", axis.text)).collect();
        manifest.experiment = manifest.experiment.map(|text| axes + &text);
        Header { axes: self.axes.clone(), files: self.files.clone(), shard, manifest }
    }

    /// Simulates what the journal does not have yet. Points finish in any order; what comes of
    /// them does not depend on it.
    ///
    /// # Errors
    /// A point that is not a machine; a journal that cannot be written.
    pub fn run(
        &self,
        journal: &Path,
        header: Header,
        stop: Stop<'_>,
        progress: Progress<'_>,
    ) -> Result<SweepEnd, SweepError> {
        let journal = Journal::open(journal, &header)?;
        progress(journal.finished.len());
        let own = |point: &usize| header.shard.is_none_or(|shard| shard.holds(*point));
        let own: Vec<usize> = (0..self.points.len()).filter(own).collect();
        let open: Vec<usize> =
            own.iter().copied().filter(|n| !journal.finished.contains_key(n)).collect();
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
        let complete = journal.finished.len() == own.len();
        let points = self.points.clone();
        Ok(SweepEnd { header, points, finished: journal.finished, complete })
    }
}

/// Simulates the point `number` of a sweep on this thread; nothing where it was stopped. For those who spread
/// the points of a [`Sweep`] over machines themselves: it was checked there, and is not checked again.
///
/// # Errors
/// A point that is not a scenario, or not a machine.
pub fn simulate_point(
    root: &Node,
    source: Source<'_>,
    number: usize,
    point: &[(String, String)],
    stop: Stop<'_>,
) -> Result<Option<Finished>, SweepError> {
    let scenario = at(root, source, point)?;
    let phases = (0..scenario.phases).map(|phase| simulate(&scenario, phase, None, stop));
    let outcomes: Result<Option<Vec<Outcome>>, SetupError> =
        phases.map(Result::transpose).collect::<Option<_>>().transpose();
    let outcomes = outcomes.map_err(|source| SweepError::Setup { point: number, source })?;
    Ok(outcomes.map(|outcomes| finished(number, &outcomes)))
}

/// The scenario of a point.
fn at(
    root: &Node,
    source: Source<'_>,
    point: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    let mut root = root.clone();
    for (path, value) in point {
        set(&mut root, path, value)?;
    }
    from_tree(&root, source)
}

impl SweepEnd {
    /// What a journal says of a sweep.
    ///
    /// # Errors
    /// Axes of more than a million points.
    pub fn of(header: Header, finished: BTreeMap<usize, Finished>) -> Result<SweepEnd, AxisError> {
        let points = points(&header.axes)?;
        let complete = finished.len() == points.len();
        Ok(SweepEnd { header, points, finished, complete })
    }

    /// A run directory of the finished points: one point of the table per point of the sweep and
    /// phase, in their order.
    pub fn to_run(&self) -> Run {
        let state = if self.complete { RunState::Complete } else { RunState::Interrupted };
        let mut run = Run {
            manifest: Manifest {
                state,
                plan: Some(PlanRecord {
                    what: "points".to_owned(),
                    planned: self.points.len() as u64,
                    done: Some(self.finished.len() as u64),
                }),
                ..self.header.manifest.clone()
            },
            ..Run::default()
        };
        let mut row = 0;
        for (number, finished) in &self.finished {
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
