//! From an experiment to a run directory.
//!
//! ```text
//! prepare   topology, plan, input, calibration of the probe     nothing is written yet
//! record    manifest, then for each block and condition: load, trials, proof
//! close     recalibration, verdict on the run itself, Parquet
//! ```

mod conditions;
mod error;
mod looks;
mod others;
mod prepare;
mod segment;
mod settings;
pub mod telemetry;
pub mod trial;

pub use conditions::ConditionLog;
pub use error::BenchError;
pub use others::beside;
pub(crate) use others::crowded;
pub use prepare::{Context, Prepared, prepare};

use crate::plan::{PlannedCondition, PlannedTrial};
use crate::protocol::windows::telemetry::{
    Finished, Recorder, RowSender, Telemetry, TelemetryOptions,
};
use crate::session::{Destination, Outcome, Progress, SideRecorder};
use flyball_control::{ControlError, Hold, state_folder};
use flyball_host::{CpuQuota, Host};
use flyball_probe::{Calibration, Calibrations, recalibrate};
use flyball_run::manifest::{CheckOutcome, CheckRecord, PlanRecord, TrialRecord};
use flyball_run::{Manifest, Note, RunState};
use flyball_units::{Diagnostic, Nanos};
use looks::Looks;
use others::{Others, Stretch};
use std::path::Path;
use std::sync::Arc;
use trial::{Degraded, Ended, StopFlag, TrialLabels};

/// Name of the check that every window was recorded.
const TELEMETRY: &str = "telemetry";

/// The probe's factor may move by this much over a run: half of the resolution that is promised.
const DRIFT_PERMILLE: f64 = 5.0;

/// Runs a prepared experiment and writes its run directory, with the rows of what records
/// on its `side`.
///
/// # Errors
/// See [`BenchError`]. What had been measured stays in the run directory, marked invalid.
pub fn run(
    host: &Arc<dyn Host>,
    prepared: Prepared,
    destination: &Destination,
    progress: &mut dyn Progress,
    side: Option<&mut dyn SideRecorder>,
) -> Result<Outcome, BenchError> {
    if let Some(limit) = prepared.experiment.wait_quiet {
        let mut waiting = |by: &str| progress.note(&format!("waiting for others: {by}"));
        others::wait_quiet(host.as_ref(), limit.0, &mut waiting)
            .map_err(|by| BenchError::NotQuiet { limit, by })?;
    }
    let writer = destination.begin(host.as_ref(), &prepared.manifest)?;
    let dir = writer.dir().to_path_buf();
    let stop = StopFlag::default();
    let options = TelemetryOptions {
        measured: prepared.measured.clone(),
        calibrations: Calibrations(prepared.calibrations.clone()),
        ..TelemetryOptions::default()
    };
    let (telemetry, recorder) = Telemetry::start(Arc::clone(host), writer, options, stop.clone())?;
    let mut session = Session {
        host,
        logs: prepared.plan.conditions.iter().cloned().map(ConditionLog::new).collect(),
        rows: telemetry.rows(),
        manifest: prepared.manifest.clone(),
        prepared: &prepared,
        recorder,
        stop,
        progress,
        done: 0,
        whole: 0,
        looks: Looks::of(&prepared.experiment),
        others: None,
        begun: host.now(),
    };
    session.others = Others::watch(host, &session.rows);
    let measured = session.blocks();
    session.progress.closing();
    let Session { logs, mut manifest, recorder, whole, .. } = session;
    manifest.did(whole);
    let mut finished = telemetry.finish(recorder)?;
    let mut side_checks = Vec::new();
    if let Some(side) = side.filter(|_| finished.error.is_none()) {
        side_checks = side.finish(&mut finished.writer, &mut manifest)?;
    }
    close(host, &prepared, manifest, &logs, measured, (finished, side_checks), &dir)
}

/// How holding a condition's settings began.
enum Started {
    /// With these settings; none where none were asked for.
    Held(Option<Box<Hold>>),
    /// The user asked to end.
    Stopped,
}

