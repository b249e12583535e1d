//! One sample of the probe.

use flyball_host::Host;
use flyball_units::CpuId;

/// Chains per sample, back to back. Five let two be spoilt (the first by cold instructions, one
/// by an interrupt) and leave a majority of good ones.
pub const SUB_SAMPLES: usize = 5;

/// Chains agree when they take at most this share longer than the fastest of the sample. A sample
/// is disturbed when fewer than three of its five agree: the others were slowed down, or ran at
/// another frequency. Within one step of frequency, chains agree to the counter's resolution, 0.3 %
/// here; the steps of turbo are 0.7 % and more apart.
pub const TOLERANCE: f64 = 0.01;

/// The same on a virtual board, where each chain begins and ends anywhere in a step of the pacing:
/// eight steps, give or take one at both ends.
pub const BOARD_TOLERANCE: f64 = 0.35;

/// A sample shorter than this many ticks resolves no 0.5 %, and counts as disturbed.
pub const LEAST_TICKS: u64 = 200;

/// What one sample says. Small and copyable: it travels in the window's record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeSample {
    /// Counter ticks of one chain: the mean of those that agree, nothing subtracted.
    pub ticks: u32,
    /// Whether the chains disagree, or the sample is too short to be exact: not to be trusted.
    pub disturbed: bool,
    /// The CPU that ran the last chain; a move during the sample marks it as disturbed.
    pub cpu: Option<CpuId>,
}

impl ProbeSample {
    /// The sample that these chains make: the mean of those that agree with the fastest. The
    /// mean and not the median, since counters move in granules (26 ticks, 10 ns, of a 2.6 GHz
    /// counter on current AMD): the mean of five resolves a part of one.
    pub fn of(ticks: [u64; SUB_SAMPLES], tolerance: f64) -> ProbeSample {
        let least = ticks.into_iter().min().unwrap_or_default();
        let limit = least as f64 * (1.0 + tolerance);
        let agreeing = ticks.into_iter().filter(|&ticks| ticks as f64 <= limit);
        let (count, sum) =
            agreeing.fold((0u32, 0.0), |(n, sum), ticks| (n + 1, sum + ticks as f64));
        // A float above the integer's limit becomes that limit; `count` is at least 1.
        let mean = (sum / f64::from(count)).round() as u32;
        let majority = count as usize > SUB_SAMPLES / 2;
        let disturbed = !majority || least < LEAST_TICKS || mean == u32::MAX;
        ProbeSample { ticks: mean, disturbed, cpu: None }
    }
}

/// A chain of a settled length: the probe itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    /// Dependent multiplications per chain.
    pub multiplies: u64,
    /// Share by which a chain may be slower than the fastest of its sample and still agree.
    pub tolerance: f64,
}

impl Chain {
    /// A chain on a machine whose clock is right at every moment.
    pub fn new(multiplies: u64) -> Chain {
        Chain { multiplies, tolerance: TOLERANCE }
    }

    /// As long as both: the longer of two, with the larger tolerance.
    pub fn or_longer(self, other: Chain) -> Chain {
        Chain {
            multiplies: self.multiplies.max(other.multiplies),
            tolerance: self.tolerance.max(other.tolerance),
        }
    }

    /// Takes one sample on this thread's CPU: [`SUB_SAMPLES`] chains. No allocation, no system
    /// call.
    pub fn sample(self, host: &dyn Host) -> ProbeSample {
        let before = host.current_cpu().ok();
        let mut ticks = [0; SUB_SAMPLES];
        for slot in &mut ticks {
            *slot = self.time(host);
        }
        let after = host.current_cpu().ok();
        let sample = ProbeSample::of(ticks, self.tolerance);
        ProbeSample { disturbed: sample.disturbed || before != after, cpu: after, ..sample }
    }

    /// Ticks of one chain, the reading of the counter included.
    pub fn time(self, host: &dyn Host) -> u64 {
        let start = host.counter();
        std::hint::black_box(host.multiply_chain(self.multiplies));
        host.counter().wrapping_sub(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ticks: [u64; SUB_SAMPLES]) -> ProbeSample {
        ProbeSample::of(ticks, TOLERANCE)
    }

    #[test]
    fn two_spoilt_chains_change_nothing() {
        let sample = of([9_000, 7_000, 7_010, 250_000, 7_005]);
        assert_eq!((sample.ticks, sample.disturbed), (7_005, false));
    }

    #[test]
    fn chains_that_disagree_are_disturbed() {
        assert!(of([7_000, 7_010, 7_200, 7_200, 7_200]).disturbed);
        assert!(!of([7_000, 7_070, 7_070, 7_070, 7_070]).disturbed);
    }

    #[test]
    fn steps_of_a_board_are_no_disturbance() {
        let ticks = [9_000, 8_000, 7_000, 8_000, 8_000];
        assert!(of(ticks).disturbed);
        let sample = ProbeSample::of(ticks, BOARD_TOLERANCE);
        assert_eq!((sample.ticks, sample.disturbed), (8_000, false));
    }

    #[test]
    fn too_few_ticks_are_not_exact() {
        assert!(of([199; SUB_SAMPLES]).disturbed);
        assert!(!of([200; SUB_SAMPLES]).disturbed);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let sample = of([u64::MAX; SUB_SAMPLES]);
        assert_eq!((sample.ticks, sample.disturbed), (u32::MAX, true));
        assert!(of([0; SUB_SAMPLES]).disturbed);
    }
}
