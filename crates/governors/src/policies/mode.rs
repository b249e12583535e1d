//! The modes that powerd and powerd++ share, by their flags -a, -b and -n.

use crate::knobs::Spec;

/// The tunable that chooses the mode.
pub(super) const SPEC: Spec = Spec {
    name: "mode",
    doc: "0 by power source (adp on battery, else hadp), 1 hadp, 2 adp, 3 minimum, 4 maximum \
          (-a, -b, -n)",
    default: 0,
    min: 0,
    max: 4,
};

/// How a daemon chooses the frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Hiadaptive,
    Adaptive,
    Minimum,
    Maximum,
}

impl Mode {
    /// The mode that the tunable's value means.
    pub fn of(value: i64, on_battery: bool) -> Mode {
        match value {
            1 => Mode::Hiadaptive,
            2 => Mode::Adaptive,
            3 => Mode::Minimum,
            4 => Mode::Maximum,
            _ if on_battery => Mode::Adaptive,
            _ => Mode::Hiadaptive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_source_chooses_the_mode() {
        assert_eq!(Mode::of(SPEC.default, true), Mode::Adaptive);
        assert_eq!(Mode::of(SPEC.default, false), Mode::Hiadaptive);
        assert_eq!(Mode::of(1, true), Mode::Hiadaptive);
    }
}
