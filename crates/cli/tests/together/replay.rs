//! `flyball capture load`, `replay` and its search, as a user types them.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{folder, run};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// A load file of two cores: core 0 busy in every fourth frame, core 1 idle.
fn load_file(dir: &Path) {
    let mut text = String::from(
        "usr.app.powerdxx.loadrec.features=1\nhw.model=Core\nhw.ncpu=2\ndev.cpu.0.freq=1700\n\
         0 1700 1700 9 9 9 9 9 9 9 9 9 9\n",
    );
    for frame in 0..400 {
        let busy = if frame % 4 == 0 { 4 } else { 0 };
        let _ = writeln!(text, "25 1700 1700 {busy} 0 0 0 {} 0 0 0 0 4", 4 - busy);
    }
    fs_err::write(dir.join("x.load"), text).unwrap();
}

#[test]
fn a_load_file_goes_through_governors() {
    let dir = folder();
    load_file(dir.path());
    let arguments = [
        "replay",
        "x.load",
        "--machine",
        "model:zen2",
        "--governor",
        "performance,powersave,ondemand",
    ];
    let (code, text, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("100 items") && text.contains("open loop"), "{text}");
    assert!(text.contains("latency p99") && text.contains("2500 MHz"), "{text}");
    let more = ["--format", "json", "--out", "kept", "--figure", "tradeoff.svg"];
    let (code, json, stderr) = run(dir.path(), &[&arguments[..], &more].concat());
    assert_eq!(code, 0, "{stderr}");
    let json: Value = serde_json::from_str(&json).unwrap();
    let outcome = |at: usize| json["governors"][at]["outcome"].clone();
    // 25 ms at 1700 MHz are 17 ms at 2500 and 28.3 ms at 1500.
    let p50 = |at: usize| outcome(at)["latency"]["p50_ns"].as_f64().unwrap() / 1e6;
    assert!((p50(0) - 17.0).abs() < 0.5 && (p50(1) - 28.3).abs() < 0.5, "{} {}", p50(0), p50(1));
    assert!(outcome(0)["energy_mj"].as_f64() > outcome(1)["energy_mj"].as_f64());
    assert_eq!(outcome(2)["way"], "leaps");
    assert!(dir.path().join("kept/ondemand/items.parquet").is_file());
    assert!(fs_err::read_to_string(dir.path().join("tradeoff.svg")).unwrap().contains("powersave"));
    let (code, report, stderr) = run(dir.path(), &["report", "kept/ondemand", "--no-page"]);
    assert_eq!(code, 0, "{report} {stderr}");
}

