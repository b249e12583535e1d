//! `goertzel`: power in frequency bands, by the Goertzel recurrence per bin and channel.
//!
//! A band from f to g Hz holds the bins `round(f W / rate)` to `round(g W / rate)`, both included;
//! a half rounds up. With `c = 2 cos(2 pi k / W)` the recurrence over the window
//! ```text
//!   s0 = x + c s1 - s2;   s2 = s1;   s1 = s0
//! ```
//! ends with `s1^2 + s2^2 - c s1 s2 = abs(X_k)^2`, X being the discrete Fourier transform (G.
//! Goertzel, Amer. Math. Monthly 65, 1958). The output is the sum of it over the bins of each band.
//!
//! The fast form computes the same `X_k` as a matrix product. The cosine is even and the sine odd
//! about the middle of the window, so sums and differences of mirrored samples halve the work.

use super::{Compute, copy_finite};
use crate::rows::{LANES, Row, TILE, blocks, pack, product};
use crate::{Form, Kernel, ParamError, Params};
use pulp::{Arch, Simd, WithSimd};
use std::f64::consts::TAU;
use std::ops::RangeInclusive;

/// Most entries in a table of sines: 2^24, 128 MiB.
const MAX_TABLE: usize = 1 << 24;

pub(super) fn new(params: &Params, form: Form, arch: Arch) -> Result<Box<dyn Compute>, ParamError> {
    let &Params { window, channels, .. } = params;
    let bands: Vec<RangeInclusive<usize>> =
        params.bands_hz.iter().map(|&[low, high]| bin(low, params)..=bin(high, params)).collect();
    match form {
        Form::Reference => Ok(Box::new(Reference {
            channels,
            coefficients: bands.into_iter().map(|band| coefficients(band, window)).collect(),
            clean: vec![0.0; params.input_len()],
        })),
        Form::Fast => Ok(Box::new(Fast::new(params, bands, arch)?)),
    }
}

/// The bin of a frequency. At most `W / 2`, since the frequency is at most half the rate.
fn bin(hz: f64, params: &Params) -> usize {
    let bin = (hz * params.window as f64 / params.rate_hz).round() as usize;
    bin.min(params.window / 2)
}

/// `2 cos(2 pi k / W)` of each bin k.
fn coefficients(bins: RangeInclusive<usize>, window: usize) -> Vec<f64> {
    bins.map(|k| 2.0 * (TAU * k as f64 / window as f64).cos()).collect()
}

/// Channels that the reference form takes side by side, so that their state stays in registers.
const GROUP: usize = 8;

struct Reference {
    channels: usize,
    /// Of each band, c of each bin.
    coefficients: Vec<Vec<f64>>,
    /// The window with missing samples as zeros.
    clean: Vec<f32>,
}

impl Compute for Reference {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let missing = copy_finite(window, &mut self.clean);
        for (band, out) in self.coefficients.iter().zip(output.chunks_exact_mut(self.channels)) {
            let (groups, rest) = out.as_chunks_mut::<GROUP>();
            let whole = groups.len() * GROUP;
            for (group, first) in groups.iter_mut().zip((0..).step_by(GROUP)) {
                *group = self.band_power(band, first);
            }
            for (y, first) in rest.iter_mut().zip(whole..) {
                [*y] = self.band_power(band, first);
            }
        }
        missing
    }
}

impl Reference {
    /// The power of a band in `N` neighbouring channels.
    fn band_power<const N: usize>(&self, band: &[f64], first: usize) -> [f32; N] {
        let mut power = [0.0; N];
        for &c in band {
            let (mut s1, mut s2) = ([0.0; N], [0.0; N]);
            for sample in self.clean.chunks_exact(self.channels) {
                let x = &sample[first..first + N];
                for i in 0..N {
                    let s0 = f64::from(x[i]) + c * s1[i] - s2[i];
                    s2[i] = s1[i];
                    s1[i] = s0;
                }
            }
            for i in 0..N {
                power[i] += s1[i] * s1[i] + s2[i] * s2[i] - c * s1[i] * s2[i];
            }
        }
        power.map(|power| power as f32)
    }
}

struct Fast {
    plan: Plan,
    scratch: Scratch,
    channels: usize,
    arch: Arch,
}

/// What does not change from window to window.
struct Plan {
    /// The distinct bins of all bands, rising, as positions in the tables; per band which of them.
    bands: Vec<Vec<usize>>,
    bins: usize,
    /// `[ceil(bins / TILE)][W / 2 + 1]` rows of `TILE` bins each: cosines, and sines.
    cosines: Vec<[f64; TILE]>,
    sines: Vec<[f64; TILE]>,
}

