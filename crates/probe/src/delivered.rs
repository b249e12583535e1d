//! What CPUs deliver under work now, beside what the kernel claims at that moment.

use super::calibrate::{Calibration, calibrate, on_cpu};
use super::chain::ProbeSample;
use crate::board;
use crate::error::ProbeError;
use crate::targets::calibration_targets;
use flyball_host::{Host, Topology};
use flyball_run::manifest::ProbeBasis;
use flyball_stats::{median_high, nearest_rank};
use flyball_units::{CpuId, CpuSet, KiloHertz, Nanos};

/// Time that a CPU works before it is judged.
const WORK: Nanos = Nanos::from_millis(100);

/// Samples at most, for a machine whose time stands still.
const MOST_SAMPLES: usize = 100_000;

/// What one CPU delivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivered {
    /// The CPU.
    pub cpu: CpuId,
    /// What the frequency rests on.
    pub basis: ProbeBasis,
    /// Median of the last quarter of a tenth of a second's work; none where the cycles of a
    /// multiplication are unknown on this core.
    pub khz: Option<KiloHertz>,
    /// What the kernel claimed right behind it.
    pub claimed_khz: Option<KiloHertz>,
    /// Distance of the 5th and 95th percentile of that quarter, relative to the median.
    pub spread: Option<f64>,
    /// Share of all samples in which something else ran.
    pub disturbed: f64,
}

/// Lets each of `cpus` work for a tenth of a second, one after the other, and says what it
/// delivered at the end. Takes some 0.15 s per CPU.
///
/// # Errors
/// Where a CPU may not be used, or the counter does not run.
pub fn delivered(
    host: &dyn Host,
    topology: &Topology,
    cpus: &CpuSet,
) -> Result<Vec<Delivered>, ProbeError> {
    let targets = calibration_targets(topology, cpus, board::discover(host).as_ref());
    let calibrations = calibrate(host, &targets)?;
    calibrations
        .iter()
        .map(|calibration| on_cpu(host, calibration.cpu, || Ok(work(host, topology, calibration))))
        .collect()
}

/// Works on this thread's CPU.
fn work(host: &dyn Host, topology: &Topology, calibration: &Calibration) -> Delivered {
    let start = host.now();
    let mut samples: Vec<ProbeSample> = Vec::new();
    while host.now().since(start) < WORK && samples.len() < MOST_SAMPLES {
        samples.push(calibration.chain.sample(host));
    }
    // Now, while the core is still at that speed.
    let claims = topology.claimed(host).unwrap_or_default();
    let claimed = claims.iter().find(|(cpu, _)| *cpu == calibration.cpu).map(|(_, khz)| *khz);
    judge(calibration, &samples, claimed)
}

fn judge(
    calibration: &Calibration,
    samples: &[ProbeSample],
    claimed_khz: Option<KiloHertz>,
) -> Delivered {
    let last = &samples[samples.len() - samples.len().div_ceil(4)..];
    let mut ticks: Vec<u32> =
        last.iter().filter(|sample| !sample.disturbed).map(|sample| sample.ticks).collect();
    ticks.sort_unstable();
    let median = median_high(&ticks);
    let ends = nearest_rank(&ticks, 0.05).zip(nearest_rank(&ticks, 0.95));
    let spread = median.zip(ends).map(|(median, (low, high))| {
        f64::from(high.saturating_sub(low)) / f64::from(median.max(1))
    });
    let disturbed = samples.iter().filter(|sample| sample.disturbed).count();
    Delivered {
        cpu: calibration.cpu,
        basis: calibration.basis,
        khz: median.and_then(|ticks| calibration.khz(ticks)).map(KiloHertz),
        claimed_khz,
        spread,
        disturbed: disturbed as f64 / samples.len().max(1) as f64,
    }
}

/// CPUs among those that are allowed, of every kind and of as many clock domains as `most` leaves room
/// for.
pub fn choose(topology: &Topology, allowed: &CpuSet, most: usize) -> CpuSet {
    let mut chosen = CpuSet::new();
    for kind in &topology.core_types {
        if let Some(cpu) = kind.cpus.intersection(allowed).first() {
            chosen.insert(cpu);
        }
    }
    // Evenly over the rest, one per clock domain or core: neighbours share what matters.
    let firsts: Vec<CpuId> = allowed
        .iter()
        .filter(|&cpu| {
            let domain = topology.policy(cpu).and_then(|policy| policy.cpus.first());
            let core = topology.cpu(cpu).and_then(|cpu| cpu.siblings.first());
            domain.is_none_or(|first| first == cpu) && core.is_none_or(|first| first == cpu)
        })
        .collect();
    let room = most.saturating_sub(chosen.len()).min(firsts.len());
    for index in 0..room {
        chosen.insert(firsts[firsts.len() - 1 - index * firsts.len() / room]);
    }
    if chosen.is_empty() { allowed.first().map(CpuSet::from).unwrap_or_default() } else { chosen }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;

    const TWO: &str = "
/sys/devices/system/cpu/online = 0-1
/sys/devices/system/cpu/cpufreq/policy0/related_cpus = 0 1
/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq = 900000
/proc/cpuinfo = vendor_id : AuthenticAMD
/proc/cpuinfo = cpu family : 25
/proc/cpuinfo = model : 1
/proc/cpuinfo = stepping : 0
";

    #[test]
    fn virtual_time_delivers_its_gigahertz() {
        // A recorded machine multiplies in 3 ns: 3 cycles at 1 GHz.
        let host = RecordedHost::from_listing(TWO).expect("a listing");
        let topology = Topology::discover(&host).expect("a topology");
        let seen = delivered(&host, &topology, &topology.online).expect("a probe");
        assert_eq!(seen.len(), 2);
        for cpu in &seen {
            assert_eq!(cpu.basis, ProbeBasis::Assumed);
            assert_eq!(cpu.claimed_khz, Some(KiloHertz(900_000)));
            let khz = cpu.khz.expect("a frequency").0 as f64;
            assert!((khz / 1e6 - 1.0).abs() < 0.02, "{khz}");
            assert_eq!((cpu.spread, cpu.disturbed), (Some(0.0), 0.0));
        }
    }

    #[test]
    fn nothing_sampled_is_nothing_known() {
        let host = RecordedHost::from_listing(TWO).expect("a listing");
        let topology = Topology::discover(&host).expect("a topology");
        let targets = calibration_targets(&topology, &CpuId(0).into(), None);
        let calibration = &calibrate(&host, &targets).expect("a calibration")[0];
        let seen = judge(calibration, &[], None);
        assert_eq!((seen.khz, seen.spread, seen.disturbed), (None, None, 0.0));
    }
}
