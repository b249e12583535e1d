//! Which CPUs are idle, to be gone through without a look at each of the others.

/// CPUs that are idle, a bit each.
pub(super) struct IdleCpus(Vec<u64>);

impl IdleCpus {
    /// All of so many.
    pub(super) fn all(cpus: usize) -> IdleCpus {
        let mut idle = IdleCpus(vec![0; cpus.div_ceil(64)]);
        for c in 0..cpus {
            idle.set(c, true);
        }
        idle
    }

    /// CPU `c` is idle now, or is not any more.
    #[inline]
    pub(super) fn set(&mut self, c: usize, is_idle: bool) {
        let (word, bit) = (c / 64, 1 << (c % 64));
        if is_idle {
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

    /// By number, those from `first` on.
    fn beginning_with(&self, first: usize) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate().skip(first / 64);
        words.flat_map(move |(word, &bits)| {
            let cut = if word == first / 64 { first % 64 } else { 0 };
            let mut left = bits >> cut << cut;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (bit < 64).then(|| {
                    left &= left - 1;
                    word * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_all_around() {
        let mut idle = IdleCpus::all(130);
        assert_eq!(idle.from(0).count(), 130);
        for c in (0..130).filter(|c| ![3, 63, 64, 128, 129].contains(c)) {
            idle.set(c, false);
        }
        for (first, found) in [
            (0, [3, 63, 64, 128, 129]),
            (3, [3, 63, 64, 128, 129]),
            (4, [63, 64, 128, 129, 3]),
            (64, [64, 128, 129, 3, 63]),
            (129, [129, 3, 63, 64, 128]),
        ] {
            assert_eq!(idle.from(first).collect::<Vec<_>>(), found, "from {first}");
        }
    }
}
