//! The modes that powerd and powerd++ share, by their flags -a, -b and -n.

use crate::tunables::TunableSpec;

/// The tunable that chooses the mode.
pub(in crate::catalogue) const SPEC: TunableSpec = TunableSpec {
    name: "mode",
    doc: "0 by power source (adp on battery, else hadp), 1 hadp, 2 adp, 3 minimum, 4 maximum \
          (-a, -b, -n)",
    default: 0,
    min: 0,
    max: 4,
};

/// How a daemon chooses the frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::catalogue) enum PowerdMode {
    Hiadaptive,
    Adaptive,
    Minimum,
    Maximum,
}

impl PowerdMode {
    /// The mode that the tunable's value means.
    pub fn of(value: i64, on_battery: bool) -> PowerdMode {
        match value {
            1 => PowerdMode::Hiadaptive,
            2 => PowerdMode::Adaptive,
            3 => PowerdMode::Minimum,
            4 => PowerdMode::Maximum,
            _ if on_battery => PowerdMode::Adaptive,
            _ => PowerdMode::Hiadaptive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_source_chooses_the_mode() {
        assert_eq!(PowerdMode::of(SPEC.default, true), PowerdMode::Adaptive);
        assert_eq!(PowerdMode::of(SPEC.default, false), PowerdMode::Hiadaptive);
        assert_eq!(PowerdMode::of(1, true), PowerdMode::Hiadaptive);
    }
}
