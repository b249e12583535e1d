//! The report as one self-contained page: no network, no external font, nothing that a name from a
//! file could inject. Static SVG, so that it prints; the script only toggles, sorts and copies.

mod blame;
mod charts;
pub(crate) mod encode;
mod events;
mod evidence;
mod hero;
pub(crate) mod markup;
mod tables;
mod workload;

use std::fmt::Write as _;

use crate::draw::{SERIES, Theme, font, theme};
use crate::model::{Report, VerdictWord};
use crate::sheets;
use crate::{text, view};
use markup::escape;

const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

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
    let style = style();
    let mut out = String::with_capacity(256 * 1024);
    out.push_str(&head(&title, &style, SCRIPT));
    navigation(&mut out, report);
    hero::header(&mut out, report, &title);
    out.push_str("<main id=\"content\">\n");
    let only_events = tells_only_events(report);
    if only_events {
        events::sections(&mut out, report);
    } else {
        hero::verdicts(&mut out, report);
        workload::panels(&mut out, report);
        evidence::like_for_like(&mut out, report);
        blame::section(&mut out, report);
        evidence::frequency_and_load(&mut out, report);
        events::sections(&mut out, report);
        evidence::findings(&mut out, report);
    }
    evidence::method(&mut out, report);
    if !only_events {
        tables::all_cells(&mut out, report);
    }
    out.push_str("</main>\n");
    footer(&mut out, report, options);
    let _ = write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n");
    out
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

/// All of a page before its content.
pub(crate) fn head(title: &str, style: &str, script: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n",
        policy(style, script),
        escape(title)
    )
}

/// Only this very style and this very script may act; nothing may be fetched.
fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; font-src data:; \
         base-uri 'none'; form-action 'none'",
        encode::base64(&encode::sha256(style.as_bytes())),
        encode::base64(&encode::sha256(script.as_bytes()))
    )
}

fn style() -> String {
    let mut out = base_style();
    out.push_str(&theme::classes());
    for i in 0..SERIES {
        let _ = write!(out, ".b-s{i}{{background:var(--s{i})}}");
    }
    out + STYLE
}

/// The typeface, and the colours of both themes.
pub(crate) fn base_style() -> String {
    let mut out = String::new();
    for (weight, bytes) in [(400, font::REGULAR_WOFF2), (600, font::SEMI_BOLD_WOFF2)] {
        let _ = write!(
            out,
            "@font-face{{font-family:Inter;font-weight:{weight};font-display:block;\
             src:url(data:font/woff2;base64,{})format('woff2')}}",
            encode::base64(bytes)
        );
    }
    let light = theme::properties(Theme::Light) + "--bg:#f6f7f9;color-scheme:light;";
    let dark = theme::properties(Theme::Dark) + "--bg:#11151b;color-scheme:dark;";
    let _ = write!(
        out,
        ":root{{{light}}}@media screen{{:root[data-theme=dark]{{{dark}}}\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}}}"
    );
    out
}

/// A centrifugal governor, from which the program has its name.
const MARK: &str = "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\" fill=\"none\" class=\"k-ink\" \
    stroke-width=\"1.6\" stroke-linecap=\"round\"><path d=\"M12 2v20M12 4 4.6 12.4M12 4l7.4 8.4M5.6 13.4 \
    12 18l6.4-4.6M8 22h8\"/><circle cx=\"4.4\" cy=\"13\" r=\"2.4\" class=\"f-s1\" stroke=\"none\"/>\
    <circle cx=\"19.6\" cy=\"13\" r=\"2.4\" class=\"f-s1\" stroke=\"none\"/></svg>";

fn navigation(out: &mut String, report: &Report) {
    let like = report.comparisons.iter().any(|c| !c.like_for_like.is_empty());
    let (told, drawn) = (!tells_only_events(report), !report.events.is_empty());
    let links = [
        ("verdicts", "Verdicts", told),
        ("workloads", "Workloads", told),
        ("like-for-like", "Like for like", like),
        ("blame", "Blame", !report.blame.is_empty()),
        ("evidence", "Evidence", told),
        ("ran", "What ran", !sheets::runs(report).is_empty()),
        ("timeline", "Time line", drawn),
        ("tables", "Tables", !sheets::runs(report).is_empty()),
        ("checks", "Checks", told),
        ("method", "Method", true),
        ("cells", "All cells", told),
    ];
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<nav aria-label=\"Sections\"><div class=\"in\">\
         <span class=\"mark\">{MARK}Flyball</span><span class=\"links\">"
    );
    for (id, name, _) in links.into_iter().filter(|(.., shown)| *shown) {
        let _ = write!(out, "<a href=\"#{id}\">{name}</a>");
    }
    out.push_str("</span><button id=\"theme\" type=\"button\" hidden>Dark</button></div></nav>\n");
}

fn footer(out: &mut String, report: &Report, options: &HtmlOptions) {
    let by = options.generator.as_deref().unwrap_or("flyball");
    let _ = writeln!(
        out,
        "<footer>Made by {}. This page is one file and loads nothing. Data format {}. Typeface: Inter (SIL OFL 1.1).</footer>",
        escape(by),
        escape(&report.schema)
    );
}
