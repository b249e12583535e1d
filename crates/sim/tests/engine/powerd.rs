//! powerd on an idle machine, free and as a daemon that costs something.

use crate::common::*;
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::observe::Blind;
use flyball_sim::setup::{GovernorCost, Setup};
use flyball_units::{CpuId, KiloHertz, Nanos};

fn powerd(platform: &str, seconds: u64) -> Setup {
    let duration = Nanos::from_secs(seconds);
    without_transitions(setup(platform, "freebsd-8.1", "powerd", duration))
}

fn summary(setup: Setup) -> Summary {
    let mut machine = Machine::new(setup).unwrap();
    machine.run(&mut Blind);
    machine.finish()
}

#[test]
fn decays_from_1700_to_75_mhz_in_93_polls() {
    let mut setup = powerd("pentium-m-throttled", 30);
    setup.initial = vec![Some(KiloHertz(1_700_000))];
    let (log, summary) = run(setup);
    let lowest = log.frequency.iter().find(|&&(_, _, khz)| khz == 75_000).unwrap();
    assert_eq!(lowest.0, 93 * 250 * MS, "23.25 s");
    assert_eq!(summary.domains[0].governor_wakeups, 121, "one at once, then 4 per second");
}

#[test]
fn a_governor_that_costs_something_is_a_task() {
    let mut setup = powerd("pentium-m", 10);
    setup.governor_cost = GovernorCost { cycles_per_poll: 60_000, cpu: CpuId(0) };
    let costly = summary(setup);
    let daemon = costly.tasks.last().unwrap();
    let polls = costly.domains[0].governor_wakeups;
    assert!((40..=41).contains(&polls), "{polls}");
    assert_eq!(daemon.wakeups, polls);
    assert_eq!(costly.cpus[0].busy, daemon.running);
    assert!((daemon.cycles - polls as f64 * 60_000.0).abs() < 1.0);
    let free = summary(powerd("pentium-m", 10));
    let asleep =
        |summary: &Summary| summary.cpus[0].idle_residency.iter().map(|time| time.0).sum::<u64>();
    assert!(asleep(&costly) < asleep(&free), "idle residency is lost");
    assert_eq!(free.cpus[0].busy, Nanos::ZERO);
}

/// Four cores of a clock each, three spinners on as many CPUs, the rest idle: powerd adds up the
/// loads, 300 %, above 95: 4 f, for all domains alike. Each on its own would leave the idle ones at
/// the lowest frequency.
#[test]
fn it_adds_up_the_load_of_all_cpus() {
    let mut setup = powerd("laptop-x86", 3);
    for cpu in [0, 2, 4] {
        let mut spin = task("spin", Spin);
        spin.allowed = vec![CpuId(cpu)];
        setup.tasks.push(spin);
    }
    let lowest = setup.platform.domains[3].opps.min();
    let highest = setup.platform.domains[3].opps.max();
    setup.initial = vec![Some(lowest); setup.platform.domains.len()];
    let (log, _) = run(setup);
    // 400 MHz x 4 at the second poll, the first that has something to compare with; then x 4 again.
    let idle: Vec<(u64, u64)> = log
        .frequency
        .iter()
        .filter(|&&(_, d, _)| d == 3)
        .map(|&(at, _, khz)| (at / MS, khz))
        .collect();
    assert_eq!(idle, [(0, lowest.0), (250, 1_600_000), (500, highest.0)]);
}
