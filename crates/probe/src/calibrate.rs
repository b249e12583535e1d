//! What the probe's ticks mean on each CPU.

use super::chain::{Chain, ProbeSample};
use super::plateau::plateaus;
use crate::error::ProbeError;
use flyball_host::Host;
use flyball_run::manifest::{ProbeBasis, ProbeCalibration};
use flyball_units::{CpuId, CpuSet, Nanos};

/// A chain takes at least this long, so that reading the counter is a small share of it.
const LEAST_SECONDS: f64 = 3e-6;

/// A chain takes at least this many granules of the counter at the best speed seen: 200 resolve
/// 0.5 %, the rest is room for a core that becomes faster later. A granule is what the counter
/// moves by: one tick on most machines, 26 ticks of a 2.6 GHz counter on current AMD.
const LEAST_GRANULES: f64 = 250.0;

/// Time to spin before anything is timed: a core that was idle needs some milliseconds to reach
/// its best speed.
const WARM_UP_SECONDS: f64 = 0.02;

/// Beside a chain of this many multiplications the cost of a reading, some tens of them, is nothing.
const NEGLIGIBLE_READ: u64 = 50_000;

/// Chains, or samples, per calibration.
const ROUNDS: usize = 128;

/// A CPU to be calibrated.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationTarget {
    /// The CPU.
    pub cpu: CpuId,
    /// Its core type, for the record.
    pub core_type: Option<String>,
    /// Cycles per multiplication where nothing counts cycles; `None` where that differs between
    /// cores: then the probe gives shares, not frequencies.
    pub assumed_cycles: Option<f64>,
    /// The chain is at least this long, and as tolerant; none where only the counter bounds it.
    pub least: Option<Chain>,
}

/// What the probe's ticks mean on one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The CPU.
    pub cpu: CpuId,
    /// Its core type.
    pub core_type: Option<String>,
    /// What `cycles_per_multiply` rests on.
    pub basis: ProbeBasis,
    /// Core cycles per dependent multiplication.
    pub cycles_per_multiply: Option<f64>,
    /// The chain that is timed.
    pub chain: Chain,
    /// Cost of reading the counter, in multiplications.
    pub read_cost: f64,
    /// Counter ticks per second of CLOCK_MONOTONIC.
    pub counter_hz: f64,
    /// Ticks of the fastest undisturbed sample.
    pub ticks_min: u32,
    /// 5th to 95th percentile of samples at one speed, relative to their median.
    pub spread_permille: Option<f64>,
    /// How far the factor from ticks to frequency had moved at the end of the run.
    pub drift_permille: Option<f64>,
    /// Clock and counter at the calibration.
    at: (Nanos, u64),
}

impl Calibration {
    /// The frequency at which a chain takes `ticks`; none where that cannot be said.
    pub fn khz(&self, ticks: u32) -> Option<u64> {
        let cycles = self.cycles_per_multiply? * self.effective_multiplies();
        (ticks > 0).then(|| (cycles * self.counter_hz / f64::from(ticks) / 1e3).round() as u64)
    }

    /// The speed at which a chain takes `ticks`, in thousandths of the best that was seen.
    pub fn permille(&self, ticks: u32) -> Option<u32> {
        (ticks > 0 && self.ticks_min > 0)
            .then(|| (1e3 * f64::from(self.ticks_min) / f64::from(ticks)).round() as u32)
    }

    /// The record for the manifest.
    pub fn record(&self) -> ProbeCalibration {
        ProbeCalibration {
            cpu: self.cpu.0,
            core_type: self.core_type.clone(),
            basis: self.basis,
            cycles_per_multiply: self.cycles_per_multiply,
            chain_length: self.chain.multiplies,
            ticks_min: u64::from(self.ticks_min),
            counter_khz: Some(self.counter_hz / 1e3),
            best_khz: self.khz(self.ticks_min),
            spread_permille: self.spread_permille,
            recalibrated_drift_permille: self.drift_permille,
        }
    }

