//! Idle states and the tick, as far as the kernel can know what comes.

use crate::common::*;
use flyball_platform::{IdleGovernor, IdleState};
use flyball_sim::behavior::{Step, Work};
use flyball_sim::observe::Observer;
use flyball_sim::setup::Setup;
use flyball_sim::workload::{Poisson, Service};
use flyball_units::{CpuId, Nanos};

/// The sleeps of CPU 0: the state, and for how long.
#[derive(Default)]
struct Sleeps {
    since: Option<(u64, usize)>,
    seen: Vec<(usize, u64)>,
}

impl Observer for Sleeps {
    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {
        if cpu != CpuId(0) {
            return;
        }
        if let Some((since, state)) = self.since.take() {
            self.seen.push((state, at.0 - since));
        }
        self.since = state.map(|state| (at.0, state));
    }
}

/// The share of sleeps in another state than the deepest that paid.
fn wrong(setup: Setup) -> f64 {
    let states: Vec<IdleState> = setup.platform.domains[0].idle.clone();
    let mut sleeps = Sleeps::default();
    flyball_sim::engine::Machine::new(setup).unwrap().run(&mut sleeps);
    let pays = |length: u64| states.iter().rposition(|state| state.target_residency.0 <= length);
    let wrong = |&&(state, length): &&(usize, u64)| pays(length).unwrap_or(0) != state;
    sleeps.seen.iter().filter(wrong).count() as f64 / sleeps.seen.len() as f64
}

/// Requests arrive every 5 ms on average, independently of each other, at a laptop whose deepest
/// state pays from 5 ms on. No timer announces them, and exponential times have no pattern, so menu
/// enters the deepest state: wrongly where the next arrival is nearer, with the probability
/// 1 - exp(-5 / 5) = 63 %. With a timer of its own a task is no surprise.
#[test]
fn arrivals_from_outside_surprise_the_idle_governor() {
    let on_cpu_0 = |one| {
        let mut setup = setup("laptop-x86", "linux-6.12", "performance", Nanos(60_000 * MS));
        let mut one: flyball_sim::setup::TaskSetup = one;
        one.allowed = vec![CpuId(0)];
        setup.tasks.push(one);
        setup
    };
    let work = Work { cycles: 1_000, memory: Nanos::ZERO };
    let requests = Poisson::new(Nanos(5 * MS), work, Service::Fixed);
    let surprised = wrong(on_cpu_0(task("requests", requests)));
    assert!((surprised - 0.632).abs() < 0.03, "{surprised}");
    let known = wrong(on_cpu_0(task("periodic", Periodic::new(7 * MS, 1_000))));
    assert!(known < 0.01, "{known}");
}

/// The lowest frequency of a single-CPU policy, in the second half: a task runs 0.1 ms and sleeps 1 ms
/// after it has worked for a second, HZ=250.
fn lowest_after_work(states: usize) -> (u64, u64) {
    let mut setup = setup("pentium-m", "linux-6.12", "schedutil", Nanos(2_000 * MS));
    setup.kernel.hz = 250;
    setup.platform.domains[0].idle.truncate(states);
    let mut steps = vec![Step::Run(Work { cycles: 1_700_000_000, memory: Nanos::ZERO })];
    for _ in 0..2_000 {
        steps.push(Step::Sleep(Nanos(MS)));
        steps.push(Step::Run(Work { cycles: 100_000, memory: Nanos::ZERO }));
    }
    setup.tasks.push(task("task", Script::new(steps)));
    let highest = setup.platform.domains[0].opps.max().0;
    let (log, _) = run(without_transitions(setup));
    let late = log.frequency.iter().filter(|&&(at, ..)| at > 1_200 * MS).map(|&(.., khz)| khz);
    let before = log.frequency.iter().rfind(|&&(at, ..)| at <= 1_200 * MS).unwrap().2;
    (late.chain([before]).min().unwrap(), highest)
}

/// A sleep of 1 ms is shorter than the tick of 4 ms: menu keeps the tick, such an idle time does not
/// count, and schedutil holds the frequency. With one idle state there is nothing to choose, the tick
/// stops, and the frequency falls: 0.1 ms of 1.1 are a utilisation of about 93.
#[test]
fn the_frequency_is_held_while_the_tick_runs_on() {
    let (held, highest) = lowest_after_work(3);
    assert_eq!(held, highest);
    let (lowered, highest) = lowest_after_work(1);
    assert!(lowered < highest, "{lowered}");
}

/// A guest whose CPU is woken every 150 us: it halts, then polls for 50 us and halts for 100, then polls for 100 and halts for
/// 50, which is too short to let it poll longer. Every 1 ms it would poll in vain, and halts at once.
#[test]
fn a_guest_polls_where_that_pays() {
    let guest = |kernel: &str, behavior| {
        let mut setup = setup("laptop-x86", kernel, "performance", Nanos(1_000 * MS));
        setup.kernel.idle_governor = IdleGovernor::Haltpoll;
        for domain in &mut setup.platform.domains {
            let halt = domain.idle[0].clone();
            let poll = IdleState {
                polling: true,
                exit_latency: Nanos::ZERO,
                target_residency: Nanos::ZERO,
                ..halt.clone()
            };
            domain.idle = vec![poll, halt];
        }
        setup.tasks = vec![behavior];
        setup.tasks[0].allowed = vec![CpuId(0)];
        let mut sleeps = Sleeps::default();
        flyball_sim::engine::Machine::new(setup).unwrap().run(&mut sleeps);
        sleeps.seen
    };
    let share = |seen: &[(usize, u64)]| {
        let polled: u64 = seen.iter().filter(|sleep| sleep.0 == 0).map(|sleep| sleep.1).sum();
        polled as f64 / seen.iter().map(|sleep| sleep.1).sum::<u64>() as f64
    };
    let often = guest("linux-6.12", task("often", Periodic::new(150_000, 1_000)));
    assert!((share(&often) - 0.69).abs() < 0.04, "{}", share(&often));
    let seldom = guest("linux-6.12", task("seldom", Periodic::new(MS, 1_000)));
    assert!(share(&seldom) < 0.01, "{}", share(&seldom));
    // Fifty short sleeps, then long ones, each of which halves 100 us: 6.12 polls twice, and 6.1 until nothing is left of
    // 100,000 ns, 17 times.
    let steps = || {
        let short = (1..=50).map(|n| Nanos(n * 150_000));
        let long = (11..=40).map(|n| Nanos(n * MS));
        let work = Step::Run(Work { cycles: 1_000, memory: Nanos::ZERO });
        let each = short.chain(long).flat_map(move |at| [Step::SleepUntil(at), work]);
        each.collect::<Vec<_>>()
    };
    let polls = |kernel| {
        let seen = guest(kernel, task("both", Script::new(steps())));
        seen.iter().filter(|sleep| sleep.0 == 0).count()
    };
    assert_eq!(polls("linux-6.1") - polls("linux-6.12"), 15);
}
