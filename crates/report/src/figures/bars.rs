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

/// Where one bar stands, with what belongs to it.
#[derive(Clone, Copy)]
struct Slot {
    centre: f64,
    width: f64,
    /// Ends of the axis.
    top: f64,
    base: f64,
    scale: Scale,
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
        draw_bar(scene, bar, Slot { centre, width: slot, top: inner.y, base, scale }, notes);
    }
    scene.line((inner.x, base), (inner.x + inner.width, base)).stroke(Paint::Muted, 1.0);
}

fn tops(bar: &Bar) -> Vec<f64> {
    let own = [bar.value.value, bar.value.high.unwrap_or(0.0)];
    own.into_iter().chain(bar.strata.iter().map(|s| s.1)).filter(|v| v.is_finite()).collect()
}

fn draw_bar(scene: &mut Scene, bar: &Bar, place: Slot, notes: bool) {
    let Slot { centre, width: slot, base, scale, .. } = place;
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
    draw_strata(scene, bar, left + width, place);
    let label = font::fit(&bar.label, 11.5, Weight::SemiBold, slot - 6.0);
    scene.text(centre, base + 17.0, label, 11.5).middle().bold().tooltip(&bar.label);
    if let Some(caveat) = bar.caveat.as_ref().filter(|_| notes) {
        let caveat = font::fit(caveat, 10.5, Weight::Regular, slot - 6.0);
        let paint = Paint::Verdict(crate::model::VerdictWord::Confounded);
        scene.text(centre, base + 32.0, caveat, 10.5).middle().fill(paint);
    }
}

/// Height of a line of a mode's label.
const LINE: f64 = 11.5;

/// Modes as short strokes to the right of their bar, thicker where more windows lie. Labels that
/// would overprint each other are moved apart and led back to their stroke.
fn draw_strata(scene: &mut Scene, bar: &Bar, from: f64, place: Slot) {
    let (x, end) = (from + 6.0, from + 6.0 + (place.width * 0.07).clamp(6.0, 16.0));
    let room = place.centre + place.width / 2.0 - end - 8.0;
    for (label, median, share) in &bar.strata {
        let y = place.scale.at(*median);
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
    }
    let labels = labels(bar, place, room);
    let wanted: Vec<f64> = labels.iter().map(|label| label.y - LINE / 2.0).collect();
    let heights: Vec<f64> = labels.iter().map(|l| LINE * l.lines.len() as f64).collect();
    for (label, top) in labels.iter().zip(apart(&wanted, &heights, place.top, place.base)) {
        let middle = top + LINE / 2.0;
        if (middle - label.y).abs() > 1.5 {
            scene.line((end + 1.0, label.y), (end + 6.0, middle)).stroke(Paint::Muted, 0.8);
        }
        for (i, line) in label.lines.iter().enumerate() {
            let y = middle + 3.5 + LINE * i as f64;
            match i {
                0 => scene.text(end + 8.0, y, line, 10.0).fill(Paint::Ink),
                _ => scene.text(end + 8.0, y, line, 9.5).fill(Paint::Muted),
            };
        }
    }
}

/// What is written beside a mode's stroke.
struct Label {
    /// Where the stroke is.
    y: f64,
    lines: Vec<String>,
}

/// Labels from the top of the axis downwards, as many as it has room for: names go before figures,
/// and of the figures those of the rarest modes.
fn labels(bar: &Bar, place: Slot, room: f64) -> Vec<Label> {
    let fits = |text: &str, size| font::width(text, size, Weight::Regular) <= room;
    let lines_in_axis = ((place.base - place.top) / LINE).floor().max(0.0) as usize;
    let names = 2 * bar.strata.len() <= lines_in_axis;
    let mut strata: Vec<&(String, f64, f64)> = bar.strata.iter().collect();
    strata.sort_by(|a, b| b.2.total_cmp(&a.2));
    strata.truncate(lines_in_axis);
    strata.sort_by(|a, b| b.1.total_cmp(&a.1));
    let label = |(name, median, share): &(String, f64, f64)| {
        let short = text::micros(*median);
        let long = format!("{short} ({})", text::share(*share));
        let value = [long, short].into_iter().find(|text| fits(text, 10.0))?;
        let name = (names && !name.is_empty() && fits(name, 9.5)).then(|| name.clone());
        Some(Label {
            y: place.scale.at(*median),
            lines: [Some(value), name].into_iter().flatten().collect(),
        })
    };
    strata.into_iter().filter_map(label).collect()
}

/// Tops of blocks that shall stand at `wanted` (ascending), moved as little as it takes that none
/// covers another and all are between `top` and `bottom`.
fn apart(wanted: &[f64], heights: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut free = top;
    let mut tops: Vec<f64> = (wanted.iter().zip(heights))
        .map(|(wanted, height)| {
            let at = wanted.max(free);
            free = at + height;
            at
        })
        .collect();
    let mut limit = bottom;
    for (at, height) in tops.iter_mut().zip(heights).rev() {
        *at = at.min(limit - height);
        limit = *at;
    }
    tops
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_never_cover_each_other() {
        let heights = [23.0, 23.0, 11.5, 11.5];
        let tops = apart(&[50.0, 52.0, 53.0, 95.0], &heights, 0.0, 100.0);
        for (pair, height) in tops.windows(2).zip(heights) {
            assert!(pair[1] - pair[0] >= height - 1e-9, "{tops:?}");
        }
        assert!(tops[3] + 11.5 <= 100.0 && tops[0] >= 0.0, "{tops:?}");
        // Who has room stays where it is.
        assert_eq!(apart(&[10.0, 60.0], &[11.5, 11.5], 0.0, 100.0), [10.0, 60.0]);
    }
}
