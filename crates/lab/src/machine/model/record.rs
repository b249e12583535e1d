//! From simulated trials to a run directory, in the order of the plan.

use super::watch::MEASURED;
use super::{ModelRun, TrialRun, describe};
use crate::machine::error::MachineError;
use crate::protocol::windows::ConditionLog;
use crate::session::{Destination, Outcome, Progress};
use flyball_host::Host;
use flyball_run::manifest::{CheckOutcome, CheckRecord, ConditionRecord, TrialRecord};
use flyball_run::{FrequencySample, Manifest, RunState, RunWriter, Window};
use flyball_sim::record::tid;
use flyball_units::Nanos;

/// Trials that are simulated before they are written, per core of this computer: few enough that
/// memory stays small, many enough that no core waits.
const TRIALS_PER_CORE: usize = 4;

/// Simulates all trials and writes the run directory. The computer is asked for two things only:
/// the date in the directory's name, and whether the user interrupts.
pub(super) fn run(
    run: &ModelRun,
    host: &dyn Host,
    destination: &Destination,
    progress: &mut dyn Progress,
) -> Result<Outcome, MachineError> {
    let mut recording = Recording::start(run, host, destination)?;
    let chunk = TRIALS_PER_CORE * rayon::current_num_threads().max(1);
    let trials = run.plan.trials.len();
    let mut done = 0;
    while done < trials && host.interrupted() == 0 {
        let until = (done + chunk).min(trials);
        match run.simulate(done..until) {
            Ok(ran) => {
                for trial in ran {
                    progress.step(done, &trial.labels.workload, &trial.labels.condition);
                    recording.trial(trial)?;
                    done += 1;
                }
            }
            Err(error) => {
                recording.close(RunState::Invalid)?;
                return Err(error);
            }
        }
    }
    progress.closing();
    let state = if done < trials { RunState::Interrupted } else { RunState::Complete };
    Ok(recording.close(state)?)
}

/// A run directory in the making.
struct Recording<'a> {
    run: &'a ModelRun,
    writer: RunWriter,
    manifest: Manifest,
    logs: Vec<ConditionLog>,
    /// Energy and time per condition.
    energy: Vec<(f64, Nanos)>,
    /// Virtual time at which the next trial begins.
    start: Nanos,
    rows: u64,
}

impl<'a> Recording<'a> {
    fn start(
        run: &'a ModelRun,
        host: &dyn Host,
        destination: &Destination,
    ) -> Result<Recording<'a>, MachineError> {
        let manifest = describe::manifest(run);
        let mut writer = destination.begin(host, &manifest)?;
        for note in describe::notes(run) {
            writer.note(&note)?;
        }
        let logs = run.plan.conditions.iter().cloned().map(ConditionLog::new).collect();
        let energy = vec![(0.0, Nanos::ZERO); run.plan.conditions.len()];
        Ok(Recording { run, writer, manifest, logs, energy, start: Nanos::ZERO, rows: 0 })
    }

    /// Writes a trial behind those before it.
    fn trial(&mut self, trial: TrialRun) -> Result<(), MachineError> {
        let shift = self.start.0;
        for window in trial.windows {
            self.writer.window(&Window {
                seq: self.rows,
                release_ns: window.release_ns + shift,
                dispatch_ns: window.dispatch_ns + shift,
                end_ns: window.end_ns + shift,
                deadline_ns: window.deadline_ns + shift,
                ..window
            })?;
            self.rows += 1;
        }
        for sample in trial.frequency {
            self.writer.frequency(&FrequencySample { t_ns: sample.t_ns + shift, ..sample })?;
        }
        if let Some(events) = trial.events {
            events.write(&mut self.writer, shift)?;
        }
        let labels = trial.labels;
        let conditions = &self.run.plan.conditions;
        let condition = conditions.iter().position(|planned| planned.name == labels.condition);
        if let Some(proof) = trial.proof {
            for row in &proof.rows {
                let mut sample = row.sample(&labels.condition, Some(labels.trial));
                sample.t_ns += shift;
                self.writer.load(&sample)?;
            }
            if let Some(log) = condition.and_then(|at| self.logs.get_mut(at)) {
                log.proof(proof);
            }
        }
        if let Some(energy) = condition.and_then(|at| self.energy.get_mut(at)) {
            energy.0 += trial.energy_mj;
            energy.1 = energy.1 + trial.length;
        }
        self.manifest.order.push(TrialRecord {
            trial: labels.trial,
            workload: labels.workload,
            condition: labels.condition,
            repeat: labels.repeat,
            block: labels.block,
            cpus: trial.cpus,
            tid: Some(tid(MEASURED)),
            ..TrialRecord::default()
        });
        self.start = self.start + trial.length;
        Ok(())
    }

    /// Judges the run and closes its directory.
    fn close(mut self, state: RunState) -> flyball_run::Result<Outcome> {
        let run = self.run;
        self.manifest.did(self.manifest.order.len());
        self.manifest.conditions = self.conditions();
        self.manifest.checks.extend(self.logs.iter().flat_map(ConditionLog::checks));
        let failed =
            |check: &&CheckRecord| check.outcome == CheckOutcome::Failed && !run.experiment.degrade;
        let invalid: Vec<CheckRecord> =
            self.manifest.checks.iter().filter(failed).cloned().collect();
        self.manifest.state = match state {
            RunState::Complete if !invalid.is_empty() => RunState::Invalid,
            state => state,
        };
        for (planned, (energy_mj, time)) in run.plan.conditions.iter().zip(&self.energy) {
            if time.0 > 0 {
                let watts = energy_mj / 1e3 / time.as_secs_f64();
                self.writer.note(&describe::info(
                    &format!("condition {}", planned.name),
                    format!("the modelled machine drew {watts:.3} W on average"),
                ))?;
            }
        }
        let state = self.manifest.state;
        let dir = self.writer.finish(&self.manifest)?;
        Ok(Outcome { dir, state, invalid })
    }

    fn conditions(&self) -> Vec<ConditionRecord> {
        let planned = self.run.plan.conditions.iter().zip(&self.run.conditions);
        let records = planned.zip(&self.logs);
        records
            .map(|((planned, setup), log)| {
                let mut record = describe::condition(self.run, planned, setup, log.record());
                if let Some(load) = record.load.as_mut().filter(|load| load.proven == Some(true)) {
                    load.why = "in every trial the model's scheduler gave the load's tasks the \
                                CPU time asked for"
                        .to_owned();
                }
                record
            })
            .collect()
    }
}
