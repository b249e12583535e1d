//! Second-order notch filter.
//!
//! A pair of zeros on the unit circle at the notch, and a pair of poles just inside of it. With
//! `w0 = 2 pi f0 / rate` and the -3 dB bandwidth `dw = w0 / q`:
//! ```text
//!   beta = tan(dw / 2)          gain = 1 / (1 + beta)
//!   b = gain * [1, -2 cos w0, 1]
//!   a = [1, -2 gain cos w0, 2 gain - 1]
//! ```
//! (S. J. Orfanidis, Introduction to Signal Processing, 1996, section 11.3.2; the same design as
//! `scipy.signal.iirnotch`.)

use std::f64::consts::TAU;

/// Coefficients of a second-order section; `a[0]` is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Biquad {
    /// Numerator.
    pub b: [f64; 3],
    /// Denominator.
    pub a: [f64; 3],
}

/// Notch at `f0_hz` with quality factor `q` for signals sampled at `rate_hz`.
pub fn iirnotch(f0_hz: f64, q: f64, rate_hz: f64) -> Biquad {
    let w0 = TAU * f0_hz / rate_hz;
    let gain = 1.0 / (1.0 + (w0 / q / 2.0).tan());
    let middle = -2.0 * gain * w0.cos();
    Biquad { b: [gain, middle, gain], a: [1.0, middle, 2.0 * gain - 1.0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_filter() {
        let Biquad { b, a } = iirnotch(60.0, 30.0, 160.0);
        let want_b = [0.9621952458291035, 1.3607495663024323, 0.9621952458291035];
        let want_a = [1.0, 1.3607495663024323, 0.9243904916582071];
        for (got, want) in b.iter().chain(&a).zip(want_b.iter().chain(&want_a)) {
            assert!((got - want).abs() < 1e-14, "{got} {want}");
        }
    }
}