    fn effective_multiplies(&self) -> f64 {
        self.chain.multiplies as f64 + self.read_cost
    }

    /// Frequency per inverse tick, up to what is constant: what a drift would change.
    fn factor(&self) -> f64 {
        self.effective_multiplies() * self.cycles_per_multiply.unwrap_or(1.0) * self.counter_hz
    }
}

/// Calibrates the probe on each of `targets`, one after the other, and settles one length of
/// chain for all of them: the longest that any needs. Takes some 50 ms per CPU.
///
/// # Errors
/// Where a CPU may not be used, or the counter does not run.
pub fn calibrate(
    host: &dyn Host,
    targets: &[CalibrationTarget],
) -> Result<Vec<Calibration>, ProbeError> {
    let rate = host.counter_hz().map_err(ProbeError::Host)?;
    let mut chain = Chain::new(0);
    for target in targets {
        let needed = on_cpu(host, target.cpu, || chain_length(host, target.cpu, rate.hz))?;
        chain = chain.or_longer(target.least.unwrap_or(chain)).or_longer(Chain::new(needed));
    }
    targets
        .iter()
        .map(|target| on_cpu(host, target.cpu, || calibrate_here(host, target, chain, rate.hz)))
        .collect()
}

/// Measures everything again on the same CPUs and records in each calibration how far the factor
/// from ticks to frequency has moved. The counter's rate is now known over the whole run.
///
/// # Errors
/// As [`calibrate`].
pub fn recalibrate(host: &dyn Host, calibrations: &mut [Calibration]) -> Result<(), ProbeError> {
    for calibration in calibrations {
        let hz = rate_since(calibration.at, (host.now(), host.counter()))
            .unwrap_or(calibration.counter_hz);
        let target = CalibrationTarget {
            cpu: calibration.cpu,
            core_type: calibration.core_type.clone(),
            assumed_cycles: calibration.cycles_per_multiply,
            least: None,
        };
        let again =
            on_cpu(host, target.cpu, || calibrate_here(host, &target, calibration.chain, hz))?;
        calibration.drift_permille = Some((again.factor() / calibration.factor() - 1.0) * 1e3);
        calibration.ticks_min = calibration.ticks_min.min(again.ticks_min);
    }
    Ok(())
}

/// Runs `work` in a thread of its own that is confined to `cpu`, so that the caller keeps its
/// own affinity.
///
/// # Errors
/// Those of `work`; [`ProbeError::Host`] where the CPU may not be used.
pub fn on_cpu<T: Send, E: From<ProbeError> + Send>(
    host: &dyn Host,
    cpu: CpuId,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    std::thread::scope(|scope| {
        let confined = || {
            host.affinity_set(&CpuSet::from(cpu)).map_err(ProbeError::Host)?;
            work()
        };
        match std::thread::Builder::new().spawn_scoped(scope, confined) {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err(E::from(ProbeError::Thread))),
            Err(_) => Err(E::from(ProbeError::Thread)),
        }
    })
}

/// Multiplications that a chain needs on this CPU at the best speed that it shows now.
fn chain_length(host: &dyn Host, cpu: CpuId, counter_hz: f64) -> Result<u64, ProbeError> {
    /// Enough ticks even of a 24 MHz counter: some 20 us.
    const TRIAL_MULTIPLIES: u64 = 20_000;
    let trial = Chain::new(TRIAL_MULTIPLIES);
    let start = host.counter();
    let (mut best, mut granule, mut rounds) = (u64::MAX, 0, 0);
    // The counter decides on real machines; the rounds end it on one whose time stands still.
    while rounds < ROUNDS
        || (host.counter().wrapping_sub(start) as f64) < WARM_UP_SECONDS * counter_hz
            && rounds < 100 * ROUNDS
    {
        let ticks = trial.time(host);
        granule = greatest_common_divisor(granule, ticks);
        best = best.min(ticks);
        rounds += 1;
    }
    if best == 0 || best == u64::MAX {
        return Err(ProbeError::Counter { cpu, found: format!("{best} ticks") });
    }
    let ticks_per_multiply = best as f64 / TRIAL_MULTIPLIES as f64;
    Ok((wanted_ticks(counter_hz, granule) / ticks_per_multiply).ceil() as u64)
}

