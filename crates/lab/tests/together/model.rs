//! An experiment on a model, from the text to the report.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test")]

use crate::common;

use flyball_lab::session::Outcome;
use flyball_lab::{MachineError, ShareRange, e_share_sweep, open};
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_run::{Run, RunState};
use flyball_units::{Diagnostic, Duration, ErrorKind, MachineSpec};
use std::collections::BTreeMap;
use std::path::Path;

const GOVERNORS: &str = r#"
name = "governors"
repeats = 5
period = "20ms"
duration = "400ms"
warmup = "40ms"
[[workload]]
kernel = "car"
[[workload]]
kernel = "goertzel"
[[condition]]
name = "performance"
governor = "performance"
[[condition]]
name = "powersave"
governor = "powersave"
[[condition]]
name = "loaded"
governor = "schedutil"
tunables = { rate_limit_us = 2000 }
load = "2x50%"
"#;

fn bench(machine: &str, text: &str, dir: &Path) -> Result<Outcome, MachineError> {
    common::bench(machine, text, dir, false)
}

fn bytes(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap();
    let file = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    };
    entries.map(|entry| file(entry.unwrap())).collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_others() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, text: &str| {
        let dir = dir.path().join(name);
        assert_eq!(bench("model:apple-m1", text, &dir).unwrap().state, RunState::Complete);
        bytes(&dir)
    };
    let first = run("a", GOVERNORS);
    assert!(first.contains_key("windows.parquet") && first.contains_key("load.parquet"));
    assert_eq!(first, run("b", GOVERNORS));
    let other = run("c", &format!("seed = 2{GOVERNORS}"));
    assert_ne!(first["windows.parquet"], other["windows.parquet"]);
}

#[test]
fn the_report_reads_a_model_run_and_gives_verdicts() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("run");
    bench("model:apple-m1", GOVERNORS, &dir).unwrap();
    let run = Run::open(&dir).unwrap();
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    let manifest = &run.manifest;
    assert!(manifest.clocks.iter().all(|clock| clock.clock == "virtual"));
    assert_eq!((manifest.created.as_str(), manifest.conditions.len()), ("", 6));
    let loaded = manifest.condition("loaded on E").unwrap();
    assert_eq!(loaded.load.as_ref().unwrap().proven, Some(true), "{:?}", loaded.load);
    let in_force = loaded.applied["domain_e"].as_table().unwrap();
    assert_eq!(in_force["rate_limit_us"].as_integer(), Some(2000));
    let pinned = manifest.condition("powersave on E").unwrap();
    assert_eq!(pinned.governor.as_deref(), Some("powersave"));

    let windows = &run.tables.windows;
    assert_eq!(windows.len(), 5 * 2 * 6 * 22);
    let powersave = (0..windows.len()).filter_map(|row| windows.row(row));
    let powersave = powersave.filter(|window| window.condition == "powersave on P");
    for window in powersave {
        assert_eq!(window.delivered_khz, Some(600_000));
        assert_eq!((window.cpu_before, window.migrations), (Some(4), Some(0)));
    }
    let runs = [RunData::new("model", dir.display().to_string(), run)];
    let options = AnalysisOptions { replicates: 200, ..AnalysisOptions::default() };
    let report = analyse(&runs, &options);
    let found = |subject: &str, baseline: &str| {
        let comparison = report.comparisons.iter().find(|comparison| {
            comparison.subject.condition == subject && comparison.baseline.condition == baseline
        });
        comparison.map(|comparison| comparison.verdict)
    };
    let verdict = found("powersave on E", "performance on E").unwrap();
    assert_eq!(format!("{verdict:?}"), "Effect");
}

#[test]
fn a_name_that_nothing_has_is_answered_with_the_nearest() {
    let error = open(&"model:aple-m1".parse().unwrap(), None).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.hint().unwrap().contains("apple-m1"), "{:?}", error.hint());
    let error = open(&"model:apple-m1,kernel=linux-6.13".parse().unwrap(), None).err().unwrap();
    assert!(error.to_string().contains("linux-6.13"), "{error}");
    let error = open(&"board:bord-x86".parse().unwrap(), None).err().unwrap();
    assert!(error.hint().unwrap().contains("board-x86"), "{:?}", error.hint());
    let error = open(&"record:runs/x".parse().unwrap(), None).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
}

