//! Small steps up and down.

use crate::accounting::{LoadMeter, Reading, Sample};
use crate::cpufreq_policy::CpufreqPolicy;
use crate::transition_delay;
use crate::tunables::{TunableSpec, Tunables, switch};
use crate::{CpuTimes, Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{KernelRule, KernelRules, KiloHertz, Nanos, Relation};

/// Linux's `conservative`.
///
/// It steps a frequency of its own, which need not be an operating point, by `freq_step` percent of
/// the policy's maximum: up above `up_threshold` (resolved with HE), down below `down_threshold`
/// every `sampling_down_factor` samples (resolved with LE), and then a step more for each missed
/// sampling period of an idle CPU. New limits begin it anew from the present frequency.
///
/// The missed periods' steps come off only where the load of the sample itself is below
/// `down_threshold`; by [`KernelRule::DeferredStepsAtAnyLoad`] whatever the load. By
/// [`KernelRule::ConservativeStopsAtEnds`] nothing is asked for at an end of the range, by
/// [`KernelRule::ConservativeKeepsRequest`] new limits change what it keeps only where that lies
/// outside them.
#[derive(Debug)]
pub struct Conservative {
    tunables: Tunables<6>,
    policy: Option<CpufreqPolicy>,
    meter: LoadMeter,
    /// Where it stands; kept between samples.
    requested: KiloHertz,
    down_skip: i64,
    rules: KernelRules,
}

const SAMPLING_RATE: usize = 0;
const UP_THRESHOLD: usize = 1;
const DOWN_THRESHOLD: usize = 2;
const FREQ_STEP: usize = 3;
const SAMPLING_DOWN_FACTOR: usize = 4;
const IGNORE_NICE_LOAD: usize = 5;

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
        doc: "load above which it steps up, in percent; above down_threshold",
        default: 80,
        min: 21,
        max: 100,
    },
    TunableSpec {
        name: "down_threshold",
        doc: "load below which it steps down, in percent; below up_threshold",
        default: 20,
        min: 1,
        max: 79,
    },
    TunableSpec {
        name: "freq_step",
        doc: "size of a step, in percent of the policy's maximum; 0 freezes the frequency",
        default: 5,
        min: 0,
        max: 100,
    },
    TunableSpec {
        name: "sampling_down_factor",
        doc: "samples until the next step down is considered",
        default: 1,
        min: 1,
        max: 10,
    },
    switch("ignore_nice_load", "whether time of niced tasks counts as idle"),
];

/// The step, in kHz, where the maximum is too small for a percentage of it (upstream's default in
/// percent, taken for kHz).
const LEAST_STEP: u64 = 5;

impl Conservative {
    /// Upstream name.
    pub const NAME: &'static str = "conservative";

    fn sample(&mut self, times: &[CpuTimes], now: Nanos) -> Decision {
        let rate = self.tunables.unsigned(SAMPLING_RATE);
        let nice_is_idle = self.tunables.on(IGNORE_NICE_LOAD);
        let reading = Reading { nice_is_idle, iowait_is_busy: false };
        let decision = match self.meter.sample(times, now, rate, reading) {
            Some(sample) => self.decide(sample),
            None => Decision::NONE,
        };
        decision.wake_at(now + Nanos::from_micros(rate))
    }

