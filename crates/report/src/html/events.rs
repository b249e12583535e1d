//! Runs with tables of events: what ran, their time lines, their tables.

use maud::{Markup, html};

use super::charts;
use super::page::Section;
use crate::draw::SERIES;
use crate::figures::{self, Size};
use crate::model::Report;
use crate::sheets::{self, Detail};
use crate::text;
use crate::timeline;

/// Width of a figure, units: that of the page's column.
const WIDTH: f64 = 980.0;

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
pub(super) fn sections(report: &Report) -> impl Iterator<Item = Section> {
    [ran(report), swept(report), time_lines(report), tables(report)].into_iter().flatten()
}

/// The points of sweeps, drawn.
fn swept(report: &Report) -> Option<Section> {
    let size = Size { width: WIDTH, ..Size::default() };
    let figures = figures::sweep::all(report, size);
    if figures.is_empty() {
        return None;
    }
    let body = html! {
        @for figure in &figures {
            div.panel { (charts::figure(&figure.scene.title, "", &figure.scene)) } "\n"
        }
    };
    Some(Section::new("sweep", "Sweep", "The sweep", body))
}

fn ran(report: &Report) -> Option<Section> {
    let runs = sheets::runs(report);
    if runs.is_empty() {
        return None;
    }
    let body = html! {
        div.two { @for run in runs {
            div.panel {
                h3 { (run.run) }
                dl { @for fact in &run.facts { dt { (fact.name) } dd { (fact.value) } } }
            }
        } }
        "\n"
        (list("Not in these runs", &sheets::missing(report)))
    };
    Some(Section::new("ran", "What ran", "What ran", body))
}

/// A panel of whose it is and what; nothing where there is none.
pub(super) fn list(heading: &str, items: &[(String, String)]) -> Markup {
    html! {
        @if !items.is_empty() {
            div.panel {
                h3 { (heading) }
                ul.findings { @for (whose, what) in items { li { b { (whose) } ": " (what) } } }
            }
        }
    }
}

/// As many recordings to a figure as there are colours to tell them apart.
fn time_lines(report: &Report) -> Option<Section> {
    let views = report.time_lines();
    if views.is_empty() {
        return None;
    }
    let figure = |some: &[timeline::RunView]| {
        let names: Vec<String> = some.iter().map(|view| text::plain(&view.name)).collect();
        let note = format!("of {}; time in ms", names.join(", "));
        charts::figure("Time line", &note, &timeline::figure(some, WIDTH))
    };
    let body = html! {
        p.lead {
            "Utilisation of the task that is looked at, and the frequency of the clock domains it ran on. \
             Each value holds until the next."
            @if let Some(zero) = sheets::zero(report) { " " (zero) }
        }
        @for some in views.chunks(SERIES) { div.panel { (figure(some)) } "\n" }
    };
    Some(Section::new("timeline", "Time line", "Over time", body))
}

fn tables(report: &Report) -> Option<Section> {
    let tables = sheets::all(report, Detail::Page);
    if tables.is_empty() {
        return None;
    }
    let body = html! {
        p.lead { "Select a heading to sort." }
        (list("What confounds or limits the comparisons", &sheets::traces::reasons(report)))
        @for table in &tables { (table.panel()) "\n" }
    };
    Some(Section::new("tables", "Tables", "Tables", body))
}
