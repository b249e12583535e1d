//! What a CPU delivers now, once.

use super::calibrate::{Calibration, on_cpu};
use crate::trial::TrialError;
use flyball_host::Host;

/// Samples that are taken: some milliseconds of them.
const SAMPLES: usize = 64;

/// The frequency that the CPU of `calibration` delivers now, in kilohertz: the median of undisturbed
/// samples. None where there are none, or where the probe gives no frequencies.
///
/// # Errors
/// Where the CPU may not be used.
pub fn delivered(host: &dyn Host, calibration: &Calibration) -> Result<Option<u64>, TrialError> {
    on_cpu(host, calibration.cpu, || {
        let samples = (0..SAMPLES).map(|_| calibration.chain.sample(host));
        let good = samples.filter(|sample| !sample.disturbed);
        let mut khz: Vec<u64> = good.filter_map(|sample| calibration.khz(sample.ticks)).collect();
        khz.sort_unstable();
        Ok(khz.get(khz.len() / 2).copied())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{CalibrationTarget, calibrate};
    use flyball_host::RecordedHost;
    use flyball_units::CpuId;

    #[test]
    fn the_virtual_processor_delivers_its_gigahertz() {
        let host = RecordedHost::from_listing("/sys/devices/system/cpu/online = 0-1").unwrap();
        let target = |assumed_cycles| CalibrationTarget {
            cpu: CpuId(1),
            core_type: None,
            assumed_cycles,
            least: None,
        };
        let known = calibrate(&host, &[target(Some(3.0))]).unwrap();
        assert_eq!(delivered(&host, &known[0]).unwrap(), Some(1_000_000));
        let unknown = calibrate(&host, &[target(None)]).unwrap();
        assert_eq!(delivered(&host, &unknown[0]).unwrap(), None);
    }
}