    fn decide(&mut self, sample: Sample) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        if self.tunables.get(FREQ_STEP) == 0 {
            return Decision::NONE;
        }
        if self.requested > policy.max || self.requested < policy.min {
            self.requested = policy.current;
        }
        let step = match policy.max.0.saturating_mul(self.tunables.unsigned(FREQ_STEP)) / 100 {
            0 => LEAST_STEP,
            step => step,
        };
        // Also before a step up: after idle time the load may be that of the sample before.
        let any_load = self.rules.has(KernelRule::DeferredStepsAtAnyLoad);
        let low = i64::from(sample.own_load) < self.tunables.get(DOWN_THRESHOLD);
        let periods = sample.idle_periods.filter(|_| any_load || low);
        // In 32 bits, as the kernel's.
        let deferred = u64::from(periods.unwrap_or(0).wrapping_mul(step as u32));
        let less = |from: u64, steps: u64| {
            let above = u64::from(policy.min.0.wrapping_add(steps) as u32);
            if from > above { u64::from(from.wrapping_sub(steps) as u32) } else { policy.min.0 }
        };
        // What idle periods took off is kept only if a step follows.
        let wanted =
            if periods.is_some() { less(self.requested.0, deferred) } else { self.requested.0 };
        let stops_at_ends = self.rules.has(KernelRule::ConservativeStopsAtEnds);
        if i64::from(sample.load) > self.tunables.get(UP_THRESHOLD) {
            self.down_skip = 0;
            if stops_at_ends && wanted == policy.max.0 {
                return Decision::NONE;
            }
            let higher = u64::from(wanted.wrapping_add(step) as u32);
            self.requested = KiloHertz(higher.min(policy.max.0));
            return policy.target(self.requested, Relation::HE, "a step up");
        }
        self.down_skip += 1;
        if self.down_skip < self.tunables.get(SAMPLING_DOWN_FACTOR) {
            return Decision::NONE;
        }
        self.down_skip = 0;
        if i64::from(sample.load) >= self.tunables.get(DOWN_THRESHOLD) {
            return Decision::NONE;
        }
        self.requested = KiloHertz(if !stops_at_ends {
            less(wanted, step)
        } else if wanted == policy.min.0 {
            return Decision::NONE;
        } else if wanted > step {
            wanted - step
        } else {
            policy.min.0
        });
        policy.target(self.requested, Relation::LE, "a step down")
    }
}

impl Default for Conservative {
    fn default() -> Conservative {
        Conservative {
            tunables: Tunables::new(Conservative::NAME, SPECS),
            policy: None,
            meter: LoadMeter::default(),
            requested: KiloHertz(0),
            down_skip: 0,
            rules: KernelRules::NONE,
        }
    }
}

