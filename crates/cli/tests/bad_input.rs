//! Bad input of every kind gives one clear message, a hint where there is one, and the promised
//! exit code; nothing panics.
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(clippy::disallowed_methods)] // mount, umount: outside the program under test

mod common;

use common::{flyball, folder, run};
use std::path::Path;

const MINIMAL: &str = "[[workload]]\nkernel = \"car\"\n[[condition]]\nload = \"idle\"\n";

/// One case: what is written to `input`, the command, the exit code, and words of the message.
struct Case {
    input: Option<(&'static str, Vec<u8>)>,
    arguments: &'static [&'static str],
    code: i32,
    says: &'static [&'static str],
}

fn case(arguments: &'static [&'static str], code: i32, says: &'static [&'static str]) -> Case {
    Case { input: None, arguments, code, says }
}

fn with(
    name: &'static str,
    content: impl Into<Vec<u8>>,
    arguments: &'static [&'static str],
    code: i32,
    says: &'static [&'static str],
) -> Case {
    Case { input: Some((name, content.into())), arguments, code, says }
}

fn check(cases: Vec<Case>) {
    for case in cases {
        let dir = folder();
        if let Some((name, content)) = &case.input {
            let path = dir.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, content).unwrap();
        }
        let (code, _, stderr) = run(dir.path(), case.arguments);
        let context = format!("flyball {:?}\n{stderr}", case.arguments);
        assert_eq!(code, case.code, "{context}");
        assert!(!stderr.contains("panicked"), "{context}");
        for words in case.says {
            assert!(stderr.contains(words), "expected \"{words}\"\n{context}");
        }
    }
}

#[test]
fn the_command_line() {
    check(vec![
        case(&["bnech"], 2, &["bench"]),
        case(&["bench", "--repeat", "3"], 2, &["--repeats"]),
        case(&["bench", "--duration", "20"], 2, &["--duration", "unit"]),
        case(&["bench", "--period", "fast"], 2, &["--period", "20ms"]),
        case(&["bench", "--fail-if", "p98 > 5%"], 2, &["--fail-if", "hint:"]),
        case(&["bench", "quick", "--", "true"], 2, &["both"]),
        case(&["bench", "--repeats", "0"], 3, &["repeats", "at least 1"]),
        case(&["report", "--replicates", "3"], 2, &["200"]),
        case(&["report", "--page", "a", "--no-page"], 2, &["cannot be used"]),
        case(&["report", "--format", "yaml"], 2, &["yaml"]),
        case(&["help", "governing"], 2, &["no help on", "governors"]),
        case(&["bench", "--", ""], 2, &["a program after `--`", "hint:"]),
        case(&["bench", "--page", "no/such/page.html"], 3, &["--page", "no/such"]),
        case(&["capture", "trace", "--duration", "0s"], 2, &["--duration", "above 0"]),
        case(&["bench", "slow", "--init"], 3, &["slow", "flyball help experiments"]),
        case(&["hold", "--load", "medium", "-d", "1"], 2, &["--duration", "unit"]),
        case(&["report", "a", "b", "--out", "x"], 2, &["--out", "several"]),
    ]);
}

