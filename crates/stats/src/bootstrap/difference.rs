//! Differences of means, for quantities that may be zero: shares of time, counts per second.

use super::BootstrapOptions;
use super::interval::{Part, interval};
use crate::rng::Rng;
use crate::summary::mean;
use crate::{Estimate, Resampled, StatsError};

/// The difference of the means, `a` minus `b`, each value one independent unit: a repetition or a
/// block of time. Units are drawn with replacement; the interval is the one of ratios (expanded
/// percentile; Student's t below 5 units), here on the values themselves.
///
/// # Errors
/// No value on a side, one that is not finite, or options outside their range.
pub fn difference(
    a: &[f64],
    b: &[f64],
    options: &BootstrapOptions,
) -> Result<Resampled, StatsError> {
    options.check()?;
    for side in [a, b] {
        if side.is_empty() {
            return Err(StatsError::TooFew { what: "side of a difference", expected: 1, found: 0 });
        }
        if let Some(found) = side.iter().find(|value| !value.is_finite()) {
            let (name, expected) = ("value of a difference", "a finite number");
            return Err(StatsError::OutOfRange { name, expected, found: *found });
        }
    }
    // `interval` takes logarithms: the values stand for these, scaled so that no power overflows.
    let largest = a.iter().chain(b).fold(0.0_f64, |most, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let value = (mean(a) - mean(b)) / scale;
    let part = |side: &[f64], sign: f64, number: u64| Part {
        logs: (0..options.replicates)
            .map(|replicate| {
                let mut rng = Rng::new(options.seed, number << 32 | u64::from(replicate));
                let drawn = (0..side.len()).map(|_| side[rng.below(side.len())]);
                sign * drawn.sum::<f64>() / side.len() as f64 / scale
            })
            .collect(),
        units: side.len(),
        repeats: side.len(),
        scheme: format!("{} units", side.len()),
    };
    let found = interval(value.exp(), &[part(a, 1.0, 0), part(b, -1.0, 1)], options);
    let back = |end: f64| end.ln() * scale;
    let estimate = Estimate {
        value: mean(a) - mean(b),
        low: found.estimate.low.map(back),
        high: found.estimate.high.map(back),
    };
    Ok(Resampled { estimate, ..found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_differ_or_do_not() {
        let options = BootstrapOptions::default();
        let side = |base: f64| -> Vec<f64> {
            (0..20).map(|i| base + 0.01 * f64::from((i * 7) % 11)).collect()
        };
        let found = difference(&side(0.4), &side(0.1), &options).unwrap();
        assert!((found.estimate.value - 0.3).abs() < 1e-12);
        let (low, high) = found.estimate.interval().unwrap();
        assert!(low > 0.27 && low < 0.3 && high > 0.3 && high < 0.33);
        let same = difference(&side(0.4), &side(0.4), &options).unwrap();
        assert!(same.estimate.covers(0.0) && same.reliable);
        let thousands: Vec<f64> = side(0.4).iter().map(|v| v * 1e6).collect();
        let scaled = difference(&thousands, &[0.0; 20], &options).unwrap();
        let (low, high) = scaled.estimate.interval().unwrap();
        assert!(high < 5e5 && low > 4e5, "{scaled:?}");
    }

    #[test]
    fn zeros_and_single_units_have_honest_intervals() {
        let options = BootstrapOptions::default();
        let nothing = difference(&[0.0; 6], &[0.0; 6], &options).unwrap();
        assert_eq!(nothing.estimate, Estimate::between(0.0, 0.0, 0.0));
        let single = difference(&[1.0], &[0.0, 0.5], &options).unwrap();
        assert_eq!(single.estimate, Estimate::bare(0.75));
        assert!(difference(&[], &[1.0], &options).is_err());
        assert!(difference(&[f64::NAN], &[1.0], &options).is_err());
    }

    /// 95 % intervals of a difference of normal-like means hold the truth about 95 % of the time.
    #[test]
    fn coverage_is_what_it_says() {
        let options = BootstrapOptions { replicates: 400, ..BootstrapOptions::default() };
        let mut rng = Rng::new(7, 0);
        let mut draw = |mean: f64| mean + (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
        let trials = 400;
        let held = (0..trials).filter(|_| {
            let a: Vec<f64> = (0..12).map(|_| draw(5.0)).collect();
            let b: Vec<f64> = (0..12).map(|_| draw(3.0)).collect();
            let found = difference(&a, &b, &options).unwrap();
            found.estimate.covers(2.0)
        });
        let share = held.count() as f64 / f64::from(trials);
        assert!((0.92..=0.98).contains(&share), "{share}");
    }
}
