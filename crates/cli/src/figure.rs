//! `--figure FILE`: a drawing as SVG, PNG or PDF.

use crate::args::Talk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use flyball_events::Recording;
use flyball_report::draw::{Scene, Target};
use flyball_report::timeline::{Ask, RunView, figure};
use std::path::Path;

/// Width, units (CSS pixels).
const WIDTH: f64 = 960.0;

/// Where the figure goes, checked before anything is simulated.
pub fn target(path: Option<&Path>) -> Result<Option<Target>, Failure> {
    Ok(path.map(|path| Target::of(path, "--figure")).transpose()?)
}

/// A recording with the task and the mark to look at, where they are named.
pub fn view(
    name: String,
    recording: &Recording<'_>,
    task: Option<&str>,
    marker: Option<&str>,
) -> Result<RunView, Failure> {
    let (task, marker) = (task.map(str::to_owned), marker.map(str::to_owned));
    RunView::of(name, recording, &Ask { task, marker, ..Ask::default() })
        .map_err(|missing| Failure::new(Exit::InvalidRun, missing))
}

/// Utilisation and frequency of the runs over time, on common axes.
pub fn over_time(target: &Target, runs: &[RunView], talk: Talk) -> Result<(), Failure> {
    draw(target, &figure(runs, WIDTH), talk)
}

/// Whatever is drawn.
pub fn draw(target: &Target, scene: &Scene, talk: Talk) -> Result<(), Failure> {
    target.draw(scene)?;
    output::unless_quiet(talk.quiet, &format!("figure  {}", target.path.display()));
    Ok(())
}
