//! One panel per workload: distributions, percentiles, frequency, time line, placement, table.

use maud::{Markup, html};

use super::charts::{self, Member};
use super::page::Section;
use crate::draw::SERIES;
use crate::model::Report;
use crate::sheets::cells;
use crate::{text, view};

/// All panels.
pub(super) fn panels(report: &Report) -> Section {
    let groups = view::groups(report);
    let members = |workload: &str| -> Vec<Member<'_>> {
        let all = groups.iter().enumerate();
        all.filter_map(|(series, group)| {
            let cell = view::cell(report, workload, group)?;
            Some(Member { series, label: &group.label, cell })
        })
        .collect()
    };
    let body = html! {
        @if report.cells.is_empty() { p.lead { "No windows were measured." } } @else {
            p.lead {
                (text::capital(view::measured(&report.cells)))
                " of every window, per condition. Point at a mark for its figures."
            }
            "\n"
            @for workload in view::workloads(report) { (panel(report, &workload, &members(&workload))) }
        }
    };
    Section::new("workloads", "Workloads", "Workloads", body)
}

fn panel(report: &Report, workload: &str, members: &[Member<'_>]) -> Markup {
    let words = charts::placement_in_words(members);
    html! {
        article.panel {
            header {
                h3 { (workload) }
                ul.legend { @for m in members {
                    li { i class=(format!("b-s{}", m.series % SERIES)) {} (m.label) }
                } }
            }
            div.charts {
                (charts::figure(
                    "Distribution",
                    "us, log axis, up to p95; line: median",
                    &charts::ridge(workload, members),
                ))
                (charts::figure(
                    "Percentiles",
                    "us by share of windows below",
                    &charts::percentiles(workload, members),
                ))
                (frequency(report, workload, members))
                @match charts::timeline(workload, members) {
                    Some(scene) => (charts::figure("Over time", "us against seconds; red: disturbed", &scene)),
                    None => (charts::absent("Over time", "No single windows were kept for plotting.")),
                }
                @if words.is_none() {
                    (charts::figure("Placement", "share of windows per CPU", &charts::placement(workload, members)))
                }
            }
            @if let Some(words) = words { p.small.muted { (words) } }
            (cells::of_workload(report, workload).pick(&cells::OF_WORKLOAD).html())
            @for m in members { @for degraded in &m.cell.degraded {
                p.warning { (m.label) ": " (degraded) }
            } }
        }
        "\n"
    }
}

/// The scatter of frequency and latency, or why there is none.
fn frequency(report: &Report, workload: &str, members: &[Member<'_>]) -> Markup {
    const TITLE: &str = "Frequency against latency";
    let of_windows = members.iter().any(|member| member.cell.delivered.is_some());
    let logged = report.frequencies.iter().any(|log| log.delivered_mean_mhz.is_some());
    let why = match (of_windows, logged) {
        (true, _) => {
            "Of no single window that is kept for plotting the delivered frequency is known."
        }
        (false, true) => {
            "The delivered frequency was recorded beside the windows, not of each: see Evidence."
        }
        (false, false) => "The delivered frequency was not recorded.",
    };
    match charts::frequency(workload, members) {
        Some(scene) => charts::figure(TITLE, charts::frequency_caption(members), &scene),
        None => charts::absent(TITLE, why),
    }
}
