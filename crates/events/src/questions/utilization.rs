//! Utilisation over time and its residency, per task and per CPU.

use std::collections::BTreeMap;

use serde::Serialize;

use super::residency::{Share, Tally};
use crate::recording::{InTime, Recording, Signals, Steps, Subject, Task};
use crate::{Missing, Span};

/// The load-tracking signals of a task or a CPU over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UtilizationOverTime {
    /// Whose.
    pub subject: Subject,
    /// The task; none for a CPU.
    pub task: Option<Task>,
    /// The readings in the span, and before them the last one from before it, at its begin.
    pub points: Vec<UtilizationPoint>,
}

/// One reading; each value is on the capacity scale, and holds until the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UtilizationPoint {
    /// When.
    pub t_ns: u64,
    /// util_avg.
    pub util_avg: Option<u32>,
    /// runnable_avg.
    pub runnable_avg: Option<u32>,
    /// util_est.
    pub util_est: Option<u32>,
}

impl UtilizationOverTime {
    /// The points of one task or CPU, as [`UtilizationOverTime::of`] has them, without a list of them:
    /// there may be millions.
    ///
    /// # Errors
    /// As there.
    pub fn points_of(
        recording: &Recording<'_>,
        subject: Subject,
    ) -> Result<InTime<impl Iterator<Item = UtilizationPoint> + Clone>, Missing> {
        let span = recording.span();
        let all = recording.signals_of(subject).map(|s| point(&s));
        if !all.clone().is_sorted_by_key(|point| point.t_ns) {
            return Ok(InTime::Sorted(UtilizationOverTime::of(recording, subject)?.points));
        }
        let within = all.clone().filter(move |point| span.holds(point.t_ns));
        let starts = within.clone().next().is_some_and(|first| first.t_ns == span.from_ns);
        let before = all.take_while(|point| point.t_ns < span.from_ns).last();
        let before = before.filter(|_| !starts);
        let before = before.map(|before| UtilizationPoint { t_ns: span.from_ns, ..before });
        let points = before.into_iter().chain(within);
        match points.clone().next() {
            Some(_) => Ok(InTime::AsRead(points)),
            None => Err(Missing::rows(name(recording, subject), "utilization")),
        }
    }

    /// Of every task and CPU that has readings: tasks first, each ascending.
    pub fn all(recording: &Recording<'_>) -> Vec<UtilizationOverTime> {
        over_time(recording, recording.signals())
    }

    /// Of one task or CPU.
    ///
    /// # Errors
    /// No reading of it up to the end of the span.
    pub fn of(recording: &Recording<'_>, subject: Subject) -> Result<UtilizationOverTime, Missing> {
        over_time(recording, recording.signals_of(subject))
            .pop()
            .ok_or_else(|| Missing::rows(name(recording, subject), "utilization"))
    }
}

fn name(recording: &Recording<'_>, subject: Subject) -> String {
    match subject {
        Subject::Task(tid) => format!("task {} ({tid})", recording.task(tid).name),
        Subject::Cpu(cpu) => format!("cpu{cpu}"),
        Subject::Class(class, cpu) => format!("{} of cpu{cpu}", class.name()),
    }
}

fn over_time(
    recording: &Recording<'_>,
    signals: impl Iterator<Item = Signals>,
) -> Vec<UtilizationOverTime> {
    let span = recording.span();
    let mut found = BTreeMap::<Subject, (Option<UtilizationPoint>, Vec<UtilizationPoint>)>::new();
    for signals in signals {
        let (before, points) = found.entry(signals.subject).or_default();
        let point = point(&signals);
        if point.t_ns < span.from_ns {
            if before.is_none_or(|before| before.t_ns <= point.t_ns) {
                *before = Some(point);
            }
        } else if span.holds(point.t_ns) {
            points.push(point);
        }
    }
    let answer = |(subject, (before, mut points)): (Subject, (Option<_>, Vec<_>))| {
        points.sort_by_key(|point: &UtilizationPoint| point.t_ns);
        let starts = points.first().is_some_and(|first| first.t_ns == span.from_ns);
        if let Some(before) = before.filter(|_| !starts) {
            points.insert(0, UtilizationPoint { t_ns: span.from_ns, ..before });
        }
        let task = match subject {
            Subject::Task(tid) => Some(recording.task(tid)),
            Subject::Cpu(_) | Subject::Class(..) => None,
        };
        (!points.is_empty()).then_some(UtilizationOverTime { subject, task, points })
    };
    found.into_iter().filter_map(answer).collect()
}

fn point(signals: &Signals) -> UtilizationPoint {
    let Signals { t_ns, util_avg, runnable_avg, util_est, .. } = *signals;
    UtilizationPoint { t_ns, util_avg, runnable_avg, util_est }
}

/// How long util_avg had each value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UtilizationResidency {
    /// Whose.
    pub subject: Subject,
    /// Whether only the time counts during which the task ran.
    pub while_running: bool,
    /// Time at each value, ascending in value.
    pub values: Vec<Share<u32>>,
    /// Time before the first reading.
    pub unknown_ns: u64,
    /// Time in gaps of the recording, left out of the values.
    pub lost_ns: u64,
}

impl UtilizationResidency {
    /// Over the whole span.
    ///
    /// # Errors
    /// No reading of this task or CPU.
    pub fn of(recording: &Recording<'_>, subject: Subject) -> Result<Self, Missing> {
        let Span { from_ns, to_ns } = recording.span();
        residency(recording, subject, false, [(from_ns, to_ns, None)].into_iter())
    }

    /// Over the time during which the task ran.
    ///
    /// # Errors
    /// No reading of the task, or no slice of it.
    pub fn while_running(recording: &Recording<'_>, tid: u32) -> Result<Self, Missing> {
        let slices = recording.slices_in_time(tid);
        let subject = Subject::Task(tid);
        if slices.is_empty() {
            return Err(Missing::rows(name(recording, subject), "slices"));
        }
        let stretches = slices.iter().map(|slice| (slice.from_ns, slice.to_ns, Some(slice.cpu)));
        residency(recording, subject, true, stretches)
    }
}

fn residency(
    recording: &Recording<'_>,
    subject: Subject,
    while_running: bool,
    stretches: impl Iterator<Item = (u64, u64, Option<u32>)>,
) -> Result<UtilizationResidency, Missing> {
    let steps: Steps<u32> = recording.utilization(subject);
    if steps.is_empty() {
        return Err(Missing::rows(name(recording, subject), "utilization"));
    }
    let own_cpu = match subject {
        Subject::Cpu(cpu) | Subject::Class(_, cpu) => Some(cpu),
        Subject::Task(_) => None,
    };
    let mut tally = Tally::default();
    let (mut unknown_ns, mut lost_ns) = (0_u64, 0_u64);
    let mut near = 0;
    for (from_ns, to_ns, cpu) in stretches {
        for segment in steps.segments_near(&mut near, from_ns, to_ns) {
            let (from, to) = (segment.from_ns, segment.to_ns);
            let lost = recording.gaps().overlap_ns(cpu.or(own_cpu), from, to);
            lost_ns = lost_ns.saturating_add(lost);
            match segment.value {
                Some(value) => tally.add(value, from, to - lost),
                None => unknown_ns = unknown_ns.saturating_add(to - from - lost),
            }
        }
    }
    let values = tally.shares();
    Ok(UtilizationResidency { subject, while_running, values, unknown_ns, lost_ns })
}
