//! Findings as drawings: distributions as violins, latency against the distance of the levels, and
//! the matrix of all switches as a heat map.

mod distance;
mod matrix;
mod violin;

use crate::draw::{PngError, Scene};
use crate::kinds::switches::analysis::Findings;
use flyball_run::{Run, SwitchTrial};

/// Width of every figure, units (CSS pixels).
const WIDTH: f64 = 960.0;

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// File name without its extension.
    pub name: String,
    /// The drawing.
    pub scene: Scene,
}

impl Figure {
    /// Static SVG.
    pub fn svg(&self) -> String {
        self.scene.svg()
    }

    /// PNG at two pixels per unit.
    ///
    /// # Errors
    /// A figure that is too large, or an encoder that fails.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        self.scene.png(2.0)
    }
}

/// Every figure that the run has data for.
pub fn all(run: &Run, findings: &Findings) -> Vec<Figure> {
    let trials: Vec<SwitchTrial> =
        (0..run.tables.trials.len()).filter_map(|at| run.tables.trials.row(at)).collect();
    let mut figures = violin::figures(&trials, findings);
    figures.extend(distance::figure(findings));
    figures.extend(matrix::figures(findings));
    figures
}
