//! Where a daemon stands, as it says itself.

use crate::govern_one::State;
use crate::{Governed, SourceKind};
use flyball_governors::Tunable;
use flyball_units::{CpuId, KiloHertz, Nanos};
use serde::Serialize;

/// Where a daemon stands.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The governor's name.
    pub governor: String,
    /// Whether nothing is written.
    pub shadow: bool,
    /// Its tunables with their values.
    pub tunables: Vec<Tunable>,
    /// Where the CPUs' times come from.
    pub source: SourceKind,
    /// What is certain of them.
    pub resolution_ns: Nanos,
    /// Since the start.
    pub running_ns: Nanos,
    /// CPU time of the loop's thread.
    pub cpu_time_ns: Nanos,
    /// Times that it woke up for a governor.
    pub polls: u64,
    /// Of these, those that came later than by a whole poll.
    pub late: u64,
    /// Times that the machine was suspended.
    pub suspends: u64,
    /// Records of the log that did not fit into the ring.
    pub dropped: u64,
    /// The clock domains.
    pub domains: Vec<DomainStatus>,
}

/// Where one domain stands.
#[derive(Clone, Debug, Serialize)]
pub struct DomainStatus {
    /// The policy.
    pub name: String,
    /// Its online CPUs.
    pub cpus: Vec<CpuId>,
    /// `ruled`, `gone` (its CPUs are offline), `taken` (by another governor).
    pub state: &'static str,
    /// Its limits.
    pub min_khz: KiloHertz,
    /// Its limits.
    pub max_khz: KiloHertz,
    /// What was asked for last, or what it began with.
    pub current_khz: KiloHertz,
    /// Events that the governor was told.
    pub events: u64,
    /// Times that it asked for a frequency.
    pub requests: u64,
    /// Times that the kernel was told.
    pub writes: u64,
    /// Writes that were refused.
    pub failures: u64,
    /// Decisions beside what the machine did; in the shadow only.
    pub compared: u64,
    /// Those that named the machine's frequency.
    pub agreed: u64,
}

impl DomainStatus {
    pub(crate) fn of(domain: &Governed) -> DomainStatus {
        let counts = domain.counts;
        DomainStatus {
            name: domain.name(),
            cpus: domain.view.cpus.clone(),
            state: match domain.state {
                State::Ruled => "ruled",
                State::Gone => "gone",
                State::Taken => "taken",
            },
            min_khz: domain.view.min,
            max_khz: domain.view.max,
            current_khz: domain.current,
            events: counts.events,
            requests: counts.requests,
            writes: counts.writes,
            failures: counts.failures,
            compared: counts.compared,
            agreed: counts.agreed,
        }
    }
}
