//! Where time and energy are accounted, exactly at each change.

use super::Machine;
use super::cpu::{Activity, Cpu, Runs};
use super::domain::Domain;
use crate::observe::Observer;
use flyball_governors::Event;
use flyball_platform::Thermal;
use flyball_units::Nanos;

/// How often the temperature is looked at, in ns.
pub(super) const TEMPERATURE_PERIOD: u64 = 100_000_000;

/// Below the limit by this much, a throttled domain gets an operating point back, in kelvin.
const HYSTERESIS: f64 = 5.0;

/// The package's temperature.
pub(super) struct Temperature {
    pub(super) model: Thermal,
    /// At `since`, in degrees Celsius.
    pub(super) celsius: f64,
    pub(super) since: u64,
    pub(super) highest: f64,
}

impl Temperature {
    /// A package as warm as its surroundings.
    pub(super) fn new(model: Thermal) -> Temperature {
        let celsius = model.ambient_c;
        Temperature { model, celsius, since: 0, highest: celsius }
    }

    /// Lets `power` milliwatts flow until `now`.
    ///
    /// ```text
    ///   T(t) = T_inf + (T_0 - T_inf) * exp(-t / tau),  T_inf = ambient + R * power
    /// ```
    pub(super) fn advance(&mut self, now: u64, power: f64) {
        let passed = (now - self.since) as f64 / 1e9;
        self.since = now;
        if passed > 0.0 {
            let tends_to = self.model.ambient_c + self.model.resistance_k_per_w * power / 1e3;
            let left = exp_of_minus(passed / self.model.time_constant_s.max(1e-9));
            self.celsius = tends_to + (self.celsius - tends_to) * left;
            self.highest = self.highest.max(self.celsius);
        }
    }
}

/// exp(-x) for x >= 0, from basic operations only, so that it has the same bits on every machine.
///
/// x = 2^k * r with r below 1/8; the series for exp(-r) to the 9th power, or for r below 2^-10 to the 5th
/// (relative error below 1e-15 both), squared k times.
fn exp_of_minus(x: f64) -> f64 {
    if x > 700.0 {
        return 0.0;
    }
    let (mut rest, mut halvings) = (x, 0);
    while rest > 0.125 {
        rest *= 0.5;
        halvings += 1;
    }
    let mut result = 1.0;
    if rest < 1.0 / 1024.0 {
        for part in [1.0 / 5.0, 1.0 / 4.0, 1.0 / 3.0, 1.0 / 2.0, 1.0] {
            result = 1.0 - rest * part * result;
        }
        return result;
    }
    for n in (1..=9).rev() {
        result = 1.0 - rest / f64::from(n) * result;
    }
    for _ in 0..halvings {
        result *= result;
    }
    result
}

impl Cpu {
    /// Accounts time and energy up to `now`; to be called before anything changes that they depend
    /// on. `domain` is its clock domain.
    #[inline]
    pub(super) fn flush(&mut self, now: u64, domain: &mut Domain) {
        let passed = now - self.power_since;
        if passed == 0 {
            return;
        }
        self.power_since = now;
        self.totals.energy += self.power * passed as f64;
        match self.activity {
            Activity::Busy | Activity::Leaving => {
                self.totals.busy += passed;
                domain.busy_now += passed;
                match self.runs {
                    Runs::Plain => {}
                    Runs::Niced => self.totals.nice += passed,
                    Runs::Interrupt => self.totals.interrupt += passed,
                }
            }
            Activity::Idle(state) => {
                self.totals.idle += passed;
                if self.iowait_count > 0 {
                    self.totals.iowait += passed;
                }
                if let Some(time) = state.and_then(|at| self.totals.residency.get_mut(at)) {
                    *time += passed;
                }
            }
            Activity::Waking => self.totals.idle += passed,
        }
    }

