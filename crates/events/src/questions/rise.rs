//! How long a task's utilisation takes to reach a level: the ramp-up.

use serde::Serialize;

use crate::Missing;
use crate::recording::{Recording, Steps, Subject, Task};

/// Capacity of the largest CPU at its maximum: the top of the utilisation scale.
const SCALE: u32 = 1024;

/// A level of utilisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A value on the capacity scale.
    Value(u32),
    /// Percent of the scale's 1024.
    PercentOfScale(u8),
    /// Percent of the highest value of the span: for machines that cannot reach the scale's top.
    PercentOfPeak(u8),
}

impl Target {
    /// The levels that the published ramps quote, and those of a rise.
    pub const USUAL: [Target; 6] = [
        Target::Value(450),
        Target::Value(1000),
        Target::PercentOfScale(50),
        Target::PercentOfScale(80),
        Target::PercentOfScale(95),
        Target::PercentOfScale(99),
    ];

    /// The lowest whole utilisation that is at this level.
    pub fn level(self, peak: u32) -> u32 {
        let part = |percent: u8, of: u32| {
            u32::try_from((u64::from(percent) * u64::from(of)).div_ceil(100)).unwrap_or(u32::MAX)
        };
        match self {
            Target::Value(value) => value,
            Target::PercentOfScale(percent) => part(percent, SCALE),
            Target::PercentOfPeak(percent) => part(percent, peak),
        }
    }
}

/// Times to levels of utilisation, from the begin of the span.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rise {
    /// The task.
    pub task: Task,
    /// The begin: time zero of the answers.
    pub since_ns: u64,
    /// Utilisation in force at the begin; none where nothing was read until then.
    pub initial: Option<u32>,
    /// The highest reading of the span.
    pub peak: u32,
    /// One per target, in the order asked.
    pub times: Vec<TimeTo>,
}

/// The time to one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimeTo {
    /// The level as asked for.
    pub target: Target,
    /// The level as a utilisation.
    pub level: u32,
    /// What came of it.
    pub outcome: Outcome,
}

/// Whether and when a level was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was there from the begin.
    Already,
    /// The first reading at the level or above.
    Reached {
        /// Time from the begin.
        after_ns: u64,
        /// Time since the reading before: the level was passed somewhere in between.
        within_ns: u64,
        /// Whether events were lost between the two: it may have been passed before.
        lost: bool,
    },
    /// No reading at the level until the span's end.
    Never,
}

impl Outcome {
    /// The time from the begin; none where the level was never reached.
    pub fn after_ns(self) -> Option<u64> {
        match self {
            Outcome::Already => Some(0),
            Outcome::Reached { after_ns, .. } => Some(after_ns),
            Outcome::Never => None,
        }
    }
}

impl Rise {
    /// Of one task from the begin of the recording's span.
    ///
    /// # Errors
    /// No reading of the task's utilisation in the span.
    pub fn of(recording: &Recording<'_>, tid: u32, targets: &[Target]) -> Result<Rise, Missing> {
        let task = recording.task(tid);
        let steps: Steps<u32> = recording.utilization(Subject::Task(tid));
        let span = recording.span();
        let initial = steps.at(span.from_ns);
        let readings = steps.points().filter(|&(t, _)| t > span.from_ns && span.holds(t));
        let Some(peak) = readings.clone().map(|reading| reading.1).chain(initial).max() else {
            return Err(Missing::rows(format!("task {} ({tid})", task.name), "utilization"));
        };
        let times = targets
            .iter()
            .map(|&target| {
                let level = target.level(peak);
                TimeTo {
                    target,
                    level,
                    outcome: outcome(recording, initial, readings.clone(), level),
                }
            })
            .collect();
        Ok(Rise { task, since_ns: span.from_ns, initial, peak, times })
    }
}

fn outcome(
    recording: &Recording<'_>,
    initial: Option<u32>,
    readings: impl Iterator<Item = (u64, u32)>,
    level: u32,
) -> Outcome {
    if initial.is_some_and(|initial| initial >= level) {
        return Outcome::Already;
    }
    let mut before = recording.span().from_ns;
    for (t_ns, util) in readings {
        if util >= level {
            return Outcome::Reached {
                after_ns: t_ns.saturating_sub(recording.span().from_ns),
                within_ns: t_ns.saturating_sub(before),
                lost: recording.gaps().touch(before, t_ns),
            };
        }
        before = t_ns;
    }
    Outcome::Never
}
