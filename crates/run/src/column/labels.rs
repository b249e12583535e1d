//! Text columns: few distinct texts, many cells.

use ahash::HashMap;
use std::collections::TryReserveError;
use std::sync::Arc;

use super::{Cells, Nullable, Packed, Store, Values};

/// Text cells as codes into a dictionary of the distinct texts, in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    codes: Packed<u32>,
    names: Vec<Arc<str>>,
    index: HashMap<Arc<str>, u32>,
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.codes.len() == other.codes.len() && self.iter().eq(other.iter())
    }
}

impl Labels {
    /// Cell `row`.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&str> {
        self.name(self.codes.get(row)?)
    }

    /// The codes, one per cell: positions in [`Labels::names`].
    pub fn codes(&self) -> &Packed<u32> {
        &self.codes
    }

    /// The distinct texts in order of first appearance.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The text of `code`.
    #[inline]
    pub fn name(&self, code: u32) -> Option<&str> {
        self.names.get(code as usize).map(AsRef::as_ref)
    }

    /// The code of `name`, if any cell has ever held it.
    pub fn code_of(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    /// All cells in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.codes.iter().filter_map(|code| self.name(code))
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Gives the texts other words, where `change` has some.
    pub(crate) fn rename(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) {
        let before = std::mem::take(self);
        let recoded: Vec<u32> = before
            .names
            .iter()
            .map(|name| match change(name) {
                Some(other) => self.intern(&other),
                None => self.intern(name),
            })
            .collect();
        let code = |code: u32| recoded.get(code as usize).copied().unwrap_or_default();
        self.codes = before.codes.iter().map(code).collect();
    }

    /// Moves the cells out.
    pub(crate) fn take(&mut self) -> Cells {
        let Labels { codes, names, .. } = std::mem::take(self);
        Cells {
            rows: codes.len(),
            values: Values::Text { codes: codes.into_vec(), names },
            valid: None,
        }
    }

    /// `rows` cells of one text.
    pub fn repeated(name: &str, rows: usize) -> Labels {
        let mut labels = Labels::default();
        let code = labels.intern(name);
        labels.codes.resize(rows, code);
        labels
    }

    /// Adds one cell.
    pub fn push(&mut self, name: &str) {
        // Rows come in runs of one workload and condition: most cells equal the one before.
        let code = match self.codes.last() {
            Some(last) if self.name(last) == Some(name) => last,
            _ => self.intern(name),
        };
        self.codes.push(code);
    }

    /// Makes room for `rows` more cells.
    pub(crate) fn try_reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        self.codes.try_reserve(rows)
    }

    /// Adds many cells at once: `codes` of the texts `names`, each below their number.
    pub(crate) fn extend_coded(&mut self, names: &[String], codes: &[u32]) {
        // In order of first appearance, whatever their own is.
        let mut known = vec![None; names.len()];
        for &code in codes {
            let Some(slot) = known.get_mut(code as usize) else { continue };
            let own = match *slot {
                Some(own) => own,
                None => {
                    let own = self.intern(names.get(code as usize).map_or("", String::as_str));
                    *slot = Some(own);
                    own
                }
            };
            self.codes.push(own);
        }
    }

    /// The code of `name`, given one if it has none. The dictionary is indexed by `u32`: memory
    /// ends long before four thousand million distinct texts do.
    fn intern(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.index.get(name) {
            return code;
        }
        let code = self.names.len() as u32;
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.index.insert(name, code);
        code
    }
}

impl Store for Labels {
    type Value = String;
    fn push(&mut self, value: String) {
        self.push(&value);
    }
    fn value(&self, row: usize) -> Option<String> {
        self.get(row).map(str::to_owned)
    }
    fn len(&self) -> usize {
        self.codes.len()
    }
    fn append(&mut self, other: Self) {
        let recoded: Vec<u32> = other.names.iter().map(|name| self.intern(name)).collect();
        self.codes
            .extend(other.codes.iter().filter_map(|code| recoded.get(code as usize).copied()));
    }
    fn reserve(&mut self, additional: usize) {
        Store::reserve(&mut self.codes, additional);
    }
    fn fill(&mut self, len: usize) {
        if self.len() < len {
            let code = self.intern("");
            self.codes.resize(len, code);
        }
    }
}

