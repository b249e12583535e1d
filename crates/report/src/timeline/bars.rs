//! Durations as bars: `1.728 ▇▇▇▇▇▇▇ 8.0`.

use super::canvas::Charset;
use crate::terminal::Style;
use crate::text;

/// Most bars of a block; residencies with more values are put into bins before.
pub(super) const MOST: usize = 32;

/// One bar.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub label: String,
    pub ns: u64,
}

/// The lines of a block of bars: title and one line each. `longest` is the duration of a full
/// bar; runs beside one another share it.
pub(super) fn lines(
    title: &str,
    bars: &[Bar],
    longest: u64,
    width: usize,
    charset: Charset,
    style: Style,
) -> Vec<String> {
    let mut out = vec![style.bold(&text::truncate(&format!("{title} (ms)"), width))];
    if bars.is_empty() {
        out.push(style.dim("  none"));
        return out;
    }
    let margin = bars.iter().map(|bar| text::width(&bar.label)).max().unwrap_or(0);
    let values: Vec<String> = bars.iter().map(|bar| millis(bar.ns)).collect();
    let value_room = values.iter().map(String::len).max().unwrap_or(0);
    let room = width.saturating_sub(margin + value_room + 4).max(4);
    for (bar, value) in bars.iter().zip(&values).take(MOST) {
        let share = bar.ns as f64 / longest.max(1) as f64;
        // Whatever took any time shows: one cell at least.
        let cells = ((share * room as f64).round() as usize).clamp(usize::from(bar.ns > 0), room);
        let pad = " ".repeat(margin.saturating_sub(text::width(&bar.label)));
        let filled: String = std::iter::repeat_n(charset.bar(), cells).collect();
        out.push(format!("  {}{pad} {filled} {value}", bar.label));
    }
    if bars.len() > MOST {
        out.push(style.dim(&format!("  ... and {} more", bars.len() - MOST)));
    }
    out
}

/// A duration in milliseconds with one decimal, more below 1 ms.
pub(super) fn millis(ns: u64) -> String {
    let ms = ns as f64 / 1e6;
    text::number(ms, if ns == 0 || ms >= 1.0 { 1 } else { 3 })
}
