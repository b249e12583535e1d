//! Programs against each other, on the machine that runs the tests: only differences that no noise
//! can hide.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

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
    let fast = ["ab", "sleep 0.02", "sleep 0.05", "--name", "a", "--name", "b", "--runs", "6"];
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

#[test]
fn commits_are_built_in_work_trees_that_go_again() {
    let dir = folder();
    let path = dir.path();
    git(path, &["init", "-q"]);
    for seconds in ["0.05", "0.02"] {
        fs_err::write(path.join("work.in"), format!("#!/bin/sh\nsleep {seconds}\n")).unwrap();
        git(path, &["add", "work.in"]);
        git(path, &["commit", "-q", "-m", seconds]);
    }
    let build = "cp work.in work && chmod +x work";
    let arguments = ["ab", "--commits", "HEAD~1", "HEAD", "--build", build, "--runs", "6"];
    let rest = ["--out", "run", "--no-page", "--", "./work"];
    let (code, text, stderr) = run(path, &[&arguments[..], &rest].concat());
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("HEAD against HEAD~1  EFFECT"), "{text}");
    let trees = Command::new("git").current_dir(path).args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&trees.stdout).lines().count(), 1, "{trees:?}");
    let broken = ["ab", "--commits", "HEAD~1", "HEAD", "--build", "false", "--", "./work"];
    let (code, _, stderr) = run(path, &broken);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("build of HEAD~1: expected exit status 0, found 1"), "{stderr}");
}