impl Governor for Conservative {
    fn name(&self) -> &'static str {
        Conservative::NAME
    }

    fn needs(&self) -> Needs {
        Needs { poll: true, deferrable: true, ..Needs::default() }
    }

    fn start(&mut self, domain: &Domain, now: Nanos) -> Decision {
        let (default, lowest) = transition_delay::sampling_rate(domain);
        self.tunables.rebase(SAMPLING_RATE, default, lowest);
        self.policy = Some(CpufreqPolicy::of(domain));
        self.meter.clear();
        self.requested = domain.current;
        self.down_skip = 0;
        self.rules = domain.rules;
        Decision::NONE.wake_at(now)
    }

    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        match event {
            Event::Poll { times } => self.sample(times, now),
            Event::Limits { min, max } => {
                let decision = policy.apply_limits(*min, *max);
                if !self.rules.has(KernelRule::ConservativeKeepsRequest) {
                    self.requested = policy.current;
                }
                decision.wake_at(now)
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
        Some(Nanos::from_micros(self.tunables.unsigned(SAMPLING_RATE)))
    }

    fn tunables(&self) -> Vec<Tunable> {
        self.tunables.list()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        self.tunables.set(name, value)?;
        self.tunables.narrow(UP_THRESHOLD, self.tunables.get(DOWN_THRESHOLD) + 1, 100);
        self.tunables.narrow(DOWN_THRESHOLD, 1, self.tunables.get(UP_THRESHOLD) - 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Load, domain};
    use flyball_units::KernelVersion;

    const LEVELS: [u64; 6] = [600_000, 800_000, 1_000_000, 1_200_000, 1_400_000, 1_700_000];

    fn started() -> (Conservative, Load) {
        let mut governor = Conservative::default();
        governor.set("sampling_rate", 10_000).unwrap();
        governor.start(&domain(&LEVELS), Nanos::ZERO);
        let load = Load::new();
        governor.on(&load.poll(), load.now());
        (governor, load)
    }

    /// Wanted frequency and operating point after 10 ms of a load.
    fn step(governor: &mut Conservative, load: &mut Load, percent: u64) -> (u64, u64) {
        load.pass(10, percent);
        governor.on(&load.poll(), load.now());
        (governor.requested.0 / 1000, governor.policy.as_ref().unwrap().current.0 / 1000)
    }

    #[test]
    fn it_climbs_in_steps_of_5_percent_and_resolves_downward() {
        let (mut governor, mut load) = started();
        assert_eq!(step(&mut governor, &mut load, 80), (600, 600), "not above 80");
        assert_eq!(step(&mut governor, &mut load, 81), (685, 600));
        assert_eq!(step(&mut governor, &mut load, 100), (770, 600));
        assert_eq!(step(&mut governor, &mut load, 100), (855, 800));
        for _ in 0..10 {
            step(&mut governor, &mut load, 100);
        }
        assert_eq!(step(&mut governor, &mut load, 100), (1700, 1700));
    }

    #[test]
    fn it_descends_in_steps_and_resolves_upward() {
        let (mut governor, mut load) = started();
        for _ in 0..13 {
            step(&mut governor, &mut load, 100);
        }
        assert_eq!(step(&mut governor, &mut load, 20), (1700, 1700), "not below 20");
        assert_eq!(step(&mut governor, &mut load, 19), (1615, 1700));
        assert_eq!(step(&mut governor, &mut load, 0), (1530, 1700));
        assert_eq!(step(&mut governor, &mut load, 0), (1445, 1700));
        assert_eq!(step(&mut governor, &mut load, 0), (1360, 1400));
    }

    #[test]
    fn missed_idle_periods_come_off_before_a_step() {
        let (mut governor, mut load) = started();
        for _ in 0..13 {
            step(&mut governor, &mut load, 100);
        }
        step(&mut governor, &mut load, 0);
        assert_eq!(governor.requested.0 / 1000, 1615);
        load.pass(50, 0);
        governor.on(&load.poll(), load.now());
        assert_eq!(governor.requested.0 / 1000, 1615 - 6 * 85, "five periods and a step");
    }

    /// A burst after idle time, by both rules. From 1700 MHz with a step of 85: 30 ms idle are three
    /// periods of 10 ms and repeat the load of before once, 100 %; with 20 ms busy after them the load
    /// of the sample itself is 40 %. By the older rule the kept 1700 becomes 1700 - 3 x 85 + 85 = 1530;
    /// by the newer one it stays, for 40 is not below down_threshold.
    #[test]
    fn deferred_steps_count_at_a_high_load_by_the_older_rule_only() {
        for (rules, requested) in
            [(KernelRules::of(KernelVersion::new(6, 12)), 1530), (KernelRules::newest(), 1700)]
        {
            let mut governor = Conservative::default();
            governor.set("sampling_rate", 10_000).unwrap();
            governor.start(&domain(&LEVELS).rules(rules), Nanos::ZERO);
            let mut load = Load::new();
            governor.on(&load.poll(), load.now());
            for _ in 0..13 {
                step(&mut governor, &mut load, 100);
            }
            assert_eq!(governor.requested.0 / 1000, 1700);
            load.pass(30, 0).pass(20, 100);
            governor.on(&load.poll(), load.now());
            assert_eq!(governor.requested.0 / 1000, requested);
        }
    }

    /// At 1700 MHz limits of 600 to 1200 come and go. By the newer rule it stands at 1200 then, and
    /// the next step up leads to 1285; by the older one at 1700, which lies outside 1200, so that a
    /// sample in between would matter: none comes, and 1700 is asked for.
    #[test]
    fn new_limits_begin_it_anew_by_the_newer_rule() {
        for (rules, requested) in
            [(KernelRules::of(KernelVersion::new(6, 12)), 1700), (KernelRules::newest(), 1285)]
        {
            let mut governor = Conservative::default();
            governor.set("sampling_rate", 10_000).unwrap();
            governor.start(&domain(&LEVELS).rules(rules), Nanos::ZERO);
            let mut load = Load::new();
            governor.on(&load.poll(), load.now());
            for _ in 0..13 {
                step(&mut governor, &mut load, 100);
            }
            for max in [1_200_000, 1_700_000] {
                let limits = Event::Limits { min: KiloHertz(600_000), max: KiloHertz(max) };
                governor.on(&limits, load.now());
            }
            // 1700 is the maximum already: by the older rule nothing more is asked for.
            step(&mut governor, &mut load, 100);
            assert_eq!(governor.requested.0 / 1000, requested);
        }
    }

    #[test]
    fn thresholds_bound_each_other_and_no_step_freezes() {
        let (mut governor, mut load) = started();
        assert!(governor.set("down_threshold", 80).is_err());
        governor.set("up_threshold", 95).unwrap();
        governor.set("down_threshold", 80).unwrap();
        assert!(governor.set("up_threshold", 80).is_err());
        governor.set("freq_step", 0).unwrap();
        assert_eq!(step(&mut governor, &mut load, 100), (600, 600));
    }
}
