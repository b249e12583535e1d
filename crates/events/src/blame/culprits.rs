//! Who a part's time went to.

use serde::Serialize;

use super::parts::Part;

/// Who or what kept the task from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// Another task, by its number.
    Task(u32),
    /// The idle loop, by the number of the idle state.
    Idle(u32),
    /// An interrupt, by the position of its name.
    Interrupt(u32),
}

/// Times by part and culprit. A window has few of them: a list is the quickest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Culprits(Vec<(Part, Who, u64)>);

impl Culprits {
    pub(super) fn add(&mut self, part: Part, who: Who, ns: u64) {
        match self.0.iter_mut().find(|found| (found.0, found.1) == (part, who)) {
            Some(found) => found.2 = found.2.saturating_add(ns),
            None => self.0.push((part, who, ns)),
        }
    }

    /// All of them: part, culprit, nanoseconds.
    pub fn iter(&self) -> impl Iterator<Item = (Part, Who, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Who had the most of a part.
    pub fn most_of(&self, part: Part) -> Option<(Who, u64)> {
        let own = self.0.iter().filter(|found| found.0 == part);
        own.max_by_key(|found| found.2).map(|found| (found.1, found.2))
    }
}
