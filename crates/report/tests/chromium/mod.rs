//! A headless Chromium for tests. Skips with a reason where none is installed. Pictures are kept
//! under target/, never compared.
#![allow(
    dead_code,
    clippy::disallowed_methods,
    reason = "each test takes what it needs, and runs the browser itself; the one door is for the product"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The browser; none where none is installed, which is said.
pub fn browser() -> Option<PathBuf> {
    let found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .into_iter()
        .map(PathBuf::from)
        .find(|p| p.exists());
    if found.is_none() {
        #[allow(clippy::print_stdout)] // a skipped test says why
        {
            println!("skipped: no Chromium in /usr/bin (apt-get install chromium)");
        }
    }
    found
}

/// Where pages and pictures are kept.
pub fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A browser without a window, with a profile of its own.
pub fn headless(browser: &Path, profile: &Path) -> Command {
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        .args(["--hide-scrollbars", "--enable-logging=stderr", "--v=0"])
        .arg(format!("--user-data-dir={}", profile.display()));
    command
}

/// Runs it to its end, on a clock that waits for the page's scripts.
pub fn chromium(browser: &Path, arguments: &[&str]) -> Output {
    let profile = tempfile::tempdir().unwrap();
    let output = headless(browser, profile.path())
        .arg("--virtual-time-budget=3000")
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Keeps a picture of a page.
pub fn screenshot(browser: &Path, url: &str, name: &str, size: &str) {
    let file = folder().join(format!("{name}.png"));
    let target = format!("--screenshot={}", file.display());
    chromium(browser, &[&target, &format!("--window-size={size}"), url]);
    assert!(std::fs::metadata(&file).unwrap().len() > 10_000, "{name} is empty");
}

/// What the page wrote to the console.
pub fn console(stderr: &[u8]) -> Vec<String> {
    let log = String::from_utf8_lossy(stderr);
    log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect()
}
