//! A table on a page: the script sorts it by the exact numbers.

use maud::{Markup, html};

use super::{Align, Cell, Column, Table, Tone};
use crate::text;

/// Rows that a table shows at once; more are folded away.
const ROWS: usize = 40;

impl Table {
    /// A panel with title, table and notes; nothing where there are no rows.
    #[must_use]
    pub fn panel(&self) -> Markup {
        html! {
            @if !self.rows.is_empty() {
                div.panel id=[(!self.id.is_empty()).then_some(self.id)] {
                    @if !self.title.is_empty() { h3 { (self.title) } }
                    @if self.rows.len() > ROWS {
                        details {
                            summary { (text::count(self.rows.len() as u64, "row")) }
                            (self.html())
                        }
                    } @else {
                        (self.html())
                    }
                    @for note in &self.notes { p.small.muted { (note) } }
                }
            }
        }
    }

    /// The table alone.
    #[must_use]
    pub fn html(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label=(self.title) {
                table.sortable {
                    thead { tr {
                        @for column in &self.columns {
                            th.num[column.align == Align::Right] { (column.whole_heading()) }
                        }
                    } }
                    tbody {
                        @for row in &self.rows {
                            tr { @for (cell, column) in row.iter().zip(&self.columns) { (cell.html(column)) } }
                        }
                    }
                }
            }
        }
    }
}

impl Column {
    /// The heading with what stands behind its numbers.
    pub(super) fn whole_heading(&self) -> String {
        match self.interval {
            Some(_) => format!("{} [95 %]", self.heading),
            None => self.heading.clone(),
        }
    }
}

impl Cell {
    fn html(&self, column: &Column) -> Markup {
        let tone = match self.tone {
            Tone::Plain | Tone::Strong => None,
            Tone::Good => Some("yes"),
            Tone::Bad => Some("no"),
        };
        let shown = html! {
            @match tone {
                Some(tone) => span class=(tone) { (self.text) },
                None => (self.text),
            }
            @if !self.interval.is_empty() { " " span.ci { (self.interval) } }
        };
        html! {
            @match column.align {
                Align::Right => td.num.muted[self.number.is_none()] data-value=(self.number.unwrap_or(-1.0)) { (shown) },
                Align::Left if column.sentences => td.wrap { (shown) },
                Align::Left => td.name title=(self.text) { (shown) },
            }
        }
    }
}
