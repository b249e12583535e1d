//! One panel per workload: distributions, percentiles, frequency, time line, placement, table.

use std::fmt::Write as _;

use super::charts::{self, Member};
use super::markup::{escape, number_cell, optional_cell, with_interval};
use crate::draw::SERIES;
use crate::model::Report;
use crate::{text, view};

/// All panels.
pub(super) fn panels(out: &mut String, report: &Report) {
    out.push_str("<section id=\"workloads\" aria-labelledby=\"h-workloads\"><h2 id=\"h-workloads\">Workloads</h2>\n");
    if report.cells.is_empty() {
        out.push_str("<p class=\"lead\">No windows were measured.</p></section>\n");
        return;
    }
    let _ = writeln!(
        out,
        "<p class=\"lead\">{} of every window, per condition. Point at a mark for its figures.</p>",
        text::capital(view::measured(&report.cells))
    );
    let groups = view::groups(report);
    for workload in view::workloads(report) {
        let members: Vec<Member<'_>> = groups
            .iter()
            .enumerate()
            .filter_map(|(series, g)| {
                view::cell(report, &workload, g).map(|cell| Member {
                    series,
                    label: &g.label,
                    cell,
                })
            })
            .collect();
        panel(out, &workload, &members);
    }
    out.push_str("</section>\n");
}

fn panel(out: &mut String, workload: &str, members: &[Member<'_>]) {
    let _ = write!(
        out,
        "<article class=\"panel\"><header><h3>{}</h3><ul class=\"legend\">",
        escape(workload)
    );
    for m in members {
        let _ =
            write!(out, "<li><i class=\"b-s{}\"></i>{}</li>", m.series % SERIES, escape(m.label));
    }
    out.push_str("</ul></header><div class=\"charts\">");
    charts::figure(
        out,
        "Distribution",
        "us, log axis, up to p95; line: median",
        &charts::ridge(workload, members),
    );
    charts::figure(
        out,
        "Percentiles",
        "us by share of windows below",
        &charts::percentiles(workload, members),
    );
    match charts::frequency(workload, members) {
        Some(scene) => charts::figure(
            out,
            "Frequency against latency",
            charts::frequency_caption(members),
            &scene,
        ),
        None => charts::absent(
            out,
            "Frequency against latency",
            "The delivered frequency was not recorded.",
        ),
    }
    match charts::timeline(workload, members) {
        Some(scene) => {
            charts::figure(out, "Over time", "us against seconds; red: disturbed", &scene)
        }
        None => charts::absent(out, "Over time", "No single windows were kept for plotting."),
    }
    let words = charts::placement_in_words(members);
    if words.is_none() {
        let scene = charts::placement(workload, members);
        charts::figure(out, "Placement", "share of windows per CPU", &scene);
    }
    out.push_str("</div>");
    if let Some(words) = words {
        let _ = write!(out, "<p class=\"small muted\">{}</p>", escape(&words));
    }
    table(out, workload, members);
    out.push_str("</article>\n");
}

fn table(out: &mut String, workload: &str, members: &[Member<'_>]) {
    let _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Figures of {}\"><table><thead><tr><th>Condition</th>\
         <th class=\"num\">Median us [95 %]</th><th class=\"num\">p99 us [95 %]</th><th class=\"num\">Max us</th>\
         <th class=\"num\">Lateness p99 us</th><th class=\"num\">Delivered</th><th>Where</th><th class=\"num\">Modes</th>\
         <th class=\"num\">Effective n</th><th class=\"num\">Disturbed</th></tr></thead><tbody>",
        escape(workload)
    );
    for m in members {
        let c = m.cell;
        let _ = write!(out, "<tr><td class=\"name\" title=\"{0}\">{0}</td>", escape(m.label));
        out.push_str(&number_cell(
            c.execution.median_us.value,
            &with_interval(&c.execution.median_us),
        ));
        out.push_str(&number_cell(c.execution.p99_us.value, &with_interval(&c.execution.p99_us)));
        out.push_str(&number_cell(c.execution.max_us, &text::micros(c.execution.max_us)));
        out.push_str(&optional_cell(c.lateness.as_ref().map(|l| l.p99_us.value), text::micros));
        out.push_str(&super::tables::delivered_cell(c));
        let _ = write!(out, "<td>{}</td>", escape(&c.placement.summary));
        out.push_str(&number_cell(c.modes.modes.len() as f64, &c.modes.modes.len().to_string()));
        let decimals = if c.effective_n < 10.0 { 1 } else { 0 };
        out.push_str(&number_cell(
            c.effective_n,
            &format!("{} of {}", text::number(c.effective_n, decimals), c.n),
        ));
        out.push_str(&number_cell(
            c.disturbed.windows as f64,
            &escape(&text::share_of(c.disturbed.windows, c.n)),
        ));
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    for m in members {
        for degraded in &m.cell.degraded {
            let _ =
                write!(out, "<p class=\"warning\">{}: {}</p>", escape(m.label), escape(degraded));
        }
    }
}
