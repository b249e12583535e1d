//! `flyball sim --sweep`: many variants, on all cores or several machines, interruptible.

use super::SharedHost;
use crate::args::{SimArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::runs::{RUNS, check_out, command_line, seconds};
use crate::scenarios::Input;
use crate::{machine, output};
use flyball_console::Meter;
use flyball_host::Host;
use flyball_run::manifest::command;
use flyball_run::name::run_name;
use flyball_sim::scenario::{Node, Source};
use flyball_sim::sweep::{Axis, Header, Places, PlacesError, Sweep, SweepEnd, points, text};
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
    let header = sweep.header(args.shard, command::without(command_line(), "--shard"));
    let Places { dir, journal } = match (args.shard, &args.out) {
        (Some(_), Some(file)) => shard_file(file)?,
        _ => places(args.out.as_deref(), host.as_ref(), &header)?,
    };
    let own = args.shard.map_or(sweep.points().len(), |shard| shard.count(sweep.points().len()));
    let meter = Meter::new(host, talk.quiet, own, "points");
    if journal.exists() && !talk.quiet {
        output::talk(&format!("going on with {}", journal.display()));
    }
    let stop = || host.interrupted() > 0;
    let end = sweep.run(&journal, header, &stop, &|done| meter.at(done))?;
    meter.finish();
    if !end.complete {
        output::talk(&format!(
            "interrupted: {} of {own} points are kept in {}\nhint: run the same command again to go on",
            end.finished.len(),
            journal.display()
        ));
        return Ok(Exit::Interrupted);
    }
    if let Some(shard) = args.shard {
        let (name, points) = (&sweep.scenario.name, sweep.points().len());
        let part = text::PartEnd { name, shard, own, points, file: &journal };
        let next = "all parts together: flyball sim --merge FILES --out DIR";
        output::result(args.format, || part.text(next), || part.json())?;
        return Ok(Exit::Ok);
    }
    let exit = write(args, &end, &dir)?;
    fs_err::remove_file(&journal)?;
    Ok(exit)
}

/// `flyball sim --merge`: the parts of a sweep as the run directory that it would have been.
pub fn merge(args: &SimArgs) -> Result<Exit, Failure> {
    let mut end = flyball_sim::sweep::merge(&args.merge)?;
    let Some(out) = &args.out else { return Err(Failure::usage("--merge: expected --out DIR")) };
    // What would have given this run: the part's command into this directory.
    let out_text = out.to_string_lossy();
    command::set(&mut end.header.manifest.command, ["--out", "-o"], &out_text);
    let Places { dir, .. } = places(Some(out), machine::real().as_ref(), &end.header)?;
    write(args, &end, &dir)
}

fn write(args: &SimArgs, end: &SweepEnd, dir: &Path) -> Result<Exit, Failure> {
    let dir = end.to_run().write(dir)?;
    output::result(args.format, || text::text(end, &dir), || text::json(end, &dir))?;
    Ok(Exit::Ok)
}

fn places(out: Option<&Path>, host: &dyn Host, header: &Header) -> Result<Places, Failure> {
    check_out(out)?;
    let base = run_name(seconds(host), "sweep");
    Places::of(out, Path::new(RUNS), &base, header).map_err(|error| match error {
        PlacesError::NotEmpty(_) => Failure::of(&error).hint("choose another place with --out"),
        error => error.into(),
    })
}

/// A part is its journal: what is half is mergeable, and goes on.
fn shard_file(file: &Path) -> Result<Places, Failure> {
    if file.is_dir() {
        let message = format!("--out {}: expected a file, found a directory", file.display());
        return Err(Failure::input(message).hint("a part of a sweep is a file, such as parts/1"));
    }
    if let Some(folder) = file.parent() {
        fs_err::create_dir_all(folder)?;
    }
    Ok(Places { dir: file.to_owned(), journal: file.to_owned() })
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
