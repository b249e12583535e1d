//! Experiments on different machines side by side.

use super::bars::{self, Frame};
use super::governor::bars;
use super::{Figure, Size};
use crate::draw::{Paint, Scene};
use crate::model::Report;
use crate::view;

/// One panel per experiment, each on its own axis and against its own baseline: latencies of
/// different machines are not comparable, their patterns may be.
#[must_use]
pub fn platform_comparison(experiments: &[(&str, &Report)], size: Size) -> Figure {
    let needed: f64 = experiments.iter().map(|(_, r)| share(r) * 100.0).sum();
    let size = size.at_least(640.0_f64.max(needed + 48.0), 400.0);
    let mut scene = Scene::new(size.width, size.height, "Latency by platform and condition");
    scene.description =
        "Geometric mean of medians per condition, one panel per experiment".to_owned();
    scene.text(24.0, 36.0, "The same question on different platforms", 20.0).bold();
    let subtitle = "geometric mean of medians, us; each panel has its own axis and baseline: compare ratios, not heights";
    scene.text(24.0, 56.0, subtitle, 12.0).fill(Paint::Muted);
    let total: f64 = experiments.iter().map(|(_, r)| share(r)).sum();
    let mut x = 24.0;
    let mut doubtful = false;
    for (name, report) in experiments {
        let width = (size.width - 48.0) * share(report) / total;
        let bars = bars(report, &view::groups(report));
        doubtful |= bars.iter().any(|b| b.caveat.is_some());
        let frame = Frame { x, y: 88.0, width: width - 18.0, height: size.height - 134.0 };
        bars::chart(&mut scene, frame, name, &bars, true);
        x += width;
    }
    bars::key(&mut scene, 24.0, size.height - 16.0, doubtful);
    Figure { name: "platform_comparison".to_owned(), scene }
}

/// Width in bars, with room for the axis.
fn share(report: &Report) -> f64 {
    view::groups(report).len().max(1) as f64 + 0.4
}
