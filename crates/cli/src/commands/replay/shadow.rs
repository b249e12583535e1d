//! `flyball replay shadow`: a governor fed with what a kernel recorded, beside what the kernel did.

use crate::args::{CheckFormat, ShadowArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::{machine, output};
use flyball_events::import::is_trace;
use flyball_replay::shadow::{Ask, Source, governor, shadow, text};
use flyball_run::Run;
use serde_json::json;
use std::path::Path;

pub fn run(args: &ShadowArgs, talk: Talk) -> Result<Exit, Failure> {
    let (platform, kernel) = args.machine.as_deref().map(machine::model).transpose()?.unzip();
    let tolerance = time("--tolerance", &args.tolerance)?.0;
    let choice = governor(&args.governor)?;
    let ask = Ask { choice, platform, kernel, tolerance, clamps: Vec::new() };
    let path = args.recording.as_path();
    let run = if is_trace(path)? { None } else { Some(open(path)?) };
    let source = run.as_ref().map_or(Source::Text(path), Source::Run);
    let answer = shadow(source, &ask)?;
    let name = path.display().to_string();
    output::data(&match args.format {
        CheckFormat::Text => {
            let short = (!talk.verbose).then_some("--verbose");
            text(&name, &answer, run.as_ref(), short)
        }
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
    Err(Failure::input(format!(
        "{}: expected a run directory or the text of a trace",
        path.display()
    ))
    .hint("the text of /sys/kernel/tracing/trace, or of `trace-cmd report`"))
}