/// The measuring part of a run.
struct Session<'a> {
    host: &'a Arc<dyn Host>,
    prepared: &'a Prepared,
    logs: Vec<ConditionLog>,
    rows: RowSender,
    manifest: Manifest,
    recorder: Recorder,
    stop: StopFlag,
    progress: &'a mut dyn Progress,
    done: usize,
    /// Trials that were measured to their end and count: not those that were set aside.
    whole: usize,
    /// Who looks whether there is an answer yet; none where nobody does.
    looks: Option<Looks>,
    begun: Nanos,
    /// Who watches the other users of the CPUs; none where the machine does not tell.
    others: Option<Others<'a>>,
}

impl Session<'_> {
    /// All blocks, until one is stopped. Of those that others disturbed as many are done again as
    /// there are spare ones.
    fn blocks(&mut self) -> Result<Ended, BenchError> {
        let prepared = self.prepared;
        let repeats = prepared.experiment.repeats as usize;
        let mut spare = prepared.experiment.retry as usize;
        let mut kept = 0;
        // Trials of the blocks that count, whether they could be measured or not.
        let mut due = 0;
        let planned = prepared.plan.trials.iter().chain(&prepared.plan.spare).copied();
        let planned: Vec<PlannedTrial> = planned.collect();
        for block in planned.chunk_by(|a, b| a.block == b.block) {
            for segment in block.chunk_by(|a, b| a.condition == b.condition) {
                if self.segment(segment)? == Ended::Stopped {
                    return Ok(Ended::Stopped);
                }
            }
            kept += 1;
            due += block.len();
            let done = block.first().map_or(0, |trial| trial.block);
            let again = self.disturbed(done, kept == repeats, spare);
            (kept, spare) = (kept - again, spare - again);
            due -= again * block.len();
            if self.has_answer() || kept == repeats {
                break;
            }
            if again > 0 {
                self.wait_quiet();
            }
        }
        // What was planned was to go on until there is an answer.
        self.manifest.plan = PlanRecord::of("trials", due);
        Ok(Ended::Complete)
    }

    /// How many of the last blocks are to be done again, at most as many as are `spare`. They are set
    /// aside.
    fn disturbed(&mut self, block: u32, is_last: bool, spare: usize) -> usize {
        let is_look = self.looks.as_ref().is_some_and(Looks::is_due);
        let Some(others) = &mut self.others else { return 0 };
        others.block(block);
        // What is looked at has to be judged first.
        if !(is_last || is_look || others.is_due()) {
            return 0;
        }
        let Some(Stretch { blocks: (first, last), disturbed_by: Some(by) }) = others.judge() else {
            return 0;
        };
        let again = (last - first + 1) as usize;
        if again > spare {
            return 0;
        }
        for trial in &mut self.manifest.order {
            if (first..=last).contains(&trial.block) {
                trial.set_aside = true;
                self.whole = self.whole.saturating_sub(1);
            }
        }
        if let Some(looks) = &mut self.looks {
            looks.forget(again);
        }
        self.rows.note(Note {
            t_ns: Some(self.host.now().0),
            severity: "info".to_owned(),
            object: match again {
                1 => format!("block {first}"),
                _ => format!("blocks {first} to {last}"),
            },
            message: format!("disturbed from outside ({by}), set aside and done again"),
            hint: None,
        });
        again
    }

    /// Waits until the machine is quiet before a block is done again, where the experiment asks for
    /// it. A machine that does not become quiet is measured all the same: much has been done already.
    fn wait_quiet(&mut self) {
        let Some(limit) = self.prepared.experiment.wait_quiet else { return };
        let progress = &mut self.progress;
        let mut waiting = |by: &str| progress.note(&format!("waiting for others: {by}"));
        let _ = others::wait_quiet(self.host.as_ref(), limit.0, &mut waiting);
        if let Some(others) = &mut self.others {
            others.restart();
        }
    }

    /// Whether whoever looks has seen enough: an answer, or the end of the time.
    fn has_answer(&mut self) -> bool {
        let Some(looks) = &mut self.looks else { return false };
        let decided = looks.decided();
        self.manifest.looks = Some(looks.record());
        let within = self.prepared.experiment.within.map_or(Nanos(u64::MAX), |within| within.0);
        let over = self.host.now().since(self.begun) >= within;
        match (decided, looks.blocks()) {
            (true, blocks) => self.progress.note(&format!("decided; blocks: {blocks}")),
            (false, blocks) if over => {
                self.progress.note(&format!(
                    "the time is over before every figure is decided; blocks: {blocks}"
                ));
            }
            _ => {}
        }
        decided || over
    }

    fn segment(&mut self, trials: &[PlannedTrial]) -> Result<Ended, BenchError> {
        let Some(first) = trials.first() else { return Ok(Ended::Complete) };
        let prepared = self.prepared;
        let Some(condition) = prepared.plan.conditions.get(first.condition) else {
            return Ok(Ended::Complete);
        };
        let site = prepared.site.clone().measuring_on(match &condition.cpus {
            Some(cpus) => cpus.clone(),
            None => prepared.site.usable.clone(),
        });
        let held = match self.hold(first.condition, condition)? {
            Started::Held(held) => held,
            Started::Stopped => return Ok(Ended::Stopped),
        };
        let seed = prepared.experiment.seed.wrapping_add(u64::from(first.block));
        let (host, rows) = (self.host, self.rows.clone());
        let profile = &condition.asked.load;
        let limits = CpuQuota::all(host.as_ref());
        let ran = segment::under_load(host, profile, &site, seed, &rows, &condition.name, || {
            self.trials(trials)
        });
        // First of all: whatever the trials came to.
        self.release(first.condition, condition, held)?;
        let ended = ran.trials.transpose()?.unwrap_or(Ended::Complete);
        if let Some(log) = self.logs.get_mut(first.condition) {
            log.limited(&limits, &CpuQuota::all(host.as_ref()));
        }
        match ran.load {
            Ok(Some(proof)) => {
                // What an interruption left too short to judge says nothing about the load.
                let cut = ended == Ended::Stopped && proof.is_too_short();
                if let Some(log) = self.logs.get_mut(first.condition).filter(|_| !cut) {
                    log.proof(proof);
                }
            }
            Ok(None) => {}
            Err(_) if self.host.interrupted() > 0 => return Ok(Ended::Stopped),
            Err(source) if prepared.experiment.degrade => {
                self.load_failed(first.condition, &condition.name, &source);
            }
            Err(source) => {
                return Err(BenchError::Load {
                    condition: condition.name.clone(),
                    source: Box::new(source),
                });
            }
        }
        self.manifest.conditions = self.logs.iter().map(ConditionLog::record).collect();
        self.rows.manifest(self.manifest.clone());
        Ok(ended)
    }

    /// Holds the settings that the condition asks for; none where it asks for none, or where they
    /// could not be had and the experiment allows to go on.
    fn hold(&mut self, index: usize, condition: &PlannedCondition) -> Result<Started, BenchError> {
        let Some(wanted) = condition.asked.held() else { return Ok(Started::Held(None)) };
        let host = self.host;
        let held = match Hold::start(host, &state_folder(host.as_ref()), &wanted) {
            Ok(held) => held,
            Err(ControlError::Interrupted) => return Ok(Started::Stopped),
            Err(error) => {
                let refused = settings::refused(condition, error);
                // What is not as it was is no matter of degrading.
                let may_go_on = self.prepared.experiment.degrade && !refused.left_changed();
                return match self.logs.get_mut(index).filter(|_| may_go_on) {
                    Some(log) => {
                        log.remark(refused.to_string());
                        Ok(Started::Held(None))
                    }
                    None => Err(refused),
                };
            }
        };
        for message in &held.plan().notes {
            self.rows.note(Note {
                t_ns: Some(host.now().0),
                severity: "info".to_owned(),
                object: format!("condition {}", condition.name),
                message: message.clone(),
                hint: None,
            });
        }
        if let Some(log) = self.logs.get_mut(index) {
            log.held(held.plan());
        }
        Ok(Started::Held(Some(Box::new(held))))
    }

    /// Restores what was held. What others changed meanwhile spoils the condition.
    fn release(
        &mut self,
        index: usize,
        condition: &PlannedCondition,
        held: Option<Box<Hold>>,
    ) -> Result<(), BenchError> {
        let Some(held) = held else { return Ok(()) };
        let ended = held.end().map_err(|error| settings::refused(condition, error))?;
        if let Some(log) = self.logs.get_mut(index) {
            log.changed_by_others(&ended.changes);
        }
        Ok(())
    }

    /// The condition fails; the others go on.
    fn load_failed(&mut self, index: usize, condition: &str, error: &flyball_load::LoadError) {
        if let Some(log) = self.logs.get_mut(index) {
            log.failed(error.to_string());
        }
        self.rows.note(Note {
            t_ns: Some(self.host.now().0),
            severity: "error".to_owned(),
            object: format!("condition {condition}"),
            message: error.to_string(),
            hint: error.hint(),
        });
        self.progress.note(&format!("condition \"{condition}\": {error}"));
    }

    fn trials(&mut self, trials: &[PlannedTrial]) -> Result<Ended, BenchError> {
        for planned in trials {
            if self.trial(planned)? == Ended::Stopped {
                return Ok(Ended::Stopped);
            }
        }
        Ok(Ended::Complete)
    }

    fn trial(&mut self, planned: &PlannedTrial) -> Result<Ended, BenchError> {
        let prepared = self.prepared;
        let experiment = &prepared.experiment;
        let (Some(workload), Some(condition), Some(&batch)) = (
            experiment.workloads.get(planned.workload),
            prepared.plan.conditions.get(planned.condition),
            prepared.batches.get(planned.workload),
        ) else {
            return Ok(Ended::Complete);
        };
        let labels = TrialLabels {
            trial: u32::try_from(self.done).unwrap_or(u32::MAX),
            workload: workload.label(),
            condition: condition.name.clone(),
            repeat: planned.block + 1,
            block: planned.block,
        };
        self.progress.step(self.done, &labels.workload, &labels.condition);
        let mut work = crate::workloads::prepare(workload, &prepared.recording, self.host, batch)?;
        let plan = prepared.trial_plan(labels.clone(), condition);
        self.recorder.keep(match self.looks {
            Some(_) => usize::try_from(plan.windows).unwrap_or(0),
            None => 0,
        });
        self.rows.begin(labels.clone());
        let outcome = trial::run(
            self.host.as_ref(),
            &plan,
            work.as_mut(),
            prepared.chain(),
            &mut self.recorder,
            &self.stop,
        )?;
        if outcome.ended == Ended::Refused {
            let refused = outcome.applied.degraded.into_iter().next();
            return Err(BenchError::NotApplied {
                condition: condition.name.clone(),
                setting: refused.unwrap_or_else(|| Degraded {
                    setting: "the settings".to_owned(),
                    reason: "refused".to_owned(),
                    hint: String::new(),
                }),
            });
        }
        self.manifest.order.push(TrialRecord {
            trial: labels.trial,
            workload: labels.workload,
            condition: labels.condition,
            repeat: labels.repeat,
            block: labels.block,
            cpus: outcome.applied.cpus.iter().map(|cpu| cpu.0).collect(),
            tid: outcome.applied.tid,
            set_aside: false,
        });
        if let Some(log) = self.logs.get_mut(planned.condition) {
            log.applied(outcome.applied);
        }
        if let Some(looks) = self.looks.as_mut().filter(|_| outcome.ended == Ended::Complete) {
            looks.add(planned.workload, self.recorder.kept());
        }
        self.done += 1;
        self.whole += usize::from(outcome.ended == Ended::Complete);
        Ok(outcome.ended)
    }
}