#[test]
fn an_rt_app_program_lasts_as_long_as_it_says() {
    let dir = folder();
    let seconds = |global: &str| {
        let program = format!(
            r#"{{ {global} "tasks": {{ "t": {{ "run": 1000, "timer": {{ "ref": "a", "period": 10000 }} }} }} }}"#
        );
        fs_err::write(dir.path().join("t.json"), program).unwrap();
        let (code, json, stderr) =
            run(dir.path(), &["replay", "t.json", "-g", "performance", "-f", "json"]);
        assert_eq!(code, 0, "{stderr}");
        let json: Value = serde_json::from_str(&json).unwrap();
        json["governors"][0]["outcome"]["elapsed_ns"].as_f64().unwrap() / 1e9
    };
    assert_eq!(seconds(r#""global": { "duration": 2 },"#), 2.0);
    assert_eq!(seconds(""), 10.0, "without an end");
}

#[test]
fn a_closed_loop_takes_longer_at_a_lower_frequency() {
    let dir = folder();
    load_file(dir.path());
    let elapsed = |governor: &str| {
        let arguments =
            ["replay", "x.load", "-m", "model:zen2", "-g", governor, "--closed-loop", "-f", "json"];
        let (code, json, stderr) = run(dir.path(), &arguments);
        assert_eq!(code, 0, "{stderr}");
        let json: Value = serde_json::from_str(&json).unwrap();
        json["governors"][0]["outcome"]["elapsed_ns"].as_f64().unwrap() / 1e9
    };
    let (fast, slow) = (elapsed("performance"), elapsed("powersave"));
    // 100 items, each 11.3 ms longer.
    assert!((slow - fast - 1.13).abs() < 0.1, "{fast} {slow}");
}

#[test]
fn tunables_are_found_and_shown_to_hold() {
    let dir = folder();
    load_file(dir.path());
    let tune = |goal: &str, format: &str| {
        let arguments = [
            "replay",
            "tune",
            "x.load",
            "-m",
            "model:zen2",
            "-g",
            "powerd++",
            "--goal",
            goal,
            "--budget",
            "60",
            "--restarts",
            "1",
            "-f",
            format,
        ];
        run(dir.path(), &arguments)
    };
    let (code, text, stderr) = tune("p99<27ms", "text");
    assert_eq!(code, 0, "{text} {stderr}");
    assert!(text.contains("held out: p99") && text.contains("powerdxx_flags"), "{text}");
    let (code, text, _) = tune("p99<1ms", "text");
    assert_eq!(code, 1, "nothing is that fast");
    assert!(text.contains("No setting meets the goal") && !text.contains("To set it"), "{text}");
    let (code, _, stderr) = tune("p99<quickly", "json");
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn this_machine_is_recorded_and_replayed() {
    let dir = folder();
    let arguments = ["capture", "load", "--interval", "100ms", "--out", "mine", "--", "true"];
    let (code, _, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    let (code, printed, stderr) = run(dir.path(), &["capture", "load", "-d", "400ms"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("recording every 10 ms") && stderr.contains("% of one CPU"),
        "{stderr}"
    );
    let manifest = dir.path().join(printed.trim()).join("run.toml");
    let manifest = fs_err::read_to_string(manifest).unwrap();
    assert!(
        manifest.contains("kind = \"load\"") && manifest.contains("resolution_ns"),
        "{manifest}"
    );
    let (code, text, stderr) = run(dir.path(), &["replay", printed.trim(), "-g", "ondemand"]);
    assert_eq!(code, 0, "{text} {stderr}");
    assert!(
        text.contains("assumed: recorded at") || !text.contains("without a frequency"),
        "{text}"
    );
}

/// Needs root, tracefs, and a kernel that tells every switch.
#[test]
fn the_schedulers_events_are_recorded_where_they_can_be() {
    let dir = folder();
    let arguments = ["capture", "load", "--source", "events", "-d", "1500ms", "--out", "mine"];
    let (code, _, stderr) = run(dir.path(), &arguments);
    if code != 0 {
        let known = ["the right to trace", "tracefs", "a switch from idle", "tells the kernel"];
        assert!(known.iter().any(|why| stderr.contains(why)), "{code}: {stderr}");
        assert!(!dir.path().join("mine").exists(), "nothing is left of it");
        eprintln!("skipped: {stderr}");
        return;
    }
    assert!(stderr.contains("switches and changes of frequency"), "{stderr}");
    let manifest = fs_err::read_to_string(dir.path().join("mine/run.toml")).unwrap();
    for words in ["source = \"events\"", "events complete", "events lost", "capture restored"] {
        assert!(manifest.contains(words), "{words}: {manifest}");
    }
    let (code, text, stderr) = run(dir.path(), &["replay", "mine", "-g", "ondemand"]);
    assert_eq!(code, 0, "{text} {stderr}");
}

#[test]
fn what_is_wrong_is_said() {
    let dir = folder();
    load_file(dir.path());
    let wrong = |arguments: &[&str], code: i32, word: &str| {
        let (found, _, stderr) = run(dir.path(), arguments);
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(word), "{arguments:?}: {stderr}");
    };
    wrong(&["replay", "x.load", "-g", "ondemnd"], 2, "ondemand");
    wrong(&["replay", "x.load", "-m", "model:pentium-m"], 3, "at least 2 CPUs");
    wrong(&["replay", "x.load", "-m", "model:apple-m1-macos", "-g", "ondemand"], 3, "hardware");
    wrong(&["replay", "x.load", "--scale", "0"], 2, "--scale");
    wrong(&["replay", "nothing"], 3, "nothing");
    wrong(&["capture", "load", "--interval", "1us", "-d", "1s"], 2, "1ms to 1s");
    wrong(&["capture", "load", "--source", "tea", "-d", "1s"], 2, "cpuidle");
    wrong(
        &["replay", "tune", "x.load", "-g", "performance", "--goal", "p99<1ms"],
        2,
        "no tunables",
    );
}

#[test]
fn an_rt_app_program_is_played() {
    let dir = folder();
    let text = r#"{ "tasks": { "t": { "loop": 50, "run": 2000,
        "timer": { "ref": "x", "period": 20000 } } }, "global": { "duration": 2 } }"#;
    fs_err::write(dir.path().join("w.json"), text).unwrap();
    let (code, text, stderr) =
        run(dir.path(), &["replay", "w.json", "-m", "model:zen2", "-g", "schedutil,powersave"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("event by event"), "{text}");
}

#[test]
fn a_recording_is_a_scenario_that_a_model_simulates() {
    let dir = folder();
    load_file(dir.path());
    let scenario = ["replay", "scenario", "x.load", "-m", "model:zen2"];
    let (code, text, stderr) = run(dir.path(), &scenario);
    assert_eq!(code, 0, "{stderr}");
    // 25 ms at 1700 MHz in every fourth frame; the next frame is the deadline.
    let item = "100ms 42500000cycles";
    assert!(text.contains(item) && text.contains("deadline = \"25ms\""), "{text}");
    fs_err::write(dir.path().join("mine.toml"), text).unwrap();
    let (code, text, stderr) = run(dir.path(), &["sim", "mine.toml", "--set", "phases=2"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("100"), "{text}");
    // Where the model places tasks, a machine with fewer CPUs will do.
    let fewer = ["replay", "scenario", "x.load", "-m", "model:pentium-m", "--free"];
    let (code, text, stderr) = run(dir.path(), &fewer);
    assert_eq!((code, text.contains("cpus")), (0, false), "{stderr}");
    for (more, word) in [
        (["--task", "nobody*"].as_slice(), "nobody* among cpu0"),
        (&["--closed-loop"], "due when they were"),
    ] {
        let (code, _, stderr) = run(dir.path(), &[&scenario[..], more].concat());
        assert_eq!((code, stderr.contains(word)), (2, true), "{more:?}: {stderr}");
    }
    let (code, _, stderr) = run(dir.path(), &["replay", "scenario", "mine.toml"]);
    assert_eq!((code, stderr.contains("found a scenario")), (2, true), "{stderr}");
}

#[test]
fn the_loads_that_are_compared_with_boards_are_scenarios() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/board-vs-model");
    let dir = folder();
    for folder in ["scenarios", "recorded"] {
        let mut count = 0;
        for entry in fs_err::read_dir(all.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "toml") {
                continue;
            }
            count += 1;
            let file = path.display().to_string();
            let short = ["--set", "phases=1", "--set", "duration=20ms"];
            let (code, _, stderr) =
                run(dir.path(), &[&["sim", file.as_str()], &short[..]].concat());
            assert_eq!(code, 0, "{file}: {stderr}");
        }
        assert!(count >= 4, "{folder}: {count}");
    }
}

#[test]
fn a_models_run_is_replayed_on_that_model_and_two_repeats_are_no_gate() {
    let dir = folder();
    let bench = [
        "bench",
        "cortex-governors",
        "--machine",
        "model:apple-m1",
        "--repeats",
        "2",
        "--duration",
        "500ms",
        "--trace",
        "--out",
        "run",
        "-q",
    ];
    let (code, _, stderr) = run(dir.path(), &bench);
    assert_eq!(code, 0, "{stderr}");
    let replay = ["replay", "run", "--governor", "ondemand", "--governor", "powersave"];
    let (code, text, stderr) = run(dir.path(), &replay);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.starts_with("run on Apple M1:"), "{text}");
    assert!(text.contains("ondemand") && text.contains("powersave"), "{text}");
    assert!(text.contains("trials trial 0 (condition "), "{text}");

    let gate = |rule: &str| {
        let (code, _, stderr) = run(dir.path(), &["report", "run", "-q", "--fail-if", rule]);
        (code, stderr)
    };
    let (code, told) = gate("median > +5%");
    assert_eq!(code, 7, "two repeats decide no change: {told}");
    let (code, told) = gate("median[condition=schedutl] > 1ms");
    assert_eq!(code, 7, "{told}");
    assert!(told.contains("conditions: performance on E, performance on P"), "{told}");
}
