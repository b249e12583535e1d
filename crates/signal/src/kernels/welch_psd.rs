//! `welch_psd`: power spectral density by averaged periodograms (P. D. Welch, IEEE Trans. Audio
//! Electroacoust. 15, 1967), one-sided, as `scipy.signal.welch` with `detrend=False`.
//!
//! Segments of `L = min(W, n_fft)` samples that overlap by half, each multiplied with a periodic
//! Hann window w, filled up with zeros to n_fft and transformed:
//! ```text
//!   P[k] = mean over segments of abs(X_k)^2 / (rate * sum w^2),   doubled except for k = 0 and n_fft / 2
//! ```
//! The fast form transforms eight channels at once, as four complex signals of two channels each:
//! of `Z = X + i Y` with real x and y, `X_k = (Z_k + conj Z_-k) / 2`, `Y_k = (Z_k - conj Z_-k) / 2i`.

use super::fft::{Complex, Fft, butterfly};
use super::{Compute, copy_finite};
use crate::design::hann_periodic;
use crate::rows::{LANES, Row, blocks, pack};
use crate::{Form, Params};
use pulp::{Arch, Simd, WithSimd};

/// Half of a row: its first four channels are the real parts, the others the imaginary ones.
const HALF: usize = LANES / 2;

pub(super) fn new(params: &Params, form: Form, arch: Arch) -> Box<dyn Compute> {
    let plan = Plan::new(params);
    let (n_fft, bins) = (params.n_fft, plan.scales.len());
    match form {
        Form::Reference => Box::new(Reference {
            clean: vec![0.0; params.input_len()],
            data: vec![[0.0; 2]; n_fft],
            power: vec![0.0; bins],
            plan,
        }),
        Form::Fast => Box::new(Fast {
            scratch: Scratch {
                samples: vec![Row::ZERO; params.window],
                data: vec![Row::ZERO; n_fft],
                power: vec![Row::ZERO; bins],
            },
            plan,
            arch,
        }),
    }
}

/// What does not change from window to window.
struct Plan {
    channels: usize,
    fft: Fft,
    /// The periodic Hann window of one segment, `[L]`.
    taper: Vec<f64>,
    /// First sample of each segment.
    starts: Vec<usize>,
    /// Factor from the sum of `abs(X_k)^2` over the segments to the density, `[n_fft / 2 + 1]`.
    scales: Vec<f64>,
}

impl Plan {
    fn new(params: &Params) -> Plan {
        let &Params { window, channels, n_fft, rate_hz, .. } = params;
        let length = window.min(n_fft);
        let taper = hann_periodic(length);
        let starts: Vec<usize> = (0..=window - length).step_by(length - length / 2).collect();
        let energy: f64 = taper.iter().map(|w| w * w).sum();
        let scale = 1.0 / (rate_hz * energy * starts.len() as f64);
        let scales = (0..=n_fft / 2)
            .map(|k| if k == 0 || k == n_fft / 2 { scale } else { 2.0 * scale })
            .collect();
        Plan { channels, fft: Fft::new(n_fft), taper, starts, scales }
    }
}

struct Reference {
    plan: Plan,
    /// The window with missing samples as zeros.
    clean: Vec<f32>,
    /// One segment, `[n_fft]`.
    data: Vec<Complex>,
    /// Sum over the segments of one channel, `[n_fft / 2 + 1]`.
    power: Vec<f64>,
}

impl Compute for Reference {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let missing = copy_finite(window, &mut self.clean);
        let Plan { channels, ref fft, ref taper, ref starts, ref scales } = self.plan;
        for channel in 0..channels {
            self.power.fill(0.0);
            for start in starts {
                self.data.fill([0.0; 2]);
                let samples = self.clean[start * channels + channel..].iter().step_by(channels);
                for ((&x, w), &to) in samples.zip(taper).zip(&fft.order) {
                    self.data[to] = [w * f64::from(x), 0.0];
                }
                fft.run(&mut self.data, butterfly);
                for (power, [re, im]) in self.power.iter_mut().zip(&self.data) {
                    *power += re * re + im * im;
                }
            }
            let bins = self.power.iter().zip(scales);
            for ((power, scale), out) in bins.zip(output.chunks_exact_mut(channels)) {
                out[channel] = (power * scale) as f32;
            }
        }
        missing
    }
}

