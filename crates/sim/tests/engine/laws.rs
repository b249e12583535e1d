//! What has to hold whatever happens: time, work and energy are neither lost nor made.

use crate::common::*;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::observe::{Blind, Observer, SwitchOut};
use flyball_sim::setup::{Class, Placement, Setup, TaskId};
use flyball_units::{CpuId, KiloHertz, Nanos};

/// Many kinds of tasks at once.
fn crowd(placement: Placement) -> Setup {
    let mut setup = setup("apple-m1", "linux-6.12", "schedutil", Nanos(2_000 * MS + 137));
    setup.placement = placement;
    setup.tick_phase = Nanos(123_457);
    for n in 0..16 {
        let work = Periodic::new((10_000 + 371 * n) * 1000, 1_000_000 * (n + 1));
        let mut one = task(&format!("periodic{n}"), work);
        one.class = Class::Fair { nice: (n as i8 % 5) * 3 - 6 };
        setup.tasks.push(one);
    }
    let mut fifo = task("fifo", Periodic::new(7 * MS, 3_000_000));
    fifo.class = Class::Fifo { priority: 50 };
    setup.tasks.push(fifo);
    let mut interrupts = task("interrupts", Periodic::new(3_333_333, 50_000));
    interrupts.class = Class::Interrupt;
    interrupts.allowed = vec![CpuId(1)];
    setup.tasks.push(interrupts);
    let both = Work { cycles: 4_000_000, memory: Nanos(1_000_000) };
    let steps = [Step::Run(both), Step::WaitForIo(Nanos(5 * MS))];
    let script = steps.iter().copied().cycle().take(200).collect();
    setup.tasks.push(task("disk", Script::new(script)));
    let mut spin = task("spin", Spin);
    spin.start = Nanos(500 * MS);
    setup.tasks.push(spin);
    setup
}

const PLACEMENTS: [Placement; 3] =
    [Placement::PreviousOrIdle, Placement::CapacityAware, Placement::Consolidating];

fn check_times(summary: &Summary) {
    let elapsed = summary.elapsed;
    for cpu in &summary.cpus {
        assert_eq!(cpu.busy + cpu.idle, elapsed, "{}", cpu.cpu);
        let asleep: u64 = cpu.idle_residency.iter().map(|time| time.0).sum();
        assert!(asleep <= cpu.idle.0 && cpu.interrupt <= cpu.busy && cpu.stalled <= cpu.busy);
        let ran: u64 = summary.tasks.iter().map(|task| task.running_on[cpu.cpu.0 as usize].0).sum();
        assert_eq!(ran, cpu.busy.0, "tasks of {}", cpu.cpu);
    }
    for task in &summary.tasks {
        let on: u64 = task.running_on.iter().map(|time| time.0).sum();
        assert_eq!(on, task.running.0, "{}", task.name);
        let start = if task.name == "spin" { 500 * MS } else { 0 };
        let all = task.running + task.runnable + task.sleeping;
        assert_eq!(all.0, elapsed.0 - start, "{}", task.name);
    }
    for domain in &summary.domains {
        let time: u64 = domain.residency.iter().map(|point| point.time.0).sum();
        assert_eq!(time, elapsed.0, "{}", domain.name);
    }
}

#[test]
fn all_time_is_accounted() {
    for placement in PLACEMENTS {
        let (_, summary) = run(crowd(placement));
        check_times(&summary);
        assert!(summary.tasks.iter().all(|task| task.running > Nanos::ZERO));
    }
}

#[test]
fn work_is_busy_time_times_speed() {
    for placement in PLACEMENTS {
        let mut setup = without_transitions(crowd(placement));
        setup.tasks.retain(|task| task.name != "disk");
        let platform = setup.platform.clone();
        let (_, summary) = run(setup);
        let mut capable = 0.0;
        for (domain, described) in summary.domains.iter().zip(&platform.domains) {
            let per_cycle = platform.cpus[described.cpus[0].0 as usize].work_per_cycle;
            for point in &domain.residency {
                capable += point.busy.0 as f64 * point.frequency.0 as f64 / 1e6 * per_cycle;
            }
        }
        let done: f64 = summary.tasks.iter().map(|task| task.cycles).sum();
        // Each piece of work ends at a whole nanosecond, at most 3.2 cycles late.
        let pieces: u64 = summary.tasks.iter().map(|task| task.wakeups + 1).sum();
        assert!((capable - done).abs() < 4.0 * pieces as f64, "{capable} {done}");
    }
}

/// Integrates power from what it sees.
struct Meter {
    platform: flyball_platform::Platform,
    point: Vec<usize>,
    /// Per CPU: busy, idle state (None: awake in the idle loop).
    state: Vec<(bool, Option<usize>)>,
    since: u64,
    energy: f64,
}

