//! The page around the lanes: markup, style, script, data.

use std::fmt::Write as _;

use super::pack::Block;
use crate::html::{base_style, encode, head};
use crate::text;
use maud::{PreEscaped, html};

const STYLE: &str = include_str!("../../assets/lanes.css");

/// The script, in the order of what uses what: data and questions to it, drawing, hands.
const SCRIPT: [&str; 4] = [
    include_str!("../../assets/lanes-data.js"),
    include_str!("../../assets/lanes-rows.js"),
    include_str!("../../assets/lanes-draw.js"),
    include_str!("../../assets/lanes-hands.js"),
];

/// The keys, as the page tells them.
const KEYS: &str = "<kbd>wheel</kbd> or <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>drag</kbd> or <kbd>←</kbd> <kbd>→</kbd> move, \
    <kbd>↑</kbd> <kbd>↓</kbd> scroll the lanes, <kbd>0</kbd> all, <kbd>/</kbd> search a task, \
    <kbd>n</kbd> <kbd>p</kbd> its next and previous slice, <kbd>Esc</kbd> let go";

/// The whole page, UTF-8 HTML.
pub(super) fn page(
    title: &str,
    description: &str,
    blocks: &[Block],
    generator: Option<&str>,
) -> String {
    let style = base_style() + STYLE;
    let script = format!("(()=>{{'use strict';\n{}}})();", SCRIPT.concat());
    let body = html! {
        header {
            h1 { (title) }
            span.tools {
                span.search {
                    input #search type="search" placeholder="Task" aria-label="Search a task" autocomplete="off" spellcheck="false";
                    ul #found hidden {}
                }
                button #in type="button" aria-label="Zoom in" { "+" }
                button #out type="button" aria-label="Zoom out" { "−" }
                button #all type="button" { "All" }
                button #theme type="button" { "Dark" }
            }
        }
        "\n"
        p #status role="status" { "Reading ..." }
        "\n"
        ul #legend aria-label="Colours" {}
        "\n"
        main #view tabindex="0" role="application" aria-label="Time line: arrow keys move, plus and minus zoom" {
            canvas #plot {} canvas #cursor {} div #tip hidden {}
        }
        "\n"
        ul #notes {}
        "\n"
        footer {
            p { (PreEscaped(KEYS)) "." }
            p {
                "A bar is as high as its share of the pixel's time, at least one pixel; a line reaches from the \
                 lowest to the highest value of its pixel. Nothing is left out. Made by "
                (generator.unwrap_or("flyball")) ". This page is one file and loads nothing."
            }
        }
        "\n"
        noscript { "This page draws its data by a script: allow it to see anything." }
        "\n"
    };
    let packed: usize = blocks.iter().map(|block| block.bytes.len()).sum();
    let mut out = String::with_capacity(packed / 3 * 4 + description.len() + (1 << 20));
    out.push_str(&head(title, &style, &script).into_string());
    out.push_str("<body>\n");
    out.push_str(&text::harmless(&body.into_string(), false));
    for block in blocks {
        let _ = writeln!(
            out,
            "<script type=\"text/plain\" class=\"block\" data-bytes=\"{}\"{}>{}</script>",
            block.raw,
            if block.deflated { " data-deflated" } else { "" },
            encode::base64(&block.bytes)
        );
    }
    // A name from a file must not end the element that it stands in.
    let description = description.replace('<', "\\u003c");
    let _ = write!(
        out,
        "<script type=\"application/json\" id=\"description\">{description}</script>\n\
         <script>{script}</script>\n</body>\n</html>\n"
    );
    out
}
