//! `flyball board` as a user meets it, without booting: the boots are tests of the crate `board`.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{flyball, folder};
use std::path::Path;

/// Exit code and stderr of `flyball board ARGUMENTS` with an empty cache.
fn board(dir: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = flyball(dir);
    command.env("FLYBALL_BOARD_DIR", dir.join("cache")).arg("board").args(arguments);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), stderr)
}

#[test]
fn an_empty_cache_names_the_command_that_fills_it() {
    let dir = folder();
    for arch in ["x86_64", "aarch64"] {
        let (code, stderr) =
            board(dir.path(), &["run", "--machine", &format!("board:{arch}"), "--", "true"]);
        assert_eq!(code, 125, "{stderr}");
        assert!(stderr.contains(&format!("hint: flyball board setup --arch {arch}")), "{stderr}");
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_is_started() {
    let dir = folder();
    fs_err::write(dir.path().join("p.toml"), "title = 7\n").unwrap();
    for (arguments, expected) in [
        (&["--machine", "board:bord-x86"][..], "did you mean \"board-x86\"?"),
        (&["-m", "board:p.toml"], "p.toml:1:9"),
        (&["-m", "board:no/such.toml"], "no/such.toml"),
        (&["-m", "board:apple-m1-macos"], "expected a frequency that the operating system chooses"),
        (&["-m", "board:x86_64,arch=sparc"], "expected x86_64 or aarch64, found \"sparc\""),
        (&["-m", "board:x86_64,kernel=debian:six"], "expected debian:6.12, debian:7 or the like"),
        (&["--ipc", "0"], "expected more than 0"),
    ] {
        let all = [&["run"], arguments, &["--", "true"]].concat();
        let (code, stderr) = board(dir.path(), &all);
        assert_eq!(code, 125, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn nothing_but_a_verdict_makes_a_kernel_bad_for_git_bisect() {
    let dir = folder();
    let two = ["-m", "board:x86_64,kernel=debian:6.12", "-m", "board:x86_64,kernel=debian:7"];
    for (arguments, expected) in [
        (&two[..2], "--machine: expected two boards, A and B, found 1"),
        (&["-m", "board:x86_64", two[2], two[3]], "a board with its kernel"),
        (&["cortex-governors", two[0], two[1], two[2], two[3]], "expected one condition"),
        (&["no-such", two[0], two[1], two[2], two[3]], "no-such"),
        (&["-m", "board:bord-x86,kernel=debian:7", two[2], two[3]], "board-x86"),
        (&two, "flyball board setup"),
    ] {
        let (code, stderr) = board(dir.path(), &[&["ab"], arguments].concat());
        assert_eq!(code, 125, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert!(!dir.path().join("flyball-runs").exists(), "a refusal leaves no run directory");
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let dir = folder();
    for arguments in [&["run"][..], &["run", "true"], &["run", "--memory", "1", "--", "true"], &[]]
    {
        let (code, stderr) = board(dir.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
    }
    let (code, stderr) = board(dir.path(), &["setup", "--arch", "vax"]);
    assert_eq!(code, 3, "{stderr}");
}
