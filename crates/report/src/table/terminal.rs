//! A table in so many columns of a terminal: what is too wide is wrapped, what does not fit even then
//! is left out by name. Nothing is cut.

use super::{Align, Cell, Column, Table};
use crate::terminal::Style;
use crate::text;

/// Words longer than this are broken: one foreign name must not push the figures out.
const LONGEST_WORD: usize = 24;
/// Spaces before each column.
const GAP: usize = 2;

impl Table {
    /// Title, table and notes, `width` columns wide; nothing where there are no rows.
    #[must_use]
    pub fn terminal(&self, width: usize, style: Style) -> Vec<String> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let mut lines = text::wrap(&text::plain(&self.title), width);
        lines.iter_mut().for_each(|line| *line = style.bold(line));
        lines.extend(self.lines(width, style));
        lines
    }

    /// Lines, the headings dimmed; two spaces before and between the columns. Where columns had to be
    /// left out, a last line names them. Then the notes.
    #[must_use]
    pub fn lines(&self, width: usize, style: Style) -> Vec<String> {
        let mut grid = Grid::of(self);
        let left_out = grid.fit(width);
        let widths = grid.widths(width);
        let names: Vec<String> = grid.heads.iter().map(|head| head.name.clone()).collect();
        let header = grid.wrapped(&names, &widths, true);
        let mut lines: Vec<String> = header.iter().map(|line| style.dim(line)).collect();
        lines.extend(grid.rows.iter().flat_map(|row| grid.wrapped(row, &widths, false)));
        let room = (!left_out.is_empty())
            .then(|| format!("no room for {}: a wider terminal, or the page", left_out.join(", ")));
        for note in room.iter().chain(&self.notes) {
            let note = text::wrap(&text::plain(note), width.saturating_sub(GAP));
            lines.extend(note.iter().map(|line| style.dim(&format!("  {line}"))));
        }
        lines
    }
}

impl Table {
    /// Columns of a terminal that nothing has to give way in.
    pub(crate) fn natural_width(&self) -> usize {
        Grid::of(self).natural_width()
    }
}

/// What stands above a column of text.
struct Head {
    name: String,
    align: Align,
    expendable: u8,
}

/// A table as columns of text, intervals in columns of their own.
struct Grid {
    heads: Vec<Head>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    fn of(table: &Table) -> Self {
        let mut heads = Vec::new();
        for Column { heading, align, interval, expendable, .. } in &table.columns {
            let name = text::plain(heading);
            heads.push(Head { name, align: *align, expendable: *expendable });
            if let Some(interval) = interval.filter(|name| !name.is_empty()) {
                // The interval of what is no main figure gives way before it.
                let expendable = if *expendable > 0 { u8::MAX } else { 0 };
                heads.push(Head { name: (*interval).to_owned(), align: Align::Left, expendable });
            }
        }
        let mut above: Option<&Vec<Cell>> = None;
        let mut rows = Vec::with_capacity(table.rows.len());
        for row in &table.rows {
            let mut line = Vec::with_capacity(heads.len());
            for (at, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
                let said = || above.and_then(|above| above.get(at)).is_some_and(|it| it == cell);
                match column.interval.filter(|name| !name.is_empty()) {
                    _ if column.once && said() => line.push(String::new()),
                    Some(_) => {
                        line.push(text::plain(&cell.text));
                        line.push(text::plain(&cell.interval));
                    }
                    None => line.push(cell.whole()),
                }
            }
            above = Some(row);
            rows.push(line);
        }
        Self { heads, rows }
    }

    /// Leaves out what does not fit; the headings of that.
    fn fit(&mut self, width: usize) -> Vec<String> {
        let mut left_out = Vec::new();
        // The interval of a lesser figure gives way before names are wrapped.
        let lesser = |grid: &Self| grid.heads.iter().rposition(|head| head.expendable == u8::MAX);
        while let Some(at) = lesser(self).filter(|_| self.natural_width() > width) {
            left_out.push(self.drop_column(at));
        }
        while self.least_width() > width && self.heads.len() > 2 {
            let ranks = self.heads.iter().enumerate();
            let Some((at, _)) = ranks.max_by_key(|(at, head)| (head.expendable, *at)) else {
                break;
            };
            left_out.push(self.drop_column(at));
        }
        left_out
    }

