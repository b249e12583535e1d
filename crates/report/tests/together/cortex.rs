//! The published CORTEX recordings, imported and analysed: every printed number, and the verdicts
//! that their authors should have reached. Skipped where the recordings are absent.
#![allow(clippy::expect_used, clippy::print_stderr)] // helpers of tests fail them, or say why they skip

use std::path::PathBuf;
use std::sync::OnceLock;

use flyball_import::{Options, import};
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::model::{Cell, Comparison, Report, StratumRatio, VerdictWord};

const LINUX: &str = "cortex-linux-2025-12-05";
const MACOS: &str = "cortex-macos-2025-11-15";
const WORKLOADS: [&str; 4] = ["car", "notch_iir", "goertzel", "bandpass_fir"];

fn report(folder: &'static str) -> Option<Report> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    if !path.is_dir() {
        eprintln!("skipped: no recordings at {}", path.display());
        return None;
    }
    let run = import(&path, &Options::default()).expect("the recording imports");
    let runs = [RunData::new(folder, path.display().to_string(), run)];
    Some(analyse(&runs, &AnalysisOptions::default()))
}

fn linux() -> Option<&'static Report> {
    static REPORT: OnceLock<Option<Report>> = OnceLock::new();
    REPORT.get_or_init(|| report(LINUX)).as_ref()
}

fn macos() -> Option<&'static Report> {
    static REPORT: OnceLock<Option<Report>> = OnceLock::new();
    REPORT.get_or_init(|| report(MACOS)).as_ref()
}

fn cell<'a>(report: &'a Report, condition: &str, workload: &str) -> &'a Cell {
    let found = |cell: &&Cell| cell.condition == condition && cell.workload == workload;
    report.cells.iter().find(found).expect("the cell")
}

fn geometric_mean(report: &Report, condition: &str) -> f64 {
    let mut means = report.geometric_means.iter();
    means.find(|mean| mean.condition == condition).expect("the mean").median_us.value
}

fn comparison<'a>(report: &'a Report, subject: &str, baseline: &str) -> &'a Comparison {
    let found =
        |c: &&Comparison| c.subject.condition == subject && c.baseline.condition == baseline;
    report.comparisons.iter().find(found).expect("the comparison")
}

fn kinds(comparison: &Comparison) -> Vec<&str> {
    comparison.reasons.iter().map(|reason| reason.kind.as_str()).collect()
}

/// Equal in the two printed decimals.
fn printed(value: f64, expected: f64) {
    assert_eq!(format!("{value:.2}"), format!("{expected:.2}"));
}

fn holds(stratum: &StratumRatio, value: f64) -> bool {
    stratum.ratio.low.is_some_and(|low| low <= value)
        && stratum.ratio.high.is_some_and(|high| high >= value)
}

#[test]
fn linux_numbers_to_the_printed_digit() {
    let Some(report) = linux() else { return };
    let expected = [
        ("powersave", [68.54, 178.99, 909.37, 7493.18], [19.02, 17.66, 395.61, 1391.80], 537.71),
        ("performance", [14.12, 37.96, 496.27, 2968.44], [7.57, 13.16, 133.46, 731.86], 167.64),
        ("schedutil", [96.95, 199.12, 1709.25, 10262.70], [37.92, 24.47, 358.17, 1585.02], 762.84),
        (
            "schedutil-boosted",
            [96.83, 199.57, 1713.16, 10282.02],
            [21.09, 26.68, 254.63, 2124.41],
            763.83,
        ),
    ];
    for (condition, medians, deviations, mean) in expected {
        for ((workload, median), deviation) in WORKLOADS.iter().zip(medians).zip(deviations) {
            let cell = cell(report, condition, workload);
            assert_eq!((cell.n, cell.repeats), (1205, 5));
            printed(cell.execution.median_us.value, median);
            printed(cell.execution.sd_us, deviation);
        }
        printed(geometric_mean(report, condition), mean);
    }
}

