//! What stands above and below the table: verdicts, disturbances, gaps, and where the files are.

use super::TerminalOptions;
use super::style::Style;
use crate::model::{Comparison, Finding, Report};
use crate::text;

/// Verdicts shown in the short form.
const MAX_VERDICTS: usize = 4;
/// Findings of each kind shown in the short form.
const MAX_FINDINGS: usize = 2;
/// Columns of the longest verdict.
const WORD: usize = 10;
/// Lines of one finding in the short form.
const MAX_LINES: usize = 2;

/// Verdicts in words, the most important first, in at most `room` lines (but never less than one
/// line for each of the first [`MAX_VERDICTS`]).
pub(super) fn verdicts(report: &Report, width: usize, style: Style, room: usize) -> Vec<String> {
    let verbose = room == usize::MAX;
    let mut lines = vec![style.bold("Verdicts")];
    if report.comparisons.is_empty() {
        lines.push("  none: there is one condition, so there is nothing to compare".to_owned());
    }
    let limit = if verbose { usize::MAX } else { MAX_VERDICTS };
    let shown = &report.comparisons[..report.comparisons.len().min(limit)];
    let mut closing = Vec::new();
    if report.comparisons.len() > limit {
        let more = text::count((report.comparisons.len() - limit) as u64, "more comparison");
        closing.push(style.dim(&format!("  ... and {more}: --verbose")));
    }
    for warning in report.warnings.iter().take(if verbose { usize::MAX } else { 1 }) {
        let mut warning = labelled("Warning", &text::plain(warning), width, style, true);
        if !verbose {
            warning = cut(warning, 1, width);
        }
        closing.extend(warning);
    }
    let titles = shown.iter().map(|c| text::width(&text::plain(&c.title)));
    let title = titles.max().unwrap_or(0).min(width * 2 / 5);
    let indent = 2 + title + 2 + WORD + 2;
    let sentences: Vec<Vec<String>> = shown
        .iter()
        .map(|c| text::wrap(&text::plain(&c.sentence), width.saturating_sub(indent)))
        .collect();
    // Every verdict has its line; what is left goes to the most important ones first.
    let mut spare = room.saturating_sub(lines.len() + closing.len() + shown.len());
    for (comparison, sentence) in shown.iter().zip(sentences) {
        let keep = sentence.len().min(1 + spare).max(1);
        spare -= keep - 1;
        lines.extend(verdict(comparison, title, &cut(sentence, keep, width - indent), style));
    }
    lines.extend(closing);
    lines
}

fn verdict(c: &Comparison, title: usize, sentence: &[String], style: Style) -> Vec<String> {
    let indent = 2 + title + 2 + WORD + 2;
    let name = text::truncate(&text::plain(&c.title), title);
    let word = text::verdict(c.verdict).to_uppercase();
    let mut lines = Vec::new();
    for (i, part) in sentence.iter().enumerate() {
        lines.push(if i == 0 {
            let gap = " ".repeat(title.saturating_sub(text::width(&name)) + 2);
            let after = " ".repeat(WORD.saturating_sub(word.len()) + 2);
            format!("  {name}{gap}{}{after}{part}", style.verdict(c.verdict, &word))
        } else {
            format!("{}{part}", " ".repeat(indent))
        });
    }
    lines
}

/// The first `keep` lines, an ellipsis where more followed; at least one line.
fn cut(mut lines: Vec<String>, keep: usize, columns: usize) -> Vec<String> {
    if lines.len() > keep {
        let rest = lines[keep - 1..].join(" ");
        lines.truncate(keep - 1);
        lines.push(text::truncate(&rest, columns));
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// `text` wrapped; in the short form cut after [`MAX_LINES`].
fn clipped(sentence: &str, columns: usize, verbose: bool) -> Vec<String> {
    cut(text::wrap(sentence, columns), if verbose { usize::MAX } else { MAX_LINES }, columns)
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
            n if n > 0 && !options.verbose => {
                format!("  and {}", text::count(n as u64, "more run"))
            }
            _ => String::new(),
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
