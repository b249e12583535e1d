//! Published recordings: what their rows say (skipped where they are absent).
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use flyball_import::{Options, import};
use flyball_report::kinds::switches::analysis::{Findings, Switch};
use flyball_report::kinds::switches::{analyse, figures, terminal};
use std::path::PathBuf;

fn findings(name: &str) -> Option<Findings> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !folder.is_dir() {
        eprintln!("skipped: the recordings are not in {}", folder.display());
        return None;
    }
    let run = import(&folder, &Options::default()).unwrap();
    let findings = analyse(&run, 1);
    eprintln!("{}", terminal::render(&findings, 160));
    assert!(figures::all(&findings).len() > 1);
    Some(findings)
}

fn switch(findings: &Findings, from: u64, to: u64) -> &Switch {
    let found = |s: &&Switch| (s.from_khz, s.to_khz) == (from * 1000, to * 1000);
    findings.switches.iter().find(found).expect("the file is there")
}

#[test]
fn zen2_has_the_published_shares_and_percentiles() {
    let Some(findings) = findings("zen2-ftalat") else { return };
    for (from, to, share, p01, median, p99) in [
        (1500, 2500, "60.3", "379", "870", "1363"),
        (2500, 1500, "74.8", "412", "904", "1396"),
        (2200, 2500, "29.1", "366", "864", "1356"),
    ] {
        let switch = switch(&findings, from, to);
        let of = switch.transition_us.as_ref().unwrap();
        assert_eq!(format!("{:.1}", 100.0 * switch.valid_share()), share);
        let found = [of.p01, of.median, of.p99].map(|of| format!("{:.0}", of.value));
        assert_eq!(found, [p01, median, p99], "{from} to {to}");
    }
}

#[test]
fn zen2_grid_is_found_without_being_told_and_splits_the_latency() {
    let Some(findings) = findings("zen2-ftalat") else { return };
    let grid = findings.grids[0].grid.expect("a grid");
    assert_eq!(format!("{:.2}", grid.period_us.value), "1000.01");
    let (low, high) = (grid.period_us.low.unwrap(), grid.period_us.high.unwrap());
    assert!(high - low < 0.01 && grid.period_us.covers(1000.010), "{grid:?}");
    assert!(grid.coherence > 0.9 && grid.writes_coherence < 0.1, "{grid:?}");
    for (from, to, fixed) in [(1500, 2500, 365.0), (2200, 2500, 365.0), (2500, 1500, 395.0)] {
        let split = switch(&findings, from, to).split.expect("a split");
        assert!(split.fits, "{from} to {to}: {split:?}");
        assert!((split.fixed_us.value - fixed).abs() < 12.0, "{from} to {to}: {split:?}");
    }
}

#[test]
fn imx8qm_means_and_medians_with_their_intervals() {
    let Some(findings) = findings("imx8qm-coremark") else { return };
    let pair = |setup: &str, a: u64, b: u64| {
        let found = findings.windowed.iter().find(|pair| {
            pair.setup.as_deref() == Some(setup)
                && (pair.from_khz, pair.to_khz) == (a * 1000, b * 1000)
        });
        found.unwrap_or_else(|| panic_free(setup, a, b))
    };
    // Means, medians and the medians' published intervals.
    for (a, b, mean, median, low, high) in [
        (600, 896, "170", "147", 143.0, 156.0),
        (600, 1104, "182", "171", 167.0, 182.0),
        (600, 1200, "214", "203", 198.0, 211.0),
        (1200, 896, "161", "154", 146.0, 162.0),
        (1200, 1104, "161", "144", 134.0, 149.0),
    ] {
        let found = pair("4x_a53", a, b);
        assert_eq!(format!("{:.0}", found.mean_us.value), mean, "{a} {b}");
        assert_eq!(format!("{:.0}", found.median_us.value), median, "{a} {b}");
        let (from, to) = (found.median_us.low.unwrap(), found.median_us.high.unwrap());
        assert!((from - low).abs() <= 4.0 && (to - high).abs() <= 4.0, "{a} {b}: {from} to {to}");
        assert_eq!(found.refused, None);
    }
    // One core alone: little scatter, so mean and median agree.
    for (a, b) in [(600, 896), (600, 1104), (600, 1200), (1200, 896), (1200, 1104)] {
        let found = pair("1x_a53_all_other_cores_disabled", a, b);
        assert!((found.mean_us.value - found.median_us.value).abs() < 3.0, "{found:?}");
        assert!(found.runs >= 10);
    }
    let flagged: usize = findings.baselines.iter().map(|level| level.outliers.len()).sum();
    assert!(flagged > 0 && findings.notes.iter().any(|note| note.contains("outliers")));
}

#[allow(clippy::panic)]
fn panic_free<T>(setup: &str, a: u64, b: u64) -> T {
    panic!("no pair {a} and {b} in {setup}")
}
