//! The table in a terminal: counts per source, and what was asked for of the rows.

use crate::catalogue::Kind;
use crate::report::{Reproduction, Row, Verdict};
use std::fmt::Write;

/// How to render.
#[derive(Clone, Copy, Debug)]
pub struct TerminalOptions {
    /// Columns.
    pub width: usize,
    /// Whether to use ANSI colours.
    pub color: bool,
    /// Formulas, tolerances and notes as well.
    pub verbose: bool,
    /// Inputs as well.
    pub inputs: bool,
    /// Which rows stand above the counts.
    pub rows: Rows,
}

/// Which rows to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// None.
    None,
    /// Those that are refuted.
    Refuted,
    /// All.
    All,
}

/// The whole text, ending in a line feed.
pub fn terminal(all: &Reproduction, options: TerminalOptions) -> String {
    let mut text = String::new();
    let shown = |row: &&Row| match options.rows {
        Rows::None => false,
        Rows::Refuted => row.verdict == Verdict::Refuted,
        Rows::All => true,
    };
    for source in &all.sources {
        let rows: Vec<&Row> =
            all.rows.iter().filter(|row| row.source == source.letter).filter(shown).collect();
        if !rows.is_empty() {
            let title = format!("{}. {}", source.letter, source.title);
            let _ = writeln!(text, "{}", paint(options, "1", &title));
            block(&mut text, &rows, options);
            text.push('\n');
        }
    }
    summary(&mut text, all, options);
    text
}

fn block(text: &mut String, rows: &[&Row], options: TerminalOptions) {
    let shown: Vec<&&Row> =
        rows.iter().filter(|row| options.inputs || row.verdict != Verdict::Input).collect();
    let widest = |value: fn(&Row) -> String| {
        shown.iter().map(|row| value(row).chars().count()).max().unwrap_or(0)
    };
    let (id, published, ours, difference) =
        (widest(|row| row.id.clone()), widest(published), widest(ours), widest(difference));
    let mut last = "";
    for row in &shown {
        let mut line = format!(
            "  {:<id$}  {:>published$}  {:<ours$}  {:>difference$}  {:<14}",
            row.id,
            self::published(row),
            self::ours(row),
            self::difference(row),
            row.verdict.word(),
        );
        let room = options.width.saturating_sub(line.chars().count() + 1);
        let agrees = row.verdict == Verdict::Reproduced;
        let fits = row.why.chars().count() <= room;
        if agrees && fits {
            let _ = write!(line, " {}", row.why);
        }
        let _ = writeln!(text, "{}", paint(options, color(row.verdict), line.trim_end()));
        // A cause that holds for a run of rows is told once.
        let told = agrees || row.why.is_empty() || row.why == last;
        if !told {
            wrapped(text, "because", &row.why, options);
        }
        last = if agrees { "" } else { &row.why };
        if options.verbose && agrees && !fits {
            wrapped(text, "agrees", &row.why, options);
        }
        if options.verbose {
            verbose(text, row, options);
        }
    }
}

fn verbose(text: &mut String, row: &Row, options: TerminalOptions) {
    let lines: Vec<String> = row.lines.iter().map(ToString::to_string).collect();
    let place = match lines.is_empty() {
        true => row.section.clone(),
        false => format!("{}, lines {}", row.section, lines.join(", ")),
    };
    wrapped(text, "what", &format!("{} ({place})", row.what), options);
    let details = [
        ("how", &row.how),
        ("tolerance", &row.tolerance_reason),
        ("fitted", &row.fitted),
        ("note", &row.note),
    ];
    for (name, detail) in details {
        if let Some(detail) = detail {
            wrapped(text, name, detail, options);
        }
    }
}

/// A dimmed, indented paragraph.
fn wrapped(text: &mut String, name: &str, words: &str, options: TerminalOptions) {
    let indent = "      ";
    let mut line = format!("{indent}{name}:");
    let mut lines = Vec::new();
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > options.width.max(40) {
            lines.push(std::mem::replace(&mut line, format!("{indent}  {word}")));
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.push(line);
    for line in lines {
        let _ = writeln!(text, "{}", paint(options, "2", &line));
    }
}

fn summary(text: &mut String, all: &Reproduction, options: TerminalOptions) {
    let _ = writeln!(text, "{}", paint(options, "1", "Summary"));
    let _ = writeln!(
        text,
        "  {:<8}{:>11}{:>9}{:>16}{:>15}{:>8}",
        "source", "reproduced", "refuted", "not reproduced", "not decidable", "inputs"
    );
    let sums = all.summary();
    for sum in &sums {
        let _ = writeln!(
            text,
            "  {:<8}{:>11}{:>9}{:>16}{:>15}{:>8}",
            sum.source,
            sum.reproduced,
            sum.refuted,
            sum.not_reproduced,
            sum.not_decidable,
            sum.inputs
        );
    }
    let mut absent: Vec<&str> = all
        .rows
        .iter()
        .filter(|row| row.why.starts_with("data absent"))
        .map(|row| row.why.as_str())
        .collect();
    absent.sort_unstable();
    absent.dedup();
    for what in absent {
        let _ = writeln!(text, "  {what}");
    }
}

/// The number with its unit, and a star where it is no published number but a check of a model.
fn published(row: &Row) -> String {
    let star = if row.kind == Kind::Check { "*" } else { "" };
    format!("{star}{} {}", row.published_text(), row.unit).trim_end().to_owned()
}

/// Ours with a decimal more than the published number, and its range.
fn ours(row: &Row) -> String {
    let Some(ours) = row.ours else { return "-".to_owned() };
    let decimals = match row.published.split_once('.') {
        Some((_, decimals)) => decimals.len().min(3),
        None => 0,
    };
    let decimals = if ours.fract() == 0.0 && decimals == 0 { 0 } else { decimals + 1 };
    match row.ours_range {
        Some(range) if range.low != range.high => {
            format!("{ours:.decimals$} [{:.decimals$}, {:.decimals$}]", range.low, range.high)
        }
        _ => format!("{ours:.decimals$}"),
    }
}

fn difference(row: &Row) -> String {
    match row.difference_percent {
        Some(percent) if percent.abs() < 0.05 => "0.0 %".to_owned(),
        Some(percent) => format!("{percent:+.1} %"),
        None => String::new(),
    }
}

fn color(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "32",
        Verdict::Refuted => "31",
        Verdict::NotReproduced => "35",
        Verdict::NotDecidable => "33",
        Verdict::Input => "2",
    }
}

fn paint(options: TerminalOptions, code: &str, text: &str) -> String {
    match options.color && !text.is_empty() {
        true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        false => text.to_owned(),
    }
}
