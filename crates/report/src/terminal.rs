//! The report in a terminal: verdicts in words, one table, what disturbed, what was not checked,
//! where the files are. Under 25 lines for a quick run; `verbose` shows everything.

mod blame;
mod events;
mod sections;
mod style;
mod table;
mod verbose;

use crate::kinds::{Kind, rampup, switches};
use crate::model::Report;
use crate::sheets::{self, Detail};
use crate::timeline::Charset;
pub use style::Style;

/// Lines of the short form.
const MAX_LINES: usize = 24;

/// How to render for a terminal.
#[derive(Clone, Debug)]
pub struct TerminalOptions {
    /// Columns; rendered for 60 to 200.
    pub width: usize,
    /// Whether to use ANSI colours (the caller knows `NO_COLOR` and whether this is a terminal).
    pub color: bool,
    /// Show modes, tests, strata, frequency logs and loads as well.
    pub verbose: bool,
    /// Run directories as the reader may type them; the report's own paths where empty.
    pub runs: Vec<String>,
    /// Where the HTML page was written.
    pub page: Option<String>,
    /// How the reader sees what the short form leaves out.
    pub more: Option<String>,
    /// What plots of runs with events are drawn with.
    pub charset: Charset,
}

impl TerminalOptions {
    /// How much the tables show.
    fn detail(&self) -> Detail {
        if self.verbose { Detail::Full } else { Detail::Short }
    }
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self {
            width: 100,
            color: false,
            verbose: false,
            runs: Vec::new(),
            page: None,
            more: None,
            charset: Charset::Blocks,
        }
    }
}

/// The whole report, ending in a line feed.
#[must_use]
pub fn render(report: &Report, options: &TerminalOptions) -> String {
    let width = options.width.clamp(60, 200);
    let style = Style { color: options.color };
    let told = sheets::runs(report).len();
    if !Kind::of(report).contains(&Kind::Windows) {
        let mut blocks = vec![sections::unfinished(report, width, style)];
        if !report.rampups.is_empty() {
            blocks.extend(rampup::terminal::blocks(&report.rampups, width, style));
        }
        for found in &report.switches {
            blocks.extend(switches::terminal::blocks(found, width, style));
        }
        for kind in [Kind::Load, Kind::Activity] {
            let tables = kind.tables(report, options.detail());
            blocks.extend(tables.iter().map(|table| table.terminal(width, style)));
        }
        blocks.extend(events::blocks(report, options, width, style));
        blocks.push(sections::paths(report, options, style));
        return joined(blocks);
    }
    let table = table::main(report, width, style, options.verbose);
    // The verdicts come first in the report and in the share of its lines; the findings get what
    // is left. Two lines are blank.
    let unfinished = sections::unfinished(report, width, style);
    let room = MAX_LINES.saturating_sub(table.len() + 2 + unfinished.len());
    let closing_in = |room| sections::closing(report, options, width, style, room);
    let (verdicts, closing) = if options.verbose {
        (sections::verdicts(report, width, style, usize::MAX), closing_in(usize::MAX))
    } else {
        let least = closing_in(0).len();
        let verdicts = sections::verdicts(report, width, style, room.saturating_sub(least));
        let closing = closing_in(room.saturating_sub(verdicts.len()));
        (verdicts, closing)
    };
    let mut blocks = vec![unfinished, verdicts, table];
    blocks.extend(blame::blocks(report, options, width, style));
    if options.verbose {
        blocks.extend(verbose::blocks(report, width, style));
    }
    if told > 0 || options.verbose {
        blocks.extend(events::blocks(report, options, width, style));
    }
    blocks.push(closing);
    joined(blocks)
}

fn joined(blocks: Vec<Vec<String>>) -> String {
    let blocks: Vec<String> =
        blocks.into_iter().filter(|b| !b.is_empty()).map(|b| b.join("\n")).collect();
    blocks.join("\n\n") + "\n"
}
