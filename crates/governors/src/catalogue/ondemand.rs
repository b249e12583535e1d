//! To the maximum above a threshold, in proportion to the load below it.

use crate::accounting::{LoadMeter, Reading, scaled};
use crate::cpufreq_policy::CpufreqPolicy;
use crate::transition_delay;
use crate::tunables::{TunableSpec, Tunables, switch};
use crate::{CpuTimes, Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{KiloHertz, Nanos, Relation};

/// Linux's `ondemand`.
///
/// load > `up_threshold`: the policy's maximum, and the next sample `sampling_down_factor` times
/// later. Else f_min + load x (f_max - f_min) / 100 with the *hardware's* limits, so that a narrow
/// policy does not change the slope. `powersave_bias` lowers each target by so many thousandths and
/// reaches the result on average, by alternating two operating points within a sample; the kernel
/// computes the parts of that sample in 32 bits, so they are wrong where more than 4.29 x 10^12 Hz us
/// lie between the two (537 MHz at 8 ms), and so are ours.
#[derive(Debug)]
pub struct Ondemand {
    tunables: Tunables<6>,
    policy: Option<CpufreqPolicy>,
    meter: LoadMeter,
    /// The sampling period is stretched by this while at the maximum.
    rate_mult: u64,
    /// Second part of an alternating sample.
    low: Option<SecondPart>,
}

/// How a sample goes on that is to reach a frequency between two operating points on average.
#[derive(Clone, Copy, Debug)]
struct SecondPart {
    low: KiloHertz,
    /// Length of the part before, at the higher point. Where it is 0 there is no second part.
    first_us: u32,
    rest_us: u32,
}

const SAMPLING_RATE: usize = 0;
const UP_THRESHOLD: usize = 1;
const SAMPLING_DOWN_FACTOR: usize = 2;
const IGNORE_NICE_LOAD: usize = 3;
const POWERSAVE_BIAS: usize = 4;
const IO_IS_BUSY: usize = 5;

const SPECS: [TunableSpec; 6] = [
    TunableSpec {
        name: "sampling_rate",
        doc: "time between samples, in us; default: the transition delay, at least 2 ticks",
        default: 8_000,
        min: 1,
        max: u32::MAX as i64,
    },
    TunableSpec {
        name: "up_threshold",
        doc: "load above which it goes to the maximum, in percent; default: 95 with exact idle \
              accounting, else 80",
        default: 95,
        min: 1,
        max: 100,
    },
    TunableSpec {
        name: "sampling_down_factor",
        doc: "sampling periods until the next sample while at the maximum",
        default: 1,
        min: 1,
        max: 100_000,
    },
    switch("ignore_nice_load", "whether time of niced tasks counts as idle"),
    TunableSpec {
        name: "powersave_bias",
        doc: "thousandths by which each target is lowered",
        default: 0,
        min: 0,
        max: 1000,
    },
    switch("io_is_busy", "whether waiting for I/O counts as busy (upstream: 1 on most Intel CPUs)"),
];

impl Ondemand {
    /// Upstream name.
    pub const NAME: &'static str = "ondemand";

    fn period_us(&self) -> u64 {
        self.tunables.unsigned(SAMPLING_RATE)
    }

    fn sample(&mut self, times: &[CpuTimes], now: Nanos) -> Decision {
        let rate = self.period_us();
        let period = rate.saturating_mul(self.rate_mult);
        if let Some(part) = self.low.take().filter(|part| part.first_us > 0)
            && let Some(policy) = &mut self.policy
        {
            let decision = policy.target(part.low, Relation::HE, "second part of a biased sample");
            return decision.wake_at(after(now, part.rest_us.into()));
        }
        let reading = Reading {
            nice_is_idle: self.tunables.on(IGNORE_NICE_LOAD),
            iowait_is_busy: self.tunables.on(IO_IS_BUSY),
        };
        let Some(sample) = self.meter.sample(times, now, period, reading) else {
            return Decision::NONE.wake_at(now + Nanos::from_micros(rate));
        };
        let decision = self.decide(sample.load);
        let next = match self.low {
            Some(part) => part.first_us.into(),
            None => rate.saturating_mul(self.rate_mult),
        };
        decision.wake_at(after(now, next))
    }

    fn decide(&mut self, load: u32) -> Decision {
        let (bias, rate) = (self.tunables.unsigned(POWERSAVE_BIAS), self.period_us());
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        if i64::from(load) > self.tunables.get(UP_THRESHOLD) {
            if policy.current < policy.max {
                self.rate_mult = self.tunables.unsigned(SAMPLING_DOWN_FACTOR);
            }
            if bias == 0 {
                return policy.target(policy.max, Relation::HE, "load above up_threshold");
            }
            let (target, low) = biased(policy, policy.max, Relation::HE, bias, rate);
            self.low = low;
            return policy.target(target, Relation::LE, "load above up_threshold, biased");
        }
        self.rate_mult = 1;
        let (lowest, highest) = (policy.opps.min().0, policy.opps.max().0);
        // At most the highest, as the load is at most 100.
        let slope = scaled(highest - lowest, load.min(100).into(), 100);
        let next = KiloHertz(lowest + slope);
        if bias == 0 {
            return policy.target(next, Relation::CE, "in proportion to the load");
        }
        let (target, low) = biased(policy, next, Relation::LE, bias, rate);
        self.low = low;
        policy.target(target, Relation::CE, "in proportion to the load, biased")
    }
}

/// So many us after `now`. A part of no length ends at the next update of the scheduler, which is later.
fn after(now: Nanos, us: u64) -> Nanos {
    now + Nanos::from_micros(us).max(Nanos(1))
}

/// The operating point to begin a biased sample with, and the second part, where two are needed to
/// reach the lowered frequency on average.
fn biased(
    policy: &CpufreqPolicy,
    target: KiloHertz,
    relation: Relation,
    bias: u64,
    rate: u64,
) -> (KiloHertz, Option<SecondPart>) {
    let wanted = policy.resolve(target, relation).0 as u32;
    let average = wanted.wrapping_sub(wanted.wrapping_mul(bias.min(1000) as u32) / 1000);
    // Of the whole table, whatever the limits.
    let (opps, rate) = (&policy.opps, rate as u32);
    let point = |relation| {
        opps.resolve(KiloHertz(average.into()), opps.min(), opps.max(), relation).0 as u32
    };
    let (low, high) = (point(Relation::HE), point(Relation::LE));
    if high == low {
        return (KiloHertz(low.into()), None);
    }
    // Not 0, and with efficient points both may lie on one side of the average.
    let span = high.wrapping_sub(low);
    let first_us = average.wrapping_sub(low).wrapping_mul(rate).wrapping_add(span / 2) / span;
    let rest_us = rate.wrapping_sub(first_us);
    (KiloHertz(high.into()), Some(SecondPart { low: KiloHertz(low.into()), first_us, rest_us }))
}

impl Default for Ondemand {
    fn default() -> Ondemand {
        Ondemand {
            tunables: Tunables::new(Ondemand::NAME, SPECS),
            policy: None,
            meter: LoadMeter::default(),
            rate_mult: 1,
            low: None,
        }
    }
}

impl Governor for Ondemand {
    fn name(&self) -> &'static str {
        Ondemand::NAME
    }

    fn needs(&self) -> Needs {
        Needs { poll: true, deferrable: true, ..Needs::default() }
    }

    fn start(&mut self, domain: &Domain, now: Nanos) -> Decision {
        let (default, lowest) = transition_delay::sampling_rate(domain);
        self.tunables.rebase(SAMPLING_RATE, default, lowest);
        let threshold = if domain.exact_idle_accounting { 95 } else { 80 };
        self.tunables.rebase(UP_THRESHOLD, threshold, 1);
        self.policy = Some(CpufreqPolicy::of(domain));
        self.meter.clear();
        self.rate_mult = 1;
        self.low = None;
        Decision::NONE.wake_at(now)
    }

    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        match event {
            Event::Poll { times } => self.sample(times, now),
            Event::Limits { min, max } => {
                self.low = None;
                policy.apply_limits(*min, *max).wake_at(now)
            }
            Event::Cpus { .. } => {
                self.meter.clear();
                Decision::NONE
            }
            Event::Applied { frequency } => {
                policy.current = *frequency;
                Decision::NONE
            }
            _ => Decision::NONE,
        }
    }

    fn poll_interval(&self) -> Option<Nanos> {
        Some(Nanos::from_micros(self.period_us()))
    }

    fn tunables(&self) -> Vec<Tunable> {
        self.tunables.list()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        match self.tunables.set(name, value)? {
            SAMPLING_DOWN_FACTOR => self.rate_mult = 1,
            // The next sample is a whole one.
            SAMPLING_RATE => self.low = None,
            // The kernel forgets the frequency of the second part but not the part: it ends at the
            // lowest.
            POWERSAVE_BIAS => {
                if let Some(part) = &mut self.low {
                    part.low = KiloHertz(0);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::testing::{Load, domain};

    const LEVELS: [u64; 6] = [600_000, 800_000, 1_000_000, 1_200_000, 1_400_000, 1_700_000];

    fn started(governor: &mut Ondemand) -> Load {
        let start = governor.start(&domain(&LEVELS), Nanos::ZERO);
        assert_eq!(start.wake_at, Some(Nanos::ZERO), "the first look is due at once");
        let load = Load::new();
        assert_eq!(governor.on(&load.poll(), load.now()).request, None);
        load
    }

    fn step(governor: &mut Ondemand, load: &mut Load, percent: u64) -> Decision {
        load.pass(10, percent);
        governor.on(&load.poll(), load.now())
    }

    #[test]
    fn the_maximum_above_the_threshold_and_proportion_below() {
        let mut governor = Ondemand::default();
        governor.set("sampling_rate", 10_000).unwrap();
        let mut load = started(&mut governor);
        let mut point = |percent| {
            step(&mut governor, &mut load, percent);
            governor.policy.as_ref().unwrap().current.0
        };
        assert_eq!(point(96), 1_700_000);
        assert_eq!(point(95), 1_700_000, "600 + 0.95 * 1100 = 1645: 1700 is closest");
        assert_eq!(point(86), 1_400_000, "1546: closest is 1400");
        assert_eq!(point(50), 1_200_000, "1150: closest is 1200");
        assert_eq!(point(9), 600_000, "699: closest is 600");
        assert_eq!(point(0), 600_000);
    }

    #[test]
    fn the_maximum_is_kept_for_sampling_down_factor_periods() {
        let mut governor = Ondemand::default();
        governor.set("sampling_rate", 10_000).unwrap();
        governor.set("sampling_down_factor", 5).unwrap();
        let mut load = started(&mut governor);
        let decision = step(&mut governor, &mut load, 100);
        assert_eq!(decision.wake_at, Some(Nanos::from_millis(60)));
        load.pass(50, 10);
        let decision = governor.on(&load.poll(), load.now());
        assert_eq!(decision.wake_at, Some(Nanos::from_millis(70)), "back to one period");
    }

    #[test]
    fn the_slope_is_the_hardwares_whatever_the_policy() {
        let mut governor = Ondemand::default();
        governor.set("sampling_rate", 10_000).unwrap();
        let mut load = started(&mut governor);
        let limits = Event::Limits { min: KiloHertz(600_000), max: KiloHertz(1_000_000) };
        assert_eq!(governor.on(&limits, load.now()).wake_at, Some(load.now()));
        let decision = step(&mut governor, &mut load, 30);
        let target = KiloHertz(930_000);
        assert_eq!(decision.request, Some(Request::Frequency { target, relation: Relation::CE }));
    }

    #[test]
    fn a_bias_is_reached_by_alternating() {
        let mut governor = Ondemand::default();
        governor.set("sampling_rate", 10_000).unwrap();
        governor.set("powersave_bias", 100).unwrap();
        let mut load = started(&mut governor);
        // 1700 less a tenth is 1530: between 1400 and 1700, 43 % of the time high.
        let decision = step(&mut governor, &mut load, 100);
        assert_eq!(governor.policy.as_ref().unwrap().current.0, 1_700_000);
        assert_eq!(decision.wake_at, Some(load.now() + Nanos::from_micros(4_333)));
        let decision = governor.on(&load.poll(), load.now());
        assert_eq!(governor.policy.as_ref().unwrap().current.0, 1_400_000);
        assert_eq!(decision.wake_at, Some(load.now() + Nanos::from_micros(5_667)));
    }

    #[test]
    fn the_sampling_rate_comes_from_ticks_and_driver() {
        let mut governor = Ondemand::default();
        let mut domain = domain(&LEVELS);
        domain.tick = Nanos::from_millis(4);
        governor.start(&domain, Nanos::ZERO);
        assert_eq!(governor.period_us(), 8_000);
        assert!(governor.set("sampling_rate", 7_999).is_err());
        domain.transition_latency = None;
        governor.start(&domain, Nanos::ZERO);
        assert_eq!(governor.period_us(), 6_442_450);
    }
}
