//! Findings as drawings: distributions as violins, latency against the distance of the levels, and
//! the matrix of all switches as a heat map.

mod distance;
mod matrix;
mod violin;

use crate::figures::Figure;
use crate::kinds::switches::analysis::Findings;

/// Width of every figure, units (CSS pixels).
const WIDTH: f64 = 960.0;

/// Every figure that the run has data for.
pub fn all(findings: &Findings) -> Vec<Figure> {
    let mut figures = violin::figures(&findings.trials, findings);
    figures.extend(distance::figure(findings));
    figures.extend(matrix::figures(findings));
    figures
}
