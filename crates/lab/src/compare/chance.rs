//! What chance makes of a figure: how certain a distance is, and how well the board agrees with itself.

use super::figures::Quantity;
use super::judge::{Agreement, Apart};
use flyball_stats::mean_half_width;
use flyball_units::Nanos;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Playings of which every halving is tried: 462 ways.
const HALVED: usize = 12;

/// Fewer playings than these say little of what others would.
const RESAMPLED: usize = 6;
/// How often playings are drawn from the board's.
const DRAWS: usize = 1000;

/// Half the 95 % interval of the distance. Of means it is that of the mean distance (Student's t), one value per playing: from it to
/// the phases that are that playing `again`, or to all of them. Medians are not the mean of anything: of these it is how far
/// the distance goes where playings are drawn from the board's, each with its phases (bootstrap).
pub(super) fn plus_minus(
    quantity: &Quantity,
    board: &[Option<f64>],
    model: &[Option<f64>],
    again: bool,
) -> Option<f64> {
    if again && quantity.is_by_median() && board.len() >= RESAMPLED {
        return by_resampling(quantity, board, model);
    }
    let playings = if again { board.len() } else { 1 };
    let whole = quantity.typical(board)?;
    let of_playing = |(at, played): (usize, &Option<f64>)| {
        let phases: Vec<_> = model.iter().skip(at % playings).step_by(playings).copied().collect();
        let apart = quantity.typical(&phases)? - (*played)?;
        Some(quantity.bar().distance((whole, whole + apart)))
    };
    let distances: Vec<f64> = board.iter().enumerate().filter_map(of_playing).collect();
    mean_half_width(&distances).filter(|half| half.is_finite())
}

fn by_resampling(quantity: &Quantity, board: &[Option<f64>], model: &[Option<f64>]) -> Option<f64> {
    let whole = Apart::of(quantity, board, model).distance?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut distances: Vec<f64> = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let (mut played, mut phases) = (Vec::new(), Vec::new());
        for _ in board {
            let at = (random.next_u64() % board.len() as u64) as usize;
            played.push(board.get(at).copied().flatten());
            phases.extend(model.iter().skip(at).step_by(board.len()).copied());
        }
        distances.extend(Apart::of(quantity, &played, &phases).distance);
    }
    distances.retain(|distance| distance.is_finite());
    distances.sort_unstable_by(f64::total_cmp);
    let at = |part: f64| distances.get((part * distances.len() as f64) as usize).copied();
    let (low, high) = (at(0.025)?, at(0.975)?);
    Some((whole - low).max(high - whole))
}

/// Whether the interval of a distance holds distances on both sides of the bar. It does where there is no interval of
/// a distance: that is all of it that is known.
pub(super) fn may_be(apart: &Apart, plus_minus: Option<f64>, tick: Nanos) -> bool {
    let Some(distance) = apart.distance else { return false };
    let Some(half) = plus_minus else { return true };
    let (nearest, farthest) = ((distance.abs() - half).max(0.0), distance.abs() + half);
    let allowed = apart.allowed(tick);
    nearest <= allowed && farthest > allowed
}

