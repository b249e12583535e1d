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
        let mut cpus = BTreeMap::<u32, Stays>::new();
        // Mostly each CPU's are in order as the table has them, and millions need no copy.
        let mut begins = BTreeMap::<u32, u64>::new();
        let in_order = recording
            .idle()
            .all(|(cpu, _, from, _)| begins.insert(cpu, from).is_none_or(|before| before <= from));
        let mut add = |(cpu, state, from, to): (u32, u32, u64, u64)| {
            cpus.entry(cpu).or_default().add(recording, cpu, state, from, to);
        };
        if in_order {
            recording.idle().for_each(add);
        } else {
            let mut stays: Vec<(u32, u32, u64, u64)> = recording.idle().collect();
            stays.sort_by_key(|stay| stay.2);
            stays.into_iter().for_each(&mut add);
        }
        if cpus.is_empty() {
            return Err(Missing::rows("idle states", "idle"));
        }
        for cpu in recording.topology().cpus() {
            cpus.entry(cpu.cpu).or_default();
        }
        let names = recording.idle_names();
        Ok(cpus.into_iter().map(|(cpu, stays)| residency(recording, cpu, stays, &names)).collect())
    }
}

/// One CPU's stays so far.
#[derive(Default)]
struct Stays {
    tally: Tally<u32>,
    idle_ns: u64,
}

impl Stays {
    /// The next in order of time.
    fn add(&mut self, recording: &Recording<'_>, cpu: u32, state: u32, from: u64, to: u64) {
        let seen = to - from - recording.gaps().overlap_ns(Some(cpu), from, to);
        self.idle_ns = self.idle_ns.saturating_add(seen);
        self.tally.add(state, from, from + seen);
    }
}

fn residency(
    recording: &Recording<'_>,
    cpu: u32,
    Stays { tally, idle_ns }: Stays,
    names: &BTreeMap<(u32, u32), &str>,
) -> IdleResidency {
    let (span, gaps) = (recording.span(), recording.gaps());
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
