//! `flyball import`: another tool's data into a run directory.

use super::report::RUNS;
use crate::args::{ImportArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{hosts, output};
use flyball_events::import as trace;
use flyball_run::Run;
use flyball_run::import::{ColumnMap, Options, import};
use flyball_run::name::{rfc3339, run_name};
use flyball_units::{KiloHertz, Mismatch};
use std::path::{Path, PathBuf};

pub fn run(args: &ImportArgs, talk: Talk) -> Result<Exit, Failure> {
    if args.paths.len() > 1 && args.out.is_some() {
        return Err(Failure::new(Exit::Usage, "--out takes one PATH, found several")
            .hint("leave --out away: each gets a directory of its own"));
    }
    if args.paths.len() > 1 && args.writes.is_some() {
        return Err(Failure::new(Exit::Usage, "--writes takes one PATH, found several")
            .hint("import each trace with its own log"));
    }
    let host = hosts::real();
    let seconds = host.realtime().0 / 1_000_000_000;
    let options = Options {
        map: column_map(args.map.as_deref())?,
        counter_hz: args.counter.as_deref().map(rate).transpose()?,
        created: rfc3339(seconds),
        command: crate::command_line(),
        ..Options::default()
    };
    for path in &args.paths {
        let dir = match &args.out {
            Some(dir) => dir.clone(),
            None => free_dir(seconds)?,
        };
        let dir = if trace::is_trace(path)? {
            import_trace(path, dir, args, &options, talk)?
        } else if args.clock.is_some() || args.writes.is_some() {
            return Err(Failure::new(
                Exit::Usage,
                format!(
                    "--clock and --writes: expected a trace (of ftrace, trace-cmd, perfetto or perf), \
                     found {}",
                    path.display()
                ),
            )
            .hint("leave them away for other formats"));
        } else {
            let run = import(path, &options)?;
            if !talk.quiet {
                summary(path, &run);
            }
            run.write(dir)?
        };
        output::data(&format!("{}\n", dir.display()))?;
    }
    Ok(Exit::Ok)
}

/// A trace goes to disk as it is read, however large it is.
fn import_trace(
    path: &Path,
    dir: PathBuf,
    args: &ImportArgs,
    options: &Options<'_>,
    talk: Talk,
) -> Result<PathBuf, Failure> {
    let options = trace::Options {
        clock: args.clock.clone(),
        pstates: args.writes.clone(),
        created: options.created.clone(),
        command: options.command.clone(),
    };
    let imported = trace::import_to(path, dir, &options)?;
    if !talk.quiet {
        output::talk(&format!(
            "{}: {} events, {} rows",
            path.display(),
            imported.events,
            imported.rows
        ));
        for warning in &imported.warnings {
            output::talk(&format!("note: {}: {}", warning.object, warning.message));
        }
    }
    Ok(imported.dir)
}

/// A counter's rate in ticks per second.
fn rate(text: &str) -> Result<f64, Failure> {
    let khz: KiloHertz = text.parse().map_err(|slip: Mismatch| slip.at("--counter"))?;
    Ok(khz.0 as f64 * 1e3)
}

/// `latency_us=lat,cpu=core`, or nothing.
pub fn column_map(text: Option<&str>) -> Result<ColumnMap, Failure> {
    match text {
        None => Ok(ColumnMap::default()),
        Some(text) => text.parse::<ColumnMap>().map_err(|error| {
            let hint = error.hint().to_owned();
            Failure::new(Exit::Usage, error).hint(hint)
        }),
    }
}

/// A new directory below the default root. Two imports in one second get different names.
fn free_dir(seconds: u64) -> Result<PathBuf, Failure> {
    let base = run_name(seconds, "import");
    let names = std::iter::once(base.clone()).chain((2..100).map(|n| format!("{base}-{n}")));
    let free = names.map(|name| Path::new(RUNS).join(name)).find(|dir| !dir.exists());
    free.ok_or_else(|| {
        Failure::new(Exit::BadInput, format!("{RUNS}/{base}: expected a free name, found 99 taken"))
            .hint("give a directory: --out DIR")
    })
}

fn summary(path: &Path, run: &Run) {
    let windows = run.tables.windows.len();
    let frequency = run.tables.frequency.len();
    let trials = run.tables.trials.len();
    output::talk(&match trials {
        0 => format!(
            "{}: {windows} windows, {frequency} frequency samples, {} conditions",
            path.display(),
            run.manifest.conditions.len()
        ),
        _ => format!("{}: {trials} measurements of switches", path.display()),
    });
    for warning in &run.warnings {
        output::talk(&format!("note: {}: {}", warning.object, warning.message));
    }
}
