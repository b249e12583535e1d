//! How many multiplications stand for a piece of work.
//!
//! Work is stated in cycles of the reference kind of core, or as time of the fastest CPU at its highest
//! frequency. It is executed as a chain of dependent multiplications, which no cache and no memory
//! disturbs: what a slower clock or a smaller core does to it is what it does to a cycle.

use flyball_host::{Host, HostError, arch};
use flyball_platform::Platform;
use flyball_probe::board;
use flyball_run::manifest::BoardRecord;
use flyball_sim::workload::FullSpeed;
use flyball_stats::{nearest_rank, sort};
use flyball_units::{CpuId, CpuSet, Nanos};

/// What a speed rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A virtual board's instructions per cycle: exact.
    Board,
    /// The best that a CPU of this machine was seen to do.
    Measured,
}

/// Multiplications per cycle of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Multiplications that the fastest CPU does per millisecond at its highest frequency.
    pub per_ms: f64,
    /// Cycles of the reference kind of core that it does in the same time.
    pub cycles_per_ms: f64,
    /// What the first figure rests on.
    pub basis: Basis,
}

/// A busy CPU reaches its best speed within this time.
const WARM_UP: Nanos = Nanos::from_millis(300);
/// Length of a sample.
const SAMPLE: Nanos = Nanos::from_millis(10);
/// Samples; the median of the better half counts.
const SAMPLES: usize = 30;

impl Speed {
    /// Of a machine that the scenario takes for `platform`. On a virtual board nothing is measured;
    /// elsewhere `fastest` is kept busy for 0.6 s.
    ///
    /// # Errors
    /// The CPU may not be used.
    pub fn of(host: &dyn Host, platform: &Platform, fastest: CpuId) -> Result<Speed, HostError> {
        let cycles_per_ms = FullSpeed::of(platform).0 as f64;
        if let Some(record) = board::discover(host) {
            return Ok(Speed { per_ms: on_board(&record), cycles_per_ms, basis: Basis::Board });
        }
        let before = host.affinity_get()?;
        host.affinity_set(&CpuSet::from(fastest))?;
        let measured = measure(host);
        host.affinity_set(&before)?;
        Ok(Speed { per_ms: measured, cycles_per_ms, basis: Basis::Measured })
    }

    /// Multiplications that stand for `cycles` of work; saturates.
    pub fn multiplications(&self, cycles: u64) -> u64 {
        (cycles as f64 * self.per_ms / self.cycles_per_ms.max(1.0)).round() as u64
    }
}

/// All instructions are alike on a board.
fn on_board(board: &BoardRecord) -> f64 {
    let fastest = board.policies.iter().map(|policy| policy.highest_mips).fold(0.0, f64::max);
    let per_instruction = arch::CHAIN_ROUND as f64 / arch::CHAIN_ROUND_INSTRUCTIONS as f64;
    fastest * 1e3 * per_instruction
}

/// The best of this CPU, in multiplications per millisecond.
fn measure(host: &dyn Host) -> f64 {
    const CHAIN: u64 = 32_000;
    let sample = |length: Nanos| {
        let (begin, mut done) = (host.now(), 0_u64);
        loop {
            std::hint::black_box(host.multiply_chain(CHAIN));
            done += CHAIN;
            let took = host.now().since(begin);
            if took >= length {
                return done as f64 * 1e6 / took.0.max(1) as f64;
            }
        }
    };
    sample(WARM_UP);
    let mut speeds: Vec<f64> = (0..SAMPLES).map(|_| sample(SAMPLE)).collect();
    sort(&mut speeds);
    // Interrupts and other tasks only ever slow a sample down.
    nearest_rank(&speeds, 0.75).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::manifest::BoardPolicyRecord;

    #[test]
    fn a_board_counts_instructions() {
        let policy = |highest_mips| BoardPolicyRecord { highest_mips, ..Default::default() };
        let board =
            BoardRecord { policies: vec![policy(72.0), policy(180.0)], ..Default::default() };
        let speed = Speed { per_ms: on_board(&board), cycles_per_ms: 3e6, basis: Basis::Board };
        // A millisecond of work is 180,000 instructions, 34 of which are 32 multiplications.
        assert_eq!(speed.multiplications(3_000_000), 169_412);
        assert_eq!(speed.multiplications(0), 0);
        assert!(speed.multiplications(u64::MAX) > 1 << 58);
    }
}
