//! JSON, CSV and Markdown, and that the documented schema is the one in force.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at the first surprise and reads the documents itself"
)]

use crate::sample;

use std::path::Path;

use flyball_report::export::{cells_csv, comparisons_csv, json, markdown, schema};
use flyball_report::model::Report;

#[test]
fn json_comes_back_as_the_same_report() {
    for report in [sample::bench(), sample::cortex()] {
        let back: Report = serde_json::from_str(&json(&report).unwrap()).unwrap();
        assert!(back == report, "something got lost");
    }
}

/// `UPDATE_DOCS=1 cargo test -p flyball-report` rewrites the document.
#[test]
fn the_documented_schema_is_current() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/report.schema.json");
    let current = schema().unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &current).unwrap();
    }
    let documented = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        documented == current,
        "stale: run UPDATE_DOCS=1 cargo test -p flyball-report --test together export"
    );
}

/// Splits a CSV line as RFC 4180 says.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

#[test]
fn every_csv_line_has_every_field() {
    for report in [sample::bench(), sample::cortex(), sample::awkward(12)] {
        for text in [cells_csv(&report), comparisons_csv(&report)] {
            let header = fields(text.lines().next().unwrap()).len();
            for line in text.lines() {
                assert_eq!(fields(line).len(), header, "{line}");
            }
        }
        assert_eq!(cells_csv(&report).lines().count(), report.cells.len() + 1);
    }
}

#[test]
fn csv_keeps_full_precision_and_disarms_formulas() {
    let report = sample::bench();
    let text = cells_csv(&report);
    assert!(text.contains(&format!(",{},", report.cells[0].execution.mean_us)));
    let mut hostile = sample::bench();
    hostile.cells[0].workload = "=HYPERLINK(\"x\")".to_owned();
    assert!(cells_csv(&hostile).contains("\"'=HYPERLINK(\"\"x\"\")\""));
}

#[test]
fn strata_are_in_the_comparisons_table() {
    let text = comparisons_csv(&sample::cortex());
    assert!(text.contains("like_for_like,,E at 600 MHz,true,,1.001,0.992,1.011"), "{text}");
}

#[test]
fn markdown_cannot_be_injected() {
    let text = markdown(&sample::awkward(8));
    // Commands stand in code spans, where angle brackets are harmless.
    for line in text.lines().filter(|l| !l.starts_with("- ")) {
        assert!(!line.contains("<script") && !line.contains("<img"), "{line}");
    }
    let table: Vec<_> = text.lines().filter(|l| l.starts_with("| ")).collect();
    for line in table {
        let bars = line.replace("\\|", "").matches('|').count();
        assert!(bars == 5 || bars == 9, "{bars} bars in {line}");
    }
}

#[test]
fn markdown_reads_as_kept() {
    insta::assert_snapshot!("markdown", markdown(&sample::cortex()));
}
