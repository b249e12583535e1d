//! `bandpass_fir`: a windowed-sinc filter per channel, accumulated in double precision.
//!
//! ```text
//!   y[t] = sum over k of h[k] x[t - k]
//! ```
//! The last `taps - 1` samples before the next window's start are kept as its history. With
//! `advance` = hop the output over all windows is that of one filter over the whole recording.

use super::{Compute, copy_finite};
use crate::design::firwin_bandpass;
use crate::rows::{Row, TILE, blocks, pack, parts_mut, product};
use crate::{Form, Kernel, ParamError, Params};
use pulp::{Arch, Simd, WithSimd};

pub(super) fn new(
    params: &Params,
    form: Form,
    arch: Arch,
    advance: usize,
) -> Result<Box<dyn Compute>, ParamError> {
    let &Params { window, channels, taps, .. } = params;
    let response = firwin_bandpass(taps, &params.bands_hz, params.rate_hz);
    if !response.iter().all(|h| h.is_finite()) {
        let found = format!("{:?} with {taps} taps", params.bands_hz);
        let hint = "use more taps or a wider band";
        let expected = "a band that so many taps can pass";
        return Err(ParamError::new(Kernel::BandpassFir, "bands_hz", expected, found, hint));
    }
    match form {
        Form::Reference => Ok(Box::new(Reference {
            samples: vec![0.0; (taps - 1 + window) * channels],
            channels,
            response,
            advance,
        })),
        Form::Fast => {
            let per_block = taps - 1 + window.next_multiple_of(TILE);
            Ok(Box::new(Fast {
                coefficients: banded(&response),
                rows: vec![Row::ZERO; per_block * blocks(channels)],
                per_block,
                window,
                channels,
                advance,
                arch,
            }))
        }
    }
}

/// Channels that the reference form sums side by side, so that their sums stay in registers.
const GROUP: usize = 8;

struct Reference {
    response: Vec<f64>,
    /// History and window, `[taps - 1 + W][C]`.
    samples: Vec<f32>,
    channels: usize,
    advance: usize,
}

impl Compute for Reference {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let channels = self.channels;
        let history = (self.response.len() - 1) * channels;
        let missing = copy_finite(window, &mut self.samples[history..]);
        for (t, out) in output.chunks_exact_mut(channels).enumerate() {
            let reach = &self.samples[t * channels..][..history + channels];
            let (groups, rest) = out.as_chunks_mut::<GROUP>();
            let whole = groups.len() * GROUP;
            for (group, first) in groups.iter_mut().zip((0..).step_by(GROUP)) {
                *group = convolve(&self.response, reach, channels, first);
            }
            for (y, first) in rest.iter_mut().zip(whole..) {
                [*y] = convolve(&self.response, reach, channels, first);
            }
        }
        let next = self.advance * channels;
        self.samples.copy_within(next..next + history, 0);
        missing
    }

    fn reset(&mut self) {
        self.samples.fill(0.0);
    }
}

/// One output of `N` neighbouring channels: `reach` holds the samples that enter it, the latest last.
fn convolve<const N: usize>(
    response: &[f64],
    reach: &[f32],
    channels: usize,
    first: usize,
) -> [f32; N] {
    let mut sums = [0.0; N];
    for (h, sample) in response.iter().zip(reach.chunks_exact(channels).rev()) {
        for (sum, &x) in sums.iter_mut().zip(&sample[first..first + N]) {
            *sum += h * f64::from(x);
        }
    }
    sums.map(|sum| sum as f32)
}

/// The filter as a product that yields `TILE` successive outputs at once: row `j` holds what the
/// `j`-th sample from the first one reached contributes to each of them.
fn banded(response: &[f64]) -> Vec<[f64; TILE]> {
    let last = response.len() - 1;
    (0..response.len() + TILE - 1)
        .map(|j| {
            std::array::from_fn(|r| {
                (last + r).checked_sub(j).and_then(|k| response.get(k)).copied().unwrap_or(0.0)
            })
        })
        .collect()
}

struct Fast {
    /// `[taps - 1 + TILE]`, see [`banded`].
    coefficients: Vec<[f64; TILE]>,
    /// Per block: history, window, and zeros up to a whole number of tiles.
    rows: Vec<Row>,
    per_block: usize,
    window: usize,
    channels: usize,
    advance: usize,
    arch: Arch,
}

impl Compute for Fast {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let mut missing = 0;
        for (block, rows) in self.rows.chunks_exact_mut(self.per_block).enumerate() {
            missing += self.arch.dispatch(FilterBlock {
                coefficients: &self.coefficients,
                rows,
                samples: self.window,
                channels: self.channels,
                advance: self.advance,
                block,
                window,
                output: &mut *output,
            });
        }
        missing
    }

    fn reset(&mut self) {
        self.rows.fill(Row::ZERO);
    }
}

/// Eight channels of one window.
struct FilterBlock<'a> {
    coefficients: &'a [[f64; TILE]],
    rows: &'a mut [Row],
    samples: usize,
    channels: usize,
    advance: usize,
    block: usize,
    window: &'a [f32],
    output: &'a mut [f32],
}

impl WithSimd for FilterBlock<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u32 {
        let FilterBlock { coefficients, rows, channels, block, .. } = self;
        let history = coefficients.len() - TILE;
        let fresh = &mut rows[history..history + self.samples];
        let missing = pack(self.window, channels, block, fresh);
        let mut outputs = parts_mut(self.output, channels, block);
        let mut tile = [Row::ZERO; TILE];
        for start in (0..self.samples).step_by(TILE) {
            product(simd, coefficients, &rows[start..], &mut tile);
            for (row, out) in tile.iter().zip(&mut outputs) {
                row.write_to(out);
            }
        }
        rows.copy_within(self.advance..self.advance + history, 0);
        missing
    }
}
