//! Reads a tree of values against tables of keys; every error names the place, the key, what was
//! expected and what was found.

use super::error::{ScenarioError, suggestion};
use super::quantity;
use super::tree::{Entry, Node, Place, Value};
use crate::workload::Amount;
use flyball_units::{CpuId, CpuSet, KiloHertz, Mismatch, Nanos};
use std::ops::RangeInclusive;

/// One key of a table: the reader's check and the documentation come from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it holds: `duration`, `work`, `text`, ...
    pub form: &'static str,
    /// What holds where it is absent; empty where it must be there.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// Shorthand for tables of keys.
pub const fn key(
    name: &'static str,
    form: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Key {
    Key { name, form, default, doc }
}

/// A table whose keys are known.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    origin: &'a str,
    /// How messages name the table: `governor`, `task "audio"`; empty at the top.
    pub what: String,
    /// Its place in the text.
    pub place: Place,
    entries: &'a [Entry],
}

/// One value of a table.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    origin: &'a str,
    what: String,
    /// Its value with its place.
    pub node: &'a Node,
}

impl<'a> Fields<'a> {
    /// A table in which only the given keys may stand.
    pub fn new(
        origin: &'a str,
        what: &str,
        node: &'a Node,
        keys: &[&[Key]],
    ) -> Result<Fields<'a>, ScenarioError> {
        let fields = Fields::open(origin, what, node)?;
        let known: Vec<&str> = keys.iter().flat_map(|keys| keys.iter().map(|k| k.name)).collect();
        match fields.entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            None => Ok(fields),
            Some(entry) => Err(fields.unknown(entry, &known)),
        }
    }

    /// A table in which any key may stand.
    pub fn open(origin: &'a str, what: &str, node: &'a Node) -> Result<Fields<'a>, ScenarioError> {
        let Value::Table(entries) = &node.value else {
            let item = Item { origin, what: what.to_owned(), node };
            return Err(item.expected("a table"));
        };
        Ok(Fields { origin, what: what.to_owned(), place: node.place, entries })
    }

    /// The error for a key that is not known.
    pub fn unknown(&self, entry: &Entry, known: &[&str]) -> ScenarioError {
        let whole = self.path(&entry.key);
        ScenarioError::new(self.origin, format!("unknown key `{whole}`"))
            .at(entry.place)
            .maybe_hint(suggestion(&entry.key, known))
    }

    /// All entries, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = (&'a Entry, Item<'a>)> {
        self.entries.iter().map(|entry| (entry, self.item(entry)))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Item<'a>> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| self.item(entry))
    }

    /// The value of a key that must be there.
    pub fn require(&self, key: &str) -> Result<Item<'a>, ScenarioError> {
        self.get(key).ok_or_else(|| {
            let message = format!("expected the key `{}`, found none", self.path(key));
            ScenarioError::new(self.origin, message).at(self.place)
        })
    }

    /// A duration, or what holds where there is none.
    pub fn duration_or(&self, key: &str, default: Nanos) -> Result<Nanos, ScenarioError> {
        self.get(key).map_or(Ok(default), |item| item.duration())
    }

    /// A duration above zero, or what holds where there is none.
    pub fn span_or(&self, key: &str, default: Nanos) -> Result<Nanos, ScenarioError> {
        self.get(key).map_or(Ok(default), |item| item.span())
    }

    /// A whole number in a range, or what holds where there is none.
    pub fn integer_or(
        &self,
        key: &str,
        default: i64,
        range: RangeInclusive<i64>,
    ) -> Result<i64, ScenarioError> {
        self.get(key).map_or(Ok(default), |item| item.integer(range))
    }

    /// One of some words, or what holds where there is none.
    pub fn choice_or<T: Copy>(
        &self,
        key: &str,
        default: T,
        choices: &[(&str, T)],
    ) -> Result<T, ScenarioError> {
        self.get(key).map_or(Ok(default), |item| item.choice(choices))
    }

    fn path(&self, key: &str) -> String {
        if self.what.is_empty() { key.to_owned() } else { format!("{}.{key}", self.what) }
    }

    fn item(&self, entry: &'a Entry) -> Item<'a> {
        Item { origin: self.origin, what: self.path(&entry.key), node: &entry.node }
    }
}

impl<'a> Item<'a> {
    /// An error at this value.
    pub fn wrong(&self, message: impl std::fmt::Display) -> ScenarioError {
        ScenarioError::new(self.origin, format!("{}: {message}", self.what)).at(self.node.place)
    }

    /// The error that this value is something else.
    pub fn expected(&self, what: &str) -> ScenarioError {
        self.wrong(format!("expected {what}, found {}", self.node.value))
    }

