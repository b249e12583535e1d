//! A document as values with places: what TOML and JSON have in common, so that one checked reader
//! names line and column in both.

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

impl Place {
    /// The place of a byte offset.
    pub fn of(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
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
        assert_eq!(Place::of("ab\nµx", 6), Place::At { line: 2, column: 3 });
        assert_eq!(Place::of("", 9), Place::At { line: 1, column: 1 });
    }
}
