//! `flyball shadow`: a governor fed with what a kernel recorded, beside what the kernel did.

mod print;

use super::bench::time;
use crate::args::{CheckFormat, ShadowArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{input, output};
use flyball_events::import::is_trace;
use flyball_platform::{Kernel, Platform};
use flyball_replay::shadow::{Ask, ShadowError, Source, shadow};
use flyball_run::Run;
use serde_json::json;
use std::path::Path;

/// The kernel beside a platform from a file.
const KERNEL: &str = "linux-6.12";

pub fn run(args: &ShadowArgs, talk: Talk) -> Result<Exit, Failure> {
    let kernel = args.kernel.as_deref().map(kernel).transpose()?;
    let (platform, kernel) = match &args.platform {
        Some(name) => {
            let (platform, usual) = platform(name)?;
            (Some(platform), Some(kernel.unwrap_or(usual)))
        }
        None => (None, kernel),
    };
    let tolerance = time("--tolerance", &args.tolerance)?.0;
    let choice = args.governor.parse()?;
    let ask = Ask { choice, platform, kernel, tolerance };
    let path = args.recording.as_path();
    let run = if is_trace(path)? { None } else { Some(open(path)?) };
    let source = run.as_ref().map_or(Source::Text(path), Source::Run);
    let answer = shadow(source, &ask)?;
    let name = path.display().to_string();
    output::data(&match args.format {
        CheckFormat::Text => print::text(&name, &answer, run.as_ref(), talk.verbose),
        CheckFormat::Json => {
            format!("{:#}\n", json!({ "recording": name, "shadow": answer }))
        }
    })?;
    Ok(if answer.predicts_nothing() { Exit::Finding } else { Exit::Ok })
}

fn open(path: &Path) -> Result<Run, Failure> {
    if Run::is_run(path) {
        return Ok(Run::open(path)?);
    }
    Err(Failure::new(
        Exit::BadInput,
        format!("{}: expected a run directory or the text of a trace", path.display()),
    )
    .hint("the text of /sys/kernel/tracing/trace, or of `trace-cmd report`"))
}

/// The platform, and the kernel that it is usually met with.
pub fn platform(name: &str) -> Result<(Platform, Kernel), Failure> {
    if input::is_file(name) {
        let platform = Platform::parse(&input::toml_text(name)?, name)?;
        return Ok((platform, Kernel::named(KERNEL)?));
    }
    let platform = Platform::named(name)?;
    let kernel = Kernel::named(&platform.default_kernel)?;
    Ok((platform, kernel))
}

/// The kernel: one that ships, or a file.
pub fn kernel(name: &str) -> Result<Kernel, Failure> {
    match input::is_file(name) {
        true => Ok(Kernel::parse(&input::toml_text(name)?, name)?),
        false => Ok(Kernel::named(name)?),
    }
}

impl From<ShadowError> for Failure {
    fn from(error: ShadowError) -> Failure {
        let exit = match &error {
            ShadowError::Governor(_) | ShadowError::Tunable(_) | ShadowError::Spelling { .. } => {
                Exit::Usage
            }
            ShadowError::Need { .. } | ShadowError::Hardware { .. } => Exit::Unsupported,
            ShadowError::Domains { .. } | ShadowError::NoDomain => Exit::BadInput,
            ShadowError::Recording(_) => Exit::BadInput,
        };
        match error {
            ShadowError::Recording(error) => error.into(),
            error => {
                let hint = error.hint();
                Failure::new(exit, error).maybe_hint(hint)
            }
        }
    }
}
