//! Runs of events: known answers, the same in every form, and what is missing is said.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::ramp;

use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::export::{cells_csv, events_csv, json, markdown};
use flyball_report::html::{self, HtmlOptions};
use flyball_report::model::{EventTrial, Report};
use flyball_report::terminal::{self, TerminalOptions};
use flyball_report::text::width;
use flyball_run::manifest::{ConditionRecord, TrialRecord, WorkloadRecord};
use flyball_run::{EnergyShare, Run, SweepValue, Tables, Window};

const SCENARIO: &str = "question = \"Why?\"\nplatform = \"two-cores\"\nkernel = \"linux-6.12\"\n\
    duration = \"100ms\"\n[governor]\nname = \"schedutil\"\nrate_limit_us = 70\n";

/// The hand-made ramp with energy, phases and a scenario around it.
fn simulated(slower: u64) -> Run {
    let mut run = ramp::ramp(slower);
    run.manifest.kind = "sim".to_owned();
    run.manifest.experiment = Some(SCENARIO.to_owned());
    run.manifest.seed = Some(7);
    run.manifest.workloads =
        vec![WorkloadRecord { name: "ramp".to_owned(), ..WorkloadRecord::default() }];
    for (kind, domain, energy_mj) in
        [("domain", Some("big"), 30.0), ("domain", Some("big"), 12.0), ("package", None, 8.0)]
    {
        run.tables.energy.push(EnergyShare {
            kind: kind.to_owned(),
            domain: domain.map(str::to_owned),
            state: "base".to_owned(),
            energy_mj,
            ..EnergyShare::default()
        });
    }
    for phase in 0..4_u64 {
        let mut row = |kind: &str, name: &str, value: f64| {
            run.tables.sweep.push(SweepValue {
                point: phase,
                kind: kind.to_owned(),
                name: name.to_owned(),
                value: Some(value),
                text: None,
            });
        };
        row("parameter", "phase", phase as f64);
        row("result", "ramp.response_p99_ns", 4e6 + 1e6 * phase as f64);
        row("result", "machine.energy_mj", 50.0);
    }
    run
}

fn report(runs: &[(&str, Run)]) -> Report {
    let data: Vec<RunData> =
        runs.iter().map(|(name, run)| RunData::new(*name, *name, run.clone())).collect();
    analyse(&data, &AnalysisOptions::default())
}

fn trial(report: &Report) -> &EventTrial {
    &report.events[0].trials[0]
}

fn terminal(report: &Report, verbose: bool, width: usize) -> String {
    terminal::render(report, &TerminalOptions { width, verbose, ..TerminalOptions::default() })
}

#[test]
fn the_figures_are_those_worked_out_by_hand() {
    let report = report(&[("one", simulated(1))]);
    let trial = trial(&report);
    let items = &trial.items[0];
    assert_eq!((items.done, items.unfinished, items.with_deadline, items.missed), (2, 1, 2, 1));
    assert_eq!((items.median_us, items.max_us), (Some(41_000.0), Some(60_000.0)));
    let little = &trial.domains[0];
    let shares: Vec<(f64, f64)> = little.residency.iter().map(|l| (l.mhz, l.share)).collect();
    assert_eq!(shares, [(600.0, 0.21), (1000.0, 0.20), (1800.0, 0.59)]);
    assert_eq!((little.transitions, little.up, little.transitions_per_s), (2, 2, Some(20.0)));
    assert!((little.mean_mhz.unwrap() - (600.0 * 0.21 + 200.0 + 1800.0 * 0.59)).abs() < 1e-9);
    let causes: u64 = little.causes.iter().map(|cause| cause.count).sum();
    assert_eq!(causes + little.unexplained, 2);
    let big = &trial.energy[0];
    assert_eq!(
        (big.subject.as_str(), big.energy_mj, big.power_mw),
        ("domain big", 42.0, Some(420.0))
    );
    let point = &report.events[0].points[0];
    assert_eq!((point.phases, point.results[0].median, point.results[0].max), (4, 5.5e6, 7e6));
}

