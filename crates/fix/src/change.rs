//! A change of settings, as a condition of an experiment has it.

use flyball_lab::experiment::{Condition, Placement};
use flyball_units::{CpuId, Frequency, KiloHertz, Nanos};
use serde::Serialize;
use std::fmt;

/// Kinds of changes, the smallest first: from one that touches a single task to one that gives up
/// frequency scaling on a clock domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The task's demand grows faster while it runs.
    Ramp,
    /// The scheduler takes the task's utilisation to be at least so much.
    Uclamp,
    /// Lower limit of one clock domain.
    MinFrequency,
    /// Bound on the wake-up latency of idle states.
    IdleLatency,
    /// Preference of the hardware's own control.
    Preference,
    /// The task on one CPU of the fastest kind.
    Placement,
    /// The governor of one clock domain.
    Governor,
}

impl Kind {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Ramp => "ramp of the task",
            Kind::Uclamp => "uclamp of the task",
            Kind::MinFrequency => "minimum frequency",
            Kind::IdleLatency => "idle states",
            Kind::Preference => "energy preference",
            Kind::Placement => "placement",
            Kind::Governor => "governor",
        }
    }

    /// What it costs, in words.
    pub const fn cost(self) -> &'static str {
        match self {
            Kind::Ramp => "higher frequency sooner while this task runs for long, none otherwise",
            Kind::Uclamp => "higher frequency while this task is runnable, none otherwise",
            Kind::MinFrequency => "no lower frequency on this clock domain, whoever runs there",
            Kind::IdleLatency => "shallower sleep on all CPUs: more power while idle, less turbo",
            Kind::Preference => "the hardware prefers speed on this clock domain",
            Kind::Placement => "one CPU of the fastest kind is this task's first",
            Kind::Governor => "the highest frequency on this clock domain whenever it is not idle",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Change {
    /// [`Kind::Ramp`].
    Ramp {
        /// How many times as fast as load tracking.
        multiplier: u32,
    },
    /// [`Kind::Uclamp`].
    Uclamp {
        /// 0 to 1024.
        least: u32,
    },
    /// [`Kind::MinFrequency`].
    MinFrequency {
        /// The policy.
        policy: u32,
        /// One of its CPUs.
        cpu: CpuId,
        /// The limit.
        #[serde(rename = "khz")]
        frequency: KiloHertz,
    },
    /// [`Kind::IdleLatency`].
    IdleLatency {
        /// In microseconds; 0 allows no idle state at all.
        us: u32,
    },
    /// [`Kind::Preference`].
    Preference {
        /// The policy.
        policy: u32,
        /// One of its CPUs.
        cpu: CpuId,
        /// The kernel's name.
        name: String,
    },
    /// [`Kind::Placement`].
    Placement {
        /// The CPU.
        cpu: CpuId,
    },
    /// [`Kind::Governor`].
    Governor {
        /// The policy.
        policy: u32,
        /// One of its CPUs.
        cpu: CpuId,
        /// The kernel's name.
        name: String,
    },
}

impl Change {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Change::Ramp { .. } => Kind::Ramp,
            Change::Uclamp { .. } => Kind::Uclamp,
            Change::MinFrequency { .. } => Kind::MinFrequency,
            Change::IdleLatency { .. } => Kind::IdleLatency,
            Change::Preference { .. } => Kind::Preference,
            Change::Placement { .. } => Kind::Placement,
            Change::Governor { .. } => Kind::Governor,
        }
    }

    fn apply(&self, condition: &mut Condition) {
        match self {
            Change::Ramp { multiplier } => condition.settings.response_ramp = Some(*multiplier),
            Change::Uclamp { least } => condition.settings.uclamp_min = Some(*least),
            Change::MinFrequency { cpu, frequency, .. } => {
                condition.settings.min = Some(Frequency::At(*frequency));
                condition.settings.domains_of = Some((*cpu).into());
            }
            Change::IdleLatency { us } => {
                condition.settings.idle_latency = Some(Nanos::from_micros(u64::from(*us)));
            }
            Change::Preference { cpu, name, .. } => {
                condition.settings.epp = Some(name.clone());
                condition.settings.domains_of = Some((*cpu).into());
            }
            Change::Placement { cpu } => {
                condition.placement = Placement::Cpus((*cpu).into());
            }
            Change::Governor { cpu, name, .. } => {
                condition.settings.governor = Some(name.clone());
                condition.settings.domains_of = Some((*cpu).into());
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Ramp { multiplier } => write!(f, "ramp {multiplier}"),
            Change::Uclamp { least } => write!(f, "uclamp min {least}"),
            Change::MinFrequency { policy, frequency, .. } => {
                write!(f, "policy{policy} at least {} MHz", frequency.0 / 1_000)
            }
            Change::IdleLatency { us: 0 } => f.write_str("no idle states"),
            Change::IdleLatency { us } => write!(f, "idle states up to {us} us"),
            Change::Preference { policy, name, .. } => write!(f, "policy{policy} EPP {name}"),
            Change::Placement { cpu } => write!(f, "on {cpu}"),
            Change::Governor { policy, name, .. } => write!(f, "policy{policy} {name}"),
        }
    }
}

/// Changes that are tried together; none of them is the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Candidate {
    /// The changes, the smallest kind first.
    pub changes: Vec<Change>,
}

impl Candidate {
    /// Nothing changed.
    pub const BASELINE: Candidate = Candidate { changes: Vec::new() };

    /// One change alone.
    pub fn of(change: Change) -> Candidate {
        Candidate { changes: vec![change] }
    }

    /// Without a kind of change.
    pub fn without(&self, kind: Kind) -> Candidate {
        let kept = self.changes.iter().filter(|change| change.kind() != kind);
        Candidate { changes: kept.cloned().collect() }
    }

    /// The condition of an experiment: `base` with the changes, under the candidate's name.
    pub fn condition(&self, base: &Condition) -> Condition {
        let mut condition = Condition { name: Some(self.to_string()), ..base.clone() };
        self.changes.iter().for_each(|change| change.apply(&mut condition));
        condition
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.changes.is_empty() {
            return f.write_str("baseline");
        }
        for (at, change) in self.changes.iter().enumerate() {
            write!(f, "{}{change}", if at == 0 { "" } else { " + " })?;
        }
        Ok(())
    }
}
