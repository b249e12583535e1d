//! The audit for a terminal: verdict first, the bad ones first, at most three lines each.

use crate::audit::{ALL_CPUS, Audit};
use crate::finding::{Evidence, Finding, Severity};
use std::fmt::Write;

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Columns to use for prose. Commands are never broken.
    pub width: usize,
    /// Whether to colour severities.
    pub color: bool,
    /// Everything: also what is fine, evidence, and what makes a fix last.
    pub verbose: bool,
}

/// Lines of the short form, so that it fits a small terminal.
const LINES: usize = 25;

/// Columns in front of everything but a finding's first line.
const INDENT: usize = 6;

/// Sources with the same value that are named before the rest is only counted.
const SAME: usize = 2;

/// The audit as text.
pub fn text(audit: &Audit, style: Style) -> String {
    let mut lines = vec![audit.verdict.clone()];
    lines.extend(wrap(&audit.machine, style.width));
    lines.push(String::new());
    match style.verbose {
        true => long(audit, style, &mut lines),
        false => short(audit, style, &mut lines),
    }
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{}", line.trim_end());
        text
    })
}

/// The lines of one finding in the short form.
struct Block {
    id: &'static str,
    head: Vec<String>,
    effect: Vec<String>,
    fix: Option<String>,
    /// Whether lines may go where there are too many.
    may_shrink: bool,
}

impl Block {
    fn new(finding: &Finding, style: Style) -> Block {
        let fix = finding.fix.as_ref().and_then(|fix| match (&fix.command, &fix.persistent) {
            (Some(command), _) => Some(format!("{:INDENT$}fix: {command}", "")),
            (None, Some(text)) => Some(format!("{:INDENT$}do:  {text}", "")),
            (None, None) => None,
        });
        Block {
            id: finding.id.name(),
            head: head(finding, style),
            effect: indented(&finding.effect, style.width),
            fix,
            may_shrink: finding.severity < Severity::Bad,
        }
    }

    fn len(&self) -> usize {
        self.head.len() + self.effect.len() + usize::from(self.fix.is_some())
    }

    fn lines(self) -> impl Iterator<Item = String> {
        self.head.into_iter().chain(self.effect).chain(self.fix)
    }
}

fn short(audit: &Audit, style: Style, lines: &mut Vec<String>) {
    let shown = audit.findings.iter().filter(|finding| finding.severity >= Severity::Warn);
    let mut blocks: Vec<Block> = shown.map(|finding| Block::new(finding, style)).collect();
    let notes: Vec<&Finding> =
        audit.findings.iter().filter(|finding| finding.severity == Severity::Note).collect();
    let end = tail(audit, style);
    // Behind the findings: a blank line, names of warnings and of all notes that have no room.
    let names: Vec<&str> = notes.iter().map(|finding| finding.id.name()).collect();
    let folded_lines = named("More notes", &names, ", ", style.width).len();
    let room = LINES.saturating_sub(lines.len() + 2 + folded_lines + end.len());
    let total = |blocks: &[Block]| blocks.iter().map(Block::len).sum::<usize>();
    // Effects of the least important go first, then whole findings; never those that are bad.
    for index in (0..blocks.len()).rev() {
        if total(&blocks) > room && blocks[index].may_shrink {
            blocks[index].effect.clear();
        }
    }
    let mut dropped = Vec::new();
    while total(&blocks) > room && blocks.last().is_some_and(|block| block.may_shrink) {
        dropped.extend(blocks.pop().map(|block| block.id));
    }
    dropped.reverse();
    let mut folded = Vec::new();
    for finding in notes {
        let block = Block::new(finding, style);
        match dropped.is_empty() && folded.is_empty() && total(&blocks) + block.len() <= room {
            true => blocks.push(block),
            false => folded.push(block.id),
        }
    }
    folded.dedup();
    let any = !blocks.is_empty();
    lines.extend(blocks.into_iter().flat_map(Block::lines));
    if any {
        lines.push(String::new());
    }
    for (title, ids) in [("More warnings", &dropped), ("More notes", &folded)] {
        if !ids.is_empty() {
            lines.extend(named(title, ids, ", ", style.width));
        }
    }
    lines.extend(end);
}

