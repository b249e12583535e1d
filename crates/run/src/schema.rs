//! The schema of the run directory as Markdown and JSON, generated from the registry.

/// A doc comment as one line.
pub(crate) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
