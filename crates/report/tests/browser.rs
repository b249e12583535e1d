//! The page in a real browser: the script runs under its own policy, nothing is reported to the
//! console, and light, dark, narrow and printed pages are kept as pictures under target/.
//!
//! Skips with a reason where no Chromium is installed. Pictures are kept, never compared.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the browser itself; the one door is for the product"
)]

mod chromium;
#[path = "../../events/tests/sample/mod.rs"]
mod ramp;
mod sample;

use chromium::{browser, chromium, console, folder, screenshot};
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::html::{HtmlOptions, render};
use flyball_report::model::Report;

/// Two ramps, told by their events.
fn events() -> Report {
    let mut runs =
        [RunData::new("fast", "fast", ramp::ramp(1)), RunData::new("slow", "slow", ramp::ramp(2))];
    for run in &mut runs {
        run.manifest.experiment = Some("platform = \"two-cores\"\n".to_owned());
    }
    analyse(&runs, &AnalysisOptions::default())
}

fn write_page(name: &str, report: &Report) -> String {
    let path = folder().join(format!("{name}.html"));
    let options = HtmlOptions { title: None, generator: Some("flyball 0.1.0".to_owned()) };
    std::fs::write(&path, render(report, &options)).unwrap();
    format!("file://{}", path.display())
}

#[test]
fn scripts_run_and_the_console_stays_silent() {
    let Some(browser) = browser() else { return };
    for (name, report) in [
        ("bench", sample::bench()),
        ("cortex", sample::cortex()),
        ("awkward", sample::awkward(12)),
        ("events", events()),
    ] {
        let output = chromium(&browser, &["--dump-dom", &write_page(name, &report)]);
        let dom = String::from_utf8(output.stdout).unwrap();
        assert!(dom.contains("data-ready=\"yes\""), "{name}: the script did not run to its end");
        assert!(dom.contains("aria-label=\"Switch to the"), "{name}: no theme toggle");
        // A head whose text is a button can be sorted by; its class does not matter here.
        let sortable = ["Workload", "workload", "trial"]
            .iter()
            .any(|head| dom.contains(&format!("><button type=\"button\">{head}")));
        assert!(sortable, "{name}: no sortable heads");
        let said = console(&output.stderr);
        assert!(said.is_empty(), "{name}: {said:?}");
    }
}

#[test]
fn pictures_of_light_dark_narrow_and_print() {
    let Some(browser) = browser() else { return };
    let bench = write_page("bench-pictures", &sample::bench());
    let cortex = write_page("cortex-pictures", &sample::cortex());
    screenshot(&browser, &bench, "bench-light", "1280,4700");
    screenshot(&browser, &format!("{bench}?theme=dark"), "bench-dark", "1280,1600");
    screenshot(&browser, &bench, "bench-narrow", "500,2400");
    screenshot(&browser, &cortex, "cortex-light", "1280,3400");
    let events = write_page("events-pictures", &events());
    screenshot(&browser, &events, "events-light", "1280,2600");
    screenshot(&browser, &format!("{events}?theme=dark"), "events-dark", "1280,1600");
    screenshot(&browser, &events, "events-narrow", "500,2400");
    let pdf = folder().join("bench.pdf");
    chromium(
        &browser,
        &[&format!("--print-to-pdf={}", pdf.display()), "--no-pdf-header-footer", &bench],
    );
    assert!(std::fs::read(&pdf).unwrap().starts_with(b"%PDF"));
}