#[test]
fn a_deadline_thread_runs_at_the_frequency_that_it_reserved() {
    let text = "repeats = 5\nperiod = \"20ms\"\nduration = \"400ms\"\nwarmup = \"40ms\"\n\
                [[workload]]\nkernel = \"goertzel\"\n\
                [[condition]]\nname = \"fair\"\ngovernor = \"schedutil\"\nplacement = \"any\"\n\
                [[condition]]\nname = \"deadline\"\ngovernor = \"schedutil\"\nplacement = \"any\"\n\
                scheduling = \"deadline:18ms/20ms\"\n";
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(bench("model:apple-m1", text, dir.path()).unwrap().state, RunState::Complete);
    let run = Run::open(dir.path()).unwrap();
    let windows = &run.tables.windows;
    let of = |name: &str| {
        let rows = windows.condition.iter().zip(windows.exec_ns.iter());
        let own = rows.filter(|(condition, _)| *condition == name);
        let mut times: Vec<u64> = own.map(|(_, time)| *time).collect();
        times.sort_unstable();
        times[times.len() / 2]
    };
    // 0.9 of 3204 MHz on a big CPU, against a little one that the task's utilisation hardly raises.
    assert!(3 * of("deadline") < of("fair"), "{} {}", of("deadline"), of("fair"));
}

#[test]
fn what_a_model_cannot_do_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let condition = |lines: &str| {
        format!("duration = \"40ms\"\n[[workload]]\nkernel = \"car\"\n[[condition]]\n{lines}\n")
    };
    let refused = |machine: &str, text: &str| bench(machine, text, dir.path()).unwrap_err();
    for (lines, expected) in [
        ("governor = \"shedutil\"", "shedutil"),
        ("governor = \"schedutil\"\ntunables = { rate_limit = 1 }", "no tunable `rate_limit`"),
        ("boost = true", "cannot apply boost"),
        ("min_frequency = \"1GHz\"\nmax_frequency = \"1.1GHz\"", "operating point"),
        ("placement = \"cpu9\"", "found cpu9"),
        ("load = \"9x95%\"", "load"),
    ] {
        let error = refused("model:apple-m1", &condition(lines));
        assert!(error.to_string().contains(expected), "{lines}: {error}");
    }
    let error = refused("model:apple-m1-macos", &condition("governor = \"performance\""));
    assert!(error.to_string().contains("the hardware decides"), "{error}");
    for workload in
        ["kernel = \"welch_psd\"", "kernel = \"car\"\nform = \"fast\"", "command = [\"true\"]"]
    {
        let text = format!("[[workload]]\n{workload}\n[[condition]]\nload = \"idle\"\n");
        let error = refused("model:apple-m1", &text);
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
    assert!(!dir.path().join("run.toml").exists(), "nothing was written");
}

#[test]
fn windows_go_where_the_condition_says_and_a_held_frequency_holds() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("run");
    let text = "repeats = 1\nduration = \"200ms\"\n[[workload]]\nkernel = \"notch_iir\"\n\
                [[condition]]\nname = \"held\"\nfrequency = \"1.3GHz\"\nplacement = \"cpu2\"\n\
                scheduling = \"fifo:80\"\nload = \"heavy\"\n";
    bench("model:apple-m1", text, &dir).unwrap();
    let run = Run::open(&dir).unwrap();
    let windows = &run.tables.windows;
    let window = windows.row(windows.len() - 1).unwrap();
    assert_eq!(window.cpu_before, Some(2));
    assert_eq!(window.preemptions, Some(0), "fifo is before the load");
    assert_eq!(window.delivered_khz, Some(1_332_000), "the next point above 1.3 GHz");
    assert_eq!(run.manifest.conditions[0].scheduling_applied.as_deref(), Some("fifo:80"));
}

#[test]
fn like_for_like_ratios_and_the_trap_come_from_mixtures() {
    let MachineSpec::Model { name, kernel } = "model:apple-m1".parse().unwrap() else { return };
    let model = flyball_lab::Model::named(&name, kernel.as_deref()).unwrap();
    let sweep = e_share_sweep(&model, 5, 1, Duration::millis(5_000)).unwrap();
    let like = |core: &str| sweep.like.iter().find(|like| like.core_type == core).unwrap();
    assert!((like("E").low_to_high - 3.40).abs() < 0.01, "{:?}", sweep.like);
    assert!((like("P").low_to_high - 5.15).abs() < 0.01, "{:?}", sweep.like);
    assert!((like("E").schedutil_to_powersave - 1.0).abs() < 0.01, "{:?}", sweep.like);
    // Powersave ran on E cores in 43 to 46 % of the windows, schedutil in 73 to 94 %.
    assert!((sweep.ratio(("schedutil", 85), ("powersave", 45)) / 1.42 - 1.0).abs() < 0.03);
    assert!(sweep.trap(0.03).contains(&(45, 85)));
    // With load the model's E cluster speeds up; the source's did not, and nothing in its data
    // shows that its load ran.
    let unloaded = |range: &ShareRange| range.published.condition != "schedutil with load";
    for range in sweep.published(0.05).into_iter().filter(unloaded) {
        let jumped = range.jump.is_some_and(|(from, to)| (45..=55).contains(&((from + to) / 2)));
        assert!(range.shares.is_some() || jumped, "{range:?}");
    }
}
