//! `flyball sim` and `flyball rampup` as a user meets them.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{flyball, folder, run};
use std::path::Path;

/// A model with two kinds of core.
const M1: &str = "model:apple-m1";

const QUICK: &[&str] = &["--set", "duration=1200ms", "--phases", "3"];

fn sim(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    run(dir, &[&["sim"], arguments, QUICK].concat())
}

#[test]
fn a_scenario_that_ships() {
    let dir = folder();
    let (code, stdout, stderr) = sim(dir.path(), &["rampup-m1", "--out", "r", "--record", "full"]);
    assert_eq!(code, 0, "{stderr}");
    for words in ["Apple M1", "schedutil rate_limit_us=10000", "util 450", "residency", "Run   r"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    for table in ["sweep", "slices", "utilization", "frequency", "energy"] {
        assert!(dir.path().join(format!("r/{table}.parquet")).exists(), "{table}");
    }
    let (code, _, stderr) = sim(dir.path(), &["rampup-m1", "--out", "r"]);
    assert_eq!(code, 3, "{stderr}");
}

#[test]
fn json_has_every_phase() {
    let dir = folder();
    let arguments = ["job-tick", "--record", "none", "--format", "json"];
    let (code, stdout, stderr) = sim(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(result["schema"], "flyball-sim/1");
    assert_eq!(result["outcomes"].as_array().unwrap().len(), 3);
    assert!(!dir.path().join("flyball-runs").exists());
}

#[test]
fn init_then_sim() {
    let dir = folder();
    let (code, _, stderr) = run(dir.path(), &["sim", "--init", "mine.toml"]);
    assert_eq!(code, 0, "{stderr}");
    let (code, stdout, stderr) = sim(dir.path(), &["mine.toml"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("flyball-runs/"), "{stdout}");
    let (code, _, stderr) = run(dir.path(), &["sim", "bursts", "--init", "bursts.toml"]);
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn what_is_wrong_is_named() {
    let dir = folder();
    let write = |name: &str, text: &[u8]| fs_err::write(dir.path().join(name), text).unwrap();
    write("key.toml", b"platfrom = \"apple-m1\"\n");
    write("bytes.toml", b"\xff\xfe");
    write("empty.toml", b"");
    write("toml.toml", b"a = [1\n");
    write("task.toml", b"platform = \"apple-m1\"\n[[task]]\nkind = \"spin\"\ncpus = \"9\"\n");
    write(
        "file.toml",
        b"platform = \"apple-m1\"\n[[task]]\nkind = \"rt-app\"\nfile = \"no.json\"\n",
    );
    for (arguments, code, words) in [
        (
            vec!["key.toml"],
            3,
            "key.toml:1:1: unknown key `platfrom`\nhint: did you mean `platform`?",
        ),
        (vec!["bytes.toml"], 3, "no UTF-8 at offset 0"),
        (vec!["toml.toml"], 3, "toml.toml:"),
        (vec!["task.toml"], 3, "task.toml:4:8: task[0].cpus: expected CPUs 0 to 7, found cpu9"),
        (vec!["file.toml"], 3, "no.json"),
        (vec!["nowhere.toml"], 3, "flyball sim --init"),
        (vec!["rampup-m2"], 3, "did you mean `rampup-m1`?"),
        (vec!["rampup-m1", "--set", "hz"], 2, "expected KEY=VALUE"),
        (vec!["rampup-m1", "--set", "hzz=3"], 3, "command line: unknown key `hzz`"),
        (
            vec!["rampup-m1", "--set", "hz=3"],
            3,
            "command line: hz: expected a whole number from 10",
        ),
        (vec!["rampup-m1", "--set", "task.nobody.gap=3ms"], 3, "expected one of 1 elements"),
        (vec!["rampup-m1", "--sweep", "hz"], 2, "PARAMETER=a..b"),
        (vec!["rampup-m1", "--sweep", "hz=9..1"], 2, "an ascending range"),
        (vec!["rampup-m1", "--sweep", "hz=100,x"], 3, "hz: expected a whole number"),
        (vec!["rampup-m1", "--record", "none", "--out", "o"], 2, "--record none"),
        (vec!["rampp"], 3, "did you mean `rampup-m1`?"),
        (vec!["empty.toml"], 3, "hint: a scenario names a platform and a task"),
        (
            vec!["rampup-m1", "--out", "empty.toml"],
            3,
            "--out empty.toml: expected a new or empty directory, found a file\nhint: ",
        ),
        (vec!["rampup-m1", "--sweep", "hz=100,250", "--out", "/dev/null"], 3, "found a file"),
        (
            vec!["rampup-m1", "--set", "record_phase=3"],
            3,
            "record_phase: expected a whole number from 0 to 2, found 3\nhint: there are 3 phases",
        ),
    ] {
        let (found, stdout, stderr) = sim(dir.path(), &arguments);
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: expected {words}\n{stderr}");
        assert!(stdout.is_empty(), "{arguments:?}: {stdout}");
    }
}

#[test]
fn a_sweep_that_was_cut_short_goes_on_and_ends_the_same() {
    let dir = folder();
    let sweep = ["rampup-m1", "--sweep", "governor.rate_limit_us=1000..3000..1000", "--out"];
    let whole = [&sweep[..], &["whole"]].concat();
    let (code, stdout, stderr) = sim(dir.path(), &whole);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("governor.rate_limit_us") && stdout.contains("2000"), "{stdout}");
    assert!(!dir.path().join("whole.partial").exists());

    // A run of another duration that is killed at some point leaves a journal of another sweep.
    let again = [&sweep[..], &["cut"]].concat();
    let mut command = flyball(dir.path());
    command.arg("sim").args(&again).args(QUICK).args(["--set", "duration=20h"]);
    command.timeout(std::time::Duration::from_millis(500));
    let _ = command.output();
    // Whatever it had finished, a torn line behind it must not matter.
    let journal = dir.path().join("cut.partial");
    assert!(!dir.path().join("cut").exists());
    let (code, _, stderr) = run(dir.path(), &["report", "cut", "--fail-if", "median > 1s"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("0 of 3 points were done, 3 are missing"), "{stderr}");
    fs_err::create_dir(dir.path().join("cut")).unwrap();
    assert!(run(dir.path(), &["report", "cut"]).2.contains("3 are missing"));
    fs_err::remove_dir(dir.path().join("cut")).unwrap();
    let mut text = fs_err::read(&journal).unwrap();
    text.extend_from_slice(b"{\"point\": 1, \"na");
    fs_err::write(&journal, text).unwrap();
    let (code, _, stderr) = sim(dir.path(), &again);
    assert_eq!(code, 3, "another duration is another sweep: {stderr}");
    assert!(stderr.contains("another one's"), "{stderr}");
    fs_err::remove_file(&journal).unwrap();
    let (code, _, stderr) = sim(dir.path(), &again);
    assert_eq!(code, 0, "{stderr}");
    let bytes = |name: &str| fs_err::read(dir.path().join(name).join("sweep.parquet")).unwrap();
    assert!(bytes("whole") == bytes("cut"));
}

#[test]
fn rampup_side_by_side() {
    let dir = folder();
    let arguments = [
        "rampup",
        "--machine",
        "model:apple-m1",
        "--phases",
        "3",
        "--duration",
        "300ms",
        "--out",
        "r",
        "--variant",
        "slow: rate_limit_us=10000",
        "--variant",
        "series x2: series rampup_multiplier=2",
    ];
    let (code, stdout, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    for words in ["slow", "series x2", "util_avg reaches 450", "time on E", "Phase 0"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    let arguments = [
        "rampup",
        "-m",
        "model:apple-m1",
        "--phases",
        "2",
        "--duration",
        "50ms",
        "--format",
        "json",
    ];
    let (code, stdout, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(result["variants"][0]["result"]["kernel"], "linux-6.14-asahi");
}

#[test]
fn what_never_happened_is_said_in_words() {
    let dir = folder();
    // Kept on the small cores, and too short for any utilisation.
    let spin = ["rampup", "-m", "model:apple-m1", "--phases", "1", "--duration", "5ms"];
    let arguments = [&spin[..], &["--variant", "e: cpus=0-3"]].concat();
    let (code, stdout, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    let line = |start: &str| stdout.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(line("first on the largest core").ends_with("not within 5ms"), "{stdout}");
    assert!(line("util_avg reaches 1000").ends_with("not within 5ms"), "{stdout}");
}

#[test]
fn a_full_record_has_its_tables_be_they_empty() {
    let dir = folder();
    let arguments = ["userspace-limits", "--out", "r", "--record", "full"];
    let (code, _, stderr) = sim(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    for table in ["governor", "items", "markers", "migrations", "wakeups", "idle"] {
        assert!(dir.path().join(format!("r/{table}.parquet")).exists(), "{table}");
    }
}

#[test]
fn governors_of_a_sweep_have_their_own_tunables() {
    let dir = folder();
    let text =
        b"platform = \"laptop-x86\"\nkernel = \"linux-6.12\"\n[governor]\nname = \"ondemand\"\n\
                 sampling_rate = 50000\n[[task]]\nkind = \"rampup\"\nsleeps = 2\n";
    fs_err::write(dir.path().join("s.toml"), text).unwrap();
    let sweep =
        ["s.toml", "--sweep", "governor.name=ondemand,conservative,schedutil", "--out", "r"];
    let (code, _, stderr) = sim(dir.path(), &sweep);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("note: sampling_rate=50000 is ondemand's alone"), "{stderr}");
}

#[test]
fn rampup_says_what_it_cannot() {
    let dir = folder();
    for (arguments, code, words) in [
        (vec!["--machine", "host", "--series"], 2, "only models have it"),
        (vec!["--machine", "host", "--duration", "1ms"], 3, "expected 10ms to 60s"),
        (vec!["--machine", "host", "--figure", "x.svg"], 2, "expected one model"),
        (vec!["--machine", "record:x"], 2, "flyball report x"),
        (vec!["--machine", "model:m1"], 2, "m1"),
        (vec!["-m", M1, "--governor", "shedutil"], 3, "did you mean `schedutil`?"),
        (
            vec!["-m", M1, "--governor", ":rate_limit_us"],
            2,
            "expected a tunable with a whole number",
        ),
        (vec!["-m", M1, "--variant", "x"], 2, "NAME: SETTINGS"),
        (vec!["-m", M1, "--variant", "a: rate_limits=3"], 3, "rate_limits"),
        (vec!["-m", M1, "--duration", "3"], 2, "a duration with its unit"),
        (
            vec!["-m", M1, "--duration", "0s"],
            2,
            "expected a time above 0 for the spin, found \"0s\"\nhint: ",
        ),
        (vec!["-m", M1, "--feature", "serie=true"], 3, "did you mean `series`?"),
    ] {
        let (found, _, stderr) = run(dir.path(), &[&["rampup"], &arguments[..]].concat());
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: expected {words}\n{stderr}");
    }
}

#[test]
fn figures_of_runs_over_time() {
    let dir = folder();
    let read = |name: &str| fs_err::read(dir.path().join(name)).unwrap();
    let arguments = ["bursts", "--out", "old rule", "--figure", "f/bursts.svg"];
    let (code, _, stderr) = sim(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("figure  f/bursts.svg"), "{stderr}");
    let svg = String::from_utf8(read("f/bursts.svg")).unwrap();
    for words in ["<svg", "bursts: powerd", "util_avg", "task runs", "frequency of"] {
        assert!(svg.contains(words), "expected {words}");
    }
    let beside = ["bursts-tick", "--beside", "old rule", "--figure", "both.svg"];
    let (code, _, stderr) = sim(dir.path(), &beside);
    assert_eq!(code, 0, "{stderr}");
    let svg = String::from_utf8(read("both.svg")).unwrap();
    assert!(svg.contains("bursts-tick: tick") && svg.contains(">old rule</text>"));
    let variants = ["--variant", "slow: rate_limit_us=10000", "--variant", "fast: series"];
    for name in ["r.svg", "r.PNG"] {
        let options = ["--phases", "1", "--duration", "100ms", "--quiet", "--figure", name];
        let rampup = ["rampup", "-m", M1];
        let (code, _, stderr) = run(dir.path(), &[&rampup, &options[..], &variants].concat());
        assert!(code == 0 && stderr.is_empty(), "{stderr}");
    }
    let svg = String::from_utf8(read("r.svg")).unwrap();
    assert!(svg.contains(">slow</text>") && svg.contains(">fast</text>"));
    assert!(read("r.PNG").starts_with(b"\x89PNG"));
}

#[test]
fn figures_that_cannot_be_are_refused_first() {
    let dir = folder();
    for (arguments, words) in [
        (vec!["sim", "bursts", "--figure", "x.gif"], "ends in .svg, .png or .pdf, found \"x.gif\""),
        (vec!["rampup", "-m", M1, "--figure", "svg"], "ends in .svg, .png or .pdf"),
        (vec!["sim", "bursts", "--figure", "x.svg", "--record", "none"], "expected --record full"),
        (vec!["sim", "bursts", "--figure", "x.svg", "--sweep", "hz=100,250"], "cannot be used"),
        (vec!["sim", "bursts", "--beside", "d"], "--figure"),
    ] {
        let (code, _, stderr) = run(dir.path(), &arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: expected {words}\n{stderr}");
    }
    assert!(!dir.path().join("flyball-runs").exists());
}

/// Every file of a run directory, by name.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs_err::read_dir(dir).unwrap().map(Result::unwrap);
    let file = |entry: fs_err::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs_err::read(entry.path()).unwrap())
    };
    let mut files: Vec<(String, Vec<u8>)> = entries.map(file).collect();
    files.sort();
    files
}

#[test]
fn parts_of_a_sweep_are_the_sweep_to_the_byte() {
    let (one, parts) = (folder(), folder());
    let sweep = [
        "rampup-m1",
        "--sweep",
        "governor.rate_limit_us=1000..5000..1000",
        "--sweep",
        "hz=100,250",
    ];
    let whole = [&sweep[..], &["--out", "run"]].concat();
    assert_eq!(sim(one.path(), &whole).0, 0);

    let dir = parts.path();
    fn part<'a>(sweep: &[&'a str], shard: &'a str, out: &'a str) -> Vec<&'a str> {
        [sweep, &["--shard", shard, "--out", out]].concat()
    }
    for number in ["4", "2", "1", "3", "2"] {
        let (shard, file) = (format!("{number}/4"), format!("parts/{number}"));
        let (code, stdout, stderr) = sim(dir, &part(&sweep, &shard, &file));
        assert_eq!(code, 0, "{stderr}");
        assert!(
            stdout.contains(&format!("part {shard}")) && stdout.contains("of 10 points"),
            "{stdout}"
        );
    }
    // One part once more elsewhere, one of them torn.
    assert_eq!(sim(dir, &part(&sweep, "3/4", "again")).0, 0);
    let text = fs_err::read_to_string(dir.join("again")).unwrap();
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    let torn = &line("{\"point\":6,")[..20];
    let torn = format!("{}\n{}\n{torn}", line("{\"axes\""), line("{\"point\":2,"));
    fs_err::write(dir.join("again"), torn).unwrap();
    let merged =
        ["sim", "--merge", "parts/4", "again", "parts/3", "parts/2", "parts/1", "--out", "run"];
    let (code, stdout, stderr) = run(dir, &merged);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("10 points of 3 phases"), "{stdout}");
    assert!(files(&dir.join("run")) == files(&one.path().join("run")), "the same to the byte");

    // What has holes says which, and whose.
    let half = ["sim", "--merge", "parts/1", "parts/2", "again", "--out", "half"];
    let (code, stdout, stderr) = run(dir, &half);
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.contains("expected 10 points, found 7: 3, 6..7 missing"), "{stderr}");
    assert!(stderr.contains("3/4 4/4") && !dir.join("half").exists(), "{stderr}");
}

#[test]
fn what_is_no_part_of_the_same_sweep_is_refused() {
    let dir = folder();
    let dir = dir.path();
    let part = |out: &str, more: &[&str]| {
        let shard = ["rampup-m1", "--shard", "1/2", "--out", out];
        let (code, _, stderr) = sim(dir, &[&shard[..], more].concat());
        assert_eq!(code, 0, "{stderr}");
    };
    part("first", &["--sweep", "hz=100,250"]);
    part("axes", &["--sweep", "hz=100,1000"]);
    part("seed", &["--sweep", "hz=100,250", "--seed", "7"]);
    part("scenario", &["--sweep", "hz=100,250", "--set", "task.rampup.uclamp_min=512"]);
    fs_err::write(dir.join("notes"), "my notes\n").unwrap();
    let text = fs_err::read_to_string(dir.join("first")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    // A line with other words, and the checksum of them.
    let other = |number: usize, word: &str, other: &str| {
        let (json, _) = text.lines().nth(number).unwrap().rsplit_once(" crc32:").unwrap();
        let json = json.replacen(word, other, 1);
        format!("{json} crc32:{:08x}\n", crc32fast::hash(json.as_bytes()))
    };
    // A manifest as it is in a run, in a text of JSON.
    let written = format!(r#"version = \"{version}\""#);
    let newer = other(0, &written, r#"version = \"99.0.0\""#);
    fs_err::write(dir.join("version"), newer).unwrap();
    // Earlier versions wrote its keys instead.
    let (head, _) = text.split_once("\"manifest\":").unwrap();
    let json = format!("{head}\"manifest\":{{\"format\":1}}}}");
    let line = format!("{json} crc32:{:08x}\n", crc32fast::hash(json.as_bytes()));
    fs_err::write(dir.join("earlier"), line).unwrap();
    let changed = other(0, "", "") + &other(1, "\"values\":[[\"", "\"values\":[[\"9");
    fs_err::write(dir.join("changed"), changed).unwrap();
    // A part that was copied wrongly: what is behind the wrong bit is missing.
    fs_err::write(dir.join("flipped"), text.replacen("\"values\":[[\"", "\"values\":[[\"9", 1))
        .unwrap();
    for (other, words) in [
        ("axes", "axes: expected a part of the same sweep as first, found another axes"),
        ("seed", "found another seed"),
        ("scenario", "found another scenario"),
        ("version", "found another version"),
        ("earlier", "found another version"),
        ("notes", "notes: expected the journal of a sweep, found something else"),
        ("changed", "changed: expected the results of point 0 as in first, found others"),
        ("flipped", "expected 2 points, found 1"),
        ("nowhere", "nowhere: expected to read the journal"),
    ] {
        let (code, _, stderr) = run(dir, &["sim", "--merge", "first", other, "--out", "merged"]);
        assert_eq!(code, 3, "{other}: {stderr}");
        assert!(stderr.contains(words), "{other}: {stderr}");
        assert!(!dir.join("merged").exists());
    }
    for (arguments, code, words) in [
        (&["rampup-m1", "--shard", "1/2", "--out", "x"][..], 2, "--sweep"),
        (&["rampup-m1", "--sweep", "hz=100,250", "--shard", "3/2", "--out", "x"], 2, "1/4 to 4/4"),
        (&["rampup-m1", "--sweep", "hz=100,250", "--shard", "1/2", "--out", "."], 3, "a directory"),
        (&["rampup-m1", "--sweep", "hz=100,250", "--shard", "2/2", "--out", "first"], 3, "shard"),
        (&["--merge", "first", "--out", "x"], 2, "cannot be used with"),
    ] {
        let (found, _, stderr) = sim(dir, arguments);
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
}

/// The random scenarios of `scripts/board-vs-model` are scenarios, and the same for a seed, however many are drawn.
#[test]
#[allow(clippy::disallowed_methods, reason = "starts a script from outside")]
fn drawn_scenarios_are_read() {
    let dir = folder();
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/board-vs-model/generate.py");
    let draw = |count: &str, out: &str| {
        let mut command = std::process::Command::new("python3");
        command.arg(&script).args(["--seed", "5", "--count", count, "--out", out]);
        command.current_dir(dir.path()).status()
    };
    let Ok(status) = draw("12", "drawn") else {
        eprintln!("skipped: no python3");
        return;
    };
    assert!(status.success() && draw("1", "again").unwrap().success());
    assert!(!draw("0", "none").unwrap().success());
    let text = |path: &str| fs_err::read_to_string(dir.path().join(path)).unwrap();
    assert_eq!(text("drawn/seed-5-01.toml"), text("again/seed-5-01.toml"));
    for number in 1..=12 {
        let file = format!("drawn/seed-5-{number:02}.toml");
        let (code, _, stderr) =
            run(dir.path(), &["sim", &file, "--phases", "1", "--record", "none"]);
        assert_eq!(code, 0, "{file}: {stderr}");
    }
}
