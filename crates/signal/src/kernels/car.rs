//! `car`: common average reference. From each sample, the mean over the channels is subtracted.
//!
//! The mean is taken over the channels that are finite numbers, in double precision; the others
//! become 0. A sample without any finite channel becomes all zeros.

use super::Compute;
use crate::rows::{LANES, widen, widen_part};
use crate::{Form, Params};
use pulp::{Arch, Simd, WithSimd};

pub(super) fn new(params: &Params, form: Form, arch: Arch) -> Box<dyn Compute> {
    let channels = params.channels;
    match form {
        Form::Reference => Box::new(Reference { channels }),
        Form::Fast => Box::new(Fast { channels, arch }),
    }
}

struct Reference {
    channels: usize,
}

impl Compute for Reference {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let samples = window.chunks_exact(self.channels);
        let mut missing = 0;
        for (sample, out) in samples.zip(output.chunks_exact_mut(self.channels)) {
            let mut sum = 0.0;
            let mut finite = 0_u32;
            for &x in sample {
                if x.is_finite() {
                    sum += f64::from(x);
                    finite += 1;
                }
            }
            missing += self.channels as u32 - finite;
            let mean = sum / f64::from(finite.max(1));
            for (y, &x) in out.iter_mut().zip(sample) {
                *y = if x.is_finite() { (f64::from(x) - mean) as f32 } else { 0.0 };
            }
        }
        missing
    }
}

struct Fast {
    channels: usize,
    arch: Arch,
}

impl Compute for Fast {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        self.arch.dispatch(SubtractMeans { channels: self.channels, window, output })
    }
}

/// A whole window.
struct SubtractMeans<'a> {
    channels: usize,
    window: &'a [f32],
    output: &'a mut [f32],
}

impl WithSimd for SubtractMeans<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u32 {
        let mut missing = 0;
        let samples = self.window.chunks_exact(self.channels);
        for (sample, out) in samples.zip(self.output.chunks_exact_mut(self.channels)) {
            missing += subtract_mean(sample, out);
        }
        missing
    }
}

/// One sample of all channels, eight lanes at a time; returns how many were not finite.
#[inline(always)]
fn subtract_mean(sample: &[f32], out: &mut [f32]) -> u32 {
    let mut sums = [0.0; LANES];
    let mut missing = [0; LANES];
    let (whole, rest) = sample.as_chunks::<LANES>();
    for part in whole {
        let row = widen(part, &mut missing);
        for (sum, x) in sums.iter_mut().zip(row.0) {
            *sum += x;
        }
    }
    if !rest.is_empty() {
        for (sum, x) in sums.iter_mut().zip(widen_part(rest, &mut missing).0) {
            *sum += x;
        }
    }
    let missing: u32 = missing.iter().sum();
    let finite = (sample.len() as u32 - missing).max(1);
    let four: [f64; LANES / 2] = std::array::from_fn(|i| sums[i] + sums[i + LANES / 2]);
    let mean = ((four[0] + four[2]) + (four[1] + four[3])) / f64::from(finite);

    for (y, &x) in out.iter_mut().zip(sample) {
        let keep = if x.is_finite() { u32::MAX } else { 0 };
        *y = f32::from_bits(((f64::from(x) - mean) as f32).to_bits() & keep);
    }
    missing
}
