//! Window functions (Harris, "On the use of windows for harmonic analysis", Proc. IEEE 66, 1978).

use std::f64::consts::TAU;

/// Periodic Hann window, `0.5 - 0.5 cos(2 pi n / len)`: the form for spectra.
pub fn hann_periodic(len: usize) -> Vec<f64> {
    (0..len).map(|n| 0.5 - 0.5 * (TAU * n as f64 / len as f64).cos()).collect()
}

/// Symmetric Hamming window, `0.54 - 0.46 cos(2 pi n / (len - 1))`: the form for filter design.
pub fn hamming_symmetric(len: usize) -> Vec<f64> {
    if len == 1 {
        return vec![1.0];
    }
    (0..len).map(|n| 0.54 - 0.46 * (TAU * n as f64 / (len - 1) as f64).cos()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert!(hann_periodic(0).is_empty());
        assert_eq!(hann_periodic(4), [0.0, 0.49999999999999994, 1.0, 0.5000000000000001]);
        let hamming = hamming_symmetric(5);
        for (got, want) in hamming.iter().zip([0.08, 0.54, 1.0, 0.54, 0.08]) {
            assert!((got - want).abs() < 1e-15);
        }
        assert_eq!(hamming_symmetric(1), [1.0]);
    }
}
