//! One curve over time in a frame with axes.

use super::canvas::{Canvas, Charset};
use super::curve::{Curve, Reach};
use crate::draw::axis::Scale;
use crate::terminal::Style;
use crate::text;

/// What a plot looks like besides its curve; runs beside one another share it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    /// From when to when, in milliseconds.
    pub from_ms: f64,
    pub to_ms: f64,
    /// The top of the plot; its bottom is 0.
    pub top: f64,
    /// Decimals of the values on the axis.
    pub decimals: usize,
}

/// Values on the axis above its 0.
const LABELS: usize = 4;

/// Columns that a label of the time axis may take.
const LABEL_ROOM: usize = 12;

/// The lines of a plot: title, frame, time axis; `width` columns at most.
pub(super) fn lines(
    title: &str,
    curve: &Curve,
    axes: Axes,
    size: (usize, usize),
    charset: Charset,
    style: Style,
) -> Vec<String> {
    let (width, height) = size;
    let labels = values(axes, height);
    let margin = labels.iter().map(|label| label.len()).max().unwrap_or(0);
    let inner = width.saturating_sub(margin + 2).max(10);
    let [across, up, tick, ..] = charset.frame();
    let [.., left_top, right_top, right_low, left_low] = charset.frame();
    let rule: String = std::iter::repeat_n(across, inner).collect();
    let pad = " ".repeat(margin);
    let mut out = vec![style.bold(&text::truncate(&format!("{pad} {title}"), width))];
    out.push(style.dim(&format!("{pad}{left_top}{rule}{right_top}")));
    for (row, label) in draw(curve, axes, inner, height, charset).iter().zip(&labels) {
        let edge = if label.is_empty() { up } else { tick };
        let left = format!("{label:>margin$}{edge}");
        out.push(format!("{}{row}{}", style.dim(&left), style.dim(&up.to_string())));
    }
    let (ticks, times) = time_axis(axes, inner, charset);
    out.push(style.dim(&format!("{pad}{left_low}{ticks}{right_low}")));
    out.push(style.dim(&format!("{pad} {times}")));
    out
}

/// The value of each row from the top; empty between the labelled ones.
fn values(axes: Axes, height: usize) -> Vec<String> {
    let last = height.saturating_sub(1).max(1);
    let labelled: Vec<usize> = (0..=LABELS).map(|at| at * last / LABELS).collect();
    let label = |row: usize| {
        let value = axes.top * (last - row.min(last)) as f64 / last as f64;
        let shown = labelled.contains(&row);
        if shown { text::number(value, axes.decimals) } else { String::new() }
    };
    (0..height).map(label).collect()
}

fn draw(curve: &Curve, axes: Axes, width: usize, height: usize, charset: Charset) -> Vec<String> {
    let mut canvas = Canvas::new(charset, width, height);
    let (across, down) = canvas.size();
    let scale = Scale::linear(0.0, axes.top, 0.0, down.saturating_sub(1) as f64);
    let pixel = |value: f64| scale.at(value).round() as usize;
    let mut before: Option<Reach> = None;
    for (x, reach) in curve.columns(axes.from_ms, axes.to_ms, across).into_iter().enumerate() {
        if let Some(reach) = reach {
            // A step is drawn as a riser from where the line was.
            let from = before.map_or(reach.low, |before| before.last);
            let low = reach.low.min(from);
            let high = reach.high.max(from);
            canvas.column(x, pixel(low), pixel(high));
        }
        before = reach;
    }
    canvas.lines()
}

/// The frame's lower edge with its ticks, and the times below it.
fn time_axis(axes: Axes, width: usize, charset: Charset) -> (String, String) {
    let [across, _, _, tick, ..] = charset.frame();
    let unit = "ms";
    let scale = Scale::linear(axes.from_ms, axes.to_ms, 0.0, width.saturating_sub(1) as f64);
    let mut edge: Vec<char> = vec![across; width];
    let mut times = String::new();
    let room = width.saturating_sub(unit.len() + 1);
    for (value, label) in scale.ticks(width / LABEL_ROOM) {
        let at = scale.at(value).round() as usize;
        let begin = at.saturating_sub(label.len() / 2);
        let free = times.is_empty() || begin > times.len();
        if !free || begin + label.len() > room {
            continue;
        }
        if let Some(cell) = edge.get_mut(at) {
            *cell = tick;
        }
        times.push_str(&" ".repeat(begin.saturating_sub(times.len())));
        times.push_str(&label);
    }
    times.push_str(&" ".repeat(width.saturating_sub(times.len() + unit.len())));
    times.push_str(unit);
    (edge.into_iter().collect(), times)
}
