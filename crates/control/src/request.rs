//! What to hold.

use flyball_units::{CpuSet, Frequency, Nanos};
use serde::Serialize;
use std::collections::BTreeMap;

/// The settings to hold; what is none stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// A governor, by the name that the driver offers.
    pub governor: Option<String>,
    /// Tunables of the governor that is then in force, by their upstream names.
    pub tunables: BTreeMap<String, i64>,
    /// One frequency, held.
    pub frequency: Option<Frequency>,
    /// The lower limit.
    pub min: Option<Frequency>,
    /// The upper limit.
    pub max: Option<Frequency>,
    /// Whether frequencies above the nominal one may be used.
    pub boost: Option<bool>,
    /// Energy performance preference, where the hardware chooses the frequency.
    pub epp: Option<String>,
    /// Only idle states that wake within this time, in whole microseconds.
    pub idle_latency: Option<Nanos>,
    /// CPUs whose clock domains are held; all where none are given.
    pub cpus: Option<CpuSet>,
    /// What the owner of the hold will write again and again while it lasts: it is restored at the
    /// end like the rest.
    pub moving: Option<Moving>,
}

/// What moves during a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Moving {
    /// `scaling_setspeed`, under the governor `userspace`.
    Speed,
    /// `scaling_min_freq` and `scaling_max_freq`, under whatever governor.
    Limits,
}

impl Moving {
    /// The files of a policy that move.
    pub(crate) fn files(self) -> &'static [&'static str] {
        match self {
            Moving::Speed => &["scaling_setspeed"],
            Moving::Limits => &["scaling_max_freq", "scaling_min_freq"],
        }
    }
}

impl Request {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        Request { cpus: None, ..self.clone() } == Request::default()
    }

    /// Whether a file of cpufreq has to change, and not idle states alone.
    pub(crate) fn needs_cpufreq(&self) -> bool {
        !Request { idle_latency: None, ..self.clone() }.is_empty()
    }

    /// Whether a governor may come or go, or its tunables change.
    pub(crate) fn touches_governor(&self) -> bool {
        self.governor.is_some() || self.frequency.is_some() || !self.tunables.is_empty()
    }

    /// Whether frequencies are asked for.
    pub(crate) fn needs_limits(&self) -> bool {
        self.frequency.is_some() || self.min.is_some() || self.max.is_some()
    }

    /// The same without the switches that come first.
    pub(crate) fn without_boost(&self) -> Request {
        Request { boost: None, ..self.clone() }
    }
}