    /// The error of a quantity's reader at this value.
    pub fn mismatch(&self, slip: Mismatch) -> ScenarioError {
        self.wrong(&slip).maybe_hint(slip.hint)
    }

    /// A string.
    pub fn text(&self) -> Result<&'a str, ScenarioError> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.expected("a text")),
        }
    }

    /// True or false.
    pub fn boolean(&self) -> Result<bool, ScenarioError> {
        match self.node.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(self.expected("true or false")),
        }
    }

    /// A whole number in a range.
    pub fn integer(&self, range: RangeInclusive<i64>) -> Result<i64, ScenarioError> {
        match self.node.value {
            Value::Integer(value) if range.contains(&value) => Ok(value),
            _ if *range.end() == i64::MAX => {
                Err(self.expected(&format!("a whole number from {} up", range.start())))
            }
            _ => Err(self.expected(&format!(
                "a whole number from {} to {}",
                range.start(),
                range.end()
            ))),
        }
    }

    /// A number in a range.
    pub fn real(&self, range: RangeInclusive<f64>) -> Result<f64, ScenarioError> {
        let value = match self.node.value {
            Value::Integer(value) => value as f64,
            Value::Real(value) => value,
            _ => f64::NAN,
        };
        if range.contains(&value) {
            return Ok(value);
        }
        Err(self.expected(&format!("a number from {} to {}", range.start(), range.end())))
    }

    /// A duration with its unit.
    pub fn duration(&self) -> Result<Nanos, ScenarioError> {
        self.quantity(str::parse, "ms")
    }

    /// A duration above zero.
    pub fn span(&self) -> Result<Nanos, ScenarioError> {
        match self.duration()? {
            Nanos(0) => Err(self.expected("a duration above 0")),
            time => Ok(time),
        }
    }

    /// A time from one event to the next. Below a microsecond it is a typing error, and would be billions
    /// of events.
    pub fn interval(&self) -> Result<Nanos, ScenarioError> {
        match self.span()? {
            Nanos(..1_000) => Err(self.expected("1us or more")),
            time => Ok(time),
        }
    }

    /// A frequency with its unit.
    pub fn frequency(&self) -> Result<KiloHertz, ScenarioError> {
        self.quantity(str::parse, "MHz")
    }

    /// An amount of work.
    pub fn amount(&self) -> Result<Amount, ScenarioError> {
        self.quantity(quantity::amount, "ms")
    }

    /// A list of CPUs.
    pub fn cpus(&self) -> Result<Vec<CpuId>, ScenarioError> {
        match self.node.value {
            Value::Integer(cpu @ 0..=4095) => Ok(vec![CpuId(cpu as u32)]),
            _ => match self.text()?.parse::<CpuSet>() {
                Ok(cpus) if !cpus.is_empty() => Ok(cpus.iter().collect()),
                Ok(_) => Err(self.expected("CPUs such as \"0-3,6\"")),
                Err(slip) => Err(self.mismatch(slip)),
            },
        }
    }

    /// One of some words.
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, ScenarioError> {
        let text = self.text()?;
        let found = choices.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.wrong(format!("expected one of {}, found \"{text}\"", names.join(", ")))
                .maybe_hint(suggestion(text, &names))
        })
    }

    /// A list.
    pub fn list(&self) -> Result<Vec<Item<'a>>, ScenarioError> {
        let nodes = match &self.node.value {
            Value::List(nodes) => nodes,
            Value::Table(_) => {
                let hint = format!("one of several is written [[{}]]", self.what);
                return Err(self.expected("a list").hint(hint));
            }
            _ => return Err(self.expected("a list")),
        };
        let item = |(index, node)| Item {
            origin: self.origin,
            what: format!("{}[{index}]", self.what),
            node,
        };
        Ok(nodes.iter().enumerate().map(item).collect())
    }

    /// A table in which only the given keys may stand.
    pub fn fields(&self, keys: &[&[Key]]) -> Result<Fields<'a>, ScenarioError> {
        Fields::new(self.origin, &self.what, self.node, keys)
    }

    /// A table in which any key may stand.
    pub fn any_fields(&self) -> Result<Fields<'a>, ScenarioError> {
        Fields::open(self.origin, &self.what, self.node)
    }

    /// A quantity in a string; a bare number is an error that shows the unit.
    fn quantity<T>(
        &self,
        parse: impl Fn(&str) -> Result<T, Mismatch>,
        unit: &str,
    ) -> Result<T, ScenarioError> {
        match &self.node.value {
            Value::Text(text) => parse(text).map_err(|slip| self.mismatch(slip)),
            Value::Integer(number) => {
                Err(self.expected(&format!("a text with the unit, such as \"{number}{unit}\"")))
            }
            _ => Err(self.expected(&format!("a text with the unit, such as \"20{unit}\""))),
        }
    }
}
