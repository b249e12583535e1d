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

use crate::figures::Figure;
use crate::kinds::{Kind, rampup, switches};
use crate::model::{self, Report, VerdictWord};
use crate::sheets::{Detail, cells};
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
    let measured = Kind::of(report).contains(&Kind::Windows);
    if measured {
        sections.push(hero::verdicts(report));
        sections.push(workload::panels(report));
        sections.extend(evidence::like_for_like(report));
        sections.extend(blame::section(report));
        sections.push(evidence::frequency_and_load(report));
    }
    sections.extend(kinds(report));
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

/// Ramp-ups, switches, loads and recorded load: their figures, then their tables.
fn kinds(report: &Report) -> Vec<Section> {
    let section = |id, name, kind: Kind, heads: &[Vec<String>], figures: &[Figure]| {
        let tables = kind.tables(report, Detail::Page);
        let body = html! {
            @for lines in heads { div.panel { @for line in lines { p { (line) } } } }
            @for figure in figures {
                div.panel { (charts::figure(&figure.scene.title, "", &figure.scene)) } "\n"
            }
            @for table in &tables { (table.panel()) "\n" }
        };
        (!tables.is_empty() || !heads.is_empty()).then(|| Section::new(id, name, name, body))
    };
    let told = |lines: Vec<String>, more: &[&Vec<String>]| -> Vec<String> {
        lines.into_iter().chain(more.iter().flat_map(|texts| texts.iter().cloned())).collect()
    };
    let rampups: Vec<Vec<String>> = report
        .rampups
        .iter()
        .map(|found| told(rampup::terminal::title(found), &[&found.remarks]))
        .collect();
    let drawn: Vec<Figure> = rampup::figures::figure(&report.rampups).into_iter().collect();
    let of_switches = |found: &switches::Findings| {
        let title = switches::terminal::title(found).lines().map(str::to_owned).collect();
        told(title, &[&found.refused, &found.notes])
    };
    let switched: Vec<Vec<String>> = report.switches.iter().map(of_switches).collect();
    let violins: Vec<Figure> = report.switches.iter().flat_map(switches::figures::all).collect();
    let kinds = Kind::of(report);
    let only = |id, name, kind| match kinds.contains(&kind) {
        true => section(id, name, kind, &[], &[]),
        false => None,
    };
    let sections = [
        section("rampups", "Ramp-ups", Kind::Rampup, &rampups, &drawn),
        section("switches", "Switches", Kind::Switches, &switched, &violins),
        only("loads", "Load", Kind::Load),
        only("activity", "Recorded load", Kind::Activity),
    ];
    sections.into_iter().flatten().collect()
}

/// The most important verdict in a line.
pub(crate) fn headline(report: &Report) -> String {
    match report.comparisons.first() {
        None if !report.rampups.is_empty() => {
            "How long a sudden demand waits for its frequency".to_owned()
        }
        None if !report.switches.is_empty() => "What a frequency switch costs".to_owned(),
        None if Kind::of(report).first() == Some(&Kind::Activity) => {
            "What the CPUs did while their load was recorded".to_owned()
        }
        None if !Kind::of(report).contains(&Kind::Windows) => events::headline(report),
        Some(c) if c.verdict == VerdictWord::Effect => {
            let measured = view::measured(&report.cells);
            match model::headline(&c.effects) {
                Some(effect) => match (effect.ratio, effect.difference) {
                    (Some(ratio), _) => {
                        format!("{}: {} in {}", c.title, text::change(ratio.value), effect.name())
                    }
                    (_, by) => {
                        let us = by.map_or(0.0, |by| by.value);
                        format!("{}: {} us in {}", c.title, text::micros(us), effect.name())
                    }
                },
                None => {
                    format!("{}: {} in median {measured}", c.title, text::change(c.ratio.value))
                }
            }
        }
        Some(c) => format!("{}: {}", c.title, text::verdict(c.verdict)),
        None => "Latency under frequency scaling".to_owned(),
    }
}
