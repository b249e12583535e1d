//! A quantity over time that holds until it changes.

use serde::Serialize;

/// Most points of a curve in a view: more cannot be seen, and would make pages heavy.
const POINTS: usize = 4000;

/// One quantity of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// What it is of: a task, a clock domain.
    pub name: String,
    /// Unit of the values; empty for the capacity scale.
    pub unit: &'static str,
    /// The changes, ascending in time. Each value holds until the next.
    pub points: Vec<Point>,
    /// Until when the last value is known to hold, in milliseconds.
    pub until_ms: f64,
    /// Changes that were left out because more than 4000 cannot be seen; the lowest and the highest
    /// value of each stretch are kept.
    pub thinned: usize,
}

/// A value from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Milliseconds from the view's time zero.
    pub t_ms: f64,
    /// The value.
    pub value: f64,
}

/// The values of one column of a plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    pub low: f64,
    pub high: f64,
    pub last: f64,
}

impl Curve {
    /// From points in order of time.
    pub(super) fn new(
        name: String,
        unit: &'static str,
        points: impl Iterator<Item = Point> + Clone,
        until_ms: f64,
    ) -> Curve {
        let all = points.clone().count();
        let points = thin(points, all, until_ms);
        Curve { name, unit, thinned: all - points.len(), points, until_ms }
    }

    /// The highest value; 0 without points.
    pub fn max(&self) -> f64 {
        self.points.iter().map(|point| point.value).fold(0.0, f64::max)
    }

    /// The values in each of `count` equal columns from `from` to `to`; none where unknown.
    pub(super) fn columns(&self, from: f64, to: f64, count: usize) -> Vec<Option<Reach>> {
        let step = (to - from) / count.max(1) as f64;
        let mut points = self.points.iter().copied().peekable();
        let mut value = None;
        (0..count)
            .map(|column| {
                let (begin, end) = (from + step * column as f64, from + step * (column + 1) as f64);
                let mut reach: Option<Reach> = None;
                // A value that is replaced right at the begin does not belong to this column.
                while let Some(point) = points.next_if(|point| point.t_ms <= begin) {
                    value = Some(point.value);
                }
                if let Some(v) = value {
                    reach = Some(Reach { low: v, high: v, last: v });
                }
                while let Some(point) = points.next_if(|point| point.t_ms < end) {
                    let v = point.value;
                    value = Some(v);
                    let before = reach.unwrap_or(Reach { low: v, high: v, last: v });
                    reach =
                        Some(Reach { low: before.low.min(v), high: before.high.max(v), last: v });
                }
                reach.filter(|_| begin < self.until_ms)
            })
            .collect()
    }
}

/// Keeps the lowest and the highest point of each of many equal stretches, of `all` points.
fn thin(points: impl Iterator<Item = Point> + Clone, all: usize, until_ms: f64) -> Vec<Point> {
    let Some(first) = points.clone().next().filter(|_| all > POINTS) else {
        return points.collect();
    };
    let stretch = ((until_ms - first.t_ms) / (POINTS / 2) as f64).max(f64::MIN_POSITIVE);
    let bin = |point: &Point| ((point.t_ms - first.t_ms) / stretch) as usize;
    let mut kept = Vec::with_capacity(POINTS + 2);
    // The bin that is being read, with its lowest and its highest point.
    let mut open: Option<(usize, Point, Point)> = None;
    let mut keep = |(_, low, high): (usize, Point, Point)| {
        let mut pair = vec![low, high];
        pair.sort_by(|a, b| a.t_ms.total_cmp(&b.t_ms));
        pair.dedup();
        kept.extend(pair);
    };
    for point in points {
        match &mut open {
            Some((at, low, high)) if *at == bin(&point) => {
                if point.value.total_cmp(&low.value).is_lt() {
                    *low = point;
                }
                // Of equals the last is the highest, and the first the lowest.
                if point.value.total_cmp(&high.value).is_ge() {
                    *high = point;
                }
            }
            _ => open.replace((bin(&point), point, point)).into_iter().for_each(&mut keep),
        }
    }
    open.into_iter().for_each(keep);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)], until_ms: f64) -> Curve {
        let points = points.iter().map(|&(t_ms, value)| Point { t_ms, value });
        Curve::new("x".to_owned(), "", points, until_ms)
    }

    #[test]
    fn columns_show_all_values_and_nothing_unknown() {
        let columns = curve(&[(10.0, 1.0), (20.0, 5.0), (25.0, 2.0)], 40.0).columns(0.0, 50.0, 5);
        let reach = |low, high, last| Some(Reach { low, high, last });
        assert_eq!(
            columns,
            [None, reach(1.0, 1.0, 1.0), reach(2.0, 5.0, 2.0), reach(2.0, 2.0, 2.0), None]
        );
    }

    #[test]
    fn thinning_keeps_the_extremes() {
        let points: Vec<(f64, f64)> = (0..100_000)
            .map(|i| (f64::from(i), if i == 50_001 { 9.0 } else { f64::from(i % 3) }))
            .collect();
        let thin = curve(&points, 100_000.0);
        assert!(thin.points.len() <= POINTS + 2, "{}", thin.points.len());
        assert!((thin.max() - 9.0).abs() < 1e-12);
        assert_eq!(thin.thinned + thin.points.len(), 100_000);
    }
}
