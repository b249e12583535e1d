//! How long a CPU was in each idle state.

use std::collections::BTreeMap;

use serde::Serialize;

use super::residency::{Share, Tally};
use crate::Missing;
use crate::recording::Recording;

/// One CPU's time in idle states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IdleResidency {
    /// The CPU.
    pub cpu: u32,
    /// Time in each state, by the state's number.
    pub states: Vec<Share<u32>>,
    /// The states' names, in the order of `states`; none where unknown.
    pub names: Vec<Option<String>>,
    /// Time in no idle state, gaps left out.
    pub awake_ns: u64,
    /// Time in gaps of the recording.
    pub lost_ns: u64,
}

impl IdleResidency {
    /// Of every CPU that was idle or that a topology names, ascending.
    ///
    /// # Errors
    /// No stay in any idle state: they were not recorded, or no CPU ever rested.
    pub fn all(recording: &Recording<'_>) -> Result<Vec<IdleResidency>, Missing> {
        let mut stays = BTreeMap::<u32, Vec<(u32, u64, u64)>>::new();
        for (cpu, state, from, to) in recording.idle() {
            stays.entry(cpu).or_default().push((state, from, to));
        }
        if stays.is_empty() {
            return Err(Missing::rows("idle states", "idle"));
        }
        for cpu in recording.topology().cpus() {
            stays.entry(cpu.cpu).or_default();
        }
        let names = recording.idle_names();
        Ok(stays.into_iter().map(|(cpu, stays)| residency(recording, cpu, stays, &names)).collect())
    }
}

fn residency(
    recording: &Recording<'_>,
    cpu: u32,
    mut stays: Vec<(u32, u64, u64)>,
    names: &BTreeMap<(u32, u32), &str>,
) -> IdleResidency {
    let (span, gaps) = (recording.span(), recording.gaps());
    stays.sort_by_key(|stay| stay.1);
    let mut tally = Tally::default();
    let mut idle_ns = 0_u64;
    for (state, from, to) in stays {
        let seen = to - from - gaps.overlap_ns(Some(cpu), from, to);
        idle_ns = idle_ns.saturating_add(seen);
        tally.add(state, from, from + seen);
    }
    let states = tally.shares();
    let name = |share: &Share<u32>| names.get(&(cpu, share.value)).map(|name| (*name).to_owned());
    let lost_ns = gaps.overlap_ns(Some(cpu), span.from_ns, span.to_ns);
    IdleResidency {
        cpu,
        names: states.iter().map(name).collect(),
        states,
        awake_ns: span.length_ns().saturating_sub(idle_ns).saturating_sub(lost_ns),
        lost_ns,
    }
}
