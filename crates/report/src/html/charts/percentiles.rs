//! Percentile curves: the tail gets as much room as the bulk.

use super::{LABEL, LEFT, Member, WIDTH, columns, measured, rows};
use crate::draw::axis::Scale;
use crate::draw::{Paint, Scene};
use crate::model::Distribution;
use crate::text;

/// Heights between which the chart follows the ridges beside it.
const HEIGHTS: (f64, f64) = (250.0, 440.0);

/// Execution time against `-log10(1 - share)`: 0, 90, 99, 99.9 % are equally far apart.
pub(in crate::html) fn percentiles(workload: &str, members: &[Member<'_>]) -> Scene {
    let height = super::ridge::height(members).clamp(HEIGHTS.0, HEIGHTS.1);
    let mut scene =
        Scene::new(WIDTH, height, format!("{} of {workload}: percentiles", measured(members)));
    scene.description = members
        .iter()
        .map(|m| format!("{}: p99 {} us", m.label, text::micros_interval(&m.cell.execution.p99_us)))
        .collect::<Vec<_>>()
        .join("; ");
    let nines =
        members.iter().map(|m| (m.cell.execution.n.max(2) as f64).log10()).fold(1.0, f64::max);
    let low = members.iter().map(|m| m.cell.execution.p1_us).fold(f64::INFINITY, f64::min);
    let high = members.iter().map(|m| m.cell.execution.max_us).fold(0.0, f64::max);
    let x = Scale::linear(0.0, nines, LEFT, WIDTH - 10.0);
    let y = Scale::log(low * 0.98, high * 1.03, height - 26.0, 8.0);
    rows(&mut scene, y, 5);
    let ticks: Vec<_> = [
        (0.0, "0"),
        (0.5, "50 %"),
        (0.9, "90 %"),
        (0.99, "99 %"),
        (0.999, "99.9 %"),
        (0.9999, "99.99 %"),
        (0.99999, "99.999 %"),
    ]
    .into_iter()
    .map(|(q, label)| (nine(q), label))
    .filter(|(at, _)| *at <= nines)
    .map(|(at, label)| (x.at(at), label.to_owned()))
    .collect();
    columns(&mut scene, &ticks, 8.0, height - 26.0);
    for m in members {
        let paint = Paint::Series(m.series);
        let points: Vec<_> =
            curve(&m.cell.execution).into_iter().map(|(q, v)| (x.at(nine(q)), y.at(v))).collect();
        if points.len() > 1 {
            scene.polyline(points).stroke(paint, 1.8).tooltip(m.label);
        }
        let p99 = &m.cell.execution.p99_us;
        if m.cell.execution.n >= 100 {
            let tip = format!("{}: p99 {} us", m.label, text::micros_interval(p99));
            let at = x.at(2.0);
            if let (Some(a), Some(b)) = (p99.low, p99.high) {
                scene.line((at, y.at(a)), (at, y.at(b))).stroke(paint, 1.2);
            }
            scene.dots(vec![(at, y.at(p99.value))], 3.4).fill(paint).tooltip(tip);
        }
    }
    if members.is_empty() {
        scene.text(LEFT, height / 2.0, "no windows", LABEL).fill(Paint::Muted);
    }
    scene
}

fn nine(q: f64) -> f64 {
    -(1.0 - q).max(1e-12).log10()
}

/// Share below and value, from the cumulated histogram, ending at the largest value.
fn curve(d: &Distribution) -> Vec<(f64, f64)> {
    let total: u64 = d.histogram.counts.iter().sum();
    if total == 0 {
        return Vec::new();
    }
    let mut points = vec![(0.0, d.min_us)];
    let mut below = 0;
    for (upper, count) in d.histogram.edges_us.iter().skip(1).zip(&d.histogram.counts) {
        below += count;
        // The last window's share is unbounded on this axis: it is drawn at 1 - 1/n.
        if *count > 0 && below < total {
            points.push((below as f64 / total as f64, upper.min(d.max_us)));
        }
    }
    points.push((1.0 - 1.0 / total as f64, d.max_us));
    points
}
