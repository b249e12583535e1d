//! When something happens next: a time for each of the machine's slots, and the earliest of them.
//!
//! Few slots are searched for each event. Many are in blocks, and the first of each block is kept, so that with
//! hundreds of CPUs few are looked at, too.

use std::hint::select_unpredictable;

/// Slots in a block, where that makes no more than [`MOST_BLOCKS`].
const BLOCK: usize = 16;

/// One bit each says which blocks have changed.
const MOST_BLOCKS: usize = 64;

/// Times by slot; `u64::MAX`: never.
pub(super) struct Agenda {
    times: Vec<u64>,
    /// Slots per block, as a power of two.
    shift: u32,
    /// The earliest time of each block, and its slot.
    firsts: Vec<(u64, usize)>,
    /// Blocks of which the first is not known.
    changed: u64,
}

impl Agenda {
    /// Nothing ever happens in any of `slots`.
    pub(super) fn new(slots: usize) -> Agenda {
        let size = slots.div_ceil(MOST_BLOCKS).max(BLOCK).next_power_of_two();
        let firsts = (0..slots).step_by(size).map(|slot| (u64::MAX, slot)).collect();
        Agenda { times: vec![u64::MAX; slots], shift: size.trailing_zeros(), firsts, changed: 0 }
    }

    /// What is next in `slot` is at this time.
    #[inline]
    pub(super) fn set(&mut self, slot: usize, at: u64) {
        let before = std::mem::replace(&mut self.times[slot], at);
        if before != at && self.firsts.len() > 1 {
            self.mark_block(slot, at);
        }
    }

    /// Marks the block of `slot`, which is at another time now, where its first is no longer known.
    #[inline(never)]
    fn mark_block(&mut self, slot: usize, at: u64) {
        let block = slot >> self.shift;
        let (first, its_slot) = self.firsts[block];
        if slot == its_slot || (at, slot) < (first, its_slot) {
            self.changed |= 1 << block;
        }
    }

    /// The time of `slot`.
    #[inline]
    pub(super) fn at(&self, slot: usize) -> u64 {
        self.times[slot]
    }

    /// The earliest time, and the first slot that has it.
    #[inline]
    pub(super) fn earliest(&mut self) -> (u64, usize) {
        if let [_] = self.firsts[..] { first_of(0, &self.times) } else { self.earliest_block() }
    }

    fn earliest_block(&mut self) -> (u64, usize) {
        while self.changed != 0 {
            let block = self.changed.trailing_zeros() as usize;
            self.changed &= self.changed - 1;
            let from = block << self.shift;
            let to = self.times.len().min(from + (1 << self.shift));
            self.firsts[block] = first_of(from, &self.times[from..to]);
        }
        self.firsts.iter().fold((u64::MAX, 0), |first, &other| earlier(first, other))
    }
}

/// The earliest of these times, whose slots begin with `from`.
#[inline]
fn first_of(from: usize, times: &[u64]) -> (u64, usize) {
    let mut first = (u64::MAX, from);
    let (fours, rest) = times.as_chunks::<4>();
    let mut slot = from;
    for &[a, b, c, d] in fours {
        let of_two = earlier((a, slot), (b, slot + 1));
        first = earlier(first, earlier(of_two, earlier((c, slot + 2), (d, slot + 3))));
        slot += 4;
    }
    for &at in rest {
        first = earlier(first, (at, slot));
        slot += 1;
    }
    first
}

/// The earlier of two, the first of equal ones. Which it is cannot be predicted.
#[inline]
fn earlier(a: (u64, usize), b: (u64, usize)) -> (u64, usize) {
    let is_second = b.0 < a.0;
    (select_unpredictable(is_second, b.0, a.0), select_unpredictable(is_second, b.1, a.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever was set before, it is the first slot of those with the least time.
        #[test]
        fn the_earliest_is_that_of_a_search(
            slots in 1_usize..3000,
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), 0_u64..9), 1..60),
        ) {
            let mut agenda = Agenda::new(slots);
            let mut times = vec![u64::MAX; slots];
            prop_assert_eq!(agenda.earliest().0, u64::MAX);
            for (slot, at) in changes {
                let slot = slot.index(slots);
                let at = if at == 0 { u64::MAX } else { at };
                agenda.set(slot, at);
                times[slot] = at;
                prop_assert_eq!(agenda.at(slot), at);
                if at % 3 == 0 {
                    let searched = times.iter().copied().zip(0..).min().unwrap();
                    let found = agenda.earliest();
                    prop_assert_eq!(found.0, searched.0);
                    prop_assert!(found.0 == u64::MAX || found == searched);
                }
            }
        }
    }
}