/// Recalibrates, judges the run itself, and closes the directory. An error of the measuring part
/// is returned only after what was measured is safe.
fn close(
    host: &Arc<dyn Host>,
    prepared: &Prepared,
    mut manifest: Manifest,
    logs: &[ConditionLog],
    measured: Result<Ended, BenchError>,
    (finished, side_checks): (Finished, Vec<CheckRecord>),
    dir: &Path,
) -> Result<Outcome, BenchError> {
    if let Some(error) = finished.error {
        return Err(error.into());
    }
    let mut calibrations = prepared.calibrations.clone();
    // A CPU that went offline meanwhile cannot be recalibrated; the checks below say so.
    let recalibrated = recalibrate(host.as_ref(), &mut calibrations).is_ok();
    manifest.probe = calibrations.iter().map(Calibration::record).collect();
    manifest.conditions = logs.iter().map(ConditionLog::record).collect();
    manifest.checks.extend(checks(logs, finished.dropped));
    manifest.checks.extend(drift_check(&calibrations, recalibrated));
    let counts = |check: &&CheckRecord| {
        check.outcome == CheckOutcome::Failed
            && (check.name == TELEMETRY || !prepared.experiment.degrade)
    };
    let invalid: Vec<CheckRecord> = manifest.checks.iter().filter(counts).cloned().collect();
    manifest.checks.extend(side_checks);
    let lost = invalid.iter().any(|check| check.name == TELEMETRY);
    manifest.state = match &measured {
        Err(_) => RunState::Invalid,
        Ok(Ended::Stopped) if !lost => RunState::Interrupted,
        Ok(_) if !invalid.is_empty() => RunState::Invalid,
        Ok(_) => RunState::Complete,
    };
    let state = manifest.state;
    finished.writer.finish(&manifest)?;
    measured?;
    Ok(Outcome { dir: dir.to_path_buf(), state, invalid })
}

