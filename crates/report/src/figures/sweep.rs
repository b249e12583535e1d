//! The points of a sweep: results over the parameter that was swept, with the band of the phases.

use super::{Figure, Size};
use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, SERIES, Scene};
use crate::model::{EventRun, Fact, PhaseResult, PointResults, Report};
use crate::sheets::points;

/// Most panels.
const PANELS: usize = 6;
const LEFT: f64 = 58.0;

/// The points of one line, by the swept value.
struct Line<'a> {
    label: String,
    points: Vec<(f64, &'a PointResults)>,
}

/// One panel per result that tells most, one line per combination of the other parameters; nothing
/// where no run is a sweep over numbers.
pub(super) fn sweep(report: &Report, size: Size) -> Option<Figure> {
    let runs: Vec<&EventRun> = report.events.iter().filter(|run| run.points.len() > 1).collect();
    let points = || runs.iter().flat_map(|run| run.points.iter().map(move |point| (*run, point)));
    let axis = swept(points().map(|(_, point)| point))?;
    let lines = lines(points(), &axis, runs.len() > 1);
    let mut results: Vec<(&str, &str)> = Vec::new();
    for result in points().flat_map(|(_, point)| &point.results).filter(|r| points::tells(r)) {
        let name = (result.subject.as_str(), result.name.as_str());
        if result.max > 0.0 && !results.contains(&name) && results.len() < PANELS {
            results.push(name);
        }
    }
    let rows = results.len().div_ceil(2).max(1);
    let size = size.at_least(760.0, 118.0 + rows as f64 * 230.0);
    let mut scene = Scene::new(size.width, size.height, format!("Results over {axis}"));
    scene.description = format!("Medians over the phases with 1 to 99 %, over {axis}");
    scene.text(24.0, 36.0, format!("Over {axis}"), 20.0).bold();
    let told = "line: median over the phases of tick and poll; band: 1 to 99 %";
    scene.text(24.0, 56.0, told, 12.0).fill(Paint::Muted);
    let cell = ((size.width - 48.0) / 2.0, (size.height - 118.0) / rows as f64);
    for (at, name) in results.iter().enumerate() {
        let corner = (24.0 + (at % 2) as f64 * cell.0, 84.0 + (at / 2) as f64 * cell.1);
        panel(&mut scene, corner, (cell.0 - 18.0, cell.1 - 22.0), *name, &lines);
    }
    key(&mut scene, &lines, size);
    (!results.is_empty()).then_some(Figure { name: "sweep", scene })
}

fn number(point: &PointResults, name: &str) -> Option<f64> {
    point.parameters.iter().find(|fact| fact.name == name)?.value.parse().ok()
}

/// The first parameter that has several values, all of them numbers.
fn swept<'a>(points: impl Iterator<Item = &'a PointResults>) -> Option<String> {
    let points: Vec<&PointResults> = points.collect();
    let numbers = |name: &str| -> Option<Vec<f64>> {
        points.iter().map(|point| number(point, name)).collect()
    };
    let several = |fact: &&Fact| {
        let values = numbers(&fact.name).unwrap_or_default();
        values.first().is_some_and(|first| values.iter().any(|value| value != first))
    };
    points.first()?.parameters.iter().find(several).map(|fact| fact.name.clone())
}

