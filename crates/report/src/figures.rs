//! The figures of a governor study, as SVG, PNG or PDF, drawn so that they cannot mislead: every
//! bar has its interval, a bar that mixes modes is hatched and stands beside its modes.

mod bars;
mod figure;
mod governor;
mod kernels;
pub(crate) mod lines;
mod platform;
pub(crate) mod sweep;
mod tradeoff;

pub use figure::{Figure, Size};
pub use governor::governor_comparison;
pub use kernels::per_kernel_comparison;
pub use platform::platform_comparison;
pub use tradeoff::{TradeoffPoint, tradeoff};

use crate::draw::FigureError;
use crate::model::Report;
use crate::{kinds, timeline};
use flyball_run::disk::write_file;
use std::path::Path;

/// Writes [`all`] figures into a folder, each as SVG, PNG and PDF; how many there are.
///
/// # Errors
/// A folder that cannot be written.
pub fn write(report: &Report, each: &[Report], dir: &Path) -> Result<usize, FigureError> {
    fs_err::create_dir_all(dir)?;
    let drawn = all(report, each);
    for figure in &drawn {
        write_file(&dir.join(format!("{}.svg", figure.name)), figure.svg().as_bytes())?;
        write_file(&dir.join(format!("{}.png", figure.name)), &figure.png()?)?;
        write_file(&dir.join(format!("{}.pdf", figure.name)), &figure.scene.pdf())?;
    }
    Ok(drawn.len())
}

/// Every figure that there are data for. `each` has one report per run, for the figure that sets
/// platforms side by side.
#[must_use]
pub fn all(report: &Report, each: &[Report]) -> Vec<Figure> {
    let size = Size::default();
    let mut figures = Vec::new();
    let views = report.time_lines();
    if !views.is_empty() {
        figures.push(Figure {
            name: "timeline".to_owned(),
            scene: timeline::figure(&views, size.width),
        });
    }
    figures.extend(sweep::all(report, size));
    figures.extend(kinds::rampup::figures::figure(&report.rampups));
    figures.extend(report.switches.iter().flat_map(kinds::switches::figures::all));
    if !report.cells.is_empty() {
        figures.push(governor_comparison(report, size));
        figures.push(per_kernel_comparison(report, size));
    }
    let mut platforms: Vec<(&str, &Report)> = Vec::new();
    for report in each.iter().filter(|report| !report.cells.is_empty()) {
        platforms.push((report.runs.first().map_or("run", |run| run.name.as_str()), report));
    }
    if platforms.len() > 1 {
        figures.push(platform_comparison(&platforms, size));
    }
    figures
}
