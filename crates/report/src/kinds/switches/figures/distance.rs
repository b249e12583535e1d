//! Latency against how many levels a switch goes up or down.

use super::WIDTH;
use crate::draw::axis::Scale;
use crate::draw::{Paint, Scene};
use crate::figures::Figure;
use crate::kinds::switches::analysis::Findings;
use crate::kinds::switches::tables::{mhz, place, with_interval};
use flyball_stats::Estimate;
use std::collections::BTreeSet;

const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 80.0;
const BOTTOM: f64 = 52.0;

/// The series, in the order of their colours.
const SERIES: [&str; 5] =
    ["transition up", "transition down", "write up", "write down", "pair, without work"];

/// One switch.
struct Point {
    series: usize,
    levels: u64,
    value: Estimate,
    label: String,
}

/// None where there is nothing to compare: less than two distances.
pub(super) fn figure(findings: &Findings) -> Option<Figure> {
    let points = points(findings);
    let distances: BTreeSet<u64> = points.iter().map(|point| point.levels).collect();
    (distances.len() > 1)
        .then(|| Figure { name: "transition-distance".to_owned(), scene: draw(&points) })
}

fn points(findings: &Findings) -> Vec<Point> {
    let mut points = Vec::new();
    for switch in findings.switches.iter().filter(|switch| switch.levels != 0) {
        let (first, value) = match switch.method.as_str() {
            "detect" => (0, switch.transition_us.as_ref().map(|of| of.median)),
            _ => (2, switch.write_us.as_ref().map(|of| of.median)),
        };
        let Some(value) = value else { continue };
        points.push(Point {
            series: first + usize::from(switch.levels < 0),
            levels: switch.levels.unsigned_abs(),
            value,
            label: format!(
                "{} {} -> {} MHz",
                place(&switch.setup, &switch.domain),
                mhz(switch.from_khz),
                mhz(switch.to_khz)
            ),
        });
    }
    for pair in findings.windowed.iter().filter(|pair| pair.refused.is_none()) {
        let mut between = BTreeSet::from([pair.from_khz, pair.to_khz]);
        let same = findings
            .windowed
            .iter()
            .filter(|other| other.setup == pair.setup && other.domain == pair.domain);
        between.extend(same.flat_map(|other| [other.from_khz, other.to_khz]));
        let (low, high) = (pair.from_khz.min(pair.to_khz), pair.from_khz.max(pair.to_khz));
        points.push(Point {
            series: 4,
            levels: between.range(low..high).count() as u64,
            value: pair.median_us,
            label: format!(
                "{} {} <-> {} MHz",
                place(&pair.setup, &pair.domain),
                mhz(low),
                mhz(high)
            ),
        });
    }
    points
}

fn draw(points: &[Point]) -> Scene {
    let title = "Latency against the levels between";
    let mut scene = Scene::new(WIDTH, HEIGHT, title);
    scene.description = points
        .iter()
        .map(|point| format!("{}: {} us", point.label.trim(), with_interval(&point.value)))
        .collect::<Vec<_>>()
        .join("; ");
    scene.rect(0.0, 0.0, WIDTH, HEIGHT).fill(Paint::Surface);
    scene.text(LEFT, 28.0, title, 16.0).bold();
    let most = points.iter().map(|point| point.levels).max().unwrap_or(1);
    let top = points.iter().map(|p| p.value.high.unwrap_or(p.value.value)).fold(0.0, f64::max);
    let x = Scale::linear(0.5, most as f64 + 0.5, LEFT, WIDTH - RIGHT);
    let y = Scale::linear(0.0, top * 1.08, HEIGHT - BOTTOM, TOP);
    for (value, label) in y.ticks(6) {
        let at = y.at(value);
        scene.line((LEFT, at), (WIDTH - RIGHT, at)).stroke(Paint::Grid, 1.0);
        scene.text(LEFT - 8.0, at + 4.0, label, 11.5).end().fill(Paint::Muted);
    }
    for levels in 1..=most {
        scene.text(x.at(levels as f64), HEIGHT - BOTTOM + 20.0, levels.to_string(), 12.0).middle();
    }
    scene.text(WIDTH - RIGHT, HEIGHT - 10.0, "levels", 12.0).end();
    scene.text(LEFT, TOP - 12.0, "us, median with its 95 % interval", 12.0).fill(Paint::Muted);
    let used: Vec<usize> =
        (0..SERIES.len()).filter(|series| points.iter().any(|p| p.series == *series)).collect();
    for (number, series) in used.iter().enumerate() {
        let at = LEFT + 170.0 * number as f64;
        scene.rect(at, 42.0, 12.0, 8.0).fill(Paint::Series(*series));
        scene.text(at + 18.0, 50.0, SERIES.get(*series).copied().unwrap_or_default(), 12.0);
    }
    for (number, point) in points.iter().enumerate() {
        // Side by side: by series, then by place in the list, so that none hides another.
        let place = used.iter().position(|series| *series == point.series).unwrap_or_default();
        let width = 0.7 / used.len().max(1) as f64;
        let within = (number % 7) as f64 / 7.0 - 0.5;
        let at = point.levels as f64 - 0.35 + width * (place as f64 + 0.5 + 0.7 * within);
        let (at, paint) = (x.at(at), Paint::Series(point.series));
        if let (Some(low), Some(high)) = (point.value.low, point.value.high) {
            scene.line((at, y.at(low)), (at, y.at(high))).stroke(paint, 1.4);
        }
        let tip = format!("{}: {} us", point.label.trim(), with_interval(&point.value));
        scene.dots(vec![(at, y.at(point.value.value))], 3.6).fill(paint).tooltip(tip);
    }
    scene
}
