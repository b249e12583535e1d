//! The figures of a governor study, as SVG or PNG, drawn so that they cannot mislead: every
//! bar has its interval, a bar that mixes modes is hatched and stands beside its modes.

mod bars;
mod governor;
mod kernels;
pub(crate) mod lines;
mod platform;
mod sweep;
mod tradeoff;

pub use governor::governor_comparison;
pub use kernels::per_kernel_comparison;
pub use platform::platform_comparison;
pub use tradeoff::{TradeoffPoint, tradeoff};

use crate::draw::{PngError, Scene};
use crate::model::Report;
use crate::{kinds, timeline};

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
    figures.extend(sweep::sweep(report, size));
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

/// Size of a figure, units (CSS pixels).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 960.0, height: 600.0 }
    }
}

impl Size {
    /// Room for all that a figure must say; smaller wishes are enlarged.
    fn at_least(self, width: f64, height: f64) -> Self {
        let pick = |wish: f64, least: f64| if wish.is_finite() { wish.max(least) } else { least };
        Self { width: pick(self.width, width), height: pick(self.height, height) }
    }
}

/// A figure that is drawn and can be written in either form.
#[derive(Clone, Debug)]
pub struct Figure {
    /// File name without its extension.
    pub name: String,
    /// The drawing.
    pub scene: Scene,
}

impl Figure {
    /// Static SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        self.scene.svg()
    }

    /// PNG at two pixels per unit.
    ///
    /// # Errors
    /// [`PngError`] where the figure is too large or cannot be encoded.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        self.scene.png(2.0)
    }
}