#[test]
fn macos_numbers_to_the_printed_digit() {
    let Some(report) = macos() else { return };
    let expected = [
        (
            "idle",
            [
                (36.00, 111.29, 1203),
                (135.92, 73.83, 1204),
                (416.90, 237.29, 1203),
                (4968.76, 2005.44, 1203),
            ],
            284.34,
        ),
        (
            "medium",
            [
                (19.61, 15.25, 1204),
                (60.75, 18.15, 1202),
                (196.11, 246.81, 1203),
                (2554.29, 735.21, 1203),
            ],
            123.07,
        ),
        (
            "heavy",
            [
                (30.88, 159.36, 1200),
                (70.87, 214.21, 1202),
                (296.87, 284.44, 1200),
                (3017.39, 825.47, 1202),
            ],
            183.29,
        ),
    ];
    for (condition, cells, mean) in expected {
        for (workload, (average, deviation, n)) in WORKLOADS.iter().zip(cells) {
            let cell = cell(report, condition, workload);
            assert_eq!(cell.n, n, "{condition} {workload}");
            printed(cell.execution.mean_us, average);
            printed(cell.execution.sd_us, deviation);
        }
        printed(geometric_mean(report, condition), mean);
    }
}

#[test]
fn the_frequency_log_to_the_printed_digit() {
    let Some(report) = linux() else { return };
    let domain = |condition: &str, domain: &str| {
        let mut found = report.frequencies.iter();
        found
            .find(|f| f.condition.as_deref() == Some(condition) && f.domain == domain)
            .expect("the domain")
    };
    let one_decimal = |mhz: Option<f64>| format!("{:.1}", mhz.expect("a mean"));
    let slow = domain("schedutil", "policy0");
    assert_eq!(one_decimal(slow.claimed_mean_mhz), "1288.2");
    assert_eq!(one_decimal(domain("schedutil", "policy4").claimed_mean_mhz), "1363.4");
    let level = slow.levels.iter().find(|level| level.mhz == 1332.0).expect("the level");
    assert_eq!(format!("{:.1}", level.share * 100.0), "84.4");
    assert_eq!(slow.delivered_mean_mhz, None, "a claim is not a delivery");
    assert_eq!(domain("powersave", "policy0").governor.as_deref(), Some("powersave"));
}

#[test]
fn fixed_frequency_cells_are_mixtures_of_the_listed_modes() {
    let Some(report) = linux() else { return };
    let expected = [
        ("powersave", [[68.3, 97.0], [164.1, 199.1], [904.8, 1704.8], [7459.0, 10243.0]]),
        ("performance", [[13.4, 28.3], [33.3, 60.3], [169.2, 497.1], [1428.0, 2973.0]]),
    ];
    for (condition, medians) in expected {
        for (workload, listed) in WORKLOADS.iter().zip(medians) {
            let modes = &cell(report, condition, workload).modes;
            assert!(modes.mixture && modes.p_value.is_some_and(|p| p < 0.01));
            for want in listed {
                let near = |median: f64| (median / want - 1.0).abs() < 0.02;
                let found = modes.modes.iter().any(|mode| near(mode.median_us) && mode.share > 0.1);
                assert!(found, "{condition} {workload} {want}: {:?}", modes.modes);
            }
        }
    }
}

#[test]
fn like_for_like_is_the_ratio_of_frequencies() {
    let Some(report) = linux() else { return };
    let found = comparison(report, "powersave", "performance");
    assert_eq!(format!("{:.2}", found.ratio.value), "3.21");
    assert_eq!(found.verdict, VerdictWord::Confounded);
    let stratum = |domain: &str| {
        let mut strata = found.like_for_like.iter();
        strata.find(|stratum| stratum.stratum.starts_with(domain)).expect("the domain's stratum")
    };
    assert!(holds(stratum("policy0"), 3.40), "{:?}", found.like_for_like);
    assert!(holds(stratum("policy4"), 5.15), "{:?}", found.like_for_like);
    assert!(found.like_for_like.iter().all(|stratum| stratum.inferred));
    for workload in &found.workloads {
        assert_eq!(workload.like_for_like.len(), found.like_for_like.len());
    }
}

