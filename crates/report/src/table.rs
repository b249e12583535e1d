//! One table for every reader: typed cells under columns that know what they hold, rendered for a
//! terminal, a page, Markdown and CSV.
//!
//! ```text
//! Table --> lines     terminal: wrapped to a width, what has no room is left out by name
//!       --> html      page: sortable, the exact number behind each cell
//!       --> markdown  pull request
//!       --> csv       programs: exact numbers, units in the names
//! ```

mod csv;
mod html;
mod markdown;
mod terminal;

pub(crate) use markdown::{code, escape};

use crate::model::Estimate;
use crate::text;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Words; they wrap.
    #[default]
    Left,
    /// Numbers; they never do, only their heading.
    Right,
}

/// A table with its title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Short, stable, without spaces: an anchor on a page. Several tables may share one.
    pub id: &'static str,
    /// Its title; empty where what stands above it says enough.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// One cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// What to know about it, a sentence each.
    pub notes: Vec<String>,
}

/// What a column holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// What a person reads above it, with its unit.
    pub heading: String,
    /// Its name in CSV, ending in its unit; made from the heading where empty.
    pub key: &'static str,
    /// Where its text stands.
    pub align: Align,
    /// What a terminal writes above the intervals of this column, which get a column of their own
    /// there, unless this is empty and their text holds them; nothing where they have none.
    pub interval: Option<&'static str>,
    /// Whether a terminal leaves out what the row above says already.
    pub once: bool,
    /// Whether it holds sentences, which a page wraps.
    pub sentences: bool,
    /// Which columns a terminal without room leaves out first: those with the largest number, then
    /// those at the end.
    pub expendable: u8,
}

impl Column {
    /// A column of words.
    pub fn words(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// A column of numbers.
    pub fn number(heading: impl Into<String>) -> Self {
        Self { align: Align::Right, ..Self::words(heading) }
    }

    /// Its name in CSV, ending in its unit.
    #[must_use]
    pub fn key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// Its cells have intervals, which stand under this heading in a terminal.
    #[must_use]
    pub fn interval(self, heading: &'static str) -> Self {
        Self { interval: Some(heading), ..self }
    }

    /// A terminal says each value once in a row of equal ones.
    #[must_use]
    pub fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// It holds sentences.
    #[must_use]
    pub fn sentences(self) -> Self {
        Self { sentences: true, ..self }
    }

    /// It gives way where there is no room, before those with a smaller number.
    #[must_use]
    pub fn expendable(self, rank: u8) -> Self {
        Self { expendable: rank, ..self }
    }
}

/// How a cell is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Like any other.
    #[default]
    Plain,
    /// Good news.
    Good,
    /// Bad news, or what must not be relied upon.
    Bad,
    /// What the row is about.
    Strong,
}

/// A cell: what a person reads, and what a program does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// As a person reads it.
    pub text: String,
    /// The exact number in the unit of the column's key: what a page sorts by and CSV holds.
    pub number: Option<f64>,
    /// Lower and upper end of its interval.
    pub bounds: [Option<f64>; 2],
    /// The interval as a person reads it, and what qualifies the number.
    pub interval: String,
    /// How it is meant.
    pub tone: Tone,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number as shown; a dash where there is none.
    pub fn number(value: Option<f64>, shown: impl FnOnce(f64) -> String) -> Self {
        let number = value.filter(|value| value.is_finite());
        let text = number.map_or_else(|| "-".to_owned(), shown);
        Self { text, number, ..Self::default() }
    }

    /// A count.
    #[must_use]
    pub fn count(value: u64) -> Self {
        Self::number(Some(value as f64), |_| value.to_string())
    }

    /// Words that sort as a number.
    pub fn keyed(text: impl Into<String>, number: f64) -> Self {
        Self { text: text.into(), number: Some(number), ..Self::default() }
    }

    /// A latency in microseconds with its interval.
    #[must_use]
    pub fn micros(estimate: &Estimate) -> Self {
        let interval = text::interval(estimate).unwrap_or_else(|| "[none]".to_owned());
        Self::number(Some(estimate.value), text::micros).with(estimate, interval)
    }

    /// A ratio as a factor, its interval in the same text.
    #[must_use]
    pub fn factor(ratio: &Estimate) -> Self {
        Self {
            bounds: [ratio.low, ratio.high],
            ..Self::keyed(text::factor_interval(ratio), ratio.value)
        }
    }

    /// With the interval of `estimate`, as shown.
    #[must_use]
    pub fn with(self, estimate: &Estimate, interval: impl Into<String>) -> Self {
        Self { bounds: [estimate.low, estimate.high], interval: interval.into(), ..self }
    }

    /// Meant so.
    #[must_use]
    pub fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// Text and interval in one.
    fn whole(&self) -> String {
        match self.interval.is_empty() {
            true => text::plain(&self.text),
            false => text::plain(&format!("{} {}", self.text, self.interval)),
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(id: &'static str, title: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { id, title: title.into(), columns, ..Self::default() }
    }

    /// With these rows.
    #[must_use]
    pub fn rows(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        self.rows.extend(rows);
        self
    }

    /// Adds a row of words over all columns: how many more there are.
    pub fn remark(&mut self, mut cells: Vec<Cell>) {
        cells.resize(self.columns.len(), Cell::default());
        self.rows.push(cells);
    }

    /// The columns with these keys, in this order.
    #[must_use]
    pub fn pick(&self, keys: &[&str]) -> Self {
        let at = |key: &&str| self.columns.iter().position(|column| column.name() == **key);
        self.columns(keys.iter().filter_map(at))
    }

    /// The columns at these places, in this order.
    pub(crate) fn columns(&self, places: impl IntoIterator<Item = usize>) -> Self {
        let places: Vec<usize> = places.into_iter().collect();
        let row = |row: &Vec<Cell>| {
            places.iter().map(|&at| row.get(at).cloned().unwrap_or_default()).collect()
        };
        Self {
            columns: places.iter().filter_map(|&at| self.columns.get(at).cloned()).collect(),
            rows: self.rows.iter().map(row).collect(),
            ..self.clone()
        }
    }

    /// Without the columns in which no cell says anything.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        for at in (0..self.columns.len()).rev() {
            let says = |row: &Vec<Cell>| {
                row.get(at).is_some_and(|cell| !matches!(cell.text.as_str(), "" | "-"))
            };
            if !self.rows.iter().any(says) {
                self.drop_column(at);
            }
        }
        self
    }

    /// Leaves out a column.
    pub(crate) fn drop_column(&mut self, at: usize) {
        self.columns.remove(at);
        for row in self.rows.iter_mut().filter(|row| at < row.len()) {
            row.remove(at);
        }
    }
}

impl Column {
    /// Its name in CSV.
    fn name(&self) -> String {
        if !self.key.is_empty() {
            return self.key.to_owned();
        }
        let words = self.heading.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.join("_").to_lowercase()
    }
}
