//! Findings as one self-contained page: the drawings, the tables as text, no script, no network.

use crate::kinds::switches::analysis::Findings;
use crate::kinds::switches::figures::Figure;
use crate::kinds::switches::terminal;
use std::fmt::Write as _;

/// Columns of the tables on the page.
const COLUMNS: usize = 160;

const STYLE: &str = "body{font:15px/1.5 Inter,'Helvetica Neue',Arial,sans-serif;max-width:1000px;\
margin:2rem auto;padding:0 1rem;color:#1b1f27;background:#fff}pre{font:13px/1.45 ui-monospace,Menlo,\
Consolas,monospace;overflow-x:auto;background:#f5f6f9;padding:1rem;border-radius:6px}\
svg{max-width:100%;height:auto;margin:.5rem 0}h1{font-size:1.4rem}footer{color:#5c6575}";

/// The page, UTF-8 HTML. `generator` is the program and its version.
pub fn render(findings: &Findings, figures: &[Figure], generator: &str) -> String {
    let name = escape(&findings.name);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>What a frequency switch costs: {name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>What a frequency switch costs: {name}</h1>\n"
    );
    for figure in figures {
        let _ = writeln!(out, "<figure>{}</figure>", figure.svg());
    }
    let text = terminal::render(findings, COLUMNS);
    let _ = write!(
        out,
        "<h2>Figures</h2>\n<pre>{}</pre>\n<footer>{}</footer>\n</body>\n</html>\n",
        escape(&text),
        escape(generator)
    );
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_inject() {
        let findings = Findings { name: "<script>".to_owned(), ..Findings::default() };
        let page = render(&findings, &[], "flyball 0");
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"));
    }
}
