//! Candidates measured on this machine: a bench per stage.

use crate::change::Candidate;
use crate::error::FixError;
use crate::goal::Goal;
use crate::ladder::Ladder;
use crate::search::{Stage, Tried, Trier};
use flyball_host::{Host, Topology};
use flyball_lab::experiment::{Experiment, Placement, ProbeTiming};
use flyball_lab::protocol::windows::{self, Context};
use flyball_lab::session::{Destination, EnergyLog, Metered, Progress};
use flyball_run::{Run, RunState, Windows as Rows};
use flyball_stats::{BootstrapOptions, Cell, Prepared, estimate};
use flyball_units::goal::Metric;
use flyball_units::{CpuId, Duration, Mismatch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An interval rests on repeats; fewer than these decide little.
const REPEATS: u32 = 8;

/// How much is measured of each candidate in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Blocks in which all candidates take turns.
    pub repeats: u32,
    /// Measured time per candidate and block.
    pub duration: Duration,
}

impl Windows {
    /// What a goal needs of an experiment: enough windows beyond the quantile.
    pub fn needed(goal: &Goal, experiment: &Experiment) -> Windows {
        let repeats = experiment.repeats.max(REPEATS);
        let period = experiment.period.nanos();
        let each = goal.windows().div_ceil(u64::from(repeats)).saturating_mul(period);
        Windows {
            repeats,
            duration: Duration::millis(each.max(experiment.duration.nanos()).div_ceil(1_000_000)),
        }
    }
}

/// This machine, as a search tries it.
pub struct Bench<'a> {
    host: &'a Arc<dyn Host>,
    topology: Topology,
    experiment: Experiment,
    goal: Goal,
    context: Context<'a>,
    folder: PathBuf,
    progress: &'a mut dyn Progress,
    stages: u64,
}

impl<'a> Bench<'a> {
    /// `experiment` has one workload, and one condition: the baseline. Run directories go below
    /// `folder`.
    ///
    /// # Errors
    /// An experiment that has more; a machine that cannot be read.
    pub fn new(
        host: &'a Arc<dyn Host>,
        experiment: Experiment,
        goal: Goal,
        context: Context<'a>,
        folder: &Path,
        progress: &'a mut dyn Progress,
    ) -> Result<Bench<'a>, FixError> {
        for (what, count) in
            [("workload", experiment.workloads.len()), ("condition", experiment.conditions.len())]
        {
            if count != 1 {
                return Err(FixError::Unsuited(
                    Mismatch::value(format!("one {what}, which is to meet the goal"), count)
                        .at(format!("experiment {}", experiment.name)),
                ));
            }
        }
        let mut experiment = experiment;
        // Probing keeps the core busy, and a governor would see that.
        experiment.probe = ProbeTiming::Off;
        for condition in &mut experiment.conditions {
            if condition.placement == Placement::EachCoreType {
                condition.placement = Placement::Any;
            }
        }
        Ok(Bench {
            topology: Topology::discover(host.as_ref())?,
            host,
            experiment,
            goal,
            context,
            folder: folder.to_owned(),
            progress,
            stages: 0,
        })
    }

    /// The machine.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
}

impl Trier for Bench<'_> {
    fn measure(&mut self, stage: &str, candidates: &[Candidate]) -> Result<Stage, FixError> {
        self.stages += 1;
        let mut experiment = self.experiment.clone();
        experiment.name = format!("fix {stage}");
        experiment.seed = experiment.seed.wrapping_add(self.stages);
        let base = self.experiment.conditions.first().cloned().unwrap_or_default();
        experiment.conditions =
            candidates.iter().map(|candidate| candidate.condition(&base)).collect();
        let prepared = windows::prepare(self.host, experiment, &self.context)?;
        let names: Vec<String> = candidates.iter().map(Candidate::to_string).collect();
        self.progress.note(&format!("{stage}: {}", names.join(", ")));
        self.progress.planned(prepared.plan.trials.len(), "trials", prepared.duration(), "");
        let destination = Destination::Dir(self.folder.join(format!("{}-{stage}", self.stages)));
        let log = EnergyLog::new(self.host.as_ref(), &self.topology);
        let mut metered = Metered { log: &log, progress: self.progress };
        let outcome = windows::run(self.host, prepared, &destination, &mut metered, None)?;
        let powers = log.powers();
        match outcome.state {
            RunState::Complete => {}
            RunState::Interrupted => return Err(FixError::Interrupted),
            _ => {
                let why = outcome.invalid.iter().map(|check| {
                    format!("{}: expected {}, found {}", check.object, check.expected, check.found)
                });
                let why = why.collect::<Vec<_>>().join("; ");
                return Err(FixError::Invalid { stage: stage.to_owned(), why });
            }
        }
        let rows = Run::open(&outcome.dir)?.tables.windows;
        let tried = candidates.iter().map(|candidate| self.tried(candidate, &rows, &powers));
        Ok(Stage {
            name: stage.to_owned(),
            tried: tried.collect::<Result<_, _>>()?,
            home: home(&rows, &Candidate::BASELINE.to_string()),
            run: outcome.dir,
        })
    }

    fn ladder(&mut self, home: CpuId) -> Result<Ladder, FixError> {
        let base = self.experiment.conditions.first().cloned().unwrap_or_default();
        Ok(Ladder::of(self.host.as_ref(), &self.topology, &base, home))
    }
}

impl Bench<'_> {
    fn tried(
        &self,
        candidate: &Candidate,
        rows: &Rows,
        powers: &BTreeMap<String, f64>,
    ) -> Result<Tried, FixError> {
        let name = candidate.to_string();
        let stats = |source| FixError::Stats { condition: name.clone(), source };
        let mut repeats: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for row in (0..rows.len()).filter_map(|row| rows.row(row)) {
            if row.condition == name && !row.warmup {
                repeats.entry(row.repeat).or_default().push(match self.goal.metric {
                    Metric::Response => row.response_ns as f64,
                    Metric::Execution => row.exec_ns as f64,
                    Metric::Lateness => row.lateness_ns as f64,
                });
            }
        }
        let cell = Cell::new(repeats.into_values().collect()).map_err(stats)?;
        let options =
            BootstrapOptions { seed: self.experiment.seed, ..BootstrapOptions::default() };
        let found =
            estimate(&Prepared::new(&cell), self.goal.statistic(), &options).map_err(stats)?;
        Ok(Tried {
            candidate: candidate.clone(),
            standing: self.goal.judge(&found.estimate),
            found,
            windows: cell.windows(),
            power_w: powers.get(&name).copied(),
        })
    }
}

/// The CPU on which most windows of a condition began.
fn home(rows: &Rows, condition: &str) -> Option<CpuId> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for row in (0..rows.len()).filter_map(|row| rows.row(row)) {
        if row.condition == condition && !row.warmup {
            *counts.entry(row.cpu_before?).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(cpu, _)| CpuId(cpu))
}
