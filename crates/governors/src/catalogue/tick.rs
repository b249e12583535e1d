//! The improved rule of the 2010 paper: counts busy and idle statistics ticks.

mod counter;

use crate::cpufreq_policy::CpufreqPolicy;
use crate::tunables::{TunableSpec, Tunables, switch};
use crate::{Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use counter::{Counter, Rule, Verdict};
use flyball_units::{CpuId, KiloHertz, Nanos, Relation};

/// The rule of "Improved Power Management for FreeBSD", section 3 and its kernel patch: more than
/// `n` consecutive busy ticks raise the frequency to the maximum, more than `m` consecutive idle
/// ticks lower it by one operating point; each step resets its counter.
///
/// As in the patch, one pair of counters serves all CPUs. What the paper names as future work is
/// here as tunables, all off by default: larger or proportional steps down, smaller steps up,
/// counters per CPU (with a clock domain per core this is the per-core rule), idleness seen in the
/// idle loop, bursts that delay the rise, and a floor below which sleeping saves more than slowing.
///
/// Where an idle CPU has no ticks (NO_HZ) the plain rule never lowers: `idle_hook_us` does.
#[derive(Debug)]
pub struct Tick {
    tunables: Tunables<12>,
    domain: Option<State>,
}

#[derive(Debug)]
struct State {
    policy: CpufreqPolicy,
    stat_hz: u32,
    all: Counter,
    cpus: Vec<Cpu>,
    /// Since when all online CPUs have been idle, for the idle hook.
    all_idle_since: Option<Nanos>,
}

#[derive(Debug)]
struct Cpu {
    id: CpuId,
    online: bool,
    idle: bool,
    counter: Counter,
    /// Number of the last `tick_hz` interval that a tick was taken from.
    interval: Option<u64>,
}

const N: usize = 0;
const M: usize = 1;
const STEP_DOWN: usize = 2;
const STEP_UP: usize = 3;
const TICK_HZ: usize = 4;
const PER_CPU: usize = 5;
const IDLE_HOOK: usize = 6;
const PROPORTIONAL: usize = 7;
const HISTORY: usize = 8;
const BURST_TICKS: usize = 9;
const BURST_DELAY: usize = 10;
const CRITICAL: usize = 11;

const fn count(
    name: &'static str,
    doc: &'static str,
    default: i64,
    min: i64,
    max: i64,
) -> TunableSpec {
    TunableSpec { name, doc, default, min, max }
}

const SPECS: [TunableSpec; 12] = [
    count("n", "busy ticks that do not raise yet; the next one does", 3, 0, 1_000_000),
    count("m", "idle ticks that do not lower yet; the next one does", 3, 0, 1_000_000),
    count("step_down", "operating points per step down", 1, 1, 1000),
    count("step_up", "operating points per step up; 0: to the maximum", 0, 0, 1000),
    count(
        "tick_hz",
        "rate at which ticks are taken, in Hz; 0 or more than the statistics clock's: each one",
        0,
        0,
        1_000_000,
    ),
    switch(
        "per_cpu",
        "1: counters per CPU, any CPU raises, all online ones must be idle to lower; 0: one pair \
         of counters for all ticks of the domain",
    ),
    count(
        "idle_hook_us",
        "idleness of all CPUs after which it steps down, in us, seen in the idle loop instead of \
         by ticks; needs a timer while idle; 0: off",
        0,
        0,
        60_000_000,
    ),
    switch(
        "proportional",
        "1: a step down goes to the lowest point that holds the busy share of the last \
         history_ticks, at least step_down points",
    ),
    count("history_ticks", "ticks in that share", 32, 1, 64),
    count(
        "burst_ticks",
        "a busy run that ends within so many ticks after it raised the frequency was a burst; 0: \
         no detection",
        0,
        0,
        1_000_000,
    ),
    count("burst_delay", "more busy ticks that a rise takes after a burst", 12, 0, 1_000_000),
    count(
        "critical_percent",
        "critical speed in percent of the maximum: a step down goes straight there and never \
         below, since sleeping saves more from there on; 0: off",
        0,
        0,
        100,
    ),
];

impl Tick {
    /// Name.
    pub const NAME: &'static str = "tick";

    fn rule(&self) -> Rule {
        Rule {
            n: self.tunables.unsigned(N),
            m: self.tunables.unsigned(M),
            burst_ticks: self.tunables.unsigned(BURST_TICKS),
            burst_delay: self.tunables.unsigned(BURST_DELAY),
        }
    }

    fn tick(&mut self, cpu: CpuId, busy: bool, now: Nanos) -> Decision {
        let rule = self.rule();
        let hz = self.tunables.unsigned(TICK_HZ);
        let (per_cpu, hook) = (self.tunables.on(PER_CPU), self.tunables.on(IDLE_HOOK));
        let Some(state) = &mut self.domain else { return Decision::NONE };
        let Some(at) = state.cpus.iter().position(|listed| listed.id == cpu) else {
            return Decision::NONE;
        };
        if hz > 0 && hz < u64::from(state.stat_hz) && !state.take(at, hz, now) {
            return Decision::NONE;
        }
        let raised = state.policy.current >= state.policy.max;
        let verdict = if per_cpu {
            let verdict = state.cpus[at].counter.observe_apart(busy, rule, raised);
            let quiet = |cpu: &Cpu| !cpu.online || cpu.counter.is_quiet(rule);
            if verdict == Verdict::Stay && !busy && state.cpus.iter().all(quiet) {
                state.cpus.iter_mut().for_each(|cpu| cpu.counter.restart_idle());
                Verdict::Lower
            } else {
                verdict
            }
        } else {
            state.all.observe(busy, rule, raised)
        };
        match verdict {
            Verdict::Stay => Decision::NONE,
            Verdict::Raise => self.raise(),
            Verdict::Lower if hook => Decision::NONE,
            Verdict::Lower => self.lower("idle ticks"),
        }
    }

    fn raise(&mut self) -> Decision {
        let points = self.tunables.unsigned(STEP_UP) as usize;
        let Some(State { policy, .. }) = &mut self.domain else { return Decision::NONE };
        let target = match points {
            0 => policy.max,
            points => {
                let opps = policy.opps.as_slice();
                let above = opps.partition_point(|opp| opp.frequency <= policy.current);
                opps.get(above.saturating_add(points - 1)).map_or(policy.max, |opp| opp.frequency)
            }
        };
        policy.target(target, Relation::H, "busy ticks")
    }

    fn lower(&mut self, why: &'static str) -> Decision {
        let points = self.tunables.unsigned(STEP_DOWN) as usize;
        let critical = self.tunables.unsigned(CRITICAL);
        let share = self.tunables.on(PROPORTIONAL).then(|| self.tunables.unsigned(HISTORY));
        let per_cpu = self.tunables.on(PER_CPU);
        let Some(state) = &mut self.domain else { return Decision::NONE };
        let share = share.map(|ticks| state.busy_share(ticks, per_cpu));
        let policy = &mut state.policy;
        let highest = policy.opps.max().0;
        let floor = KiloHertz(
            u64::try_from(u128::from(highest) * u128::from(critical) / 100).unwrap_or(highest),
        );
        let floor = if critical > 0 { policy.resolve(floor, Relation::L) } else { policy.min };
        if policy.current <= floor {
            return Decision::NONE;
        }
        let target = if critical > 0 {
            floor
        } else {
            let opps = policy.opps.as_slice();
            let at = opps.partition_point(|opp| opp.frequency < policy.current);
            let step = opps[at.saturating_sub(points).min(opps.len() - 1)].frequency;
            let enough = share.map(|(busy, of)| {
                let khz = u128::from(policy.current.0) * u128::from(busy);
                KiloHertz(u64::try_from(khz.div_ceil(u128::from(of.max(1)))).unwrap_or(u64::MAX))
            });
            enough.map_or(step, |enough| step.min(policy.resolve(enough, Relation::L)))
        };
        policy.target(target.max(floor), Relation::L, why)
    }

    fn idle(&mut self, cpu: CpuId, enter: bool, now: Nanos) -> Decision {
        let hook = self.tunables.unsigned(IDLE_HOOK);
        let Some(state) = &mut self.domain else { return Decision::NONE };
        let Some(cpu) = state.cpus.iter_mut().find(|listed| listed.id == cpu) else {
            return Decision::NONE;
        };
        cpu.idle = enter;
        if hook == 0 {
            return Decision::NONE;
        }
        if enter {
            cpu.counter.end_run(true);
        }
        if !state.cpus.iter().all(|cpu| cpu.idle || !cpu.online) {
            state.all_idle_since = None;
            return Decision::NONE;
        }
        state.all.end_run(true);
        let since = *state.all_idle_since.get_or_insert(now);
        Decision::NONE.wake_at(since + Nanos::from_micros(hook))
    }

    fn timer(&mut self, now: Nanos) -> Decision {
        let hook = Nanos::from_micros(self.tunables.unsigned(IDLE_HOOK));
        let Some(state) = &mut self.domain else { return Decision::NONE };
        let Some(since) = state.all_idle_since.filter(|_| hook > Nanos::ZERO) else {
            return Decision::NONE;
        };
        if now < since + hook {
            return Decision::NONE.wake_at(since + hook);
        }
        state.all_idle_since = Some(now);
        match self.lower("idle in the idle loop") {
            // At the floor: no more timers until somebody was busy.
            decision @ Decision { request: None, .. } => decision,
            decision => decision.wake_at(now + hook),
        }
    }
}

impl State {
    /// Whether this tick is the first of its CPU in an interval of 1 s / `hz`.
    fn take(&mut self, at: usize, hz: u64, now: Nanos) -> bool {
        let interval = u128::from(now.0) * u128::from(hz) / 1_000_000_000;
        let interval = u64::try_from(interval).ok();
        std::mem::replace(&mut self.cpus[at].interval, interval) != interval
    }

    /// Busy ticks among the last `ticks`, and how many these are: of the busiest CPU with counters
    /// per CPU, else of all together.
    fn busy_share(&self, ticks: u64, per_cpu: bool) -> (u64, u64) {
        if !per_cpu {
            return (self.all.busy_of(ticks), ticks);
        }
        let busy = self.cpus.iter().map(|cpu| cpu.counter.busy_of(ticks)).max();
        (busy.unwrap_or(0), ticks)
    }
}

impl Default for Tick {
    fn default() -> Tick {
        Tick { tunables: Tunables::new(Tick::NAME, SPECS), domain: None }
    }
}

impl Governor for Tick {
    fn name(&self) -> &'static str {
        Tick::NAME
    }

    fn needs(&self) -> Needs {
        // FreeBSD's usual stathz, until a domain says what it has.
        let stat_hz = self.domain.as_ref().map_or(128, |state| state.stat_hz);
        let tick_hz = match u32::try_from(self.tunables.get(TICK_HZ)) {
            Ok(hz) if hz > 0 => hz,
            _ => stat_hz,
        };
        let idle = self.tunables.on(IDLE_HOOK);
        Needs { tick_hz: Some(tick_hz), idle, ..Needs::default() }
    }

    fn start(&mut self, domain: &Domain, _now: Nanos) -> Decision {
        let cpu = |&id: &CpuId| Cpu {
            id,
            online: true,
            idle: false,
            counter: Counter::default(),
            interval: None,
        };
        self.domain = Some(State {
            policy: CpufreqPolicy::of(domain),
            stat_hz: domain.stat_hz,
            all: Counter::default(),
            cpus: domain.cpus.iter().map(cpu).collect(),
            all_idle_since: None,
        });
        Decision::NONE
    }

    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision {
        match event {
            Event::Tick { cpu, busy } => return self.tick(*cpu, *busy, now),
            Event::Idle { cpu, enter } => return self.idle(*cpu, *enter, now),
            Event::Timer => return self.timer(now),
            _ => {}
        }
        let Some(state) = &mut self.domain else { return Decision::NONE };
        match event {
            Event::Limits { min, max } => return state.policy.apply_limits(*min, *max),
            Event::Applied { frequency } => state.policy.current = *frequency,
            Event::Cpus { cpus } => {
                for cpu in &mut state.cpus {
                    cpu.online = cpus.contains(&cpu.id);
                    cpu.counter = Counter::default();
                }
            }
            _ => {}
        }
        Decision::NONE
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
