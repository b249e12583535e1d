//! Which kind of decision a distance comes from, by experiment: the phases once more, each with what the kernel decided in its playing
//! in place of what the model decides.
//!
//! ```text
//!   distance of the model's own        with the kernel's CPUs    with its frequencies    with both
//!   over the bar                       within it                 over it                 within it    where tasks run
//!   over the bar                       over it                   within it               within it    which frequency holds
//!   over the bar                       within it                 within it               within it    either
//!   over the bar                       over it                   over it                 within it    both together
//!   over the bar                       ...                       ...                     over it      something else
//! ```

use super::figures::Figures;
use super::judge::{Agreement, Apart, Line};
use flyball_units::Nanos;
use serde::Serialize;

/// Kernels that phases have as the kernel took them in their playings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernels {
    /// Where tasks run.
    pub placements: bool,
    /// Which frequency holds.
    pub frequencies: bool,
}

/// The experiments, each with the name of its run.
pub(super) const EXPERIMENTS: [(&str, Kernels); 3] = [
    ("model-kernel-placements", Kernels { placements: true, frequencies: false }),
    ("model-kernel-frequencies", Kernels { placements: false, frequencies: true }),
    ("model-kernel-both", Kernels { placements: true, frequencies: true }),
];

/// What a distance comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Where tasks run.
    Placement,
    /// Which frequency holds.
    Frequency,
    /// The kernel's placements alone would do, and so would its frequencies.
    Either,
    /// Neither would do without the other.
    Both,
    /// Something else: with both the figure differs still.
    Else,
}

/// Distances with decisions of the kernel's, in the unit of the bar, and what these tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Because {
    /// With the kernel's placements.
    pub placements: Option<f64>,
    /// With its frequencies.
    pub frequencies: Option<f64>,
    /// With both.
    pub both: Option<f64>,
    /// What the distance comes from.
    pub cause: Cause,
}

/// Says of each line that differs what that comes from. `experiments`: the figures of the phases of [`EXPERIMENTS`].
pub(super) fn explain(
    lines: &mut [Line],
    board: &[Figures],
    experiments: &[Vec<Figures>; 3],
    tick: Nanos,
) {
    let differing = lines.iter_mut().filter(|line| line.agreement == Agreement::Differs);
    for line in differing {
        let apart =
            experiments.each_ref().map(|phases| Apart::of_figures(&line.quantity, board, phases));
        let agree = apart.each_ref().map(|apart| apart.agreement(tick) == Agreement::Agrees);
        let cause = match agree {
            [_, _, false] => Cause::Else,
            [true, true, _] => Cause::Either,
            [true, false, _] => Cause::Placement,
            [false, true, _] => Cause::Frequency,
            [false, false, true] => Cause::Both,
        };
        let [placements, frequencies, both] = apart.map(|apart| apart.distance);
        line.because = Some(Because { placements, frequencies, both, cause });
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Quantity;
    use super::super::judge::{Sides, judge};
    use super::*;

    const TICK: Nanos = Nanos::from_millis(4);

    fn phases(khz: f64) -> Vec<Figures> {
        let domain = "big".to_owned();
        let frequency = (Quantity::BusyFrequency { domain: domain.clone() }, Some(khz));
        let busy = (Quantity::BusyResidency { domain, khz: 600_000 }, Some(50.0));
        vec![Figures::from([frequency, busy])]
    }

    /// 3 % are allowed; the model has 10 more than the board.
    #[test]
    fn a_distance_comes_from_the_decisions_without_which_it_is_gone() {
        let cause = |with: [f64; 3]| {
            let (board, model) = (phases(100.0), phases(110.0));
            let sides = Sides { board: &board, model: &model, alone: &[], again: true };
            let mut lines = judge(sides, TICK);
            explain(&mut lines, &board, &with.map(phases), TICK);
            assert!(lines.iter().any(|line| line.because.is_none()), "the share agrees");
            lines.iter().find_map(|line| line.because.clone()).unwrap()
        };
        let placement = cause([101.0, 109.0, 100.0]);
        assert_eq!(
            placement,
            Because {
                placements: Some(1.0),
                frequencies: Some(9.0),
                both: Some(0.0),
                cause: Cause::Placement
            }
        );
        assert_eq!(cause([110.0, 98.0, 100.0]).cause, Cause::Frequency);
        assert_eq!(cause([102.0, 98.0, 100.0]).cause, Cause::Either);
        assert_eq!(cause([104.0, 96.0, 100.0]).cause, Cause::Both);
        assert_eq!(cause([100.0, 100.0, 104.0]).cause, Cause::Else, "both are not enough");
    }
}
