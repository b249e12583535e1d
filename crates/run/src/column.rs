//! Columns in memory: plain vectors, vectors with nulls, and dictionary-coded labels.
//!
//! A million windows must stay small: a column that is null throughout costs nothing until its
//! first value, and a label costs four bytes a row.

mod cells;
mod labels;
mod packed;

pub use cells::{Cells, Values};
pub use labels::{Labels, NullableLabels};
pub use packed::{Bits, Packed};

use std::collections::TryReserveError;

use crate::kind::Kind;

/// A value that can stand in a table.
pub trait Field: Sized {
    /// How a column of such values lies in memory.
    type Store: Store<Value = Self>;
    /// How it lies in a table of events, which may have tens of millions of rows.
    type Long: Store<Value = Self>;
    /// The kind of value, without its nullability.
    const KIND: Kind;
    /// Whether the value can be absent.
    const NULLABLE: bool = false;

    /// Whether this value is absent.
    fn is_null(&self) -> bool {
        false
    }

    /// Whether the value survives NDJSON, which knows no NaN and no infinity.
    fn is_writable(&self) -> bool {
        true
    }
}

/// A column that grows by whole values.
pub trait Store: Default + Clone {
    /// One cell.
    type Value;
    /// Adds one cell at the end.
    fn push(&mut self, value: Self::Value);
    /// Cell `row`, owned; `None` behind the end.
    fn value(&self, row: usize) -> Option<Self::Value>;
    /// Number of cells.
    fn len(&self) -> usize;
    /// Whether there is no cell.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Adds all cells of `other` at the end.
    fn append(&mut self, other: Self);
    /// Makes room for `additional` cells, exactly where that costs anything.
    fn reserve(&mut self, additional: usize);
    /// Adds empty cells (null, zero, no text) until there are `len`.
    fn fill(&mut self, len: usize);
}

macro_rules! plain_fields {
    ($($type:ty => $kind:ident),* $(,)?) => {$(
        impl Field for $type {
            type Store = Vec<$type>;
            type Long = Packed<$type>;
            const KIND: Kind = Kind::$kind;
        }
        impl Field for Option<$type> {
            type Store = Nullable<$type>;
            type Long = Nullable<$type>;
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = true;
            fn is_null(&self) -> bool {
                self.is_none()
            }
        }
    )*};
}
plain_fields!(u32 => U32, u64 => U64, i32 => I32, i64 => I64, bool => Bool);

impl Field for f64 {
    type Store = Vec<f64>;
    type Long = Packed<f64>;
    const KIND: Kind = Kind::F64;
    fn is_writable(&self) -> bool {
        self.is_finite()
    }
}

impl Field for Option<f64> {
    type Store = Nullable<f64>;
    type Long = Nullable<f64>;
    const KIND: Kind = Kind::F64;
    const NULLABLE: bool = true;
    fn is_null(&self) -> bool {
        self.is_none()
    }
    fn is_writable(&self) -> bool {
        self.is_none_or(f64::is_finite)
    }
}

impl Field for String {
    type Store = Labels;
    type Long = Labels;
    const KIND: Kind = Kind::Text;
}

impl Field for Option<String> {
    type Store = NullableLabels;
    type Long = NullableLabels;
    const KIND: Kind = Kind::Text;
    const NULLABLE: bool = true;
    fn is_null(&self) -> bool {
        self.is_none()
    }
}

impl<T: Copy + Default> Store for Vec<T> {
    type Value = T;
    fn push(&mut self, value: T) {
        self.push(value);
    }
    fn value(&self, row: usize) -> Option<T> {
        self.get(row).copied()
    }
    fn len(&self) -> usize {
        self.len()
    }
    fn append(&mut self, mut other: Self) {
        if self.is_empty() && self.capacity() < other.len() {
            *self = other;
        } else {
            self.append(&mut other);
        }
    }
    fn reserve(&mut self, additional: usize) {
        self.reserve_exact(additional);
    }
    fn fill(&mut self, len: usize) {
        self.resize(len.max(self.len()), T::default());
    }
}

/// A column with nulls: costs nothing while all its cells are null.
#[derive(Debug, Clone)]
pub struct Nullable<T> {
    len: usize,
    /// Empty while every cell is null; otherwise one value per cell (anything where null).
    values: Packed<T>,
    /// One bit per cell, set where there is a value; as long as `values` needs.
    valid: Vec<u64>,
}

impl<T: Bits> PartialEq for Nullable<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.len, &self.values, &self.valid) == (other.len, &other.values, &other.valid)
    }
}

impl<T> Default for Nullable<T> {
    fn default() -> Self {
        Nullable { len: 0, values: Packed::default(), valid: Vec::new() }
    }
}

impl<T: Bits> Nullable<T> {
    /// Cell `row`; `None` where null and behind the end.
    // Also where the caller is built for size: there are a million of them in a report.
    #[inline(always)]
    pub fn get(&self, row: usize) -> Option<T> {
        let word = self.valid.get(row / 64)?;
        if word >> (row % 64) & 1 == 1 { self.values.get(row) } else { None }
    }

