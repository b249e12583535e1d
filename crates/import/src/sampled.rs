//! Windows from samples: durations, perhaps with times, perhaps without. Where the source knows
//! no times, each window is laid behind the one before, and the manifest says so.

use std::collections::HashMap;

use flyball_run::manifest::{ClockRecord, ConditionRecord, TrialRecord, WorkloadRecord};
use flyball_run::run::{Run, Warning};
use flyball_run::tables::NO_DEADLINE;
use flyball_run::tables::Window;

/// Where the laid-out times begin: a second, so that a negative lateness stays above zero.
const START_NS: u64 = 1_000_000_000;

/// One sample. Absent times are laid out.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sample<'a> {
    pub workload: &'a str,
    pub condition: &'a str,
    pub repeat: u32,
    pub index: Option<u64>,
    pub release_ns: Option<u64>,
    pub dispatch_ns: Option<u64>,
    pub deadline_ns: Option<u64>,
    pub missed: Option<bool>,
    pub lateness_ns: i64,
    pub exec_ns: u64,
    /// Everything else is taken from here.
    pub rest: Window,
}

/// Adds samples to a run and keeps its trials, workloads and conditions.
#[derive(Default)]
pub(super) struct Sampler {
    cells: HashMap<(String, String, u32), usize>,
    /// Windows so far, per trial.
    lengths: Vec<u64>,
    now_ns: u64,
    laid_out: bool,
}

impl Sampler {
    pub fn add(&mut self, run: &mut Run, sample: Sample<'_>) {
        let trial = self.trial(run, &sample);
        let index = self.lengths.get_mut(trial).map_or(0, |length| {
            *length += 1;
            *length - 1
        });
        if sample.release_ns.is_none() && sample.dispatch_ns.is_none() {
            self.laid_out = true;
        }
        let late = sample.lateness_ns;
        let release_ns = match (sample.release_ns, sample.dispatch_ns) {
            (Some(release), _) => release,
            (None, Some(dispatch)) => dispatch.saturating_add_signed(late.saturating_neg()),
            (None, None) => self.now_ns.max(START_NS),
        };
        let dispatch_ns = sample.dispatch_ns.unwrap_or(release_ns.saturating_add_signed(late));
        let end_ns = dispatch_ns.saturating_add(sample.exec_ns);
        self.now_ns = self.now_ns.max(end_ns).max(release_ns);
        let deadline_ns = sample.deadline_ns.unwrap_or(NO_DEADLINE);
        run.tables.windows.push(Window {
            seq: run.tables.windows.len() as u64,
            trial: trial as u32,
            workload: sample.workload.to_owned(),
            condition: sample.condition.to_owned(),
            repeat: sample.repeat,
            index: sample.index.unwrap_or(index),
            release_ns,
            dispatch_ns,
            end_ns,
            lateness_ns: late,
            exec_ns: sample.exec_ns,
            response_ns: late.saturating_add_unsigned(sample.exec_ns),
            deadline_ns,
            missed: sample.missed.unwrap_or(end_ns > deadline_ns),
            ..sample.rest
        });
    }

    fn trial(&mut self, run: &mut Run, sample: &Sample<'_>) -> usize {
        let key = (sample.workload.to_owned(), sample.condition.to_owned(), sample.repeat);
        if let Some(&trial) = self.cells.get(&key) {
            return trial;
        }
        let trial = self.lengths.len();
        self.lengths.push(0);
        self.cells.insert(key, trial);
        let manifest = &mut run.manifest;
        if manifest.workload(sample.workload).is_none() {
            manifest
                .workloads
                .push(WorkloadRecord { name: sample.workload.to_owned(), ..Default::default() });
        }
        if manifest.condition(sample.condition).is_none() {
            manifest
                .conditions
                .push(ConditionRecord { name: sample.condition.to_owned(), ..Default::default() });
        }
        manifest.order.push(TrialRecord {
            trial: trial as u32,
            workload: sample.workload.to_owned(),
            condition: sample.condition.to_owned(),
            repeat: sample.repeat,
            ..TrialRecord::default()
        });
        trial
    }

    /// Ends the import: which clock the windows are on.
    pub fn finish(self, run: &mut Run, object: &str) {
        let clock = if self.laid_out { "none" } else { "unknown" };
        run.manifest.clocks = vec![ClockRecord {
            table: "windows".to_owned(),
            clock: clock.to_owned(),
            ..ClockRecord::default()
        }];
        if self.laid_out {
            run.warnings.push(Warning {
                object: object.to_owned(),
                message:
                    "the source records no times: the windows are laid out one behind the other"
                        .to_owned(),
                hint: Some("drift over time cannot be judged".to_owned()),
            });
        }
    }
}
