//! A table of text in so many columns of a terminal: what is too wide is wrapped, what does not fit
//! even then is left out by name. Nothing is cut.

use super::style::Style;
use crate::text;

/// Words longer than this are broken: one foreign name must not push the figures out.
const LONGEST_WORD: usize = 24;
/// Spaces before each column.
const GAP: usize = 2;

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words; they wrap.
    Left,
    /// Numbers; they never do, only their heading.
    Right,
}

/// Columns sized to their content.
#[derive(Clone)]
pub(crate) struct Table {
    pub header: Vec<(String, Align)>,
    pub rows: Vec<Vec<String>>,
    /// Headings of columns that are left out where there is no room, the first one first.
    expendable: &'static [&'static str],
}

impl Table {
    pub fn new(header: &[(&str, Align)]) -> Self {
        let header = header.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect();
        Self::of(header)
    }

    pub fn of(header: Vec<(String, Align)>) -> Self {
        Self { header, rows: Vec::new(), expendable: &[] }
    }

    /// Which columns give way, the first one first; then those at the end do.
    pub fn expendable(self, columns: &'static [&'static str]) -> Self {
        Self { expendable: columns, ..self }
    }

    /// Lines, the header dimmed; two spaces before and between the columns. Where columns had to be
    /// left out, a last line names them.
    pub fn lines(&self, width: usize, style: Style) -> Vec<String> {
        let mut shown = self.clone();
        let left_out = shown.fit(width);
        let widths = shown.widths(width);
        let names: Vec<String> = shown.header.iter().map(|(name, _)| name.clone()).collect();
        let header = shown.wrapped(&names, &widths, true);
        let mut lines: Vec<String> = header.iter().map(|line| style.dim(line)).collect();
        lines.extend(shown.rows.iter().flat_map(|row| shown.wrapped(row, &widths, false)));
        if !left_out.is_empty() {
            let note =
                format!("no room for {}: a wider terminal, or the page", left_out.join(", "));
            let note = text::wrap(&note, width.saturating_sub(GAP));
            lines.extend(note.iter().map(|line| style.dim(&format!("  {line}"))));
        }
        lines
    }

    /// Leaves out what does not fit; the headings of that.
    fn fit(&mut self, width: usize) -> Vec<String> {
        let mut left_out = Vec::new();
        let mut expendable = self.expendable.iter();
        while self.least_width() > width && self.header.len() > 2 {
            let named = expendable.next();
            let at = match named {
                None => Some(self.header.len() - 1),
                Some(wanted) => self.header.iter().position(|(name, _)| name == wanted),
            };
            if let Some(at) = at {
                left_out.push(self.header[at].0.clone());
                self.drop_column(at);
            }
        }
        left_out
    }

    /// Width of each column: what it needs, or less; who has most to give gives way first.
    fn widths(&self, width: usize) -> Vec<usize> {
        let (least, mut widths): (Vec<usize>, Vec<usize>) =
            (0..self.header.len()).map(|at| (self.least(at), self.natural(at))).unzip();
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
        cells.chain([text::width(&self.header[column].0)]).max().unwrap_or(0)
    }

    /// Columns that a column needs at least.
    fn least(&self, column: usize) -> usize {
        let (name, align) = &self.header[column];
        let of_cell = |cell: &String| match align {
            Align::Left => longest_word(cell).min(LONGEST_WORD),
            Align::Right => text::width(cell),
        };
        self.cells(column).map(of_cell).chain([longest_word(name)]).max().unwrap_or(0)
    }

    /// Columns that nothing has to give way in.
    pub(crate) fn natural_width(&self) -> usize {
        (0..self.header.len()).map(|at| self.natural(at) + GAP).sum()
    }

    /// Columns that remain where everything has given way that can.
    pub(crate) fn least_width(&self) -> usize {
        (0..self.header.len()).map(|at| self.least(at) + GAP).sum()
    }

    pub(crate) fn drop_column(&mut self, column: usize) {
        self.header.remove(column);
        for row in &mut self.rows {
            row.remove(column);
        }
    }

    /// One row over as many lines as its tallest cell has; headings stand on the last one.
    fn wrapped(&self, cells: &[String], widths: &[usize], heading: bool) -> Vec<String> {
        let cells: Vec<Vec<String>> =
            cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let mut out = String::new();
            for ((cell, width), (_, align)) in cells.iter().zip(widths).zip(&self.header) {
                let above = if heading { height - cell.len() } else { 0 };
                let part = number.checked_sub(above).and_then(|at| cell.get(at));
                let part = part.map_or("", String::as_str);
                let pad = " ".repeat(width.saturating_sub(text::width(part)));
                out.push_str("  ");
                match align {
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
        while text::width(&line) > room {
            let head = text::head(&line, room).to_owned();
            line = line.split_off(head.len());
            lines.push(head);
        }
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines.into_iter().map(|line| format!("{indent}{line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[
            ("workload", Align::Left),
            ("median us", Align::Right),
            ("95 %", Align::Left),
            ("late p99 us", Align::Right),
        ])
        .expendable(&["late p99 us"]);
        table.rows = vec![
            ["a name of some words", "10.9", "[10.8, 11.0]", "61"].map(str::to_owned).into(),
            ["goertzel", "65.4", "[64.1, 66.0] 2 modes", "70"].map(str::to_owned).into(),
        ];
        table
    }

    #[test]
    fn what_is_too_wide_wraps_and_nothing_is_lost() {
        let style = Style { color: false };
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
        let lines = table().lines(36, Style { color: false });
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
