//! Columns as wide as their content; a column without content is left out.

use crate::text;

/// A table of text.
pub(super) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: &[&str]) -> Table {
        Table { header: header.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub fn lines(&self) -> Vec<String> {
        let cell = |row: &[String], at: usize| row.get(at).cloned().unwrap_or_default();
        let used: Vec<usize> = (0..self.header.len())
            .filter(|&at| self.rows.iter().any(|row| !matches!(cell(row, at).as_str(), "" | "-")))
            .collect();
        let width = |at: usize| {
            let cells = self.rows.iter().map(|row| text::width(&cell(row, at)));
            cells.chain([text::width(&cell(&self.header, at))]).max().unwrap_or_default()
        };
        let line = |row: &[String]| {
            let cells = used.iter().enumerate().map(|(position, &at)| {
                let (shown, width) = (cell(row, at), width(at));
                let room = " ".repeat(width.saturating_sub(text::width(&shown)));
                // The first column is a name.
                if position == 0 { shown + &room } else { room + &shown }
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
        };
        std::iter::once(line(&self.header)).chain(self.rows.iter().map(|row| line(row))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_empty_columns_go() {
        let mut table = Table::new(&["pair", "none", "us"]);
        table.row(vec!["a".into(), "-".into(), "5".into()]);
        table.row(vec!["bcdef".into(), String::new(), "1234".into()]);
        assert_eq!(table.lines(), ["  pair     us", "  a         5", "  bcdef  1234"]);
    }
}
