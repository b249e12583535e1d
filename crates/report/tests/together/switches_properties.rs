//! What holds for any data.
#![allow(missing_docs, clippy::unwrap_used)]

use flyball_report::analysis::{AnalysisOptions, RunData};
use flyball_report::html::{self, HtmlOptions};
use flyball_report::kinds::switches::baseline::{Baseline, outliers};
use flyball_report::kinds::switches::split::split;
use flyball_report::kinds::switches::windowed::latency;
use flyball_report::kinds::switches::{analyse, figures, grid, terminal};
use flyball_run::{Run, SwitchTrial};
use flyball_stats::Distribution;
use proptest::prelude::*;

fn times() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0..1e6f64, 1..200)
}

fn any_trial() -> impl Strategy<Value = SwitchTrial> {
    let method = prop::sample::select(vec!["direct", "detect", "windowed", "fixed", "else"]);
    let ns = || prop::option::of(prop_oneof![0..5_000_000u64, Just(u64::MAX)]);
    let score = prop::option::of(prop_oneof![Just(0.0), -1.0..1e9f64]);
    (method, 0..4u64, 0..4u64, ns(), ns(), ns(), ns(), score, any::<bool>()).prop_map(
        |(method, from, to, t, write, transition, window, score, rejected)| SwitchTrial {
            method: method.to_owned(),
            from_khz: from * 1000,
            to_khz: to * 1000,
            t_ns: t,
            write_ns: write,
            transition_ns: transition,
            loop_ns: write,
            window_ns: window,
            score,
            rejected: rejected.then(|| "why\u{1b}[31m".to_owned()),
            ..SwitchTrial::default()
        },
    )
}

proptest! {
    #[test]
    fn quantiles_are_in_order_and_inside_their_intervals(values in times()) {
        let of = Distribution::of(&values).unwrap();
        prop_assert!(of.p01.value <= of.median.value && of.median.value <= of.p99.value);
        for estimate in [of.p01, of.median, of.p99] {
            prop_assert!(estimate.low.is_none_or(|low| low <= estimate.value));
            prop_assert!(estimate.high.is_none_or(|high| high >= estimate.value));
        }
        prop_assert!(of.effective >= 1.0 && of.effective <= values.len() as f64 + 1e-9);
    }

    #[test]
    fn figures_scale_with_the_unit(values in times(), factor in 0.01..100.0f64) {
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        let (a, b) = (Distribution::of(&values).unwrap(), Distribution::of(&scaled).unwrap());
        prop_assert!((b.median.value / (a.median.value * factor) - 1.0).abs() < 1e-9);
        prop_assert!((b.mean / (a.mean * factor) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_shifted_latency_shifts_the_fixed_part(values in times(), by in 0.0..1e4f64) {
        let shifted: Vec<f64> = values.iter().map(|value| value + by).collect();
        if let (Some(a), Some(b)) = (split(&values, 1000.0), split(&shifted, 1000.0)) {
            prop_assert!((b.fixed_us.value - a.fixed_us.value - by).abs() < 1e-6 * (1.0 + by));
            prop_assert!((0.0..=1.0).contains(&a.misfit));
        }
    }

    #[test]
    fn outliers_are_a_minority(values in times()) {
        prop_assert!(2 * outliers(&values).len() <= values.len());
        let level = Baseline::of(None, 1, &values).unwrap();
        prop_assert!((0.0..=0.5).contains(&level.contamination));
    }

    #[test]
    fn more_work_is_less_latency(window in 1.0..1e4f64, expected in 1.0..1e6f64, a in 0.0..1.0f64, b in 0.0..1.0f64) {
        let (less, more) = (a.min(b) * expected, a.max(b) * expected);
        prop_assert!(latency(window, less, expected) >= latency(window, more, expected));
        prop_assert!((0.0..=window).contains(&latency(window, more, expected)));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_grid_search_survives_any_times(times in prop::collection::vec(0.0..1e9f64, 0..80)) {
        let mut effects = times;
        effects.sort_unstable_by(f64::total_cmp);
        let series = [grid::Series { writes: effects.clone(), effects }];
        if let Ok(found) = grid::find(&series, 1e6, 5e6) {
            prop_assert!(found.period_us.value > 0.0);
        }
    }

    #[test]
    fn any_rows_can_be_shown(rows in prop::collection::vec(any_trial(), 0..60)) {
        let mut run = Run::default();
        rows.into_iter().for_each(|row| run.tables.trials.push(row));
        let findings = analyse(&run, 1);
        let text = terminal::render(&findings, 80);
        let escapes = text.chars().filter(|c| c.is_control() && *c != '\n').count();
        prop_assert_eq!(escapes, 0);
        figures::all(&findings);
        let report = flyball_report::analysis::analyse(&[RunData::from(run)], &AnalysisOptions::default());
        prop_assert!(html::render(&report, &HtmlOptions::default()).ends_with("</html>\n"));
    }
}