#[test]
fn experiments() {
    let e = |text: &str| format!("{text}{MINIMAL}").into_bytes();
    let bench: &[&str] = &["bench", "--dry-run", "e.toml"];
    check(vec![
        case(&["bench", "missing.toml"], 3, &["missing.toml", "flyball bench --init"]),
        with(
            "program",
            b"#!/bin/sh\necho hello\n".to_vec(),
            &["bench", "./program"],
            3,
            &["hint: an experiment is a TOML file", "flyball bench -- ./program"],
        ),
        with("e.toml", e("perod = \"20ms\"\n"), bench, 3, &["e.toml:1:1", "did you mean `period`"]),
        with("e.toml", e("period = 20\n"), bench, 3, &["e.toml:1:10", "unit"]),
        with("e.toml", e("period = \"20 apples\"\n"), bench, 3, &["e.toml:1:10", "apples"]),
        with("e.toml", e("period = \"1us\"\n"), bench, 3, &["at least 50us"]),
        with("e.toml", e("margin = 3\n"), bench, 3, &["margin"]),
        with(
            "e.toml",
            "[[workload]]\ncommand = \"./mine\"\n",
            bench,
            3,
            &["e.toml:2", "command", "expected a list, such as"],
        ),
        with("e.toml", e("name = \"torn\n"), bench, 3, &["e.toml:1"]),
        with("e.toml", [0xff, 0xfe, 0x00], bench, 3, &["UTF-8"]),
        with("e.toml", "", bench, 3, &["[[workload]]"]),
        with("e.toml", "[[workload]]\nkernel = \"cra\"\n", bench, 3, &["e.toml:2", "car"]),
        with("e.toml", e("[input]\nfile = \"none.edf\"\n"), bench, 3, &["none.edf"]),
        with("e.toml", format!("{MINIMAL}scheduling = \"fifo:500\"\n"), bench, 3, &["1 to 99"]),
        with("e.toml", format!("{MINIMAL}placement = \"cpu4000\"\n"), bench, 3, &["cpu4000"]),
        with("e.toml", MINIMAL.replace("idle", "hevy"), bench, 3, &["heavy"]),
        with("e.toml", MINIMAL.replace("idle", "2x500%"), bench, 3, &["500"]),
        with("e.toml", MINIMAL.replace("idle", "cpus=4000,50%"), bench, 3, &["4000"]),
        with(
            "e.toml",
            format!("{MINIMAL}governor = \"performance\"\n"),
            bench,
            4,
            &["no say in the frequency"],
        ),
        with("e.toml", MINIMAL.replace("\"car\"", "\"car\"\nwindow = 0"), bench, 3, &["window"]),
        with("e.toml", MINIMAL.replace("\"car\"", "\"car\"\nhop = 500"), bench, 3, &["hop"]),
        with(
            "e.toml",
            MINIMAL.replace("\"car\"", "\"notch_iir\"\nf0_hz = 200.0"),
            bench,
            3,
            &["f0"],
        ),
    ]);
}

