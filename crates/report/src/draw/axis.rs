//! Scales and ticks.

use crate::text;

/// A mapping of values to positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    /// A linear scale; an empty or broken range becomes one of width 1.
    #[must_use]
    pub fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (low, high) =
            if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
        let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        Self { low, high, from, to, log: false }
    }

    /// A logarithmic scale; values that have no logarithm are drawn at the low end.
    #[must_use]
    pub fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = if low.is_finite() && low > 0.0 { low } else { 1e-3 };
        let high = if high.is_finite() && high > low * 1.000_001 { high } else { low * 1.1 };
        Self { low: low.ln(), high: high.ln(), from, to, log: true }
    }

    /// Position of `value`, held inside the scale.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let value = if value.is_finite() { value.clamp(self.low, self.high) } else { self.low };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Round values inside the scale, about `wanted` of them, with their labels.
    #[must_use]
    pub fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let values = if self.log { self.log_ticks(wanted) } else { self.linear_ticks(wanted) };
        values.into_iter().map(|v| (v, label(v))).collect()
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<f64> {
        let step = nice((self.high - self.low) / wanted.max(1) as f64);
        // A thousandth of a step forgives the rounding of ln and exp at the ends.
        let first = (self.low / step - 1e-3).ceil() as i64;
        let last = (self.high / step + 1e-3).floor() as i64;
        (first..=last).take(100).map(|i| i as f64 * step).collect()
    }

    /// 1, 2, 5 of each decade where that is about `wanted`; whole decades where it would be too
    /// many; a linear ladder where the range is under a decade.
    fn log_ticks(&self, wanted: usize) -> Vec<f64> {
        let (low, high) = (self.low.exp(), self.high.exp());
        let decades = (self.high - self.low) / std::f64::consts::LN_10;
        if decades < 1.0 {
            return Self { low, high, log: false, ..*self }.linear_ticks(wanted);
        }
        let steps: &[f64] =
            if decades * 3.0 <= wanted as f64 * 1.6 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (decades / wanted.max(1) as f64).ceil().max(1.0) as i32;
        let first = low.log10().floor() as i32;
        let last = high.log10().ceil() as i32;
        (first..=last)
            .filter(|e| e.rem_euclid(every) == 0)
            .flat_map(|e| steps.iter().map(move |s| s * 10f64.powi(e)))
            .filter(|v| (low * 0.999..=high * 1.001).contains(v))
            .collect()
    }
}

/// 1, 2, 2.5 or 5 times a power of ten, not under `step`.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= step * 0.999)
        .unwrap_or(10.0 * power)
}

/// A tick's label: no trailing zeros, thousands as `k`.
fn label(value: f64) -> String {
    let trim = |s: String| {
        if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_owned() } else { s }
    };
    match value.abs() {
        v if v >= 1e6 => format!("{}M", trim(text::number(value / 1e6, 2))),
        v if v >= 1e4 => format!("{}k", trim(text::number(value / 1e3, 1))),
        _ => trim(text::number(value, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, wanted: usize) -> Vec<String> {
        scale.ticks(wanted).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(Scale::linear(0.0, 763.0, 0.0, 1.0), 4), ["0", "200", "400", "600"]);
        assert_eq!(labels(Scale::log(10.0, 20_000.0, 0.0, 1.0), 4), ["10", "100", "1000", "10k"]);
        assert_eq!(
            labels(Scale::log(10.0, 15.0, 0.0, 1.0), 5),
            ["10", "11", "12", "13", "14", "15"]
        );
    }

    #[test]
    fn broken_ranges_still_map_inside() {
        for scale in [
            Scale::linear(f64::NAN, 1.0, 0.0, 10.0),
            Scale::linear(5.0, 5.0, 0.0, 10.0),
            Scale::log(0.0, 0.0, 0.0, 10.0),
            Scale::log(-1.0, f64::INFINITY, 0.0, 10.0),
        ] {
            for value in [f64::NAN, -1.0, 0.0, 1e300, f64::INFINITY] {
                let at = scale.at(value);
                assert!((0.0..=10.0).contains(&at), "{scale:?} maps {value} to {at}");
            }
            assert!(scale.ticks(5).len() < 30, "{scale:?}");
        }
    }
}
