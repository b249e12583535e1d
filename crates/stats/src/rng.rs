//! Seeded random numbers: xoshiro256++ (Blackman and Vigna 2021), one stream per task.
//!
//! Every replicate draws from a stream of its own, derived from the seed and the replicate's
//! number, so a result depends on neither the number of threads nor the order of their work.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
pub(crate) struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Stream number `stream` of `seed`. The seeding (SplitMix64) decorrelates nearby numbers; the
    /// odd multiplier keeps (seed, stream) pairs apart.
    pub(crate) fn new(seed: u64, stream: u64) -> Rng {
        let mixed = seed ^ stream.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Rng(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// The one stream of a seed.
    pub(crate) fn of_seed(seed: u64) -> Rng {
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform integer in `0..n`; 0 for `n` = 0. Multiply and shift: the bias is below n / 2^32,
    /// and n here is a number of repeats or blocks.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (((self.0.next_u64() >> 32) * n as u64) >> 32) as usize
    }

    /// Uniform in the open interval (0, 1).
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }
}
