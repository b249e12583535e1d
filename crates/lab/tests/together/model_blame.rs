//! Blame on a model, where every cause is known: each part appears where it was caused, and is
//! what the simulator counted.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test")]

use crate::common;

use flyball_events::blame::{Basis, Blame, Part, WindowBlame};
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::html;
use flyball_report::model::Report;
use flyball_report::terminal::{self, TerminalOptions};
use flyball_run::{Run, Window};
use std::path::Path;

const CAUSES: &str = r#"
name = "causes"
repeats = 3
period = "20ms"
duration = "600ms"
warmup = "60ms"
[[workload]]
kernel = "car"
[[workload]]
kernel = "goertzel"
[[condition]]
name = "performance"
governor = "performance"
placement = "cpu4"
[[condition]]
name = "powersave"
governor = "powersave"
placement = "cpu4"
[[condition]]
name = "schedutil"
governor = "schedutil"
placement = "cpu4"
[[condition]]
name = "loaded"
governor = "performance"
placement = "cpu4"
load = "cpu=4,percent=70"
"#;

/// A machine with deep idle states, and a bound on them.
const IDLE: &str = r#"
name = "idle"
repeats = 1
period = "20ms"
duration = "400ms"
[[workload]]
kernel = "car"
[[condition]]
name = "deep"
governor = "performance"
placement = "cpu4"
[[condition]]
name = "shallow"
governor = "performance"
placement = "cpu4"
idle_latency_us = 10
"#;

fn bench(machine: &str, text: &str, dir: &Path) -> Run {
    common::bench(machine, text, dir, true).unwrap();
    Run::open(dir).unwrap()
}

/// The windows under a condition, with their rows.
fn under<'a>(run: &'a Run, blame: &'a Blame, condition: &str) -> Vec<(Window, &'a WindowBlame)> {
    let rows =
        blame.windows.iter().map(|found| (run.tables.windows.row(found.row).unwrap(), found));
    rows.filter(|(window, _)| window.condition == condition && !window.warmup).collect()
}

fn ns(found: &WindowBlame, part: Part) -> u64 {
    found.parts.get(part).unwrap_or_default()
}

#[test]
fn each_part_is_what_the_simulator_counted() {
    let dir = tempfile::tempdir().unwrap();
    let run = bench("model:apple-m1", CAUSES, &dir.path().join("run"));
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    let blame = Blame::of(&run).unwrap();
    assert_eq!((blame.windows.len(), blame.uncovered), (run.tables.windows.len(), 0));
    assert_eq!((blame.clocks.events.as_str(), blame.clocks.uncertainty_ns), ("virtual", 0));
    let max_khz = run.manifest.machine.as_ref().unwrap().cpus[4].max_khz.unwrap();
    for found in &blame.windows {
        let window = run.tables.windows.row(found.row).unwrap();
        assert_eq!(found.parts.sum_ns() as i64, window.response_ns);
        assert_eq!(ns(found, Part::Unexplained), 0, "{window:?}\n{found:?}");
        assert_eq!(found.basis, Some(Basis::Changes));
        assert_eq!(Some(found.running_ns), window.cpu_time_ns, "{window:?}");
        assert_eq!(Some(ns(found, Part::Queue)), window.wake_delay_ns, "{window:?}");
        assert_eq!(Some(ns(found, Part::Preemption)), window.run_delay_ns, "{window:?}");
        // The cycles that the model counted, at the highest frequency.
        let work = window.cycles.unwrap() as f64 * 1e6 / max_khz as f64;
        let error = (work - ns(found, Part::Work) as f64).abs();
        assert!(error < 50.0, "{work} {found:?}");
    }
    for (window, found) in under(&run, &blame, "performance") {
        assert_eq!(ns(found, Part::Frequency), 0, "{window:?}");
        assert_eq!(ns(found, Part::IdleExit) as i64, window.lateness_ns);
        assert_eq!(ns(found, Part::Work) + ns(found, Part::IdleExit), found.response_ns);
    }
    let performance = under(&run, &blame, "performance");
    assert!(performance.iter().any(|(_, found)| ns(found, Part::IdleExit) > 0));
    for (window, found) in under(&run, &blame, "powersave") {
        assert_eq!(window.delivered_khz, Some(600_000));
        let at_max = found.running_ns * 600_000 / max_khz;
        assert!(ns(found, Part::Work).abs_diff(at_max) <= 4, "{found:?}");
        assert_eq!(ns(found, Part::Frequency), found.running_ns - ns(found, Part::Work));
        assert_eq!(found.parts.largest_loss().unwrap().0, Part::Frequency);
    }
    let loaded = under(&run, &blame, "loaded");
    let behind = |found: &WindowBlame| ns(found, Part::Queue) + ns(found, Part::Preemption);
    let others: u64 = loaded.iter().map(|(_, found)| behind(found)).sum();
    let response: u64 = loaded.iter().map(|(_, found)| found.response_ns).sum();
    assert!(others * 100 > response, "a load of 70 % took {others} of {response} ns");
    let (_, worst) = loaded.iter().max_by_key(|(_, found)| behind(found)).unwrap();
    let names: Vec<String> = worst
        .culprits
        .iter()
        .filter(|(part, ..)| matches!(part, Part::Queue | Part::Preemption))
        .map(|(_, who, _)| blame.name_of(who))
        .collect();
    assert!(!names.is_empty() && names.iter().all(|name| name == "load-0"), "{names:?}");
    for condition in ["performance", "powersave", "schedutil"] {
        assert!(under(&run, &blame, condition).iter().all(|(_, found)| behind(found) == 0));
    }
}

