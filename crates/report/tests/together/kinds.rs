//! Every reader of a report works for every kind of run.
#![allow(missing_docs, clippy::unwrap_used)]

use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::export;
use flyball_report::figures;
use flyball_report::gate::{Gate, Status};
use flyball_report::html::{self, HtmlOptions};
use flyball_report::kinds::Kind;
use flyball_report::lanes::{self, LanesOptions};
use flyball_report::model::Report;
use flyball_report::terminal::{self, TerminalOptions};
use flyball_run::Kind as Cell;
use flyball_run::manifest::ConditionRecord;
use flyball_run::tables::registry;
use flyball_run::{ActivitySample, Manifest, RampUp, RampUpSample, Run, RunState, SwitchTrial};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Ramp-ups under two conditions: at once, and after `slow_ms` at half the rate.
fn rampups(slow_ms: u64) -> Run {
    let condition = |name: &str| ConditionRecord { name: name.into(), ..Default::default() };
    let mut run = Run {
        manifest: Manifest {
            kind: "rampup".into(),
            conditions: vec![condition("fast"), condition("<b>slow</b>")],
            ..Manifest::default()
        },
        ..Run::default()
    };
    for seq in 0..20 {
        let begin_ns = 1_000_000_000 + seq * 300_000_000;
        let slow = seq % 2 == 1;
        run.tables.rampups.push(RampUp {
            seq,
            condition: run.manifest.conditions[usize::from(slow)].name.clone(),
            repeat: seq as u32 / 2 + 1,
            gap_ns: 10_000_000,
            sleeps: 1,
            begin_ns,
            end_ns: begin_ns + 100_000_000,
            ..RampUp::default()
        });
        for step in 0..1000 {
            let after_ns = step * 100_000;
            let noise = (step * 7919 + seq * 104_729) % 100;
            let rate = if slow && after_ns < slow_ms * 1_000_000 { 500.0 } else { 1000.0 };
            run.tables.rampup_samples.push(RampUpSample {
                rampup: seq,
                after_ns,
                ticks: Some(1),
                cpu: Some(0),
                rate_per_us: rate * (1.0 + noise as f64 / 20_000.0),
                ..RampUpSample::default()
            });
        }
    }
    run
}

fn switches() -> Run {
    let mut run = Run::default();
    for seq in 0..200_u64 {
        let (from_khz, to_khz) =
            if seq % 2 == 0 { (1_000_000, 2_000_000) } else { (2_000_000, 1_000_000) };
        run.tables.trials.push(SwitchTrial {
            seq,
            method: "detect".into(),
            from_khz,
            to_khz,
            transition_ns: Some(300_000 + seq * 1_000),
            write_ns: Some(20_000),
            ..SwitchTrial::default()
        });
    }
    run
}

fn report(run: Run) -> Report {
    let mut run = RunData::new("run", "runs/run", run);
    run.manifest.state = RunState::Complete;
    analyse(&[run], &AnalysisOptions { replicates: 200, ..AnalysisOptions::default() })
}

fn every_reader(report: &Report, kind: Kind, words: &[&str]) {
    assert_eq!(Kind::of(report), [kind]);
    let page = html::render(report, &HtmlOptions::default());
    let text = terminal::render(report, &TerminalOptions::default());
    let markdown = export::markdown(report);
    for word in words {
        for (reader, told) in [("page", &page), ("terminal", &text), ("Markdown", &markdown)] {
            assert!(told.contains(word), "{reader} lacks {word}\n{told}");
        }
    }
    assert!(!page.contains("<b>slow") && page.contains("<svg"));
    assert!(!page.contains("No windows") && !text.contains("Verdicts"), "{text}");
    let drawn = figures::all(report, &[]);
    assert!(!drawn.is_empty());
    for figure in drawn {
        assert!(!figure.svg().contains("NaN"), "{}", figure.name);
    }
    let json = export::json(report).unwrap();
    let again: Report = serde_json::from_str(&json).unwrap();
    assert_eq!(export::json(&again).unwrap(), json);
}

