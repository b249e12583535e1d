//! CORTEX's medians and its "trap" over the share of windows on E cores, and Thomson's Figures
//! 1, 2, 4, 5 and 6, drawn by the model: the published ones are drawings or measurements of one
//! laptop, of which the text keeps only the quoted values.

mod curves;
mod draw;
mod mixture;
mod plot;

use crate::quantity::Undecided;

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// File name without its extension.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Names and units of the axes.
    pub axes: [&'static str; 2],
    /// The lines.
    pub lines: Vec<Line>,
}

/// One line of a figure.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name.
    pub name: &'static str,
    /// Points, ascending in x.
    pub points: Vec<(f64, f64)>,
    /// Whether it holds each value until the next point.
    pub steps: bool,
}

/// A figure that could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("figure: {0}")]
pub struct FigureError(String);

impl From<Undecided> for FigureError {
    fn from(error: Undecided) -> FigureError {
        FigureError(error.to_string())
    }
}

/// All figures.
///
/// # Errors
/// A model that does not run.
pub fn all() -> Result<Vec<Figure>, FigureError> {
    let [medians, trap] = mixture::figures()?;
    Ok(vec![
        medians,
        trap,
        curves::trade_off()?,
        curves::slow_answer()?,
        curves::decay()?,
        curves::bursts()?,
        curves::ticks()?,
    ])
}

impl Figure {
    /// Static SVG.
    pub fn svg(&self) -> String {
        draw::scene(self).svg()
    }

    /// As text, `width` columns wide (at least 40): dots of braille, one panel per line.
    pub fn terminal(&self, width: usize) -> String {
        plot::terminal(self, width)
    }
}
