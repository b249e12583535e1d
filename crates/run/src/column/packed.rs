//! Many numbers in little memory: a long recording has tens of millions of rows whose neighbours are
//! much alike.

use std::collections::TryReserveError;

use super::Store;

/// Rows that lie plainly: a column with fewer costs what a vector costs, in time and in memory.
const BLOCK: usize = 64 * 1024;

/// Rows with a base and a width in common. More, and times would spread further than their neighbours do;
/// fewer, and the heads would weigh.
const CHUNK: usize = 256;

/// A number that can be told by its bits.
pub trait Bits: Copy + Default + PartialEq {
    /// The number as bits; of close numbers they are close.
    fn to_bits(self) -> u64;
    /// The number of these bits.
    fn of_bits(bits: u64) -> Self;
}

/// The sign as the lowest half of the range: -1 and 1 are close.
const SIGN: u64 = 1 << 63;

macro_rules! bits {
    ($($type:ty: |$number:ident| $to:expr, |$bits:ident| $of:expr;)*) => {$(
        impl Bits for $type {
            fn to_bits(self) -> u64 {
                let $number = self;
                $to
            }
            fn of_bits($bits: u64) -> Self {
                $of
            }
        }
    )*};
}
bits! {
    u8: |number| u64::from(number), |bits| bits as u8;
    u32: |number| u64::from(number), |bits| bits as u32;
    u64: |number| number, |bits| bits;
    i32: |number| i64::from(number) as u64 ^ SIGN, |bits| (bits ^ SIGN) as i32;
    i64: |number| number as u64 ^ SIGN, |bits| (bits ^ SIGN) as i64;
    bool: |yes| u64::from(yes), |bits| bits == 1;
    f64: |number| number.to_bits(), |bits| f64::from_bits(bits);
}

/// Numbers, the last ones plainly, each full block before them packed: the distance from a line below its
/// neighbours, in as many bits as the largest distance needs.
#[derive(Debug, Clone)]
pub struct Packed<T> {
    blocks: Vec<Block<T>>,
    tail: Vec<T>,
}

#[derive(Debug, Clone)]
enum Block<T> {
    /// All of its numbers are this one.
    Same(T),
    Chunks {
        heads: Box<[Head]>,
        words: Box<[u64]>,
    },
}

/// How a chunk lies: number `row` of it is `base + slope * row` and as much as its bits say.
#[derive(Debug, Clone, Copy)]
struct Head {
    base: u64,
    /// What each row adds: times grow.
    slope: u32,
    /// The first word, and above it the bits of a number.
    place: u32,
}

/// Bits of [`Head::place`] that tell the first word: a block has fewer words than numbers.
const WORD_BITS: u32 = BLOCK.trailing_zeros() + 1;

impl Head {
    /// Of numbers that grow, with the bits that the rest of each needs; none where they differ too much or
    /// grow too fast. `flat` and `width` are what [`Head::flat`] gives.
    fn sloped(
        (flat, width): (Head, u32),
        bits: impl ExactSizeIterator<Item = u64> + Clone,
    ) -> Option<(Head, u32)> {
        let (first, last) = (bits.clone().next()?, bits.clone().last()?);
        let slope = last.checked_sub(first)?.checked_div(bits.len() as u64 - 1)?;
        let slope = u32::try_from(slope).ok().filter(|slope| *slope > 0 && width < 62)?;
        // A distance has fewer than 62 bits, and a line rises by fewer than 40.
        let rest =
            |(row, bits): (u64, u64)| (bits - flat.base) as i64 - (row * u64::from(slope)) as i64;
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for rest in (0..).zip(bits).map(rest) {
            (low, high) = (low.min(rest), high.max(rest));
        }
        let width = 64 - high.abs_diff(low).leading_zeros();
        Some((Head { base: flat.base.wrapping_add_signed(low), slope, place: 0 }, width))
    }

    /// Of any numbers.
    fn flat(bits: impl Iterator<Item = u64>) -> (Head, u32) {
        let (low, high) =
            bits.fold((u64::MAX, 0), |(low, high), bits| (bits.min(low), bits.max(high)));
        let width = 64 - high.saturating_sub(low).leading_zeros();
        (Head { base: low, slope: 0, place: 0 }, width)
    }

    #[inline]
    fn line(self, row: usize) -> u64 {
        self.base.wrapping_add(u64::from(self.slope) * row as u64)
    }

    #[inline]
    fn get(self, words: &[u64], row: usize) -> Option<u64> {
        let width = (self.place >> WORD_BITS) as usize;
        if width == 0 {
            return Some(self.line(row));
        }
        let (bit, first) = (row * width, self.place & ((1 << WORD_BITS) - 1));
        let (word, shift) = (first as usize + bit / 64, bit % 64);
        let mut bits = *words.get(word)? >> shift;
        if shift + width > 64 {
            bits |= *words.get(word + 1)? << (64 - shift);
        }
        Some(self.line(row).wrapping_add(bits & (u64::MAX >> (64 - width))))
    }
}

