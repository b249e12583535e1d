//! FreeBSD's powerd as its current source has it.

use crate::accounting::{LastTimes, Reading};
use crate::cpufreq_policy::CpufreqPolicy;
use crate::tunables::{TunableSpec, Tunables, switch};
use crate::{CpuTimes, Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{KiloHertz, Nanos, Relation};

pub(super) mod mode;

use mode::PowerdMode;

/// FreeBSD's `powerd`, modes adp and hadp.
///
/// It steers a wanted frequency f of its own, in whole MHz, and asks for level(f), the lowest
/// operating point at or above it. With the load L = sum over *all* CPUs of the machine of (100 - 100 x
/// idle / total) and the marks R and I:
///
/// - adp up, L > R: 2 f when L > 95 or L > 2 R, else f L / R; at most f_max. Down, L < I and
///   f_cur L < level(7/8 f) R: 7/8 f.
/// - hadp up, L > R / 2: 4 f when L > 95 or L > R, else 2 f L / R; at most 2 f_max, which delays the
///   way down. Down, L < I / 2 and f_cur L < level(31/32 f) R / 2: 31/32 f.
///
/// The frequency is read back only when the count of polls without a change is a multiple of 32.
/// Outside hadp, polls come half as often after 120 of them and a quarter after 360.
#[derive(Debug)]
pub struct Powerd {
    tunables: Tunables<5>,
    domain: Option<State>,
}

#[derive(Debug)]
struct State {
    policy: CpufreqPolicy,
    on_battery: bool,
    last: LastTimes,
    /// f, in MHz.
    wanted: u64,
    /// f_cur in MHz, as last read back.
    current: u64,
    /// Polls since the last change.
    unchanged: u64,
}

const MODE: usize = 0;
const POLL_IVAL: usize = 1;
const RUNNING_MARK: usize = 2;
const IDLE_MARK: usize = 3;
const NONICE: usize = 4;

const SPECS: [TunableSpec; 5] = [
    mode::SPEC,
    TunableSpec {
        name: "poll_ival",
        doc: "time between polls, in ms (-p)",
        default: 250,
        min: 5,
        max: 60_000,
    },
    TunableSpec {
        name: "cpu_running_mark",
        doc: "R: load above which the frequency rises, in percent (-r)",
        default: 75,
        min: 1,
        max: 100,
    },
    TunableSpec {
        name: "cpu_idle_mark",
        doc: "I: load below which the frequency may fall, in percent (-i)",
        default: 50,
        min: 0,
        max: 100,
    },
    switch("nonice", "whether time of niced tasks counts as idle (-N)"),
];

/// R and I.
#[derive(Clone, Copy, Debug)]
struct Marks {
    running: u64,
    idle: u64,
}

impl State {
    fn lowest(&self) -> u64 {
        self.level(0)
    }

    fn highest(&self) -> u64 {
        self.level(u64::MAX)
    }

    /// The lowest operating point at or above `mhz`, inside the limits; in MHz.
    fn level(&self, mhz: u64) -> u64 {
        // The operating points are listed in whole MHz, so 1487.5 MHz is at or above 1487.
        let inside = |mhz: &&u64| {
            let khz = KiloHertz(**mhz);
            self.policy.min <= khz && khz <= self.policy.max
        };
        let points = self.policy.opps.as_slice();
        let split = points.partition_point(|opp| opp.frequency.0 / 1000 < mhz);
        let (below, above) = points.split_at(split);
        let above = above.iter().map(|opp| &opp.frequency.0).find(inside);
        let chosen = above.or_else(|| below.iter().map(|opp| &opp.frequency.0).rfind(inside));
        chosen.copied().unwrap_or(self.policy.resolve(self.policy.max, Relation::L).0) / 1000
    }

    /// The exact frequency of a level.
    fn frequency(&self, mhz: u64) -> KiloHertz {
        let points = self.policy.opps.as_slice();
        let at = points.partition_point(|opp| opp.frequency.0 / 1000 < mhz);
        points.get(at).map_or(self.policy.max, |opp| opp.frequency)
    }

    fn adaptive(&mut self, load: u64, marks: Marks) -> &'static str {
        let Marks { running, idle } = marks;
        let f = self.wanted;
        if load > running {
            let raised = if load > 95 || load > running * 2 {
                f.saturating_mul(2)
            } else {
                f.saturating_mul(load) / running
            };
            self.wanted = raised.min(self.highest());
            "adp: load above the running mark"
        } else if load < idle
            && self.current.saturating_mul(load)
                < self.level(f.saturating_mul(7) / 8).saturating_mul(running)
        {
            self.wanted = (f.saturating_mul(7) / 8).max(self.lowest());
            "adp: load below the idle mark"
        } else {
            "adp: load between the marks"
        }
    }

    fn hiadaptive(&mut self, load: u64, marks: Marks) -> &'static str {
        let Marks { running, idle } = marks;
        let f = self.wanted;
        if load > running / 2 {
            let raised = if load > 95 || load > running {
                f.saturating_mul(4)
            } else {
                f.saturating_mul(load).saturating_mul(2) / running
            };
            self.wanted = raised.min(self.highest().saturating_mul(2));
            "hadp: load above half the running mark"
        } else if load < idle / 2
            && self.current.saturating_mul(load)
                < self.level(f.saturating_mul(31) / 32).saturating_mul(running) / 2
        {
            self.wanted = (f.saturating_mul(31) / 32).max(self.lowest());
            "hadp: load below half the idle mark"
        } else {
            "hadp: load between the marks"
        }
    }

    fn poll(
        &mut self,
        times: &[CpuTimes],
        mode: PowerdMode,
        marks: Marks,
        nonice: bool,
    ) -> Decision {
        let reading = Reading { nice_is_idle: nonice, iowait_is_busy: false };
        let Some(spent) = self.last.advance(times, reading) else { return Decision::NONE };
        if self.unchanged.is_multiple_of(32) {
            self.current = self.policy.current.0 / 1000;
        }
        self.unchanged += 1;
        let load = spent.iter().map(|cpu| cpu.load_percent()).sum();
        let (before, why) = match mode {
            PowerdMode::Adaptive => (self.level(self.current), self.adaptive(load, marks)),
            PowerdMode::Hiadaptive => (self.level(self.current), self.hiadaptive(load, marks)),
            PowerdMode::Minimum => {
                self.wanted = self.lowest();
                (self.current, "minimum")
            }
            PowerdMode::Maximum => {
                self.wanted = self.highest();
                (self.current, "maximum")
            }
        };
        let level = self.level(self.wanted);
        if level == before {
            return Decision { why, ..Decision::NONE };
        }
        self.unchanged = 0;
        let frequency = self.frequency(level);
        self.policy.target(frequency, Relation::L, why)
    }
}

