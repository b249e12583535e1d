//! The page: nothing can be injected, nothing is fetched, and it stays small.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at the first surprise and keeps what it drew under target/"
)]

use crate::sample;

use flyball_report::html::{HtmlOptions, render};

fn page(report: &flyball_report::model::Report) -> String {
    render(report, &HtmlOptions::default())
}

/// The page without its own style and script.
fn body(html: &str) -> &str {
    let start = html.find("<body>").unwrap();
    &html[start..html.rfind("<script>").unwrap()]
}

#[test]
fn hostile_names_stay_text() {
    let html = page(&sample::awkward(8));
    assert_eq!(html.matches("<script").count(), 1, "only the page's own script");
    assert!(!body(&html).contains("<img") && !body(&html).contains('\u{1b}'));
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn nothing_is_fetched_and_no_style_is_inline() {
    for html in [page(&sample::bench()), page(&sample::cortex())] {
        let body = body(&html);
        for forbidden in
            ["http://", "https://", "src=", " style=", "onclick", "@import", "javascript:"]
        {
            assert!(!body.contains(forbidden), "found {forbidden}");
        }
        assert!(html.contains("default-src 'none'"));
    }
}

#[test]
fn verdicts_come_first_and_every_section_is_there() {
    let html = page(&sample::cortex());
    let sections =
        ["verdicts", "workloads", "like-for-like", "evidence", "checks", "method", "cells"];
    let at: Vec<_> =
        sections.iter().map(|s| html.find(&format!("<section id=\"{s}\"")).unwrap()).collect();
    assert!(at.is_sorted(), "{at:?}");
    assert!(html.contains("pooled, not to be read alone"));
    assert!(html.contains("1.00x [0.99, 1.01]"));
}

#[test]
fn tags_are_balanced() {
    for report in [sample::bench(), sample::cortex(), sample::awkward(40), sample::awkward(0)] {
        let html = page(&report);
        for tag in [
            "div", "section", "article", "table", "tr", "td", "th", "figure", "svg", "text",
            "title", "ul", "li", "span", "p", "details", "button",
        ] {
            let open = html.matches(&format!("<{tag}>")).count()
                + html.matches(&format!("<{tag} ")).count();
            let closed = html.matches(&format!("</{tag}>")).count();
            let own_closing = if tag == "text" { 0 } else { closed };
            assert!(
                open == closed || (tag == "text" && open >= own_closing),
                "{tag}: {open} opened, {closed} closed"
            );
        }
        assert!(!body(&html).contains("NaN") && !body(&html).contains(">inf<"));
    }
}

#[test]
fn a_large_report_stays_under_its_bound() {
    let mut report = sample::cortex();
    let template = report.cells.clone();
    report.cells = (0..40)
        .map(|i| {
            let mut cell = template[i % 16].clone();
            cell.condition = format!("condition {}", i / 4);
            cell.run = "one".to_owned();
            cell.workload = format!("workload {}", i % 4);
            cell
        })
        .collect();
    let size = page(&report).len();
    assert!(size < 1_500_000, "{size} bytes");
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(page(&sample::bench()), page(&sample::bench()));
}
