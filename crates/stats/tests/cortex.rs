//! The published CORTEX runs: what their own raw data supports (skipped where it is absent).
#![allow(clippy::disallowed_methods, clippy::print_stderr, clippy::unwrap_used)] // a test reads files and says why it skips

use flyball_stats::*;
use std::path::PathBuf;

const KERNELS: [&str; 4] = ["car", "notch_iir", "goertzel", "bandpass_fir"];

fn data() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: the recordings are not in {}", folder.display());
    None
}

/// One kernel's latencies in microseconds.
fn load(run: &str, kernel: &str) -> Option<Cell> {
    let path = data()?.join(run).join("kernel-data").join(kernel).join("telemetry.ndjson");
    let text = std::fs::read_to_string(path).unwrap();
    let mut repeats: Vec<Vec<f64>> = Vec::new();
    for row in text.lines().filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok()) {
        let (Some(start), Some(end)) = (row["start_ts_ns"].as_u64(), row["end_ts_ns"].as_u64())
        else {
            continue;
        };
        if row["warmup"].as_u64() == Some(1) {
            continue;
        }
        let repeat = row["repeat"].as_u64().unwrap() as usize;
        repeats.resize(repeats.len().max(repeat), vec![]);
        repeats[repeat - 1].push((end - start) as f64 / 1e3);
    }
    Some(Cell::new(repeats).unwrap())
}

struct Run(Vec<(Cell, Modes)>);

impl Run {
    fn load(run: &str) -> Option<Run> {
        let cells = KERNELS.iter().map(|kernel| {
            let cell = load(run, kernel)?;
            let modes = find_modes(&cell.sorted(), &ModeOptions::default()).unwrap();
            Some((cell, modes))
        });
        cells.collect::<Option<Vec<_>>>().map(Run)
    }
}

const POWERSAVE: &str = "cortex-linux-2025-12-05/run-001-powersave";
const PERFORMANCE: &str = "cortex-linux-2025-12-05/run-002-performance";
const SCHEDUTIL: &str = "cortex-linux-2025-12-05/run-003-schedutil";
const BOOSTED: &str = "cortex-linux-2025-12-05/run-004-schedutil-boosted";

fn compare(a: &Run, b: &Run) -> LikeForLike {
    let pairs: Vec<KernelModes<'_>> = (KERNELS.iter().zip(a.0.iter().zip(&b.0)))
        .map(|(kernel, (a, b))| KernelModes {
            kernel,
            a: &a.0,
            b: &b.0,
            a_modes: &a.1,
            b_modes: &b.1,
        })
        .collect();
    like_for_like_with_modes(&pairs, &BootstrapOptions::default()).unwrap()
}

fn holds(estimate: &Estimate, value: f64) -> bool {
    estimate.covers(value)
}

#[test]
fn medians_and_deviations_are_those_of_the_raw_data() {
    let expected = [
        (POWERSAVE, [68.54, 178.99, 909.37, 7493.18], [19.02, 17.66, 395.61, 1391.80], 537.71),
        (PERFORMANCE, [14.12, 37.96, 496.27, 2968.44], [7.57, 13.16, 133.46, 731.86], 167.64),
        (SCHEDUTIL, [96.95, 199.12, 1709.25, 10262.70], [37.92, 24.47, 358.17, 1585.02], 762.84),
        (BOOSTED, [96.83, 199.57, 1713.16, 10282.02], [21.09, 26.68, 254.63, 2124.41], 763.83),
    ];
    let printed = |value: f64, want: f64| assert!((value - want).abs() < 0.00501, "{value} {want}");
    for (run, medians, deviations, geometric) in expected {
        let Some(run) = Run::load(run) else { return };
        let mut found = Vec::new();
        for (i, (cell, _)) in run.0.iter().enumerate() {
            let summary = Summary::of(cell).unwrap();
            assert_eq!(summary.n, 1205);
            printed(summary.median, medians[i]);
            printed(summary.sd.unwrap(), deviations[i]);
            found.push(summary.median);
        }
        printed(geometric_mean(&found).unwrap(), geometric);
    }
}

/// Medians of the fast and the slow core (us), and the range of the slow one's share.
#[test]
fn fixed_frequency_cells_have_two_main_modes() {
    let expected = [
        (
            POWERSAVE,
            [[68.3, 97.0], [164.1, 199.1], [904.8, 1704.8], [7459.0, 10243.0]],
            0.425,
            0.465,
        ),
        (PERFORMANCE, [[13.4, 28.3], [33.3, 60.3], [169.2, 497.1], [1428.0, 2973.0]], 0.395, 0.795),
    ];
    for (run, medians, fewest, most) in expected {
        let Some(run) = Run::load(run) else { return };
        for ((cell, modes), wanted) in run.0.iter().zip(medians) {
            assert!(modes.is_mixture() && modes.p_value <= 1e-4);
            let two = modes.coarsen(&cell.sorted(), 2);
            for (mode, want) in two.modes.iter().zip(wanted) {
                assert!((mode.median / want - 1.0).abs() < 0.02, "{mode:?} {want}");
            }
            let slow = two.modes[1].share;
            assert!((fewest..=most).contains(&slow), "{slow}");
        }
    }
}

