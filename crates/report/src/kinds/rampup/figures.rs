//! The rate since the wake-up, one panel per machine.

use super::analysis::{Cell, Findings};
use super::tables::label;
use crate::draw::{Paint, Scene};
use crate::figures::lines::{self, Line, Place};
use crate::figures::{Figure, Size};

/// The drawing; nothing where nothing was seen.
pub(crate) fn figure(all: &[Findings]) -> Option<Figure> {
    let drawn: Vec<&Findings> =
        all.iter().filter(|found| found.cells.iter().any(|cell| !cell.curve.is_empty())).collect();
    if drawn.is_empty() {
        return None;
    }
    let size = Size::default();
    let height = 250.0;
    let mut scene = Scene::new(
        size.width,
        84.0 + (height + 30.0) * drawn.len() as f64,
        "Rate since the wake-up",
    );
    scene.text(24.0, 36.0, "Rate since the wake-up", 20.0).bold();
    let told = "% of the settled rate, over the time in ms: median, with its band";
    scene.text(24.0, 56.0, told, 12.0).fill(Paint::Muted);
    for (at, found) in drawn.iter().enumerate() {
        let y = 84.0 + (height + 30.0) * at as f64;
        let several = found.cells.windows(2).any(|two| two[0].condition != two[1].condition);
        let lines: Vec<Line> =
            found.cells.iter().take(lines::MOST).map(|cell| line(cell, several)).collect();
        let place = Place { x: 24.0, y, width: size.width - 48.0, height, log: true };
        lines::chart(&mut scene, place, &found.name, &lines);
        let labels: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
        lines::key(&mut scene, y + height + 14.0, size.width, &labels);
    }
    Some(Figure { name: "rampup".to_owned(), scene })
}

fn line(cell: &Cell, several: bool) -> Line {
    let point = |stretch: &super::analysis::Stretch| {
        let share = stretch.share;
        let [low, value, high] = share.ends();
        (
            stretch.to_us / 1e3,
            [low, value, if high.is_finite() { high } else { value }].map(|share| 100.0 * share),
        )
    };
    Line { label: label(cell, several), points: cell.curve.iter().map(point).collect() }
}
