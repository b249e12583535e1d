//! Runs of events against one another: figures with their changes, and what qualifies them.

use super::Detail;
use crate::model::{ChangeKind, Report, TraceComparison, TraceFigure, VerdictWord};
use crate::table::{Cell, Column, Table};
use crate::text;

/// Figures of a comparison in the short form: those with an effect first.
const ROWS: usize = 14;

/// One table per comparison.
pub(super) fn figures(report: &Report, detail: Detail) -> Vec<Table> {
    report.traces.iter().map(|comparison| sheet(comparison, detail)).collect()
}

/// What confounds or limits the comparisons, each with whose it is.
pub(crate) fn reasons(report: &Report) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for comparison in &report.traces {
        for reason in &comparison.reasons {
            found.push((comparison.title.clone(), reason.text.clone()));
        }
    }
    found
}

fn sheet(comparison: &TraceComparison, detail: Detail) -> Table {
    let columns = [
        Column::words("figure"),
        Column::number("baseline"),
        Column::number("subject"),
        Column::number("change [95 %]"),
        Column::words("verdict"),
    ];
    let mut figures: Vec<&TraceFigure> = comparison.figures.iter().collect();
    let all = figures.len();
    if detail == Detail::Short && all > ROWS {
        // Stable: within both kinds the order stays.
        figures.sort_by_key(|figure| figure.verdict != VerdictWord::Effect);
        figures.truncate(ROWS);
    }
    let left = match all - figures.len() {
        0 => String::new(),
        n => format!(", {n} more not shown"),
    };
    let title = format!(
        "{}: {} ({}; equal within {}{left})",
        text::plain(&comparison.title),
        text::verdict(comparison.verdict).to_uppercase(),
        comparison.units,
        text::share(comparison.margin),
    );
    Table::new("traces", title, columns.into()).rows(figures.into_iter().map(row))
}

fn row(figure: &TraceFigure) -> Vec<Cell> {
    let value = |value: f64| {
        Cell::number(Some(value), |v| match figure.unit.as_str() {
            "" => text::share(v),
            unit => format!("{} {unit}", text::number(v, if v.abs() < 100.0 { 2 } else { 0 })),
        })
    };
    vec![
        Cell::text(figure.name.clone()),
        value(figure.baseline),
        value(figure.subject),
        Cell::keyed(change(figure), figure.change.value),
        Cell::text(text::verdict(figure.verdict)),
    ]
}

/// `-5.3 % [-6.1, -4.4]`, or the difference in points or in the unit.
fn change(figure: &TraceFigure) -> String {
    let (scale, shift, unit) = match (figure.change_is, figure.unit.as_str()) {
        (ChangeKind::Ratio, _) => (100.0, 1.0, "%"),
        (ChangeKind::Difference, "") => (100.0, 0.0, "points"),
        (ChangeKind::Difference, unit) => (1.0, 0.0, unit),
    };
    // Beyond it nobody reads digits.
    let show = |v: f64| {
        let v = (v - shift) * scale;
        if v.abs() < 1e5 { format!("{v:+.1}") } else { format!("{v:+.0e}") }
    };
    let change = figure.change;
    let interval = match (change.low, change.high) {
        (Some(low), Some(high)) if high < 1e9 => format!("[{}, {}]", show(low), show(high)),
        _ => "[no interval]".to_owned(),
    };
    format!("{} {unit} {interval}", show(change.value))
}
