//! Another tool's data: how it is read, and kept as a run directory.

use crate::args::{ReportArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, runs};
use flyball_events::import as trace;
use flyball_host::Host;
use flyball_run::Run;
use flyball_run::import::{ColumnMap, Options, import};
use flyball_run::name::rfc3339;
use flyball_units::{KiloHertz, Mismatch};
use std::path::{Path, PathBuf};

/// How benchmark files are read.
pub fn options(args: &ReportArgs, host: &dyn Host) -> Result<Options<'static>, Failure> {
    Ok(Options {
        map: column_map(args.map.as_deref())?,
        counter_hz: args.counter.as_deref().map(rate).transpose()?,
        created: rfc3339(runs::seconds(host)),
        command: runs::command_line(),
        ..Options::default()
    })
}

/// How traces are read.
pub fn trace_options(args: &ReportArgs, options: &Options<'_>) -> trace::Options {
    trace::Options {
        clock: args.clock.clone(),
        pstates: args.writes.clone(),
        created: options.created.clone(),
        command: options.command.clone(),
    }
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
    args: &ReportArgs,
    options: &Options<'_>,
    talk: Talk,
) -> Result<PathBuf, Failure> {
    let [path] = paths else { return Ok(dir.to_owned()) };
    if Run::is_run(path) {
        let text = format!("--out: expected another tool's data, found the run {}", path.display());
        return Err(Failure::usage(text).hint("to send a run: --bundle FILE.tar.gz"));
    }
    // A trace goes to disk as it is read, however large it is.
    if path.is_file() && trace::is_trace(path)? {
        let imported = trace::import_to(path, dir.to_owned(), &trace_options(args, options))?;
        if !talk.quiet {
            let (events, rows) = (imported.events, imported.rows);
            output::talk(&format!("{}: {events} events, {rows} rows", path.display()));
            output::notes(&imported.warnings);
        }
        return Ok(imported.dir);
    }
    let run = import(path, options)?;
    if !talk.quiet {
        output::talk(&format!("{}: {}", path.display(), run.outline()));
        output::notes(&run.warnings);
    }
    Ok(run.write(dir)?)
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