impl<T: Bits> Block<T> {
    /// Of a full block.
    fn of(numbers: &[T]) -> Block<T> {
        if let Some((&first, rest)) = numbers.split_first()
            && rest.iter().all(|number| number.to_bits() == first.to_bits())
        {
            return Block::Same(first);
        }
        // The room for the words is known before they are written: what is let go by parts stays a hole in
        // the heap.
        let mut heads = Vec::with_capacity(numbers.len().div_ceil(CHUNK));
        let mut room = 0;
        for chunk in numbers.chunks(CHUNK) {
            let bits = chunk.iter().map(|number| number.to_bits());
            let flat = Head::flat(bits.clone());
            let sloped = Head::sloped(flat, bits).filter(|sloped| sloped.1 < flat.1);
            let (head, width) = sloped.unwrap_or(flat);
            heads.push(Head { place: room as u32 | width << WORD_BITS, ..head });
            room += (chunk.len() * width as usize).div_ceil(64);
        }
        let mut words = Vec::with_capacity(room);
        for (chunk, head) in numbers.chunks(CHUNK).zip(&heads) {
            let width = head.place >> WORD_BITS;
            let (mut word, mut filled) = (0_u64, 0);
            for (row, number) in chunk.iter().enumerate().filter(|_| width > 0) {
                let bits = number.to_bits().wrapping_sub(head.line(row));
                word |= bits << filled;
                filled += width;
                if filled >= 64 {
                    words.push(word);
                    filled -= 64;
                    // What of the number did not fit; all of it did where nothing is left.
                    word = bits.checked_shr(width - filled).unwrap_or(0);
                }
            }
            if filled > 0 {
                words.push(word);
            }
        }
        Block::Chunks { heads: heads.into(), words: words.into() }
    }

    #[inline]
    fn get(&self, row: usize) -> Option<T> {
        match self {
            Block::Same(number) => Some(*number),
            Block::Chunks { heads, words } => {
                heads.get(row / CHUNK)?.get(words, row % CHUNK).map(T::of_bits)
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Block::Same(_) => 0,
            Block::Chunks { heads, words } => size_of_val(&**heads) + size_of_val(&**words),
        }
    }
}

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Packed { blocks: Vec::new(), tail: Vec::new() }
    }
}

impl<T: Bits> Packed<T> {
    /// Number `row`.
    #[inline(always)]
    pub fn get(&self, row: usize) -> Option<T> {
        // Most columns have no block, and are as fast as a vector.
        if self.blocks.is_empty() {
            return self.tail.get(row).copied();
        }
        self.get_far(row)
    }

    #[inline(never)]
    fn get_far(&self, row: usize) -> Option<T> {
        match self.blocks.get(row / BLOCK) {
            Some(block) => block.get(row % BLOCK),
            None => self.tail.get(row - self.blocks.len() * BLOCK).copied(),
        }
    }

    /// All numbers in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = T> + Clone + '_ {
        let packed = self.blocks.len() * BLOCK;
        let packed = (0..packed).map(|row| self.get_far(row).unwrap_or_default());
        packed.chain(self.tail.iter().copied())
    }

    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        self.blocks.len() * BLOCK + self.tail.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.tail.is_empty()
    }

    /// How many at the begin are as `is_before` says; behind the first that is not, none is.
    pub fn partition_point(&self, mut is_before: impl FnMut(T) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            match self.get(middle).is_some_and(&mut is_before) {
                true => from = middle + 1,
                false => to = middle,
            }
        }
        from
    }

    /// The first one.
    pub fn first(&self) -> Option<T> {
        self.get(0)
    }

    /// The last one.
    #[inline]
    pub fn last(&self) -> Option<T> {
        self.tail.last().copied().or_else(|| self.get(self.len().checked_sub(1)?))
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, number: T) {
        self.tail.push(number);
        if self.tail.len() == BLOCK {
            self.pack();
        }
    }

    #[cold]
    fn pack(&mut self) {
        self.blocks.push(Block::of(&self.tail));
        self.tail.clear();
    }

    /// Makes all of them `len`: the last go, or `number` is added.
    pub fn resize(&mut self, len: usize, number: T) {
        if len < self.len() {
            *self = self.iter().take(len).collect();
        }
        while self.len() < len {
            let room = (BLOCK - self.tail.len()).min(len - self.len());
            self.tail.resize(self.tail.len() + room, number);
            if self.tail.len() == BLOCK {
                self.pack();
            }
        }
    }

    /// Makes room for `additional` numbers, as far as they would lie plainly.
    pub(crate) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        let room = BLOCK - self.tail.len();
        self.tail.try_reserve_exact(additional.min(room))
    }

    /// The numbers as a vector.
    pub(crate) fn into_vec(self) -> Vec<T> {
        if self.blocks.is_empty() {
            return self.tail;
        }
        self.iter().collect()
    }

    /// What the numbers take of memory.
    pub fn bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Block::bytes).sum();
        blocks + self.blocks.len() * size_of::<Block<T>>() + self.tail.capacity() * size_of::<T>()
    }
}

