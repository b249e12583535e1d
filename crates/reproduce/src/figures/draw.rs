//! A line chart.

use super::{Figure, Line};
use flyball_report::draw::axis::Scale;
use flyball_report::draw::{Paint, Scene};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 88.0;
const BOTTOM: f64 = 50.0;

/// Draws a figure.
pub(super) fn scene(figure: &Figure) -> Scene {
    let mut scene = Scene::new(WIDTH, HEIGHT, figure.title);
    scene.rect(0.0, 0.0, WIDTH, HEIGHT).fill(Paint::Surface);
    scene.text(LEFT, 28.0, figure.title, 16.0).bold();
    let points = || figure.lines.iter().flat_map(|line| &line.points);
    let largest = |value: fn(&(f64, f64)) -> f64| points().map(value).fold(0.0, f64::max);
    let x = Scale::linear(0.0, largest(|point| point.0), LEFT, WIDTH - RIGHT);
    let apart = (WIDTH - RIGHT - LEFT) / figure.lines.len().max(4) as f64;
    let y = Scale::linear(0.0, largest(|point| point.1) * 1.05, HEIGHT - BOTTOM, TOP);
    axes(&mut scene, figure, &x, &y);
    for (number, line) in figure.lines.iter().enumerate() {
        let paint = Paint::Series(number);
        let placed = path(line).into_iter().map(|(a, b)| (x.at(a), y.at(b))).collect();
        scene.polyline(placed).stroke(paint, 1.8);
        let at = LEFT + apart * number as f64;
        scene.rect(at, 44.0, 12.0, 4.0).fill(paint);
        scene.text(at + 18.0, 50.0, line.name, 12.0);
    }
    scene
}

fn axes(scene: &mut Scene, figure: &Figure, x: &Scale, y: &Scale) {
    for (value, label) in y.ticks(6) {
        let at = y.at(value);
        scene.line((LEFT, at), (WIDTH - RIGHT, at)).stroke(Paint::Grid, 1.0);
        scene.text(LEFT - 8.0, at + 4.0, label, 12.0).end();
    }
    for (value, label) in x.ticks(10) {
        scene.text(x.at(value), HEIGHT - BOTTOM + 18.0, label, 12.0).middle();
    }
    scene.text(WIDTH - RIGHT, HEIGHT - 10.0, figure.axes[0], 12.0).end();
    scene.text(LEFT, TOP - 10.0, figure.axes[1], 12.0);
}

/// The points to draw: a step holds its value until the next one.
pub(super) fn path(line: &Line) -> Vec<(f64, f64)> {
    if !line.steps {
        return line.points.clone();
    }
    let mut path = Vec::with_capacity(2 * line.points.len());
    for &(x, y) in &line.points {
        if let Some(&(_, before)) = path.last() {
            path.push((x, before));
        }
        path.push((x, y));
    }
    path
}
