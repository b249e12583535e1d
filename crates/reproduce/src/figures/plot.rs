//! A line chart in a terminal: one panel per line, so that no colour is needed to tell them apart.

use super::draw::path;
use super::{Figure, Line};
use std::fmt::Write;

/// Rows of a panel.
const ROWS: usize = 8;
/// Columns left of a panel, for the ends of the axis.
const MARGIN: usize = 8;

/// Renders a figure.
pub(super) fn terminal(figure: &Figure, width: usize) -> String {
    let columns = width.clamp(40, 200) - MARGIN - 2;
    let points = || figure.lines.iter().flat_map(|line| &line.points);
    let x_end = points().map(|point| point.0).fold(f64::MIN_POSITIVE, f64::max);
    let mut text = format!("{} ({})\n", figure.title, figure.axes[1]);
    for line in &figure.lines {
        if let Some(level) = level(line) {
            let _ = writeln!(text, "{:>MARGIN$} {}: {level}", "", line.name);
            continue;
        }
        let y_end = line.points.iter().map(|point| point.1).fold(f64::MIN_POSITIVE, f64::max);
        let mut canvas = Canvas::new(columns);
        let placed: Vec<(f64, f64)> =
            path(line).into_iter().map(|(x, y)| (x / x_end, y / y_end)).collect();
        for pair in placed.windows(2) {
            canvas.line(pair[0], pair[1]);
        }
        let _ = writeln!(text, "{:>MARGIN$} {}", "", line.name);
        for (number, row) in canvas.rows().enumerate() {
            let label = match number {
                0 => end(y_end),
                n if n == ROWS - 1 => "0".to_owned(),
                _ => String::new(),
            };
            let _ = writeln!(text, "{}", format!("{label:>MARGIN$} {row}").trim_end());
        }
    }
    let _ = writeln!(text, "{:>MARGIN$} 0{:>2$}", "", format!("{x_end:.1}"), columns - 1);
    let _ = writeln!(text, "{:>MARGIN$} {:>2$}", "", figure.axes[0], columns);
    text
}

/// An end of an axis: a ratio with decimals, all else without.
fn end(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// The value of a line that is level, for which a panel would show nothing.
fn level(line: &Line) -> Option<String> {
    let (_, first) = line.points.first()?;
    line.points.iter().all(|(_, y)| y == first).then(|| end(*first))
}

/// Braille: 2 by 4 dots per character.
struct Canvas {
    columns: usize,
    cells: Vec<u8>,
}

impl Canvas {
    fn new(columns: usize) -> Canvas {
        Canvas { columns, cells: vec![0; columns * ROWS] }
    }

    /// A line between two points of the unit square, y upwards.
    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (across, down) = ((2 * self.columns - 1) as f64, (4 * ROWS - 1) as f64);
        let dot = |(x, y): (f64, f64)| (x * across, (1.0 - y) * down);
        let ((x0, y0), (x1, y1)) = (dot(from), dot(to));
        let steps = (x1 - x0).abs().max((y1 - y0).abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            self.set((x0 + (x1 - x0) * part).round(), (y0 + (y1 - y0) * part).round());
        }
    }

    fn set(&mut self, x: f64, y: f64) {
        // A negative or infinite coordinate becomes an end of the range, and falls outside.
        let (x, y) = (x as usize, y as usize);
        let cell = (y / 4) * self.columns + x / 2;
        // Dots 1 to 3 and 7 are the left column, 4 to 6 and 8 the right one.
        let bit = match (x % 2, y % 4) {
            (0, 3) => 6,
            (_, 3) => 7,
            (column, row) => 3 * column + row,
        };
        if let (true, Some(cell)) = (x / 2 < self.columns, self.cells.get_mut(cell)) {
            *cell |= 1 << bit;
        }
    }

    fn rows(&self) -> impl Iterator<Item = String> + '_ {
        self.cells.chunks(self.columns).map(|row| {
            let dots = row.iter().map(|bits| char::from_u32(0x2800 + u32::from(*bits)));
            dots.map(|dot| dot.filter(|dot| *dot != '\u{2800}').unwrap_or(' ')).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_stays_inside_its_panel() {
        let points = vec![(0.0, 600.0), (5.0, 1700.0), (10.0, 600.0)];
        let lines = vec![Line { name: "rule", points, steps: true }];
        let figure = Figure { name: "f", title: "Title", axes: ["time, s", "MHz"], lines };
        for width in [0, 40, 80, 1000] {
            let text = figure.terminal(width);
            assert_eq!(text.lines().count(), 1 + 1 + ROWS + 2, "{text}");
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.clamp(40, 200), "{text}");
            assert!(
                text.contains("1700") && text.contains('\u{28ff}') || text.contains('⠉'),
                "{text}"
            );
        }
    }
}