#[test]
fn the_terminal_says_what_ran_and_what_came_of_it() {
    let report = report(&[("one", simulated(1))]);
    let text = terminal(&report, false, 100);
    for wanted in [
        "platform two-cores",
        "kernel linux-6.12",
        "governor schedutil",
        "rate_limit_us=70",
        "phases 4",
        "Work items",
        "5.50 ms [4.03 ms, 6.97 ms]",
        "41.0 ms",
        "50 %",
        "Residency per frequency",
        "Causes of frequency changes",
        "Run          one",
    ] {
        assert!(text.contains(wanted), "expected {wanted}\n{text}");
    }
    assert!(text.lines().count() <= 48, "one screen\n{text}");
    assert!(terminal(&report, true, 100).contains("util_avg of ramp"));
    assert!(!text.contains("No windows") && !text.contains("nothing to compare"), "{text}");
    assert!(terminal(&report, true, 100).len() > text.len());
    for columns in [80, 100, 160] {
        for verbose in [false, true] {
            let text = terminal(&report, verbose, columns);
            let widest = text.lines().max_by_key(|line| width(line)).unwrap();
            assert!(width(widest) <= columns, "{columns}: {widest}");
        }
    }
}

#[test]
fn runs_stand_side_by_side() {
    let report = report(&[("fast", simulated(1)), ("slow", simulated(2))]);
    let text = terminal(&report, true, 120);
    for wanted in ["fast, n 4", "slow, n 4", "fast: util_avg of ramp", "slow: util_avg of ramp"] {
        assert!(text.contains(wanted), "expected {wanted}\n{text}");
    }
    assert_eq!(trial(&report).name, "fast");
}

#[test]
fn variants_are_trials_by_their_names() {
    let mut run = ramp::ramp(1);
    let first = std::mem::take(&mut run.tables);
    for (number, name) in ["default", "70 us"].into_iter().enumerate() {
        let number = number as u32;
        macro_rules! copy {
            ($($table:ident),+) => {$(
                for row in (0..first.$table.len()).filter_map(|row| first.$table.row(row)) {
                    let mut row = row;
                    row.trial = Some(number);
                    run.tables.$table.push(row);
                }
            )+};
        }
        copy!(slices, wakeups, migrations, idle, utilization, capacity, markers, governor);
        copy!(items, frequency);
        run.manifest.conditions.push(ConditionRecord {
            name: name.to_owned(),
            governor: Some("schedutil".to_owned()),
            ..ConditionRecord::default()
        });
        run.manifest.order.push(TrialRecord {
            trial: number,
            condition: name.to_owned(),
            ..TrialRecord::default()
        });
    }
    run.manifest.experiment =
        Some(format!("# variant: default\n{SCENARIO}\n# variant: 70 us\n{SCENARIO}"));
    let report = report(&[("pair", run)]);
    let names: Vec<&str> = report.events[0].trials.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["default", "70 us"]);
    let text = terminal(&report, false, 120);
    assert!(text.contains("default (schedutil), 70 us (schedutil)"), "{text}");
    assert!(text.contains("platform two-cores"), "{text}");
    assert!(text.contains("table `sweep`: no rows"), "{text}");
}

#[test]
fn what_is_missing_is_said_once() {
    let mut run = ramp::ramp(1);
    run.tables.items = Default::default();
    run.tables.governor = Default::default();
    let text = terminal(&report(&[("bare", run)]), false, 100);
    for wanted in ["`items`: no rows", "`governor`: no rows", "`energy`: no rows", "`sweep`: no"] {
        assert_eq!(text.matches(wanted).count(), 1, "{wanted}\n{text}");
    }
    let mut summary = simulated(1);
    summary.tables = Tables { sweep: summary.tables.sweep, ..Tables::default() };
    let text = terminal(&report(&[("summary", summary)]), false, 100);
    assert!(text.contains("records everything") && text.contains("5.50 ms"), "{text}");
    let mut ended = ramp::ramp(1);
    ended.manifest.kind = "bench".to_owned();
    let text = terminal(&report(&[("ended", ended)]), false, 100);
    assert!(text.contains("No windows"), "{text}");
    let text = terminal(&report(&[("nothing", Run::default())]), false, 100);
    assert!(text.contains("No windows"), "{text}");
}