/// The last lines of the short form.
fn tail(audit: &Audit, style: Style) -> Vec<String> {
    let what: Vec<&str> = audit.not_known.iter().map(|unknown| unknown.what.as_str()).collect();
    named("Not known", &what, "; ", style.width)
}

/// A line of names behind a title.
fn named(title: &str, names: &[&str], between: &str, width: usize) -> Vec<String> {
    let wrapped = wrap(&names.join(between), width.saturating_sub(14));
    let lines = wrapped.iter().enumerate().map(|(index, line)| match index {
        0 => format!("{title:<14}{line}"),
        _ => format!("{:14}{line}", ""),
    });
    lines.collect()
}

fn long(audit: &Audit, style: Style, lines: &mut Vec<String>) {
    for finding in &audit.findings {
        lines.extend(head(finding, style));
        lines.extend(indented(&finding.effect, style.width));
        for line in evidence(&finding.evidence) {
            lines.push(format!("{:INDENT$}seen: {line}", ""));
        }
        if let Some(fix) = &finding.fix {
            let parts = [("fix: ", &fix.command), ("keep:", &fix.persistent)];
            for (name, text) in parts {
                lines.extend(text.as_ref().map(|text| format!("{:INDENT$}{name} {text}", "")));
            }
        }
    }
    if !audit.not_known.is_empty() {
        lines.push(String::new());
        lines.push("Not known".to_owned());
        for unknown in &audit.not_known {
            lines.extend(indented(&format!("{}: {}", unknown.what, unknown.why), style.width));
        }
    }
}

/// Sources with the same value in one line.
fn evidence(all: &[Evidence]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for seen in all {
        match groups.iter_mut().find(|(value, _)| *value == seen.value) {
            Some((_, sources)) => sources.push(&seen.source),
            None => groups.push((&seen.value, vec![&seen.source])),
        }
    }
    let lines = groups.into_iter().map(|(value, sources)| {
        let shown = sources.len().min(SAME);
        let more = match sources.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more} = {value}", sources[..shown].join(", "))
    });
    lines.collect()
}

/// `bad   id: what was found [object]`.
fn head(finding: &Finding, style: Style) -> Vec<String> {
    let object = match finding.object.as_str() {
        // Nothing to tell apart.
        "machine" | ALL_CPUS => String::new(),
        object if finding.found.contains(object) => String::new(),
        object => format!(" [{object}]"),
    };
    let text = format!("{}: {}{object}", finding.id, finding.found);
    let wrapped = wrap(&text, style.width.saturating_sub(INDENT));
    let severity = finding.severity.name();
    let lines = wrapped.iter().enumerate().map(|(index, line)| match index {
        0 => format!("{}{line}", painted(severity, finding.severity, style.color)),
        _ => format!("{:INDENT$}{line}", ""),
    });
    lines.collect()
}

/// The word for a severity in its column, coloured where wanted.
fn painted(word: &str, severity: Severity, color: bool) -> String {
    let code = match severity {
        Severity::Bad => "1;31",
        Severity::Warn => "33",
        Severity::Note => "36",
        Severity::Ok => "32",
    };
    match color {
        true => format!("\x1b[{code}m{word}\x1b[0m{:1$}", "", INDENT.saturating_sub(word.len())),
        false => format!("{word:<INDENT$}"),
    }
}

fn indented(text: &str, width: usize) -> Vec<String> {
    let wrapped = wrap(text, width.saturating_sub(INDENT));
    wrapped.iter().map(|line| format!("{:INDENT$}{line}", "")).collect()
}

/// Breaks prose between words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("longer-than-the-width x", 5), ["longer-than-the-width", "x"]);
        assert!(wrap("", 5).is_empty());
    }

    #[test]
    fn like_evidence_is_counted() {
        let seen = |source: &str, value: &str| Evidence {
            source: source.to_owned(),
            value: value.to_owned(),
        };
        let all = [seen("a", "1"), seen("b", "1"), seen("c", "1"), seen("d", "2")];
        assert_eq!(evidence(&all), ["a, b and 1 more = 1", "d = 2"]);
    }

    #[test]
    fn colour_takes_no_room() {
        assert_eq!(painted("bad", Severity::Bad, true), "\x1b[1;31mbad\x1b[0m   ");
        assert_eq!(painted("bad", Severity::Bad, false), "bad   ");
    }
}
