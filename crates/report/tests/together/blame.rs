//! The tables of blame: what rounds to nothing takes no room, and a bound is called one.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::sample;

use flyball_report::export::markdown;
use flyball_report::html::{self, HtmlOptions};
use flyball_report::model::{BlameCell, BlamePart, BlameRun, Estimate, Report};
use flyball_report::terminal::{TerminalOptions, render};

/// Two parts of 1000 us; the slowest windows have more of both.
fn cell(condition: &str, more_work: f64, more_frequency: Option<f64>) -> BlameCell {
    let part = |name: &str, share: f64, excess: Option<f64>| BlamePart {
        part: name.to_owned(),
        mean_us: excess.map(|_| 1_000.0 * share),
        share: excess.map(|_| Estimate { value: share, low: None, high: None }),
        slow_us: excess.map(|excess| 1_000.0 * share + excess),
        excess_us: excess,
    };
    let more = more_work + more_frequency.unwrap_or_default();
    BlameCell {
        workload: "car".to_owned(),
        condition: condition.to_owned(),
        n: 500,
        response_us: 1_000.0,
        running_us: 1_000.0,
        slow_n: 5,
        slow_response_us: 1_000.0 + more,
        rest_response_us: 1_000.0,
        basis: Vec::new(),
        mhz: Some(1_000.0),
        parts: vec![part("work", 0.75, Some(more_work)), part("frequency", 0.25, more_frequency)],
        culprits: Vec::new(),
        slowest: Vec::new(),
    }
}

fn report(cells: Vec<BlameCell>) -> Report {
    let blame = BlameRun {
        run: "run".to_owned(),
        windows: 500,
        uncovered: 0,
        uncertainty_us: 0.0,
        cells,
        missing: Vec::new(),
    };
    Report { blame: vec![blame], ..sample::bench() }
}

fn text(report: &Report, verbose: bool) -> String {
    render(report, &TerminalOptions { width: 120, verbose, ..TerminalOptions::default() })
}

/// The lines of the table of slow windows, its title first.
fn slow(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.starts_with("What the slowest 1 %"));
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn rows_without_a_difference_are_left_out_and_counted() {
    let cells = vec![
        cell("slower", 30.0, Some(0.0002)),
        cell("alike", 0.0003, Some(0.0)),
        cell("hardly", 0.2, Some(0.1)),
    ];
    let report = report(cells);
    let short = text(&report, false);
    let table = slow(&short);
    assert!(table[0].ends_with("(2 rows without a difference left out)"), "{short}");
    assert_eq!(table.len(), 3, "title, head and one row\n{short}");
    assert!(table[2].contains("slower") && table[2].contains("+30.0"), "{short}");
    // Everything but what reads 0.000.
    let full = text(&report, true);
    let table = slow(&full);
    assert!(table[0].ends_with("(1 row without a difference left out)"), "{full}");
    assert!(table.iter().any(|line| line.contains("hardly") && line.contains("+0.200")), "{full}");
    assert!(!table.iter().any(|line| line.contains("alike")), "{full}");
    assert!(!full.contains("+0.000"), "{full}");
}

#[test]
fn a_table_of_nothing_is_not_shown() {
    let report = report(vec![cell("alike", 0.0, Some(0.0)), cell("as well", 0.0, Some(0.0001))]);
    assert!(slow(&text(&report, false)).is_empty());
    assert!(slow(&text(&report, true)).is_empty());
    assert!(text(&report, false).contains("Blame: what the responses were made of"));
}

#[test]
fn below_max_is_called_a_bound_wherever_it_is_shown() {
    let with = report(vec![cell("slower", 30.0, Some(10.0))]);
    let bound = "below max: at most";
    assert!(text(&with, false).contains(bound));
    assert!(markdown(&with).contains(bound));
    assert!(html::render(&with, &HtmlOptions::default()).contains(bound));
    // Where it is not known, nothing is said of it.
    let without = report(vec![cell("slower", 30.0, None)]);
    assert!(!text(&without, false).contains("below max"));
}