#[test]
fn recordings() {
    let bench: &[&str] = &["bench", "--dry-run", "e.toml"];
    /// File, content, further keys of the input, exit code, words of the message.
    type Recording = (&'static str, &'static [u8], &'static str, i32, &'static [&'static str]);
    let cases: [Recording; 7] = [
        ("r.f32", &[0; 6], "channels = 2\nrate_hz = 160.0", 3, &["r.f32"]),
        ("r.f32", &[0; 64], "rate_hz = 160.0", 3, &["channels"]),
        ("r.csv", b"a,b\n1,2\n3,x\n", "rate_hz = 160.0", 3, &["r.csv"]),
        ("r.csv", b"a,b\n1,2\n", "", 3, &["rate"]),
        ("r.edf", b"0       torn", "", 3, &["r.edf"]),
        ("r.edf", b"", "", 3, &["r.edf"]),
        ("r.mp3", b"ID3", "", 3, &[".mp3"]),
    ];
    for (file, content, keys, expected, says) in cases {
        let dir = folder();
        fs_err::write(dir.path().join(file), content).unwrap();
        let text = format!("{MINIMAL}[input]\nfile = \"{file}\"\n{keys}\n");
        fs_err::write(dir.path().join("e.toml"), text).unwrap();
        let (code, _, stderr) = run(dir.path(), bench);
        assert_eq!(code, expected, "{file}: {stderr}");
        for words in says {
            assert!(stderr.contains(words), "{file}: expected {words}\n{stderr}");
        }
    }
}

#[test]
fn data_of_others() {
    let good = r#"{"run_id":"1","plugin":"car","window_index":1,"release_ts_ns":10,"deadline_ts_ns":90,"start_ts_ns":20,"end_ts_ns":40,"deadline_missed":0,"W":160,"H":80,"C":64,"Fs":160,"warmup":0,"repeat":1}"#;
    let torn = &good[..60];
    let backwards = good.replace("\"end_ts_ns\":40", "\"end_ts_ns\":4");
    let report: &[&str] = &["report", "--no-page", "t/telemetry.ndjson"];
    check(vec![
        case(&["report"], 3, &["flyball-runs", "flyball bench"]),
        case(&["report", "nowhere"], 3, &["nowhere"]),
        case(&["report", "--no-page", "--out", "kept", "nowhere"], 3, &["nowhere"]),
        with("t/telemetry.ndjson", torn, report, 3, &["telemetry.ndjson"]),
        with("t/telemetry.ndjson", backwards, report, 3, &["telemetry.ndjson"]),
        with("t/telemetry.ndjson", "", report, 3, &["telemetry.ndjson"]),
        with("t/telemetry.ndjson", [0u8; 4096], report, 3, &["telemetry.ndjson"]),
        with(
            "d.csv",
            "lat,cpu\n1,0\n",
            &["report", "--no-page", "--out", "kept", "d.csv"],
            3,
            &["--map"],
        ),
        with(
            "d.csv",
            "lat\n1\n",
            &["report", "--no-page", "--out", "kept", "d.csv", "--map", "latency=lat"],
            2,
            &["latency"],
        ),
        with(
            "d.csv",
            "lat\n1\n",
            &["report", "--no-page", "--out", "kept", "d.csv", "--map", "latency_us=lta"],
            3,
            &["lat"],
        ),
        with(
            "d.csv",
            "lat\nx\n",
            &["report", "--no-page", "--out", "kept", "d.csv", "--map", "latency_us=lat"],
            3,
            &["d.csv"],
        ),
        with(
            "d.csv",
            "lat\n-5\n",
            &["report", "--no-page", "--out", "kept", "d.csv", "--map", "latency_us=lat"],
            3,
            &["d.csv"],
        ),
        with(
            "d.csv",
            "lat,cpu\n1,0\n",
            &["report", "--no-page", "--out", "kept", "d.csv", "--clock", "mono"],
            2,
            &["trace-cmd", "d.csv"],
        ),
        with(
            "t.txt",
            "# tracer: nop\n#\n",
            &["report", "--no-page", "--out", "kept", "t.txt"],
            3,
            &["t.txt", "an event"],
        ),
        with(
            "h.json",
            "{\"results\": []}",
            &["report", "--no-page", "--out", "kept", "h.json"],
            3,
            &["h.json"],
        ),
        with(
            "h.json",
            "{\"results\": [{",
            &["report", "--no-page", "--out", "kept", "h.json"],
            3,
            &["h.json"],
        ),
        with("run/run.toml", "format = 99\n", &["report", "run"], 4, &["format", "99"]),
        with("run/run.toml", "format = \"x\n", &["report", "run"], 3, &["run.toml"]),
        with("run/run.toml", "format = 1\n", &["report", "run", "--fail-if", "p99 > 1ms"], 7, &[]),
    ]);
}

#[test]
fn a_run_directory_is_never_overwritten() {
    let dir = folder();
    fs_err::create_dir(dir.path().join("r")).unwrap();
    fs_err::write(dir.path().join("r/mine.txt"), "mine").unwrap();
    let (code, _, stderr) =
        run(dir.path(), &["bench", "--out", "r", "--repeats", "1", "--duration", "20ms"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("r"), "{stderr}");
    assert_eq!(fs_err::read_to_string(dir.path().join("r/mine.txt")).unwrap(), "mine");
}

#[test]
fn init_does_not_overwrite() {
    let dir = folder();
    assert_eq!(run(dir.path(), &["bench", "--init"]).0, 0);
    let (code, _, stderr) = run(dir.path(), &["bench", "--init"]);
    assert_eq!(code, 3);
    assert!(stderr.contains("experiment.toml") && stderr.contains("hint:"), "{stderr}");
}

/// The machine refuses: the message names the call and the exit code is 4, or 3 and 5 where the
/// machine makes no sense.
#[test]
fn refusals_of_the_machine() {
    let strict = format!("repeats = 1\nduration = \"40ms\"\nwarmup = \"0ms\"\n{MINIMAL}");
    for (faults, lines, expected, says) in [
        ("scheduling_set=EPERM", "scheduling = \"fifo:80\"", 4, "fifo:80"),
        ("lock_memory=EPERM", "", 0, ""),
        ("hold_idle_latency=EACCES", "idle_latency_us = 0", 4, "idle latency"),
        ("affinity_set=EINVAL", "placement = \"cpu0\"", 3, "affinity_set"),
        ("read:/sys/devices/system/cpu/online=ENOENT", "", 3, "/sys/devices/system/cpu/online"),
        ("sleep_until=EFAULT", "", 5, "sleep"),
        ("spawn=EAGAIN", "load_is_stress_ng", 5, "stress-ng"),
        ("nonsense=EPERM", "", 2, "--faults"),
        ("read=EWHAT", "", 2, "EWHAT"),
    ] {
        let dir = folder();
        let text = match lines {
            "load_is_stress_ng" => strict.replace("\"idle\"", "\"1x50%,stress-ng\""),
            _ => format!("{strict}{lines}\n"),
        };
        fs_err::write(dir.path().join("e.toml"), text).unwrap();
        let ask = || run(dir.path(), &["bench", "e.toml", "--no-page", "--faults", faults]);
        let (mut code, _, mut stderr) = ask();
        // A run that something else disturbed says so, and is no answer to this.
        for _ in 0..5 {
            if code == 5 && stderr.contains("measure again on a quieter machine") {
                (code, _, stderr) = ask();
            }
        }
        assert_eq!(code, expected, "{faults}: {stderr}");
        assert!(!stderr.contains("panicked"), "{faults}: {stderr}");
        assert!(stderr.contains(says), "{faults}: expected {says}\n{stderr}");
    }
}

/// A disk that is full: what was there stays, the message says so.
#[test]
fn a_full_disk() {
    let dir = folder();
    let mount = dir.path().join("small");
    fs_err::create_dir(&mount).unwrap();
    if !mount_small(&mount) {
        eprintln!("skipped: mounting a small file system needs root");
        return;
    }
    fs_err::write(mount.join("ballast"), vec![1; 700 * 1024]).unwrap();
    let out = mount.join("run");
    let output = flyball(dir.path())
        .args(["bench", "--period", "1ms", "--duration", "2s", "--repeats", "5", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let readable = run(dir.path(), &["report", "--no-page", out.to_str().unwrap()]);
    let ballast = fs_err::read(mount.join("ballast")).unwrap().len();
    unmount(&mount);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("small") && stderr.contains("hint:"), "{stderr}");
    assert!(readable.0 == 0 || readable.0 == 3, "{}", readable.2);
    assert_eq!(ballast, 700 * 1024);
}

/// Pages and figures for which a disk has no room have no name, not half of what they should hold.
#[test]
fn half_a_page_has_no_name() {
    let dir = folder();
    let mount = dir.path().join("small");
    fs_err::create_dir(&mount).unwrap();
    fs_err::write(dir.path().join("d.csv"), "condition,latency_us\na,10\na,11\nb,12\nb,13\n")
        .unwrap();
    if !mount_small(&mount) {
        eprintln!("skipped: mounting a small file system needs root");
        return;
    }
    // Room for a part of each.
    fs_err::write(mount.join("ballast"), vec![1; 1020 * 1024]).unwrap();
    let report =
        |more: [&str; 2]| run(dir.path(), &[&["report", "d.csv", "--no-page"][..], &more].concat());
    let page = run(dir.path(), &["report", "d.csv", "--page", "small/page.html"]);
    let figures = report(["--figures", "small"]);
    let names: Vec<String> = fs_err::read_dir(&mount)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    unmount(&mount);
    for (code, _, stderr) in [page, figures] {
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains("small"), "{stderr}");
    }
    assert_eq!(names, ["ballast"]);
}

fn mount_small(at: &Path) -> bool {
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "flyball-test"])
        .arg(at)
        .output();
    mount.is_ok_and(|output| output.status.success())
}

fn unmount(at: &Path) {
    let _ = std::process::Command::new("umount").arg(at).output();
}
