//! What a CPU did, as stretches of time that do not overlap, and cutting them out of others.

/// Stretches of time in ascending order, none overlapping another, each with what it is.
#[derive(Clone, Debug)]
pub(super) struct Line<T>(Vec<(u64, u64, T)>);

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line(Vec::new())
    }
}

impl<T: Copy> Line<T> {
    /// From stretches in any order. Where two overlap, the one that began first keeps what they
    /// share: on one CPU that happens in damaged data alone.
    pub fn flat(mut stretches: Vec<(u64, u64, T)>) -> Line<T> {
        stretches.sort_by_key(|&(from, to, _)| (from, to));
        let mut flat: Vec<(u64, u64, T)> = Vec::with_capacity(stretches.len());
        for (from, to, what) in stretches {
            let from = flat.last().map_or(from, |last| from.max(last.1));
            if from < to {
                flat.push((from, to, what));
            }
        }
        Line(flat)
    }

    /// From stretches that may lie in one another: what began later interrupted the other, which
    /// goes on behind it.
    pub fn nested(mut stretches: Vec<(u64, u64, T)>) -> Line<T> {
        stretches.sort_by_key(|&(from, to, _)| (from, std::cmp::Reverse(to)));
        let mut flat: Vec<(u64, u64, T)> = Vec::with_capacity(stretches.len());
        let mut open: Vec<(u64, T)> = Vec::new();
        let mut at = 0;
        let mut upto = |at: &mut u64, to: u64, what: T| {
            if *at < to {
                flat.push((*at, to, what));
                *at = to;
            }
        };
        for (from, to, what) in stretches {
            while let Some(&(end, outer)) = open.last() {
                upto(&mut at, end.min(from), outer);
                if end > from {
                    break;
                }
                open.pop();
            }
            at = at.max(from);
            open.push((to, what));
        }
        while let Some((end, outer)) = open.pop() {
            upto(&mut at, end, outer);
        }
        Line(flat)
    }

    /// All stretches.
    #[cfg(test)]
    pub fn all(&self) -> &[(u64, u64, T)] {
        &self.0
    }

    /// The begin of the first stretch that begins at `t_ns` or later.
    pub fn next_begin(&self, t_ns: u64) -> Option<u64> {
        let at = self.0.partition_point(|&(from, ..)| from < t_ns);
        self.0.get(at).map(|stretch| stretch.0)
    }

    /// What `from` to `to` has in common with the stretches, in order.
    pub fn within(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, T)> + '_ {
        let first = self.0.partition_point(|&(_, end, _)| end <= from);
        let rest = self.0.get(first..).unwrap_or_default();
        rest.iter()
            .take_while(move |&&(begin, ..)| begin < to)
            .map(move |&(begin, end, what)| (begin.max(from), end.min(to), what))
            .filter(|&(begin, end, _)| begin < end)
    }
}

/// Takes out of `pieces` (ascending, not overlapping) what lies in `line`; `each` gets what was
/// taken.
pub(super) fn carve<T: Copy>(
    pieces: &mut Vec<(u64, u64)>,
    line: &Line<T>,
    mut each: impl FnMut(u64, u64, T),
) {
    let mut left = Vec::with_capacity(pieces.len());
    for &(from, to) in pieces.iter() {
        let mut at = from;
        for (begin, end, what) in line.within(from, to) {
            if at < begin {
                left.push((at, begin));
            }
            each(begin, end, what);
            at = end;
        }
        if at < to {
            left.push((at, to));
        }
    }
    *pieces = left;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_inner_interrupt_cuts_the_outer_one() {
        let line = Line::nested(vec![(10, 50, 'a'), (20, 30, 'b'), (25, 28, 'c'), (60, 70, 'd')]);
        let expected = [
            (10, 20, 'a'),
            (20, 25, 'b'),
            (25, 28, 'c'),
            (28, 30, 'b'),
            (30, 50, 'a'),
            (60, 70, 'd'),
        ];
        assert_eq!(line.all(), expected);
        assert_eq!(line.next_begin(51), Some(60));
        assert_eq!(line.within(26, 29).collect::<Vec<_>>(), [(26, 28, 'c'), (28, 29, 'b')]);
    }

    proptest! {
        #[test]
        fn carving_keeps_the_length_and_never_overlaps(
            raw in proptest::collection::vec((0u64..200, 0u64..40), 0..20),
            nested: bool, from in 0u64..100, length in 0u64..150,
        ) {
            let raw: Vec<_> = raw.into_iter().map(|(from, length)| (from, from + length, ())).collect();
            let covered = |t: u64| raw.iter().any(|&(from, to, ())| from <= t && t < to);
            let line = if nested { Line::nested(raw.clone()) } else { Line::flat(raw.clone()) };
            prop_assert!(line.all().windows(2).all(|pair| pair[0].1 <= pair[1].0));
            let mut pieces = vec![(from, from + length)];
            let mut taken = 0;
            carve(&mut pieces, &line, |begin, end, ()| taken += end - begin);
            let left: u64 = pieces.iter().map(|(from, to)| to - from).sum();
            prop_assert_eq!(left + taken, length);
            prop_assert_eq!(taken, (from..from + length).filter(|&t| covered(t)).count() as u64);
        }
    }
}
