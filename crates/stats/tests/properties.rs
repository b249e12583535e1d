//! What must hold for any sample: permutation, scale, bounds.

#![allow(clippy::unwrap_used)] // a helper of tests is a test

use flyball_stats::*;
use proptest::prelude::*;

fn repeats() -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(1.0..1000.0_f64, 1..40), 1..9)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn summaries_ignore_order_and_follow_scale(mut values in prop::collection::vec(0.1..1e6_f64, 1..200)) {
        let cell = Cell::new(vec![values.clone()]).unwrap();
        let summary = Summary::of(&cell).unwrap();
        prop_assert!(summary.min <= summary.median && summary.median <= summary.p99);
        prop_assert!(summary.p99 <= summary.max);
        prop_assert!(summary.mean >= summary.min * (1.0 - 1e-12) && summary.mean <= summary.max * (1.0 + 1e-12));
        values.reverse();
        prop_assert_eq!(&summary, &Summary::of(&Cell::new(vec![values.clone()]).unwrap()).unwrap());
        let doubled = values.iter().map(|v| 2.0 * v).collect();
        let doubled = Summary::of(&Cell::new(vec![doubled]).unwrap()).unwrap();
        prop_assert_eq!(doubled.median, 2.0 * summary.median);
        prop_assert!(close(geometric_mean(&values).unwrap() * 2.0, geometric_mean(&values.iter().map(|v| 2.0 * v).collect::<Vec<_>>()).unwrap()));
    }

    #[test]
    fn quantiles_are_bounded_and_monotone(mut values in prop::collection::vec(-1e3..1e3_f64, 1..60), p in 0.0..1.0_f64, q in 0.0..1.0_f64) {
        values.sort_by(f64::total_cmp);
        use QuantileType::*;
        for estimator in [Type1, Type2, Type3, Type4, Type5, Type6, Type7, Type8, Type9] {
            let (low, high) = (quantile_of_type(&values, p.min(q), estimator), quantile_of_type(&values, p.max(q), estimator));
            prop_assert!(values[0] <= low && low <= high && high <= values[values.len() - 1]);
        }
    }

    #[test]
    fn intervals_hold_their_value_and_follow_scale(repeats in repeats(), seed in any::<u64>()) {
        let options = BootstrapOptions { replicates: 200, seed, ..Default::default() };
        let scaled = repeats.iter().map(|r| r.iter().map(|v| 4.0 * v).collect()).collect();
        let (cell, scaled) = (Cell::new(repeats).unwrap(), Cell::new(scaled).unwrap());
        let (plain, other) = (Prepared::new(&cell), Prepared::new(&scaled));
        for statistic in [Statistic::Median, Statistic::Mean, Statistic::Quantile(0.99)] {
            let find = |cell| estimate(cell, statistic, &options).unwrap().estimate;
            let (x, y) = (find(&plain), find(&other));
            prop_assert!(close(4.0 * x.value, y.value));
            prop_assert_eq!(x.low.is_some(), y.low.is_some());
            if let (Some(low), Some(scaled)) = (x.low, y.low) {
                prop_assert!(x.covers(x.value));
                prop_assert!(close(4.0 * low, scaled), "{x:?} {y:?}");
            }
        }
        let itself = ratio(&plain, &other, Statistic::Median, Draws::Independent, &options).unwrap();
        prop_assert!(close(itself.estimate.value, 0.25));
    }

    #[test]
    fn modes_partition_the_windows(mut values in prop::collection::vec(1.0..1000.0_f64, 1..300), coarse in any::<bool>()) {
        if coarse {
            values.iter_mut().for_each(|v| *v = (*v / 50.0).ceil());
        }
        values.sort_by(f64::total_cmp);
        let found = find_modes(&values, &ModeOptions::default()).unwrap();
        prop_assert_eq!(found.modes.iter().map(|mode| mode.count).sum::<usize>(), values.len());
        prop_assert_eq!(found.cuts.len() + 1, found.modes.len());
        for (i, mode) in found.modes.iter().enumerate() {
            prop_assert!(mode.share >= 0.02 || found.modes.len() == 1);
            prop_assert_eq!(found.assign(mode.low), i);
            prop_assert_eq!(found.assign(mode.high), i);
        }
        let scaled: Vec<f64> = values.iter().map(|v| 8.0 * v).collect();
        let scaled = find_modes(&scaled, &ModeOptions::default()).unwrap();
        prop_assert_eq!(scaled.modes.len(), found.modes.len());
    }

    #[test]
    fn sizes_and_tests_are_bounded(a in repeats(), b in repeats()) {
        let (a, b) = (Cell::new(a).unwrap(), Cell::new(b).unwrap());
        let size = effective_size(&a);
        prop_assert!(size.effective >= 1.0 && size.effective <= size.windows as f64);
        let trend = drift(&a, 0.02);
        prop_assert!((0.0..=1.0).contains(&trend.p_value) && trend.tau.abs() <= 1.0 + 1e-12);
        if let (Ok(there), Ok(back)) = (welch_repeats(&a, &b), welch_repeats(&b, &a)) {
            prop_assert!(close(there.p_value, back.p_value) && close(there.ratio, 1.0 / back.ratio));
            prop_assert!((0.0..=1.0).contains(&there.p_value));
        }
    }
}
