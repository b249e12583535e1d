//! What each task did, and the task that is looked at in detail.

use std::collections::BTreeMap;

use flyball_events::Recording;
use flyball_events::questions::{
    CpuTime, Distribution, Outcome, Rise, RunningFrequency, Share, Stages, States, Target,
    UtilizationResidency, WakeupLatency,
};
use flyball_events::recording::Task;

use crate::model::{
    CoreLevel, LatencyBucket, LevelTime, StageTime, TaskDetail, TaskStates, UtilizationShare,
};

/// Tasks whose mean frequency is asked for: each costs a look at all slices.
const WITH_FREQUENCY: usize = 24;
/// Width of a range of utilisation.
const BIN: u32 = 128;

/// Every task that ran or woke up, the one that ran longest first.
pub(super) fn states(recording: &Recording<'_>, looked_at: Option<&Task>) -> Vec<TaskStates> {
    let length = recording.span().length_ns().max(1) as f64;
    let latencies = WakeupLatency::all(recording).unwrap_or_default();
    let latencies: BTreeMap<u32, WakeupLatency> =
        latencies.into_iter().map(|answer| (answer.task.tid, answer)).collect();
    let mut found = States::all(recording).unwrap_or_default();
    found.retain(|states| states.task.tid != 0);
    found.sort_by_key(|states| std::cmp::Reverse(states.running_ns));
    let looked_at = looked_at.map(|task| task.tid);
    let one = |(at, states): (usize, &States)| {
        let tid = states.task.tid;
        let share = |ns: u64| ns as f64 / length;
        let answer = latencies.get(&tid);
        let latency = answer.and_then(|answer| answer.latency.as_ref());
        let us = |of: fn(&Distribution) -> u64| latency.map(|found| of(found) as f64 / 1e3);
        let wanted = at < WITH_FREQUENCY || looked_at == Some(tid);
        let frequency = wanted.then(|| RunningFrequency::of(recording, tid).ok()).flatten();
        TaskStates {
            task: states.task.name.clone(),
            tid,
            ran_ms: states.running_ns as f64 / 1e6,
            running: share(states.running_ns),
            runnable: share(states.runnable_ns),
            sleeping: share(states.sleeping_ns),
            unknown: share(states.unknown_ns.saturating_add(states.exited_ns)),
            wakeups: latency.map_or(0, |found| found.count),
            wakeups_open: answer.map_or(0, |answer| answer.unfinished + answer.lost),
            wakeup_median_us: us(|d| d.p50_ns),
            wakeup_p99_us: us(|d| d.p99_ns),
            wakeup_max_us: us(|d| d.max_ns),
            mean_mhz: frequency.and_then(|answer| answer.mean_khz).map(|khz| khz / 1e3),
        }
    };
    found.iter().enumerate().map(one).collect()
}

/// One task in detail, from the begin of the recording's span.
pub(super) fn detail(recording: &Recording<'_>, task: &Task) -> TaskDetail {
    let tid = task.tid;
    let rise = Rise::of(recording, tid, &Target::USUAL).ok();
    let stages = Stages::of(recording, tid).ok();
    let frequency = RunningFrequency::of(recording, tid).ok();
    let utilization = UtilizationResidency::while_running(recording, tid).ok();
    let wakeups = WakeupLatency::of(recording, tid).ok().and_then(|answer| answer.latency);
    let from_ns = recording.span().from_ns;
    TaskDetail {
        task: task.name.clone(),
        tid,
        levels: rise.as_ref().map(levels).unwrap_or_default(),
        peak: rise.as_ref().map(|rise| rise.peak),
        capacities_known: stages.as_ref().is_some_and(|stages| stages.capacities_known),
        stages: stages.map(|stages| stage_times(&stages, from_ns)).unwrap_or_default(),
        frequencies: frequency.as_ref().map(frequencies).unwrap_or_default(),
        utilization: utilization.map(|answer| ranges(&answer.values)).unwrap_or_default(),
        wakeups: wakeups.map(|found| buckets(&found)).unwrap_or_default(),
    }
}

