//! A policy of ondemand or conservative, and the part of cpufreq that calls it: at an update of the
//! scheduler, where the delay that it asked for is over since its last sample.

use super::{Event, Player, advance, domain, limits};
use flyball_governors::units::{KernelRules, KiloHertz, Nanos, OppTable};
use flyball_governors::{CpuTimes, Decision, Governor, Request, create};

const ONDEMAND: [&str; 6] = [
    "sampling_rate",
    "up_threshold",
    "sampling_down_factor",
    "ignore_nice_load",
    "io_is_busy",
    "powersave_bias",
];
const CONSERVATIVE: [&str; 6] = [
    "sampling_rate",
    "up_threshold",
    "sampling_down_factor",
    "ignore_nice_load",
    "freq_step",
    "down_threshold",
];

pub struct Dbs {
    name: &'static str,
    rules: KernelRules,
    governor: Option<Box<dyn Governor>>,
    now: Nanos,
    times: Vec<CpuTimes>,
    driver: Option<Driver>,
    last_sample: Nanos,
    delay: Nanos,
}

/// What the driver resolves requests by.
struct Driver {
    opps: OppTable,
    min: KiloHertz,
    max: KiloHertz,
    current: KiloHertz,
}

impl Driver {
    /// Carries a decision out: the frequency that it led to, 0 where it asked for none.
    fn request(&mut self, decision: Decision) -> u64 {
        let Some(Request::Frequency { target, relation }) = decision.request else { return 0 };
        self.current = self.opps.resolve(target, self.min, self.max, relation);
        self.current.0
    }
}

impl Dbs {
    pub fn new(name: &'static str, rules: KernelRules) -> Dbs {
        Dbs {
            name,
            rules,
            governor: None,
            now: Nanos::ZERO,
            times: Vec::new(),
            driver: None,
            last_sample: Nanos::ZERO,
            delay: Nanos::ZERO,
        }
    }

    fn start(&mut self, event: &Event) -> Option<()> {
        let domain = domain(event, self.rules)?;
        let mut governor = create(self.name).ok()?;
        self.now = Nanos(event[5]);
        self.times = vec![CpuTimes::ZERO; domain.cpus.len()];
        self.last_sample = Nanos::ZERO;
        governor.start(&domain, self.now);
        let times = self.times.as_slice().into();
        let decision = governor.on(&flyball_governors::Event::Poll { times }, self.now);
        self.governor = Some(governor);
        self.driver = Some(Driver {
            min: domain.min,
            max: domain.max,
            current: domain.current,
            opps: domain.opps,
        });
        self.wait(decision);
        Some(())
    }

    fn wait(&mut self, decision: Decision) {
        if let Some(at) = decision.wake_at {
            let delay = at.since(self.now);
            // Nothing is asked for now: 1 ns stands for the next update.
            self.delay = if delay == Nanos(1) { Nanos::ZERO } else { delay };
        }
    }

    fn pass(&mut self, event: &Event, idle_only: bool) {
        advance(&mut self.now, event);
        for (times, shares) in self.times.iter_mut().zip(&event[2..5]) {
            let part =
                |at: u64| if idle_only { 0 } else { (event[1] * (shares >> at & 0xffff)) >> 10 };
            let (busy, nice, iowait) = (part(0), part(16), part(32));
            times.busy.0 += busy;
            times.nice.0 += nice;
            times.iowait.0 += iowait;
            times.idle.0 += event[1] - busy - nice - iowait;
        }
    }
}

impl Player for Dbs {
    fn play(&mut self, event: &Event, values: &mut Vec<u64>) {
        let kind = event[0] & 0xff;
        match kind {
            0 if self.start(event).is_none() => return,
            1 | 2 => self.pass(event, kind == 2),
            _ => {}
        }
        let (Some(governor), Some(driver)) = (&mut self.governor, &mut self.driver) else { return };
        let mut decision = Decision::NONE;
        match kind {
            1 if self.now.0.wrapping_sub(self.last_sample.0) as i64 >= self.delay.0 as i64 => {
                self.last_sample = self.now;
                let times = self.times.as_slice().into();
                decision = governor.on(&flyball_governors::Event::Poll { times }, self.now);
            }
            2 => {
                let (min, max) = limits(event);
                let (low, high) = (driver.opps.min(), driver.opps.max());
                driver.max = max.max(low).min(high);
                driver.min = min.max(low).min(high).min(driver.max);
                decision = governor.on(&flyball_governors::Event::Limits { min, max }, self.now);
            }
            3 => {
                let names = if self.name == "ondemand" { ONDEMAND } else { CONSERVATIVE };
                let set = governor.set(names[(event[2] % 6) as usize], event[3] as i64);
                if event[2] == 0 && set.is_ok() {
                    self.delay = Nanos::ZERO;
                }
            }
            _ => {}
        }
        let before = driver.current;
        let requested = driver.request(decision);
        let requested = if driver.current == before { 0 } else { requested };
        values.extend([requested, driver.current.0]);
        self.wait(decision);
        values.extend([self.last_sample.0, self.delay.0]);
    }
}
