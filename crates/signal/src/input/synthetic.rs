//! A made-up electroencephalogram, the same bits for the same seed on every machine.
//!
//! Per channel: background noise with a 1/f spectrum, bursts of alpha rhythm (8.5 to 11.5 Hz, half
//! a second to two seconds) common to all channels but of their own strength and phase, hum of the
//! power line, and on request drop-outs as NaN.
//!
//! - 1/f: a sum of first-order low-pass noises of equal power with corners an octave apart has a
//!   1/f spectrum between its outer corners (J. Bernamont, Ann. Phys. 7, 1937). The poles are
//!   `1 - 2^-i`; together they reach from about a 6000th of the rate to half of it.
//! - Only additions, multiplications, divisions and square roots are used, which IEEE 754 rounds
//!   alike everywhere; the sine is a polynomial of its own, so no system library enters. Random
//!   numbers are xoshiro256++ (Blackman and Vigna), one jump of 2^128 steps per channel: a channel
//!   does not change with the number of channels, nor the signal with the drop-outs.

use super::{InputError, Recording};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Noises that are summed: white, and ten poles.
const OCTAVES: usize = 11;
/// Most samples made, over all channels: 1 GiB.
const MAX_SAMPLES: f64 = (1_u64 << 28) as f64;

/// What is made. Every field has a default, so an experiment states only what it changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Synthetic {
    /// Seed; the same seed gives the same recording.
    pub seed: u64,
    /// Sampling rate in Hz.
    pub rate_hz: f64,
    /// Number of channels.
    pub channels: usize,
    /// Length in seconds.
    pub seconds: f64,
    /// Root mean square of the background in microvolts.
    pub background_uv: f64,
    /// Largest amplitude of alpha bursts in microvolts.
    pub alpha_uv: f64,
    /// Frequency of the power line in Hz.
    pub line_hz: f64,
    /// Amplitude of its hum in microvolts.
    pub line_uv: f64,
    /// Mean number of drop-outs per minute and channel, each of at most a quarter second.
    pub dropouts_per_minute: f64,
}

impl Default for Synthetic {
    fn default() -> Synthetic {
        Synthetic {
            seed: 1,
            rate_hz: 160.0,
            channels: 64,
            seconds: 60.0,
            background_uv: 20.0,
            alpha_uv: 40.0,
            line_hz: 60.0,
            line_uv: 5.0,
            dropouts_per_minute: 0.0,
        }
    }
}

impl Synthetic {
    /// Makes the recording.
    ///
    /// # Errors
    /// A field out of its range.
    pub fn generate(&self) -> Result<Recording, InputError> {
        self.validate()?;
        let channels = self.channels;
        let frames = (self.seconds * self.rate_hz) as usize;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let bursts = self.bursts(frames, &mut random);
        let mut samples = vec![0.0_f32; frames * channels];
        for channel in 0..channels {
            random.jump();
            let out = samples[channel..].iter_mut().step_by(channels);
            let mut noise = Pink::default();
            let strength = 0.3 + 0.7 * uniform(&mut random);
            let (alpha_phase, line_phase) = (uniform(&mut random), uniform(&mut random));
            for (t, (x, burst)) in out.zip(&bursts).enumerate() {
                let seconds = t as f64 / self.rate_hz;
                let alpha = burst.envelope * sine(burst.hz * seconds + alpha_phase);
                let hum = self.line_uv * sine(self.line_hz * seconds + line_phase);
                let background = self.background_uv * noise.next(&mut random);
                *x = (background + self.alpha_uv * strength * alpha + hum) as f32;
            }
        }
        self.drop_out(&mut samples);
        let source = format!("synthetic, seed {}", self.seed);
        Recording::new(&source, self.rate_hz, channels, samples, None)
    }

    fn validate(&self) -> Result<(), InputError> {
        let fail = |name: &str, expected: &str, found: f64| {
            let hint = "leave it out for the default";
            Err(InputError::new("synthetic", name, expected, found, hint))
        };
        if !(self.rate_hz.is_finite() && self.rate_hz > 0.0) {
            return fail("rate_hz", "a positive number of Hz", self.rate_hz);
        }
        if self.channels == 0 {
            return fail("channels", "at least 1", 0.0);
        }
        let samples = self.seconds * self.rate_hz * self.channels as f64;
        if !(self.seconds * self.rate_hz >= 1.0 && samples <= MAX_SAMPLES) {
            let expected = format!("at least 1 and at most {MAX_SAMPLES} samples in all channels");
            return fail("seconds", &expected, self.seconds);
        }
        let levels = [
            ("background_uv", self.background_uv),
            ("alpha_uv", self.alpha_uv),
            ("line_uv", self.line_uv),
            ("line_hz", self.line_hz),
            ("dropouts_per_minute", self.dropouts_per_minute),
        ];
        match levels.into_iter().find(|(_, level)| !(0.0..=1e6).contains(level)) {
            Some((name, level)) => fail(name, "0 to 1000000", level),
            None => Ok(()),
        }
    }