/// Ticks that a chain should take.
fn wanted_ticks(counter_hz: f64, granule: u64) -> f64 {
    (LEAST_SECONDS * counter_hz).max(LEAST_GRANULES * granule.max(1) as f64)
}

/// Euclid's. Of all differences of a counter's readings it is what the counter moves by.
fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn calibrate_here(
    host: &dyn Host,
    target: &CalibrationTarget,
    chain: Chain,
    counter_hz: f64,
) -> Result<Calibration, ProbeError> {
    let measured = measure_cycles(host);
    let (basis, cycles_per_multiply) = match (measured, target.assumed_cycles) {
        (Some(cycles), _) => (ProbeBasis::Measured, Some(cycles)),
        (None, Some(cycles)) => (ProbeBasis::Assumed, Some(cycles)),
        (None, None) => (ProbeBasis::Relative, None),
    };
    let read_cost = match chain.multiplies > NEGLIGIBLE_READ {
        true => 0.0,
        false => measure_read_cost(host, chain)
            .ok_or_else(|| ProbeError::Counter { cpu: target.cpu, found: "no ticks".to_owned() })?,
    };
    let samples: Vec<ProbeSample> = (0..ROUNDS).map(|_| chain.sample(host)).collect();
    let good: Vec<u32> = samples.iter().filter(|s| !s.disturbed).map(|s| s.ticks).collect();
    let fallback = samples.iter().map(|sample| sample.ticks).min().unwrap_or_default();
    let longest = plateaus(&good).into_iter().max_by_key(|plateau| plateau.count);
    Ok(Calibration {
        cpu: target.cpu,
        core_type: target.core_type.clone(),
        basis,
        cycles_per_multiply,
        chain,
        read_cost,
        counter_hz,
        ticks_min: good.iter().copied().min().unwrap_or(fallback),
        spread_permille: longest.map(|plateau| plateau.spread() * 1e3),
        drift_permille: None,
        at: (host.now(), host.counter()),
    })
}

/// Cost of reading the counter twice, in multiplications: a chain of `2 N` takes `N`
/// multiplications longer than one of `N`, whatever the reading costs. Ratios of neighbours are
/// averaged, not ticks: within 10 us the frequency rarely changes, within all of it often.
fn measure_read_cost(host: &dyn Host, chain: Chain) -> Option<f64> {
    let double = Chain { multiplies: chain.multiplies * 2, ..chain };
    let ratios = (0..2 * ROUNDS)
        .map(|_| (chain.time(host), double.time(host)))
        .filter(|&(single, _)| single > 0)
        .map(|(single, double)| double as f64 / single as f64)
        .collect();
    read_cost(middle_mean(ratios), chain.multiplies)
}

/// The cost `o`, where `ratio = (2 N + o) / (N + o)`.
fn read_cost(ratio: f64, multiplies: u64) -> Option<f64> {
    let added = Some(ratio - 1.0).filter(|&added| added > 0.0)?;
    let cost = (1.0 / added - 1.0) * multiplies as f64;
    // A reading costs something, and less than a tenth of a chain of 3 us.
    Some(cost.clamp(0.0, multiplies as f64 / 10.0))
}

/// Core cycles per multiplication, counted by the machine, in user mode; none where it can't, or
/// where what it says is no latency of a multiplication.
fn measure_cycles(host: &dyn Host) -> Option<f64> {
    const SHORT: u64 = 64_000;
    const LONG: u64 = 192_000;
    let mut counter = host.open_cycles().ok()?;
    let mut count = |multiplies| {
        let before = counter.read().ok()?;
        std::hint::black_box(host.multiply_chain(multiplies));
        let delta = counter.read().ok()?.since(before);
        delta.is_whole().then_some(delta.cycles)
    };
    // The smallest of several: an interrupt only adds.
    let mut least = |multiplies| (0..8).filter_map(|_| count(multiplies)).min();
    let cycles = least(LONG)?.checked_sub(least(SHORT)?)? as f64 / (LONG - SHORT) as f64;
    (1.0..=16.0).contains(&cycles).then_some(cycles)
}

