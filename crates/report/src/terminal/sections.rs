//! What stands above and below the table: verdicts, disturbances, gaps, and where the files are.

use super::TerminalOptions;
use super::style::Style;
use crate::model::{Comparison, Finding, Report};
use crate::text;

/// Verdicts shown in the short form.
const MAX_VERDICTS: usize = 4;
/// Findings of each kind shown in the short form.
const MAX_FINDINGS: usize = 2;
/// Lines of one sentence in the short form.
const MAX_LINES: usize = 2;

/// Verdicts in words, the most important first.
pub(super) fn verdicts(report: &Report, width: usize, style: Style, verbose: bool) -> Vec<String> {
    let mut lines = vec![style.bold("Verdicts")];
    if report.comparisons.is_empty() {
        lines.push("  none: there is one condition, so there is nothing to compare".to_owned());
    }
    let limit = if verbose { usize::MAX } else { MAX_VERDICTS };
    let shown = &report.comparisons[..report.comparisons.len().min(limit)];
    let title =
        shown.iter().map(|c| text::width(&text::plain(&c.title))).max().unwrap_or(0).min(width / 3);
    for comparison in shown {
        lines.extend(verdict(comparison, title, width, style, verbose));
    }
    if report.comparisons.len() > limit {
        let more = text::count((report.comparisons.len() - limit) as u64, "more comparison");
        lines.push(style.dim(&format!("  ... and {more}: --verbose")));
    }
    for warning in report.warnings.iter().take(if verbose { usize::MAX } else { 1 }) {
        lines.extend(labelled("Warning", &text::plain(warning), width, style, verbose));
    }
    lines
}

fn verdict(c: &Comparison, title: usize, width: usize, style: Style, verbose: bool) -> Vec<String> {
    const WORD: usize = 10;
    let indent = 2 + title + 2 + WORD + 2;
    let sentence = clipped(&text::plain(&c.sentence), width.saturating_sub(indent), verbose);
    let name = text::truncate(&text::plain(&c.title), title);
    let word = text::verdict(c.verdict).to_uppercase();
    let mut lines = Vec::new();
    for (i, part) in sentence.iter().enumerate() {
        lines.push(if i == 0 {
            let gap = " ".repeat(title - text::width(&name) + 2);
            let after = " ".repeat(WORD.saturating_sub(word.len()) + 2);
            format!("  {name}{gap}{}{after}{part}", style.verdict(c.verdict, &word))
        } else {
            format!("{}{part}", " ".repeat(indent))
        });
    }
    lines
}

/// `text` wrapped; in the short form cut after [`MAX_LINES`] with an ellipsis.
fn clipped(sentence: &str, columns: usize, verbose: bool) -> Vec<String> {
    let mut lines = text::wrap(sentence, columns);
    if !verbose && lines.len() > MAX_LINES {
        let rest = lines[MAX_LINES - 1..].join(" ");
        lines.truncate(MAX_LINES - 1);
        lines.push(text::truncate(&rest, columns));
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// A label in the margin and wrapped text beside it.
fn labelled(label: &str, body: &str, width: usize, style: Style, verbose: bool) -> Vec<String> {
    const MARGIN: usize = 13;
    let pad = " ".repeat(MARGIN.saturating_sub(text::width(label)));
    clipped(body, width.saturating_sub(MARGIN), verbose)
        .into_iter()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("{}{pad}{line}", style.bold(label)),
            _ => format!("{}{line}", " ".repeat(MARGIN)),
        })
        .collect()
}

/// What disturbed, what could not be checked, where the run and the page are.
pub(super) fn closing(
    report: &Report,
    options: &TerminalOptions,
    width: usize,
    style: Style,
) -> Vec<String> {
    let mut lines =
        findings("Disturbed", "nothing seen", &report.disturbances, width, style, options.verbose);
    if !report.not_checked.is_empty() {
        lines.extend(findings(
            "Not checked",
            "",
            &report.not_checked,
            width,
            style,
            options.verbose,
        ));
    }
    let own = report.runs.iter().map(|r| r.path.clone()).collect();
    let runs: Vec<String> = if options.runs.is_empty() { own } else { options.runs.clone() };
    for (i, run) in runs.iter().enumerate().take(if options.verbose { usize::MAX } else { 1 }) {
        let more = match runs.len() - 1 {
            0 => String::new(),
            n if options.verbose || i > 0 => {
                let _ = n;
                String::new()
            }
            n => format!("  and {}", text::count(n as u64, "more run")),
        };
        lines.push(path_line(if i == 0 { "Run" } else { "" }, &(text::plain(run) + &more), style));
    }
    if let Some(page) = &options.page {
        lines.push(path_line("Page", &text::plain(page), style));
    }
    lines
}

/// A path is never cut or wrapped: it is there to be copied.
fn path_line(label: &str, path: &str, style: Style) -> String {
    format!("{}{}{path}", style.bold(label), " ".repeat(13 - label.len()))
}

fn findings(
    label: &str,
    none: &str,
    findings: &[Finding],
    width: usize,
    style: Style,
    verbose: bool,
) -> Vec<String> {
    if findings.is_empty() {
        return labelled(label, none, width, style, verbose);
    }
    let limit = if verbose { usize::MAX } else { MAX_FINDINGS };
    let mut lines = Vec::new();
    for (i, finding) in findings.iter().take(limit).enumerate() {
        let body = format!("{}: {}", text::plain(&finding.object), text::plain(&finding.text));
        lines.extend(labelled(if i == 0 { label } else { "" }, &body, width, style, verbose));
        if let Some(hint) = &finding.hint {
            // A command is not wrapped either: it must survive being copied.
            lines.push(format!(
                "{}{}",
                " ".repeat(13),
                style.dim(&format!("$ {}", text::plain(hint)))
            ));
        }
    }
    if findings.len() > limit {
        let more = format!("... and {} more: --verbose", findings.len() - limit);
        lines.push(format!("{}{}", " ".repeat(13), style.dim(&more)));
    }
    lines
}
