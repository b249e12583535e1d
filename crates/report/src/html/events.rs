//! Runs with tables of events: what ran, their time lines, their tables.

use std::fmt::Write as _;

use super::charts;
use super::markup::escape;
use crate::draw::SERIES;
use crate::model::Report;
use crate::sheets::{self, Cell, Detail, Sheet};
use crate::text;
use crate::timeline;

/// Width of a figure, units: that of the page's column.
const WIDTH: f64 = 980.0;
/// Rows that a table shows at once; more are folded away.
const ROWS: usize = 40;

/// What the page is about, in a line: the first run's question, else its tasks.
pub(super) fn headline(report: &Report) -> String {
    let runs = sheets::runs(report);
    let fact = |name: &str| {
        let facts = runs.iter().flat_map(|run| &run.facts);
        facts.into_iter().find(|fact| fact.name == name).map(|fact| fact.value.clone())
    };
    let tasks = fact("tasks").map(|tasks| format!("{tasks} under frequency scaling"));
    fact("question").or(tasks).unwrap_or_else(|| "Frequency scaling over time".to_owned())
}

/// The platforms of all runs.
pub(super) fn platforms(report: &Report) -> String {
    let runs = sheets::runs(report);
    let facts = runs.iter().flat_map(|run| &run.facts);
    let mut names: Vec<&str> =
        facts.filter(|fact| fact.name == "platform").map(|fact| fact.value.as_str()).collect();
    names.dedup();
    match names.is_empty() {
        true => "machine not recorded".to_owned(),
        false => format!("model: {}", names.join(", ")),
    }
}

/// All sections; none where no run has events.
pub(super) fn sections(out: &mut String, report: &Report) {
    ran(out, report);
    time_lines(out, report);
    tables(out, report);
}

fn ran(out: &mut String, report: &Report) {
    let runs = sheets::runs(report);
    if runs.is_empty() {
        return;
    }
    out.push_str("<section id=\"ran\" aria-labelledby=\"h-ran\"><h2 id=\"h-ran\">What ran</h2>\n<div class=\"two\">");
    for run in runs {
        let _ = write!(out, "<div class=\"panel\"><h3>{}</h3><dl>", escape(&run.run));
        for fact in &run.facts {
            let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escape(&fact.name), escape(&fact.value));
        }
        out.push_str("</dl></div>");
    }
    out.push_str("</div>\n");
    let missing = sheets::missing(report);
    if !missing.is_empty() {
        out.push_str("<div class=\"panel\"><h3>Not in these runs</h3><ul class=\"findings\">");
        for (whose, what) in missing {
            let _ = write!(out, "<li><b>{}</b>: {}</li>", escape(&whose), escape(&what));
        }
        out.push_str("</ul></div>");
    }
    out.push_str("</section>\n");
}

/// As many recordings to a figure as there are colours to tell them apart.
fn time_lines(out: &mut String, report: &Report) {
    let views = report.time_lines();
    if views.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"timeline\" aria-labelledby=\"h-timeline\"><h2 id=\"h-timeline\">Over time</h2>\
         <p class=\"lead\">Utilisation of the task that is looked at, and the frequency of the clock domains it ran on. Each value holds until the next.",
    );
    if let Some(zero) = sheets::zero(report) {
        let _ = write!(out, " {}", escape(&zero));
    }
    out.push_str("</p>\n");
    for some in views.chunks(SERIES) {
        let names: Vec<String> = some.iter().map(|view| text::plain(&view.name)).collect();
        out.push_str("<div class=\"panel\">");
        let scene = timeline::figure(some, WIDTH);
        charts::figure(out, "Time line", &format!("of {}; time in ms", names.join(", ")), &scene);
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
}

fn tables(out: &mut String, report: &Report) {
    let sheets = sheets::all(report, Detail::Page);
    if sheets.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"tables\" aria-labelledby=\"h-tables\"><h2 id=\"h-tables\">Tables</h2>\
         <p class=\"lead\">Select a heading to sort.</p>\n",
    );
    let reasons = sheets::traces::reasons(report);
    if !reasons.is_empty() {
        out.push_str("<div class=\"panel\"><h3>What confounds or limits the comparisons</h3><ul class=\"findings\">");
        for (title, text) in reasons {
            let _ = write!(out, "<li><b>{}</b>: {}</li>", escape(&title), escape(&text));
        }
        out.push_str("</ul></div>");
    }
    for sheet in &sheets {
        let _ = write!(
            out,
            "<div class=\"panel\" id=\"{}\"><h3>{}</h3>",
            sheet.id,
            escape(&sheet.title)
        );
        let folded = sheet.rows.len() > ROWS;
        if folded {
            let rows = text::count(sheet.rows.len() as u64, "row");
            let _ = write!(out, "<details><summary>{rows}</summary>");
        }
        table(out, sheet);
        out.push_str(if folded { "</details></div>\n" } else { "</div>\n" });
    }
    out.push_str("</section>\n");
}

pub(super) fn table(out: &mut String, sheet: &Sheet) {
    let _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"sortable\"><thead><tr>",
        escape(&sheet.title)
    );
    for (name, number) in &sheet.columns {
        let class = if *number { " class=\"num\"" } else { "" };
        let _ = write!(out, "<th{class}>{}</th>", escape(name));
    }
    out.push_str("</tr></thead><tbody>");
    for row in &sheet.rows {
        out.push_str("<tr>");
        for (cell, (_, number)) in row.iter().zip(&sheet.columns) {
            data(out, cell, *number);
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

fn data(out: &mut String, cell: &Cell, number: bool) {
    let shown = escape(&cell.text);
    let _ = match (number, cell.key) {
        (true, Some(key)) => {
            write!(out, "<td class=\"num\" data-value=\"{key}\">{shown}</td>")
        }
        (true, None) => write!(out, "<td class=\"num muted\" data-value=\"-1\">{shown}</td>"),
        (false, _) => write!(out, "<td class=\"name\" title=\"{shown}\">{shown}</td>"),
    };
}
