//! Runs with tables of events: what ran, the tables, what is missing, the time lines.

use super::Style;
use super::TerminalOptions;
use super::sections::labelled;
use crate::model::Report;
use crate::sheets;
use crate::text;
use crate::timeline::{self, Options, RunView};

/// Lines of the short form, so that the answer stays on one screen: of this and what is beside it.
const ROOM: usize = 42;
/// Tables that give way in the short form where there is no room for all: the first one first.
const GIVE_WAY: [&str; 7] =
    ["causes", "utilization", "idle", "changes", "residency", "stages", "running"];
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
    let mut sheets = sheets::all(report, options.detail());
    let (ran, reasons) = (ran(report, width, style), reasons(report, width, style));
    let missing = missing(report, width, style);
    let mut left_out = Vec::new();
    let mut room = None;
    if !options.verbose {
        let lines = |block: &Vec<String>| if block.is_empty() { 0 } else { block.len() + 1 };
        let summary = lines(&views(report, options, width, Some(0)));
        let mut used = [&ran, &reasons, &missing].map(lines).iter().sum::<usize>() + summary;
        used += sheets.iter().map(|table| lines(&table.terminal(width, style))).sum::<usize>();
        for id in GIVE_WAY {
            if used > ROOM
                && let Some(at) = sheets.iter().position(|table| table.id == id)
            {
                let table = sheets.remove(at);
                used -= lines(&table.terminal(width, style));
                left_out.push(table.title.split(':').next().unwrap_or_default().to_owned());
            }
        }
        room = Some((ROOM + summary).saturating_sub(used));
    }
    let mut blocks = vec![ran, reasons];
    blocks.extend(sheets.iter().map(|table| table.terminal(width, style)));
    blocks.push(missing);
    blocks.push(views(report, options, width, room));
    if !left_out.is_empty() {
        let titles = text::plain(&left_out.join("; "));
        blocks.push(labelled("Left out", &titles, width, style, usize::MAX));
    }
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

/// The time lines side by side: the summary, the plots that there is room for, and with `--verbose` all
/// residencies.
fn views(
    report: &Report,
    options: &TerminalOptions,
    width: usize,
    room: Option<usize>,
) -> Vec<String> {
    let mut views = report.time_lines();
    if views.is_empty() {
        return Vec::new();
    }
    let all = views.len();
    let mut how = Options { width: Some(width), color: options.color, ..Options::default() };
    how.charset = options.charset;
    how.estimates = options.verbose;
    how.room = room;
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
