//! A table for a pull request: GitHub's Markdown, in which names from files cannot start markup or
//! a mention.

use super::{Align, Cell, Column, Table, Tone};
use crate::text;

impl Table {
    /// Title, table and notes; nothing where there are no rows.
    #[must_use]
    pub fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut out = String::new();
        if !self.title.is_empty() {
            out += &format!("**{}**\n\n", escape(&self.title));
        }
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        out += &line(self.columns.iter().map(|column| column.markdown()).collect());
        let rule = |column: &Column| match column.align {
            Align::Left => "---",
            Align::Right => "---:",
        };
        out += &format!("|{}|\n", self.columns.iter().map(rule).collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns);
            out += &line(cells.map(|(cell, column)| cell.markdown(column)).collect());
        }
        out.push('\n');
        for note in &self.notes {
            out += &format!("{}\n\n", escape(note));
        }
        out
    }
}

impl Column {
    fn markdown(&self) -> String {
        let interval = if self.interval.is_some() { " [95 %]" } else { "" };
        escape(&self.heading) + interval
    }
}

impl Cell {
    fn markdown(&self, column: &Column) -> String {
        let text = match column.align {
            // A number that we wrote, whose brackets start nothing.
            Align::Right if self.number.is_some() => self.whole().replace('|', "\\|"),
            _ => escape(&self.whole()),
        };
        if self.tone == Tone::Strong { format!("**{text}**") } else { text }
    }
}

/// Escapes what Markdown and its inline HTML would act upon, mentions and issue links included.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text::plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// An inline code span whose fence is longer than any run of backticks inside.
pub(crate) fn code(text: &str) -> String {
    let text = text::plain(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}