/// Counter ticks per second between two readings of clock and counter; none where they are too
/// close for the result to beat a calibration of 20 ms.
fn rate_since(then: (Nanos, u64), now: (Nanos, u64)) -> Option<f64> {
    let elapsed = now.0.since(then.0);
    let ticks = now.1.wrapping_sub(then.1);
    (elapsed >= Nanos::from_secs(1) && ticks > 0).then(|| ticks as f64 / elapsed.as_secs_f64())
}

/// The mean of the middle half: it ignores the disturbed values as the median does, and resolves
/// less than a granule of the counter, which the median does not. Zero for none.
fn middle_mean(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let quarter = values.len() / 4;
    let middle = &values[quarter..values.len() - quarter];
    middle.iter().sum::<f64>() / middle.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration() -> Calibration {
        Calibration {
            cpu: CpuId(1),
            core_type: None,
            basis: ProbeBasis::Assumed,
            cycles_per_multiply: Some(3.0),
            chain: Chain::new(3_000),
            read_cost: 30.0,
            counter_hz: 2.6e9,
            ticks_min: 7_878,
            spread_permille: None,
            drift_permille: None,
            at: (Nanos::ZERO, 0),
        }
    }

    #[test]
    fn ticks_become_kilohertz() {
        // 3030 multiplications of 3 cycles in 7878 ticks of 2.6 GHz are 3.03 us: 3 GHz.
        assert_eq!(calibration().khz(7_878), Some(3_000_000));
        assert_eq!(calibration().khz(15_756), Some(1_500_000));
        assert_eq!(calibration().permille(15_756), Some(500));
        assert_eq!(calibration().khz(0), None);
    }

    #[test]
    fn without_cycles_there_is_a_share_and_no_frequency() {
        let unknown = Calibration { cycles_per_multiply: None, ..calibration() };
        assert_eq!(unknown.khz(7_878), None);
        assert_eq!(unknown.permille(7_878), Some(1_000));
        assert_eq!(unknown.record().best_khz, None);
    }

    #[test]
    fn the_cost_of_reading_falls_out_of_two_lengths() {
        // 2 ticks per multiplication, 50 ticks per reading: 25 multiplications.
        let cost = read_cost(4_050.0 / 2_050.0, 1_000).expect("the longer chain takes longer");
        assert!((cost - 25.0).abs() < 1e-9);
        assert_eq!(read_cost(1.0, 1_000), None);
        assert_eq!(read_cost(2.1, 1_000), Some(0.0), "never negative");
        assert_eq!(middle_mean(vec![9.0, 2.0, 1.0, 2.5]), 2.25);
        assert_eq!(middle_mean(Vec::new()), 0.0);
    }

    #[test]
    fn coarse_counters_get_longer_chains() {
        assert!(wanted_ticks(24e6, 1) >= 250.0 && wanted_ticks(24e6, 1) / 24e6 > 10e-6);
        assert_eq!(wanted_ticks(2.6e9, 1), 7_800.0);
        assert_eq!(wanted_ticks(2.6e9, 40), 10_000.0);
        assert_eq!([52, 78, 7_826].into_iter().fold(0, greatest_common_divisor), 26);
    }

    #[test]
    fn a_rate_needs_a_second() {
        let then = (Nanos::from_secs(1), 500);
        assert_eq!(rate_since(then, (Nanos::from_secs(3), 2_500)), Some(1_000.0));
        assert_eq!(rate_since(then, (Nanos::from_millis(1_500), 900)), None);
    }
}
