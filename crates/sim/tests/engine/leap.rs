//! Time in leaps gives what the engine gives, bit for bit.

use crate::common::{Log, MS, setup, task};
use flyball_governors::{Decision, Event};
use flyball_sim::behavior::Work;
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::observe::Observer;
use flyball_sim::setup::{Setup, TaskId};
use flyball_sim::workload::{Pace, Recorded, Replay, uniform};
use flyball_units::{CpuId, KiloHertz, Nanos};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

const SECONDS: u64 = 5;

/// What can be seen in leaps, per task and per domain.
#[derive(Default, PartialEq, Debug)]
struct Seen {
    items: Vec<(u32, u64, u64, u64, u64)>,
    frequency: Vec<(usize, u64, u64)>,
    decisions: Vec<(usize, u64, Decision)>,
    begun: Vec<(u32, u64, u64, u64)>,
}

impl Observer for Seen {
    fn item_begun(&mut self, at: Nanos, task: TaskId, item: u64, released: Nanos, _: CpuId) {
        self.begun.push((task.0, item, released.0, at.0));
    }
    fn item_ended(&mut self, at: Nanos, task: TaskId, item: u64, _: CpuId) {
        let begun = self.begun.iter().rev().find(|b| b.0 == task.0 && b.1 == item).unwrap();
        self.items.push((task.0, item, begun.2, begun.3, at.0));
    }
    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        self.frequency.push((domain, at.0, frequency.0));
    }
    fn governor(&mut self, at: Nanos, domain: usize, _: &Event<'_>, decision: &Decision) {
        self.decisions.push((domain, at.0, *decision));
    }
}

impl Seen {
    /// Leaps go over the domains in another order.
    fn sorted(mut self) -> Seen {
        self.items.sort_unstable();
        self.frequency.sort_unstable();
        self.begun.sort_unstable();
        self.decisions.sort_by_key(|(domain, at, _)| (*domain, *at));
        self
    }
}

/// Random items on every CPU but the last, up to `share` percent of its fastest speed.
fn recorded(cpu: u32, seed: u64, share: u64, memory: bool) -> Arc<[Recorded]> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed * 1000 + u64::from(cpu));
    let mut released = 0;
    let mut items = Vec::new();
    while released < SECONDS * 1000 * MS {
        let busy = uniform(&mut random, 10 * MS * share / 100 + 1);
        items.push(Recorded {
            released: Nanos(released),
            work: Work { cycles: busy * 2, memory: Nanos(if memory { busy / 7 } else { 0 }) },
            busy: Nanos(busy),
            ..Recorded::default()
        });
        released += match uniform(&mut random, 10) {
            0 => 200 * MS,
            1 => 1,
            _ => 10 * MS,
        };
    }
    items.into()
}

fn loaded(platform: &str, governor: &str, seed: u64, share: u64, pace: Pace) -> Setup {
    let mut setup = setup(platform, "linux-6.12", governor, Nanos::from_secs(SECONDS));
    // What costs something is a task, and more than one on a CPU.
    setup.platform.sampler.cycles = 0;
    let cpus = setup.platform.cpus.len() as u32;
    // CPUs that slow each other leap only where no two of a core have tasks.
    setup.platform.cpus.iter_mut().for_each(|cpu| cpu.thread_speed = 1.0);
    for cpu in 0..cpus.saturating_sub(1).max(1) {
        let items = recorded(cpu, seed, share, cpu % 2 == 1);
        let mut one = task(&format!("cpu{cpu}"), Replay::new(items, pace));
        one.allowed = vec![CpuId(cpu)];
        setup.tasks.push(one);
    }
    setup.poll_phase = Nanos(uniform(&mut Xoshiro256PlusPlus::seed_from_u64(seed), 20 * MS));
    setup
}

/// The totals without what only the scheduler's own work changes.
fn comparable(mut summary: Summary) -> Summary {
    summary.events = 0;
    summary.temperature = None;
    for cpu in &mut summary.cpus {
        (cpu.ticks, cpu.util, cpu.runnable, cpu.util_est) = (0, 0, 0, 0);
    }
    for task in &mut summary.tasks {
        (task.util, task.util_est) = (0, 0);
    }
    summary
}

fn both(make: impl Fn() -> Setup, label: &str) {
    let mut engine = Machine::new(make()).unwrap();
    let mut seen = Seen::default();
    engine.run(&mut seen);
    let mut leaping = Machine::new(make()).unwrap();
    assert_eq!(leaping.cannot_leap(), None, "{label}");
    let mut leapt = Seen::default();
    // In stretches, as a command does that looks whether it was interrupted.
    for ms in [1, 37, 1000, 2500, SECONDS * 1000] {
        leaping.leap(Nanos::from_millis(ms), &mut leapt);
    }
    let (seen, leapt) = (seen.sorted(), leapt.sorted());
    assert!(seen.items.len() > 100, "{label}");
    assert_eq!(seen.items, leapt.items, "{label}");
    assert_eq!(seen.frequency, leapt.frequency, "{label}");
    assert_eq!(seen, leapt, "{label}");
    let (engine, leaping) = (engine.finish(), leaping.finish());
    let highest = |summary: &Summary| summary.temperature.map_or(0.0, |heat| heat.highest_c);
    assert!((highest(&engine) - highest(&leaping)).abs() < 0.1, "{label}");
    assert_eq!(comparable(engine), comparable(leaping), "{label}");
}

