//! What follows from a description by a formula: power from a manufacturer's figures, and the table
//! that the kernel's energy model computes from power.
//!
//! Nothing is interpolated: a power is given for a point, or calculated from that point's own
//! voltage.

use crate::model::{ClockDomain, OperatingPoint};
use flyball_units::{Capacity, KiloHertz};

/// Power of a busy CPU: `P = C V^2 f + static`.
///
/// *C* is an effective switched capacitance: in microwatts per MHz and square volt it is the device
/// tree's `dynamic-power-coefficient`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerFormula {
    /// Dynamic part, in uW / (MHz V^2).
    pub coefficient_uw_per_mhz_v2: f64,
    /// Part that does not depend on the frequency, in mW.
    pub static_mw: f64,
}

impl PowerFormula {
    /// The formula through one published figure, such as a thermal design power at the highest
    /// frequency, taking all of it as dynamic. None where frequency or voltage is 0.
    pub fn through(frequency: KiloHertz, millivolts: f64, power_mw: f64) -> Option<PowerFormula> {
        let weight = weight(frequency, millivolts);
        (weight > 0.0).then(|| PowerFormula {
            coefficient_uw_per_mhz_v2: power_mw * 1000.0 / weight,
            static_mw: 0.0,
        })
    }

    /// The formula through two published figures (highest- and lowest-frequency mode). None where
    /// both lie at the same `f V^2`.
    pub fn through_two(
        high: (KiloHertz, f64, f64),
        low: (KiloHertz, f64, f64),
    ) -> Option<PowerFormula> {
        let (high_weight, low_weight) = (weight(high.0, high.1), weight(low.0, low.1));
        let slope = (high.2 - low.2) / (high_weight - low_weight);
        slope.is_finite().then_some(PowerFormula {
            coefficient_uw_per_mhz_v2: slope * 1000.0,
            static_mw: low.2 - slope * low_weight,
        })
    }

    /// Power of a busy CPU, in mW, at a speed and the supply voltage that belongs to it. For a
    /// throttle level the speed is the effective one: gated clocks switch nothing.
    pub fn busy_mw(&self, effective: KiloHertz, millivolts: f64) -> f64 {
        self.coefficient_uw_per_mhz_v2 * weight(effective, millivolts) / 1000.0 + self.static_mw
    }
}

/// f V^2 in MHz and square volts.
fn weight(frequency: KiloHertz, millivolts: f64) -> f64 {
    frequency.0 as f64 / 1e3 * (millivolts / 1e3).powi(2)
}

/// One row of the kernel's energy model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyPoint {
    /// The operating point's frequency.
    pub frequency: KiloHertz,
    /// Performance there, on the capacity scale: `capacity x f / f_max`, rounded as the kernel does.
    pub performance: u32,
    /// Power of one busy CPU, in microwatts.
    pub power_uw: u64,
    /// `10 x power / performance`: energy per unit of utilisation. The energy of a domain at a point
    /// is the sum of its CPUs' utilisation x cost.
    pub cost: u64,
    /// Whether a higher point costs no more: relation E passes over this one.
    pub inefficient: bool,
}

impl ClockDomain {
    /// The energy model that the kernel computes from this domain's power, lowest point first;
    /// `capacity` is its CPUs'.
    pub fn energy_model(&self, capacity: Capacity) -> Vec<EnergyPoint> {
        energy_model(&self.points, capacity)
    }
}

/// Formulas: the kernel's since 6.9, `cost = 10 x power / performance` in integers. From the
/// highest point down, one whose cost is not below the cheapest above it is inefficient: it gives
/// less speed for the same energy or more.
pub(crate) fn energy_model(points: &[OperatingPoint], capacity: Capacity) -> Vec<EnergyPoint> {
    let top = points.last().map_or(1, |point| point.frequency.0.max(1));
    let mut cheapest = u64::MAX;
    let mut rows: Vec<EnergyPoint> = points
        .iter()
        .rev()
        .map(|point| {
            let performance = u64::from(capacity.0).saturating_mul(point.frequency.0) / top;
            let power_uw = (point.busy_power_mw * 1000.0).round() as u64;
            let cost = power_uw.saturating_mul(10) / performance.max(1);
            let inefficient = cost >= cheapest;
            cheapest = cheapest.min(cost);
            EnergyPoint {
                frequency: point.frequency,
                performance: u32::try_from(performance).unwrap_or(u32::MAX),
                power_uw,
                cost,
                inefficient,
            }
        })
        .collect();
    rows.reverse();
    rows
}
