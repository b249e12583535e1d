//! Some of the CPUs, to be gone through without a look at each of the others.

/// Some of the CPUs, a bit each.
pub(super) struct CpuBits(Vec<u64>);

impl CpuBits {
    /// None of so many.
    pub(super) fn none(cpus: usize) -> CpuBits {
        CpuBits(vec![0; cpus.div_ceil(64)])
    }

    /// All of so many.
    pub(super) fn all(cpus: usize) -> CpuBits {
        let mut bits = CpuBits::none(cpus);
        for c in 0..cpus {
            bits.set(c, true);
        }
        bits
    }

    /// CPU `c` is one of them now, or is not any more.
    #[inline]
    pub(super) fn set(&mut self, c: usize, is_one: bool) {
        let (word, bit) = (c / 64, 1 << (c % 64));
        if is_one {
            self.0[word] |= bit;
        } else {
            self.0[word] &= !bit;
        }
    }

    /// By number, from `first` on and all around.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = usize> {
        let before = move |&c: &usize| c < first;
        self.beginning_with(first).chain(self.beginning_with(0).take_while(before))
    }

    /// The first from `first` on.
    #[inline]
    pub(super) fn next(&self, first: usize) -> Option<usize> {
        let (mut word, cut) = (first / 64, first % 64);
        let mut left = self.0.get(word)? >> cut << cut;
        while left == 0 {
            word += 1;
            left = *self.0.get(word)?;
        }
        Some(word * 64 + left.trailing_zeros() as usize)
    }

    /// By number, those from `first` on.
    #[inline]
    fn beginning_with(&self, mut first: usize) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let c = self.next(first)?;
            first = c + 1;
            Some(c)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_all_around() {
        let mut bits = CpuBits::all(130);
        assert_eq!(bits.from(0).count(), 130);
        for c in (0..130).filter(|c| ![3, 63, 64, 128, 129].contains(c)) {
            bits.set(c, false);
        }
        for (first, found) in [
            (0, [3, 63, 64, 128, 129]),
            (3, [3, 63, 64, 128, 129]),
            (4, [63, 64, 128, 129, 3]),
            (64, [64, 128, 129, 3, 63]),
            (129, [129, 3, 63, 64, 128]),
        ] {
            assert_eq!(bits.from(first).collect::<Vec<_>>(), found, "from {first}");
            assert_eq!(bits.next(first), Some(found[0]), "from {first}");
        }
    }
}