fn levels(rise: &Rise) -> Vec<LevelTime> {
    let level = |time: &flyball_events::questions::TimeTo| {
        let (within_ns, lost) = match time.outcome {
            Outcome::Reached { within_ns, lost, .. } => (Some(within_ns), lost),
            Outcome::Already | Outcome::Never => (None, false),
        };
        LevelTime {
            util: time.level,
            asked: match time.target {
                Target::Value(value) => value.to_string(),
                Target::PercentOfScale(percent) => format!("{percent} %"),
                Target::PercentOfPeak(percent) => format!("{percent} % of the peak"),
            },
            after_ms: time.outcome.after_ns().map(|ns| ns as f64 / 1e6),
            within_ms: within_ns.map(|ns| ns as f64 / 1e6),
            already: time.outcome == Outcome::Already,
            lost,
        }
    };
    rise.times.iter().map(level).collect()
}

fn stage_times(stages: &Stages, from_ns: u64) -> Vec<StageTime> {
    let stage = |stage: &flyball_events::questions::Stage| StageTime {
        core_type: stage.core_type.clone(),
        cpus: stage.cpus.clone(),
        ran_ms: stage.ran_ns as f64 / 1e6,
        left_after_ms: stage.left_ns.map(|left| left.saturating_sub(from_ns) as f64 / 1e6),
    };
    stages.stages.iter().map(stage).collect()
}

fn frequencies(answer: &RunningFrequency) -> Vec<CoreLevel> {
    let of_core = answer.cores.iter().flat_map(|core| {
        core.values.iter().map(|share| CoreLevel {
            core_type: core.core_type.clone(),
            cpus: core.cpus.clone(),
            mhz: share.value as f64 / 1e3,
            ran_ms: share.residency_ns as f64 / 1e6,
        })
    });
    of_core.collect()
}

fn buckets(found: &Distribution) -> Vec<LatencyBucket> {
    let bucket = |bucket: &flyball_events::questions::distribution::Bucket| LatencyBucket {
        below_us: bucket.below_ns as f64 / 1e3,
        count: bucket.count,
    };
    found.buckets.iter().map(bucket).collect()
}

/// Shares of the known time in ranges of equal width.
pub(super) fn ranges(values: &[Share<u32>]) -> Vec<UtilizationShare> {
    let mut sums = BTreeMap::<u32, u64>::new();
    for share in values {
        let sum = sums.entry(share.value / BIN).or_default();
        *sum = sum.saturating_add(share.residency_ns);
    }
    let whole = sums.values().map(|ns| *ns as f64).sum::<f64>().max(1.0);
    let range = |(bin, ns): (u32, u64)| {
        let from = bin.saturating_mul(BIN);
        UtilizationShare { from, to: from.saturating_add(BIN), share: ns as f64 / whole }
    };
    sums.into_iter().map(range).collect()
}

/// The task that is looked at: the one wanted, else the first that the manifest names, else the
/// one that ran longest.
pub(super) fn looked_at(
    recording: &Recording<'_>,
    wanted: Option<&str>,
    workloads: impl Iterator<Item = String>,
) -> Option<Task> {
    let named = wanted.and_then(|wanted| recording.find(wanted).ok());
    let named = named.or_else(|| workloads.filter_map(|name| recording.find(&name).ok()).next());
    named.or_else(|| {
        let mut sums = BTreeMap::<u32, u64>::new();
        for time in CpuTime::all(recording).unwrap_or_default().iter().flat_map(|cpu| &cpu.tasks) {
            *sums.entry(time.task.tid).or_default() += time.ran_ns;
        }
        sums.remove(&0);
        // Of equals the lowest number.
        let longest = sums.iter().rev().max_by_key(|(_, ran)| **ran);
        longest.map(|(tid, _)| recording.task(*tid))
    })
}
