//! What the responses were made of: the mean, what made the slow ones slow, and the slowest.

use super::Detail;
use crate::model::{BlameCell, BlamePart, BlameRun, Report};
use crate::table::{Cell, Column, Table};
use crate::text;

/// Rows in the short form.
const ROWS: usize = 12;

/// Names of the parts as heads of columns.
const HEADS: [(&str, &str); 10] = [
    ("work", "work"),
    ("frequency", "below max"),
    ("idle_exit", "idle exit"),
    ("interrupts", "interrupts"),
    ("queue", "queue"),
    ("preemption", "preempted"),
    ("slept", "slept"),
    ("backlog", "backlog"),
    ("steal", "steal"),
    ("unexplained", "unexplained"),
];

/// A part that is nowhere as large as this share of a response gets no column in the short form:
/// it would read 0.0 %.
const VISIBLE: f64 = 0.0005;

/// Shorter than this, a time in microseconds reads 0.000.
const NOTHING_US: f64 = 0.0005;

/// Every table that has rows.
pub(crate) fn sheets(report: &Report, detail: Detail) -> Vec<Table> {
    let mut sheets = vec![means(report, detail), slow(report, detail)];
    if detail == Detail::Full {
        sheets.push(slowest(report));
    }
    sheets.retain(|sheet| !sheet.rows.is_empty());
    sheets
}

/// What the parts mean, and what was not recorded: run and sentence.
pub(crate) fn remarks(report: &Report) -> Vec<(String, String)> {
    let mut remarks = Vec::new();
    for run in &report.blame {
        remarks.extend(run.missing.iter().map(|text| (run.run.clone(), text.clone())));
        if run.uncertainty_us > 0.0 {
            let us = text::micros(run.uncertainty_us);
            remarks.push((run.run.clone(), format!("times of events are sure to {us} us only")));
        }
    }
    remarks
}

fn cells(report: &Report) -> impl Iterator<Item = (&BlameRun, &BlameCell)> {
    report.blame.iter().flat_map(|run| run.cells.iter().map(move |cell| (run, cell)))
}

fn part<'a>(cell: &'a BlameCell, name: &str) -> Option<&'a BlamePart> {
    cell.parts.iter().find(|part| part.part == name)
}

/// The parts that get a column: those known in any of `cells`, and in the short form large enough
/// to see.
fn shown(
    cells: &[(&BlameRun, &BlameCell)],
    detail: Detail,
    size: impl Fn(&BlameCell, &BlamePart) -> Option<f64>,
) -> Vec<(&'static str, &'static str)> {
    let seen = |name: &str| {
        let least = if detail == Detail::Full { 0.0 } else { VISIBLE };
        cells.iter().any(|(_, cell)| {
            let size = part(cell, name).and_then(|part| size(cell, part));
            size.is_some_and(|size| size.abs() >= least)
        })
    };
    HEADS.into_iter().filter(|(name, _)| seen(name)).collect()
}

/// Names of run, workload and condition: the run's only where there are several.
fn names(report: &Report, run: &BlameRun, cell: &BlameCell) -> Vec<Cell> {
    let run = (report.blame.len() > 1).then(|| Cell::text(run.run.as_str()));
    let rest = [Cell::text(cell.workload.as_str()), Cell::text(cell.condition.as_str())];
    run.into_iter().chain(rest).collect()
}

fn heads<const N: usize>(report: &Report, more: [Column; N]) -> Vec<Column> {
    let run = (report.blame.len() > 1).then(|| Column::words("run"));
    let names = [Column::words("workload"), Column::words("condition")];
    run.into_iter().chain(names).chain(more).collect()
}

/// Leaves the first rows in the short form, and says how many are left out.
fn shorten(table: &mut Table, detail: Detail) {
    let left = table.rows.len().saturating_sub(ROWS);
    if detail == Detail::Short && left > 0 {
        table.rows.truncate(ROWS);
        table.notes.push(format!("... and {}", text::count(left as u64, "more row")));
    }
}

