//! Tables of results over the phases: one column per run, or one row per point of a sweep.

use super::Detail;
use crate::model::{EventRun, PhaseResult, PointResults};
use crate::table::{Cell, Column, Table};
use crate::text;

/// Points of a sweep in the short form.
const POINTS: usize = 12;
/// Points in the full form; the run's table holds them all.
const MOST_POINTS: usize = 500;
/// Results per point in the short form.
const RESULTS: usize = 4;

/// Beginnings of the names of results that answer most questions.
const TELLING: [&str; 11] = [
    "response_p50_ns",
    "response_p99_ns",
    "response_max_ns",
    "lateness_p99_ns",
    "missed_percent",
    "util_",
    "on_largest_ns",
    "frequency_busy_khz",
    "transitions_per_s",
    "energy_mj",
    "power_mw",
];

/// Whether a result answers most questions.
pub(crate) fn tells(result: &PhaseResult) -> bool {
    TELLING.iter().any(|name| result.name.starts_with(name))
}

/// A value in the unit that its name ends in, and the name without it.
fn value(name: &str, value: f64) -> String {
    let digits = |value: f64, unit: &str| format!("{} {unit}", text::micros(value));
    match unit(name) {
        "_ns" if value.abs() < 1e6 => digits(value / 1e3, "us"),
        "_ns" if value.abs() < 1e10 => digits(value / 1e6, "ms"),
        "_ns" => digits(value / 1e9, "s"),
        "_khz" => digits(value / 1e6, "GHz"),
        "_mj" => digits(value, "mJ"),
        "_mw" => digits(value, "mW"),
        "_percent" => digits(value, "%"),
        "_per_s" => digits(value, "/s"),
        "_celsius" => digits(value, "C"),
        _ if value.fract() == 0.0 => text::number(value, 0),
        _ => text::micros(value),
    }
}

fn unit(name: &str) -> &'static str {
    let units = ["_ns", "_khz", "_mj", "_mw", "_percent", "_per_s", "_celsius"];
    units.into_iter().find(|unit| name.ends_with(unit)).unwrap_or("")
}

/// What a result is called on an axis, its unit there, and the factor to it.
pub(crate) fn axis(name: &str) -> (String, &'static str, f64) {
    let (unit, scale) = match unit(name) {
        "_ns" => ("ms", 1e-6),
        "_khz" => ("GHz", 1e-6),
        "_mj" => ("mJ", 1.0),
        "_mw" => ("mW", 1.0),
        "_percent" => ("%", 1.0),
        "_per_s" => ("/s", 1.0),
        "_celsius" => ("C", 1.0),
        _ => ("", 1.0),
    };
    (words(name), unit, scale)
}

fn words(name: &str) -> String {
    name.strip_suffix(unit(name)).unwrap_or(name).replace('_', " ")
}

fn cell(result: &PhaseResult, phases: u64) -> Cell {
    let shown = |number| value(&result.name, number);
    let (median, low, high) = (shown(result.median), shown(result.p1), shown(result.p99));
    let range = match low == median && high == median {
        true => String::new(),
        false => format!(" [{low}, {high}]"),
    };
    let rare = match result.n < phases {
        true => format!(" in {} of {phases}", result.n),
        false => String::new(),
    };
    Cell::keyed(format!("{median}{range}{rare}"), result.median)
}

/// Runs that are no sweep: their only point.
fn single(run: &EventRun) -> Option<&PointResults> {
    match run.points.as_slice() {
        [only] if only.parameters.is_empty() => Some(only),
        _ => None,
    }
}

/// Results over the phases, runs side by side.
pub(super) fn phases(runs: &[&EventRun], detail: Detail) -> Table {
    let shown: Vec<(&EventRun, &PointResults)> =
        runs.iter().filter_map(|run| Some((*run, single(run)?))).collect();
    let mut names: Vec<(&str, &str)> = Vec::new();
    for result in shown.iter().flat_map(|(_, point)| &point.results) {
        let name = (result.subject.as_str(), result.name.as_str());
        // What never happened in any phase needs a line only where everything is wanted.
        let wanted = detail != Detail::Short || tells(result) && (result.max > 0.0);
        if wanted && !names.contains(&name) {
            names.push(name);
        }
    }
    let mut told = "";
    let mut rows = Vec::new();
    for (subject, name) in names {
        let first = if detail == Detail::Short && subject == told { "" } else { subject };
        told = subject;
        let mut row = vec![Cell::text(first), Cell::text(words(name))];
        row.extend(shown.iter().map(|(_, point)| {
            let found = point.results.iter().find(|r| r.subject == subject && r.name == name);
            found.map_or_else(|| Cell::text("-"), |result| cell(result, point.phases))
        }));
        rows.push(row);
    }
    let head = |(run, point): &(&EventRun, &PointResults)| {
        Column::number(format!("{}, n {}", run.run, point.phases))
    };
    let names = [Column::words("subject"), Column::words("result")];
    let columns = names.into_iter().chain(shown.iter().map(head)).collect();
    let title = "Over the phases of tick and poll: median [1 %, 99 %]";
    Table::new("phases", title, columns).rows(rows)
}

/// The points of sweeps: parameters, and medians of the results that tell most.
pub(super) fn sweep(runs: &[&EventRun], detail: Detail) -> Table {
    let swept: Vec<&EventRun> = runs
        .iter()
        .copied()
        .filter(|run| !run.points.is_empty() && single(run).is_none())
        .collect();
    let points = || swept.iter().flat_map(|run| run.points.iter().map(move |point| (*run, point)));
    let mut parameters: Vec<&str> = Vec::new();
    let mut results: Vec<(&str, &str)> = Vec::new();
    for (_, point) in points() {
        for fact in &point.parameters {
            if !parameters.contains(&fact.name.as_str()) {
                parameters.push(&fact.name);
            }
        }
        for result in point.results.iter().filter(|r| tells(r) && r.max > 0.0) {
            let name = (result.subject.as_str(), result.name.as_str());
            if !results.contains(&name) {
                results.push(name);
            }
        }
    }
    if detail == Detail::Short {
        // The first task, and the energy of everything.
        let energy = results.iter().position(|name| *name == ("machine", "energy_mj"));
        let energy = energy.map(|at| results.remove(at));
        results.truncate(RESULTS);
        results.extend(energy);
    }
    let row = |(run, point): (&EventRun, &PointResults)| {
        let mut row = vec![Cell::text(run.run.as_str())];
        row.extend(parameters.iter().map(|name| {
            let fact = point.parameters.iter().find(|fact| fact.name == *name);
            let text = fact.map_or("-", |fact| fact.value.as_str());
            Cell { number: text.parse().ok(), ..Cell::text(text) }
        }));
        row.extend(results.iter().map(|(subject, name)| {
            let found = point.results.iter().find(|r| r.subject == *subject && r.name == *name);
            Cell::number(found.map(|result| result.median), |median| value(name, median))
        }));
        row
    };
    let count = points().count();
    let most = if detail != Detail::Short { MOST_POINTS } else { POINTS };
    let heads = parameters.iter().map(|name| Column::number(*name));
    let of =
        results.iter().map(|(subject, name)| Column::number(format!("{subject}: {}", words(name))));
    let more = if count > most { format!(" (the first {most} of {count})") } else { String::new() };
    let title = format!("Points of the sweep, medians over the phases{more}");
    let columns = [Column::words("run")].into_iter().chain(heads).chain(of).collect();
    Table::new("sweep", title, columns).rows(points().take(most).map(row))
}
