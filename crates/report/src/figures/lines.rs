//! Lines with their bands: one value over another, for several series.

use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, SERIES, Scene};

/// Room for the labels of the vertical axis.
const LEFT: f64 = 58.0;

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its name.
    pub label: String,
    /// Where it is, ascending: the value across, and lower end, value and upper end upwards.
    pub points: Vec<(f64, [f64; 3])>,
}

/// Where a chart lies, and how its horizontal axis runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    /// Whether the horizontal axis is logarithmic.
    pub log: bool,
}

/// Draws lines over a vertical axis from zero, with a title over them.
pub(crate) fn chart(scene: &mut Scene, place: Place, title: &str, lines: &[Line]) {
    let Place { x, y, width, height, log } = place;
    scene.text(x, y + 4.0, font::fit(title, 13.0, Weight::SemiBold, width), 13.0).bold();
    let all = || lines.iter().flat_map(|line| &line.points);
    let most = all().map(|(_, [_, value, high])| value.max(*high)).filter(|v| v.is_finite());
    let most = most.fold(0.0, f64::max);
    let ends = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (at, _)| {
        (low.min(*at), high.max(*at))
    });
    let (top, bottom) = (y + 14.0, y + height - 20.0);
    let up = Scale::linear(0.0, most * 1.08, bottom, top);
    let across = match log {
        true => Scale::log(ends.0, ends.1, x + LEFT, x + width),
        false => Scale::linear(ends.0, ends.1, x + LEFT, x + width),
    };
    for (value, label) in up.ticks(4) {
        scene.line((x + LEFT, up.at(value)), (x + width, up.at(value))).stroke(Paint::Grid, 1.0);
        scene.text(x + LEFT - 7.0, up.at(value) + 4.0, label, 11.0).end().fill(Paint::Muted);
    }
    for (value, label) in across.ticks(5) {
        scene.text(across.at(value), bottom + 16.0, label, 11.0).middle().fill(Paint::Muted);
    }
    for (series, line) in lines.iter().enumerate() {
        let part = |part: usize| line.points.iter().map(move |(at, of)| (*at, of[part]));
        let placed = |(at, value)| (across.at(at), up.at(value));
        let band = part(0).chain(part(2).rev()).map(placed).collect();
        let middle: Vec<(f64, f64)> = part(1).map(placed).collect();
        let paint = Paint::Series(series);
        scene.polygon(band).fill(paint).opacity(0.16);
        match middle.len() {
            1 => scene.dots(middle, 3.0).fill(paint).tooltip(&line.label),
            _ => scene.polyline(middle).stroke(paint, 1.8).tooltip(&line.label),
        };
    }
}

/// Which line is which, where there are several.
pub(crate) fn key(scene: &mut Scene, y: f64, width: f64, labels: &[&str]) {
    if labels.len() < 2 {
        return;
    }
    let room = (width - 48.0) / labels.len() as f64;
    for (series, label) in labels.iter().enumerate() {
        let x = 24.0 + room * series as f64;
        scene.rect(x, y - 10.0, 11.0, 11.0).rounded(3.0).fill(Paint::Series(series));
        let fitting = font::fit(label, 11.5, Weight::Regular, room - 24.0);
        scene.text(x + 17.0, y, fitting, 11.5).tooltip(*label);
    }
}

/// As many as have a colour of their own.
pub(crate) const MOST: usize = SERIES;
