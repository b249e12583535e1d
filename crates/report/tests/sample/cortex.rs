//! The import of the CORTEX runs: fixed-frequency cells that mix two kinds of core.
#![allow(clippy::unwrap_used)] // samples are made with all their intervals

use flyball_report::model::*;

use super::build::{Recipe, Rng, around, cell, estimate, finding, geometric_mean, reason, side};

const WORKLOADS: [&str; 4] = ["car", "notch_iir", "goertzel", "bandpass_fir"];
const P600: [f64; 4] = [68.3, 164.1, 904.8, 7459.0];
const E600: [f64; 4] = [97.0, 199.1, 1704.8, 10243.0];
const P3204: [f64; 4] = [13.4, 33.3, 169.2, 1428.0];
const E2064: [f64; 4] = [28.3, 60.3, 497.1, 2973.0];
const RUNS: [(&str, &str); 4] = [
    ("run-001-powersave", "powersave"),
    ("run-002-performance", "performance"),
    ("run-003-schedutil", "schedutil"),
    ("run-004-schedutil-boosted", "schedutil + stress"),
];

/// The report.
pub fn cortex() -> Report {
    let mut rng = Rng(11);
    let mut cells = Vec::new();
    for (r, (run, condition)) in RUNS.into_iter().enumerate() {
        for (w, workload) in WORKLOADS.into_iter().enumerate() {
            let mixed: Vec<(f64, f64, f64)> = match r {
                0 => vec![(P600[w], 0.01, 0.55), (E600[w], 0.01, 0.45)],
                1 => vec![(P3204[w], 0.015, 0.42), (E2064[w], 0.015, 0.58)],
                _ => vec![(E600[w], 0.03, 1.0)],
            };
            let labels: &[&str] = match r {
                0 => &["P at 600 MHz", "E at 600 MHz"],
                1 => &["P at 3204 MHz", "E at 2064 MHz"],
                _ => &["E at 600 MHz"],
            };
            cells.push(cell(
                &mut rng,
                &Recipe {
                    run,
                    workload,
                    condition,
                    modes: &mixed,
                    labels,
                    n: 1205,
                    repeats: 5,
                    mhz: None,
                    cpu: None,
                    start_s: w as f64 * 602.0,
                    period_s: 0.5,
                    disturbed_share: 0.0,
                    spread: if r < 2 { 0.18 } else { 0.02 },
                    effective_n: if r < 2 { 5.2 } else { 88.0 },
                },
            ));
        }
    }
    let geometric_means =
        RUNS.map(|(run, condition)| geometric_mean(&cells, run, condition)).to_vec();
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        runs: RUNS.map(|(run, _)| summary(run)).to_vec(),
        comparisons: comparisons(),
        geometric_means,
        frequencies: frequencies(),
        loads: loads(),
        disturbances: vec![finding("disturbances", "not recorded in this data: no preemptions, no steal, no migrations", None)],
        not_checked: vec![
            finding("placement", "the CPU of the windows was not recorded; core types are inferred from modes", Some("flyball bench --placement per-core-type")),
            finding("delivered frequency", "the log holds what sysfs claims, once per second", Some("flyball bench")),
            finding("load", "nothing in run-004 shows that stress-ng ran", Some("flyball hold --load heavy")),
        ],
        warnings: vec!["run-003: the log's clock is not the windows' clock; samples are assigned to the run as a whole".to_owned()],
        bootstrap: BootstrapNote {
            seed: 1,
            replicates: 2000,
            method: "repeats resampled in blocks within each condition, percentile interval".to_owned(),
        },
        cells,
        ..Report::default()
    };
    report.conditions = flyball_report::view::conditions(&report);
    report
}

fn summary(run: &str) -> RunSummary {
    RunSummary {
        pooled: 3,
        name: run.to_owned(),
        kind: "import".to_owned(),
        state: "complete".to_owned(),
        unfinished: None,
        created: "2025-12-05T10:11:12Z".to_owned(),
        machine: "Apple M1, Asahi Linux (as the report says; not in the data)".to_owned(),
        windows: 4820,
        duration_s: 2410.0,
        seed: None,
        core_types: Some("inferred from modes: P and E".to_owned()),
        overheads: vec![],
        path: format!("../shared/{run}"),
        command: None,
        tool: None,
    }
}

