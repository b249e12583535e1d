//! The result of a sweep for people and as JSON.

use super::{Finished, Shard, SweepEnd, unit_of};
use crate::record::spread;
use crate::text::value;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Points that people see; the run has all.
const SHOWN: usize = 24;

/// Metrics that they see.
const COLUMNS: usize = 4;

/// What people read: the first points and the metrics that tell most.
pub fn text(end: &SweepEnd, dir: &Path) -> String {
    let (points, phases) = (end.points.len(), phases(end));
    let of = match phases {
        1 => "one phase each".to_owned(),
        phases => format!("{phases} phases each; medians over the phases"),
    };
    let mut text = format!("{}: {points} points of {of}\n\n", name(end));
    let columns = columns(end);
    let paths: Vec<&str> =
        end.points.first().into_iter().flatten().map(|(path, _)| path.as_str()).collect();
    let widths: Vec<usize> = paths.iter().map(|path| path.len().max(10) + 2).collect();
    for (path, width) in paths.iter().zip(&widths) {
        let _ = write!(text, "{path:<width$}");
    }
    for (_, name) in &columns {
        let _ = write!(text, "{name:>width$}", width = name.len().max(12) + 2);
    }
    text.push('\n');
    for (number, finished) in end.finished.iter().take(SHOWN) {
        let point = end.points.get(*number).map(Vec::as_slice).unwrap_or_default();
        for ((_, parameter), width) in point.iter().zip(&widths) {
            let _ = write!(text, "{parameter:<width$}");
        }
        for (index, name) in &columns {
            let median = median(finished, *index);
            let shown = median.map_or("never".to_owned(), |median| value(unit_of(name), median));
            let _ = write!(text, "{shown:>width$}", width = name.len().max(12) + 2);
        }
        text.push('\n');
    }
    if end.finished.len() > SHOWN {
        let _ = writeln!(text, "... and {} more", end.finished.len() - SHOWN);
    }
    let _ = writeln!(text, "\nRun   {} (all results in sweep.parquet)", dir.display());
    text
}

/// A part of a sweep that was written to a file.
pub struct PartEnd<'a> {
    /// The scenario's name.
    pub name: &'a str,
    /// Which part.
    pub shard: Shard,
    /// Its points.
    pub own: usize,
    /// Those of all parts.
    pub points: usize,
    /// Where it is.
    pub file: &'a Path,
}

impl PartEnd<'_> {
    /// What people read; `next`: what becomes of its file.
    pub fn text(&self, next: &str) -> String {
        let PartEnd { name, shard, own, points, file } = self;
        let file = file.display();
        format!("{name}: part {shard}, {own} of {points} points\n\nFile  {file} ({next})\n")
    }

    /// As the JSON of `flyball-sweep-part/1`.
    pub fn json(&self) -> Value {
        let (shard, file) = (self.shard.to_string(), self.file.display().to_string());
        json!({ "schema": "flyball-sweep-part/1", "name": self.name, "shard": shard,
            "points": self.own, "of": self.points, "file": file })
    }
}

/// The scenario's name.
fn name(end: &SweepEnd) -> &str {
    end.header.manifest.conditions.first().map_or("", |condition| condition.name.as_str())
}

/// Phases of a point.
fn phases(end: &SweepEnd) -> usize {
    end.finished.values().next().map_or(0, |finished| finished.values.len())
}

/// The metrics that tell most: what the first task is about, and the energy.
fn columns(end: &SweepEnd) -> Vec<(usize, String)> {
    let Some(first) = end.finished.values().next() else { return Vec::new() };
    let wanted = ["response_p50_ns", "response_p99_ns", "missed_percent", "util_", "on_largest_ns"];
    let somewhere = |index: usize| end.finished.values().any(|f| median(f, index).is_some());
    let tells = |(index, name): &(usize, &String)| {
        let metric = name.rsplit('.').next().unwrap_or_default();
        wanted.iter().any(|wanted| metric.starts_with(wanted)) && somewhere(*index)
    };
    let named = |(index, name): (usize, &String)| (index, name.clone());
    let mut columns: Vec<(usize, String)> =
        first.names.iter().enumerate().filter(tells).map(named).take(COLUMNS - 1).collect();
    let energy = first.names.iter().position(|name| name == "machine.energy_mj");
    columns.extend(energy.map(|index| (index, "machine.energy_mj".to_owned())));
    columns
}

fn median(finished: &Finished, index: usize) -> Option<f64> {
    let values = finished.values.iter().filter_map(|phase| phase.get(index).copied().flatten());
    spread(values).map(|found| found.median)
}

/// All points and metrics, for programs.
pub fn json(end: &SweepEnd, dir: &Path) -> Value {
    let points = end.finished.iter().map(|(number, finished)| {
        let parameters: serde_json::Map<String, Value> = end
            .points
            .get(*number)
            .into_iter()
            .flatten()
            .map(|(path, value)| (path.clone(), json!(value)))
            .collect();
        let results: serde_json::Map<String, Value> = finished
            .names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let values = finished.values.iter().filter_map(|p| p.get(index).copied().flatten());
                (name.clone(), json!(spread(values)))
            })
            .collect();
        json!({ "point": number, "parameters": parameters, "results": results })
    });
    json!({
        "schema": "flyball-sweep/1",
        "name": name(end),
        "phases": phases(end),
        "points": points.collect::<Vec<_>>(),
        "run": dir.display().to_string(),
    })
}
