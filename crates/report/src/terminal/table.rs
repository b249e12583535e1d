//! The table of a report: one line per workload and condition while that is few lines, one per
//! condition beyond.

use super::columns::{Align, Table};
use super::style::Style;
use crate::model::{Cell, Report};
use crate::text;
use crate::view::{self, Group};

/// Most rows of the table per cell; more cells are condensed unless verbose.
const MAX_ROWS: usize = 10;

/// Heading of the column that gives way first.
const P99_INTERVAL: &str = "95 % of p99";

/// The main table.
pub(super) fn cells(report: &Report, width: usize, style: Style, verbose: bool) -> Vec<String> {
    if report.cells.is_empty() {
        return vec!["  No windows: nothing was measured.".to_owned()];
    }
    if report.cells.len() <= MAX_ROWS || verbose {
        per_cell(report, width, style)
    } else {
        per_group(report, width, style)
    }
}

fn per_cell(report: &Report, width: usize, style: Style) -> Vec<String> {
    let groups = view::groups(report);
    let wake_ups = view::measured(&report.cells) == "wake-up latency";
    let median = if wake_ups { "wake-up median us" } else { "median us" };
    let mut table = Table::new(&[
        ("workload", Align::Left),
        ("condition", Align::Left),
        (median, Align::Right),
        ("95 %", Align::Left),
        ("p99 us", Align::Right),
        (P99_INTERVAL, Align::Left),
        ("late p99 us", Align::Right),
        (frequency_title(report), Align::Right),
        ("where", Align::Left),
    ])
    .expendable(&[P99_INTERVAL, "late p99 us", "where"]);
    let mut last = String::new();
    for workload in view::workloads(report) {
        for group in &groups {
            let Some(cell) = view::cell(report, &workload, group) else { continue };
            let shown = if last == workload { String::new() } else { text::plain(&workload) };
            last.clone_from(&workload);
            table.rows.push(cell_row(cell, group, shown));
        }
    }
    // The interval of p99 gives way before names are wrapped.
    let wide = table.natural_width() > width;
    if wide {
        table.drop_column(5);
    }
    let mut lines = table.lines(width, style);
    if wide {
        lines.push(style.dim("  the intervals of p99 are on the page, and in a wider terminal"));
    }
    lines
}

fn cell_row(cell: &Cell, group: &Group, workload: String) -> Vec<String> {
    let interval = |e| text::interval(e).unwrap_or_else(|| "[none]".to_owned());
    let mark = if cell.modes.mixture {
        format!(" {} modes", cell.modes.modes.len())
    } else {
        String::new()
    };
    vec![
        workload,
        text::plain(&group.label),
        text::micros(cell.execution.median_us.value),
        interval(&cell.execution.median_us) + &mark,
        text::micros(cell.execution.p99_us.value),
        interval(&cell.execution.p99_us),
        cell.lateness.as_ref().map_or_else(|| "-".to_owned(), |l| text::micros(l.p99_us.value)),
        cell.delivered.as_ref().map_or_else(|| "?".to_owned(), text::delivered),
        text::plain(&cell.placement.summary),
    ]
}

/// `GHz`, or `speed` where some cells know their frequency only as percent of the best seen.
fn frequency_title(report: &Report) -> &'static str {
    let relative = report.cells.iter().filter_map(|c| c.delivered.as_ref()).any(text::is_percent);
    if relative { "of best" } else { "GHz" }
}

fn per_group(report: &Report, width: usize, style: Style) -> Vec<String> {
    let mut table = Table::new(&[
        ("condition", Align::Left),
        ("geo-mean us", Align::Right),
        ("95 %", Align::Left),
        ("mixtures", Align::Right),
        ("late p99 us", Align::Right),
        (frequency_title(report), Align::Right),
        ("where", Align::Left),
    ]);
    for group in view::groups(report) {
        let cells: Vec<&Cell> = view::cells_of(report, &group).collect();
        table.rows.push(group_row(report, &group, &cells));
    }
    let rows = table.rows.len();
    table.rows.truncate(MAX_ROWS);
    let mut lines = table.lines(width, style);
    if rows > MAX_ROWS {
        lines.push(
            style.dim(&format!("  ... and {}", text::count((rows - MAX_ROWS) as u64, "condition"))),
        );
    }
    let note = format!(
        "  geometric mean of the medians of {}; all {} with --verbose",
        text::count(view::workloads(report).len() as u64, "workload"),
        text::count(report.cells.len() as u64, "cell")
    );
    lines.push(style.dim(&note));
    lines
}

fn group_row(report: &Report, group: &Group, cells: &[&Cell]) -> Vec<String> {
    let mean = view::geometric_mean(report, group);
    let mixtures = cells.iter().filter(|c| c.modes.mixture).count();
    let late =
        cells.iter().filter_map(|c| c.lateness.as_ref()).map(|l| l.p99_us.value).reduce(f64::max);
    vec![
        text::plain(&group.label),
        mean.map_or_else(|| "-".to_owned(), |m| text::micros(m.median_us.value)),
        mean.and_then(|m| text::interval(&m.median_us)).unwrap_or_else(|| "[none]".to_owned()),
        format!("{mixtures} of {}", cells.len()),
        late.map_or_else(|| "-".to_owned(), text::micros),
        span(cells),
        one_or_several(cells),
    ]
}

/// Delivered frequency over the cells of a group: one figure, or lowest to highest.
fn span(cells: &[&Cell]) -> String {
    let known: Vec<_> = cells.iter().filter_map(|c| c.delivered.as_ref()).collect();
    let by_median = |a: &&&_, b: &&&_| {
        let (a, b): (&crate::model::Delivered, &crate::model::Delivered) = (a, b);
        a.median.total_cmp(&b.median)
    };
    match (known.iter().min_by(by_median), known.iter().max_by(by_median)) {
        (Some(low), Some(high)) if text::delivered(low) == text::delivered(high) => {
            text::delivered(low)
        }
        (Some(low), Some(high)) => format!("{} to {}", text::delivered(low), text::delivered(high)),
        _ => "?".to_owned(),
    }
}

fn one_or_several(cells: &[&Cell]) -> String {
    let mut places: Vec<&str> = cells.iter().map(|c| c.placement.summary.as_str()).collect();
    places.dedup();
    match places.as_slice() {
        [one] => text::plain(one),
        _ => "several".to_owned(),
    }
}
