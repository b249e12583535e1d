//! Distributions of a workload, one ridge per condition over a common logarithmic axis.

use super::{LABEL, Member, WIDTH, columns, core_range, measured};
use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::model::Histogram;
use crate::text;

/// What a ridge's label takes above it.
const TITLE: f64 = 30.0;
/// What the names of the modes take below it.
const MODES: f64 = 16.0;
const MODE_LABEL: f64 = 10.0;

/// Ridges with medians, their intervals, and the modes of mixtures.
pub(in crate::html) fn ridge(workload: &str, members: &[Member<'_>]) -> Scene {
    let (row_height, below) = rows(members);
    let height = height(members);
    let mut scene =
        Scene::new(WIDTH, height, format!("{} of {workload}: distribution", measured(members)));
    scene.description = describe(members);
    let (low, high) = core_range(members);
    let scale = Scale::log(low, high, 4.0, WIDTH - 8.0);
    let ticks: Vec<_> = scale.ticks(6).into_iter().map(|(v, l)| (scale.at(v), l)).collect();
    columns(&mut scene, &ticks, 6.0, height - 24.0);
    for (i, member) in members.iter().enumerate() {
        let place = Place {
            scale,
            range: (low, high),
            base: row_height * (i as f64 + 1.0) - below,
            ridge: row_height - TITLE - below,
        };
        row(&mut scene, member, place);
    }
    scene
}

/// Height of a row, and what the names of modes take of it. Two conditions fill the space beside
/// the percentiles; many stay readable.
fn rows(members: &[Member<'_>]) -> (f64, f64) {
    let mixtures = members.iter().any(|m| m.cell.modes.mixture);
    let below = if mixtures { MODES } else { 0.0 };
    ((224.0 / members.len().max(1) as f64).clamp(74.0 + below, 112.0), below)
}

/// Height of the whole chart.
pub(super) fn height(members: &[Member<'_>]) -> f64 {
    rows(members).0 * members.len() as f64 + 26.0
}

/// Where a ridge stands: its axis, its base line and its height.
#[derive(Clone, Copy)]
struct Place {
    scale: Scale,
    range: (f64, f64),
    base: f64,
    ridge: f64,
}

fn describe(members: &[Member<'_>]) -> String {
    let parts: Vec<String> = members
        .iter()
        .map(|m| {
            format!(
                "{}: median {} us, {}",
                m.label,
                text::micros_interval(&m.cell.execution.median_us),
                text::count(m.cell.modes.modes.len() as u64, "mode")
            )
        })
        .collect();
    parts.join("; ")
}

fn row(scene: &mut Scene, member: &Member<'_>, place: Place) {
    let Place { scale, base, ridge, .. } = place;
    let paint = Paint::Series(member.series);
    let execution = &member.cell.execution;
    let outline = density(&execution.histogram, place);
    if outline.len() > 2 {
        let tip = format!("{}: {} windows", member.label, execution.n);
        scene.polygon(outline.clone()).fill(paint).opacity(0.24).tooltip(tip);
        scene.polyline(outline[1..outline.len() - 1].to_vec()).stroke(paint, 1.5);
    }
    scene.line((4.0, base), (WIDTH - 8.0, base)).stroke(paint, 1.0).opacity(0.5);
    let median = &execution.median_us;
    let x = scale.at(median.value);
    if let (Some(a), Some(b)) = (median.low, median.high) {
        let (a, b) = (scale.at(a), scale.at(b));
        scene.rect(a, base - 4.0, (b - a).max(2.0), 4.0).fill(Paint::Ink).opacity(0.55);
    }
    let tip = format!("{}: median {} us", member.label, text::micros_interval(median));
    scene.line((x, base), (x, base - ridge - 3.0)).stroke(Paint::Ink, 1.6).tooltip(tip);
    let value = format!("{} us", text::micros_interval(median));
    let value_width = font::width(&value, LABEL, Weight::Regular);
    let name = font::fit(member.label, LABEL, Weight::SemiBold, WIDTH - value_width - 24.0);
    let y = base - ridge - 10.0;
    scene.text(4.0, y, name, LABEL).bold().tooltip(member.label);
    scene.text(WIDTH - 8.0, y, value, LABEL).end().fill(Paint::Muted);
    if member.cell.modes.mixture {
        mark_modes(scene, member, place);
    }
}

/// The histogram as an outline that starts and ends on the base line; heights are densities on the
/// logarithmic axis, scaled to the highest.
fn density(histogram: &Histogram, place: Place) -> Vec<(f64, f64)> {
    let Place { scale, range: (low, high), base, ridge } = place;
    let heights: Vec<(f64, f64, f64)> = histogram
        .edges_us
        .windows(2)
        .zip(&histogram.counts)
        .filter(|(e, _)| e[0] > 0.0 && e[1] > e[0] && e[1] > low && e[0] < high)
        .map(|(e, n)| (e[0].max(low), e[1].min(high), *n as f64 / (e[1] / e[0]).ln()))
        .collect();
    let top = heights.iter().map(|h| h.2).fold(0.0, f64::max);
    if top <= 0.0 {
        return Vec::new();
    }
    let mut points = Vec::with_capacity(heights.len() * 2 + 2);
    if let Some(first) = heights.first() {
        points.push((scale.at(first.0), base));
    }
    for (from, to, height) in &heights {
        let y = base - ridge * height / top;
        points.extend([(scale.at(*from), y), (scale.at(*to), y)]);
    }
    if let Some(last) = heights.last() {
        points.push((scale.at(last.1), base));
    }
    points
}

/// Dashes and triangles at the modes, and one line below that names them from left to right.
fn mark_modes(scene: &mut Scene, member: &Member<'_>, place: Place) {
    let Place { scale, base, ridge, .. } = place;
    let paint = Paint::Series(member.series);
    let mut names = Vec::new();
    let mut at = Vec::new();
    for mode in &member.cell.modes.modes {
        let x = scale.at(mode.median_us);
        let what = mode.label.as_deref().unwrap_or("mode");
        let (median, share) = (text::micros(mode.median_us), text::share(mode.share));
        let tip = format!("{}: {what}, {median} us, {share} of windows", member.label);
        scene.line((x, base), (x, base - ridge)).stroke(paint, 1.4).dashed().tooltip(&tip);
        let triangle = vec![(x, base + 1.0), (x - 4.5, base + 8.0), (x + 4.5, base + 8.0)];
        scene.polygon(triangle).fill(paint).tooltip(tip);
        names.push(format!("{what} {share}"));
        at.push(x);
    }
    let line = names.join("  ·  ");
    let (first, last) = (at.first().copied().unwrap_or(0.0), at.last().copied().unwrap_or(0.0));
    let y = base + 18.5;
    // Under its marks, held inside the chart.
    let half = font::width(&line, MODE_LABEL, Weight::Regular) / 2.0;
    let middle = ((first + last) / 2.0).clamp(half + 4.0, (WIDTH - 8.0 - half).max(half + 4.0));
    let line = font::fit(&line, MODE_LABEL, Weight::Regular, WIDTH - 12.0);
    scene.text(middle, y, line, MODE_LABEL).middle().fill(Paint::Muted);
}
