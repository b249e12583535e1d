//! A quick bench in a virtual machine without cpufreq: four kernels, idle and heavy.

use flyball_report::model::*;

use super::build::{Recipe, Rng, cell, estimate, finding, geometric_mean, reason, side};

const RUN: &str = "20261120T1204Z-bench";
const WORKLOADS: [(&str, f64); 4] =
    [("car", 10.9), ("notch_iir", 31.4), ("goertzel", 283.0), ("bandpass_fir", 1396.0)];

/// The report.
pub fn bench() -> Report {
    let mut rng = Rng(7);
    let mut cells = Vec::new();
    for (i, (workload, median)) in WORKLOADS.into_iter().enumerate() {
        for (j, (condition, factor, mhz)) in
            [("idle", 1.0, 3040.0), ("heavy", 0.947, 3215.0)].into_iter().enumerate()
        {
            cells.push(cell(
                &mut rng,
                &Recipe {
                    run: RUN,
                    workload,
                    condition,
                    modes: &[(median * factor, 0.012 + 0.006 * j as f64, 1.0)],
                    labels: &[],
                    n: 1600,
                    repeats: 8,
                    mhz: Some(mhz),
                    cpu: Some(1),
                    start_s: (i * 2 + j) as f64 * 5.0,
                    period_s: 0.02,
                    disturbed_share: if j == 1 { 0.031 } else { 0.004 },
                    spread: 0.008,
                    effective_n: 412.0,
                },
            ));
        }
    }
    let geometric_means = ["idle", "heavy"].map(|c| geometric_mean(&cells, RUN, c)).to_vec();
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        runs: vec![run()],
        comparisons: vec![comparison()],
        geometric_means,
        frequencies: frequencies(),
        loads: loads(),
        disturbances: vec![
            finding("hypervisor steal", "1.1 % of windows; kept and marked", None),
            finding("preemption", "3.1 % of the heavy condition's windows, 0.4 % of idle's", None),
        ],
        not_checked: vec![
            finding("governors", "no cpufreq here (KVM guest; the host decides)", None),
            finding(
                "real-time scheduling",
                "needs CAP_SYS_NICE",
                Some("sudo setcap cap_sys_nice+ep $(command -v flyball)"),
            ),
        ],
        warnings: vec![],
        bootstrap: BootstrapNote {
            seed: 20261120,
            replicates: 2000,
            method: "repeats resampled in blocks within each condition, percentile interval"
                .to_owned(),
        },
        cells,
        ..Report::default()
    };
    report.conditions = flyball_report::view::conditions(&report);
    report
}

fn run() -> RunSummary {
    RunSummary {
        pooled: 3,
        name: RUN.to_owned(),
        kind: "bench".to_owned(),
        state: "complete".to_owned(),
        unfinished: None,
        created: "2026-11-20T12:04:11Z".to_owned(),
        machine: "Xeon (Sapphire Rapids), 2 CPUs, Linux 6.1, KVM guest".to_owned(),
        windows: 12_800,
        duration_s: 41.2,
        seed: Some(42),
        core_types: Some("one kind of core (no cpu_capacity, one cpuinfo_max_freq)".to_owned()),
        overheads: vec![
            Overhead { name: "window record".to_owned(), median_us: 0.21, p99_us: 0.4 },
            Overhead { name: "frequency probe".to_owned(), median_us: 3.1, p99_us: 3.4 },
        ],
        path: format!("flyball-runs/{RUN}"),
        command: Some("flyball bench".to_owned()),
        tool: Some("flyball 0.1.0 (eab064a)".to_owned()),
    }
}

fn comparison() -> Comparison {
    let workloads = WORKLOADS.map(|(workload, _)| WorkloadComparison {
        workload: workload.to_owned(),
        ratio: estimate(0.947, 0.938, 0.956),
        p99_ratio: estimate(1.08, 0.99, 1.21),
        verdict: VerdictWord::Effect,
        welch: Some(Welch { t: -31.2, df: 3151.0, p: 0.0 }),
        repeat_level: Some(Welch { t: -6.4, df: 12.1, p: 0.000_034 }),
        like_for_like: vec![],
        equal_frequency: None,
    });
    Comparison {
        effects: vec![],
        cause: None,
        title: "heavy load against idle".to_owned(),
        subject: side(RUN, "heavy"),
        baseline: side(RUN, "idle"),
        verdict: VerdictWord::Effect,
        sentence: "5.3 % faster in median execution on all 4 kernels; the delivered frequency is 5.8 % higher"
            .to_owned(),
        reasons: vec![reason(
            "frequency",
            "3.04 GHz delivered under idle and 3.22 GHz under heavy: the difference in time is what the difference in frequency predicts (within 0.5 %)",
            false,
        )],
        ratio: estimate(0.947, 0.94, 0.954),
        like_for_like: vec![],
        equal_frequency: None,
        margin: 0.03,
        workloads: workloads.to_vec(),
    }
}

fn frequencies() -> Vec<FrequencySummary> {
    [("idle", 3040.0), ("heavy", 3215.0)]
        .map(|(condition, mhz)| FrequencySummary {
            run: RUN.to_owned(),
            condition: Some(condition.to_owned()),
            domain: "cpu1".to_owned(),
            n: 6400,
            claimed_mean_mhz: Some(2100.0),
            levels: vec![LevelShare { mhz: 2100.0, share: 1.0 }],
            most_claimed: Some(LevelShare { mhz: 2100.0, share: 1.0 }),
            delivered_mean_mhz: Some(mhz),
            governor: None,
            source: "probe".to_owned(),
        })
        .to_vec()
}

fn loads() -> Vec<LoadSummary> {
    [("idle", None, Some(0.8)), ("heavy", Some(90.0), Some(89.6))]
        .map(|(condition, wanted, achieved)| LoadSummary {
            run: RUN.to_owned(),
            condition: condition.to_owned(),
            profile: condition.to_owned(),
            wanted_percent: wanted,
            achieved_percent: achieved,
            proven: true,
            why: "thread CPU time of the generator, per CPU and second".to_owned(),
            steal_max_percent: Some(1.2),
        })
        .to_vec()
}
