//! A document as values with places: what TOML and JSON have in common, so that one checked reader
//! names line and column in both.

use std::cell::Cell;
use std::fmt;

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the text; both from 1.
    At {
        /// Line.
        line: usize,
        /// Column, in characters.
        column: usize,
    },
    /// In a `--set` or `--sweep` of the command line.
    CommandLine,
}

/// Finds the places of byte offsets, in a long text or a long line, too: a document asks once per value.
#[derive(Debug)]
pub struct Places<'a> {
    text: &'a str,
    /// Where the lines begin.
    lines: Vec<usize>,
    /// The last offset that was asked for, and its column.
    last: Cell<(usize, usize)>,
}

impl<'a> Places<'a> {
    /// Those of a text.
    pub fn of(text: &'a str) -> Places<'a> {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Places { text, lines: std::iter::once(0).chain(ends).collect(), last: Cell::new((0, 1)) }
    }

    /// The place of a byte offset; the text's end, where it is behind it.
    pub fn at(&self, offset: usize) -> Place {
        let offset = if self.text.is_char_boundary(offset) { offset } else { self.text.len() };
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let (from, before) = match self.last.get() {
            (last, column) if (start..=offset).contains(&last) => (last, column),
            _ => (start, 1),
        };
        let column = before + self.text.get(from..offset).unwrap_or_default().chars().count();
        self.last.set((offset, column));
        Place::At { line, column }
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its place in the text.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// JSON's null.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// A string.
    Text(String),
    /// Values in order.
    List(Vec<Node>),
    /// Keys with values, in the order of the text.
    Table(Vec<Entry>),
}

/// One key of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The entry of a table.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }
}

/// As an error message names what it found.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Real(value) => write!(f, "{value}"),
            Value::Text(text) => write!(f, "\"{text}\""),
            Value::List(list) => write!(f, "a list of {}", list.len()),
            Value::Table(_) => f.write_str("a table"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_in_characters() {
        let places = Places::of("ab\nµx");
        for (offset, line, column) in
            [(6, 2, 3), (0, 1, 1), (5, 2, 2), (6, 2, 3), (3, 2, 1), (1, 1, 2)]
        {
            assert_eq!(places.at(offset), Place::At { line, column }, "{offset}");
        }
        assert_eq!(Places::of("").at(9), Place::At { line: 1, column: 1 });
    }
}
