//! What the responses were made of, and what was not recorded.

use super::Style;
use super::TerminalOptions;
use super::sections::labelled;
use crate::model::Report;
use crate::sheets::blame;
use crate::text;

/// The tables, then what to know about them; nothing where no run has events beside its windows.
pub(super) fn blocks(
    report: &Report,
    options: &TerminalOptions,
    width: usize,
    style: Style,
) -> Vec<Vec<String>> {
    let sheets = blame::sheets(report, options.detail());
    let mut blocks: Vec<Vec<String>> =
        sheets.iter().map(|table| table.terminal(width, style)).collect();
    let several = report.blame.len() > 1;
    let remarks = blame::remarks(report).into_iter().enumerate();
    let remark = |(at, (run, what)): (usize, (String, String))| {
        let label = if at == 0 { "Not recorded" } else { "" };
        let body = if several { format!("{run}: {what}") } else { what };
        labelled(label, &text::plain(&body), width, style, usize::MAX)
    };
    blocks.push(remarks.flat_map(remark).collect());
    blocks
}
