//! The frame of a page: head, policy, typeface, navigation over its sections, footer.

use std::fmt::Write as _;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::encode;
use crate::draw::{SERIES, Theme, font, theme};
use crate::text;

const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

/// A part of a page that the navigation leads to.
pub(crate) struct Section {
    /// Its anchor.
    pub id: &'static str,
    /// Its name in the navigation.
    pub name: &'static str,
    /// What stands in it, its heading included.
    pub body: Markup,
}

impl Section {
    /// A section under its heading.
    pub fn new(id: &'static str, name: &'static str, heading: &str, body: Markup) -> Self {
        let label = format!("h-{id}");
        let body = html! {
            section id=(id) aria-labelledby=(label) { h2 id=(label) { (heading) } "\n" (body) }
            "\n"
        };
        Self { id, name, body }
    }
}

/// What stands above the sections.
#[derive(Default)]
pub(crate) struct Top {
    /// Where it was made, in a line.
    pub machine: String,
    /// The headline.
    pub title: String,
    /// Values, each with what it counts; nothing where it speaks for itself.
    pub facts: Vec<(String, &'static str)>,
    /// What must be known before anything is read.
    pub warnings: Vec<String>,
}

/// A centrifugal governor, from which the program has its name.
const MARK: &str = "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\" fill=\"none\" class=\"k-ink\" \
    stroke-width=\"1.6\" stroke-linecap=\"round\"><path d=\"M12 2v20M12 4 4.6 12.4M12 4l7.4 8.4M5.6 13.4 \
    12 18l6.4-4.6M8 22h8\"/><circle cx=\"4.4\" cy=\"13\" r=\"2.4\" class=\"f-s1\" stroke=\"none\"/>\
    <circle cx=\"19.6\" cy=\"13\" r=\"2.4\" class=\"f-s1\" stroke=\"none\"/></svg>";

/// The whole page, UTF-8.
pub(crate) fn page(top: &Top, sections: &[Section], footer: &str) -> String {
    let body = html! {
        a.skip href="#content" { "Skip to the content" }
        "\n"
        nav aria-label="Sections" { div.in {
            span.mark { (PreEscaped(MARK)) "Flyball" }
            span.links { @for it in sections { a href=(format!("#{}", it.id)) { (it.name) } } }
            button #theme type="button" hidden { "Dark" }
        } }
        "\n"
        (header(top))
        main #content { "\n" @for it in sections { (it.body) } }
        "\n"
        footer { (footer) }
        "\n"
    };
    let style = style();
    let body = body.into_string();
    let body = text::harmless(&body, false);
    html! {
        (head(&top.title, &style, SCRIPT))
        body { "\n" (PreEscaped(body)) script { (PreEscaped(SCRIPT)) } "\n" }
    }
    .into_string()
        + "\n</html>\n"
}

fn header(top: &Top) -> Markup {
    html! {
        header.top {
            p.eyebrow { (top.machine) }
            h1 { (text::capital(&top.title)) }
            p.facts { @for (value, name) in &top.facts { span { b { (value) } " " (name) } } }
            @for warning in &top.warnings { p.warning { (warning) } }
        }
        "\n"
    }
}

/// All of a page before its body.
pub(crate) fn head(title: &str, style: &str, script: &str) -> Markup {
    html! {
        (DOCTYPE) "\n"
        (PreEscaped("<html lang=\"en\">\n"))
        head {
            "\n" meta charset="utf-8";
            "\n" meta http-equiv="Content-Security-Policy" content=(policy(style, script));
            "\n" meta name="viewport" content="width=device-width,initial-scale=1";
            "\n" meta name="color-scheme" content="light dark";
            "\n" title { (text::plain(title)) }
            "\n" style { (PreEscaped(style)) } "\n"
        }
        "\n"
    }
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
