//! What strangers choose (names, sizes, ends of files, moments of a signal) harms nobody: names cannot drive
//! a terminal, files without an end are refused, commands end when they are asked to.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods)] // starts, signals and times the program from outside

use crate::common::{flyball, folder, run};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HOSTILE: &str = "a\\u001b]0;owned\\u0007\\u001b[2J\\u009b5n";

/// Control characters but line ends and tabs.
fn drives(bytes: &[u8]) -> Option<char> {
    let text = String::from_utf8_lossy(bytes);
    text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'))
}

/// An experiment of two short trials whose names are hostile.
fn hostile_experiment() -> String {
    format!(
        "repeats = 1\nperiod = \"2ms\"\nduration = \"40ms\"\nwarmup = \"0ms\"\ndegrade = true\n\
         [[workload]]\nkernel = \"noop\"\nname = \"{HOSTILE}\"\n\
         [[condition]]\nload = \"idle\"\nname = \"{HOSTILE}\"\n"
    )
}

#[test]
fn names_cannot_drive_a_terminal() {
    let dir = folder();
    let scenario = format!(
        "platform = \"apple-m1\"\nduration = \"50ms\"\nphases = 1\n[[task]]\nname = \"{HOSTILE}\"\n\
         kind = \"periodic\"\nperiod = \"10ms\"\nwork = \"1ms\"\n"
    );
    let raw = "condition,latency_us\na\u{1b}]0;owned\u{7}\u{1b}[2J,10\na\u{1b}]0;owned\u{7}\u{1b}[2J,11\n\
               \u{9b}5n,12\n\u{9b}5n,13\n";
    let file = "n\u{1b}[2J.csv";
    fs_err::write(dir.path().join("s.toml"), scenario).unwrap();
    fs_err::write(dir.path().join("e.toml"), hostile_experiment()).unwrap();
    fs_err::write(dir.path().join(file), raw).unwrap();
    let report = |format: &'static str| vec!["report", file, "--no-page", "--format", format, "-v"];
    for arguments in [
        vec!["sim", "s.toml"],
        vec!["sim", "s.toml", "--format", "json"],
        vec!["sim", "s.toml", "--sweep", "hz=100,250", "--out", "sweep"],
        vec!["sim", "no\u{1b}[2Jsuch.toml"],
        vec!["bench", "--dry-run", "--", "pro\u{1b}[2Jgram"],
        vec!["bench", "--dry-run", "e.toml"],
        vec!["bench", "e.toml", "--no-page", "--out", "bench"],
        report("text"),
        report("csv"),
        report("md"),
        report("json"),
        vec!["report", file, "--no-page", "--fail-if", "p\u{1b}[2J > 3"],
    ] {
        let output = flyball(dir.path()).args(&arguments).output().unwrap();
        for bytes in [&output.stdout, &output.stderr] {
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(drives(bytes), None, "{arguments:?}: {shown:?}");
        }
    }
    let (code, ..) = run(dir.path(), &["report", file, "--page", "p.html"]);
    assert_eq!(code, 0);
    assert_eq!(drives(&fs_err::read(dir.path().join("p.html")).unwrap()), None);
}

/// The bar that moves on a terminal has escapes of its own, and none of a name's.
#[test]
fn names_cannot_drive_a_terminal_that_shows_progress() {
    let dir = folder();
    fs_err::write(dir.path().join("e.toml"), hostile_experiment()).unwrap();
    let bench = format!("{} bench e.toml --no-page --out r", env!("CARGO_BIN_EXE_flyball"));
    // A terminal, from the tool of util-linux.
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &bench, "/dev/null"]).env("TERM", "xterm").current_dir(dir.path());
    let Ok(output) = terminal.stdin(Stdio::null()).output() else {
        eprintln!("skipped: no `script`, which gives a program a terminal");
        return;
    };
    let shown = String::from_utf8_lossy(&output.stdout);
    let name = "a\u{fffd}]0;owned\u{fffd}\u{fffd}[2J\u{fffd}5n";
    // In the bar: behind how much was done.
    assert!(shown.contains(&format!("0/1 {name}, {name} (")), "{shown:?}");
    for hostile in ["\u{1b}]0;", "\u{7}", "\u{1b}[2J", "\u{9b}"] {
        assert!(!shown.contains(hostile), "{hostile:?} in {shown:?}");
    }
}

#[test]
fn what_has_no_deadline_has_none_in_an_export() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/golden/");
    let dir = folder();
    let csv = dir.path().join("d.csv").display().to_string();
    fs_err::write(&csv, "condition,latency_us\na,10\na,11\nb,12\nb,13\n").unwrap();
    let others = ["hyperfine.json", "google-benchmark.json", "cyclictest.json", "pyperf.json"];
    for path in others.map(|name| format!("{golden}{name}")).into_iter().chain([csv]) {
        for format in ["csv", "json"] {
            let name = &path;
            let (code, stdout, stderr) =
                run(dir.path(), &["report", &path, "--no-page", "--format", format]);
            assert_eq!(code, 0, "{name}: {stderr}");
            assert!(!stdout.contains("18446744"), "{name} as {format}");
        }
    }
}

