//! powerd++: the mean demand over some samples, divided by a target load.

use crate::accounting::{LastTimes, Reading, scaled};
use crate::catalogue::powerd::mode::{self, PowerdMode};
use crate::cpufreq_policy::CpufreqPolicy;
use crate::tunables::{TunableSpec, Tunables};
use crate::{CpuTimes, Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{KiloHertz, Nanos, Relation};

/// `powerd++`, a replacement of FreeBSD's powerd.
///
/// A sample is the maximum over the CPUs of f x (1 - idle / total), in MHz. Wanted is the mean of the
/// last `samples` divided by the target load (adp 512, hadp 384 of 1024), without hysteresis; at the
/// start the samples are filled with what keeps the present frequency. Where a critical temperature
/// is set, f_max x (T_crit - T) / (T_crit - T_high) is an upper bound between T_high and T_crit, and
/// the lowest frequency beyond.
#[derive(Debug)]
pub struct Powerdxx {
    tunables: Tunables<6>,
    domain: Option<State>,
}

#[derive(Debug)]
struct State {
    policy: CpufreqPolicy,
    on_battery: bool,
    last: LastTimes,
    /// Samples of demand in MHz, a ring.
    samples: Vec<u64>,
    at: usize,
    millicelsius: Option<i64>,
}

const MODE: usize = 0;
const LOAD: usize = 1;
const POLL: usize = 2;
const SAMPLES: usize = 3;
const HIGH: usize = 4;
const CRITICAL: usize = 5;

const SPECS: [TunableSpec; 6] = [
    mode::SPEC,
    TunableSpec {
        name: "load",
        doc: "target load of modes 0 to 2, in 1024ths; 0: the mode's own, 512 for adp, 384 for hadp",
        default: 0,
        min: 0,
        max: 1024,
    },
    TunableSpec {
        name: "poll",
        doc: "time between samples, in ms (-p)",
        default: 500,
        min: 1,
        max: 3_600_000,
    },
    TunableSpec { name: "samples", doc: "samples in the mean (-s)", default: 4, min: 1, max: 1000 },
    TunableSpec {
        name: "hitemp_high",
        doc: "temperature above which the frequency is bounded, in degrees Celsius; 0: 10 below \
              hitemp_critical (-H)",
        default: 0,
        min: 0,
        max: 150,
    },
    TunableSpec {
        name: "hitemp_critical",
        doc: "temperature at which the lowest frequency holds, in degrees Celsius; 0: no thermal \
              rule (-H)",
        default: 0,
        min: 0,
        max: 150,
    },
];

impl State {
    /// Fills the ring so that the present frequency is what is wanted.
    fn fill(&mut self, count: usize, target: u64) {
        let neutral = (self.policy.current.0 / 1000).saturating_mul(target) / 1024;
        self.samples = vec![neutral; count.max(1)];
        self.at = 0;
    }

    /// Takes a sample; whether there was one.
    fn sample(&mut self, times: &[CpuTimes]) -> bool {
        let Some(spent) = self.last.advance(times, Reading::default()) else { return false };
        let mhz = self.policy.current.0 / 1000;
        let demand =
            |cpu: &crate::accounting::Spent| mhz.saturating_sub(scaled(mhz, cpu.idle, cpu.total));
        let highest = spent.iter().filter(|cpu| cpu.total > 0).map(demand).max();
        if let Some(slot) = self.samples.get_mut(self.at) {
            *slot = highest.unwrap_or(0);
        }
        self.at = (self.at + 1) % self.samples.len().max(1);
        true
    }

    /// The mean of the samples over the target load, in MHz.
    fn wanted(&self, target: u64) -> u64 {
        let count = self.samples.len().max(1) as u64;
        let sum = self.samples.iter().fold(0_u64, |sum, &sample| sum.saturating_add(sample));
        (sum / count).saturating_mul(1024) / target.max(1)
    }

    /// What temperature allows, in kHz.
    fn bound(&self, high: i64, critical: i64) -> Option<u64> {
        let temperature = self.millicelsius.filter(|_| critical > 0)?;
        let critical = critical * 1000;
        let high = if high > 0 { high * 1000 } else { critical - 10_000 };
        if temperature >= critical {
            return Some(0);
        }
        if temperature <= high {
            return None;
        }
        // high < temperature < critical, so both differences are positive.
        let (room, range) = ((critical - temperature) as u128, (critical - high) as u128);
        u64::try_from(u128::from(self.policy.opps.max().0) * room / range).ok()
    }
}

impl Powerdxx {
    /// Upstream name.
    pub const NAME: &'static str = "powerd++";

    /// The target load, in 1024ths.
    fn target_load(&self, mode: PowerdMode) -> u64 {
        match (self.tunables.unsigned(LOAD), mode) {
            (0, PowerdMode::Adaptive) => 512,
            (0, _) => 384,
            (load, _) => load,
        }
    }

    fn poll(&mut self, times: &[CpuTimes], now: Nanos) -> Decision {
        let on_battery = self.domain.as_ref().is_some_and(|state| state.on_battery);
        let mode = PowerdMode::of(self.tunables.get(MODE), on_battery);
        let (target, count) = (self.target_load(mode), self.tunables.unsigned(SAMPLES) as usize);
        let (high, critical) = (self.tunables.get(HIGH), self.tunables.get(CRITICAL));
        let next = now + Nanos::from_millis(self.tunables.unsigned(POLL));
        let Some(state) = &mut self.domain else { return Decision::NONE };
        if state.samples.len() != count {
            state.fill(count, target);
        }
        if !state.sample(times) {
            return Decision::NONE.wake_at(next);
        }
        let (wanted, why) = match mode {
            PowerdMode::Minimum => (0, "minimum"),
            PowerdMode::Maximum => (state.policy.max.0, "maximum"),
            _ => (state.wanted(target).saturating_mul(1000), "mean demand over the target load"),
        };
        let decision = match state.bound(high, critical) {
            Some(bound) if bound < wanted => {
                state.policy.target(KiloHertz(bound), Relation::C, "bounded by temperature")
            }
            _ => state.policy.target(KiloHertz(wanted), Relation::C, why),
        };
        decision.wake_at(next)
    }
}

impl Default for Powerdxx {
    fn default() -> Powerdxx {
        Powerdxx { tunables: Tunables::new(Powerdxx::NAME, SPECS), domain: None }
    }
}

impl Governor for Powerdxx {
    fn name(&self) -> &'static str {
        Powerdxx::NAME
    }

    fn needs(&self) -> Needs {
        Needs { poll: true, temperature: self.tunables.get(CRITICAL) > 0, ..Needs::default() }
    }

    fn start(&mut self, domain: &Domain, now: Nanos) -> Decision {
        self.domain = Some(State {
            policy: CpufreqPolicy::of(domain),
            on_battery: domain.on_battery == Some(true),
            last: LastTimes::default(),
            samples: Vec::new(),
            at: 0,
            millicelsius: None,
        });
        Decision::NONE.wake_at(now)
    }

    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision {
        let Some(state) = &mut self.domain else { return Decision::NONE };
        match event {
            Event::Poll { times } => return self.poll(times, now),
            Event::Limits { min, max } => return state.policy.apply_limits(*min, *max),
            Event::Applied { frequency } => state.policy.current = *frequency,
            Event::Cpus { .. } => state.last.clear(),
            Event::Temperature { millicelsius } => {
                state.millicelsius = Some(i64::from(*millicelsius));
            }
            _ => {}
        }
        Decision::NONE
    }

    fn poll_interval(&self) -> Option<Nanos> {
        Some(Nanos::from_millis(self.tunables.unsigned(POLL)))
    }

    fn tunables(&self) -> Vec<Tunable> {
        self.tunables.list()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        let TunableSpec { name: critical, max, .. } = SPECS[CRITICAL];
        let high = self.tunables.get(HIGH);
        if name == critical && 0 < value && value <= high {
            let (governor, min) = (Powerdxx::NAME, high + 1);
            return Err(TunableError::OutOfRange { governor, name: critical, value, min, max });
        }
        if self.tunables.set(name, value)? == CRITICAL {
            self.tunables.narrow(HIGH, 0, if value > 0 { value - 1 } else { max });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Load, domain};

    const LEVELS: [u64; 6] = [600_000, 800_000, 1_000_000, 1_200_000, 1_400_000, 1_700_000];

    fn started(governor: &mut Powerdxx, khz: u64) -> Load {
        let mut domain = domain(&LEVELS);
        domain.current = KiloHertz(khz);
        governor.start(&domain, Nanos::ZERO);
        let load = Load::new();
        governor.on(&load.poll(), load.now());
        load
    }

    fn step(governor: &mut Powerdxx, load: &mut Load, percent: u64) -> u64 {
        load.pass(500, percent);
        governor.on(&load.poll(), load.now());
        governor.domain.as_ref().unwrap().policy.current.0 / 1000
    }

    #[test]
    fn the_mean_of_four_samples_over_the_target() {
        let mut governor = Powerdxx::default();
        let mut load = started(&mut governor, 600_000);
        // The ring holds 225 MHz four times; 600 replaces one: 318 x 1024 / 384 = 848.
        assert_eq!(step(&mut governor, &mut load, 100), 800);
        // 225, 225, 600, 800: 462 x 1024 / 384 = 1232.
        assert_eq!(step(&mut governor, &mut load, 100), 1200);
        assert_eq!(step(&mut governor, &mut load, 100), 1700, "706 x 1024 / 384 = 1882");
        for _ in 0..4 {
            step(&mut governor, &mut load, 0);
        }
        assert_eq!(step(&mut governor, &mut load, 0), 600);
    }

    #[test]
    fn heat_bounds_the_frequency() {
        let mut governor = Powerdxx::default();
        assert!(!governor.needs().temperature);
        governor.set("hitemp_critical", 100).unwrap();
        assert!(governor.needs().temperature);
        assert!(governor.set("hitemp_high", 100).is_err());
        let mut load = started(&mut governor, 1_700_000);
        let mut at = |millicelsius| {
            governor.on(&Event::Temperature { millicelsius }, load.now());
            step(&mut governor, &mut load, 100)
        };
        assert_eq!(at(90_000), 1700);
        assert_eq!(at(95_000), 800, "1700 x 5 / 10 = 850");
        assert_eq!(at(100_000), 600);
        assert_eq!(at(60_000), 1700);
    }
}