/// Room for one block of channels.
struct Scratch {
    /// The window, `[W]`.
    samples: Vec<Row>,
    /// Sums and differences of mirrored samples, `[W / 2 + 1]` each.
    even: Vec<Row>,
    odd: Vec<Row>,
    /// Power per bin, up to a whole number of tiles.
    power: Vec<Row>,
}

impl Fast {
    fn new(
        params: &Params,
        bands: Vec<RangeInclusive<usize>>,
        arch: Arch,
    ) -> Result<Fast, ParamError> {
        let &Params { window, channels, .. } = params;
        let mut bins: Vec<usize> = bands.iter().cloned().flatten().collect();
        bins.sort_unstable();
        bins.dedup();
        let half = window / 2 + 1;
        let padded = bins.len().next_multiple_of(TILE);
        if padded.checked_mul(half).is_none_or(|entries| entries > MAX_TABLE) {
            let expected = format!("at most {} bins in windows of {window}", MAX_TABLE / half);
            let hint = "use narrower bands, a shorter window, or form = \"reference\"";
            let found = format!("{} bins", bins.len());
            return Err(ParamError::new(Kernel::Goertzel, "bands_hz", expected, found, hint));
        }
        let table = |function: fn(f64) -> f64| -> Vec<[f64; TILE]> {
            let angle = |k: usize, n: usize| TAU * ((k * n) % window) as f64 / window as f64;
            bins.chunks(TILE)
                .flat_map(|group| {
                    (0..half).map(move |n| {
                        std::array::from_fn(|r| {
                            group.get(r).map_or(0.0, |&k| function(angle(k, n)))
                        })
                    })
                })
                .collect()
        };
        let (cosines, sines) = (table(f64::cos), table(f64::sin));
        let positions = |band: RangeInclusive<usize>| {
            (0..bins.len()).filter(|&i| band.contains(&bins[i])).collect()
        };
        let bands = bands.into_iter().map(positions).collect();
        Ok(Fast {
            plan: Plan { bands, bins: bins.len(), cosines, sines },
            scratch: Scratch {
                samples: vec![Row::ZERO; window],
                even: vec![Row::ZERO; half],
                odd: vec![Row::ZERO; half],
                power: vec![Row::ZERO; padded],
            },
            channels,
            arch,
        })
    }
}

impl Compute for Fast {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        let mut missing = 0;
        for block in 0..blocks(self.channels) {
            missing += self.arch.dispatch(PowerBlock {
                plan: &self.plan,
                scratch: &mut self.scratch,
                channels: self.channels,
                block,
                window,
                output: &mut *output,
            });
        }
        missing
    }
}

/// Eight channels of one window.
struct PowerBlock<'a> {
    plan: &'a Plan,
    scratch: &'a mut Scratch,
    channels: usize,
    block: usize,
    window: &'a [f32],
    output: &'a mut [f32],
}

impl WithSimd for PowerBlock<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u32 {
        let PowerBlock { plan, scratch, channels, block, .. } = self;
        let missing = pack(self.window, channels, block, &mut scratch.samples);
        fold(scratch);
        let half = scratch.even.len();
        let tables = plan.cosines.chunks_exact(half).zip(plan.sines.chunks_exact(half));
        let (mut re, mut im) = ([Row::ZERO; TILE], [Row::ZERO; TILE]);
        for ((cosines, sines), power) in tables.zip(scratch.power.chunks_exact_mut(TILE)) {
            product(simd, cosines, &scratch.even, &mut re);
            product(simd, sines, &scratch.odd, &mut im);
            for ((power, re), im) in power.iter_mut().zip(&re).zip(&im) {
                for lane in 0..LANES {
                    power.0[lane] = re.0[lane] * re.0[lane] + im.0[lane] * im.0[lane];
                }
            }
        }
        let power = &scratch.power[..plan.bins];
        let first = block * LANES;
        let last = (first + LANES).min(channels);
        for (band, out) in plan.bands.iter().zip(self.output.chunks_exact_mut(channels)) {
            let sum = band.iter().fold(Row::ZERO, |sum, &bin| sum.plus(power[bin]));
            sum.write_to(&mut out[first..last]);
        }
        missing
    }
}

/// Sums and differences of the samples `n` and `W - n`. Sample 0, and the middle one if W is even,
/// have no partner: they enter the cosines once, and their sines are 0.
#[inline(always)]
fn fold(scratch: &mut Scratch) {
    let Scratch { samples, even, odd, .. } = scratch;
    let mirrored = samples.iter().rev();
    let pairs = samples.iter().skip(1).zip(mirrored);
    for ((even, odd), (x, mirror)) in even.iter_mut().zip(&mut *odd).skip(1).zip(pairs) {
        *even = x.plus(*mirror);
        *odd = x.minus(*mirror);
    }
    even[0] = samples[0];
    if samples.len() % 2 == 0 {
        even[samples.len() / 2] = samples[samples.len() / 2];
    }
}