    /// Sets its power, after its energy was accounted, to what it does now. By how many nanowatts
    /// it changed.
    #[inline]
    fn set_power(&mut self, domain: &Domain) -> i64 {
        let [busy, idle] = domain.powers;
        self.power = match self.activity {
            Activity::Busy | Activity::Leaving => busy,
            Activity::Idle(Some(state)) => {
                domain.idle_states.get(state).map_or(idle, |state| state.power_mw)
            }
            Activity::Idle(None) | Activity::Waking => idle,
        };
        let before = std::mem::replace(&mut self.nanowatts, (self.power * 1e6) as i64);
        self.nanowatts - before
    }
}

impl Machine {
    /// See [`Cpu::flush`].
    #[inline]
    pub(super) fn flush(&mut self, c: usize) {
        let cpu = &mut self.cpus[c];
        cpu.flush(self.now, &mut self.domains[cpu.domain]);
    }

    /// Sets the power of CPU `c`, whose energy is accounted, to what it does now.
    #[inline]
    pub(super) fn set_power(&mut self, c: usize) {
        if !self.leaping {
            let total = self.total_power();
            if let Some(temperature) = &mut self.temperature {
                temperature.advance(self.now, total);
            }
        }
        let cpu = &mut self.cpus[c];
        self.nanowatts += cpu.set_power(&self.domains[cpu.domain]);
    }

    /// Power of everything, in milliwatts.
    #[inline]
    pub(super) fn total_power(&self) -> f64 {
        self.base_power + self.nanowatts as f64 / 1e6
    }

    /// Looks at the temperature: throttles, and tells who needs it.
    pub(super) fn check_temperature<O: Observer>(&mut self, observer: &mut O) {
        self.temperature_at += TEMPERATURE_PERIOD;
        let total = if self.leaping { self.mean_power() } else { self.total_power() };
        let Some(temperature) = &mut self.temperature else { return };
        temperature.advance(self.now, total);
        let (celsius, limit) = (temperature.celsius, temperature.model.throttle_c);
        observer.temperature(Nanos(self.now), celsius);
        for d in 0..self.domains.len() {
            if self.domains[d].needs.temperature {
                let event = Event::Temperature { millicelsius: (celsius * 1e3) as i32 };
                self.tell(d, &event, self.domains[d].cpus[0], observer);
            }
            if let Some(limit) = limit {
                self.throttle(d, celsius, limit, observer);
            }
        }
    }

    /// Above the limit the domain's ceiling sinks by an operating point per look, below it (less
    /// the hysteresis) it rises by one.
    fn throttle<O: Observer>(&mut self, d: usize, celsius: f64, limit: f64, observer: &mut O) {
        let domain = &mut self.domains[d];
        let top = domain.points.len() - 1;
        let before = domain.thermal_cap;
        if celsius >= limit {
            domain.thermal_cap = before.saturating_sub(1);
        } else if celsius < limit - HYSTERESIS {
            domain.thermal_cap = (before + 1).min(top);
        }
        if domain.thermal_cap == before {
            return;
        }
        match domain.throttled_since {
            None => domain.throttled_since = Some(self.now),
            Some(since) if domain.thermal_cap == top => {
                self.throttled += self.now - since;
                domain.throttled_since = None;
            }
            Some(_) => {}
        }
        self.limits_changed(d, observer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_exact() {
        for x in [0.0, 1e-9, 0.1, 0.125, 0.3, 1.0, 5.0, 30.0] {
            let (ours, theirs) = (exp_of_minus(x), (-x).exp());
            assert!((ours - theirs).abs() <= 1e-13 * theirs, "{x}: {ours} {theirs}");
        }
        assert_eq!(exp_of_minus(1e9), 0.0);
    }

    #[test]
    fn segments_add_up() {
        let model = Thermal {
            ambient_c: 20.0,
            resistance_k_per_w: 4.0,
            time_constant_s: 2.0,
            throttle_c: None,
            critical_c: None,
        };
        let (mut whole, mut parts) = (Temperature::new(model), Temperature::new(model));
        whole.advance(3_000_000_000, 5000.0);
        for second in 1..=3 {
            parts.advance(second * 1_000_000_000, 5000.0);
        }
        assert!((whole.celsius - parts.celsius).abs() < 1e-12);
        let expected = 40.0 - 20.0 * (-1.5_f64).exp();
        assert!((whole.celsius - expected).abs() < 1e-12);
    }
}
