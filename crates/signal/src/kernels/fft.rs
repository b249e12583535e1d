//! The discrete Fourier transform of a power of two samples: decimation in time, radix 2 (J. W.
//! Cooley and J. W. Tukey, Math. Comp. 19, 1965), in double precision, in place.

use std::f64::consts::TAU;

/// Real and imaginary part.
pub(super) type Complex = [f64; 2];

/// What the transform of one length needs.
pub(super) struct Fft {
    /// Where each input sample goes before the butterflies: its index with the bits reversed.
    pub(super) order: Vec<usize>,
    /// `exp(-2 pi i k / n)` for k below n / 2.
    pub(super) twiddles: Vec<Complex>,
}

impl Fft {
    /// For transforms of `n` samples, a power of two from 2.
    pub(super) fn new(n: usize) -> Fft {
        let unused = usize::BITS - n.trailing_zeros();
        let twiddle = |k: usize| {
            let angle = TAU * k as f64 / n as f64;
            [angle.cos(), -angle.sin()]
        };
        Fft {
            order: (0..n).map(|i| i.reverse_bits() >> unused).collect(),
            twiddles: (0..n / 2).map(twiddle).collect(),
        }
    }

    /// Transforms samples that are already in [`order`](Fft::order). `butterfly` replaces its two
    /// numbers `a` and `b` with `a + w b` and `a - w b`.
    #[inline(always)]
    pub(super) fn run<T>(&self, data: &mut [T], butterfly: impl Fn(&mut T, &mut T, Complex)) {
        let mut half = 1;
        while half < data.len() {
            let stride = data.len() / (2 * half);
            for pair in data.chunks_exact_mut(2 * half) {
                let (low, high) = pair.split_at_mut(half);
                let twiddles = self.twiddles.iter().step_by(stride);
                for ((a, b), &w) in low.iter_mut().zip(high).zip(twiddles) {
                    butterfly(a, b, w);
                }
            }
            half *= 2;
        }
    }
}

/// The butterfly of plain complex numbers.
#[inline(always)]
pub(super) fn butterfly(a: &mut Complex, b: &mut Complex, w: Complex) {
    let product = [w[0] * b[0] - w[1] * b[1], w[0] * b[1] + w[1] * b[0]];
    *b = [a[0] - product[0], a[1] - product[1]];
    *a = [a[0] + product[0], a[1] + product[1]];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_definition() {
        for n in [2_usize, 4, 8, 64] {
            let fft = Fft::new(n);
            let x: Vec<Complex> =
                (0..n).map(|i| [(i * i % 7) as f64, (i * 5 % 11) as f64]).collect();
            let mut data = vec![[0.0; 2]; n];
            for (value, &to) in x.iter().zip(&fft.order) {
                data[to] = *value;
            }
            fft.run(&mut data, butterfly);
            for (k, got) in data.iter().enumerate() {
                let mut want = [0.0; 2];
                for (t, v) in x.iter().enumerate() {
                    let (sin, cos) = (-TAU * (k * t % n) as f64 / n as f64).sin_cos();
                    want[0] += v[0] * cos - v[1] * sin;
                    want[1] += v[0] * sin + v[1] * cos;
                }
                assert!((got[0] - want[0]).hypot(got[1] - want[1]) < 1e-10, "n {n} k {k}");
            }
        }
    }
}
