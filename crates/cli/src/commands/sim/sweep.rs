//! `flyball sim --sweep`: many variants, on all cores, interruptible.

use super::SharedHost;
use crate::args::{SimArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::meter::Meter;
use crate::output;
use crate::runs::{RUNS, check_out, command_line, seconds};
use crate::scenarios::Input;
use flyball_run::name::run_name;
use flyball_sim::scenario::{Node, Source};
use flyball_sim::sweep::{Axis, Places, PlacesError, Sweep, points, text};
use std::path::Path;

pub fn run(
    args: &SimArgs,
    talk: Talk,
    host: &SharedHost,
    root: &Node,
    input: &Input,
) -> Result<Exit, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::usage(format!("--sweep {error}"));
    let axes = args.sweep.iter().map(|text| Axis::parse(text).map_err(|error| usage(&error)));
    let axes = axes.collect::<Result<Vec<Axis>, Failure>>()?;
    let all = points(&axes).map_err(|error| usage(&error))?;
    let open = |path: &str| input.read_beside(path);
    let source = Source { origin: &input.origin, name: &input.name, open: &open };
    let renames = axes.iter().any(|axis| axis.path == "governor.name");
    let sweep = Sweep::new(root, source, axes, all)?;
    // Until here there was nothing to keep.
    host.catch_interrupts()?;
    if let Some(spec) = sweep.scenario.governors.first().filter(|_| renames && !talk.quiet) {
        note_tunables(&spec.name, &spec.tunables);
    }
    check_out(args.out.as_deref())?;
    let base = run_name(seconds(host.as_ref()), "sweep");
    let places = Places::of(args.out.as_deref(), Path::new(RUNS), &base, &sweep.header());
    let Places { dir, journal } = places.map_err(|error| match error {
        PlacesError::NotEmpty(_) => Failure::of(&error).hint("choose another place with --out"),
        error => error.into(),
    })?;
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
    let mut run = sweep.to_run(&end);
    run.manifest.command = command_line();
    let axes: String = args.sweep.iter().map(|axis| format!("# sweep: {axis}\n")).collect();
    run.manifest.experiment = run.manifest.experiment.map(|text| axes + &text);
    let dir = run.write(&dir)?;
    fs_err::remove_file(&journal)?;
    output::result(
        args.format,
        || text::text(&sweep, &end, &dir),
        || text::json(&sweep, &end, &dir),
    )?;
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