/// Of the ways to halve the board's playings, the share in which one half agrees with the other by the same bar; None
/// of a single playing. Of an odd number one is left out in turn; of many, the first are taken.
pub(super) fn among(quantity: &Quantity, board: &[Option<f64>], tick: Nanos) -> Option<f64> {
    let played = board.get(..HALVED.min(board.len()))?;
    let half = played.len() / 2;
    if half == 0 {
        return None;
    }
    let chosen = |mask: u32| -> Vec<Option<f64>> {
        let of = played.iter().enumerate();
        of.filter(|(at, _)| mask >> at & 1 == 1).map(|(_, value)| *value).collect()
    };
    let all = 1_u32 << played.len();
    let (mut agree, mut of) = (0_u32, 0_u32);
    for first in (0..all).filter(|mask| mask.count_ones() as usize == half) {
        let rest = all - 1 - first;
        let less_one =
            (0..played.len()).filter(|at| rest >> at & 1 == 1).map(|at| rest - (1 << at));
        let others = less_one.chain([rest]).filter(|mask| mask.count_ones() as usize == half);
        // Each pair once: the half that has the earliest playing of both comes first.
        for second in others.filter(|mask| first.trailing_zeros() < mask.trailing_zeros()) {
            let apart = Apart::of(quantity, &chosen(first), &chosen(second));
            agree += u32::from(apart.agreement(tick) == Agreement::Agrees);
            of += 1;
        }
    }
    Some(f64::from(agree) / f64::from(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Nanos = Nanos::from_millis(4);

    fn frequency() -> Quantity {
        Quantity::BusyFrequency { domain: "big".to_owned() }
    }

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn a_distance_is_as_certain_as_playings_are_alike() {
        // Phases 0 and 2 were given the first playing, 1 and 3 the second: distances of 2 and 4 %.
        let (board, model) = (some(&[90.0, 110.0]), some(&[92.0, 114.0, 92.0, 114.0]));
        let half = plus_minus(&frequency(), &board, &model, true).unwrap();
        // t of one degree of freedom is 12.706; the standard error of 2 and 4 is 1.
        assert!((half - 12.706).abs() < 1e-3, "{half}");
        let apart = Apart::of(&frequency(), &board, &model);
        assert_eq!(apart.distance, Some(3.0));
        assert!(may_be(&apart, Some(half), TICK) && may_be(&apart, None, TICK));
        assert!(may_be(&apart, Some(0.1), TICK), "2.9 to 3.1, and 3 are allowed");
        let far = Apart::of(&frequency(), &board, &some(&[97.0, 117.0]));
        assert!(!may_be(&far, Some(3.9), TICK) && may_be(&far, Some(4.1), TICK), "7 %");
        // A prediction has no playing's phases: distances of 13 and -7 % of 100.
        let half = plus_minus(&frequency(), &board, &model, false).unwrap();
        assert!((half - 127.06).abs() < 1e-2, "{half}");
        assert_eq!(plus_minus(&frequency(), &some(&[90.0]), &model, true), None);
    }

    /// Each playing's own distance is 1 %, but in the middle is a gap of 30 %, on the other side of which the model's median falls: so it
    /// does on the same side, in some draws.
    #[test]
    fn a_median_at_a_gap_is_not_certain() {
        let response = Quantity::Response { task: "work".to_owned(), percentile: 50 };
        let board = some(&[100.0, 100.0, 100.0, 130.0, 130.0, 130.0, 130.0]);
        let model = some(&[101.0, 101.0, 101.0, 101.0, 131.0, 131.0, 131.0]);
        let apart = Apart::of(&response, &board, &model);
        assert!(apart.distance.unwrap() < -22.0);
        let half = plus_minus(&response, &board, &model, true);
        assert!(half.unwrap() > 20.0 && may_be(&apart, half, Nanos(0)), "{half:?}");
        // Where all are alike it is.
        let (board, model) = (some(&[100.0; 8]), some(&[120.0; 16]));
        let apart = Apart::of(&response, &board, &model);
        assert_eq!(plus_minus(&response, &board, &model, true), Some(0.0));
        assert!(!may_be(&apart, Some(0.0), Nanos(0)));
    }

    #[test]
    fn what_differs_both_ways_by_as_much_may_be_chance() {
        let apart = Apart::of(&frequency(), &some(&[100.0]), &some(&[102.0]));
        assert!(may_be(&apart, Some(50.0), TICK), "-48 to 52: also -3 to 3");
        assert!(!may_be(&apart, Some(0.5), TICK));
    }

    #[test]
    fn the_halves_of_the_playings_are_judged_like_the_model() {
        let share = |values: &[f64]| among(&frequency(), &some(values), TICK);
        assert_eq!(share(&[100.0]), None);
        assert_eq!(share(&[100.0, 102.9]), Some(1.0));
        assert_eq!(share(&[100.0, 103.1]), Some(0.0));
        // 100 and 110 against 100 and 110 twice, 100 and 100 against 110 and 110 once.
        let two_of_three = share(&[100.0, 110.0, 100.0, 110.0]).unwrap();
        assert!((two_of_three - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(share(&[100.0, 100.0, 200.0]), Some(1.0 / 3.0), "one is left out in turn");
        assert_eq!(share(&[100.0; 40]), Some(1.0));
    }
}