#[test]
fn a_file_without_an_end_is_refused() {
    let dir = folder();
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero.toml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero.json")).unwrap();
    let began = Instant::now();
    for arguments in [["sim", "zero.toml"], ["bench", "zero.toml"]] {
        let (code, _, stderr) = run(dir.path(), &arguments);
        assert_eq!(code, 3, "{arguments:?}: {stderr}");
        assert!(stderr.contains("at most 64 MiB, found more"), "{arguments:?}: {stderr}");
    }
    // What could be any recording is refused by its first bytes.
    for file in ["zero.toml", "zero.json"] {
        assert_eq!(run(dir.path(), &["replay", file]).0, 3);
    }
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_would_never_end_is_refused_before_it_begins() {
    let dir = folder();
    let task = |text: &str| format!("platform = \"apple-m1\"\nphases = 1\n[[task]]\n{text}");
    let many = "count = 10000\nkind = \"spin\"\n";
    let many = format!("{many}name = \"a\"\n[[task]]\nname = \"b\"\n{many}");
    for (text, expected) in [
        (task("kind = \"periodic\"\nperiod = \"1ns\"\nwork = \"1us\"\n"), "expected 1us or more"),
        (task("kind = \"poisson\"\nmean = \"1ns\"\nwork = \"1us\"\n"), "expected 1us or more"),
        (task(&many), "at most 10000 tasks in all"),
        (task("name = \"a\\nb: error\"\nkind = \"spin\"\n"), "a name of one line"),
        (task(&format!("name = \"{}\"\nkind = \"spin\"\n", "n".repeat(70_000))), "4096 bytes"),
    ] {
        fs_err::write(dir.path().join("s.toml"), text).unwrap();
        let (code, _, stderr) = run(dir.path(), &["sim", "s.toml"]);
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    let line = |t: u64, prev: &str, next: &str| {
        format!(
            "          <idle>-0       [000] d..2. {t}.000000: sched_switch: prev_comm={prev} prev_pid={} \
             prev_prio=120 prev_state=S ==> next_comm={next} next_pid={} next_prio=120\n",
            prev.len(),
            next.len()
        )
    };
    let trace = format!(
        "{}{}{}",
        line(1, "ab", "abc"),
        line(2, "abc", "ab"),
        line(99_999_999, "ab", "abc")
    );
    fs_err::write(dir.path().join("gap.txt"), format!("# tracer: nop\n{trace}")).unwrap();
    let (code, _, stderr) = run(dir.path(), &["replay", "gap.txt"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("at most 31 days, found 99999998 s"), "{stderr}");
}

/// Starts a command, asks it to end after a while, and gives its code and how long it took then.
fn asked(
    dir: &std::path::Path,
    arguments: &[&str],
    signal: &str,
    after: u64,
) -> (Option<i32>, Duration) {
    asked_when(dir, arguments, signal, |_| std::thread::sleep(Duration::from_millis(after)))
}

/// The same, as soon as `wait` for the process of this number returns.
fn asked_when(
    dir: &std::path::Path,
    arguments: &[&str],
    signal: &str,
    wait: impl FnOnce(u32),
) -> (Option<i32>, Duration) {
    // Shells let what they start in the background ignore SIGINT.
    let mut child = Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_flyball")])
        .current_dir(dir)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait(child.id());
    let began = Instant::now();
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    let limit = Duration::from_secs(20);
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), began.elapsed());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    (None, began.elapsed())
}

/// Everything that takes longer than a second ends soon after it is asked to, with the code for that.
#[test]
fn every_command_ends_when_it_is_asked_to() {
    let dir = folder();
    let played = "platform = \"apple-m1\"\nduration = \"60s\"\n[[task]]\nkind = \"periodic\"\n\
                  period = \"100ms\"\nwork = \"0.1ms\"\n";
    let long = "platform = \"apple-m1\"\nduration = \"24h\"\nphases = 50\n[[task]]\ncount = 50\n\
                kind = \"periodic\"\nperiod = \"1ms\"\nwork = \"0.1ms\"\n";
    fs_err::write(dir.path().join("play.toml"), played).unwrap();
    fs_err::write(dir.path().join("long.toml"), long).unwrap();
    let rows: String = (0..400_000).map(|n| format!("{},{n}\n", n % 50)).collect();
    fs_err::write(dir.path().join("big.csv"), format!("condition,latency_us\n{rows}")).unwrap();
    let commands: &[&[&str]] = &[
        &["sim", "play.toml", "--machine", "host", "--out", "play"],
        &["sim", "long.toml", "--out", "long"],
        &["sim", "long.toml", "--sweep", "seed=1..100001", "--out", "sweep"],
        &["transition", "--machine", "model:apple-m1", "--trials", "1000000", "--out", "switches"],
        &["rampup", "--machine", "model:apple-m1", "--repeats", "100000", "--out", "ramp"],
        &["rampup", "--machine", "model:apple-m1", "--phases", "50000", "--out", "ramp"],
        &["replay", "long.toml", "--governor", "schedutil"],
        &["reproduce"],
        &["report", "big.csv", "--no-page", "--replicates", "100000"],
    ];
    for arguments in commands {
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            for place in ["play", "long", "sweep", "switches", "ramp"] {
                let _ = fs_err::remove_dir_all(dir.path().join(place));
            }
            let (found, took) = asked(dir.path(), arguments, signal, 700);
            // A command that is done before cannot be asked; the models are fast.
            let done = found == Some(0);
            assert!(done || found == Some(code), "{arguments:?} {signal}: {found:?}");
            // A second on a machine that does nothing else.
            assert!(took < Duration::from_secs(4), "{arguments:?} {signal}: {took:?}");
        }
    }
}

