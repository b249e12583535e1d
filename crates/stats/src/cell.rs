//! A cell: the latencies of one workload under one condition, kept apart by repeat.

use crate::StatsError;

/// Latencies of one workload under one condition: repeats in order of execution, and within each
/// repeat the windows in order of execution. All values are finite and above zero, since latency
/// is compared on its logarithm. The unit is the caller's; no function here depends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    repeats: Vec<Vec<f64>>,
}

impl Cell {
    /// Repeats in order of execution; empty ones are dropped.
    ///
    /// # Errors
    /// No value at all, or one that is not finite or not above zero.
    pub fn new(repeats: Vec<Vec<f64>>) -> Result<Cell, StatsError> {
        let mut index = 0;
        for &value in repeats.iter().flatten() {
            check_positive("cell", index, value)?;
            index += 1;
        }
        if index == 0 {
            return Err(StatsError::TooFew { what: "cell", expected: 1, found: 0 });
        }
        Ok(Cell { repeats: repeats.into_iter().filter(|r| !r.is_empty()).collect() })
    }

    /// The repeats, none of them empty.
    pub fn repeats(&self) -> &[Vec<f64>] {
        &self.repeats
    }

    /// Number of windows over all repeats; at least one.
    pub fn windows(&self) -> usize {
        self.repeats.iter().map(Vec::len).sum()
    }

    /// All values in order of execution.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.repeats.iter().flatten().copied()
    }

    /// All values, ascending.
    pub fn sorted(&self) -> Vec<f64> {
        let mut values: Vec<f64> = self.values().collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    /// The windows for which `keep(repeat, index within it, value)` holds; `None` when none does.
    pub fn filter(&self, mut keep: impl FnMut(usize, usize, f64) -> bool) -> Option<Cell> {
        let repeats: Vec<Vec<f64>> = (self.repeats.iter().enumerate())
            .map(|(repeat, values)| {
                let kept = values.iter().enumerate().filter(|&(i, &v)| keep(repeat, i, v));
                kept.map(|(_, &v)| v).collect()
            })
            .filter(|values: &Vec<f64>| !values.is_empty())
            .collect();
        (!repeats.is_empty()).then_some(Cell { repeats })
    }
}

/// Refuses what has no logarithm.
pub(crate) fn check_positive(
    what: &'static str,
    index: usize,
    value: f64,
) -> Result<(), StatsError> {
    if !value.is_finite() {
        return Err(StatsError::NotFinite { what, index, value: value.to_string() });
    }
    if value <= 0.0 {
        return Err(StatsError::NotPositive { what, index, value });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_has_no_logarithm() {
        assert!(matches!(Cell::new(vec![]), Err(StatsError::TooFew { .. })));
        assert!(matches!(Cell::new(vec![vec![], vec![]]), Err(StatsError::TooFew { .. })));
        let error = Cell::new(vec![vec![1.0], vec![2.0, 0.0]]).unwrap_err();
        assert_eq!(error, StatsError::NotPositive { what: "cell", index: 2, value: 0.0 });
        assert!(matches!(Cell::new(vec![vec![f64::NAN]]), Err(StatsError::NotFinite { .. })));
    }

    #[test]
    fn drops_empty_repeats_and_filters() {
        let cell = Cell::new(vec![vec![3.0, 1.0], vec![], vec![2.0]]).unwrap();
        assert_eq!(cell.repeats().len(), 2);
        assert_eq!(cell.windows(), 3);
        assert_eq!(cell.sorted(), [1.0, 2.0, 3.0]);
        assert_eq!(cell.filter(|_, _, v| v < 2.5).unwrap().windows(), 2);
        assert!(cell.filter(|_, _, _| false).is_none());
    }
}
