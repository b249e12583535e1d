//! A quantity that holds until it changes.

use flyball_run::Packed;
use flyball_run::column::Bits;

/// Changes of a quantity, in order of time. Before the first change it is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps<T: Bits> {
    times: Packed<u64>,
    values: Packed<T>,
}

/// A stretch over which a quantity held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<T> {
    /// Its begin.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// The value; none where it was not yet known.
    pub value: Option<T>,
}

impl<T: Bits> Default for Steps<T> {
    fn default() -> Self {
        Steps { times: Packed::default(), values: Packed::default() }
    }
}

impl<T: Bits> Steps<T> {
    /// From points in any order; of several at one time the last counts. Points in order of time are not
    /// kept beside the steps.
    pub fn from_points(points: impl IntoIterator<Item = (u64, T)>) -> Steps<T> {
        let mut steps = Steps::default();
        let mut points = points.into_iter();
        let mut last: Option<(u64, T)> = None;
        while let Some(point) = points.next() {
            match last {
                Some(before) if point.0 < before.0 => {
                    let mut all: Vec<(u64, T)> =
                        steps.points().chain([before, point]).chain(points).collect();
                    all.sort_by_key(|point| point.0);
                    return Steps::from_points(all);
                }
                Some(before) if point.0 > before.0 => steps.push(before),
                _ => {}
            }
            last = Some(point);
        }
        last.into_iter().for_each(|last| steps.push(last));
        steps
    }

    fn push(&mut self, (t_ns, value): (u64, T)) {
        self.times.push(t_ns);
        self.values.push(value);
    }

    #[inline]
    fn point(&self, at: usize) -> Option<(u64, T)> {
        Some((self.times.get(at)?, self.values.get(at)?))
    }

    /// The points, ascending in time.
    pub fn points(&self) -> impl ExactSizeIterator<Item = (u64, T)> + Clone + use<'_, T> {
        (0..self.times.len()).map(|at| self.point(at).unwrap_or_default())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The value in force at a time.
    pub fn at(&self, t_ns: u64) -> Option<T> {
        let behind = self.times.partition_point(|point| point <= t_ns);
        behind.checked_sub(1).and_then(|last| self.values.get(last))
    }

    /// The stretch `from` to `to`, cut at every point; what lies before the first is unknown.
    pub fn segments(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = Segment<T>> + '_ {
        self.segments_near(&mut 0, from_ns, to_ns)
    }

    /// The same, for stretches one behind the other: `near` is where the one before was found.
    pub fn segments_near(
        &self,
        near: &mut usize,
        from_ns: u64,
        to_ns: u64,
    ) -> impl Iterator<Item = Segment<T>> + use<'_, T> {
        let mut next = self.first_behind(*near, from_ns);
        *near = next;
        let mut from = from_ns;
        let mut value = next.checked_sub(1).and_then(|last| self.values.get(last));
        std::iter::from_fn(move || {
            if from >= to_ns {
                return None;
            }
            let point = self.point(next).filter(|point| point.0 < to_ns);
            let segment = Segment { from_ns: from, to_ns: point.map_or(to_ns, |p| p.0), value };
            from = segment.to_ns;
            if let Some((_, changed)) = point {
                value = Some(changed);
                next += 1;
            }
            Some(segment)
        })
    }

    /// The number of points up to a time; looked for close behind `near` first.
    fn first_behind(&self, near: usize, t_ns: u64) -> usize {
        const CLOSE: usize = 8;
        let is_before = |at: usize| self.times.get(at).is_some_and(|point| point <= t_ns);
        if near == 0 || is_before(near - 1) {
            let close = (near..near + CLOSE).find(|&at| !is_before(at));
            if let Some(close) = close {
                return close;
            }
        }
        self.times.partition_point(|point| point <= t_ns)
    }

    /// The points where the value differs from the one before, with that one.
    pub fn changes(&self) -> impl Iterator<Item = (u64, Option<T>, T)> + '_ {
        let mut before = None;
        self.points().filter_map(move |(t, value)| {
            let was = before.replace(value);
            (was != Some(value)).then_some((t, was, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(steps: &Steps<u8>, from: u64, to: u64) -> Vec<(u64, u64, Option<u8>)> {
        steps.segments(from, to).map(|s| (s.from_ns, s.to_ns, s.value)).collect()
    }

    #[test]
    fn segments_cover_the_stretch_without_a_hole() {
        let steps = Steps::from_points(vec![(20, 2), (10, 1), (20, 3)]);
        assert_eq!(cut(&steps, 0, 30), [(0, 10, None), (10, 20, Some(1)), (20, 30, Some(3))]);
        assert_eq!(cut(&steps, 10, 20), [(10, 20, Some(1))]);
        assert_eq!(cut(&steps, 12, 12), []);
        assert_eq!(cut(&steps, 25, 26), [(25, 26, Some(3))]);
        assert_eq!(cut(&Steps::default(), 1, 2), [(1, 2, None)]);
    }

    #[test]
    fn where_the_one_before_was_found_changes_nothing() {
        let steps = Steps::from_points((0..40_u8).map(|n| (u64::from(n) * 10, n)));
        for near in [0, 1, 7, 39, 40, 90] {
            for (from, to) in [(0, 5), (5, 35), (75, 81), (200, 260), (395, 900), (77, 78)] {
                let close: Vec<_> = steps.segments_near(&mut { near }, from, to).collect();
                assert_eq!(close, steps.segments(from, to).collect::<Vec<_>>(), "{near} {from}");
                assert_eq!(close[0].value, steps.at(from));
            }
        }
    }

    #[test]
    fn a_repeated_value_is_no_change() {
        let steps = Steps::from_points(vec![(1, 5), (2, 5), (3, 6)]);
        assert_eq!(steps.changes().collect::<Vec<_>>(), [(1, None, 5), (3, Some(5), 6)]);
        assert_eq!((steps.at(0), steps.at(2), steps.at(9)), (None, Some(5), Some(6)));
    }
}
