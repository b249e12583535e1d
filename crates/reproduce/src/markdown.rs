//! The table as Markdown.

use crate::report::{Reproduction, Row, Verdict};
use std::fmt::Write;

/// Counts per source, then with their causes what is refuted, not reproduced and not decidable.
pub fn markdown(all: &Reproduction) -> String {
    let mut text = String::from(
        "| source | reproduced | refuted | not reproduced | not decidable | inputs |\n\
         |---|---|---|---|---|---|\n",
    );
    for sum in all.summary() {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            sum.source,
            sum.reproduced,
            sum.refuted,
            sum.not_reproduced,
            sum.not_decidable,
            sum.inputs
        );
    }
    section(&mut text, all, Verdict::Refuted, "Refuted");
    section(&mut text, all, Verdict::NotReproduced, "Not reproduced");
    section(&mut text, all, Verdict::NotDecidable, "Not decidable");
    text
}

/// Rows of one verdict, those of one cause together.
fn section(text: &mut String, all: &Reproduction, verdict: Verdict, title: &str) {
    let rows: Vec<&Row> = all.rows.iter().filter(|row| row.verdict == verdict).collect();
    if rows.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n### {title}\n\n| numbers | published and ours | because |\n|---|---|---|\n"
    );
    let mut causes: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match causes.iter_mut().find(|(why, group)| {
            *why == row.why && group.first().is_some_and(|first| first.source == row.source)
        }) {
            Some((_, group)) => group.push(row),
            None => causes.push((&row.why, vec![row])),
        }
    }
    for (why, group) in causes {
        let ids: Vec<String> = group.iter().map(|row| format!("`{}`", row.id)).collect();
        let pairs: Vec<String> = group.iter().map(|row| pair(row)).collect();
        let _ = writeln!(text, "| {} | {} | {why} |", shortened(&ids), shortened(&pairs));
    }
}

fn pair(row: &Row) -> String {
    let published = row.published_text();
    match row.ours {
        Some(ours) => format!("{published} / {ours:.1}"),
        None => published,
    }
}

/// The first few of a long list.
fn shortened(items: &[String]) -> String {
    const SHOWN: usize = 4;
    match items.len().checked_sub(SHOWN) {
        None | Some(0) => items.join(", "),
        Some(more) => format!("{}, and {more} more", items[..SHOWN].join(", ")),
    }
}
