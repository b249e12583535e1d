//! What stands above and below the table: verdicts, disturbances, gaps, and where the files are.

use super::Style;
use super::TerminalOptions;
use crate::model::{Comparison, Finding, Report, VerdictWord};
use crate::text;

/// Verdicts shown in the short form.
const MAX_VERDICTS: usize = 4;
/// Lines of an effect that are shown whatever stands below: its size, and the first of its causes.
const EFFECT_LINES: usize = 3;
/// Columns of the longest verdict.
const WORD: usize = 10;

/// How much of each kind of finding is shown.
#[derive(Clone, Copy)]
struct Detail {
    /// Findings of each kind.
    findings: usize,
    /// Lines of each.
    lines: usize,
}

/// Everything.
const WHOLE: Detail = Detail { findings: usize::MAX, lines: usize::MAX };

/// The short form, from the fullest to the tersest; the first that fits is taken.
const SHORT: [Detail; 3] = [
    Detail { findings: 2, lines: 2 },
    Detail { findings: 2, lines: 1 },
    Detail { findings: 1, lines: 1 },
];

/// Runs that are not whole: said before anything else.
pub(super) fn unfinished(report: &Report, width: usize, style: Style) -> Vec<String> {
    let told =
        |sentence: &String| labelled("Not whole", &text::plain(sentence), width, style, usize::MAX);
    report.unfinished().iter().flat_map(told).collect()
}

/// Verdicts in words, the most important first, in at most `room` lines (but never less than one
/// line for each of the first [`MAX_VERDICTS`], and [`EFFECT_LINES`] for an effect).
pub(super) fn verdicts(report: &Report, width: usize, style: Style, room: usize) -> Vec<String> {
    let verbose = room == usize::MAX;
    let mut lines = vec![style.bold("Verdicts")];
    if report.comparisons.is_empty() {
        lines.push(format!("  none: {}", report.not_compared()));
    }
    let limit = if verbose { usize::MAX } else { MAX_VERDICTS };
    let shown = &report.comparisons[..report.comparisons.len().min(limit)];
    let mut closing = Vec::new();
    if report.comparisons.len() > limit {
        let more = text::count((report.comparisons.len() - limit) as u64, "more comparison");
        closing.push(style.dim(&format!("  ... and {more}")));
    }
    for warning in report.warnings.iter().take(if verbose { usize::MAX } else { 1 }) {
        let keep = if verbose { usize::MAX } else { 1 };
        closing.extend(labelled("Warning", &text::plain(warning), width, style, keep));
    }
    let titles = shown.iter().map(|c| text::width(&text::plain(&c.title)));
    let title = titles.max().unwrap_or(0).min(width * 2 / 5);
    let indent = 2 + title + 2 + WORD + 2;
    let sentences: Vec<Vec<String>> = shown
        .iter()
        .map(|c| text::wrap(&text::plain(&c.sentence), width.saturating_sub(indent)))
        .collect();
    // Beside the title's lines a sentence costs nothing.
    let lengths: Vec<usize> = sentences.iter().map(Vec::len).collect();
    let least = shown.iter().zip(&lengths).map(|(c, length)| {
        let effect = if c.verdict == VerdictWord::Effect { EFFECT_LINES } else { 1 };
        names(c, title).len().max(effect.min(*length))
    });
    let least: Vec<usize> = least.collect();
    let taken = lines.len() + closing.len() + least.iter().sum::<usize>();
    let keeps = share(&least, &lengths, room.saturating_sub(taken));
    for ((comparison, sentence), keep) in shown.iter().zip(sentences).zip(keeps) {
        lines.extend(verdict(comparison, title, &cut(sentence, keep, width - indent), style));
    }
    lines.extend(closing);
    lines
}

/// Lines for each sentence: at least so many each, then one more in turn while `spare` lasts.
fn share(least: &[usize], lengths: &[usize], mut spare: usize) -> Vec<usize> {
    let mut keeps = least.to_vec();
    loop {
        let before = spare;
        for (keep, length) in keeps.iter_mut().zip(lengths) {
            if spare > 0 && *keep < *length {
                *keep += 1;
                spare -= 1;
            }
        }
        if spare == before || spare == 0 {
            return keeps;
        }
    }
}

fn verdict(c: &Comparison, title: usize, sentence: &[String], style: Style) -> Vec<String> {
    let indent = 2 + title + 2 + WORD + 2;
    let names = names(c, title);
    let word = text::verdict(c.verdict).to_uppercase();
    let line = |i: usize| {
        let name = names.get(i).map_or("", String::as_str);
        let part = sentence.get(i).map_or("", String::as_str);
        let gap = " ".repeat(title.saturating_sub(text::width(name)) + 2);
        if i == 0 {
            let after = " ".repeat(WORD.saturating_sub(word.len()) + 2);
            format!("  {name}{gap}{}{after}{part}", style.verdict(c.verdict, &word))
        } else {
            let after = " ".repeat(indent.saturating_sub(title + 4));
            format!("  {name}{gap}{after}{part}").trim_end().to_owned()
        }
    };
    (0..names.len().max(sentence.len())).map(line).collect()
}

/// The title in lines of its column.
fn names(c: &Comparison, columns: usize) -> Vec<String> {
    let lines = text::wrap(&text::plain(&c.title), columns);
    if lines.is_empty() { vec![String::new()] } else { lines }
}

/// What stands where a text goes on.
const MORE: &str = " ...";

