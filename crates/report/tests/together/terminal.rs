//! The terminal report: order, length, width, alignment and safety.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::sample;

use flyball_report::terminal::{TerminalOptions, render};
use flyball_report::text::width;

fn options(columns: usize) -> TerminalOptions {
    TerminalOptions {
        width: columns,
        page: Some("flyball-runs/20261120T1204Z-bench/report.html".to_owned()),
        ..TerminalOptions::default()
    }
}

#[test]
fn a_quick_run_fits_in_under_25_lines_in_the_promised_order() {
    for columns in [80, 100, 120, 200] {
        let text = render(&sample::bench(), &options(columns));
        assert!(
            text.lines().count() < 25,
            "{columns} columns: {} lines\n{text}",
            text.lines().count()
        );
        let at: Vec<_> = ["Verdicts", "median us", "Disturbed", "Not checked", "Run  ", "Page "]
            .iter()
            .map(|t| text.find(t).unwrap_or_else(|| panic!("{t} is missing\n{text}")))
            .collect();
        assert!(at.is_sorted(), "{text}");
        assert!(text.contains("sudo setcap cap_sys_nice+ep $(command -v flyball)"));
    }
}

#[test]
fn the_quick_report_reads_as_kept() {
    insta::assert_snapshot!("bench", render(&sample::bench(), &options(100)));
}

#[test]
fn mixtures_read_as_kept_and_stay_short() {
    let text = render(&sample::cortex(), &options(100));
    assert!(text.lines().count() < 25, "{} lines\n{text}", text.lines().count());
    insta::assert_snapshot!("cortex", text);
}

#[test]
fn verbose_shows_modes_tests_strata_logs_and_loads() {
    let text = render(&sample::cortex(), &TerminalOptions { verbose: true, ..options(160) });
    for wanted in [
        "ESS",
        "P at 600 MHz",
        "Welch",
        "like for like",
        "1288.2",
        "1363.4",
        "84 %",
        "no achieved load",
        "seed 1",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing\n{text}");
    }
    insta::assert_snapshot!("cortex-verbose", text);
}

#[test]
fn nothing_but_paths_and_commands_is_wider_than_asked() {
    for columns in [80, 132, 200] {
        for report in [sample::bench(), sample::cortex(), sample::awkward(9), sample::awkward(40)] {
            for verbose in [false, true] {
                let text = render(&report, &TerminalOptions { verbose, ..options(columns) });
                for line in text.lines() {
                    let exempt = line.contains("$ ")
                        || line.starts_with("Run")
                        || line.starts_with("Page")
                        || line.starts_with("   ");
                    let wide_table = verbose && line.starts_with("  ");
                    assert!(
                        exempt || wide_table || width(line) <= columns,
                        "{columns}: {} in {line:?}",
                        width(line)
                    );
                }
            }
        }
    }
}

#[test]
fn colour_is_only_where_asked_and_names_cannot_add_any() {
    let report = sample::awkward(8);
    assert!(!render(&report, &options(100)).contains('\u{1b}'));
    let coloured = render(&report, &TerminalOptions { color: true, ..options(100) });
    for (at, _) in coloured.match_indices('\u{1b}') {
        let code: String = coloured[at + 1..].chars().take_while(|c| *c != 'm').collect();
        assert!(
            ["[0", "[1", "[2", "[1;36", "[1;32", "[1;33", "[1;35"].contains(&code.as_str()),
            "{code}"
        );
    }
}

#[test]
fn an_empty_report_says_so() {
    let mut report = sample::bench();
    report.cells.clear();
    report.comparisons.clear();
    let text = render(&report, &options(80));
    assert!(text.contains("No windows") && text.contains("nothing to compare"));
}
