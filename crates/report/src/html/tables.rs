//! The table of all cells, sortable.

use std::fmt::Write as _;

use super::markup::{escape, number_cell, optional_cell, with_interval};
use crate::model::{Cell, Report};
use crate::{text, view};

/// Delivered frequency as a table cell.
pub(super) fn delivered_cell(cell: &Cell) -> String {
    cell.delivered.as_ref().map_or_else(
        || "<td class=\"num muted\" data-value=\"-1\">unknown</td>".to_owned(),
        |d| {
            let unit = if text::is_percent(d) { " of best" } else { " GHz" };
            number_cell(d.median, &escape(&(text::delivered(d) + unit)))
        },
    )
}

/// Every cell with every figure.
pub(super) fn all_cells(out: &mut String, report: &Report) {
    let _ = write!(
        out,
        "<section id=\"cells\" aria-labelledby=\"h-cells\"><h2 id=\"h-cells\">All cells</h2>\
         <p class=\"lead\">{} in microseconds. Select a heading to sort.</p>\
         <div class=\"panel\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All cells\"><table class=\"sortable\"><thead><tr>\
         <th>Workload</th><th>Condition</th><th>Run</th><th class=\"num\">n</th><th class=\"num\">Repeats</th>\
         <th class=\"num\">Median [95 %]</th><th class=\"num\">Mean</th><th class=\"num\">sd</th><th class=\"num\">Min</th>\
         <th class=\"num\">p5</th><th class=\"num\">p95</th><th class=\"num\">p99 [95 %]</th><th class=\"num\">p99.9</th>\
         <th class=\"num\">Max</th><th class=\"num\">Response p99</th><th class=\"num\">Missed</th><th class=\"num\">Lag 1</th>\
         <th class=\"num\">Delivered</th><th>Class</th></tr></thead><tbody>",
        text::capital(view::measured(&report.cells))
    );
    for cell in &report.cells {
        row(out, cell);
    }
    out.push_str("</tbody></table></div></div></section>\n");
}

fn row(out: &mut String, c: &Cell) {
    let e = &c.execution;
    out.push_str("<tr>");
    for name in [&c.workload, &c.condition, &c.run] {
        let _ = write!(out, "<td class=\"name\" title=\"{0}\">{0}</td>", escape(name));
    }
    out.push_str(&number_cell(c.n as f64, &c.n.to_string()));
    out.push_str(&number_cell(f64::from(c.repeats), &c.repeats.to_string()));
    out.push_str(&number_cell(e.median_us.value, &with_interval(&e.median_us)));
    for value in [e.mean_us, e.sd_us, e.min_us, e.p5_us, e.p95_us] {
        out.push_str(&number_cell(value, &text::micros(value)));
    }
    out.push_str(&number_cell(e.p99_us.value, &with_interval(&e.p99_us)));
    out.push_str(&optional_cell(e.p999_us, text::micros));
    out.push_str(&number_cell(e.max_us, &text::micros(e.max_us)));
    out.push_str(&optional_cell(c.response.as_ref().map(|r| r.p99_us.value), text::micros));
    out.push_str(&number_cell(c.missed as f64, &c.missed.to_string()));
    out.push_str(&optional_cell(c.lag1_autocorrelation, |r| text::number(r, 2)));
    out.push_str(&delivered_cell(c));
    let _ =
        write!(out, "<td>{}</td></tr>", escape(c.scheduling.as_deref().unwrap_or("not recorded")));
}
