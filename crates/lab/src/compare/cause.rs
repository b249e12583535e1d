//! Which kind of decision a distance comes from, by experiment: the phases once more, each with what the kernel decided in its playing
//! in place of what the model decides.
//!
//! ```text
//!   with the kernel's   placements   frequencies   both     care, with its placements or without
//!   the distance is     within       over          within            where tasks run
//!                       over         within        within   over     which frequency holds
//!                       over         within        within   within   when idle CPUs are looked after, which asks for a frequency
//!                       within       within        within            either of the first two
//!                       over         over          within            both together
//!                       ...          ...           over              something else
//! ```
//!
//! Within: within the bar, and at most half of the model's own distance.

use super::figures::Figures;
use super::judge::{Agreement, Apart, Line};
use flyball_units::Nanos;
use serde::Serialize;

/// Decisions that phases have as the kernel took them in their playings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernels {
    /// Where tasks run.
    pub placements: bool,
    /// Which frequency holds.
    pub frequencies: bool,
    /// When signals of idle CPUs are brought up to date.
    pub care: bool,
}

/// The experiments, each with the name of its run.
pub(super) const EXPERIMENTS: [(&str, Kernels); 5] = [
    ("model-kernel-placements", Kernels { placements: true, ..MODELS }),
    ("model-kernel-frequencies", Kernels { frequencies: true, ..MODELS }),
    ("model-kernel-both", Kernels { placements: true, frequencies: true, ..MODELS }),
    ("model-kernel-care", Kernels { care: true, ..MODELS }),
    ("model-kernel-placements-care", Kernels { placements: true, care: true, ..MODELS }),
];

/// All are the model's own.
const MODELS: Kernels = Kernels { placements: false, frequencies: false, care: false };

/// The part of a distance that may be left where it comes from a decision.
const LEFT: f64 = 0.5;

/// What a distance comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Where tasks run.
    Placement,
    /// Which frequency holds.
    Frequency,
    /// When signals of idle CPUs are brought up to date, which asks for a frequency each time.
    Care,
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
    /// With neither, but signals of idle CPUs brought up to date when the kernel did.
    pub care: Option<f64>,
    /// With that and its placements.
    pub placements_care: Option<f64>,
    /// What the distance comes from.
    pub cause: Cause,
}

/// Says of each line that differs what that comes from. `experiments`: the figures of the phases of [`EXPERIMENTS`].
pub(super) fn explain(
    lines: &mut [Line],
    board: &[Figures],
    experiments: &[Vec<Figures>; 5],
    tick: Nanos,
) {
    let differing = lines.iter_mut().filter(|line| line.agreement == Agreement::Differs);
    for line in differing {
        let apart =
            experiments.each_ref().map(|phases| Apart::of_figures(&line.quantity, board, phases));
        // A distance that was just beyond the bar, and then is just within it, is no other one.
        let is_less = |with: Option<f64>| {
            let both = line.distance.zip(with);
            both.is_none_or(|(own, with)| with.abs() <= LEFT * own.abs())
        };
        let agree = apart
            .each_ref()
            .map(|apart| apart.agreement(tick) == Agreement::Agrees && is_less(apart.distance));
        let cause = match agree {
            [_, _, false, ..] => Cause::Else,
            [true, true, ..] => Cause::Either,
            [true, false, ..] => Cause::Placement,
            [false, true, _, true, _] | [false, true, _, _, true] => Cause::Care,
            [false, true, ..] => Cause::Frequency,
            [false, false, true, ..] => Cause::Both,
        };
        let [placements, frequencies, both, care, placements_care] =
            apart.map(|apart| apart.distance);
        line.because =
            Some(Because { placements, frequencies, both, care, placements_care, cause });
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
        let cause = |with: [f64; 5]| {
            let (board, model) = (phases(100.0), phases(110.0));
            let sides = Sides { board: &board, model: &model, alone: &[], again: true };
            let mut lines = judge(sides, TICK);
            explain(&mut lines, &board, &with.map(phases), TICK);
            assert!(lines.iter().any(|line| line.because.is_none()), "the share agrees");
            lines.iter().find_map(|line| line.because.clone()).unwrap()
        };
        let placement = cause([101.0, 109.0, 100.0, 110.0, 102.0]);
        assert_eq!(
            placement,
            Because {
                placements: Some(1.0),
                frequencies: Some(9.0),
                both: Some(0.0),
                care: Some(10.0),
                placements_care: Some(2.0),
                cause: Cause::Placement
            }
        );
        assert_eq!(cause([110.0, 98.0, 100.0, 110.0, 110.0]).cause, Cause::Frequency);
        assert_eq!(cause([110.0, 98.0, 100.0, 101.0, 110.0]).cause, Cause::Care);
        assert_eq!(cause([110.0, 98.0, 100.0, 110.0, 101.0]).cause, Cause::Care);
        assert_eq!(cause([102.0, 98.0, 100.0, 100.0, 100.0]).cause, Cause::Either);
        assert_eq!(cause([104.0, 96.0, 100.0, 100.0, 100.0]).cause, Cause::Both);
        assert_eq!(cause([100.0, 100.0, 104.0, 100.0, 100.0]).cause, Cause::Else);
    }

    /// 3.1 % without, 2.9 with.
    #[test]
    fn what_is_just_within_the_bar_is_no_cause() {
        let (board, model) = (phases(100.0), phases(103.1));
        let sides = Sides { board: &board, model: &model, alone: &[], again: true };
        let mut lines = judge(sides, TICK);
        explain(&mut lines, &board, &[102.9, 100.0, 100.0, 102.9, 102.9].map(phases), TICK);
        let because = lines.iter().find_map(|line| line.because.clone()).unwrap();
        assert_eq!(because.cause, Cause::Frequency);
    }
}
