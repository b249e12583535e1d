//! `notch_iir`: a second-order notch filter per channel, with its state in double precision.
//!
//! Transposed direct form II, as `scipy.signal.lfilter`:
//! ```text
//!   y  = b0 x + z1
//!   z1 = b1 x - a1 y + z2
//!   z2 = b2 x - a2 y
//! ```
//! Windows overlap: the state kept for the next window is that after the first `advance` samples.
//! With `advance` = hop the output over all windows is that of one filter over the whole recording.

use super::{Compute, copy_finite};
use crate::design::{Biquad, iirnotch};
use crate::rows::{LANES, Row, blocks, parts, parts_mut, widen_part};
use crate::{Form, Params};
use pulp::{Arch, Simd, WithSimd};

pub(super) fn new(params: &Params, form: Form, arch: Arch, advance: usize) -> Box<dyn Compute> {
    let filter = iirnotch(params.f0_hz, params.q, params.rate_hz);
    let channels = params.channels;
    match form {
        Form::Reference => Box::new(Reference {
            filter,
            advance,
            clean: vec![0.0; params.input_len()],
            state: vec![[0.0; 2]; channels],
            kept: vec![[0.0; 2]; channels],
        }),
        Form::Fast => Box::new(Fast {
            filter,
            advance,
            channels,
            kept: vec![[Row::ZERO; 2]; blocks(channels)],
            arch,
        }),
    }
}

struct Reference {
    filter: Biquad,
    advance: usize,
    /// The window with missing samples as zeros.
    clean: Vec<f32>,
    /// z1 and z2 of each channel.
    state: Vec<[f64; 2]>,
    /// The state in which the next window starts.
    kept: Vec<[f64; 2]>,
}

impl Compute for Reference {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let missing = copy_finite(window, &mut self.clean);
        let channels = self.state.len();
        let Biquad { b: [b0, b1, b2], a: [_, a1, a2] } = self.filter;
        self.state.copy_from_slice(&self.kept);
        let samples = self.clean.chunks_exact(channels).zip(output.chunks_exact_mut(channels));
        for (t, (sample, out)) in samples.enumerate() {
            for ((z, &x), y) in self.state.iter_mut().zip(sample).zip(out) {
                let x = f64::from(x);
                let [z1, z2] = *z;
                let filtered = b0 * x + z1;
                *z = [b1 * x - a1 * filtered + z2, b2 * x - a2 * filtered];
                *y = filtered as f32;
            }
            if t + 1 == self.advance {
                self.kept.copy_from_slice(&self.state);
            }
        }
        missing
    }

    fn reset(&mut self) {
        self.kept.fill([0.0; 2]);
    }
}

struct Fast {
    filter: Biquad,
    advance: usize,
    channels: usize,
    /// z1 and z2 of each block of channels, in which the next window starts.
    kept: Vec<[Row; 2]>,
    arch: Arch,
}

impl Compute for Fast {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let Fast { filter, advance, channels, ref mut kept, arch } = *self;
        let mut missing = 0;
        for (block, kept) in kept.iter_mut().enumerate() {
            missing += arch.dispatch(FilterBlock {
                filter,
                advance,
                channels,
                block,
                kept,
                window,
                output: &mut *output,
            });
        }
        missing
    }

    fn reset(&mut self) {
        self.kept.fill([Row::ZERO; 2]);
    }
}

/// Eight channels of one window.
struct FilterBlock<'a> {
    filter: Biquad,
    advance: usize,
    channels: usize,
    block: usize,
    kept: &'a mut [Row; 2],
    window: &'a [f32],
    output: &'a mut [f32],
}

impl WithSimd for FilterBlock<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u32 {
        let mut missing = [0; LANES];
        let mut state = *self.kept;
        let samples = parts(self.window, self.channels, self.block).zip(parts_mut(
            self.output,
            self.channels,
            self.block,
        ));
        for (t, (part, out)) in samples.enumerate() {
            let mut row = widen_part(part, &mut missing);
            step(simd, &self.filter, &mut state, &mut row);
            row.write_to(out);
            if t + 1 == self.advance {
                *self.kept = state;
            }
        }
        missing.iter().sum()
    }
}

/// One sample of eight channels: `row` goes in as x and comes out as y.
#[inline(always)]
fn step<S: Simd>(simd: S, filter: &Biquad, [z1, z2]: &mut [Row; 2], row: &mut Row) {
    let [b0, b1, b2] = filter.b.map(|b| simd.splat_f64s(b));
    let [_, a1, a2] = filter.a.map(|a| simd.splat_f64s(-a));
    let (z1, _) = S::as_mut_simd_f64s(&mut z1.0);
    let (z2, _) = S::as_mut_simd_f64s(&mut z2.0);
    let (values, _) = S::as_mut_simd_f64s(&mut row.0);
    for ((value, z1), z2) in values.iter_mut().zip(z1).zip(z2) {
        let x = *value;
        let y = simd.mul_add_e_f64s(b0, x, *z1);
        *z1 = simd.mul_add_e_f64s(a1, y, simd.mul_add_e_f64s(b1, x, *z2));
        *z2 = simd.mul_add_e_f64s(a2, y, simd.mul_f64s(b2, x));
        *value = y;
    }
}
