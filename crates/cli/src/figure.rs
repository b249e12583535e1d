//! `--figure FILE`: a drawing as SVG, PNG or PDF.

use crate::args::Talk;
use crate::failure::Failure;
use crate::output;
use flyball_report::draw::{Scene, Target};
use flyball_report::timeline::{RunView, figure};
use std::path::Path;

/// Width, units (CSS pixels).
const WIDTH: f64 = 960.0;

/// Where the figure goes, checked before anything is simulated.
pub fn target(path: Option<&Path>) -> Result<Option<Target>, Failure> {
    Ok(path.map(|path| Target::of(path, "--figure")).transpose()?)
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