impl<T: Bits> Extend<T> for Packed<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, numbers: I) {
        let mut numbers = numbers.into_iter();
        loop {
            // As vectors are extended: at a fraction of the price of one by one.
            let room = BLOCK - self.tail.len();
            self.tail.extend(numbers.by_ref().take(room));
            if self.tail.len() < BLOCK {
                return;
            }
            self.pack();
        }
    }
}

impl<T: Bits> FromIterator<T> for Packed<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        let mut packed = Packed::default();
        packed.extend(numbers);
        packed
    }
}

impl<T: Bits> PartialEq for Packed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: Bits + Eq> Eq for Packed<T> {}

impl<T: Bits> Store for Packed<T> {
    type Value = T;
    fn push(&mut self, value: T) {
        self.push(value);
    }
    fn value(&self, row: usize) -> Option<T> {
        self.get(row)
    }
    fn len(&self) -> usize {
        self.len()
    }
    fn append(&mut self, other: Self) {
        if self.is_empty() && self.tail.capacity() < other.len() {
            *self = other;
        } else {
            self.extend(other.iter());
        }
    }
    fn reserve(&mut self, additional: usize) {
        self.tail.reserve_exact(additional.min(BLOCK - self.tail.len()));
    }
    fn fill(&mut self, len: usize) {
        self.resize(len.max(self.len()), T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same<T: Bits + std::fmt::Debug>(numbers: &[T]) -> Packed<T> {
        let packed: Packed<T> = numbers.iter().copied().collect();
        let mut each = Packed::default();
        numbers.iter().for_each(|&number| each.push(number));
        let bits = |number: &T| number.to_bits();
        assert!(each.iter().map(|number| bits(&number)).eq(numbers.iter().map(bits)));
        assert!(packed.iter().map(|number| bits(&number)).eq(numbers.iter().map(bits)));
        assert_eq!(
            (packed.len(), packed.last().as_ref().map(bits)),
            (numbers.len(), numbers.last().map(bits))
        );
        assert!(packed.get(numbers.len()).is_none());
        packed
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(24))]
        #[test]
        fn numbers_of_every_width_come_back(
            seed in 1_u64.., widths in proptest::collection::vec(0_u32..=64, 1..8), rest in 0..2 * BLOCK,
        ) {
            let mut state = seed;
            let numbers: Vec<u64> = (0..BLOCK + rest).map(|row| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let width = widths[row / 700 % widths.len()];
                (state ^ state >> 31).checked_shr(64 - width).unwrap_or(0).wrapping_add(seed >> width.min(63))
            }).collect();
            same(&numbers);
            same(&numbers.iter().map(|&number| number as u32).collect::<Vec<_>>());
            same(&numbers.iter().map(|&number| number as i64).collect::<Vec<_>>());
            same(&numbers.iter().map(|&number| number as i32).collect::<Vec<_>>());
            same(&numbers.iter().map(|&number| number & 1 == 1).collect::<Vec<_>>());
            same(&numbers.iter().map(|&number| f64::from_bits(number)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_ends_of_the_ranges_come_back() {
        let ends = |row: usize| if row.is_multiple_of(3) { u64::MAX } else { 0 };
        same(&(0..BLOCK + 1).map(ends).collect::<Vec<_>>());
        same(
            &(0..BLOCK)
                .map(|row| if row.is_multiple_of(2) { i64::MIN } else { i64::MAX })
                .collect::<Vec<_>>(),
        );
        same(&vec![u64::MAX; 2 * BLOCK]);
        same::<u32>(&[]);
    }

    #[test]
    fn times_take_less_than_half_and_what_is_always_the_same_takes_nothing() {
        let times = same(&(0..32 * BLOCK as u64).map(|row| row * 1_700_003).collect::<Vec<_>>());
        assert!(times.bytes() < 32 * BLOCK, "{}", times.bytes());
        // In steps of 0 to 20 ms.
        let late =
            |row: u64| row * 10_000_000 + row.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 10_000_000;
        let times = same(&(0..32 * BLOCK as u64).map(late).collect::<Vec<_>>());
        assert!(times.bytes() < 32 * BLOCK * 4, "{}", times.bytes());
        let codes = same(&vec![7_u32; 32 * BLOCK]);
        assert!(codes.bytes() < BLOCK * 8, "{}", codes.bytes());
    }

    #[test]
    fn resizing_keeps_what_is_there() {
        let mut packed: Packed<u32> = (0..BLOCK as u32 + 5).collect();
        packed.resize(BLOCK + 9, 4);
        assert_eq!(
            (packed.get(BLOCK + 4), packed.get(BLOCK + 8), packed.len()),
            (Some(BLOCK as u32 + 4), Some(4), BLOCK + 9)
        );
        packed.resize(3 * BLOCK, 4);
        packed.resize(6, 0);
        assert_eq!(packed.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }
}