#[test]
fn ramp_ups_have_a_page_figures_and_every_format() {
    let report = report(rampups(20));
    every_reader(&report, Kind::Rampup, &["10 ms", "no ramp visible", "95 %"]);
    let csv = export::csv(&report);
    assert!(csv.starts_with("run,condition,figure,statistic,value_us,value_low_us"), "{csv}");
    let slow = csv.lines().find(|line| line.contains("slow") && line.contains("to 95 %")).unwrap();
    let us: f64 = slow.split(',').nth(4).unwrap().parse().unwrap();
    assert!((us - 20_000.0).abs() < 1.0, "{slow}");
}

#[test]
fn switches_have_a_page_figures_and_every_format() {
    let report = report(switches());
    every_reader(&report, Kind::Switches, &["Transitions", "1000", "2000", "median"]);
    assert!(export::csv(&report).contains("detect 1000 to 2000 MHz,median,"));
}

#[test]
fn rules_hold_for_ramp_ups_and_switches() {
    let rampups = report(rampups(20));
    let switches = report(switches());
    for (report, rule, wanted) in [
        (&rampups, "median[figure=to 95 % after 10 ms] > 10ms", vec![Status::Pass, Status::Fail]),
        (&rampups, "median[condition=fast] > 10ms", vec![Status::Pass; 4]),
        (&rampups, "p90[figure=to 95 % after 10 ms] < 1us", vec![Status::Fail, Status::Pass]),
        (&rampups, "p99 > 1ms", vec![Status::CannotDecide]),
        (&switches, "median > 1ms", vec![Status::Pass; 2]),
        (&switches, "p99[figure=detect 1000 to 2000 MHz] > 400us", vec![Status::Fail]),
        (&switches, "median > +5%", vec![Status::CannotDecide]),
    ] {
        let outcomes = Gate::parse(rule).unwrap().evaluate(report);
        let found: Vec<Status> = outcomes.iter().map(|outcome| outcome.status).collect();
        assert_eq!(found, wanted, "{rule}: {outcomes:#?}");
    }
}

#[test]
fn the_baseline_comes_first() {
    let options = AnalysisOptions {
        baseline: Some("<b>slow</b>".to_owned()),
        replicates: 200,
        ..AnalysisOptions::default()
    };
    let mut run = RunData::new("run", "run", rampups(20));
    run.manifest.state = RunState::Complete;
    let found = analyse(&[run], &options);
    assert_eq!(found.rampups[0].cells[0].condition, "<b>slow</b>");
    let rule = Gate::parse("median[figure=to 95 % after 10 ms] > +5%").unwrap();
    assert_eq!(rule.evaluate(&found).len(), 1, "each condition but the baseline");
}

#[test]
fn a_recorded_load_is_told_per_cpu() {
    let mut run =
        Run { manifest: Manifest { kind: "load".into(), ..Manifest::default() }, ..Run::default() };
    for (at, busy_ns, khz) in [(1, 2_000_000, 600_000), (2, 8_000_000, 1_800_000)] {
        for cpu in [3, 0] {
            run.tables.activity.push(ActivitySample {
                t_ns: at * 10_000_000,
                interval_ns: 10_000_000,
                cpu,
                busy_ns: if cpu == 0 { busy_ns } else { 0 },
                idle_ns: if cpu == 0 { 10_000_000 - busy_ns } else { 10_000_000 },
                claimed_khz: (cpu == 0).then_some(khz),
                ..ActivitySample::default()
            });
        }
    }
    let report = report(run);
    assert_eq!(Kind::of(&report), [Kind::Activity]);
    let [busy, idle] = &report.activity[..] else { panic!("{:?}", report.activity) };
    assert_eq!((busy.cpu, busy.n, busy.busy, busy.busiest), (0, 2, 0.5, 0.8));
    assert_eq!(busy.claimed_mean_mhz, Some(1200.0));
    assert_eq!((busy.claimed_low_mhz, busy.claimed_high_mhz), (Some(600.0), Some(1800.0)));
    assert_eq!(
        (idle.cpu, idle.busy, idle.claimed_mean_mhz, idle.waiting_tasks),
        (3, 0.0, None, None)
    );
    let text = terminal::render(&report, &TerminalOptions::default());
    let page = html::render(&report, &HtmlOptions::default());
    for told in [&text, &page, &export::markdown(&report)] {
        assert!(told.contains("600 to 1800") && !told.contains("No windows"), "{told}");
    }
    assert!(!text.contains("nothing to compare"), "{text}");
    assert!(export::csv(&report).starts_with("cpu,recorded_s,"), "{}", export::csv(&report));
}

