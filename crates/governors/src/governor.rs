//! What every governor is.

use crate::{Decision, Domain, Event};
use flyball_units::Nanos;
use std::fmt;

/// A rule that chooses the frequency of one clock domain.
pub trait Governor: Send {
    /// Upstream name, as in `scaling_governor` or the daemon's name.
    fn name(&self) -> &'static str;

    /// Which events it has to be given, and how fine they must be.
    fn needs(&self) -> Needs;

    /// Takes over a domain. The rule keeps its own copy and is told of changes by events. One that
    /// polls asks to be woken at once: the first poll is what the next one is compared with.
    fn start(&mut self, domain: &Domain, now: Nanos) -> Decision;

    /// Decides on an event. `now` never goes backwards.
    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision;

    /// Time between two polls, where it polls: what a sweep over the phase of its polls covers.
    fn poll_interval(&self) -> Option<Nanos> {
        None
    }

    /// Its tunables with their present values, in a fixed order.
    fn tunables(&self) -> Vec<Tunable>;

    /// Sets a tunable by its upstream name; takes effect with the next event.
    ///
    /// # Errors
    /// A name it does not have, or a value outside the range.
    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError>;
}

/// Events that a governor has to be given. What a machine can't deliver makes the governor
/// unusable there, and the need is what the refusal names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Needs {
    /// Cumulative busy and idle times at the times it asks to be woken.
    pub poll: bool,
    /// A poll gives the times of all CPUs of the machine, in order, not of the domain's alone.
    pub whole_machine: bool,
    /// A poll waits until the scheduler next calls cpufreq for a CPU of the domain: at a tick of a busy
    /// CPU, a wake-up, or when a task goes to sleep; never while all of them are idle.
    pub deferrable: bool,
    /// A sample, busy or idle, at each statistics tick of each CPU; the tick's rate it was made
    /// for, in Hz.
    pub tick_hz: Option<u32>,
    /// Entry to and exit from idle.
    pub idle: bool,
    /// The scheduler's utilisation signals.
    pub utilization: bool,
    /// The package's temperature.
    pub temperature: bool,
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tick = self.tick_hz.map(|hz| format!("a tick of {hz} Hz"));
        let named = [
            (self.poll && !self.whole_machine).then_some("busy and idle times at its polls"),
            self.whole_machine.then_some("busy and idle times of all CPUs at its polls"),
            tick.as_deref(),
            self.idle.then_some("entries to and exits from idle"),
            self.utilization.then_some("the scheduler's utilisation"),
            self.temperature.then_some("the package's temperature"),
        ];
        let named: Vec<&str> = named.into_iter().flatten().collect();
        f.write_str(if named.is_empty() { "nothing" } else { "" })?;
        f.write_str(&named.join(", "))
    }
}

setters!(Needs {
    poll: bool,
    whole_machine: bool,
    deferrable: bool,
    tick_hz: Option<u32>,
    idle: bool,
    utilization: bool,
    temperature: bool,
});

impl Needs {
    /// Nothing but limits and the CPUs that are online.
    pub const NOTHING: Needs = Needs {
        poll: false,
        whole_machine: false,
        deferrable: false,
        tick_hz: None,
        idle: false,
        utilization: false,
        temperature: false,
    };
}

/// A tunable as a user sees it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Tunable {
    /// Upstream name.
    pub name: &'static str,
    /// What it does, with the unit.
    pub doc: &'static str,
    /// Present value.
    pub value: i64,
    /// Upstream default.
    pub default: i64,
    /// Lowest value accepted.
    pub min: i64,
    /// Highest value accepted.
    pub max: i64,
}

impl Tunable {
    /// A tunable at its default, of which any value is accepted; [`Tunable::range`] narrows that.
    pub const fn new(name: &'static str, doc: &'static str, default: i64) -> Tunable {
        Tunable { name, doc, value: default, default, min: i64::MIN, max: i64::MAX }
    }

    /// The same with a range of accepted values.
    #[must_use]
    pub const fn range(mut self, range: std::ops::RangeInclusive<i64>) -> Tunable {
        (self.min, self.max) = (*range.start(), *range.end());
        self
    }

    /// The same with another present value.
    #[must_use]
    pub const fn value(mut self, value: i64) -> Tunable {
        self.value = value;
        self
    }
}

/// Why a tunable was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TunableError {
    /// The governor has no such tunable.
    #[error("{governor} has no tunable `{name}`; it has {}", list(.known))]
    Unknown {
        /// The governor's name.
        governor: &'static str,
        /// What was asked for.
        name: String,
        /// What it has.
        known: Vec<&'static str>,
    },
    /// The value lies outside the range.
    #[error("{governor}: {name} = {value} is outside {min}..={max}")]
    OutOfRange {
        /// The governor's name.
        governor: &'static str,
        /// The tunable's name.
        name: &'static str,
        /// What was asked for.
        value: i64,
        /// Lowest value accepted.
        min: i64,
        /// Highest value accepted.
        max: i64,
    },
}

fn list(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
