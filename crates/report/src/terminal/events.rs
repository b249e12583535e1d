//! Runs with tables of events: what ran, the tables, what is missing, the time lines.

use super::Style;
use super::TerminalOptions;
use super::sections::labelled;
use crate::model::Report;
use crate::sheets;
use crate::text;
use crate::timeline::{self, Options, RunView};

/// Time lines in the short form.
const VIEWS: usize = 4;
/// Rows of a plot in the short form; its axis shows quarters.
const ROWS: usize = 9;

/// The blocks in their order.
pub(super) fn blocks(
    report: &Report,
    options: &TerminalOptions,
    width: usize,
    style: Style,
) -> Vec<Vec<String>> {
    let mut blocks = vec![ran(report, width, style), reasons(report, width, style)];
    let sheets = sheets::all(report, options.detail());
    blocks.extend(sheets.iter().map(|table| table.terminal(width, style)));
    blocks.push(missing(report, width, style));
    blocks.push(views(report, options, width));
    blocks
}

/// Who, what, under what.
fn ran(report: &Report, width: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    let runs = sheets::runs(report);
    if report.cells.is_empty() {
        // Beside windows the verdicts have said them.
        for warning in &report.warnings {
            lines.extend(labelled("Warning", &text::plain(warning), width, style, usize::MAX));
        }
    }
    for run in runs {
        lines.push(style.bold(&text::truncate(&text::plain(&run.run), width)));
        let facts = run.facts.iter().map(|fact| format!("{} {}", fact.name, fact.value));
        let facts = text::plain(&facts.collect::<Vec<_>>().join("; "));
        lines.extend(text::wrap(&facts, width - 2).into_iter().map(|line| format!("  {line}")));
    }
    lines
}

/// What confounds or limits the comparisons of the runs.
fn reasons(report: &Report, width: usize, style: Style) -> Vec<String> {
    let found = sheets::traces::reasons(report).into_iter();
    let line = |(title, text): (String, String)| {
        labelled("Comparison", &text::plain(&format!("{title}: {text}")), width, style, usize::MAX)
    };
    found.flat_map(line).collect()
}

fn missing(report: &Report, width: usize, style: Style) -> Vec<String> {
    let found = sheets::missing(report).into_iter().enumerate();
    let line = |(at, (whose, what)): (usize, (String, String))| {
        let label = if at == 0 { "Missing" } else { "" };
        labelled(label, &text::plain(&format!("{whose}: {what}")), width, style, usize::MAX)
    };
    found.flat_map(line).collect()
}

/// The time lines side by side: the plots, and with `--verbose` all residencies.
fn views(report: &Report, options: &TerminalOptions, width: usize) -> Vec<String> {
    let mut views = report.time_lines();
    if views.is_empty() {
        return Vec::new();
    }
    let all = views.len();
    let mut how = Options { width: Some(width), color: options.color, ..Options::default() };
    how.charset = options.charset;
    how.estimates = options.verbose;
    if !options.verbose {
        views.truncate(VIEWS);
        views.iter_mut().for_each(shorten);
        how.height = ROWS;
    }
    let mut shown = timeline::render(&views, &how).trim_end().to_owned();
    if views.len() < all {
        let more = text::count((all - views.len()) as u64, "more recording");
        shown.push_str(&format!("\n\n  ... and {more}"));
    }
    let zero = sheets::zero(report).map(|zero| text::wrap(&zero, width - 2)).unwrap_or_default();
    let zero = zero.into_iter().map(|line| format!("  {line}"));
    let lines: Vec<String> = zero.collect();
    let gap = (!lines.is_empty()).then(String::new);
    lines.into_iter().chain(gap).chain(shown.lines().map(str::to_owned)).collect()
}

/// Leaves the plots and the summary; the tables above have said the rest, and what is missing.
fn shorten(view: &mut RunView) {
    view.cpu_time.clear();
    view.frequency_residency.clear();
    view.utilization_residency = None;
    view.unanswered.clear();
    if let Some(running) = &mut view.running_frequency {
        running.cores.clear();
    }
}