/// Rows of every table, a line each, by the table's name.
fn plausible() -> BTreeMap<&'static str, Vec<Value>> {
    let mut lines = BTreeMap::new();
    for table in registry() {
        let rows = (0..6_u64).map(|row| {
            let cell = |name: &str, kind: Cell| match kind {
                Cell::Text => match name {
                    "condition" => json!(["a", "b"][row as usize % 2]),
                    "domain" => json!("policy0"),
                    "kind" => json!(["task", "cpu", "parameter", "result"][row as usize % 4]),
                    _ => json!("x"),
                },
                Cell::Bool => json!(false),
                Cell::F64 => json!(1.0 + row as f64),
                _ if name.ends_with("_ns") => json!(1_000_000 * (row + 1)),
                _ if name.ends_with("_khz") => json!(1_000_000 * (row % 2 + 1)),
                _ if ["seq", "index", "point", "item"].contains(&name) => json!(row),
                _ => json!(row % 2),
            };
            table
                .columns
                .iter()
                .map(|column| (column.name, cell(column.name, column.kind)))
                .collect()
        });
        lines.insert(table.name, rows.collect());
    }
    lines
}

/// The run directory that has these lines.
fn laid_out(dir: &Path, lines: &BTreeMap<&str, Vec<Value>>) {
    fs_err::create_dir_all(dir).unwrap();
    fs_err::write(dir.join("run.toml"), "format = 1\nkind = \"bench\"\n").unwrap();
    for (table, rows) in lines {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        fs_err::write(dir.join(format!("{table}.ndjson")), text).unwrap();
    }
}

/// Everything that a report makes of a run.
fn all_of_it(dir: &Path) {
    let run = || RunData::new("run", "run", Run::open(dir).unwrap());
    let options = AnalysisOptions { replicates: 1, ..AnalysisOptions::default() };
    let report = analyse(&[run()], &options);
    let page = html::render(&report, &HtmlOptions::default());
    let verbose = TerminalOptions { verbose: true, ..TerminalOptions::default() };
    let text = terminal::render(&report, &verbose);
    let tables = (export::json(&report).unwrap(), export::markdown(&report), export::csv(&report));
    // What cannot be shown is an error.
    let lanes = lanes::render(&[run()], &LanesOptions::default()).ok();
    std::hint::black_box((page, text, tables, lanes, figures::all(&report, &[])));
}

/// The largest and smallest value of any kind in any column: told, refused, shown as nonsense, but soon.
#[test]
fn extreme_values_are_told_soon() {
    let root = tempfile::tempdir().unwrap();
    let lines = plausible();
    let (done, told) = mpsc::channel();
    let dir = root.path().to_owned();
    std::thread::spawn(move || {
        laid_out(&dir, &lines);
        all_of_it(&dir);
        for table in registry() {
            for column in table.columns {
                let extremes = match column.kind {
                    Cell::U32 => vec![json!(u32::MAX)],
                    Cell::I32 => vec![json!(i32::MAX), json!(i32::MIN)],
                    Cell::U64 => vec![json!(u64::MAX), json!(1_u64 << 62)],
                    Cell::I64 => vec![json!(i64::MAX), json!(i64::MIN)],
                    Cell::F64 => vec![json!(f64::MAX), json!(f64::MIN)],
                    Cell::Bool | Cell::Text => Vec::new(),
                };
                for extreme in extremes {
                    let _ = done.send(format!("{}.{} = {extreme}", table.name, column.name));
                    let mut rows = lines[table.name].clone();
                    rows[3][column.name] = extreme;
                    laid_out(&dir, &BTreeMap::from([(table.name, rows)]));
                    all_of_it(&dir);
                }
            }
            laid_out(&dir, &BTreeMap::from([(table.name, lines[table.name].clone())]));
        }
    });
    let mut last = String::new();
    loop {
        match told.recv_timeout(Duration::from_secs(20)) {
            Ok(next) => last = next,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("hangs: {last}"),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    let end = registry().iter().rev().find_map(|table| {
        let column =
            table.columns.iter().rev().find(|it| !matches!(it.kind, Cell::Bool | Cell::Text));
        column.map(|column| format!("{}.{} = ", table.name, column.name))
    });
    assert!(last.starts_with(&end.unwrap()), "panics: {last}");
}