#[test]
fn an_idle_exit_is_the_latency_of_the_state() {
    let dir = tempfile::tempdir().unwrap();
    let run = bench("model:rk3399", IDLE, &dir.path().join("run"));
    let blame = Blame::of(&run).unwrap();
    let states = &run.manifest.machine.as_ref().unwrap().idle_states;
    let latency = |name: &str| {
        let state = states.iter().find(|state| state.name == name).unwrap();
        state.exit_latency_us.unwrap() * 1_000
    };
    for condition in ["deep", "shallow"] {
        for (window, found) in under(&run, &blame, condition) {
            let (who, ns) = found.culprits.most_of(Part::IdleExit).unwrap();
            assert_eq!(ns, latency(&blame.name_of(who)), "{window:?}");
            assert_eq!(ns as i64, window.lateness_ns);
        }
    }
    let most = |condition: &str| {
        let windows = under(&run, &blame, condition);
        windows.iter().map(|(_, found)| ns(found, Part::IdleExit)).max().unwrap()
    };
    assert_eq!(most("shallow"), 1_000);
    assert!(most("deep") >= 250_000, "{}", most("deep"));
}

fn reported(run: Run) -> Report {
    let options = AnalysisOptions { replicates: 200, ..AnalysisOptions::default() };
    analyse(&[RunData::new("model", "run", run)], &options)
}

#[test]
fn the_report_says_what_made_windows_slow() {
    let dir = tempfile::tempdir().unwrap();
    let report = reported(bench("model:apple-m1", CAUSES, &dir.path().join("run")));
    let blame = &report.blame[0];
    assert_eq!((blame.windows, blame.uncovered), (3 * 2 * 4 * 30, 0));
    for cell in &blame.cells {
        let sum: f64 = cell.parts.iter().filter_map(|part| part.mean_us).sum();
        assert!((sum - cell.response_us).abs() < 1e-6 * sum, "{cell:?}");
        let shares: f64 = cell.parts.iter().filter_map(|part| Some(part.share?.value)).sum();
        assert!((shares - 1.0).abs() < 1e-6, "{shares}");
        let excess: f64 = cell.parts.iter().filter_map(|part| part.excess_us).sum();
        let more = cell.slow_response_us - cell.rest_response_us;
        assert!((excess - more).abs() < 1e-6 * cell.response_us, "{excess} {more}");
    }
    let cell = |workload: &str, condition: &str| {
        let mut cells = blame.cells.iter();
        cells
            .find(|c| (c.workload.as_str(), c.condition.as_str()) == (workload, condition))
            .unwrap()
    };
    let share = |condition: &str, part: &str| {
        let cell = cell("goertzel", condition);
        cell.parts.iter().find(|found| found.part == part).unwrap().share.unwrap()
    };
    assert!(share("powersave", "frequency").value > 0.7, "{:?}", share("powersave", "frequency"));
    assert!(share("performance", "frequency").value == 0.0);
    assert!(share("loaded", "preemption").value + share("loaded", "queue").value > 0.01);
    assert!(cell("goertzel", "loaded").culprits[0].who.contains("load-0"));
    let interrupts = blame.cells[0].parts.iter().find(|found| found.part == "interrupts").unwrap();
    assert_eq!((interrupts.mean_us, interrupts.share), (None, None), "unknown, not zero");
    assert!(blame.missing.iter().any(|text| text.starts_with("interrupts")));

    let text = terminal::render(&report, &TerminalOptions { width: 120, ..Default::default() });
    assert!(text.contains("Blame: what the responses were made of"), "{text}");
    assert!(text.contains("What the slowest 1 %"), "{text}");
    let page = html::render(&report, &html::HtmlOptions::default());
    assert!(page.contains("id=\"blame\"") && page.contains("id=\"blame-slowest\""));
}

#[test]
fn windows_are_the_same_with_and_without_events() {
    let dir = tempfile::tempdir().unwrap();
    let with = bench("model:apple-m1", CAUSES, &dir.path().join("with"));
    let without = dir.path().join("without");
    common::bench("model:apple-m1", CAUSES, &without, false).unwrap();
    let without = Run::open(&without).unwrap();
    assert_eq!(with.tables.windows, without.tables.windows);
    assert!(without.tables.slices.is_empty() && !with.tables.slices.is_empty());
    assert!(reported(without).blame.is_empty());
}
