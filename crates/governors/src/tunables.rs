//! The tunables of one governor: what they are, what they hold, and the checks on the way in.

use crate::{Tunable, TunableError};

/// What one tunable is. Default and range may depend on the domain, see [`Tunables::rebase`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TunableSpec {
    pub name: &'static str,
    pub doc: &'static str,
    pub default: i64,
    pub min: i64,
    pub max: i64,
}

/// A switch, 0 or 1.
pub(crate) const fn switch(name: &'static str, doc: &'static str) -> TunableSpec {
    TunableSpec { name, doc, default: 0, min: 0, max: 1 }
}

/// The tunables of one governor, addressed by their position in the table of specifications.
#[derive(Clone, Debug)]
pub(crate) struct Tunables<const N: usize> {
    governor: &'static str,
    specs: [TunableSpec; N],
    /// None: the default.
    values: [Option<i64>; N],
}

impl<const N: usize> Tunables<N> {
    pub const fn new(governor: &'static str, specs: [TunableSpec; N]) -> Tunables<N> {
        Tunables { governor, specs, values: [None; N] }
    }

    /// The present value of tunable number `at`.
    pub fn get(&self, at: usize) -> i64 {
        self.values[at].unwrap_or(self.specs[at].default)
    }

    /// The present value of a tunable whose range has no negative numbers.
    pub fn unsigned(&self, at: usize) -> u64 {
        u64::try_from(self.get(at)).unwrap_or(0)
    }

    /// Whether a switch is on.
    pub fn on(&self, at: usize) -> bool {
        self.get(at) != 0
    }

    /// Takes over default and lowest value from the domain. A value that was set before is kept,
    /// but raised to the lowest.
    pub fn rebase(&mut self, at: usize, default: i64, min: i64) {
        let spec = &mut self.specs[at];
        spec.min = min.min(spec.max);
        spec.default = default.clamp(spec.min, spec.max);
        self.values[at] = self.values[at].map(|value| value.max(spec.min));
    }

    /// Changes a range that depends on another tunable.
    pub fn narrow(&mut self, at: usize, min: i64, max: i64) {
        self.specs[at].min = min;
        self.specs[at].max = max;
    }

    /// Sets a tunable by name and gives its position.
    pub fn set(&mut self, name: &str, value: i64) -> Result<usize, TunableError> {
        let Some(at) = self.specs.iter().position(|spec| spec.name == name) else {
            return Err(TunableError::Unknown {
                governor: self.governor,
                name: name.to_owned(),
                known: self.specs.iter().map(|spec| spec.name).collect(),
            });
        };
        let TunableSpec { name, min, max, .. } = self.specs[at];
        if value < min || value > max {
            let governor = self.governor;
            return Err(TunableError::OutOfRange { governor, name, value, min, max });
        }
        self.values[at] = Some(value);
        Ok(at)
    }

    /// All tunables with their present values.
    pub fn list(&self) -> Vec<Tunable> {
        let tunable =
            |(at, &TunableSpec { name, doc, default, min, max }): (usize, &TunableSpec)| Tunable {
                name,
                doc,
                value: self.get(at),
                default,
                min,
                max,
            };
        self.specs.iter().enumerate().map(tunable).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tunables() -> Tunables<2> {
        Tunables::new(
            "test",
            [
                switch("on", "on or off"),
                TunableSpec { name: "n", doc: "", default: 3, min: 1, max: 9 },
            ],
        )
    }

    #[test]
    fn values_outside_and_unknown_names_are_refused() {
        let mut tunables = tunables();
        assert_eq!(tunables.set("n", 9), Ok(1));
        let error = tunables.set("n", 10).unwrap_err();
        assert_eq!(error.to_string(), "test: n = 10 is outside 1..=9");
        let error = tunables.set("m", 1).unwrap_err();
        assert_eq!(error.to_string(), "test has no tunable `m`; it has on, n");
        assert_eq!(tunables.get(1), 9);
    }

    #[test]
    fn a_domain_changes_defaults_but_not_what_was_set() {
        let mut tunables = tunables();
        tunables.rebase(1, 5, 4);
        assert_eq!(tunables.get(1), 5);
        tunables.set("n", 7).unwrap();
        tunables.rebase(1, 2, 2);
        assert_eq!(tunables.get(1), 7);
        tunables.rebase(1, 8, 8);
        assert_eq!(tunables.get(1), 8, "raised to the lowest value");
    }
}