    /// Width of each column: what it needs, or less; who has most to give gives way first.
    fn widths(&self, width: usize) -> Vec<usize> {
        let (least, mut widths): (Vec<usize>, Vec<usize>) =
            (0..self.heads.len()).map(|at| (self.least(at), self.natural(at))).unzip();
        while widths.iter().map(|width| width + GAP).sum::<usize>() > width {
            let wider = (0..widths.len()).filter(|&at| widths[at] > least[at]);
            match wider.max_by_key(|&at| widths[at] - least[at]) {
                Some(at) => widths[at] -= 1,
                None => break,
            }
        }
        widths
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &String> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    /// Columns that a column takes with nothing wrapped.
    fn natural(&self, column: usize) -> usize {
        let cells = self.cells(column).map(|cell| text::width(cell));
        cells.chain([text::width(&self.heads[column].name)]).max().unwrap_or(0)
    }

    /// Columns that a column needs at least.
    fn least(&self, column: usize) -> usize {
        let head = &self.heads[column];
        let of_cell = |cell: &String| match head.align {
            Align::Left => longest_word(cell).min(LONGEST_WORD),
            Align::Right => text::width(cell),
        };
        self.cells(column).map(of_cell).chain([longest_word(&head.name)]).max().unwrap_or(0)
    }

    /// Columns that nothing has to give way in.
    fn natural_width(&self) -> usize {
        (0..self.heads.len()).map(|at| self.natural(at) + GAP).sum()
    }

    /// Columns that remain where everything has given way that can.
    fn least_width(&self) -> usize {
        (0..self.heads.len()).map(|at| self.least(at) + GAP).sum()
    }

    /// Leaves out a column; its heading.
    fn drop_column(&mut self, at: usize) -> String {
        for row in self.rows.iter_mut().filter(|row| at < row.len()) {
            row.remove(at);
        }
        self.heads.remove(at).name
    }

    /// One row over as many lines as its tallest cell has; headings stand on the last one.
    fn wrapped(&self, cells: &[String], widths: &[usize], heading: bool) -> Vec<String> {
        let cells: Vec<Vec<String>> =
            cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let mut out = String::new();
            for ((cell, width), head) in cells.iter().zip(widths).zip(&self.heads) {
                let above = if heading { height - cell.len() } else { 0 };
                let part = number.checked_sub(above).and_then(|at| cell.get(at));
                let part = part.map_or("", String::as_str);
                let pad = " ".repeat(width.saturating_sub(text::width(part)));
                out.push_str("  ");
                match head.align {
                    Align::Left => out.extend([part, &pad]),
                    Align::Right => out.extend([&pad, part]),
                }
            }
            out.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}

/// The words of a cell; what stands in brackets is one: `[10.8, 11.0]`.
fn words(cell: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for part in cell.split_whitespace() {
        match words.last_mut().filter(|_| open) {
            Some(last) => last.extend([" ", part]),
            None => words.push(part.to_owned()),
        }
        open = words.last().is_some_and(|word| word.starts_with('[') && !word.ends_with(']'));
    }
    words
}

fn longest_word(cell: &str) -> usize {
    let indent = cell.len() - cell.trim_start().len();
    words(cell).iter().map(|word| text::width(word)).max().map_or(0, |widest| widest + indent)
}

/// A cell in lines of `columns`; its indentation stays, a word that is too long is broken.
fn wrap(cell: &str, columns: usize) -> Vec<String> {
    if text::width(cell) <= columns {
        return vec![cell.to_owned()];
    }
    let indent = " ".repeat(cell.len() - cell.trim_start().len());
    let room = columns.saturating_sub(indent.len()).max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in words(cell) {
        if !line.is_empty() && text::width(&line) + 1 + text::width(&word) > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
        let mut rest = line.as_str();
        loop {
            let head = text::head(rest, room);
            if head.len() == rest.len() {
                break;
            }
            lines.push(head.to_owned());
            rest = &rest[head.len()..];
        }
        line = rest.to_owned();
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines.into_iter().map(|line| format!("{indent}{line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let estimate = |value: &str, interval: &str| Cell {
            interval: interval.to_owned(),
            ..Cell::text(value)
        };
        Table::new(
            "",
            "",
            vec![
                Column::words("workload"),
                Column::number("median us").interval("95 %"),
                Column::number("late p99 us").expendable(1),
            ],
        )
        .rows([
            vec![
                Cell::text("a name of some words"),
                estimate("10.9", "[10.8, 11.0]"),
                Cell::text("61"),
            ],
            vec![
                Cell::text("goertzel"),
                estimate("65.4", "[64.1, 66.0] 2 modes"),
                Cell::text("70"),
            ],
        ])
    }

    #[test]
    fn what_is_too_wide_wraps_and_nothing_is_lost() {
        let style = Style::PLAIN;
        let whole = table().lines(100, style);
        assert_eq!(whole.len(), 3, "{whole:#?}");
        let narrow = table().lines(48, style);
        assert!(narrow.iter().all(|line| text::width(line) <= 48), "{narrow:#?}");
        let all = narrow.join(" ");
        for word in ["some", "words", "[10.8, 11.0]", "[64.1, 66.0]", "modes", "65.4", "late", "70"]
        {
            assert!(all.contains(word), "{word} is lost: {narrow:#?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out_by_name() {
        let lines = table().lines(36, Style::PLAIN);
        assert!(lines.iter().all(|line| text::width(line) <= 36), "{lines:#?}");
        assert!(lines.join(" ").contains("no room for late p99 us"), "{lines:#?}");
    }

    #[test]
    fn foreign_and_endless_words_are_broken() {
        let lines = wrap("測測測測 abcdefghijklmnop", 6);
        assert!(lines.iter().all(|line| text::width(line) <= 6), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), "測測測測abcdefghijklmnop");
        assert_eq!(wrap("  like for like", 10), ["  like for", "  like"]);
    }
}