#[test]
fn a_sweep_is_one_row_per_point() {
    let mut run = simulated(1);
    run.tables = Tables::default();
    for row in 0..40_u64 {
        let mut add = |kind: &str, name: &str, value: f64| {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            run.tables.sweep.push(SweepValue {
                point: row,
                kind,
                name,
                value: Some(value),
                text: None,
            });
        };
        add("parameter", "hz", (row / 2) as f64);
        add("parameter", "phase", (row % 2) as f64);
        add("result", "ramp.response_p99_ns", row as f64);
    }
    let report = report(&[("swept", run)]);
    assert_eq!(report.events[0].points.len(), 20);
    let text = terminal(&report, false, 100);
    assert!(text.contains("the first 12 of 20"), "{text}");
    assert!(text.contains("points 20"), "{text}");
}

#[test]
fn machines_read_the_same() {
    let report = report(&[("one", simulated(1))]);
    let mut back: Report = serde_json::from_str(&json(&report).unwrap()).unwrap();
    // The curves are the run's own tables; JSON does not repeat them.
    back.events[0].trials[0].view.clone_from(&report.events[0].trials[0].view);
    assert!(back == report, "something got lost");
    let csv = events_csv(&report);
    assert!(csv.contains("one,one,,ramp,latency_median_us,41000\n"), "{csv}");
    assert!(csv.contains("one,,,machine,energy_mj median over phases,50\n"), "{csv}");
    assert_eq!(cells_csv(&report).lines().count(), 1);
    let text = markdown(&report);
    assert!(text.contains("platform two-cores") && text.contains("| ramp |"), "{text}");
    assert!(!text.contains("0 cells"), "{text}");
}

fn page(report: &Report) -> String {
    html::render(report, &HtmlOptions::default())
}

#[test]
fn the_page_has_the_figure_and_the_tables() {
    let html = page(&report(&[("fast", simulated(1)), ("slow", simulated(2))]));
    let sections = ["ran", "timeline", "tables", "method"];
    let at: Vec<usize> =
        sections.iter().map(|s| html.find(&format!("<section id=\"{s}\"")).unwrap()).collect();
    assert!(at.is_sorted(), "{at:?}");
    for wanted in ["frequency of big, GHz", "<h1>Why?", "aria-label=\"Clock domains", "two-cores"] {
        assert!(html.contains(wanted), "{wanted}");
    }
    for absent in ["id=\"verdicts\"", "id=\"cells\"", "windows</span>", "href=\"#verdicts"] {
        assert!(!html.contains(absent), "{absent}");
    }
    let body = &html[html.find("<body>").unwrap()..html.rfind("<script>").unwrap()];
    for forbidden in ["http://", "https://", "src=", " style=", "onclick", "NaN", ">inf<"] {
        assert!(!body.contains(forbidden), "found {forbidden}");
    }
    for tag in ["div", "section", "table", "tr", "td", "th", "figure", "svg", "dl", "dd", "ul"] {
        let opened = |end: &str| body.matches(&format!("<{tag}{end}")).count();
        assert_eq!(opened(">") + opened(" "), body.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // Whatever scrolls can be reached with the keyboard, and says what it is.
    assert_eq!(
        body.matches("class=\"scroll\"").count(),
        body.matches("class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=").count()
    );
}

#[test]
fn hostile_names_stay_text() {
    let mut run = simulated(1);
    let hostile = "<script>alert(1)</script>\u{1b}[31m";
    run.manifest.experiment = Some(format!("platform = {:?}\n", hostile.replace('\u{1b}', "")));
    let report = report(&[(hostile, run)]);
    let html = page(&report);
    assert_eq!(html.matches("<script").count(), 1, "only the page's own script");
    assert!(!html.contains('\u{1b}'));
    assert!(!terminal(&report, true, 100).contains('\u{1b}'));
}

#[test]
fn windows_keep_their_report_and_get_the_time_line() {
    let mut run = ramp::ramp(1);
    run.tables.windows.push(Window {
        workload: "car".to_owned(),
        condition: "idle".to_owned(),
        end_ns: 10_000,
        exec_ns: 10_000,
        response_ns: 10_000,
        ..Window::default()
    });
    let report = report(&[("bench", run)]);
    let html = page(&report);
    assert!(html.contains("id=\"cells\"") && html.contains("id=\"timeline\""));
    assert!(!html.contains("id=\"ran\"") && !html.contains("id=\"tables\""));
    assert!(!terminal(&report, false, 100).contains("GHz of"));
}