impl Powerd {
    /// Upstream name.
    pub const NAME: &'static str = "powerd";
}

impl Default for Powerd {
    fn default() -> Powerd {
        Powerd { tunables: Tunables::new(Powerd::NAME, SPECS), domain: None }
    }
}

impl Governor for Powerd {
    fn name(&self) -> &'static str {
        Powerd::NAME
    }

    fn needs(&self) -> Needs {
        Needs { poll: true, whole_machine: true, ..Needs::default() }
    }

    fn start(&mut self, domain: &Domain, now: Nanos) -> Decision {
        let mut policy = CpufreqPolicy::of(domain);
        let current = policy.current.0 / 1000;
        let decision = policy.apply_limits(policy.min, policy.max);
        self.domain = Some(State {
            policy,
            on_battery: domain.on_battery == Some(true),
            last: LastTimes::default(),
            wanted: current.max(1),
            current,
            unchanged: 0,
        });
        decision.wake_at(now)
    }

    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision {
        let Some(state) = &mut self.domain else { return Decision::NONE };
        let mode = PowerdMode::of(self.tunables.get(MODE), state.on_battery);
        match event {
            Event::Poll { times } => {
                let marks = Marks {
                    running: self.tunables.unsigned(RUNNING_MARK).max(1),
                    idle: self.tunables.unsigned(IDLE_MARK),
                };
                let decision = state.poll(times, mode, marks, self.tunables.on(NONICE));
                let slower = match state.unchanged {
                    _ if mode == PowerdMode::Hiadaptive => 1,
                    0..120 => 1,
                    120..360 => 2,
                    _ => 4,
                };
                let wait = self.tunables.unsigned(POLL_IVAL) * slower;
                return decision.wake_at(now + Nanos::from_millis(wait));
            }
            Event::Limits { min, max } => return state.policy.apply_limits(*min, *max),
            Event::Applied { frequency } => state.policy.current = *frequency,
            Event::Cpus { .. } => state.last.clear(),
            _ => {}
        }
        Decision::NONE
    }

    fn poll_interval(&self) -> Option<Nanos> {
        Some(Nanos::from_millis(self.tunables.unsigned(POLL_IVAL)))
    }

    fn tunables(&self) -> Vec<Tunable> {
        self.tunables.list()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        self.tunables.set(name, value).map(drop)
    }
}

#[cfg(test)]
mod tests;
