//! A search for the best point of a box of whole numbers, where nothing is known of the function but
//! its values: a pattern search from several starts.
//!
//! From its point it looks one step up and one down in each direction, goes to the best of these if
//! that is better, else halves the steps; at steps of one it has arrived. A tunable goes over its
//! range evenly, or by factors where the range spans decades. The starts are the point that was given
//! and points of a Halton sequence, so that the same search gives the same answer.

use std::collections::BTreeMap;

/// One direction: a whole number from `min` to `max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
}

/// Ranges whose ends differ by more than this factor are gone over by factors.
const DECADES: f64 = 100.0;

/// Steps into which an axis is cut at first.
const FIRST_STEP: f64 = 0.25;

/// Steps are halved down to this share of the axis; the last ones are steps by one.
const LAST_STEP: f64 = 1e-4;

impl Axis {
    fn by_factors(&self) -> bool {
        self.min >= 0 && self.max as f64 > DECADES * (self.min as f64).max(1.0)
    }

    /// The value at a place from 0 to 1.
    fn value(&self, place: f64) -> i64 {
        let (min, max) = (self.min as f64, self.max as f64);
        let value = if self.by_factors() {
            // Over value + 1, so that 0 has a place.
            ((min + 1.0).ln() + place * ((max + 1.0).ln() - (min + 1.0).ln())).exp() - 1.0
        } else {
            min + place * (max - min)
        };
        (value.round() as i64).clamp(self.min, self.max)
    }

    /// The place of a value.
    fn place(&self, value: i64) -> f64 {
        let (min, max) = (self.min as f64, self.max as f64);
        let value = (value as f64).clamp(min, max);
        let place = if self.by_factors() {
            ((value + 1.0) / (min + 1.0)).ln() / ((max + 1.0) / (min + 1.0)).ln()
        } else {
            (value - min) / (max - min)
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The value a step away, at least by one.
    fn step(&self, value: i64, by: f64) -> i64 {
        let next = self.value((self.place(value) + by).clamp(0.0, 1.0));
        let least = if by > 0.0 { value.saturating_add(1) } else { value.saturating_sub(1) };
        let next = if by > 0.0 { next.max(least) } else { next.min(least) };
        next.clamp(self.min, self.max)
    }
}

/// The best point found, and how many were tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<R> {
    /// Its values, one per axis.
    pub point: Vec<i64>,
    /// How good it is.
    pub rank: R,
    /// Different points that were tried.
    pub tried: usize,
}

/// Gets several points at once and answers in their order; None is a point that cannot be.
pub type Evaluate<'a, R, E> = dyn FnMut(&[Vec<i64>]) -> Result<Vec<Option<R>>, E> + 'a;

/// Searches for the point with the smallest rank, from `start` and `restarts` further points, with
/// at most `budget` evaluations. `evaluate` gets several points at once and answers in their order;
/// None is a point that cannot be.
///
/// # Errors
/// The first error of `evaluate`.
pub fn search<R: PartialOrd + Clone, E>(
    axes: &[Axis],
    start: &[i64],
    restarts: usize,
    budget: usize,
    evaluate: &mut Evaluate<'_, R, E>,
) -> Result<Option<Found<R>>, E> {
    let mut evaluate = |points: &[Vec<i64>]| evaluate(points);
    let mut known = Known { values: BTreeMap::new(), budget, evaluate: &mut evaluate };
    let mut best: Option<(Vec<i64>, R)> = None;
    for number in 0..=restarts {
        let random = |(at, axis): (usize, &Axis)| axis.value(halton(number as u64, at));
        let point: Vec<i64> = match number {
            0 => start.iter().zip(axes).map(|(at, axis)| (*at).clamp(axis.min, axis.max)).collect(),
            _ => axes.iter().enumerate().map(random).collect(),
        };
        if let Some(found) = descend(axes, point, &mut known)?
            && best.as_ref().is_none_or(|(_, rank)| found.1 < *rank)
        {
            best = Some(found);
        }
    }
    let tried = known.values.len();
    Ok(best.map(|(point, rank)| Found { point, rank, tried }))
}

/// What was evaluated before is not evaluated again.
struct Known<'a, R, E> {
    values: BTreeMap<Vec<i64>, Option<R>>,
    budget: usize,
    evaluate: &'a mut Evaluate<'a, R, E>,
}

