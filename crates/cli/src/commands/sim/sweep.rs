//! `flyball sim --sweep`: many variants, on all cores, interruptible.

use super::SharedHost;
use crate::args::{CheckFormat, SimArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::meter::Meter;
use crate::output;
use crate::runs::{RUNS, check_out, command_line};
use crate::scenarios::Input;
use flyball_run::name::run_name;
use flyball_sim::scenario::{Node, Source};
use flyball_sim::sweep::{Axis, Header, Journal, Sweep, points, text};
use std::path::{Path, PathBuf};

/// What a journal is called beside the run directory to be.
const PARTIAL: &str = "partial";

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
    let source = Source { origin: &input.origin, name: &input.name, open: &open };
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
    let mut run = sweep.to_run(&end);
    run.manifest.command = command_line();
    let axes: String = args.sweep.iter().map(|axis| format!("# sweep: {axis}\n")).collect();
    run.manifest.experiment = run.manifest.experiment.map(|text| axes + &text);
    let dir = run.write(&dir)?;
    fs_err::remove_file(&journal).map_err(|error| Failure::io(&error))?;
    output::data(&match args.format {
        CheckFormat::Text => text::text(&sweep, &end, &dir),
        CheckFormat::Json => format!("{:#}\n", text::json(&sweep, &end, &dir)),
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
        check_out(Some(dir))?;
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
