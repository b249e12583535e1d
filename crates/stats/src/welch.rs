//! Welch's t: over windows as the sources do, and over repeats as it should be.

use crate::quantile::median_in_place;
use crate::summary::{mean, sample_sd};
use crate::{Cell, StatsError};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A t test of the difference of mean log latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TTest {
    /// What was tested on what.
    pub method: String,
    /// The t statistic; the largest f64 where neither side varies and the means differ.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Two-sided p-value.
    pub p_value: f64,
    /// Ratio of geometric means, `a` over `b`.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub low: f64,
    /// 95 % interval of the ratio.
    pub high: f64,
    /// Observations of `a` and of `b`.
    pub n: [usize; 2],
}

/// Welch's t on the logarithm of all windows: what the sources print. It takes windows for
/// independent, which they are not; [`crate::effective_size`] says how far.
///
/// # Errors
/// Fewer than two windows on a side.
pub fn welch_windows(a: &Cell, b: &Cell) -> Result<TTest, StatsError> {
    let logs = |cell: &Cell| -> Vec<f64> { cell.values().map(f64::ln).collect() };
    welch("Welch's t on log latency over windows, taken as independent", &logs(a), &logs(b))
}

/// Welch's t on the logarithm of the repeats' medians.
///
/// # Errors
/// Fewer than two repeats on a side.
pub fn welch_repeats(a: &Cell, b: &Cell) -> Result<TTest, StatsError> {
    let method = "Welch's t on the logarithm of the repeats' medians";
    welch(method, &repeat_log_medians(a), &repeat_log_medians(b))
}

/// Paired t on the logarithm of the repeats' medians, repeat by repeat: for conditions that were
/// measured in blocks.
///
/// # Errors
/// Fewer than two repeats, or different numbers of them.
pub fn paired_repeats(a: &Cell, b: &Cell) -> Result<TTest, StatsError> {
    let (first, second) = (repeat_log_medians(a), repeat_log_medians(b));
    if first.len() != second.len() {
        let (expected, found) = (first.len(), second.len());
        return Err(StatsError::Shape { what: "repeats of a pair", expected, found });
    }
    let differences: Vec<f64> = first.iter().zip(&second).map(|(x, y)| x - y).collect();
    let moments = Moments::of(&differences)?;
    let n = [first.len(), second.len()];
    let method = "paired t on the logarithm of the repeats' medians";
    Ok(t_test(method, moments.mean, moments.variance_of_mean, moments.n - 1.0, n))
}

/// Natural logarithm of each repeat's median.
pub(crate) fn repeat_log_medians(cell: &Cell) -> Vec<f64> {
    cell.repeats().iter().map(|repeat| median_in_place(&mut repeat.clone()).ln()).collect()
}

struct Moments {
    n: f64,
    mean: f64,
    variance_of_mean: f64,
}

impl Moments {
    fn of(values: &[f64]) -> Result<Moments, StatsError> {
        let (n, centre) = (values.len() as f64, mean(values));
        let Some(sd) = sample_sd(values, centre) else {
            let found = values.len();
            return Err(StatsError::TooFew { what: "t test", expected: 2, found });
        };
        // Equal values: what is left after centring is rounding, not spread.
        let constant = values.iter().all(|&v| v == values[0]);
        let variance_of_mean = if constant { 0.0 } else { sd * sd / n };
        Ok(Moments { n, mean: centre, variance_of_mean })
    }
}

/// B. L. Welch, "The generalization of Student's problem when several different population
/// variances are involved", Biometrika 34, 1947.
fn welch(method: &str, a: &[f64], b: &[f64]) -> Result<TTest, StatsError> {
    let (x, y) = (Moments::of(a)?, Moments::of(b)?);
    let (u, v) = (x.variance_of_mean, y.variance_of_mean);
    let variance = u + v;
    let df = if variance > 0.0 {
        variance * variance / (u * u / (x.n - 1.0) + v * v / (y.n - 1.0))
    } else {
        x.n + y.n - 2.0
    };
    Ok(t_test(method, x.mean - y.mean, variance, df, [a.len(), b.len()]))
}

/// The test of a mean difference with a known variance of it.
fn t_test(method: &str, difference: f64, variance: f64, df: f64, n: [usize; 2]) -> TTest {
    let error = variance.sqrt();
    let t = match (difference == 0.0, error > 0.0) {
        (true, _) => 0.0,
        (false, true) => difference / error,
        (false, false) => difference.signum() * f64::MAX,
    };
    let (p_value, quantile) = StudentsT::new(0.0, 1.0, df.max(1.0))
        .map_or((1.0, f64::MAX), |student| {
            (2.0 * student.cdf(-t.abs()), student.inverse_cdf(0.975))
        });
    TTest {
        method: method.to_owned(),
        t,
        df,
        p_value: p_value.min(1.0),
        ratio: difference.exp(),
        low: (difference - quantile * error).exp(),
        high: (difference + quantile * error).exp(),
        n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```python
    /// a, b = np.log([10, 11, 12, 14.]), np.log([15, 13, 18, 16, 17.])
    /// r = scipy.stats.ttest_ind(a, b, equal_var=False); r.statistic, r.df, r.pvalue
    /// np.exp(r.confidence_interval(.95))
    /// r = scipy.stats.ttest_rel(a, b[:4])
    /// ```
    #[test]
    fn agrees_with_scipy() {
        let single = |values: &[f64]| Cell::new(values.iter().map(|&v| vec![v]).collect()).unwrap();
        let (a, b) = (single(&[10.0, 11.0, 12.0, 14.0]), single(&[15.0, 13.0, 18.0, 16.0, 17.0]));
        let close = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-9, "{x} {y}");
        for test in [welch_windows(&a, &b).unwrap(), welch_repeats(&a, &b).unwrap()] {
            close(test.t, -3.276188019364005);
            close(test.df, 6.104208481833987);
            close(test.p_value, 0.016487925855130234);
            close(test.low, 0.5950143481453947);
            close(test.high, 0.9265591236574787);
        }
        let test = paired_repeats(&a, &single(&[15.0, 13.0, 18.0, 16.0])).unwrap();
        close(test.t, -3.756183262744525);
        close(test.p_value, 0.032976170558748796);
        assert!(paired_repeats(&a, &b).is_err());
    }

    #[test]
    fn constant_sides() {
        let two = Cell::new(vec![vec![2.0], vec![2.0]]).unwrap();
        let three = Cell::new(vec![vec![3.0], vec![3.0]]).unwrap();
        assert_eq!(welch_repeats(&two, &two).unwrap().p_value, 1.0);
        let test = welch_repeats(&two, &three).unwrap();
        assert!(test.p_value < 1e-6 && test.t < 0.0);
        let one = Cell::new(vec![vec![2.0]]).unwrap();
        assert!(welch_repeats(&one, &two).is_err());
    }
}
