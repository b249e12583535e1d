//! What the verdicts rest on: strata, frequency, load, checks, method.

use maud::{Markup, html};

use super::page::Section;
use crate::kinds::Kind;
use crate::model::{Finding, Report};
use crate::sheets::{comparisons, evidence};
use crate::text;

/// Ratios inside strata, explained; none where no comparison has any.
pub(super) fn like_for_like(report: &Report) -> Option<Section> {
    let table = comparisons::like_for_like(report);
    if table.rows.is_empty() {
        return None;
    }
    let body = html! {
        p.lead {
            "A pooled ratio compares everything under one condition with everything under another. \
             If the two ran on different kinds of core, or at different speeds in different shares, that ratio says \
             more about where the windows ran than about the condition. So each ratio is formed again inside groups \
             that are alike. Where the group was guessed from the modes and not recorded, it says inferred. At equal \
             delivered frequency only windows of the same speed are compared, in steps of 2 %: what is left there has \
             another cause than frequency."
        }
        div.panel { (table.html()) }
    };
    Some(Section::new("like-for-like", "Like for like", "Like for like", body))
}

/// Frequency logs and proof of load.
pub(super) fn frequency_and_load(report: &Report) -> Section {
    let (frequencies, loads) = (evidence::frequencies(report), evidence::loads(report));
    let body = html! {
        p.lead {
            "What shows that each condition was in force: the frequency that was delivered, not only claimed, \
             and the load that really ran."
        }
        @for (table, none) in [(frequencies, "No frequency was recorded."), (loads, "No load was recorded.")] {
            div.panel {
                h3 { (table.title) }
                @if table.rows.is_empty() { p.muted { (none) } } @else { (table.html()) }
            }
        }
    };
    Section::new("evidence", "Evidence", "Evidence", body)
}

/// What disturbed, and what was not checked.
pub(super) fn findings(report: &Report) -> Section {
    let none = match report.disturbances_recorded() {
        true => "Nothing was seen.",
        false => "Nothing that would show it was recorded.",
    };
    let body = html! {
        p.lead { "Disturbed windows are kept and marked, never dropped." }
        div.two {
            (list("What disturbed the measurement", none, &report.disturbances))
            (list("What could not be checked", "Everything was checked.", &report.not_checked))
        }
        (evidence::overruns(report).panel())
    };
    Section::new("checks", "Checks", "Checks", body)
}

fn list(title: &str, none: &str, findings: &[Finding]) -> Markup {
    html! {
        div.panel {
            h3 { (title) }
            @if findings.is_empty() { p.muted { (none) } } @else {
                ul.findings { @for finding in findings {
                    li {
                        b { (finding.object) } ": " (finding.text)
                        @if let Some(hint) = &finding.hint {
                            div.cmd {
                                code tabindex="0" { (hint) }
                                button.copy type="button" hidden { "Copy" }
                            }
                        }
                    }
                } }
            }
        }
    }
}

/// How it was measured, and the tests behind the intervals.
pub(super) fn method(report: &Report) -> Section {
    let kinds = Kind::of(report);
    let measured = kinds.contains(&Kind::Windows);
    let title = if measured { "How it was measured" } else { "Where it comes from" };
    let body = html! {
        div.panel {
            dl { @for (name, value) in terms(report, &kinds) { dt { (name) } dd { (value) } } }
            (tests(report))
        }
    };
    Section::new("method", "Method", title, body)
}

fn terms(report: &Report, kinds: &[Kind]) -> Vec<(&'static str, String)> {
    let b = &report.bootstrap;
    let mut terms = Vec::new();
    if kinds.contains(&Kind::Windows) {
        let how = format!("95 %; {}; {} replicates, seed {}", b.method, b.replicates, b.seed);
        terms.push(("Intervals", how));
    } else if kinds.contains(&Kind::Events) {
        let what = "1 to 99 % of the phases; what is recorded is one of them";
        terms.push(("Ranges", what.to_owned()));
    } else {
        let how = "95 %; repetitions are resampled, each with its own samples";
        terms.push(("Intervals", how.to_owned()));
    }
    if let Some(cell) = report.cells.first() {
        terms.push(("Percentiles", cell.execution.estimator.clone()));
        terms.push(("Modes", cell.modes.test.clone()));
    }
    for run in &report.runs {
        let seed = run.seed.map_or_else(String::new, |s| format!(", seed {s}"));
        let tool = run.tool.as_ref().map_or_else(String::new, |t| format!(", made by {t}"));
        let whole = format!("{} ({}, {}{seed}{tool}): {}", run.name, run.kind, run.state, run.path);
        terms.push(("Run", whole));
        terms.extend(run.command.clone().map(|command| ("Command", command)));
        terms.extend(run.core_types.clone().map(|types| ("Core types", types)));
        for o in &run.overheads {
            let (median, p99) = (text::micros(o.median_us), text::micros(o.p99_us));
            terms.push(("Overhead", format!("{}: median {median} us, p99 {p99} us", o.name)));
        }
    }
    terms
}

fn tests(report: &Report) -> Markup {
    let mut keys = vec!["title"];
    keys.extend(comparisons::TESTS);
    let table = comparisons::all(report).pick(&keys);
    html! {
        @if !table.rows.is_empty() {
            details {
                summary { "How Welch’s t test would judge: by single windows, and by repeats" }
                p.small.muted {
                    "The first test takes all windows for independent, as is commonly done. Windows of one repeat \
                     are alike, so its p-values are far too small. The second test compares repeats. The \
                     verdict rests on neither of them."
                }
                (table.html())
            }
        }
    }
}
