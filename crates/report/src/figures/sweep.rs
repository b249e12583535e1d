//! The points of a sweep: results over the parameter that was swept, with the band of the phases.

use super::lines::{self, Line, Place};
use super::{Figure, Size};
use crate::draw::{Paint, Scene};
use crate::model::{EventRun, Fact, PointResults, Report};
use crate::sheets::points;

/// Most panels.
const PANELS: usize = 6;

/// The points of one line, by the swept value.
struct Swept<'a> {
    label: String,
    points: Vec<(f64, &'a PointResults)>,
}

/// One panel per result that tells most, one line per combination of the other parameters; nothing
/// where no run is a sweep over numbers.
pub(super) fn sweep(report: &Report, size: Size) -> Option<Figure> {
    let runs: Vec<&EventRun> = report.events.iter().filter(|run| run.points.len() > 1).collect();
    let points = || runs.iter().flat_map(|run| run.points.iter().map(move |point| (*run, point)));
    let axis = parameter(points().map(|(_, point)| point))?;
    let swept = collect(points(), &axis, runs.len() > 1);
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
        let (words, unit, scale) = points::axis(name.1);
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        let title = format!("{}: {words}{unit}", name.0);
        let (width, height) = (cell.0 - 18.0, cell.1 - 22.0);
        let place = Place { x: corner.0, y: corner.1, width, height, log: false };
        lines::chart(&mut scene, place, &title, &of_result(&swept, *name, scale));
    }
    let labels: Vec<&str> = swept.iter().map(|line| line.label.as_str()).collect();
    lines::key(&mut scene, size.height - 12.0, size.width, &labels);
    (!results.is_empty()).then(|| Figure { name: "sweep".to_owned(), scene })
}

fn number(point: &PointResults, name: &str) -> Option<f64> {
    point.parameters.iter().find(|fact| fact.name == name)?.value.parse().ok()
}

/// The first parameter that has several values, all of them numbers.
fn parameter<'a>(points: impl Iterator<Item = &'a PointResults>) -> Option<String> {
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

fn collect<'a>(
    points: impl Iterator<Item = (&'a EventRun, &'a PointResults)>,
    axis: &str,
    several: bool,
) -> Vec<Swept<'a>> {
    let mut lines: Vec<Swept<'a>> = Vec::new();
    for (run, point) in points {
        let others = point.parameters.iter().filter(|fact| fact.name != axis);
        let run = several.then(|| run.run.clone());
        let others = others.map(|fact| format!("{} {}", fact.name, fact.value));
        let label = run.into_iter().chain(others).collect::<Vec<_>>().join(", ");
        let Some(x) = number(point, axis) else { continue };
        match lines.iter().position(|line| line.label == label) {
            Some(at) => lines[at].points.push((x, point)),
            None if lines.len() < lines::MOST => {
                lines.push(Swept { label, points: vec![(x, point)] })
            }
            None => {}
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    lines
}

/// The lines of one result.
fn of_result(lines: &[Swept<'_>], (subject, name): (&str, &str), scale: f64) -> Vec<Line> {
    let found = |(at, point): &(f64, &PointResults)| {
        let result = point.results.iter().find(|r| r.subject == subject && r.name == name)?;
        Some((*at, [result.p1, result.median, result.p99].map(|value| value * scale)))
    };
    let line = |line: &Swept<'_>| Line {
        label: line.label.clone(),
        points: line.points.iter().filter_map(found).collect(),
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PhaseResult;

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
        assert_eq!(
            figures.iter().map(|figure| figure.name.as_str()).collect::<Vec<_>>(),
            ["sweep"]
        );
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
