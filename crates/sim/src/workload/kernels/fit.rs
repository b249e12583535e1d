//! Two unknowns from times at frequencies.

/// A time at a frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Delivered frequency.
    pub khz: f64,
    /// Execution time there.
    pub ns: f64,
}

/// Cost of a kernel on one kind of core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Cycles of that kind of core.
    pub cycles: f64,
    /// Time that does not scale with frequency, in nanoseconds; not negative.
    pub memory_ns: f64,
    /// Largest misfit to a point it was made from, as a fraction of its time.
    pub residual: f64,
}

impl Cost {
    /// Time at a frequency, in nanoseconds.
    pub fn time_ns(&self, khz: f64) -> f64 {
        self.cycles * 1e6 / khz + self.memory_ns
    }
}

/// The cost that fits `points` best: least squares of the *relative* misfit, so that short times
/// count as much as long ones. Neither part may be negative: where the data's noise asks for
/// that, the part is 0 and the other one fits alone. One frequency alone gives cycles only. None
/// without a usable point.
///
/// With `x = 1e6 / khz` (nanoseconds per cycle) and weights `1 / ns`, the normal equations are
///
/// ```text
/// cycles * sum(x^2 / ns^2) + memory * sum(x / ns^2) = sum(x / ns)
/// cycles * sum(x   / ns^2) + memory * sum(1 / ns^2) = sum(1 / ns)
/// ```
pub fn fit(points: &[Point]) -> Option<Cost> {
    let usable = |point: &&Point| {
        point.khz.is_finite() && point.khz > 0.0 && point.ns.is_finite() && point.ns > 0.0
    };
    let points: Vec<Point> = points.iter().filter(usable).copied().collect();
    if points.is_empty() {
        return None;
    }
    let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|point| term(1e6 / point.khz, point.ns)).sum()
    };
    let xx = sum(&|x, t| x * x / (t * t));
    let x1 = sum(&|x, t| x / (t * t));
    let one = sum(&|_, t| 1.0 / (t * t));
    let (xt, t1) = (sum(&|x, t| x / t), sum(&|_, t| 1.0 / t));
    let determinant = xx * one - x1 * x1;
    let both = (determinant > 1e-12 * xx * one)
        .then(|| ((xt * one - t1 * x1) / determinant, (t1 * xx - xt * x1) / determinant));
    let (cycles, memory_ns) = match both {
        Some((cycles, memory)) if cycles >= 0.0 && memory >= 0.0 => (cycles, memory),
        Some((cycles, _)) if cycles < 0.0 => (0.0, t1 / one),
        _ => (xt / xx, 0.0),
    };
    let mut cost = Cost { cycles, memory_ns, residual: 0.0 };
    let misfits = points.iter().map(|point| (cost.time_ns(point.khz) / point.ns - 1.0).abs());
    cost.residual = misfits.fold(0.0, f64::max);
    Some(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(khz: f64, ns: f64) -> Point {
        Point { khz, ns }
    }

    #[test]
    fn two_points_are_met_exactly() {
        let cost = fit(&[at(600e3, 68_300.0), at(3_204e3, 13_400.0)]).unwrap();
        assert!(cost.residual < 1e-12, "{cost:?}");
        assert!((cost.time_ns(600e3) - 68_300.0).abs() < 1e-6);
        assert!(cost.memory_ns > 0.0);
    }

    #[test]
    fn no_part_is_negative() {
        let faster_than_its_clock = fit(&[at(600e3, 904_800.0), at(3_204e3, 169_200.0)]).unwrap();
        assert_eq!(faster_than_its_clock.memory_ns, 0.0);
        assert!((1e-6..0.005).contains(&faster_than_its_clock.residual));
        let slower_at_speed = fit(&[at(1e6, 100.0), at(2e6, 110.0)]).unwrap();
        assert_eq!(slower_at_speed.cycles, 0.0);
    }

    #[test]
    fn one_frequency_gives_cycles_only_and_nothing_gives_nothing() {
        let cost = fit(&[at(2e6, 1_000.0), at(2e6, 1_000.0)]).unwrap();
        assert!((cost.cycles - 2_000.0).abs() < 1e-9 && cost.memory_ns == 0.0, "{cost:?}");
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[at(0.0, 5.0), at(f64::NAN, 5.0), at(1e6, -1.0)]), None);
    }
}
