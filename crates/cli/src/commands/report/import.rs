//! Another tool's data: how it is read, and kept as a run directory.

use crate::args::{ReportArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, runs};
use flyball_events::{Reading, import as trace};
use flyball_host::Host;
use flyball_import::{ColumnMap, Options};
use flyball_run::Run;
use flyball_run::name::rfc3339;
use flyball_units::{KiloHertz, Mismatch};
use std::path::{Path, PathBuf};

/// How it is read.
pub fn reading(args: &ReportArgs, host: &dyn Host) -> Result<Reading, Failure> {
    let (created, command) = (rfc3339(runs::seconds(host)), runs::command_line());
    Ok(Reading {
        results: Options {
            map: column_map(args.map.as_deref())?,
            counter_hz: args.counter.as_deref().map(rate).transpose()?,
            created: created.clone(),
            command: command.clone(),
            ..Options::default()
        },
        traces: trace::Options {
            clock: args.clock.clone(),
            pstates: args.writes.clone(),
            created,
            command,
        },
    })
}

/// Whether the options fit what is read.
pub fn check(paths: &[PathBuf], args: &ReportArgs) -> Result<(), Failure> {
    let usage = |text: String| Failure::usage(text);
    for (given, flag) in [(args.out.is_some(), "--out"), (args.writes.is_some(), "--writes")] {
        if given && paths.len() > 1 {
            return Err(usage(format!("{flag} takes one PATH, found several"))
                .hint("keep each by itself, then: flyball report RUN RUN"));
        }
    }
    if args.clock.is_none() && args.writes.is_none() {
        return Ok(());
    }
    for path in paths {
        if !path.is_file() || !trace::is_trace(path)? {
            return Err(usage(format!(
                "--clock and --writes: expected a trace (of ftrace, trace-cmd, perfetto or perf), \
                 found {}",
                path.display()
            ))
            .hint("leave them away for other formats"));
        }
    }
    Ok(())
}

/// Keeps another tool's data as the run directory `dir`.
pub fn keep(
    paths: &[PathBuf],
    dir: &Path,
    reading: &Reading,
    talk: Talk,
) -> Result<PathBuf, Failure> {
    let [path] = paths else { return Ok(dir.to_owned()) };
    if Run::is_run(path) {
        let text = format!("--out: expected another tool's data, found the run {}", path.display());
        return Err(Failure::usage(text).hint("to send a run: --bundle FILE.tar.gz"));
    }
    let kept = reading.keep(path, dir)?;
    if !talk.quiet {
        output::talk(&format!("{}: {}", path.display(), kept.outline));
        output::notes(&kept.warnings);
    }
    Ok(kept.dir)
}

/// A counter's rate in ticks per second.
fn rate(text: &str) -> Result<f64, Failure> {
    let khz: KiloHertz = text.parse().map_err(|slip: Mismatch| slip.at("--counter"))?;
    Ok(khz.0 as f64 * 1e3)
}

/// `latency_us=lat,cpu=core`, or nothing.
fn column_map(text: Option<&str>) -> Result<ColumnMap, Failure> {
    let Some(text) = text else { return Ok(ColumnMap::default()) };
    let map = text.parse::<ColumnMap>();
    map.map_err(|error| Failure { exit: Exit::Usage, ..Failure::from(error) })
}