/// The first `keep` lines; where more followed the text ends with a whole clause, or at least a
/// whole word, and says where the rest is. At least one line.
fn cut(mut lines: Vec<String>, keep: usize, columns: usize) -> Vec<String> {
    if lines.len() > keep {
        let rest = lines[keep - 1..].join(" ");
        lines.truncate(keep - 1);
        let room = columns.saturating_sub(MORE.len());
        lines.push(format!("{}{MORE}", whole_clauses(text::head(&rest, room))));
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// `text` up to its last whole clause, if that is most of it, else up to its last whole word; an
/// interval is never cut in two.
fn whole_clauses(text: &str) -> &str {
    // An interval may have begun on the line before.
    let outside = |at: &usize| match text[..*at].rfind(['[', ']']) {
        Some(bracket) => text[bracket..].starts_with(']'),
        None => !text[*at..].trim_start_matches(|c| c != '[' && c != ']').starts_with(']'),
    };
    let last = |mark: &str| text.rmatch_indices(mark).map(|(at, _)| at).find(outside);
    let most = |at: &usize| 2 * at > text.len();
    let clause = ["; ", ", ", ": "].into_iter().filter_map(last).filter(most).max();
    let end = clause.or_else(|| last(" ")).or_else(|| text.rfind(' ')).unwrap_or(text.len());
    text[..end].trim_end_matches([' ', ',', ';', ':', '('])
}

/// A label in the margin and wrapped text beside it.
pub(super) fn labelled(
    label: &str,
    body: &str,
    width: usize,
    style: Style,
    keep: usize,
) -> Vec<String> {
    const MARGIN: usize = 13;
    let pad = " ".repeat(MARGIN.saturating_sub(text::width(label)));
    let columns = width.saturating_sub(MARGIN);
    cut(text::wrap(body, columns), keep, columns)
        .into_iter()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("{}{pad}{line}", style.bold(label)),
            _ => format!("{}{line}", " ".repeat(MARGIN)),
        })
        .collect()
}

/// What disturbed, what could not be checked, where the run and the page are; in `room` lines
/// where that can be, but never without the paths.
pub(super) fn closing(
    report: &Report,
    options: &TerminalOptions,
    width: usize,
    style: Style,
    room: usize,
) -> Vec<String> {
    let paths = paths(report, options, style);
    let of = |detail| {
        let none = match report.disturbances_recorded() {
            true => "nothing seen",
            false => "nothing that would show it was recorded",
        };
        let mut lines = findings("Disturbed", none, &report.disturbances, width, style, detail);
        if !report.not_checked.is_empty() {
            lines.extend(findings("Not checked", "", &report.not_checked, width, style, detail));
        }
        lines
    };
    let fits = |lines: &Vec<String>| lines.len() + paths.len() <= room;
    let mut lines = if options.verbose {
        of(WHOLE)
    } else {
        let [.., least] = SHORT;
        SHORT.into_iter().map(of).find(fits).unwrap_or_else(|| of(least))
    };
    lines.extend(paths);
    lines
}

/// Where the runs and the page are.
pub(super) fn paths(report: &Report, options: &TerminalOptions, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    let own = report.runs.iter().map(|r| r.path.clone()).collect();
    let runs: Vec<String> = if options.runs.is_empty() { own } else { options.runs.clone() };
    for (i, run) in runs.iter().enumerate().take(if options.verbose { usize::MAX } else { 1 }) {
        let more = match runs.len() - 1 {
            n if n > 0 && !options.verbose => {
                format!("  and {}", text::count(n as u64, "more run"))
            }
            _ => String::new(),
        };
        lines.push(path_line(if i == 0 { "Run" } else { "" }, &(text::plain(run) + &more), style));
    }
    if let Some(page) = &options.page {
        lines.push(path_line("Page", &text::plain(page), style));
    }
    if let Some(more) = options.more.as_ref().filter(|_| !options.verbose) {
        lines.push(path_line("More", &text::plain(more), style));
    }
    lines
}

/// A path is never cut or wrapped: it is there to be copied.
fn path_line(label: &str, path: &str, style: Style) -> String {
    format!("{}{}{path}", style.bold(label), " ".repeat(13 - label.len()))
}

fn findings(
    label: &str,
    none: &str,
    findings: &[Finding],
    width: usize,
    style: Style,
    detail: Detail,
) -> Vec<String> {
    if findings.is_empty() {
        return labelled(label, none, width, style, detail.lines);
    }
    let limit = detail.findings;
    let mut lines = Vec::new();
    let mut told = None;
    for (i, finding) in findings.iter().take(limit).enumerate() {
        let body = format!("{}: {}", text::plain(&finding.object), text::plain(&finding.text));
        lines.extend(labelled(if i == 0 { label } else { "" }, &body, width, style, detail.lines));
        // The same command twice in a row says nothing new.
        if let Some(hint) = finding.hint.as_ref().filter(|hint| told != Some(*hint)) {
            told = Some(hint);
            // A command is not wrapped either: it must survive being copied.
            lines.push(format!(
                "{}{}",
                " ".repeat(13),
                style.dim(&format!("$ {}", text::plain(hint)))
            ));
        }
    }
    if findings.len() > limit {
        let more = format!("... and {} more", findings.len() - limit);
        lines.push(format!("{}{}", " ".repeat(13), style.dim(&more)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_leaves_intervals_whole() {
        let begun_before = "1905] from cycles, +336 us [286, 386";
        assert_eq!(whole_clauses(begun_before), "1905] from cycles, +336 us");
        assert_eq!(
            whole_clauses("response p99 1.68x [1.50, 1.89]: +1 us [1, 2"),
            "response p99 1.68x [1.50, 1.89]"
        );
        assert_eq!(whole_clauses("1.50, 1.89]: waiting"), "1.50, 1.89]");
        assert_eq!(whole_clauses("no interval, but words"), "no interval, but");
    }
}
