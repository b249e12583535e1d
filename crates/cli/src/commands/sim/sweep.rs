//! `flyball sim --sweep`: many variants, on all cores, interruptible.

use super::print::value;
use super::{Input, SharedHost};
use crate::args::{CheckFormat, SimArgs, Talk};
use crate::commands::report::RUNS;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::meter::Meter;
use crate::output;
use flyball_run::name::run_name;
use flyball_sim::record::spread;
use flyball_sim::scenario::{Node, Source};
use flyball_sim::sweep::{Axis, Finished, Header, Journal, Sweep, SweepEnd, points, unit_of};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What a journal is called beside the run directory to be.
const PARTIAL: &str = "partial";

/// Points that the terminal shows; the run has all.
const SHOWN: usize = 24;

/// Metrics that the terminal shows.
const COLUMNS: usize = 4;

pub fn run(
    args: &SimArgs,
    talk: Talk,
    host: &SharedHost,
    root: &Node,
    input: &Input,
) -> Result<Exit, Failure> {
    let usage =
        |error: &dyn std::fmt::Display| Failure::new(Exit::Usage, format!("--sweep {error}"));
    let axes = args.sweep.iter().map(|text| Axis::parse(text).map_err(|error| usage(&error)));
    let axes = axes.collect::<Result<Vec<Axis>, Failure>>()?;
    let all = points(&axes).map_err(|error| usage(&error))?;
    let open = |path: &str| input.read_beside(path);
    let source = Source { origin: &args.scenario, name: &input.name, open: &open };
    let renames = axes.iter().any(|axis| axis.path == "governor.name");
    let sweep = Sweep::new(root, source, axes, all)?;
    if let Some(spec) = sweep.scenario.governors.first().filter(|_| renames && !talk.quiet) {
        note_tunables(&spec.name, &spec.tunables);
    }
    let (dir, journal) = places(args, host, &sweep.header())?;
    let meter = Meter::new(host, talk.quiet, sweep.points().len(), "points");
    if journal.exists() && !talk.quiet {
        output::talk(&format!("going on with {}", journal.display()));
    }
    let stop = || host.interrupted() > 0;
    let end = sweep.run(&journal, &stop, &|done| meter.at(done))?;
    meter.finish();
    if !end.complete {
        output::talk(&format!(
            "interrupted: {} of {} points are kept in {}\nhint: run the same command again to go on",
            end.finished.len(),
            sweep.points().len(),
            journal.display()
        ));
        return Ok(Exit::Interrupted);
    }
    let dir = sweep.to_run(&end).write(&dir)?;
    fs_err::remove_file(&journal).map_err(|error| Failure::io(&error))?;
    output::data(&match args.format {
        CheckFormat::Text => text(&sweep, &end, &dir),
        CheckFormat::Json => format!("{:#}\n", as_json(&sweep, &end, &dir)),
    })?;
    Ok(Exit::Ok)
}

/// The scenario's tunables are its own governor's.
fn note_tunables(governor: &str, tunables: &[(String, i64)]) {
    let set: Vec<String> = tunables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if !set.is_empty() {
        output::talk(&format!(
            "note: {} is {governor}'s alone: other governors start with their defaults",
            set.join(", ")
        ));
    }
}

/// The run directory to be, and the journal beside it: that of the same sweep where one is there.
fn places(
    args: &SimArgs,
    host: &SharedHost,
    header: &Header,
) -> Result<(PathBuf, PathBuf), Failure> {
    if let Some(dir) = &args.out {
        super::check_out(Some(dir))?;
        if dir.exists() && dir.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Failure::new(
                Exit::BadInput,
                format!(
                    "{}: expected a new or empty directory, found one with files in it",
                    dir.display()
                ),
            )
            .hint("choose another place with --out"));
        }
        let mut name = dir.as_os_str().to_owned();
        name.push(format!(".{PARTIAL}"));
        return Ok((dir.clone(), PathBuf::from(name)));
    }
    let root = Path::new(RUNS);
    fs_err::create_dir_all(root).map_err(|error| Failure::io(&error))?;
    for entry in fs_err::read_dir(root).map_err(|error| Failure::io(&error))?.flatten() {
        let path = entry.path();
        let partial = path.extension().is_some_and(|extension| extension == PARTIAL);
        if partial && Journal::open(&path, header).is_ok() {
            return Ok((path.with_extension(""), path));
        }
    }
    let seconds = host.realtime().0 / 1_000_000_000;
    let base = run_name(seconds, "sweep");
    let names = std::iter::once(base.clone()).chain((2..10_000).map(|n| format!("{base}-{n}")));
    let taken = |dir: &PathBuf| dir.exists() || dir.with_extension(PARTIAL).exists();
    let dir = names.map(|name| root.join(name)).find(|dir| !taken(dir));
    let dir = dir.ok_or_else(|| {
        Failure::new(Exit::BadInput, format!("{RUNS}/{base}: expected a free name, found none"))
            .hint("give a directory: --out DIR")
    })?;
    Ok((dir.clone(), dir.with_extension(PARTIAL)))
}

fn text(sweep: &Sweep<'_>, end: &SweepEnd, dir: &Path) -> String {
    let scenario = &sweep.scenario;
    let mut text = format!(
        "{}: {} points of {} phases; medians over the phases\n\n",
        scenario.name,
        sweep.points().len(),
        scenario.phases
    );
    let columns = columns(end);
    let paths: Vec<&str> =
        sweep.points().first().into_iter().flatten().map(|(path, _)| path.as_str()).collect();
    let widths: Vec<usize> = paths.iter().map(|path| path.len().max(10) + 2).collect();
    for (path, width) in paths.iter().zip(&widths) {
        let _ = write!(text, "{path:<width$}");
    }
    for (_, name) in &columns {
        let _ = write!(text, "{name:>width$}", width = name.len().max(12) + 2);
    }
    text.push('\n');
    for (number, finished) in end.finished.iter().take(SHOWN) {
        let point = sweep.points().get(*number).map(Vec::as_slice).unwrap_or_default();
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

fn as_json(sweep: &Sweep<'_>, end: &SweepEnd, dir: &Path) -> Value {
    let points = end.finished.iter().map(|(number, finished)| {
        let parameters: serde_json::Map<String, Value> = sweep
            .points()
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
        "name": sweep.scenario.name,
        "phases": sweep.scenario.phases,
        "points": points.collect::<Vec<_>>(),
        "run": dir.display().to_string(),
    })
}
