//! Latency against energy over all points of a sweep, and the line of what no other point beats in both.

use super::titled;
use super::varied::{Placed, Varied, placed, varied};
use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, SERIES, Scene};
use crate::figures::lines;
use crate::figures::tradeoff::{Area, Dot, Plot};
use crate::figures::{Figure, Size};
use crate::model::Report;

/// What is a latency, the most telling first.
const LATENCIES: [&str; 4] =
    ["response_p99_ns", "lateness_p99_ns", "response_p50_ns", "on_largest_ns"];
/// Labels beside points; more only hide each other.
const LABELS: usize = 12;
/// Points that a person can tell apart.
const MOST: usize = 4_000;

/// One dot per point; nothing where latency or energy is missing, or the same everywhere.
pub(super) fn frontier(report: &Report, size: Size) -> Option<Figure> {
    let points = placed(report);
    let parameters = varied(&points);
    let latency = latency(&points)?;
    let energy = ("machine", "energy_mj");
    differs(&points, energy).then_some(())?;
    let both =
        |point: &Placed<'_>| Some((point.median(latency)? / 1e6, point.median(energy)? / 1e3));
    let found: Vec<(&Placed<'_>, (f64, f64))> =
        points.iter().filter_map(|point| Some((point, both(point)?))).collect();
    if found.len() > MOST {
        return None;
    }
    let coloured = coloured(&parameters);
    let series = |point: &Placed<'_>| {
        let value = coloured.and_then(|varied| point.value(&varied.name));
        let values = coloured.map(|varied| varied.values.as_slice()).unwrap_or_default();
        values.iter().position(|of| Some(of.as_str()) == value).unwrap_or(0)
    };
    let front = front(&found.iter().map(|(_, at)| *at).collect::<Vec<_>>());
    let every = front.len().div_ceil(LABELS).max(1);
    let labelled: Vec<usize> = front.iter().copied().step_by(every).collect();
    let values = |point: &Placed<'_>| {
        let values = parameters.iter().filter_map(|varied| point.value(&varied.name));
        values.collect::<Vec<_>>().join(", ")
    };
    let dot =
        |(number, (point, (latency_ms, energy_j))): (usize, &(&Placed<'_>, (f64, f64)))| Dot {
            latency_ms: *latency_ms,
            energy_j: *energy_j,
            series: series(point),
            radius: if front.contains(&number) { 5.0 } else { 3.0 },
            label: labelled.contains(&number).then(|| values(point)),
            name: point.label(&parameters),
        };
    let dots: Vec<Dot> = found.iter().enumerate().map(dot).collect();

    let size = size.at_least(560.0, 420.0);
    let title = "Latency against energy";
    let mut scene = Scene::new(size.width, size.height, title);
    let names: Vec<&str> = parameters.iter().map(|varied| varied.name.as_str()).collect();
    scene.description = format!("{} points of a sweep over {}", found.len(), names.join(", "));
    scene.text(24.0, 34.0, title, 18.0).bold();
    let told = format!(
        "medians over the phases; line: no other point is better in both; labels: {}",
        names.join(", ")
    );
    let told = font::fit(&told, 12.0, Weight::Regular, size.width - 48.0);
    scene.text(24.0, 54.0, told, 12.0).fill(Paint::Muted);
    let frame =
        Area { left: 76.0, right: size.width - 28.0, top: 84.0, bottom: size.height - 84.0 };
    let (low, high) = ends(dots.iter().map(|dot| dot.latency_ms));
    let across = match low > 0.0 && high / low > 20.0 {
        true => Scale::log(low * 0.8, high * 1.3, frame.left, frame.right),
        false => padded(low, high, frame.left, frame.right),
    };
    let (low, high) = ends(dots.iter().map(|dot| dot.energy_j));
    let plot = Plot { across, up: padded(low, high, frame.bottom, frame.top), frame };
    let (latency, _) = titled(latency);
    plot.grid(&mut scene, &latency);
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for number in &front {
        let (x, y) = plot.place(&dots[*number]);
        // Between two points of the front, what is as slow as the next costs what the last one does.
        steps.extend(steps.last().map(|&(_, before)| (x, before)));
        steps.push((x, y));
    }
    if steps.len() > 1 {
        scene.polyline(steps).stroke(Paint::Muted, 1.2);
    }
    let labels = Area { top: plot.frame.top - 4.0, right: size.width, ..plot.frame };
    plot.dots(&mut scene, &dots, &labels);
    if let Some(varied) = coloured {
        let labels: Vec<String> =
            varied.values.iter().map(|value| format!("{} {value}", varied.name)).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        lines::key(&mut scene, size.height - 12.0, size.width, &labels);
    }
    Some(Figure { name: "sweep-frontier".to_owned(), scene })
}

/// The first latency that differs between points.
fn latency<'a>(points: &'a [Placed<'a>]) -> Option<(&'a str, &'a str)> {
    let results = || points.iter().flat_map(|point| &point.point.results);
    LATENCIES.iter().find_map(|name| {
        let mut subjects: Vec<&str> = Vec::new();
        for result in results().filter(|result| result.name == *name) {
            if !subjects.contains(&result.subject.as_str()) {
                subjects.push(&result.subject);
            }
        }
        subjects.into_iter().map(|subject| (subject, *name)).find(|result| differs(points, *result))
    })
}

fn differs(points: &[Placed<'_>], result: (&str, &str)) -> bool {
    let mut medians = points.iter().filter_map(|point| point.median(result));
    let first = medians.next();
    medians.any(|median| Some(median) != first)
}

/// The parameter that colours tell: words before numbers, as many values as there are colours.
fn coloured(parameters: &[Varied]) -> Option<&Varied> {
    let fits = |varied: &&Varied| varied.values.len() <= SERIES;
    let words = |varied: &&Varied| varied.values.iter().any(|value| value.parse::<f64>().is_err());
    parameters.iter().filter(fits).find(words).or_else(|| parameters.iter().find(fits))
}

/// The points that no other beats in both, by latency.
fn front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    let key = |at: &usize| points[*at];
    order.sort_by(|a, b| key(a).0.total_cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    let mut least = f64::INFINITY;
    order.retain(|at| {
        let better = key(at).1 < least;
        least = least.min(key(at).1);
        better
    });
    order
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// A scale with some room at both ends, so that no dot lies on the frame.
fn padded(low: f64, high: f64, from: f64, to: f64) -> Scale {
    let room = (high - low) * 0.08;
    Scale::linear((low - room).max(low.min(0.0)), high + room, from, to)
}

#[cfg(test)]
mod tests {
    use super::front;

    #[test]
    fn the_front_is_what_no_other_point_beats() {
        let points = [(2.0, 5.0), (1.0, 9.0), (3.0, 6.0), (4.0, 5.0), (5.0, 1.0), (1.0, 10.0)];
        assert_eq!(front(&points), [1, 0, 4]);
        assert!(front(&[]).is_empty());
    }
}