fn lines<'a>(
    points: impl Iterator<Item = (&'a EventRun, &'a PointResults)>,
    axis: &str,
    several: bool,
) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for (run, point) in points {
        let others = point.parameters.iter().filter(|fact| fact.name != axis);
        let run = several.then(|| run.run.clone());
        let others = others.map(|fact| format!("{} {}", fact.name, fact.value));
        let label = run.into_iter().chain(others).collect::<Vec<_>>().join(", ");
        let Some(x) = number(point, axis) else { continue };
        match lines.iter().position(|line| line.label == label) {
            Some(at) => lines[at].points.push((x, point)),
            None if lines.len() < SERIES => lines.push(Line { label, points: vec![(x, point)] }),
            None => {}
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    lines
}

fn panel(
    scene: &mut Scene,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    (subject, name): (&str, &str),
    lines: &[Line<'_>],
) {
    let (words, unit, scale) = points::axis(name);
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    let title = format!("{subject}: {words}{unit}");
    scene.text(x, y + 4.0, font::fit(&title, 13.0, Weight::SemiBold, width), 13.0).bold();
    let found = |point: &'_ PointResults| -> Option<PhaseResult> {
        point.results.iter().find(|r| r.subject == subject && r.name == name).cloned()
    };
    let series: Vec<Vec<(f64, PhaseResult)>> = lines
        .iter()
        .map(|line| line.points.iter().filter_map(|(x, p)| Some((*x, found(p)?))).collect())
        .collect();
    let all = || series.iter().flatten();
    let most = all().map(|(_, r)| r.p99.max(r.median) * scale).fold(0.0, f64::max);
    let ends = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (x, _)| {
        (low.min(*x), high.max(*x))
    });
    let (top, bottom) = (y + 14.0, y + height - 20.0);
    let up = Scale::linear(0.0, most * 1.08, bottom, top);
    let across = Scale::linear(ends.0, ends.1, x + LEFT, x + width);
    for (value, label) in up.ticks(4) {
        scene.line((x + LEFT, up.at(value)), (x + width, up.at(value))).stroke(Paint::Grid, 1.0);
        scene.text(x + LEFT - 7.0, up.at(value) + 4.0, label, 11.0).end().fill(Paint::Muted);
    }
    for (value, label) in across.ticks(5) {
        scene.text(across.at(value), bottom + 16.0, label, 11.0).middle().fill(Paint::Muted);
    }
    for (at, points) in series.iter().enumerate() {
        let line = |pick: fn(&PhaseResult) -> f64| -> Vec<(f64, f64)> {
            points.iter().map(|(x, r)| (across.at(*x), up.at(pick(r) * scale))).collect()
        };
        let band = line(|r| r.p1).into_iter().chain(line(|r| r.p99).into_iter().rev()).collect();
        let paint = Paint::Series(at);
        scene.polygon(band).fill(paint).opacity(0.16);
        let label = lines.get(at).map_or("", |line| line.label.as_str());
        match points.as_slice() {
            [_] => scene.dots(line(|r| r.median), 3.0).fill(paint).tooltip(label),
            _ => scene.polyline(line(|r| r.median)).stroke(paint, 1.8).tooltip(label),
        };
    }
}

/// Which line is which, where there are several.
fn key(scene: &mut Scene, lines: &[Line<'_>], size: Size) {
    if lines.len() < 2 {
        return;
    }
    let room = (size.width - 48.0) / lines.len() as f64;
    for (at, line) in lines.iter().enumerate() {
        let x = 24.0 + room * at as f64;
        scene.rect(x, size.height - 22.0, 11.0, 11.0).rounded(3.0).fill(Paint::Series(at));
        let label = font::fit(&line.label, 11.5, Weight::Regular, room - 24.0);
        scene.text(x + 17.0, size.height - 12.0, label, 11.5).tooltip(&line.label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(rate: &str, median: f64) -> PointResults {
        let fact =
            |name: &str, value: &str| Fact { name: name.to_owned(), value: value.to_owned() };
        let result = PhaseResult {
            subject: "spin".to_owned(),
            name: "response_p99_ns".to_owned(),
            n: 3,
            median,
            p1: median * 0.9,
            p99: median * 1.2,
            min: median * 0.9,
            max: median * 1.2,
        };
        PointResults {
            parameters: vec![fact("governor", "schedutil"), fact("rate_limit_us", rate)],
            phases: 3,
            results: vec![result],
        }
    }

    #[test]
    fn a_sweep_is_lines_over_its_parameter_and_anything_else_draws_nothing() {
        let run = |points| EventRun {
            run: "sweep".to_owned(),
            facts: Vec::new(),
            trials: Vec::new(),
            points,
            missing: Vec::new(),
        };
        let swept = run(vec![point("0", 1e6), point("500", 2e6), point("1000", 3e6)]);
        let report = Report { events: vec![swept], ..Report::default() };
        let figures = super::super::all(&report, &[]);
        assert_eq!(figures.iter().map(|figure| figure.name).collect::<Vec<_>>(), ["sweep"]);
        let svg = figures[0].svg();
        assert!(
            svg.contains("Over rate_limit_us") && svg.contains("spin: response p99, ms"),
            "{svg}"
        );
        assert!(!svg.contains("NaN"));
        assert!(figures[0].png().is_ok());
        let alone = Report { events: vec![run(vec![point("0", 1e6)])], ..Report::default() };
        assert!(super::super::all(&alone, &[]).is_empty());
    }
}