    /// All cells in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<T>> + '_ {
        (0..self.len).map(|row| self.get(row))
    }

    /// Number of cells, nulls included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no cell at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What the cells take of memory.
    pub fn bytes(&self) -> usize {
        self.values.bytes() + self.valid.capacity() * size_of::<u64>()
    }

    /// Whether no cell holds a value.
    pub fn is_all_null(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of cells that hold a value.
    pub fn count(&self) -> usize {
        self.valid.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds one cell.
    pub fn push(&mut self, value: Option<T>) {
        match value {
            Some(value) => {
                self.materialise();
                self.values.push(value);
                self.push_valid(1);
            }
            None if self.values.is_empty() => {}
            None => {
                self.values.push(T::default());
                self.push_valid(0);
            }
        }
        self.len += 1;
    }

    /// Makes room for `len` cells in all that are not all null.
    pub(crate) fn try_reserve(&mut self, len: usize) -> Result<(), TryReserveError> {
        self.values.try_reserve(len.saturating_sub(self.values.len()))
    }

    /// Adds many cells, all with a value or all without: at a fraction of the price of one by one.
    pub(crate) fn extend(&mut self, values: impl ExactSizeIterator<Item = Option<T>>, all: bool) {
        let more = values.len();
        if more == 0 || !all && self.values.is_empty() {
            self.len += more;
            return;
        }
        self.materialise();
        self.values.extend(values.map(Option::unwrap_or_default));
        let end = self.len + more;
        self.valid.resize(end.div_ceil(64), 0);
        for (word, bits) in self.valid.iter_mut().enumerate().skip(self.len / 64).filter(|_| all) {
            // The cells of this word that are new.
            let (from, to) =
                (self.len.max(word * 64) - word * 64, end.min(word * 64 + 64) - word * 64);
            *bits |= (u64::MAX >> (64 - (to - from))) << from;
        }
        self.len = end;
    }

    /// Moves the values and the bits of those that are there out.
    pub(crate) fn take(&mut self) -> (Vec<T>, Vec<u64>) {
        let Nullable { values, valid, .. } = std::mem::take(self);
        (values.into_vec(), valid)
    }

    fn materialise(&mut self) {
        if self.values.is_empty() {
            self.values.resize(self.len, T::default());
            self.valid.resize(self.len.div_ceil(64), 0);
        }
    }

    /// The bit of the cell that is being added.
    fn push_valid(&mut self, bit: u64) {
        let bit = bit << (self.len % 64);
        match self.valid.get_mut(self.len / 64) {
            Some(word) => *word |= bit,
            None => self.valid.push(bit),
        }
    }
}

impl<T: Bits> Store for Nullable<T> {
    type Value = Option<T>;
    fn push(&mut self, value: Option<T>) {
        self.push(value);
    }
    fn value(&self, row: usize) -> Option<Option<T>> {
        (row < self.len).then(|| self.get(row))
    }
    fn len(&self) -> usize {
        self.len
    }
    fn append(&mut self, other: Self) {
        if self.len == 0 {
            *self = other;
        } else if other.is_all_null() && self.is_all_null() {
            self.len += other.len;
        } else {
            (0..other.len).for_each(|row| self.push(other.get(row)));
        }
    }
    fn reserve(&mut self, additional: usize) {
        if !self.values.is_empty() {
            Store::reserve(&mut self.values, additional);
        }
    }
    fn fill(&mut self, len: usize) {
        if self.values.is_empty() {
            self.len = len.max(self.len);
        }
        (self.len..len).for_each(|_| self.push(None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn many_cells_at_once_are_as_one_by_one(parts in proptest::collection::vec((0_usize..200, 0..3), 0..6)) {
            let (mut many, mut each) = (Nullable::<u64>::default(), Nullable::<u64>::default());
            for (n, kind) in parts {
                let cell = |at: usize| (kind > 0).then_some(at as u64);
                match kind {
                    2 => (0..n).for_each(|at| many.push(cell(at))),
                    kind => many.extend((0..n).map(cell), kind == 1),
                }
                (0..n).for_each(|at| each.push(cell(at)));
            }
            proptest::prop_assert_eq!(many.iter().collect::<Vec<_>>(), each.iter().collect::<Vec<_>>());
            proptest::prop_assert_eq!(many, each);
        }
    }

    #[test]
    fn all_null_costs_nothing_until_the_first_value() {
        let mut column = Nullable::<u64>::default();
        (0..1000).for_each(|_| column.push(None));
        assert!(column.is_all_null());
        assert_eq!(column.values.bytes(), 0);
        column.push(Some(7));
        column.push(None);
        assert_eq!((column.len(), column.count()), (1002, 1));
        assert_eq!((column.get(999), column.get(1000), column.get(1001)), (None, Some(7), None));
    }

    #[test]
    fn columns_are_filled_up_with_empty_cells() {
        let (mut null, mut some) = (Nullable::<u32>::default(), Nullable::<u32>::default());
        some.push(Some(3));
        let (mut plain, mut labels) = (vec![7_u64], Labels::default());
        let mut nullable = NullableLabels::default();
        nullable.push(Some("a"));
        null.fill(70);
        some.fill(70);
        Store::fill(&mut plain, 3);
        labels.fill(2);
        nullable.fill(2);
        assert!(null.is_all_null() && null.len() == 70 && null.get(69).is_none());
        assert_eq!((some.len(), some.count(), some.get(0)), (70, 1, Some(3)));
        assert_eq!((plain, labels.iter().collect::<Vec<_>>()), (vec![7, 0, 0], vec!["", ""]));
        assert_eq!(nullable.iter().collect::<Vec<_>>(), [Some("a"), None]);
        some.push(Some(4));
        some.fill(5);
        assert_eq!((some.len(), some.get(70)), (71, Some(4)));
    }

    #[test]
    fn appending_mixes_null_and_values() {
        let mut left = Nullable::<u32>::default();
        left.push(None);
        let mut right = Nullable::<u32>::default();
        right.push(Some(3));
        Store::append(&mut left, right.clone());
        Store::append(&mut left, right);
        assert_eq!(left.iter().collect::<Vec<_>>(), [None, Some(3), Some(3)]);
    }
}
