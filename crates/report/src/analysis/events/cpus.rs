//! What each CPU did: busy, utilisation, idle states.

use std::collections::{BTreeMap, BTreeSet};

use flyball_events::Recording;
use flyball_events::questions::{CpuTime, IdleResidency, Share, UtilizationResidency};
use flyball_events::recording::Subject;
use flyball_stats::weighted_median;

use super::tasks::ranges;
use crate::model::{CpuStates, IdleShare};

/// Every CPU of which anything is known, ascending; none where nothing is but its name.
pub(super) fn all(recording: &Recording<'_>) -> Vec<CpuStates> {
    let length = recording.span().length_ns().max(1) as f64;
    let busy = CpuTime::all(recording).unwrap_or_default();
    let told = !busy.is_empty();
    let busy: BTreeMap<u32, u64> = busy.iter().map(|time| (time.cpu, time.busy_ns)).collect();
    let idle = IdleResidency::all(recording).unwrap_or_default();
    let idle: BTreeMap<u32, IdleResidency> =
        idle.into_iter().map(|answer| (answer.cpu, answer)).collect();
    let mut cpus: BTreeSet<u32> = recording.topology().cpus().map(|cpu| cpu.cpu).collect();
    cpus.extend(busy.keys().chain(idle.keys()));
    let one = |cpu: u32| {
        let known = recording.topology().cpu(cpu);
        let utilization = UtilizationResidency::of(recording, Subject::Cpu(cpu)).ok();
        let values = utilization.map(|answer| answer.values).unwrap_or_default();
        let answer = idle.get(&cpu);
        let span = recording.span();
        CpuStates {
            cpu,
            core_type: recording.topology().core_type(cpu),
            domain: known.and_then(|known| known.domain.clone()),
            busy: told.then(|| busy.get(&cpu).copied().unwrap_or(0) as f64 / length),
            util_median: weighted_median(
                values.iter().map(|share| (share.value, share.residency_ns)),
            ),
            util_max: values.last().map(|share| share.value),
            utilization: ranges(&values),
            idle: answer.map(|answer| states(answer, length)).unwrap_or_default(),
            awake: answer.map(|answer| answer.awake_ns as f64 / length),
            lost: recording.gaps().overlap_ns(Some(cpu), span.from_ns, span.to_ns) as f64 / length,
        }
    };
    let found: Vec<CpuStates> = cpus.into_iter().map(one).collect();
    let anything = told || found.iter().any(|cpu| cpu.util_max.is_some() || cpu.awake.is_some());
    if anything { found } else { Vec::new() }
}

fn states(answer: &IdleResidency, length: f64) -> Vec<IdleShare> {
    let state = |(share, name): (&Share<u32>, &Option<String>)| IdleShare {
        state: share.value,
        name: name.clone(),
        share: share.residency_ns as f64 / length,
        stays: share.visits,
        mean_us: share.residency_ns as f64 / share.visits.max(1) as f64 / 1e3,
    };
    answer.states.iter().zip(&answer.names).map(state).collect()
}
