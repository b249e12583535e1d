//! Band-pass filter by the window method: the ideal (infinite) impulse response of the pass bands,
//! cut off by a Hamming window and scaled to gain 1 in the middle of the first band.
//!
//! With `m = n - (taps - 1) / 2` and edges as fractions of half the rate:
//! ```text
//!   h[n] = w[n] * sum over bands of (high sinc(high m) - low sinc(low m)),  sinc x = sin(pi x)/(pi x)
//!   h   /= sum over n of h[n] cos(pi m middle),                              middle = (low + high) / 2
//! ```
//! (Oppenheim and Schafer, Discrete-Time Signal Processing, section 7.5; the same design as
//! `scipy.signal.firwin(taps, bands, fs=rate, pass_zero=False)`.)

use super::hamming_symmetric;
use std::f64::consts::PI;

/// Impulse response of `taps` samples that passes `bands_hz` of a signal sampled at `rate_hz`.
///
/// Without bands there is nothing to pass, and the response is all zeros.
pub fn firwin_bandpass(taps: usize, bands_hz: &[[f64; 2]], rate_hz: f64) -> Vec<f64> {
    let half_rate = rate_hz / 2.0;
    let centre = (taps as f64 - 1.0) / 2.0;
    let mut response = hamming_symmetric(taps);
    for (n, value) in response.iter_mut().enumerate() {
        let m = n as f64 - centre;
        *value *= bands_hz
            .iter()
            .map(|&[low, high]| {
                let (low, high) = (low / half_rate, high / half_rate);
                high * sinc(high * m) - low * sinc(low * m)
            })
            .sum::<f64>();
    }
    if let Some(&[low, high]) = bands_hz.first() {
        let middle = (low + high) / 2.0 / half_rate;
        let gain: f64 = response
            .iter()
            .enumerate()
            .map(|(n, h)| h * (PI * (n as f64 - centre) * middle).cos())
            .sum();
        response.iter_mut().for_each(|h| *h /= gain);
    }
    response
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gain at a frequency, from the definition of the transfer function.
    fn gain(response: &[f64], hz: f64, rate_hz: f64) -> f64 {
        let (mut re, mut im) = (0.0, 0.0);
        for (n, h) in response.iter().enumerate() {
            let angle = 2.0 * PI * hz / rate_hz * n as f64;
            re += h * angle.cos();
            im += h * angle.sin();
        }
        re.hypot(im)
    }

    #[test]
    fn passes_the_band_and_stops_the_rest() {
        let response = firwin_bandpass(129, &[[8.0, 30.0]], 160.0);
        assert!((gain(&response, 19.0, 160.0) - 1.0).abs() < 1e-12);
        assert!((gain(&response, 12.0, 160.0) - 1.0).abs() < 0.01);
        assert!(gain(&response, 1.0, 160.0) < 0.01);
        assert!(gain(&response, 60.0, 160.0) < 0.01);
        let symmetric =
            response.iter().zip(response.iter().rev()).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(symmetric);
    }

    #[test]
    fn no_band_passes_nothing() {
        assert_eq!(firwin_bandpass(5, &[], 160.0), [0.0; 5]);
    }
}
