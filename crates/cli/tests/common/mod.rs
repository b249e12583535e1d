//! The program as a user starts it, in a folder of its own.
#![allow(dead_code)] // each test binary uses its own part
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test may end at once and say why

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An empty folder to work in.
pub fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// `flyball` in `dir`, without colour and at a fixed width.
pub fn flyball(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("flyball").unwrap();
    command.current_dir(dir).env("NO_COLOR", "1").env("COLUMNS", "100");
    command
}

/// Exit code, stdout, stderr.
pub fn run(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = flyball(dir).args(arguments).output().unwrap();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// The measured data from outside, which a user's clone does not have.
pub fn shared_data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: no {} beside the project", path.display());
    None
}