struct Fast {
    plan: Plan,
    scratch: Scratch,
    arch: Arch,
}

/// Room for one block of channels.
struct Scratch {
    /// One block of the window, `[W]`.
    samples: Vec<Row>,
    /// One segment of four complex signals, `[n_fft]`.
    data: Vec<Row>,
    /// Sum over the segments, `[n_fft / 2 + 1]`.
    power: Vec<Row>,
}

impl Compute for Fast {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let mut missing = 0;
        for block in 0..blocks(self.plan.channels) {
            missing += self.arch.dispatch(SpectrumBlock {
                plan: &self.plan,
                scratch: &mut self.scratch,
                block,
                window,
                output: &mut *output,
            });
        }
        missing
    }
}

/// Eight channels of one window.
struct SpectrumBlock<'a> {
    plan: &'a Plan,
    scratch: &'a mut Scratch,
    block: usize,
    window: &'a [f32],
    output: &'a mut [f32],
}

impl WithSimd for SpectrumBlock<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u32 {
        let Plan { channels, ref fft, ref taper, ref starts, ref scales } = *self.plan;
        let Scratch { samples, data, power } = self.scratch;
        let missing = pack(self.window, channels, self.block, samples);
        power.fill(Row::ZERO);
        for &start in starts {
            data.fill(Row::ZERO);
            for ((x, &w), &to) in samples[start..].iter().zip(taper).zip(&fft.order) {
                data[to] = x.times(w);
            }
            fft.run(data, |a, b, w| row_butterfly(simd, a, b, w));
            add_power(data, power);
        }
        let first = self.block * LANES;
        let last = (first + LANES).min(channels);
        let bins = power.iter().zip(scales);
        for ((power, &scale), out) in bins.zip(self.output.chunks_exact_mut(channels)) {
            power.times(scale).write_to(&mut out[first..last]);
        }
        missing
    }
}

/// The butterfly of four complex numbers.
#[inline(always)]
fn row_butterfly<S: Simd>(simd: S, a: &mut Row, b: &mut Row, [c, s]: Complex) {
    let (c, s, minus_s) = (simd.splat_f64s(c), simd.splat_f64s(s), simd.splat_f64s(-s));
    let ((a_re, a_im), (b_re, b_im)) = (a.0.split_at_mut(HALF), b.0.split_at_mut(HALF));
    let (a_re, a_im) = (S::as_mut_simd_f64s(a_re).0, S::as_mut_simd_f64s(a_im).0);
    let (b_re, b_im) = (S::as_mut_simd_f64s(b_re).0, S::as_mut_simd_f64s(b_im).0);
    for ((a_re, a_im), (b_re, b_im)) in a_re.iter_mut().zip(a_im).zip(b_re.iter_mut().zip(b_im)) {
        let re = simd.mul_add_e_f64s(minus_s, *b_im, simd.mul_f64s(c, *b_re));
        let im = simd.mul_add_e_f64s(s, *b_re, simd.mul_f64s(c, *b_im));
        *b_re = simd.sub_f64s(*a_re, re);
        *b_im = simd.sub_f64s(*a_im, im);
        *a_re = simd.add_f64s(*a_re, re);
        *a_im = simd.add_f64s(*a_im, im);
    }
}

/// Separates the two channels in each complex signal and adds `abs(X_k)^2` of both.
#[inline(always)]
fn add_power(data: &[Row], power: &mut [Row]) {
    // Z_-k: index 0 is its own mirror image, then from the end backwards.
    let mirrored = data.iter().take(1).chain(data.iter().rev());
    for ((sum, z), mirror) in power.iter_mut().zip(data).zip(mirrored) {
        for i in 0..HALF {
            let (a, b) = (z.0[i], z.0[i + HALF]);
            let (c, d) = (mirror.0[i], mirror.0[i + HALF]);
            let (x_re, x_im, y_re, y_im) = (a + c, b - d, b + d, c - a);
            sum.0[i] += 0.25 * (x_re * x_re + x_im * x_im);
            sum.0[i + HALF] += 0.25 * (y_re * y_re + y_im * y_im);
        }
    }
}