/// Text cells that may be null.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NullableLabels {
    codes: Nullable<u32>,
    /// The dictionary; its own cells stay empty.
    dictionary: Labels,
}

impl NullableLabels {
    /// Cell `row`; `None` where null and behind the end.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.dictionary.name(self.codes.get(row)?)
    }

    /// The code of cell `row`: a position in [`NullableLabels::names`].
    pub fn code(&self, row: usize) -> Option<u32> {
        self.codes.get(row)
    }

    /// The distinct texts in order of first appearance.
    pub fn names(&self) -> &[Arc<str>] {
        self.dictionary.names()
    }

    /// All cells in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        (0..self.codes.len()).map(|row| self.get(row))
    }

    /// Number of cells, nulls included.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no cell at all.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Gives the texts other words, where `change` has some.
    pub(crate) fn rename(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) {
        let before = std::mem::take(self);
        for cell in before.iter() {
            let other = cell.and_then(&mut *change);
            self.push(other.as_deref().or(cell));
        }
    }

    /// Moves the cells out.
    pub(crate) fn take(&mut self) -> Cells {
        let rows = self.len();
        let NullableLabels { mut codes, dictionary } = std::mem::take(self);
        let (codes, valid) = codes.take();
        let values = Values::Text { codes, names: dictionary.names };
        Cells { values, valid: Some(valid), rows }
    }

    /// What the cells take of memory.
    pub fn bytes(&self) -> usize {
        self.codes.bytes()
    }

    /// Whether no cell holds a text.
    pub fn is_all_null(&self) -> bool {
        self.codes.is_all_null()
    }

    /// Adds one cell.
    pub fn push(&mut self, value: Option<&str>) {
        let code = value.map(|name| self.dictionary.intern(name));
        self.codes.push(code);
    }
}

impl Store for NullableLabels {
    type Value = Option<String>;
    fn push(&mut self, value: Option<String>) {
        self.push(value.as_deref());
    }
    fn value(&self, row: usize) -> Option<Option<String>> {
        (row < self.codes.len()).then(|| self.get(row).map(str::to_owned))
    }
    fn len(&self) -> usize {
        self.codes.len()
    }
    fn append(&mut self, other: Self) {
        (0..other.codes.len()).for_each(|row| self.push(other.get(row)));
    }
    fn reserve(&mut self, additional: usize) {
        self.codes.reserve(additional);
    }
    fn fill(&mut self, len: usize) {
        self.codes.fill(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_get_other_words() {
        let mut labels = Labels::default();
        ["car", "notch", "car"].iter().for_each(|name| labels.push(name));
        labels.rename(&mut |name| (name == "notch").then(|| "car".to_owned()));
        assert_eq!((labels.iter().collect::<Vec<_>>(), labels.names().len()), (vec!["car"; 3], 1));
        let mut labels = NullableLabels::default();
        [Some("a"), None, Some("b")].into_iter().for_each(|cell| labels.push(cell));
        labels.rename(&mut |name| (name == "b").then(|| "c".to_owned()));
        assert_eq!(labels.iter().collect::<Vec<_>>(), [Some("a"), None, Some("c")]);
    }

    #[test]
    fn appending_recodes_labels() {
        let (mut left, mut right) = (Labels::default(), Labels::default());
        ["car", "notch"].iter().for_each(|name| left.push(name));
        ["notch", "goertzel", "car"].iter().for_each(|name| right.push(name));
        Store::append(&mut left, right);
        assert_eq!(left.iter().collect::<Vec<_>>(), ["car", "notch", "notch", "goertzel", "car"]);
        assert_eq!(left.names().len(), 3);
    }
}
