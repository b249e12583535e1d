//! Bars with intervals, hatching for mixtures and the modes beside them: shared by the figures.

use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::model::Estimate;
use crate::text;

/// One bar and what qualifies it.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub label: String,
    pub value: Estimate,
    /// `1.42x` or so, above the bar; empty for the baseline.
    pub ratio: String,
    /// Why the bar must not be read alone.
    pub caveat: Option<String>,
    /// Modes: label, latency and share.
    pub strata: Vec<(String, f64, f64)>,
    pub series: usize,
}

/// Where a chart lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

const AXIS: f64 = 46.0;
const LABELS: f64 = 40.0;
const ABOVE: f64 = 30.0;

/// Draws bars over a linear axis from zero, with a title over the frame.
pub(super) fn chart(scene: &mut Scene, frame: Frame, title: &str, bars: &[Bar], notes: bool) {
    let above = if title.is_empty() { 0.0 } else { ABOVE };
    let inner = Frame {
        x: frame.x + AXIS,
        y: frame.y + above,
        width: frame.width - AXIS,
        height: frame.height - above - LABELS,
    };
    let room = frame.width - 8.0;
    scene.text(frame.x, frame.y + 6.0, font::fit(title, 14.0, Weight::SemiBold, room), 14.0).bold();
    if bars.is_empty() {
        scene.text(inner.x, inner.y + 30.0, "no windows", 12.0).fill(Paint::Muted);
        return;
    }
    let top = bars.iter().flat_map(tops).fold(0.0, f64::max);
    let base = inner.y + inner.height;
    let scale = Scale::linear(0.0, top * 1.18, base, inner.y);
    for (value, label) in scale.ticks(4) {
        let y = scale.at(value);
        scene.line((inner.x, y), (inner.x + inner.width, y)).stroke(Paint::Grid, 1.0);
        scene.text(inner.x - 7.0, y + 4.0, label, 11.0).end().fill(Paint::Muted);
    }
    let slot = inner.width / bars.len() as f64;
    for (i, bar) in bars.iter().enumerate() {
        let centre = inner.x + slot * (i as f64 + 0.5);
        draw_bar(scene, bar, centre, slot, base, scale, notes);
    }
    scene.line((inner.x, base), (inner.x + inner.width, base)).stroke(Paint::Muted, 1.0);
}

fn tops(bar: &Bar) -> Vec<f64> {
    let own = [bar.value.value, bar.value.high.unwrap_or(0.0)];
    own.into_iter().chain(bar.strata.iter().map(|s| s.1)).filter(|v| v.is_finite()).collect()
}

fn draw_bar(
    scene: &mut Scene,
    bar: &Bar,
    centre: f64,
    slot: f64,
    base: f64,
    scale: Scale,
    notes: bool,
) {
    let width = (slot * if bar.strata.is_empty() { 0.5 } else { 0.36 }).clamp(3.0, 76.0);
    // With modes beside it the bar moves left, so that the pair stays centred in its slot.
    let left = centre - width / 2.0 - if bar.strata.is_empty() { 0.0 } else { slot * 0.14 };
    let top = scale.at(bar.value.value);
    let doubtful = bar.caveat.is_some();
    let mut tip = format!("{}: {} us", bar.label, text::micros_interval(&bar.value));
    if let Some(caveat) = &bar.caveat {
        tip = format!("{tip}; {caveat}");
    }
    scene
        .rect(left, top, width, base - top)
        .rounded(2.0)
        .fill(Paint::Series(bar.series))
        .opacity(if doubtful { 0.28 } else { 0.92 })
        .tooltip(tip);
    if doubtful {
        scene.hatch(left, top, width, base - top, Paint::Series(bar.series));
        scene.rect(left, top, width, base - top).stroke(Paint::Series(bar.series), 1.2);
    }
    let mut above = top;
    if let (Some(low), Some(high)) = (bar.value.low, bar.value.high) {
        scene.whisker(left + width / 2.0, scale.at(low), scale.at(high), Paint::Ink);
        above = above.min(scale.at(high));
    }
    let value = text::micros(bar.value.value);
    scene.text(left + width / 2.0, above - 7.0, value, 11.5).middle().bold();
    if !bar.ratio.is_empty() {
        scene.text(left + width / 2.0, above - 21.0, &bar.ratio, 11.0).middle().fill(Paint::Muted);
    }
    draw_strata(scene, bar, left + width, slot, centre, scale);
    let label = font::fit(&bar.label, 11.5, Weight::SemiBold, slot - 6.0);
    scene.text(centre, base + 17.0, label, 11.5).middle().bold().tooltip(&bar.label);
    if let Some(caveat) = bar.caveat.as_ref().filter(|_| notes) {
        let caveat = font::fit(caveat, 10.5, Weight::Regular, slot - 6.0);
        let paint = Paint::Verdict(crate::model::VerdictWord::Confounded);
        scene.text(centre, base + 32.0, caveat, 10.5).middle().fill(paint);
    }
}

/// Modes as short strokes to the right of their bar, thicker where more windows lie.
fn draw_strata(scene: &mut Scene, bar: &Bar, from: f64, slot: f64, centre: f64, scale: Scale) {
    let (x, end) = (from + 6.0, from + 6.0 + (slot * 0.07).clamp(6.0, 16.0));
    let room = centre + slot / 2.0 - end - 4.0;
    for (label, median, share) in &bar.strata {
        let y = scale.at(*median);
        let tip = format!(
            "{}, {label}: {} us, {} of windows",
            bar.label,
            text::micros(*median),
            text::share(*share)
        );
        scene
            .line((x, y), (end, y))
            .stroke(Paint::Series(bar.series), 2.0 + 5.0 * share.clamp(0.0, 1.0))
            .tooltip(tip);
        let short = format!("{} ({})", text::micros(*median), text::share(*share));
        if font::width(&short, 10.0, Weight::Regular) <= room {
            scene.text(end + 4.0, y + 3.5, short, 10.0).fill(Paint::Ink);
        } else if room > 24.0 {
            scene.text(end + 4.0, y + 3.5, text::micros(*median), 10.0).fill(Paint::Ink);
        }
        if font::width(label, 9.5, Weight::Regular) <= room {
            scene.text(end + 4.0, y + 15.0, label, 9.5).fill(Paint::Muted);
        }
    }
}

/// What hatching and strokes mean, at the foot of a figure.
pub(super) fn key(scene: &mut Scene, x: f64, y: f64, any_doubtful: bool) {
    let mut at = x;
    if any_doubtful {
        scene.rect(at, y - 10.0, 22.0, 12.0).fill(Paint::Muted).opacity(0.22);
        scene.hatch(at, y - 10.0, 22.0, 12.0, Paint::Muted);
        let text = "hatched: do not read alone (mixture, confounded or unproven)";
        scene.text(at + 28.0, y, text, 10.5).fill(Paint::Muted);
        at += 40.0 + font::width(text, 10.5, Weight::Regular);
        scene.line((at, y - 4.0), (at + 14.0, y - 4.0)).stroke(Paint::Muted, 5.0);
        let text = "a mode; thickness is its share of the windows";
        scene.text(at + 20.0, y, text, 10.5).fill(Paint::Muted);
        at += 32.0 + font::width(text, 10.5, Weight::Regular);
    }
    scene.text(at, y, "whisker: 95 % interval", 10.5).fill(Paint::Muted);
}
