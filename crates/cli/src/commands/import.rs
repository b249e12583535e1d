//! `flyball import`: another tool's data into a run directory.

use super::report::RUNS;
use crate::args::{ImportArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{hosts, output};
use flyball_run::Run;
use flyball_run::import::{ColumnMap, Options, import};
use flyball_run::name::{rfc3339, run_name};
use std::path::{Path, PathBuf};

pub fn run(args: &ImportArgs, talk: Talk) -> Result<Exit, Failure> {
    if args.paths.len() > 1 && args.out.is_some() {
        return Err(Failure::new(Exit::Usage, "--out takes one PATH, found several")
            .hint("leave --out away: each gets a directory of its own"));
    }
    let host = hosts::real();
    let seconds = host.realtime().0 / 1_000_000_000;
    let options = Options {
        map: column_map(args.map.as_deref())?,
        created: rfc3339(seconds),
        command: crate::command_line(),
        ..Options::default()
    };
    for path in &args.paths {
        let run = import(path, &options)?;
        let dir = match &args.out {
            Some(dir) => run.write(dir)?,
            None => write_below(&run, seconds)?,
        };
        if !talk.quiet {
            summary(path, &run);
        }
        output::data(&format!("{}\n", dir.display()))?;
    }
    Ok(Exit::Ok)
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
fn write_below(run: &Run, seconds: u64) -> Result<PathBuf, Failure> {
    let base = run_name(seconds, "import");
    let names = std::iter::once(base.clone()).chain((2..100).map(|n| format!("{base}-{n}")));
    let free = names.map(|name| Path::new(RUNS).join(name)).find(|dir| !dir.exists());
    let dir = free.ok_or_else(|| {
        Failure::new(Exit::BadInput, format!("{RUNS}/{base}: expected a free name, found 99 taken"))
            .hint("give a directory: --out DIR")
    })?;
    Ok(run.write(dir)?)
}

fn summary(path: &Path, run: &Run) {
    let windows = run.tables.windows.len();
    let frequency = run.tables.frequency.len();
    output::talk(&format!(
        "{}: {windows} windows, {frequency} frequency samples, {} conditions",
        path.display(),
        run.manifest.conditions.len()
    ));
    for warning in &run.warnings {
        output::talk(&format!("note: {}: {}", warning.object, warning.message));
    }
}
