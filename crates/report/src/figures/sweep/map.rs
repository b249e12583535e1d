//! Results over two parameters as maps of cells; over three and more, one small map for each
//! combination of the others.

use super::varied::{Placed, Varied, placed, varied};
use super::{telling, titled};
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::figures::{Figure, Size};
use crate::model::Report;
use crate::text;
use std::collections::HashMap;

/// Maps side by side, at most.
const ACROSS: usize = 6;
/// Cells of a figure: more would be too small to see, and megabytes.
const CELLS: usize = 12_000;
/// The faintest and the strongest cell.
const OPACITY: (f64, f64) = (0.06, 0.94);
/// Size of labels.
const LABEL: f64 = 11.0;
/// The least height of a cell, and of a map.
const CELL: f64 = 16.0;
const LEAST: f64 = 120.0;

/// One small map for each of these.
struct Facet<'a> {
    label: String,
    /// Points by their values of the two parameters.
    points: HashMap<(&'a str, &'a str), &'a Placed<'a>>,
}

/// One row of maps per result that tells most; nothing where fewer than two parameters vary, or where
/// no two combinations of the others have room.
pub(super) fn map(report: &Report, size: Size) -> Option<Figure> {
    let points = placed(report);
    let mut parameters = varied(&points);
    // The longest axis runs across, the next one upwards.
    parameters.sort_by_key(|varied| std::cmp::Reverse(varied.values.len()));
    let [across, up, others @ ..] = parameters.as_slice() else { return None };
    let (facets, more) = facets(&points, across, up, others);
    let cells = across.values.len() * up.values.len() * facets.len();
    let mut results = telling(points.iter().map(|placed| placed.point));
    results.retain(|result| points.iter().any(|point| point.median(*result).is_some()));
    results.truncate(CELLS / cells.max(1));
    if results.is_empty() {
        return None;
    }
    let columns = if facets.len() > 1 { facets.len() } else { 2.min(results.len()) };
    let rows = if facets.len() > 1 { results.len() } else { results.len().div_ceil(columns) };
    let height = (up.values.len() as f64 * CELL).clamp(LEAST, 420.0);
    let row = height + 62.0 + if facets.len() > 1 { 18.0 } else { 0.0 };
    let size = size.at_least(760.0, 0.0);
    let (title, top) = (format!("Over {} and {}", across.name, up.name), 84.0);
    let mut scene = Scene::new(size.width, top + rows as f64 * row + 8.0, title.clone());
    scene.description = format!("Medians over the phases, over {} and {}", across.name, up.name);
    scene
        .text(24.0, 36.0, font::fit(&title, 20.0, Weight::SemiBold, size.width - 48.0), 20.0)
        .bold();
    let mut told = format!(
        "{} across, {} upwards; median over the phases of tick and poll; hatched: never",
        across.name, up.name
    );
    if more > 0 {
        told +=
            &format!("; {} of {} combinations of the others", facets.len(), facets.len() + more);
    }
    scene.text(24.0, 56.0, told, 12.0).fill(Paint::Muted);
    let labels = Labels::of(up);
    let width = (size.width - 48.0) / columns as f64;
    for (at, result) in results.iter().enumerate() {
        let (title, scale) = titled(*result);
        let values = facets.iter().flat_map(|facet| facet.points.values());
        let range = Range::of(values.filter_map(|point| point.median(*result)));
        let (x, y) = match facets.len() {
            1 => (24.0 + (at % columns) as f64 * width, top + (at / columns) as f64 * row),
            _ => (24.0, top + at as f64 * row),
        };
        let room = if facets.len() > 1 { size.width - 48.0 } else { width - 24.0 };
        range.legend(&mut scene, (x, y + 4.0), room, &title, scale);
        for (column, facet) in facets.iter().enumerate() {
            let x = x + column as f64 * width;
            let mut y = y + 16.0;
            if facets.len() > 1 {
                y += 14.0;
                let label = font::fit(&facet.label, LABEL, Weight::Regular, width - 18.0);
                scene.text(x + labels.left, y - 4.0, label, LABEL).fill(Paint::Muted);
            }
            let place = Grid { x: x + labels.left, y, width: width - labels.left - 24.0, height };
            let value = |x: &str, y: &str| {
                let point = facet.points.get(&(x, y))?;
                Some((point.label(&parameters), point.median(*result)))
            };
            place.cells(&mut scene, (across, up), &range, scale, value);
            place.labels(&mut scene, across, up);
        }
    }
    Some(Figure { name: "sweep-map".to_owned(), scene })
}

/// The combinations of the other parameters that have room, and how many have none.
fn facets<'a>(
    points: &'a [Placed<'a>],
    across: &'a Varied,
    up: &'a Varied,
    others: &[Varied],
) -> (Vec<Facet<'a>>, usize) {
    let mut facets: Vec<Facet<'a>> = Vec::new();
    let mut more = std::collections::BTreeSet::new();
    for point in points {
        let label = point.label(others);
        let Some(at) = point.value(&across.name).zip(point.value(&up.name)) else { continue };
        match facets.iter().position(|facet| facet.label == label) {
            Some(known) => {
                facets[known].points.insert(at, point);
            }
            None if facets.len() < ACROSS => {
                facets.push(Facet { label, points: HashMap::from([(at, point)]) });
            }
            None => {
                more.insert(label);
            }
        }
    }
    (facets, more.len())
}

