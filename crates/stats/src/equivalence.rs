//! Equal within a margin: "not significant" is not "equal".

use crate::{Estimate, StatsError};
use serde::{Deserialize, Serialize};

/// Where a ratio's interval lies relative to 1 and to the margin around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Equivalence {
    /// Lower bound of what counts as equal: 1 / (1 + margin).
    pub lower_bound: f64,
    /// Upper bound of what counts as equal: 1 + margin.
    pub upper_bound: f64,
    /// The whole interval is inside the bounds.
    pub equivalent: bool,
    /// The interval excludes 1.
    pub differs: bool,
}

/// Two one-sided tests by way of the interval (Schuirmann 1987): a ratio is equivalent when its
/// whole interval lies inside the margin. With a 95 % interval each one-sided test is at 2.5 %,
/// stricter than the customary 5 %.
///
/// # Errors
/// A margin that is not finite or not above zero.
pub fn equivalence(ratio: &Estimate, margin: f64) -> Result<Equivalence, StatsError> {
    if !(margin.is_finite() && margin > 0.0) {
        let expected = "a finite number above 0, such as 0.02";
        return Err(StatsError::OutOfRange { name: "margin", expected, found: margin });
    }
    let (lower_bound, upper_bound) = (1.0 / (1.0 + margin), 1.0 + margin);
    Ok(Equivalence {
        lower_bound,
        upper_bound,
        equivalent: (ratio.interval())
            .is_some_and(|(low, high)| low >= lower_bound && high <= upper_bound),
        differs: ratio.excludes(1.0),
    })
}