    /// Envelope and frequency of the alpha rhythm at each sample.
    fn bursts(&self, frames: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Burst> {
        let mut bursts = Vec::with_capacity(frames);
        while bursts.len() < frames {
            let pause = (self.rate_hz * (0.5 + 2.5 * uniform(random))) as usize + 1;
            let length = (self.rate_hz * (0.5 + 1.5 * uniform(random))) as usize + 1;
            let hz = 8.5 + 3.0 * uniform(random);
            bursts
                .extend((0..pause.min(frames - bursts.len())).map(|_| Burst { hz, envelope: 0.0 }));
            let rest = length.min(frames - bursts.len());
            bursts.extend((0..rest).map(|t| {
                // A smooth bump: 1 in the middle, 0 with slope 0 at both ends.
                let x = 2.0 * t as f64 / length as f64 - 1.0;
                let envelope = (1.0 - x * x) * (1.0 - x * x);
                Burst { hz, envelope }
            }));
        }
        bursts
    }

    /// Replaces stretches of single channels with NaN.
    fn drop_out(&self, samples: &mut [f32]) {
        let chance = self.dropouts_per_minute / 60.0 / self.rate_hz;
        if chance == 0.0 {
            return;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        random.long_jump();
        for channel in 0..self.channels {
            random.jump();
            let mut left = 0_usize;
            for x in samples[channel..].iter_mut().step_by(self.channels) {
                if left == 0 && uniform(&mut random) < chance {
                    left = (self.rate_hz * 0.25 * uniform(&mut random)) as usize + 1;
                }
                if left > 0 {
                    *x = f32::NAN;
                    left -= 1;
                }
            }
        }
    }
}

/// The alpha rhythm at one sample.
struct Burst {
    hz: f64,
    envelope: f64,
}

/// Noise with a 1/f spectrum and unit variance.
#[derive(Default)]
struct Pink {
    state: [f64; OCTAVES],
}

impl Pink {
    fn next(&mut self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let mut distance = 1.0; // of the pole from 1
        let mut sum = 0.0;
        for state in &mut self.state {
            let pole = 1.0 - distance;
            *state = pole * *state + (1.0 - pole * pole).sqrt() * bell(random);
            sum += *state;
            distance /= 2.0;
        }
        sum / (OCTAVES as f64).sqrt()
    }
}

/// Uniform in [0, 1), 53 bits.
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Near normal, mean 0 and variance 1: the sum of four uniform numbers of 16 bits.
fn bell(random: &mut Xoshiro256PlusPlus) -> f64 {
    let bits = random.next_u64();
    let sum: u64 = (0..4).map(|i| (bits >> (16 * i)) & 0xffff).sum();
    // Each part has mean 65535/2 and variance (65536^2 - 1) / 12.
    (sum as f64 - 2.0 * 65535.0) / ((65536.0 * 65536.0 - 1.0) / 3.0_f64).sqrt()
}

/// `sin(2 pi turns)` to 1e-11: the Taylor polynomial of degree 15 on a quarter turn.
fn sine(turns: f64) -> f64 {
    let x = turns - turns.round();
    let x = if x > 0.25 {
        0.5 - x
    } else if x < -0.25 {
        -0.5 - x
    } else {
        x
    };
    let y = TAU * x;
    let square = y * y;
    let mut sum = 1.0;
    for n in (1..=7).rev() {
        let n = f64::from(n);
        sum = 1.0 - square / (2.0 * n * (2.0 * n + 1.0)) * sum;
    }
    y * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_is_the_sine() {
        for i in -4000..4000 {
            let turns = f64::from(i) / 997.0;
            assert!((sine(turns) - (TAU * turns).sin()).abs() < 1e-11, "{turns}");
        }
    }

    #[test]
    fn bell_has_mean_0_and_variance_1() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let n = 100_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = bell(&mut random);
            sum += x;
            squares += x * x;
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.02 && (squares / n - 1.0).abs() < 0.02);
    }
}