/// Mean response and the shares of its parts.
fn means(report: &Report, detail: Detail) -> Table {
    let share = |_: &BlameCell, part: &BlamePart| part.share.map(|share| share.value);
    let parts = shown(&cells(report).collect::<Vec<_>>(), detail, share);
    // The only part that is a bound: the table says so itself, wherever it is pasted.
    let bound = parts.iter().any(|(name, _)| *name == "frequency");
    let bound = if bound { "; below max: at most" } else { "" };
    let mut columns = heads(report, [Column::number("mean us")]);
    columns.extend(parts.iter().map(|(_, head)| Column::number(*head)));
    columns.push(Column::number("MHz"));
    let row = |(run, cell): (&BlameRun, &BlameCell)| {
        let mut row = names(report, run, cell);
        row.push(Cell::number(Some(cell.response_us), text::micros));
        row.extend(parts.iter().map(|(name, _)| {
            let share = part(cell, name).and_then(|part| part.share);
            Cell::number(share.map(|share| share.value), |value| {
                let bounds = share.and_then(|share| share.low.zip(share.high));
                match bounds.filter(|_| detail == Detail::Full) {
                    Some((low, high)) => {
                        let percent = |share: f64| text::number(share * 100.0, 1);
                        format!("{} [{}, {}]", text::share(value), percent(low), percent(high))
                    }
                    None => text::share(value),
                }
            })
        }));
        row.push(Cell::number(cell.mhz, |mhz| text::number(mhz, 0)));
        row
    };
    let title = format!("Blame: what the responses were made of (release to end{bound})");
    let mut table = Table::new("blame-mean", title, columns).rows(cells(report).map(row));
    shorten(&mut table, detail);
    table
}

/// By how much the slowest windows took longer than the others.
fn more_us(cell: &BlameCell) -> f64 {
    cell.slow_response_us - cell.rest_response_us
}

/// Whether the slowest windows are slower by anything that can be read: in the short form by what
/// is not 0.0 % of the response.
fn differs(cell: &BlameCell, detail: Detail) -> bool {
    let least = if detail == Detail::Full { 0.0 } else { VISIBLE * cell.response_us };
    more_us(cell) >= least.max(NOTHING_US)
}

/// What the slowest windows have more of than the others.
fn slow(report: &Report, detail: Detail) -> Table {
    let ranked = cells(report).filter(|(_, cell)| cell.n > cell.slow_n);
    let (differ, alike): (Vec<_>, Vec<_>) = ranked.partition(|(_, cell)| differs(cell, detail));
    let of_response = |cell: &BlameCell, part: &BlamePart| Some(part.excess_us? / more_us(cell));
    let parts = shown(&differ, detail, of_response);
    let mut columns =
        heads(report, [Column::number("slowest"), Column::number("us"), Column::number("more us")]);
    columns.extend(parts.iter().map(|(_, head)| Column::number(*head)));
    columns.push(Column::words("who"));
    let signed = |us: f64| match text::micros(us) {
        _ if us.abs() < NOTHING_US => "0".to_owned(),
        text if us > 0.0 => format!("+{text}"),
        text => text,
    };
    let row = |(run, cell): (&BlameRun, &BlameCell)| {
        let mut row = names(report, run, cell);
        row.push(Cell::count(cell.slow_n));
        row.push(Cell::number(Some(cell.slow_response_us), text::micros));
        row.push(Cell::number(Some(more_us(cell)), signed));
        row.extend(parts.iter().map(|(name, _)| {
            Cell::number(part(cell, name).and_then(|part| part.excess_us), signed)
        }));
        row.push(Cell::text(who(cell)));
        row
    };
    let left = match alike.len() {
        0 => String::new(),
        alike => format!(" ({} without a difference left out)", text::count(alike as u64, "row")),
    };
    let title = format!("What the slowest 1 % have more of than the rest, us{left}");
    let mut table = Table::new("blame-slow", title, columns).rows(differ.into_iter().map(row));
    shorten(&mut table, detail);
    table
}

/// The largest culprit of the slowest windows.
fn who(cell: &BlameCell) -> String {
    let found = cell.culprits.first().map(|culprit| {
        format!(
            "{} {} us in {} of {}",
            culprit.who,
            text::micros(culprit.us),
            culprit.windows,
            cell.slow_n
        )
    });
    found.unwrap_or_else(|| "-".to_owned())
}

/// The slowest windows, one by one.
fn slowest(report: &Report) -> Table {
    let numbers = [
        Column::number("window"),
        Column::number("repeat"),
        Column::number("us"),
        Column::number("work us"),
        Column::number("MHz"),
    ];
    let mut columns = heads(report, numbers);
    columns.push(Column::words("most of the rest"));
    let rows = cells(report).flat_map(|(run, cell)| {
        cell.slowest.iter().map(move |window| {
            let work = window.parts.iter().find(|(name, _)| name == "work").map(|(_, us)| *us);
            let mut row = names(report, run, cell);
            row.push(Cell::count(window.seq));
            row.push(Cell::count(u64::from(window.repeat)));
            row.push(Cell::number(Some(window.response_us), text::micros));
            row.push(Cell::number(work, text::micros));
            row.push(Cell::number(window.mhz, |mhz| text::number(mhz, 0)));
            row.push(Cell::text(window.most.clone().unwrap_or_else(|| "-".to_owned())));
            row
        })
    });
    let title = "The slowest windows, and what took most of their time beside the work";
    Table::new("blame-slowest", title, columns).rows(rows)
}