/// What has to hold for the run's figures to mean what they say.
fn checks(logs: &[ConditionLog], dropped: u64) -> Vec<CheckRecord> {
    let mut checks = vec![CheckRecord {
        name: TELEMETRY.to_owned(),
        outcome: outcome(dropped == 0),
        object: "ring of windows".to_owned(),
        expected: "every window recorded".to_owned(),
        found: format!("{dropped} windows lost"),
        hint: (dropped > 0).then(|| "lengthen the period, or write to a faster disk".to_owned()),
    }];
    checks.extend(logs.iter().flat_map(ConditionLog::checks));
    checks
}

fn outcome(passed: bool) -> CheckOutcome {
    if passed { CheckOutcome::Passed } else { CheckOutcome::Failed }
}

/// Whether the probe's factor from ticks to frequency is still what it was; none without a probe.
fn drift_check(calibrations: &[Calibration], recalibrated: bool) -> Option<CheckRecord> {
    calibrations.first()?;
    let drifts = calibrations.iter().filter_map(|calibration| calibration.drift_permille);
    let drift = drifts.map(f64::abs).reduce(f64::max).filter(|_| recalibrated);
    Some(CheckRecord {
        name: "probe recalibration".to_owned(),
        outcome: drift.map_or(CheckOutcome::Unavailable, |drift| outcome(drift <= DRIFT_PERMILLE)),
        object: "frequency probe".to_owned(),
        expected: format!("the same factor within {} %", DRIFT_PERMILLE / 10.0),
        found: drift.map_or("could not be measured".to_owned(), |drift| {
            format!("moved by {:.2} %", drift / 10.0)
        }),
        hint: drift
            .filter(|drift| *drift > DRIFT_PERMILLE)
            .map(|_| "measure again on a quieter machine".to_owned()),
    })
}