#[test]
fn like_for_like_is_the_ratio_of_frequencies() {
    let (Some(a), Some(b)) = (Run::load(POWERSAVE), Run::load(PERFORMANCE)) else { return };
    let found = compare(&a, &b);
    assert!(found.inferred);
    assert_eq!(found.rule, PairingRule::ConstantRatio);
    assert_eq!(found.states.len(), 2);
    let mut states = found.states;
    states.sort_by(|x, y| x.ratio.value.total_cmp(&y.ratio.value));
    assert!(holds(&states[0].ratio, 3.40), "{:?}", states[0].ratio);
    assert!(holds(&states[1].ratio, 5.15), "{:?}", states[1].ratio);
}

#[test]
fn schedutil_is_powersave_on_the_slow_core() {
    for run in [SCHEDUTIL, BOOSTED] {
        let (Some(a), Some(b)) = (Run::load(run), Run::load(POWERSAVE)) else { return };
        let found = compare(&a, &b);
        let best = &found.states[0];
        assert_eq!(found.rule, PairingRule::ConstantRatio);
        assert!((best.ratio.value - 1.0).abs() < 0.01, "{:?}", best.ratio);
        assert!(best.shares[0] > 0.6);
        let slow = [97.0, 199.1, 1704.8, 10243.0];
        for (medians, want) in best.medians.iter().zip(slow) {
            assert!((medians[1] / want - 1.0).abs() < 0.02);
        }
    }
}

#[test]
fn windows_are_not_independent() {
    for run in [POWERSAVE, PERFORMANCE, SCHEDUTIL, BOOSTED] {
        let Some(run) = Run::load(run) else { return };
        let sizes: Vec<_> = run.0.iter().map(|(cell, _)| effective_size(cell)).collect();
        for size in &sizes {
            assert!(size.effective < 0.75 * size.windows as f64);
        }
    }
}

/// A clock that ticks in microseconds must not make a mode of each microsecond.
#[test]
fn a_coarse_clock_makes_few_modes() {
    for run in ["run-001-idle", "run-002-medium", "run-003-heavy"] {
        let Some(run) = Run::load(&format!("cortex-macos-2025-11-15/{run}")) else { return };
        for (_, modes) in &run.0 {
            assert!(modes.modes.len() <= 9);
        }
    }
}

/// The published "Schedutil Trap", judged with what the recording says: nothing about placement,
/// and nothing that shows that the load ran.
#[test]
fn the_trap_is_confounded() {
    let (Some(a), Some(b)) = (Run::load(BOOSTED), Run::load(POWERSAVE)) else { return };
    let side = |name: &str, run: &Run| SideEvidence {
        name: name.to_owned(),
        repeats: 5,
        modes_per_kernel: run.0.iter().map(|(_, modes)| modes.modes.len()).collect(),
        ..SideEvidence::default()
    };
    let ready = |run: &Run| run.0.iter().map(|(c, _)| Prepared::new(c)).collect::<Vec<_>>();
    let (x, y) = (ready(&a), ready(&b));
    let pairs: Vec<_> = x.iter().zip(&y).collect();
    let options = BootstrapOptions::default();
    let pooled =
        geometric_mean_ratio(&pairs, Statistic::Median, Draws::Independent, &options).unwrap();
    let pooled = pooled.estimate;
    assert!((pooled.value - 763.83 / 537.71).abs() < 1e-3);
    let mut evidence = Evidence {
        a: side("schedutil + stress", &a),
        b: side("powersave", &b),
        pooled,
        stratified: None,
        margin: 0.02,
        across_runs: None,
        randomised: None,
    };
    let asked = "stress-ng".to_owned();
    evidence.a.load = Some(LoadEvidence { asked, ..LoadEvidence::default() });
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    use ReasonKind::*;
    for kind in [Mixture, PlacementUnrecorded, UnprovenLoad] {
        assert!(found.reasons.iter().any(|r| r.kind == kind && r.confounds), "{kind:?}");
    }
    assert!(found.reasons.iter().any(|r| r.kind == FrequencyUnknown && !r.confounds));
}

/// `scipy.stats.ttest_ind(np.log(schedutil), np.log(powersave), equal_var=False)` per kernel: what
/// the sources' p-values rest on.
#[test]
fn welch_over_windows_is_scipys() {
    let (Some(a), Some(b)) = (Run::load(SCHEDUTIL), Run::load(POWERSAVE)) else { return };
    let expected = [
        (16.592303013, 2277.178653),
        (12.616139204, 1827.833360),
        (28.803978451, 2207.682163),
        (20.785679352, 2331.170187),
    ];
    for ((a, b), (t, df)) in a.0.iter().zip(&b.0).zip(expected) {
        let test = welch_windows(&a.0, &b.0).unwrap();
        assert!((test.t / t - 1.0).abs() < 1e-6 && (test.df / df - 1.0).abs() < 1e-6, "{test:?}");
        assert!(test.p_value < 0.001);
    }
}