fn comparisons() -> Vec<Comparison> {
    vec![
        compare(
            2,
            0,
            VerdictWord::Confounded,
            estimate(1.419, 1.21, 1.66),
            "pooled 1.42x, but powersave mixes two kinds of core (2 modes in 4 of 4 cells; the CPU was not recorded). Like for like, if the modes are core types: 1.00x [0.99, 1.01]",
            vec![
                reason("mixture", "2 modes in 8 of 8 fixed-frequency cells", false),
                reason(
                    "placement_unrecorded",
                    "the data do not say on which CPU a window ran",
                    false,
                ),
                reason(
                    "core_types",
                    "the modes' ratios match the two core types' frequencies",
                    true,
                ),
            ],
            vec![stratum("E at 600 MHz", estimate(1.001, 0.992, 1.011), 4100, 2169)],
        ),
        compare(
            1,
            0,
            VerdictWord::Confounded,
            estimate(0.3118, 0.262, 0.371),
            "pooled 3.21x faster, but both runs mix two kinds of core. Like for like: 3.40x on E cores, 5.15x on P cores",
            vec![reason("mixture", "2 modes in 8 of 8 cells, in different shares", false)],
            vec![
                stratum("E cores", estimate(1.0 / 3.40, 0.290, 0.298), 2796, 2169),
                stratum("P cores", estimate(1.0 / 5.15, 0.191, 0.197), 2024, 2651),
            ],
        ),
        compare(
            3,
            2,
            VerdictWord::Unproven,
            estimate(1.0013, 0.985, 1.018),
            "nothing in the data shows that the load ran",
            vec![reason(
                "unproven_load",
                "no achieved load, no process list, no steal in run-004",
                false,
            )],
            vec![],
        ),
    ]
}

fn stratum(name: &str, ratio: Estimate, n_subject: u64, n_baseline: u64) -> StratumRatio {
    StratumRatio { stratum: name.to_owned(), inferred: true, ratio, n_subject, n_baseline }
}

fn compare(
    s: usize,
    b: usize,
    verdict: VerdictWord,
    ratio: Estimate,
    sentence: &str,
    reasons: Vec<Reason>,
    like: Vec<StratumRatio>,
) -> Comparison {
    let workloads = WORKLOADS.iter().enumerate().map(|(i, w)| {
        let factor = 1.0 + 0.03 * (i as f64 - 1.5);
        let value = ratio.value * factor;
        WorkloadComparison {
            workload: (*w).to_owned(),
            ratio: estimate(value, ratio.low.unwrap() * factor, ratio.high.unwrap() * factor),
            p99_ratio: around(value.powf(0.3), 0.2),
            verdict,
            welch: Some(Welch { t: 24.1, df: 2204.0, p: 0.0 }),
            repeat_level: Some(Welch { t: 1.9, df: 4.4, p: 0.124 }),
            like_for_like: like.clone(),
            equal_frequency: None,
        }
    });
    Comparison {
        effects: vec![],
        cause: None,
        title: format!("{} against {}", RUNS[s].1, RUNS[b].1),
        subject: side(RUNS[s].0, RUNS[s].1),
        baseline: side(RUNS[b].0, RUNS[b].1),
        verdict,
        sentence: sentence.to_owned(),
        reasons,
        ratio,
        like_for_like: like.clone(),
        equal_frequency: None,
        margin: 0.03,
        workloads: workloads.collect(),
    }
}

fn frequencies() -> Vec<FrequencySummary> {
    [("policy0", 1288.2), ("policy4", 1363.4)]
        .map(|(domain, mean)| FrequencySummary {
            run: RUNS[2].0.to_owned(),
            condition: Some("schedutil".to_owned()),
            domain: domain.to_owned(),
            n: 2412,
            claimed_mean_mhz: Some(mean),
            levels: vec![
                LevelShare { mhz: 600.0, share: 0.061 },
                LevelShare { mhz: 1332.0, share: 0.844 },
                LevelShare { mhz: 2064.0, share: 0.095 },
            ],
            most_claimed: Some(LevelShare { mhz: 1332.0, share: 0.844 }),
            delivered_mean_mhz: None,
            governor: Some("schedutil".to_owned()),
            source: "sysfs".to_owned(),
        })
        .to_vec()
}

fn loads() -> Vec<LoadSummary> {
    vec![LoadSummary {
        run: RUNS[3].0.to_owned(),
        condition: RUNS[3].1.to_owned(),
        profile: "stress-ng --cpu 4 --cpu-load 90 (as its name says)".to_owned(),
        wanted_percent: Some(90.0),
        achieved_percent: None,
        proven: false,
        why: "no achieved load was recorded".to_owned(),
        steal_max_percent: None,
    }]
}