#[test]
fn modes_are_labelled_and_the_labels_say_inferred() {
    let Some(report) = linux() else { return };
    let label = |condition: &str, median: f64| {
        let modes = &cell(report, condition, "car").modes.modes;
        let near = modes.iter().find(|mode| (mode.median_us / median - 1.0).abs() < 0.02);
        near.expect("the mode").label.clone().expect("a label")
    };
    assert_eq!(label("powersave", 97.0), "policy0 at 600 MHz (inferred)");
    assert_eq!(label("performance", 13.4), "policy4 at 3204 MHz (inferred)");
    assert_eq!(label("schedutil", 97.0), "as policy0 at 600 MHz (inferred)");
}

#[test]
fn the_schedutil_trap_is_confounded() {
    let Some(report) = linux() else { return };
    let found = comparison(report, "schedutil", "powersave");
    assert_eq!(found.verdict, VerdictWord::Confounded);
    assert_eq!(format!("{:.2}", found.ratio.value), "1.42");
    for kind in ["mixture", "placement_unrecorded"] {
        assert!(kinds(found).contains(&kind), "{:?}", found.reasons);
    }
    let best = found.like_for_like.first().expect("a pair of modes");
    assert!((best.ratio.value - 1.0).abs() < 0.01, "{:?}", found.like_for_like);
    assert!(best.inferred);
    for words in [
        "pooled 1.42x",
        "CPU was not recorded",
        "like for like 1.00x",
        "if the modes are core types",
    ] {
        assert!(found.sentence.contains(words), "{}", found.sentence);
    }
}

#[test]
fn a_load_that_nothing_shows_is_unproven() {
    let Some(report) = linux() else { return };
    for baseline in ["performance", "powersave", "schedutil"] {
        let found = comparison(report, "schedutil-boosted", baseline);
        assert_eq!(found.verdict, VerdictWord::Unproven);
        assert!(found.sentence.contains("nothing in the data shows that the load ran"));
    }
    let load = report.loads.iter().find(|load| load.condition == "schedutil-boosted");
    assert!(!load.expect("the load").proven);
    let Some(report) = macos() else { return };
    assert_eq!(comparison(report, "medium", "idle").verdict, VerdictWord::Unproven);
    assert_eq!(comparison(report, "heavy", "idle").verdict, VerdictWord::Unproven);
}

#[test]
fn windows_are_not_independent_and_both_tests_are_printed() {
    let Some(report) = linux() else { return };
    let sizes: Vec<f64> = report.cells.iter().map(|cell| cell.effective_n).collect();
    assert!(sizes.iter().all(|size| *size < 1205.0), "{sizes:?}");
    assert!(sizes.iter().any(|size| *size <= 10.0), "{sizes:?}");
    // What the sources print as p < 0.001, and what the repeats say.
    let found = comparison(report, "schedutil", "powersave");
    for workload in &found.workloads {
        let (windows, repeats) = (workload.welch.expect("Welch"), workload.repeat_level);
        assert!(windows.p < 0.001, "{workload:?}");
        assert!(repeats.expect("five repeats").p > windows.p);
    }
}

#[test]
fn what_the_recording_cannot_tell_is_said() {
    let Some(report) = linux() else { return };
    for object in ["placement", "delivered frequency", "lateness", "contention", "clocks"] {
        let finding = report.not_checked.iter().find(|finding| finding.object == object);
        let said = |text: &str| text.ends_with("a bench of Flyball records it");
        assert!(finding.is_some_and(|finding| said(&finding.text)), "{object}");
    }
    for cell in &report.cells {
        assert!(!cell.placement.recorded && cell.delivered.is_none());
        let lateness = cell.lateness.as_ref().expect("the data give one");
        assert_eq!(lateness.median_us.low, None, "no interval on what is no lateness");
    }
}

#[test]
fn the_report_is_the_same_twice() {
    let Some(first) = linux() else { return };
    let second = report(LINUX).expect("read before");
    assert_eq!(first, &second);
}
