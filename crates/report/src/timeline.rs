//! Ramps and simulations as a person reads them: a summary of all runs first, then utilisation and
//! frequency over time and residencies, run beside run on common axes.
//!
//! ```text
//! Recording -> RunView -> terminal | SVG | JSON
//! ```
//! [`RunView`] asks the questions and holds the answers; the renderers only place them.

mod bars;
mod canvas;
mod curve;
mod layout;
mod plot;
mod running;
mod sections;
mod summary;
mod svg;
mod view;

pub use canvas::Charset;
pub use curve::{Curve, Point};
pub use svg::figure;
pub use view::{Ask, RunView};

use crate::terminal::Style;

/// Columns where there is no terminal.
const WIDTH: usize = 100;

/// How to render for a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Columns of the terminal; none where there is no terminal: 100 then.
    pub width: Option<usize>,
    /// Rows of a plot, its axis left out; with 13 the axis shows quarters.
    pub height: usize,
    /// Whether to use ANSI colours (the caller knows `NO_COLOR` and whether this is a terminal).
    pub color: bool,
    /// What plots and bars are drawn with.
    pub charset: Charset,
    /// Whether util_est is plotted beside util_avg.
    pub estimates: bool,
    /// Lines for all: a section behind the summary that does not fit is left out. None: all fit.
    pub room: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: None,
            height: 13,
            color: false,
            charset: Charset::Blocks,
            estimates: false,
            room: None,
        }
    }
}

/// All runs: the summary first, then section by section. Ends in a line feed.
#[must_use]
pub fn render(runs: &[RunView], options: &Options) -> String {
    if runs.is_empty() {
        return "  No runs: nothing to show.\n".to_owned();
    }
    let width = options.width.unwrap_or(WIDTH).clamp(60, 400);
    let style = Style { color: options.color };
    let mut blocks = vec![summary::lines(runs, width, style)];
    let summary = blocks.iter().map(Vec::len).sum();
    let mut room = options.room.unwrap_or(usize::MAX).saturating_sub(summary);
    let further = sections::blocks(runs, width, options, style).into_iter();
    for block in further.chain([summary::unanswered(runs, width, style)]) {
        // With the blank line above it.
        if let Some(rest) = room.checked_sub(block.len() + 1) {
            room = rest;
            blocks.push(block);
        }
    }
    let blocks: Vec<String> = blocks
        .into_iter()
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines.join("\n"))
        .collect();
    let text = blocks.join("\n\n") + "\n";
    if options.charset == Charset::Ascii { text.replace('\u{2026}', "~") } else { text }
}

/// All runs as JSON, with every answer and every curve.
///
/// # Errors
/// A figure that JSON cannot carry; none of the views that [`RunView::of`] makes has one.
pub fn json(runs: &[RunView]) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&serde_json::json!({ "runs": runs }))
}
