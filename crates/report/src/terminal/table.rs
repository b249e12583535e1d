//! The table of a report: one line per workload and condition while that is few lines, one per
//! condition beyond.

use super::Style;
use crate::model::Report;
use crate::sheets::{cells, evidence};
use crate::{text, view};

/// Most rows of the table; more cells are condensed to conditions unless verbose.
const MAX_ROWS: usize = 10;

/// The main table.
pub(super) fn main(report: &Report, width: usize, style: Style, verbose: bool) -> Vec<String> {
    if report.cells.is_empty() {
        return vec!["  No windows: nothing was measured.".to_owned()];
    }
    if report.cells.len() <= MAX_ROWS || verbose {
        return cells::shown(report).pick(&cells::MAIN).without_empty_columns().lines(width, style);
    }
    let mut table = evidence::conditions(report);
    if let Some(left) = table.rows.len().checked_sub(MAX_ROWS).filter(|left| *left > 0) {
        table.rows.truncate(MAX_ROWS);
        table.notes.push(format!("... and {}", text::count(left as u64, "condition")));
    }
    table.notes.push(format!(
        "geometric mean of the medians of {}; {} in all",
        text::count(view::workloads(report).len() as u64, "workload"),
        text::count(report.cells.len() as u64, "cell")
    ));
    table.lines(width, style)
}
