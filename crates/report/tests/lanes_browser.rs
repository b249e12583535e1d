//! The zoomable time line in a real browser, with ten million events: what it draws from sums and
//! extremes is what a full scan finds, the smallest thing keeps its pixel, the console stays
//! silent. Times are printed, never asserted here: `scripts/bench-timeline` holds them against
//! limits on a quiet machine.
//!
//! `FLYBALL_LANES_EVENTS` is the number of events. Skips with a reason where no Chromium is
//! installed.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the browser itself; the one door is for the product"
)]
#![allow(clippy::print_stdout, reason = "the figures are for whoever runs it")]

mod chromium;
#[path = "lanes_sample/mod.rs"]
mod sample;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use chromium::{browser, console, folder, headless, screenshot};
use flyball_report::analysis::RunData;
use flyball_report::lanes::{LanesOptions, LanesPage, render};
use serde_json::Value;

/// What the test itself does in the page.
const PROBE: &str = include_str!("lanes_sample/probe.js");

fn page(events: usize) -> LanesPage {
    let run = sample::run(events);
    let begun = Instant::now();
    let page = render(&[run], &LanesOptions::default()).unwrap();
    println!(
        "{} rows rendered in {:.2} s into {:.1} MB",
        page.rows,
        begun.elapsed().as_secs_f64(),
        page.html.len() as f64 / 1e6
    );
    page
}

/// The page with the probe in it, without the policy that rightly forbids it.
fn probed(html: &str) -> String {
    let from = html.find("<meta http-equiv").unwrap();
    let to = from + html[from..].find(">\n").unwrap() + 2;
    let end = html.rfind("</body>").unwrap();
    format!("{}{}<script>{PROBE}</script>\n{}", &html[..from], &html[to..end], &html[end..])
}

/// What the probe posts, and what the browser logged.
fn answer(browser: &Path, file: &Path) -> (Value, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let profile = tempfile::tempdir().unwrap();
    let log = profile.path().join("log");
    let mut child = headless(browser, profile.path())
        .args(["--window-size=1600,1000", "--remote-debugging-port=0"])
        .arg("--disable-features=LocalNetworkAccessChecks")
        .arg(format!("file://{}?port={port}", file.display()))
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let body = loop {
        assert!(begun.elapsed() < Duration::from_secs(600), "no answer: {}", read(&log));
        match listener.accept() {
            Ok((stream, _)) => match post(stream) {
                Some(body) => break body,
                None => continue,
            },
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    (serde_json::from_str(&body).unwrap(), console(read(&log).as_bytes()))
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

/// The body of a POST; none of anything else.
fn post(mut stream: std::net::TcpStream) -> Option<String> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let (mut bytes, mut buffer) = (Vec::new(), [0; 65536]);
    loop {
        let n = stream.read(&mut buffer).ok()?;
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            let length: usize = length.unwrap_or(0);
            if body.len() >= length {
                let said = "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\n\
                            Connection: close\r\n\r\n";
                stream.write_all(said.as_bytes()).ok()?;
                return head.starts_with("POST").then(|| body.to_owned());
            }
        }
        if n == 0 {
            return None;
        }
    }
}

#[test]
fn ten_million_events_are_drawn_right() {
    let Some(browser) = browser() else { return };
    let events = std::env::var("FLYBALL_LANES_EVENTS").ok().and_then(|n| n.parse().ok());
    let events = events.unwrap_or(10_000_000);
    let page = page(events);
    assert_eq!(page.rows, events as u64);
    assert!(page.notes.is_empty(), "{:?}", page.notes);
    let file = folder().join("timeline.html");
    std::fs::write(&file, probed(&page.html)).unwrap();
    let (found, said) = answer(&browser, &file);
    println!("{}", serde_json::to_string_pretty(&found["figures"]).unwrap());
    assert_eq!(found["error"], Value::Null);
    assert_eq!(found["wrong"], serde_json::json!([]), "decimation against a full scan");
    assert!(found["checked"].as_u64().unwrap() > 10_000, "{found}");
    for what in ["spike", "needle"] {
        assert_eq!(found[what], true, "the {what} has no pixel: {found}");
    }
    assert_eq!(found["zoomed"], true, "wheel, drag and keys move the view: {found}");
    assert_eq!(found["searched"], true, "{found}");
    let text = found["text"].as_str().unwrap();
    assert!(text.contains("stretches in this pixel"), "{text}");
    assert_eq!(said, Vec::<String>::new());
    std::fs::write(&file, &page.html).unwrap();
    let url = format!("file://{}", file.display());
    screenshot(&browser, &url, "timeline-whole", "1600,1000");
    screenshot(&browser, &format!("{url}?theme=dark"), "timeline-dark", "1600,1000");
    let part = format!("{url}?view=1000000000,1002000000&task=task-7");
    screenshot(&browser, &part, "timeline-part", "1600,1000");
}

#[test]
fn the_page_runs_under_its_own_policy_and_says_nothing_to_the_console() {
    let Some(browser) = browser() else { return };
    let file = folder().join("timeline-small.html");
    std::fs::write(&file, page(20_000).html).unwrap();
    let url = format!("file://{}", file.display());
    let output = chromium::chromium(&browser, &["--dump-dom", &url]);
    let dom = String::from_utf8(output.stdout).unwrap();
    assert!(dom.contains("data-ready=\"yes\""), "the script did not run to its end");
    assert!(dom.contains("20,000 rows"), "no status");
    assert_eq!(console(&output.stderr), Vec::<String>::new());
    screenshot(&browser, &url, "timeline-small", "1280,800");
}

/// The trace of a ramp on a board, as the documents show it.
#[test]
fn a_captured_ramp_is_drawn() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/board-rampup");
    let trace = Path::new(root).join("rampup-arm64.trace");
    if !trace.exists() {
        println!("skipped: {} is not here", trace.display());
        return;
    }
    let run = flyball_events::import::import(&trace, &Default::default()).unwrap();
    let run = RunData::new("rampup-arm64.trace", "rampup-arm64.trace", run);
    let page = render(&[run], &LanesOptions::default()).unwrap();
    assert!(page.rows > 3_000 && page.notes.is_empty(), "{} {:?}", page.rows, page.notes);
    let Some(browser) = browser() else { return };
    let file = folder().join("timeline-ramp.html");
    std::fs::write(&file, page.html).unwrap();
    let url = format!("file://{}?task=rampup", file.display());
    screenshot(&browser, &url, "timeline-ramp", "1280,900");
    screenshot(&browser, &format!("{url}&theme=dark"), "timeline-ramp-dark", "1280,900");
}
