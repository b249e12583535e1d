//! `flyball hold` as a user meets it, without changing this machine: holds on a real kernel are
//! `scripts/try-hold`'s, on machines of every layout the crate `control`'s.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{flyball, folder};
use std::os::unix::fs::symlink;
use std::path::Path;

/// Exit code, stdout and stderr of `flyball hold ARGUMENTS` with the journal below `dir`.
fn hold(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = flyball(dir);
    command.env("FLYBALL_STATE", dir.join("state")).arg("hold").args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

const JOURNAL: &str = "{\"format\": 1, \"boot_id\": \"another\", \"owner\": {\"pid\": 1, \
    \"start_ticks\": 2}, \"created_realtime_ns\": 3, \"files\": []}";

#[test]
fn the_command_line_is_checked_first() {
    let dir = folder();
    for (arguments, expected) in [
        (&["--", "true"][..], "expected a setting or a load to hold"),
        (&["--governor", "performance"], "CMD"),
        (&["--frequency", "2", "--", "true"], "2GHz"),
        (&["--frequency", "max", "--min", "1GHz", "--", "true"], "cannot be used with"),
        (&["--boost", "yes", "--", "true"], "on, off"),
        (&["--governor", "x", "--cpus", "3-1", "--", "true"], "--cpus"),
        (&["--recover", "--dry-run"], "cannot be used with"),
        (&["--governor", "x", "--faults", "odd", "--", "true"], "--faults"),
    ] {
        let (code, _, stderr) = hold(dir.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert!(!dir.path().join("state").exists());
}

#[test]
fn without_cpufreq_it_says_why_and_what_else_helps() {
    let dir = folder();
    let faults =
        "list:/sys/devices/system/cpu/cpufreq=ENOENT,exists:/sys/devices/system/cpu/cpufreq=ENOENT";
    for more in [&["--dry-run"][..], &["--", "true"]] {
        let arguments = [&["--governor", "performance", "--faults", faults], more].concat();
        let (code, _, stderr) = hold(dir.path(), &arguments);
        assert_eq!(code, 4, "{stderr}");
        assert!(stderr.contains("no say in the frequency"), "{stderr}");
        assert!(stderr.contains("flyball hold --load"), "{stderr}");
    }
    assert!(!dir.path().join("state").exists());
}

#[test]
fn a_recovery_needs_no_hold() {
    let dir = folder();
    let (code, _, stderr) = hold(dir.path(), &["--recover"]);
    assert_eq!((code, stderr.as_str()), (0, "nothing to restore: no hold was killed\n"));
    let (code, stdout, _) = hold(dir.path(), &["--recover", "--format", "json"]);
    assert_eq!((code, stdout.as_str()), (0, "{\n  \"found\": \"nothing\"\n}\n"));
    assert!(!dir.path().join("state").exists());
}

#[test]
fn the_journal_of_an_earlier_boot_is_removed_and_that_is_said() {
    let dir = folder();
    let journal = dir.path().join("state/hold.json");
    fs_err::create_dir(dir.path().join("state")).unwrap();
    fs_err::write(&journal, JOURNAL).unwrap();
    let (code, _, stderr) = hold(dir.path(), &["--recover"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("ended with an earlier boot"), "{stderr}");
    assert!(!journal.exists());
}

#[test]
fn a_journal_that_is_not_ours_is_left_to_the_user() {
    let dir = folder();
    let journal = dir.path().join("state/hold.json");
    fs_err::create_dir(dir.path().join("state")).unwrap();
    let outside = JOURNAL.replace(
        "\"files\": []",
        "\"files\": [{\"path\": \"/etc/passwd\", \"old\": \"x\", \"new\": \"y\"}]",
    );
    for text in ["", &JOURNAL[..40], &outside] {
        fs_err::write(&journal, text).unwrap();
        let (code, _, stderr) = hold(dir.path(), &["--recover"]);
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains("hint: Flyball never leaves a torn journal"), "{stderr}");
        assert!(journal.exists());
    }
}

/// A pipe, a link and a file that all may write are not the journal that a hold left.
#[test]
fn a_journal_that_somebody_else_could_have_put_there_is_not_read() {
    for put in [
        "mkfifo state/hold.json",
        "ln -s /dev/zero state/hold.json",
        "touch state/hold.json; \
        chmod 666 state/hold.json",
        "mkdir state/hold.json",
    ] {
        let dir = folder();
        let script = format!("mkdir -m 700 state; {put}");
        let mut shell = assert_cmd::Command::new("sh");
        shell.current_dir(dir.path()).args(["-c", &script]).assert().success();
        let mut command = flyball(dir.path());
        command.env("FLYBALL_STATE", dir.path().join("state")).args(["hold", "--recover"]);
        let output = command.timeout(std::time::Duration::from_secs(10)).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code != 0), "{put}: {stderr}");
        assert!(stderr.contains("hold.json"), "{put}: {stderr}");
    }
}

#[test]
fn a_folder_that_is_a_link_is_refused() {
    let dir = folder();
    fs_err::create_dir(dir.path().join("real")).unwrap();
    symlink(dir.path().join("real"), dir.path().join("state")).unwrap();
    let (code, _, stderr) = hold(dir.path(), &["--recover"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("found a symbolic link"), "{stderr}");
}
