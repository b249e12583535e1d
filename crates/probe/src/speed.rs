//! From ticks to kilohertz, or to a share of the best seen.

use super::calibrate::Calibration;
use super::chain::ProbeSample;
use flyball_units::CpuId;

/// What a sample means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Frequency; none where cycles per multiplication are unknown.
    pub khz: Option<u64>,
    /// Speed in thousandths of the best that the calibration saw; above 1000 where the core
    /// became faster since.
    pub permille: Option<u32>,
}

/// The calibrations of the CPUs that may be probed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibrations(pub Vec<Calibration>);

impl Calibrations {
    /// The calibration of `cpu`.
    pub fn of(&self, cpu: CpuId) -> Option<&Calibration> {
        self.0.iter().find(|calibration| calibration.cpu == cpu)
    }

    /// What `sample`, taken on `cpu`, means. Nothing where it was disturbed, or where its CPU is
    /// unknown or was not calibrated.
    pub fn speed(&self, sample: ProbeSample, cpu: Option<CpuId>) -> Speed {
        let calibration = cpu.and_then(|cpu| self.of(cpu));
        match calibration {
            Some(calibration) if !sample.disturbed => Speed {
                khz: calibration.khz(sample.ticks),
                permille: calibration.permille(sample.ticks),
            },
            _ => Speed::default(),
        }
    }
}
