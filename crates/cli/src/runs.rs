//! Where runs go, and who asked for them.

use crate::failure::Failure;
use flyball_host::Host;
use flyball_lab::protocol::windows::Context;
use flyball_lab::session::{Destination, Origin};
use flyball_run::manifest::Flyball;
use flyball_run::{Manifest, RunWriter};
use std::path::{Path, PathBuf};

/// Where runs are looked for and put.
pub const RUNS: &str = "flyball-runs";

/// The command line for a run's manifest; what is no Unicode is replaced, never refused.
pub fn command_line() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Who asks, for the manifest.
pub fn origin() -> Origin {
    let flyball = Flyball {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("FLYBALL_COMMIT").map(str::to_owned),
    };
    Origin { command: command_line(), flyball }
}

/// Who asks for an experiment whose paths are relative to `folder`.
pub fn context(folder: Option<&Path>) -> Context<'_> {
    Context { folder, origin: origin() }
}

/// A manifest of a run of this kind that begins now, by this program, as it was called.
pub fn manifest(kind: &str, seconds: u64) -> Manifest {
    let Origin { command, flyball } = origin();
    let created = flyball_run::name::rfc3339(seconds);
    Manifest { kind: kind.to_owned(), created, command, flyball, ..Manifest::default() }
}

/// Seconds since 1970, for names and manifests.
pub fn seconds(host: &dyn Host) -> u64 {
    host.realtime().0 / 1_000_000_000
}

/// The directory that was asked for, or a new one.
pub fn destination(out: Option<&Path>) -> Destination {
    match out {
        Some(dir) => Destination::Dir(dir.to_owned()),
        None => Destination::Below(PathBuf::from(RUNS)),
    }
}

/// A run is a directory: a file or a device of that name can't hold one.
pub fn check_out(out: Option<&Path>) -> Result<(), Failure> {
    match out.filter(|out| out.exists() && !out.is_dir()) {
        None => Ok(()),
        Some(out) => Err(Failure::input(format!(
            "--out {}: expected a new or empty directory, found a file",
            out.display()
        ))
        .hint("give a directory; `flyball sim --record none` keeps nothing")),
    }
}

/// The run directory that was asked for, or a new one.
pub fn create(
    out: Option<&Path>,
    host: &dyn Host,
    manifest: &Manifest,
) -> Result<RunWriter, Failure> {
    check_out(out)?;
    Ok(match out {
        Some(dir) => RunWriter::create(dir, manifest)?,
        None => RunWriter::create_below(Path::new(RUNS), seconds(host), manifest)?,
    })
}
