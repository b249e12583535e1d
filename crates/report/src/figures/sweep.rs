//! The points of a sweep: results over the parameter that was swept, with the band of the phases; over
//! two and more parameters as maps; latency against energy.

mod frontier;
mod map;
mod varied;

use super::lines::{self, Line, Place};
use super::{Figure, Size};
use crate::draw::{Paint, Scene};
use crate::model::{EventRun, PointResults, Report};
use crate::sheets::points;
use std::collections::BTreeSet;
use varied::number;

/// Most panels.
const PANELS: usize = 6;

/// The points of one line, by the swept value.
struct Swept<'a> {
    label: String,
    points: Vec<(f64, &'a PointResults)>,
}

/// What there is to draw of the sweeps.
pub(crate) fn all(report: &Report, size: Size) -> Vec<Figure> {
    let drawn = [sweep(report, size), map::map(report, size), frontier::frontier(report, size)];
    drawn.into_iter().flatten().collect()
}

/// The runs that are sweeps.
fn sweeps(report: &Report) -> Vec<&EventRun> {
    report.events.iter().filter(|run| run.points.len() > 1).collect()
}

/// The results that tell most, as subject and name, in their order.
fn telling<'a>(points: impl Iterator<Item = &'a PointResults>) -> Vec<(&'a str, &'a str)> {
    let mut results: Vec<(&str, &str)> = Vec::new();
    for result in points.flat_map(|point| &point.results).filter(|result| points::tells(result)) {
        let name = (result.subject.as_str(), result.name.as_str());
        if result.max > 0.0 && !results.contains(&name) && results.len() < PANELS {
            results.push(name);
        }
    }
    results
}

/// One panel per result that tells most, one line per combination of the other parameters; nothing
/// where no run is a sweep over numbers.
fn sweep(report: &Report, size: Size) -> Option<Figure> {
    let runs = sweeps(report);
    let points = || runs.iter().flat_map(|run| run.points.iter().map(move |point| (*run, point)));
    let (axis, unit) = varied::numbers(points().map(|(_, point)| point))?;
    let (swept, more) = collect(points(), &axis, runs.len() > 1);
    let results = telling(points().map(|(_, point)| point));
    let rows = results.len().div_ceil(2).max(1);
    let size = size.at_least(760.0, 118.0 + rows as f64 * 230.0);
    let mut scene = Scene::new(size.width, size.height, format!("Results over {axis}"));
    scene.description = format!("Medians over the phases with 1 to 99 %, over {axis}");
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    scene.text(24.0, 36.0, format!("Over {axis}{unit}"), 20.0).bold();
    let mut told = "line: median over the phases of tick and poll; band: 1 to 99 %".to_owned();
    if more > 0 {
        told += &format!("; {} of {} lines", swept.len(), swept.len() + more);
    }
    scene.text(24.0, 56.0, told, 12.0).fill(Paint::Muted);
    let cell = ((size.width - 48.0) / 2.0, (size.height - 118.0) / rows as f64);
    for (at, name) in results.iter().enumerate() {
        let corner = (24.0 + (at % 2) as f64 * cell.0, 84.0 + (at / 2) as f64 * cell.1);
        let (title, scale) = titled(*name);
        let (width, height) = (cell.0 - 18.0, cell.1 - 22.0);
        let place = Place { x: corner.0, y: corner.1, width, height, log: false };
        lines::chart(&mut scene, place, &title, &of_result(&swept, *name, scale));
    }
    let labels: Vec<&str> = swept.iter().map(|line| line.label.as_str()).collect();
    lines::key(&mut scene, size.height - 12.0, size.width, &labels);
    (!results.is_empty()).then(|| Figure { name: "sweep".to_owned(), scene })
}

/// A result with its unit, and the factor to it.
fn titled((subject, name): (&str, &str)) -> (String, f64) {
    let (words, unit, scale) = points::axis(name);
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    (format!("{subject}: {words}{unit}"), scale)
}