#[test]
fn leaps_are_the_engine_bit_for_bit() {
    for platform in ["zen2", "board-aarch64", "apple-m1", "laptop-x86"] {
        for governor in
            ["ondemand", "conservative", "powerd", "powerd++", "performance", "powersave"]
        {
            // powerd looks at the CPUs of all domains at once.
            let platform = if governor == "powerd" { "board-x86" } else { platform };
            for (seed, share) in [(1, 20), (2, 90), (3, 130)] {
                for pace in [Pace::Open, Pace::Closed] {
                    let make = || {
                        let mut setup = loaded(platform, governor, seed, share, pace);
                        if let Some(thermal) = &mut setup.platform.thermal {
                            thermal.throttle_c = None;
                        }
                        setup
                    };
                    both(make, &format!("{platform} {governor} {seed} {share} {pace:?}"));
                }
            }
        }
    }
}

/// Where it gets too hot, the looks at the temperature fall at the same times; what is a little
/// different is the temperature itself, so now and then a limit is passed a look earlier or later.
/// Where none is, everything is near; where one is, it is so on the average.
#[test]
fn throttling_is_the_same_but_for_a_hair() {
    const LIMIT_C: f64 = 45.0;
    let make = |seed| {
        let mut setup = loaded("laptop-x86", "ondemand", seed, 130, Pace::Open);
        if let Some(thermal) = &mut setup.platform.thermal {
            (thermal.time_constant_s, thermal.throttle_c) = (1.0, Some(LIMIT_C));
        }
        setup
    };
    let near = |a: f64, b: f64, by: f64| assert!((a / b - 1.0).abs() < by, "{a} {b}");
    let (mut sums, mut alike) = ([(0.0, 0.0); 2], 0);
    for seed in 0..8 {
        let mut logs = [Log::default(), Log::default()];
        let mut engine = Machine::new(make(seed)).unwrap();
        engine.run(&mut logs[0]);
        let mut leaping = Machine::new(make(seed)).unwrap();
        leaping.leap(Nanos::from_secs(SECONDS), &mut logs[1]);
        let both = [engine.finish(), leaping.finish()];
        let totals = both.each_ref().map(|found| {
            let heat = found.temperature.unwrap();
            assert!(heat.throttled > Nanos::ZERO, "{heat:?}");
            (found.energy_mj, heat.throttled.as_secs_f64(), heat.highest_c)
        });
        near(totals[0].2, totals[1].2, 0.01);
        let looks = logs.each_ref().map(|log| {
            let hot =
                |(at, celsius): &(u64, f64)| (*at, *celsius >= LIMIT_C, *celsius < LIMIT_C - 5.0);
            log.temperatures.iter().map(hot).collect::<Vec<_>>()
        });
        if looks[0] == looks[1] {
            alike += 1;
            near(totals[0].0, totals[1].0, 0.01);
            near(totals[0].1, totals[1].1, 0.05);
        }
        for (sum, total) in sums.iter_mut().zip(totals) {
            *sum = (sum.0 + total.0, sum.1 + total.1);
        }
    }
    assert!(alike >= 4, "{alike} of 8");
    near(sums[0].0, sums[1].0, 0.01);
    near(sums[0].1, sums[1].1, 0.05);
}

#[test]
fn what_cannot_leap_is_refused() {
    let refused = |setup: Setup| Machine::new(setup).unwrap().cannot_leap();
    let fits = || loaded("zen2", "ondemand", 1, 20, Pace::Open);
    assert_eq!(refused(fits()), None);
    let by_signals = loaded("zen2", "schedutil", 1, 20, Pace::Open);
    assert_eq!(refused(by_signals), Some("a governor needs more than polls"));
    let mut free = fits();
    free.tasks[0].allowed = Vec::new();
    assert_eq!(refused(free), Some("a task may run on several CPUs"));
    let mut crowded = fits();
    crowded.tasks[1].allowed = vec![CpuId(0)];
    assert_eq!(refused(crowded), Some("several tasks share a CPU"));
    let mut waiting = fits();
    waiting.tasks[0].behavior = Box::new(crate::common::Spin);
    assert!(refused(waiting).is_some_and(|why| why.contains("wait for each other")));
    let mut ticking = loaded("pentium-m", "ondemand", 1, 20, Pace::Open);
    ticking.kernel.idle_tick = flyball_platform::IdleTick::Continues;
    ticking.platform.thermal = None;
    assert_eq!(refused(ticking), Some("the tick goes on in idle CPUs"));
    let mut refused = Machine::new(loaded("zen2", "schedutil", 1, 20, Pace::Open)).unwrap();
    refused.leap(Nanos::from_secs(1), &mut Seen::default());
    assert_eq!(refused.now(), Nanos::ZERO);
}
