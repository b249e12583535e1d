//! Numbers and words as a person reads them; every renderer formats through here, so that a figure
//! reads the same in the terminal, on the page and in a pull request.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use crate::model::{Delivered, Estimate, VerdictWord};

/// Decimals that leave at least three significant digits; integers are never rounded away.
pub(crate) fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        0.0 => 0,
        // Less than ten nanoseconds, in microseconds.
        v if v < 0.00995 => 5,
        _ => 3,
    }
}

/// A latency in microseconds, at least three significant digits: `10.9`, `179`, `7493`.
#[must_use]
pub fn micros(value: f64) -> String {
    number(value, decimals(value))
}

/// A number with fixed decimals; never `-0`, and `n/a` where it is not finite.
#[must_use]
pub fn number(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

/// The interval of an estimate in the estimate's own decimals: `[10.8, 11.0]`; `None` without one.
#[must_use]
pub fn interval(estimate: &Estimate) -> Option<String> {
    let digits = decimals(estimate.value);
    let (low, high) = (estimate.low?, estimate.high?);
    Some(format!("[{}, {}]", number(low, digits), number(high, digits)))
}

/// A latency estimate with its interval: `10.9 [10.8, 11.0]`, or `10.9 [no interval]`.
#[must_use]
pub fn micros_interval(estimate: &Estimate) -> String {
    let bounds = interval(estimate).unwrap_or_else(|| "[no interval]".to_owned());
    format!("{} {bounds}", micros(estimate.value))
}

/// Whether a ratio reads better as a change in percent than as a factor.
fn is_small_change(ratio: f64) -> bool {
    (0.5..2.0).contains(&ratio)
}

/// A ratio as a change (`-4.1 %`) between 0.5 and 2, as a factor (`3.40x`) elsewhere.
#[must_use]
pub fn change(ratio: f64) -> String {
    if is_small_change(ratio) {
        format!("{} %", signed_percent(ratio))
    } else {
        format!("{}x", number(ratio, decimals(ratio).max(2)))
    }
}

/// The same with its interval, both in one unit: `-4.1 % [-5.0, -3.3]`, `3.40x [3.31, 3.49]`.
#[must_use]
pub fn change_interval(ratio: &Estimate) -> String {
    match change_bounds(ratio) {
        Some(bounds) => format!("{} {bounds}", change(ratio.value)),
        None => format!("{} [no interval]", change(ratio.value)),
    }
}

/// The interval of a ratio in the unit that [`change`] picks for its value.
#[must_use]
pub fn change_bounds(ratio: &Estimate) -> Option<String> {
    let (low, high) = (ratio.low?, ratio.high?);
    Some(if is_small_change(ratio.value) {
        format!("[{}, {}]", signed_percent(low), signed_percent(high))
    } else {
        let digits = decimals(ratio.value).max(2);
        format!("[{}, {}]", number(low, digits), number(high, digits))
    })
}

/// A ratio as a factor with its interval: `1.42x [1.38, 1.46]`.
#[must_use]
pub fn factor_interval(ratio: &Estimate) -> String {
    let digits = decimals(ratio.value).max(2);
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(
            "{}x [{}, {}]",
            number(ratio.value, digits),
            number(low, digits),
            number(high, digits)
        ),
        _ => format!("{}x [no interval]", number(ratio.value, digits)),
    }
}

fn signed_percent(ratio: f64) -> String {
    let text = number((ratio - 1.0) * 100.0, 1);
    if text.starts_with('-') || text == "0.0" || text == "n/a" { text } else { format!("+{text}") }
}

/// A share from 0 to 1 as percent: `0.4 %`, `31 %`, `< 0.1 %`.
#[must_use]
pub fn share(value: f64) -> String {
    let percent = value * 100.0;
    match percent {
        p if p > 0.0 && p < 0.1 => "< 0.1 %".to_owned(),
        p if p < 9.95 && p != 0.0 => format!("{} %", number(p, 1)),
        p => format!("{} %", number(p, 0)),
    }
}

/// `count` of `total` as a share; `0 %` of nothing.
#[must_use]
pub fn share_of(count: u64, total: u64) -> String {
    share(if total == 0 { 0.0 } else { count as f64 / total as f64 })
}

/// Delivered frequency: gigahertz (`3.04`) or, where only relative, percent (`97 %`).
#[must_use]
pub fn delivered(delivered: &Delivered) -> String {
    if is_percent(delivered) {
        format!("{} %", number(delivered.median, 0))
    } else {
        number(delivered.median / 1000.0, 2)
    }
}

/// Whether the frequency is known only relative to the best seen.
pub(crate) fn is_percent(delivered: &Delivered) -> bool {
    delivered.source == "percent"
}

/// A p-value: two significant digits, `< 0.001` below.
#[must_use]
pub fn p_value(p: f64) -> String {
    match p {
        p if !p.is_finite() => "n/a".to_owned(),
        p if p < 0.001 => "< 0.001".to_owned(),
        p if p < 0.0995 => number(p, 3),
        p => number(p, 2),
    }
}

/// A duration in seconds as `41 s`, `3 min 20 s` or `2 h 5 min`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "n/a".to_owned();
    }
    if seconds < 10.0 {
        return format!("{} s", number(seconds, 1));
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A count with its noun: `1 window`, `3 windows`.
#[must_use]
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The verdict's word as printed.
#[must_use]
pub fn verdict(word: VerdictWord) -> &'static str {
    match word {
        VerdictWord::Effect => "effect",
        VerdictWord::Equivalent => "equivalent",
        VerdictWord::Undecided => "undecided",
        VerdictWord::Confounded => "confounded",
        VerdictWord::Unproven => "unproven",
    }
}

