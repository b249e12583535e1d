//! Random numbers from integers only, so that a run is the same on every machine: the logarithm of
//! a mathematics library may differ in its last bit.

use flyball_units::Nanos;
use rand_core::RngCore;

/// A number below `bound`, all equally likely (to 2^-64); 0 where `bound` is 0.
pub fn uniform(random: &mut impl RngCore, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// A time that is exponentially distributed with this mean.
///
/// Von Neumann's comparison method (1951): among uniform numbers u1 > u2 > ... the length of the
/// falling run decides whether u1 is accepted; each rejection adds one to the whole part. It needs
/// comparisons only.
pub fn exponential(random: &mut impl RngCore, mean: Nanos) -> Nanos {
    let mut whole: u64 = 0;
    loop {
        let first = random.next_u64();
        let (mut last, mut run) = (first, 1_u32);
        loop {
            let next = random.next_u64();
            if next >= last {
                break;
            }
            (last, run) = (next, run + 1);
        }
        if run % 2 == 1 {
            let fraction = (u128::from(first) * u128::from(mean.0)) >> 64;
            return Nanos(mean.0.saturating_mul(whole)) + Nanos(fraction as u64);
        }
        whole += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn exponential_times_have_their_mean_and_their_spread() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let n = 100_000;
        let times: Vec<f64> =
            (0..n).map(|_| exponential(&mut random, Nanos(1_000_000)).0 as f64 / 1e6).collect();
        let mean = times.iter().sum::<f64>() / f64::from(n);
        let variance = times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / f64::from(n);
        let above = times.iter().filter(|t| **t > 1.0).count() as f64 / f64::from(n);
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
        assert!((above - (-1.0_f64).exp()).abs() < 0.01, "{above}");
    }

    #[test]
    fn uniform_stays_below_its_bound() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        assert!((0..1000).all(|_| uniform(&mut random, 10) < 10));
        assert_eq!(uniform(&mut random, 0), 0);
    }
}