impl<R: Clone, E> Known<'_, R, E> {
    fn ranks(&mut self, points: &[Vec<i64>]) -> Result<Vec<Option<R>>, E> {
        let mut new: Vec<Vec<i64>> =
            points.iter().filter(|point| !self.values.contains_key(*point)).cloned().collect();
        new.sort();
        new.dedup();
        new.truncate(self.budget.saturating_sub(self.values.len()));
        if !new.is_empty() {
            let ranks = (self.evaluate)(&new)?;
            self.values.extend(new.into_iter().zip(ranks));
        }
        Ok(points.iter().map(|point| self.values.get(point).cloned().flatten()).collect())
    }
}

/// From one start to where no step is better.
fn descend<R: PartialOrd + Clone, E>(
    axes: &[Axis],
    mut point: Vec<i64>,
    known: &mut Known<'_, R, E>,
) -> Result<Option<(Vec<i64>, R)>, E> {
    let mut best = known.ranks(std::slice::from_ref(&point))?.pop().flatten();
    let mut step = FIRST_STEP;
    while known.values.len() < known.budget {
        let mut points = Vec::with_capacity(2 * axes.len());
        for (at, axis) in axes.iter().enumerate() {
            for by in [step, -step] {
                let mut next = point.clone();
                if let Some(value) = next.get_mut(at) {
                    *value = axis.step(*value, by);
                }
                points.push(next);
            }
        }
        let ranks = known.ranks(&points)?;
        let mut moved = false;
        for (next, rank) in points.into_iter().zip(ranks) {
            if let Some(rank) = rank
                && best.as_ref().is_none_or(|best| rank < *best)
            {
                (best, point, moved) = (Some(rank), next, true);
            }
        }
        match moved {
            true => {}
            // The last steps were by one: no neighbour is better.
            false if step < LAST_STEP => break,
            false => step /= 2.0,
        }
    }
    Ok(best.map(|rank| (point, rank)))
}

/// Number `n` of the Halton sequence in a dimension: even and without a pattern.
fn halton(mut n: u64, dimension: usize) -> f64 {
    const PRIMES: [u64; 8] = [2, 3, 5, 7, 11, 13, 17, 19];
    let base = PRIMES.get(dimension % PRIMES.len()).copied().unwrap_or(2);
    let (mut value, mut share) = (0.0, 1.0);
    while n > 0 {
        share /= base as f64;
        value += share * (n % base) as f64;
        n /= base;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(axes: &[Axis], start: &[i64], rank: impl Fn(&[i64]) -> Option<f64>) -> Found<f64> {
        let mut evaluate = |points: &[Vec<i64>]| -> Result<Vec<Option<f64>>, ()> {
            Ok(points.iter().map(|point| rank(point)).collect())
        };
        search(axes, start, 4, 2000, &mut evaluate).unwrap().unwrap()
    }

    #[test]
    fn a_bowl_has_one_bottom() {
        let axes = [Axis { min: 0, max: 100 }, Axis { min: -50, max: 50 }];
        let bowl = |p: &[i64]| Some(((p[0] - 37).pow(2) + 3 * (p[1] + 20).pow(2)) as f64);
        let found = find(&axes, &[90, 40], bowl);
        assert_eq!(found.point, [37, -20]);
        assert!(found.tried < 300, "{}", found.tried);
    }

    #[test]
    fn a_range_over_decades_goes_by_factors() {
        let axes = [Axis { min: 0, max: 10_000_000 }];
        let found = find(&axes, &[10_000_000], |p| Some((p[0] as f64 + 1.0).ln().powi(2)));
        assert_eq!(found.point, [0]);
        let far = find(&axes, &[1], |p| Some((p[0] as f64 / 70_000.0).ln().abs()));
        assert!((60_000..80_000).contains(&far.point[0]), "{far:?}");
    }

    #[test]
    fn a_second_valley_is_found_from_elsewhere() {
        let axes = [Axis { min: 10, max: 1000 }];
        let two = |p: &[i64]| {
            let (near, far) = ((p[0] - 100).abs(), (p[0] - 800).abs());
            Some((near + 50).min(far) as f64)
        };
        assert!((795..=805).contains(&find(&axes, &[90], two).point[0]));
    }

    #[test]
    fn what_cannot_be_is_left_out_and_the_budget_holds() {
        let axes = [Axis { min: 0, max: 1000 }];
        let found = find(&axes, &[0], |p| (p[0] % 2 == 0).then_some(-p[0] as f64));
        assert_eq!(found.point, [1000]);
        let mut count = 0;
        let mut evaluate = |points: &[Vec<i64>]| -> Result<Vec<Option<f64>>, ()> {
            count += points.len();
            Ok(points.iter().map(|point| Some(point[0] as f64)).collect())
        };
        search(&axes, &[500], 9, 7, &mut evaluate).unwrap();
        assert!(count <= 7, "{count}");
    }
}
