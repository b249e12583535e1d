//! Amounts of work as people state them, and what they are in cycles.

use crate::behavior::Work;
use flyball_platform::Platform;
use flyball_units::{KiloHertz, Nanos};

/// An amount of work that scales with frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Cycles of the reference kind of core.
    Cycles(u64),
    /// As much as the fastest CPU does in this time at its highest frequency.
    AtFullSpeed(Nanos),
    /// As much as the reference kind of core does in this time at a frequency.
    At(Nanos, KiloHertz),
}

impl Amount {
    /// In cycles of the reference kind of core.
    pub fn cycles(self, full_speed: FullSpeed) -> u64 {
        match self {
            Amount::Cycles(cycles) => cycles,
            Amount::AtFullSpeed(time) => full_speed.cycles(time),
            Amount::At(time, frequency) => FullSpeed(frequency.0).cycles(time),
        }
    }

    /// As work, with time for memory beside it.
    pub fn work(self, memory: Nanos, full_speed: FullSpeed) -> Work {
        Work { cycles: self.cycles(full_speed), memory }
    }

    /// Whether it is nothing, or too little for one cycle.
    pub fn is_zero(self) -> bool {
        match self {
            Amount::Cycles(cycles) => cycles == 0,
            Amount::AtFullSpeed(time) => time == Nanos::ZERO,
            Amount::At(time, frequency) => FullSpeed(frequency.0).cycles(time) == 0,
        }
    }
}

/// Speed of a machine's fastest CPU at its highest frequency, in reference cycles per millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullSpeed(pub u64);

impl FullSpeed {
    /// Of a machine.
    pub fn of(platform: &Platform) -> FullSpeed {
        let speeds = platform.cpus.iter().filter_map(|cpu| {
            let points = &platform.domains.get(cpu.domain)?.points;
            let fastest = points.iter().map(|point| point.effective.0).max()?;
            Some((fastest as f64 * cpu.work_per_cycle).round() as u64)
        });
        FullSpeed(speeds.max().unwrap_or(1))
    }

    /// Cycles in a time; saturates.
    pub fn cycles(self, time: Nanos) -> u64 {
        let cycles = u128::from(time.0) * u128::from(self.0) / 1_000_000;
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_of_table_1() {
        let amount = Amount::At(Nanos(229_200_000), KiloHertz(1_700_000));
        assert_eq!(amount.cycles(FullSpeed(3_204_000)), 389_640_000);
        assert_eq!(Amount::AtFullSpeed(Nanos(1_000_000)).cycles(FullSpeed(1_700_000)), 1_700_000);
        assert_eq!(FullSpeed(u64::MAX).cycles(Nanos(u64::MAX)), u64::MAX);
    }
}