/// The lines that have a colour of their own, and how many more there are.
fn collect<'a>(
    points: impl Iterator<Item = (&'a EventRun, &'a PointResults)>,
    axis: &str,
    several: bool,
) -> (Vec<Swept<'a>>, usize) {
    let (mut lines, mut more) = (Vec::<Swept<'a>>::new(), BTreeSet::new());
    for (run, point) in points {
        let others = point.parameters.iter().filter(|fact| fact.name != axis);
        let run = several.then(|| run.run.clone());
        let others = others.map(|fact| format!("{} {}", fact.name, fact.value));
        let label = run.into_iter().chain(others).collect::<Vec<_>>().join(", ");
        let Some((x, _)) = number(point, axis) else { continue };
        match lines.iter().position(|line| line.label == label) {
            Some(at) => lines[at].points.push((x, point)),
            None if lines.len() < lines::MOST => {
                lines.push(Swept { label, points: vec![(x, point)] })
            }
            None => {
                more.insert(label);
            }
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    (lines, more.len())
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
    use crate::model::{Fact, PhaseResult};

    /// Parameters of a point, its latency and its energy.
    type Point<'a> = (&'a [(&'a str, &'a str)], f64, f64);

    fn run(points: &[Point<'_>]) -> Report {
        let result = |subject: &str, name: &str, median: f64| PhaseResult {
            subject: subject.to_owned(),
            name: name.to_owned(),
            n: 3,
            median,
            p1: median * 0.9,
            p99: median * 1.2,
            min: median * 0.9,
            max: median * 1.2,
        };
        let fact =
            |(name, value): &(&str, &str)| Fact { name: (*name).into(), value: (*value).into() };
        let point = |(parameters, latency, energy): &Point<'_>| PointResults {
            parameters: parameters.iter().map(fact).collect(),
            phases: 3,
            results: vec![
                result("spin", "response_p99_ns", *latency),
                result("machine", "energy_mj", *energy),
            ],
        };
        let run = EventRun {
            run: "sweep".to_owned(),
            facts: Vec::new(),
            trials: Vec::new(),
            points: points.iter().map(point).collect(),
            missing: Vec::new(),
        };
        Report { events: vec![run], ..Report::default() }
    }

    fn drawn(report: &Report) -> Vec<(String, String)> {
        let figures = crate::figures::all(report, &[]);
        figures
            .iter()
            .map(|figure| {
                assert!(figure.png().is_ok());
                let svg = figure.svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                (figure.name.clone(), svg)
            })
            .collect()
    }

    fn names(drawn: &[(String, String)]) -> Vec<&str> {
        drawn.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn one_parameter_is_lines_and_anything_else_draws_nothing() {
        let governor = ("governor", "schedutil");
        let swept = drawn(&run(&[
            (&[governor, ("rate_limit_us", "0")], 1e6, 5e3),
            (&[governor, ("rate_limit_us", "500")], 2e6, 4e3),
            (&[governor, ("rate_limit_us", "1000")], 3e6, 3e3),
        ]));
        assert_eq!(names(&swept), ["sweep", "sweep-frontier"]);
        let svg = &swept[0].1;
        assert!(
            svg.contains("Over rate_limit_us") && svg.contains("spin: response p99, ms"),
            "{svg}"
        );
        assert!(drawn(&run(&[(&[governor], 1e6, 5e3)])).is_empty());
    }

    #[test]
    fn a_parameter_with_a_unit_is_a_number() {
        let swept = drawn(&run(&[(&[("mean", "2ms")], 1e6, 1e3), (&[("mean", "10ms")], 2e6, 1e3)]));
        assert_eq!(names(&swept), ["sweep"], "one energy is no trade");
        assert!(swept[0].1.contains("Over mean, ms"), "{}", swept[0].1);
        let mixed = drawn(&run(&[(&[("mean", "2ms")], 1e6, 1e3), (&[("mean", "10us")], 2e6, 1e3)]));
        assert!(mixed.is_empty(), "two units: {:?}", names(&mixed));
    }

    #[test]
    fn two_parameters_are_a_map_with_every_value_and_three_small_ones() {
        let rates = ["0", "500", "10000"];
        let mut points = Vec::new();
        let parameters: Vec<[(&str, &str); 3]> = rates
            .iter()
            .flat_map(|rate| ["100", "1000"].map(|hz| [("rate", *rate), ("hz", hz)]))
            .flat_map(|[rate, hz]| ["a", "b"].map(|task| [rate, hz, ("task", task)]))
            .collect();
        for (at, parameters) in parameters.iter().enumerate() {
            points.push((&parameters[..], 1e6 * (at + 1) as f64, 1e3));
        }
        let three = drawn(&run(&points));
        assert_eq!(names(&three), ["sweep", "sweep-map"]);
        let svg = &three[1].1;
        for words in
            ["task a", "task b", "rate across", "hz upwards", "rate 0, hz 1000, task b: 4.00"]
        {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        let two: Vec<_> = points.iter().step_by(2).map(|p| (&p.0[..2], p.1, p.2)).collect();
        let two = drawn(&run(&two));
        assert_eq!(names(&two), ["sweep", "sweep-map"]);
        assert!(!two[1].1.contains("task a") && two[1].1.contains("spin: response p99, ms"));
        insta::assert_snapshot!("map", two[1].1);
    }

    #[test]
    fn a_point_without_the_result_is_told_from_a_small_one() {
        let mut report = run(&[
            (&[("rate", "0"), ("hz", "100")], 1e6, 1e3),
            (&[("rate", "0"), ("hz", "250")], 2e6, 1e3),
            (&[("rate", "5"), ("hz", "100")], 3e6, 1e3),
            (&[("rate", "5"), ("hz", "250")], 4e6, 1e3),
        ]);
        report.events[0].points[3].results.remove(0);
        let svg = &drawn(&report)[1].1;
        assert!(svg.contains("rate 5, hz 250: never"), "{svg}");
    }

    #[test]
    fn the_frontier_leads_through_what_nothing_beats() {
        let figures = drawn(&run(&[
            (&[("governor", "performance")], 1e6, 9e3),
            (&[("governor", "schedutil")], 3e6, 4e3),
            (&[("governor", "ondemand")], 4e6, 5e3),
            (&[("governor", "powersave")], 20e6, 3e3),
        ]));
        assert_eq!(names(&figures), ["sweep-frontier"], "governors are no numbers");
        let svg = &figures[0].1;
        assert!(svg.contains("spin: response p99, ms"), "{svg}");
        // The beaten one has no label beside it; its tooltip and the key name it.
        let labels = |name: &str| svg.matches(&format!(">{name}<")).count();
        assert_eq!(labels("ondemand") + 1, labels("schedutil"), "{svg}");
        insta::assert_snapshot!("frontier", svg);
    }
}