/// The text with a capital at its beginning, as a heading has it; a path keeps its letters.
#[must_use]
pub fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.contains(['/', '.', '_']) {
        return text.to_owned();
    }
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

/// Text without control characters, so that a name from a file cannot drive the terminal.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || is_bidi_control(c) { '\u{fffd}' } else { c })
        .collect()
}

/// What sets a colour in our own texts, and ends it.
const COLOURS: [&str; 12] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[35m",
    "\u{1b}[36m",
    "\u{1b}[1;31m",
    "\u{1b}[1;32m",
    "\u{1b}[1;33m",
    "\u{1b}[1;35m",
];

/// The same of several lines, which stay lines, with their tabs and, where `colours` are ours, those.
#[must_use]
pub fn harmless(text: &str, colours: bool) -> Cow<'_, str> {
    let drives = |c: char| !matches!(c, '\n' | '\t') && (c.is_control() || is_bidi_control(c));
    if !text.contains(drives) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(drives) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let colour = COLOURS.iter().find(|colour| colours && from.starts_with(**colour));
        out.push_str(colour.unwrap_or(&"\u{fffd}"));
        let length = from.chars().next().map_or(from.len(), char::len_utf8);
        rest = &from[colour.map_or(length, |colour| colour.len())..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// Columns that `text` takes in a terminal.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// The beginning of `text` that fits into `columns`; at least one character.
#[must_use]
pub fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used > columns && at > 0 {
            return &text[..at];
        }
    }
    text
}

/// `text` cut to `columns` with an ellipsis in its place of cut.
#[must_use]
pub fn truncate(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if width(&out) + width(c.encode_utf8(&mut [0; 4])) + 1 > columns {
            break;
        }
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// Greedy word wrap; a word longer than a line is broken.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            if !line.is_empty() && width(&line) + width(c.encode_utf8(&mut [0; 4])) > columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low: Some(low), high: Some(high) }
    }

    #[test]
    fn latencies_keep_three_digits_and_never_round_integers() {
        let shown: Vec<_> = [0.0, 0.1234, 1.0, 9.999, 10.94, 99.96, 178.99, 7493.18]
            .into_iter()
            .map(micros)
            .collect();
        assert_eq!(shown, ["0", "0.123", "1.00", "10.0", "10.9", "100", "179", "7493"]);
        assert_eq!(micros(f64::NAN), "n/a");
    }

    #[test]
    fn an_interval_takes_the_decimals_of_its_estimate() {
        assert_eq!(micros_interval(&estimate(10.9, 9.87, 11.02)), "10.9 [9.9, 11.0]");
        let none = Estimate { value: 10.9, low: None, high: None };
        assert_eq!(micros_interval(&none), "10.9 [no interval]");
    }

    #[test]
    fn small_changes_are_percent_and_large_ones_factors() {
        assert_eq!(change_interval(&estimate(0.959, 0.95, 0.967)), "-4.1 % [-5.0, -3.3]");
        assert_eq!(change_interval(&estimate(3.4, 3.31, 3.494)), "3.40x [3.31, 3.49]");
        assert_eq!(change(1.00001), "0.0 %");
        assert_eq!(change(0.99999), "0.0 %");
    }

    #[test]
    fn shares_do_not_hide_rare_events() {
        assert_eq!(share_of(1, 100_000), "< 0.1 %");
        assert_eq!(share_of(4, 1000), "0.4 %");
        assert_eq!(share_of(0, 0), "0 %");
        assert_eq!(share(1.0), "100 %");
    }

    #[test]
    fn names_cannot_drive_the_terminal() {
        assert_eq!(plain("a\u{1b}[31m\u{202e}"), "a\u{fffd}[31m\u{fffd}");
        let hostile = "a\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[8mz\r\u{9b}5n\n\tz\u{1b}";
        let shown =
            "a\u{fffd}]0;title\u{fffd}\u{fffd}[2J\u{fffd}[8mz\u{fffd}\u{fffd}5n\n\tz\u{fffd}";
        assert_eq!(harmless(hostile, true), shown);
        let coloured = "\u{1b}[1;31mbad\u{1b}[0m";
        assert_eq!(harmless(coloured, true), coloured);
        assert_eq!(harmless(coloured, false), "\u{fffd}[1;31mbad\u{fffd}[0m");
        assert!(matches!(harmless("plain \u{fc}\n", false), Cow::Borrowed(_)));
    }

    #[test]
    fn wrapping_counts_columns_not_bytes() {
        assert_eq!(wrap("αβγ δε 測測測", 6), ["αβγ δε", "測測測"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(truncate("測測測", 5), "測測…");
        assert_eq!(truncate("abc", 3), "abc");
    }

    #[test]
    fn durations_and_p_values() {
        assert_eq!(duration(41.2), "41 s");
        assert_eq!(duration(200.0), "3 min 20 s");
        assert_eq!(duration(7500.0), "2 h 5 min");
        assert_eq!(p_value(0.0004), "< 0.001");
        assert_eq!(p_value(0.031), "0.031");
    }
}
