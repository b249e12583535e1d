//! The report as one self-contained page: no network, no external font, nothing that a name from a
//! file could inject (the templates escape by default). Static SVG, so that it prints; the script
//! only toggles, sorts and copies.

mod blame;
mod charts;
pub(crate) mod encode;
mod events;
mod evidence;
mod hero;
mod page;
mod workload;

pub(crate) use page::{base_style, head};

use crate::model::{Report, VerdictWord};
use crate::sheets::{self, cells};
use crate::{text, view};
use maud::html;
use page::{Section, page};

/// How to render the page.
#[derive(Clone, Debug, Default)]
pub struct HtmlOptions {
    /// Headline; made from the report where `None`.
    pub title: Option<String>,
    /// Program and version for the footer, for example `flyball 0.1.0`.
    pub generator: Option<String>,
}

/// The whole page, UTF-8 HTML.
#[must_use]
pub fn render(report: &Report, options: &HtmlOptions) -> String {
    let title = options.title.clone().unwrap_or_else(|| headline(report));
    let footer = format!(
        "Made by {}. This page is one file and loads nothing. Data format {}. Typeface: Inter (SIL OFL 1.1).",
        options.generator.as_deref().unwrap_or("flyball"),
        report.schema
    );
    page(&hero::top(report, title), &sections(report), &footer)
}

fn sections(report: &Report) -> Vec<Section> {
    let mut sections = Vec::new();
    let measured = !tells_only_events(report);
    if measured {
        sections.push(hero::verdicts(report));
        sections.push(workload::panels(report));
        sections.extend(evidence::like_for_like(report));
        sections.extend(blame::section(report));
        sections.push(evidence::frequency_and_load(report));
    }
    sections.extend(events::sections(report));
    if measured {
        sections.push(evidence::findings(report));
    }
    sections.push(evidence::method(report));
    if measured {
        let mut table = cells::shown(report).pick(&cells::ALL);
        table.title = "All cells".to_owned();
        let measured = text::capital(view::measured(&report.cells));
        let body = html! {
            p.lead { (measured) " in microseconds. Select a heading to sort." }
            div.panel { (table.html()) }
        };
        sections.push(Section::new("cells", "All cells", "All cells", body));
    }
    sections
}

/// Whether nothing was measured and everything is told by events.
fn tells_only_events(report: &Report) -> bool {
    report.cells.is_empty() && !sheets::runs(report).is_empty()
}

/// The most important verdict in a line.
fn headline(report: &Report) -> String {
    match report.comparisons.first() {
        None if tells_only_events(report) => events::headline(report),
        Some(c) if c.verdict == VerdictWord::Effect => {
            let measured = view::measured(&report.cells);
            format!("{}: {} in median {measured}", c.title, text::change(c.ratio.value))
        }
        Some(c) => format!("{}: {}", c.title, text::verdict(c.verdict)),
        None => "Latency under frequency scaling".to_owned(),
    }
}