/// It takes a third of a second only, so it is asked as soon as it catches the signal.
#[test]
fn check_ends_when_it_is_asked_to() {
    let dir = folder();
    for (signal, bit, code) in [("-INT", 1, 130), ("-TERM", 14, 143)] {
        let listens = |id: u32| {
            let status = fs_err::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            caught.is_some_and(|mask| mask >> bit & 1 == 1)
        };
        let wait = |id| {
            let limit = Instant::now() + Duration::from_secs(10);
            while !listens(id) && Instant::now() < limit {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let (found, _) = asked_when(dir.path(), &["check", "--fail-on", "never"], signal, wait);
        assert_eq!(found, Some(code), "{signal}");
    }
}

/// Names that are longer than any name is are refused by importers, too: each is written once per row.
#[test]
fn endless_names_are_refused() {
    let dir = folder();
    let name = "w".repeat(70_000);
    fs_err::write(dir.path().join("a.csv"), format!("latency_us,workload\n1,{name}\n2,{name}\n"))
        .unwrap();
    let (code, _, stderr) = run(dir.path(), &["report", "a.csv"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("names of at most 4096 bytes, found 70000 bytes"), "{stderr}");
}

/// Ramp-ups of a model are kept one by one, so that what was finished is there when it is interrupted.
#[test]
fn an_interrupted_rampup_on_a_model_keeps_what_was_done() {
    let dir = folder();
    let arguments =
        &["rampup", "--machine", "model:apple-m1", "--phases", "50000", "--out", "ramp"];
    let (found, _) = asked(dir.path(), arguments, "-TERM", 2_500);
    assert_eq!(found, Some(143));
    let (code, stdout, stderr) = run(dir.path(), &["report", "ramp", "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let unfinished = &report["runs"][0]["unfinished"];
    let (done, missing) = (unfinished["done"].as_u64(), unfinished["missing"].as_u64());
    assert!(done > Some(0), "{unfinished}");
    assert_eq!(done.unwrap() + missing.unwrap(), 50_000);
}

/// Finished phases of a simulation stay when the rest is not wanted any more, and are told.
#[test]
fn an_interrupted_simulation_keeps_its_finished_phases() {
    let dir = folder();
    let scenario = "platform = \"apple-m1\"\nduration = \"2s\"\nphases = 100000\n[[task]]\n\
                    kind = \"periodic\"\nperiod = \"10ms\"\nwork = \"1ms\"\n";
    fs_err::write(dir.path().join("s.toml"), scenario).unwrap();
    let (found, _) = asked(dir.path(), &["sim", "s.toml", "--out", "kept"], "-INT", 2_000);
    assert_eq!(found, Some(130));
    let run_dir = flyball_run::Run::open(dir.path().join("kept")).unwrap();
    assert_eq!(run_dir.manifest.state, flyball_run::RunState::Interrupted);
    let points: std::collections::BTreeSet<u64> =
        run_dir.tables.sweep.point.iter().copied().collect();
    let (code, stdout, stderr) = run(dir.path(), &["report", "kept", "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let unfinished = &report["runs"][0]["unfinished"];
    let (done, missing) = (unfinished["done"].as_u64(), unfinished["missing"].as_u64());
    assert!(done > Some(0) && done == Some(points.len() as u64), "{unfinished}");
    assert_eq!(done.unwrap() + missing.unwrap(), 100_000);
}

/// As many tasks of one name as one likes: the second is found at once, not by comparing each with all.
#[test]
fn tasks_of_one_name_are_refused_soon() {
    let dir = folder();
    let task = "[[task]]\nkind = \"spin\"\nname = \"t\"\n";
    let text = "platform = \"apple-m1\"\n".to_owned() + &task.repeat(100_000);
    fs_err::write(dir.path().join("s.toml"), text).unwrap();
    let began = Instant::now();
    let (code, _, stderr) = run(dir.path(), &["sim", "s.toml"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("found \"t\" twice"), "{stderr}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