impl Meter {
    fn advance(&mut self, at: Nanos) {
        let passed = (at.0 - self.since) as f64;
        self.since = at.0;
        for (cpu, &(busy, idle)) in self.platform.cpus.iter().zip(&self.state) {
            let domain = &self.platform.domains[cpu.domain];
            let point = &domain.points[self.point[cpu.domain]];
            self.energy += passed
                * match (busy, idle) {
                    (true, _) => point.busy_power_mw,
                    (false, Some(state)) => domain.idle[state].power_mw,
                    (false, None) => point.idle_power_mw,
                };
        }
    }
}

impl Observer for Meter {
    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        self.advance(at);
        self.point[domain] = self.platform.domains[domain].opps.index_of(frequency).unwrap();
    }
    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {
        self.advance(at);
        self.state[cpu.0 as usize] = (false, state);
    }
    fn switched_in(&mut self, at: Nanos, _: TaskId, cpu: CpuId) {
        self.advance(at);
        self.state[cpu.0 as usize] = (true, None);
    }
    fn switched_out(&mut self, at: Nanos, _: TaskId, cpu: CpuId, _: SwitchOut) {
        self.advance(at);
        self.state[cpu.0 as usize] = (false, None);
    }
}

#[test]
fn energy_is_the_integral_of_what_an_observer_sees() {
    let setup = crowd(Placement::CapacityAware);
    let mut meter = Meter {
        point: vec![0; setup.platform.domains.len()],
        state: vec![(false, None); setup.platform.cpus.len()],
        platform: setup.platform.clone(),
        since: 0,
        energy: 0.0,
    };
    let mut machine = Machine::new(setup).unwrap();
    machine.run(&mut meter);
    meter.advance(machine.now());
    let summary = machine.finish();
    let cpus: f64 = summary.cpus.iter().map(|cpu| cpu.energy_mj).sum();
    let domains: f64 = summary.domains.iter().map(|domain| domain.energy_mj).sum();
    assert!((meter.energy / 1e9 - cpus).abs() < 1e-9 * cpus, "{} {cpus}", meter.energy / 1e9);
    assert!((domains - cpus).abs() < 1e-9 * cpus);
    assert!((summary.energy_mj - summary.base_energy_mj - cpus).abs() < 1e-9 * cpus);
}

#[test]
fn the_same_setup_gives_the_same_events() {
    for placement in PLACEMENTS {
        let (first, one) = run(crowd(placement));
        let (second, two) = run(crowd(placement));
        assert!(first.lines == second.lines && first.util == second.util);
        assert_eq!(one, two);
        assert!(first.lines.len() > 5000);
    }
}

#[test]
fn stops_on_the_way_change_nothing() {
    let (_, whole) = run(crowd(Placement::CapacityAware));
    let mut machine = Machine::new(crowd(Placement::CapacityAware)).unwrap();
    for step in 1..=2100 {
        machine.run_unseen(Nanos(step * 997_331));
    }
    let parts = machine.finish();
    assert_eq!(whole.tasks, parts.tasks);
    assert_eq!(whole.events, parts.events);
}

/// Every shipped platform under every rule, on a kernel whose idle tick stops and on one where it
/// goes on.
#[test]
fn every_machine_under_every_governor_keeps_the_laws() {
    let mut simulated = 0;
    for platform in flyball_platform::catalogue().platforms {
        for governor in flyball_governors::catalogue() {
            for (kernel, placement) in
                [("linux-6.10-series", Placement::CapacityAware), ("freebsd-8.1", PLACEMENTS[0])]
            {
                let mut setup = setup(platform.name, kernel, governor.name, Nanos(300 * MS + 77));
                setup.placement = placement;
                setup.tick_phase = Nanos(333_333);
                setup.governor_cost.cycles_per_poll = 40_000;
                for n in 0..6 {
                    let work = Periodic::new((7_000 + 613 * n) * 1000, 900_000 * (n + 1));
                    let mut one = task("periodic", work);
                    if n == 5 {
                        one.class = Class::Fifo { priority: 5 };
                    }
                    setup.tasks.push(one);
                }
                match Machine::new(setup) {
                    Ok(mut machine) => {
                        machine.run(&mut Blind);
                        check_times(&machine.finish());
                        simulated += 1;
                    }
                    Err(error) => {
                        let need = matches!(error, flyball_sim::engine::SetupError::Need { .. });
                        assert!(need, "{}: {error}", platform.name);
                    }
                }
            }
        }
    }
    assert!(simulated > 100, "{simulated}");
}
