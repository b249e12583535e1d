//! Programs against each other, on the machine that runs the tests: only differences that no noise
//! can hide.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

mod common;

use assert_cmd::Command;
use common::{folder, run};
use serde_json::Value;
use std::path::Path;

fn report(dir: &Path) -> Value {
    let (_, report, _) = run(dir, &["report", "run", "--format", "json", "--no-page"]);
    serde_json::from_str(&report).unwrap()
}

#[test]
fn a_program_that_sleeps_is_slower_and_known_soon() {
    let dir = folder();
    let programs = ["ab", "sleep 0.02", "sleep 0.06", "--name", "short", "--name", "long"];
    let arguments = [&programs[..], &["--within", "60s", "--out", "run", "--no-page"]].concat();
    let (code, text, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("long against short  EFFECT"), "{text}");
    let report = report(dir.path());
    let effect = &report["comparisons"][0]["effects"][0];
    assert_eq!(
        (effect["of"].as_str(), effect["verdict"].as_str()),
        (Some("execution"), Some("effect"))
    );
    let ratio = effect["ratio"]["value"].as_f64().unwrap();
    assert!((2.0..4.0).contains(&ratio), "{ratio}");
    let manifest = fs_err::read_to_string(dir.path().join("run/run.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    assert!(manifest["looks"]["made"].as_integer() >= Some(1), "{}", manifest["looks"]);
    assert!(manifest["looks"]["level"].as_float() > Some(0.98));
    // Stopped at an answer: far fewer blocks than there were to be.
    let trials = manifest["order"].as_array().unwrap().len();
    assert!(trials < 100, "{trials}");
}

#[test]
fn gates_tell_slower_from_not() {
    let dir = folder();
    let fast = ["ab", "sleep 0.02", "sleep 0.3", "--name", "a", "--name", "b", "--blocks", "8"];
    let gate = |out: &'static str, baseline: &'static str| {
        let rule = ["--fail-if", "median > +10%", "--no-page"];
        let rest = ["--out", out, "--baseline", baseline];
        let (code, _, stderr) = run(dir.path(), &[&fast[..], &rule, &rest].concat());
        (code, stderr)
    };
    let (code, stderr) = gate("slower", "a");
    assert_eq!(code, 1, "{stderr}");
    let (code, stderr) = gate("faster", "b");
    assert_eq!(code, 0, "{stderr}");
    let ktap = |rules: &[&str]| {
        let report = ["report", "slower", "--format", "ktap", "--no-page"];
        run(dir.path(), &[&report[..], rules].concat()).1
    };
    let plain = ktap(&[]);
    assert!(plain.starts_with("KTAP version 1\n1..1\n# effect: "), "{plain}");
    assert!(plain.ends_with("\nnot ok 1 b against a\n"), "{plain}");
    let rules = ktap(&["--fail-if", "median > +9900%"]);
    assert!(rules.contains("\nok 1 ") && rules.contains(": median > +9900%"), "{rules}");
}

#[test]
fn disturbed_blocks_are_kept_and_as_many_done_again() {
    let dir = folder();
    // Of nobody's concern to the comparison: it uses the CPUs now and then, and it is not ours.
    let hog = "for i in 1 2 3 4; do sleep 0.4; timeout 0.3 sh -c 'while :; do :; done'; done";
    #[allow(clippy::disallowed_types, clippy::disallowed_methods)]
    let mut hog = std::process::Command::new("sh").args(["-c", hog]).spawn().unwrap();
    let programs = ["ab", "sleep 0.02", "sleep 0.021", "--name", "a", "--name", "b"];
    let rest = ["--blocks", "20", "--retry", "8", "--out", "run", "--no-page"];
    let (code, _, stderr) = run(dir.path(), &[&programs[..], &rest].concat());
    hog.kill().unwrap();
    hog.wait().unwrap();
    assert_eq!(code, 0, "{stderr}");
    let manifest = fs_err::read_to_string(dir.path().join("run/run.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let order = manifest["order"].as_array().unwrap();
    let is_aside =
        |trial: &&toml::Value| trial.get("set_aside").is_some_and(|aside| aside.as_bool().unwrap());
    let aside = order.iter().filter(is_aside).count();
    assert_eq!(order.len() - aside, 40, "20 whole blocks of two programs count");
    assert!(
        aside <= 16 && aside.is_multiple_of(2),
        "both sides of a block, within bounds: {aside}"
    );
    let report = report(dir.path());
    let windows: u64 =
        report["cells"].as_array().unwrap().iter().map(|cell| cell["n"].as_u64().unwrap()).sum();
    // 40 ms and more of each program in each block: two runs or one, and nothing of what is set aside.
    assert!([40, 80].contains(&windows), "{windows}");
    let said = report["disturbances"].as_array().unwrap().iter();
    let said = said.filter(|finding| finding["object"] == "other programs");
    let text: String = said.map(|finding| finding["text"].as_str().unwrap()).collect();
    assert_eq!(text.contains("set aside and done again"), aside > 0, "{text}");
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let dir = folder();
    for (arguments, code, text) in [
        (vec!["ab", "true"], 2, "expected at least two programs, found 1"),
        (vec!["ab", "true", "false"], 3, "run of false: expected exit status 0, found 1"),
        (vec!["ab", "true", "no-such-program-here"], 3, "no-such-program-here"),
        (vec!["ab", "true", "sh 'x"], 2, "expected a program and its arguments"),
        (vec!["ab", "true", "true", "--margin", "0%"], 2, "--margin: expected percent above 0"),
        (
            vec!["ab", "true", ":", "--setup", "a", "--setup", "b", "--setup", "c"],
            2,
            "--setup: expected 1 or 2",
        ),
    ] {
        let (found, _, stderr) = run(dir.path(), &arguments);
        assert!(stderr.contains(text), "{arguments:?}: {stderr}");
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(!dir.path().join("flyball-runs").exists(), "{arguments:?}");
    }
}

fn git(dir: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(dir).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
    git.args(arguments).assert().success();
}

/// A repository whose last commit is faster than the one before.
fn faster_commit(path: &Path) {
    git(path, &["init", "-q"]);
    for seconds in ["0.05", "0.02"] {
        fs_err::write(path.join("work.in"), format!("#!/bin/sh\nsleep {seconds}\n")).unwrap();
        git(path, &["add", "work.in"]);
        git(path, &["commit", "-q", "-m", seconds]);
    }
}

#[test]
fn a_ci_job_gets_its_summary_its_verdict_and_its_exit_code() {
    let dir = folder();
    faster_commit(dir.path());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/ci/ab");
    let job = |base: &str, head: &str, rule: &str, undecided: &str| {
        let (summary, output) = (dir.path().join("summary"), dir.path().join("output"));
        let _ = (fs_err::remove_file(&summary), fs_err::remove_file(&output));
        let done = Command::new(script)
            .current_dir(dir.path())
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("GITHUB_OUTPUT", &output)
            .env("RUNNER_TEMP", dir.path())
            .env("AB_FLYBALL", env!("CARGO_BIN_EXE_flyball"))
            .envs([("AB_BASE", base), ("AB_HEAD", head), ("AB_FAIL_IF", rule)])
            .envs([("AB_UNDECIDED", undecided), ("AB_RUN", "./work"), ("AB_WITHIN", "20s")])
            .env("AB_BUILD", "cp work.in work && chmod +x work")
            .env("AB_ARGUMENTS", "--no-page")
            .output()
            .unwrap();
        let text = |path| fs_err::read_to_string(path).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.code().unwrap_or(-1), text(summary), text(output), stderr)
    };
    let (code, summary, output, stderr) = job("HEAD~1", "HEAD", "median > +5%", "warn");
    assert_eq!(code, 0, "{stderr}");
    assert!(output.contains("verdict=holds") && output.contains("directory="), "{output}");
    assert!(summary.contains("**holds**") && summary.contains("HEAD against HEAD"), "{summary}");
    let (code, summary, output, stderr) = job("HEAD", "HEAD~1", "median > +5%", "warn");
    assert_eq!(code, 1, "{stderr}");
    assert!(output.contains("verdict=fails") && summary.contains("**fails**"), "{output}{summary}");
    // Nothing of that name is recorded, so nobody knows.
    let rule = "median[workload=nobody] > +5%";
    assert_eq!(job("HEAD", "HEAD~1", rule, "warn").0, 0);
    let (code, _, output, stderr) = job("HEAD", "HEAD~1", rule, "fail");
    assert_eq!(code, 7, "{stderr}");
    assert!(output.contains("verdict=undecided"), "{output}");
    let (code, .., stderr) = job("no-such-commit", "HEAD", "median > +5%", "warn");
    assert!(code == 3 && stderr.contains("fetch-depth: 0"), "{code} {stderr}");
}

#[test]
fn commits_are_built_in_work_trees_that_go_again() {
    let dir = folder();
    let path = dir.path();
    faster_commit(path);
    let build = "cp work.in work && chmod +x work";
    let arguments = ["ab", "--commits", "HEAD~1", "HEAD", "--build", build, "--blocks", "6"];
    let rest = ["--out", "run", "--no-page", "--", "./work"];
    let (code, text, stderr) = run(path, &[&arguments[..], &rest].concat());
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("HEAD against HEAD~1  EFFECT"), "{text}");
    let trees = Command::new("git").current_dir(path).args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&trees.stdout).lines().count(), 1, "{trees:?}");
    // Interrupted while it builds, and again at once: nothing is left.
    #[allow(clippy::disallowed_types, clippy::disallowed_methods)]
    let mut building = std::process::Command::new(env!("CARGO_BIN_EXE_flyball"))
        .args(["ab", "--commits", "HEAD~1", "HEAD", "--build", "sleep 30", "--", "./work"])
        .current_dir(path)
        .spawn()
        .unwrap();
    let listed = || {
        let trees = Command::new("git").current_dir(path).args(["worktree", "list"]).output();
        String::from_utf8_lossy(&trees.unwrap().stdout).lines().count()
    };
    while listed() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    for _ in 0..2 {
        Command::new("kill").args(["-INT", &building.id().to_string()]).assert().success();
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    assert_eq!(building.wait().unwrap().code(), Some(130));
    assert_eq!(listed(), 1);
    let broken = ["ab", "--commits", "HEAD~1", "HEAD", "--build", "false", "--", "./work"];
    let (code, _, stderr) = run(path, &broken);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("build of HEAD~1: expected exit status 0, found 1"), "{stderr}");
}