/// The values of a row of maps: one scale of colour for all of them.
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    fn of(values: impl Iterator<Item = f64>) -> Range {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
        Range { low, high }
    }

    fn opacity(&self, value: f64) -> f64 {
        let share =
            if self.high > self.low { (value - self.low) / (self.high - self.low) } else { 0.5 };
        OPACITY.0 + share.clamp(0.0, 1.0) * (OPACITY.1 - OPACITY.0)
    }

    /// The result, and at the right end what is faint and what is strong.
    fn legend(&self, scene: &mut Scene, (x, y): (f64, f64), room: f64, title: &str, scale: f64) {
        const STEPS: usize = 5;
        const STEP: f64 = 11.0;
        let (low, high) = (text::micros(self.low * scale), text::micros(self.high * scale));
        let wide = |text: &str| font::width(text, LABEL, Weight::Regular);
        let right = x + room - wide(&high);
        scene.text(right, y, high, LABEL).fill(Paint::Muted);
        let left = right - 6.0 - STEPS as f64 * STEP;
        for step in 0..STEPS {
            let share = step as f64 / (STEPS - 1) as f64;
            let opacity = OPACITY.0 + share * (OPACITY.1 - OPACITY.0);
            let cell = scene.rect(left + step as f64 * STEP, y - 9.0, STEP, 10.0);
            cell.fill(Paint::Series(0)).opacity(opacity);
        }
        let start = left - 6.0 - wide(&low);
        scene.text(start, y, low, LABEL).fill(Paint::Muted);
        let title = font::fit(title, 13.0, Weight::SemiBold, (start - x - 10.0).max(0.0));
        scene.text(x, y, title, 13.0).bold();
    }
}

/// Room for the labels at the left.
struct Labels {
    left: f64,
}

impl Labels {
    /// The widest that a label at the left may be.
    const MOST: f64 = 90.0;

    fn of(up: &Varied) -> Labels {
        let wide = |value: &String| font::width(value, LABEL, Weight::Regular);
        let widest = up.values.iter().map(wide).fold(0.0, f64::max);
        Labels { left: widest.min(Labels::MOST) + 8.0 }
    }
}

/// Where the cells of one map lie.
struct Grid {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Grid {
    /// The cells, each with its value where it fits.
    fn cells(
        &self,
        scene: &mut Scene,
        (across, up): (&Varied, &Varied),
        range: &Range,
        scale: f64,
        value: impl Fn(&str, &str) -> Option<(String, Option<f64>)>,
    ) {
        let (wide, tall) =
            (self.width / across.values.len() as f64, self.height / up.values.len() as f64);
        // A hair of ground between cells that are large enough.
        let gap = if wide > 6.0 && tall > 6.0 { 1.0 } else { 0.0 };
        for (column, x_value) in across.values.iter().enumerate() {
            for (row, y_value) in up.values.iter().enumerate() {
                let Some((label, median)) = value(x_value, y_value) else { continue };
                let x = self.x + column as f64 * wide;
                let y = self.y + self.height - (row + 1) as f64 * tall;
                let Some(median) = median else {
                    scene.hatch(x, y, wide - gap, tall - gap, Paint::Grid);
                    let cell = scene.rect(x, y, wide - gap, tall - gap);
                    cell.fill(Paint::Surface).opacity(0.0).tooltip(format!("{label}: never"));
                    continue;
                };
                let (opacity, shown) = (range.opacity(median), text::micros(median * scale));
                let cell = scene.rect(x, y, wide - gap, tall - gap);
                cell.fill(Paint::Series(0)).opacity(opacity).tooltip(format!("{label}: {shown}"));
                if font::width(&shown, LABEL, Weight::Regular) + 6.0 <= wide && tall >= CELL - 2.0 {
                    let ink = if opacity > 0.55 { Paint::Surface } else { Paint::Ink };
                    let at = (x + (wide - gap) / 2.0, y + (tall - gap) / 2.0 + 4.0);
                    scene.text(at.0, at.1, shown, LABEL).middle().fill(ink);
                }
            }
        }
    }

    /// The values of the parameters, as many as have room.
    fn labels(&self, scene: &mut Scene, across: &Varied, up: &Varied) {
        let (wide, tall) =
            (self.width / across.values.len() as f64, self.height / up.values.len() as f64);
        let width = |value: &String| font::width(value, LABEL, Weight::Regular);
        let widest = across.values.iter().map(width).fold(0.0, f64::max).min(Labels::MOST);
        let every = ((widest + 8.0) / wide).ceil().max(1.0) as usize;
        for (at, value) in across.values.iter().enumerate().step_by(every) {
            let x = self.x + (at as f64 + 0.5) * wide;
            let fitting = font::fit(value, LABEL, Weight::Regular, Labels::MOST);
            let text = scene.text(x, self.y + self.height + 15.0, fitting, LABEL);
            text.middle().fill(Paint::Muted);
        }
        let every = (13.0 / tall).ceil().max(1.0) as usize;
        for (at, value) in up.values.iter().enumerate().step_by(every) {
            let y = self.y + self.height - (at as f64 + 0.5) * tall + 4.0;
            let fitting = font::fit(value, LABEL, Weight::Regular, Labels::MOST);
            scene.text(self.x - 7.0, y, fitting, LABEL).end().fill(Paint::Muted);
        }
    }
}
