//! What a reader gives: items in their order, and the count of what became of its input.

use crate::event::Record;
use crate::ftrace::Malformed;
use std::collections::HashMap;

/// How many torn lines are named one by one.
const NAMED: usize = 5;
/// How many names of unknown events are told apart.
const NAMES_MAX: usize = 4096;
/// Bytes of a torn line that are shown.
pub(crate) const SHOWN_BYTES: usize = 80;

/// What a trace tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// An event that is understood.
    Record(&'a Record<'a>),
    /// The reading of a counter: its head does not say who ran then.
    Reading(&'a Record<'a>),
    /// Events of a CPU were lost between the event before and the next.
    Lost {
        /// The CPU.
        cpu: u32,
        /// How many, where the kernel says so.
        events: Option<u64>,
    },
}

/// What a trace is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Lines of text.
    #[default]
    Line,
    /// Pages of the ring buffer.
    Page,
    /// Packets of perfetto's.
    Packet,
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unit::Line => "line",
            Unit::Page => "page",
            Unit::Packet => "packet",
        })
    }
}

/// What became of the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What is counted as lines.
    pub unit: Unit,
    /// All lines (pages, packets).
    pub lines: u64,
    /// All bytes.
    pub bytes: u64,
    /// Events that are understood.
    pub records: u64,
    /// Events of other kinds, by name.
    pub unknown: HashMap<String, u64>,
    /// Lines that do not read; of pages also records.
    pub torn: u64,
    /// The first few of these.
    pub first_torn: Vec<TornLine>,
    /// Places where the kernel lost events.
    pub gaps: u64,
    /// Events that it says it lost there; places without a number count nothing.
    pub lost: u64,
}

/// A line that does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornLine {
    /// What it is.
    pub unit: Unit,
    /// Its number from 1.
    pub line: u64,
    /// What should have been there.
    pub expected: &'static str,
    /// What was there.
    pub found: String,
}

impl std::fmt::Display for TornLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TornLine { unit, line, expected, found } = self;
        write!(f, "{unit} {line}: expected {expected}, found {found:?}")
    }
}

impl Counts {
    /// Counts the line that was read last as torn.
    pub(crate) fn torn(&mut self, malformed: Malformed<'_>) {
        self.torn_at(self.lines, malformed.expected, malformed.found);
    }

    /// Counts a line that does not read, and names the first few.
    pub(crate) fn torn_at(&mut self, line: u64, expected: &'static str, found: &[u8]) {
        self.torn += 1;
        if self.first_torn.len() < NAMED {
            let shown = found.get(..SHOWN_BYTES).unwrap_or(found);
            let found = String::from_utf8_lossy(shown).into_owned();
            self.first_torn.push(TornLine { unit: self.unit, line, expected, found });
        }
    }

    /// Counts a place where events were lost.
    pub(crate) fn gap(&mut self, events: Option<u64>) {
        self.gaps += 1;
        self.lost = self.lost.saturating_add(events.unwrap_or(0));
    }

    /// Counts an event of another kind.
    pub(crate) fn unknown(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name);
        if let Some(count) = self.unknown.get_mut(name.as_ref()) {
            *count += 1;
        } else {
            let name = if self.unknown.len() < NAMES_MAX { &name } else { "others" };
            *self.unknown.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// Events of other kinds, all together.
    pub fn unknown_events(&self) -> u64 {
        self.unknown.values().sum()
    }
}
