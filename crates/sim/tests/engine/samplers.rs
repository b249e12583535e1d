//! When ondemand and conservative sample: only as the scheduler calls cpufreq, unless they are daemons; and
//! what that costs.

use crate::common::*;
use flyball_governors::{Decision, Event};
use flyball_platform::ClockReadings;
use flyball_sim::engine::Machine;
use flyball_sim::observe::{Observer, SwitchOut};
use flyball_sim::setup::{Before, GovernorCost, Setup, TaskId};
use flyball_units::{CpuId, KiloHertz, Nanos};
use std::collections::BTreeSet;

const SECONDS: u64 = 3;
/// HZ=250.
const TICK: u64 = 4 * MS;

/// The one that works; a daemon has the next number.
const WORK: TaskId = TaskId(0);

/// Polls, and when the task that works woke up and went to sleep.
#[derive(Default)]
struct Seen {
    polls: Vec<u64>,
    woken: BTreeSet<u64>,
    asleep: BTreeSet<u64>,
}

impl Observer for Seen {
    fn governor(&mut self, at: Nanos, _: usize, event: &Event<'_>, _: &Decision) {
        if matches!(event, Event::Poll { .. }) {
            self.polls.push(at.0);
        }
    }
    fn woken(&mut self, at: Nanos, task: TaskId, _: CpuId) {
        if task == WORK {
            self.woken.insert(at.0);
        }
    }
    fn switched_out(&mut self, at: Nanos, task: TaskId, _: CpuId, _: SwitchOut) {
        if task == WORK {
            self.asleep.insert(at.0);
        }
    }
}

impl Seen {
    /// Whether the task was awake, its first and last instant included.
    fn awake(&self, at: u64) -> bool {
        let begun = self.woken.range(..=at).next_back();
        begun.is_some_and(|begun| self.asleep.range(*begun..at).next().is_none())
    }
}

/// One domain of four CPUs; on one of them 30 million cycles every 97 ms: 9 to 50 ms of work.
fn setup_of(governor: &str) -> Setup {
    let mut setup = setup("board-x86", "debian-6.12", governor, Nanos::from_secs(SECONDS));
    setup.platform.sampler.cycles = 0;
    setup.platform.sampler.wake_cycles = 0;
    let mut one = task("one", Periodic::new(97 * MS, 30_000_000));
    one.allowed = vec![CpuId(1)];
    setup.tasks.push(one);
    setup
}

fn seen(setup: Setup) -> Seen {
    let mut seen = Seen::default();
    Machine::new(setup).unwrap().run(&mut seen);
    seen
}

#[test]
fn a_sampler_waits_for_the_scheduler() {
    for governor in ["ondemand", "conservative"] {
        let seen = seen(setup_of(governor));
        // The first takes what the second is compared with.
        let polls = &seen.polls[1..];
        assert!(polls.len() > 60, "{governor}: {}", polls.len());
        for at in polls {
            // The tick that comes once after a CPU went idle calls, too.
            let kept =
                at.is_multiple_of(TICK) && seen.asleep.range(at - TICK..*at).next().is_some();
            let idle = !seen.awake(*at) && !kept;
            assert!(!idle, "{governor} polled at {at} while all CPUs were idle");
            let called =
                at.is_multiple_of(TICK) || seen.woken.contains(at) || seen.asleep.contains(at);
            assert!(called, "{governor} polled at {at}, when the scheduler did not call");
        }
        let some = |kind: &dyn Fn(&u64) -> bool| polls.iter().any(kind);
        assert!(some(&|at| at.is_multiple_of(TICK)), "{governor}: at ticks");
        assert!(some(&|at| seen.woken.contains(at)), "{governor}: at wake-ups");
        assert!(some(&|at| seen.asleep.contains(at)), "{governor}: as the task goes to sleep");
        assert!(polls.is_sorted_by(|a, b| a + TICK <= *b), "{governor}: closer than its period");
    }
}

/// Two ticks after a tick the clock reads two ticks more, and a little more or less. If lateness is
/// independent from tick to tick, the share of periods that take a third one is 1 / (e - 1), whatever
/// its distribution: with x the rank of a sample's lateness, its density f has f(x) = F(x) + E[x].
#[test]
fn a_period_that_ends_with_a_tick_is_often_over_at_the_next() {
    for governor in ["ondemand", "conservative"] {
        let mut setup = setup("board-x86", "debian-6.12", governor, Nanos::from_secs(60));
        setup.platform.sampler.cycles = 0;
        setup.platform.sampler.wake_cycles = 0;
        let mut busy = task("busy", Periodic::new(100_000 * MS, u64::MAX / 4));
        busy.allowed = vec![CpuId(1)];
        setup.tasks.push(busy);
        let polls = seen(setup).polls;
        let ticks: Vec<u64> =
            polls[2..].windows(2).map(|pair| (pair[1] - pair[0]) / TICK).collect();
        let late = ticks.iter().filter(|&&ticks| ticks == 3).count();
        assert!(ticks.iter().all(|ticks| [2, 3].contains(ticks)), "{governor}: {ticks:?}");
        let share = late as f64 / ticks.len() as f64;
        assert!((share - 0.582).abs() < 0.02, "{governor}: {share} of {}", ticks.len());
    }
}

/// A tick that finds its CPU idle reads the clock later than one of a busy CPU: a period between the two is over wherever that tick
/// brings signals up to date at all, and one that begins with such a tick is never over at a busy CPU's.
#[test]
fn a_tick_that_wakes_its_cpu_reads_the_clock_later() {
    let mut setup = setup_of("conservative");
    setup.limits = vec![Some((KiloHertz(1_200_000), KiloHertz(1_200_000)))];
    let seen = seen(setup);
    let at_busy_ticks =
        seen.polls[1..].iter().filter(|at| at.is_multiple_of(TICK) && seen.awake(**at));
    let kept = |at: &u64| {
        !seen.awake(at + 2 * TICK) && seen.asleep.range(at + TICK..at + 2 * TICK).next().is_some()
    };
    let (idle, busy): (Vec<u64>, Vec<u64>) = at_busy_ticks.partition(|at| kept(at));
    let over = |of: &[u64]| {
        let over = of.iter().filter(|at| seen.polls.contains(&(**at + 2 * TICK))).count();
        over as f64 / of.len() as f64
    };
    assert!(idle.len() > 10 && busy.len() > 10, "{} {}", idle.len(), busy.len());
    assert!(over(&idle) > 0.9, "{} of {}", over(&idle), idle.len());
    assert!((0.2..0.6).contains(&over(&busy)), "{} of {}", over(&busy), busy.len());
}

/// The way to the clock is cycles: 60,000 are 100 us at 600 MHz and 19 at 3.2 GHz, and both vary by 25. So a period that begins with
/// a tick at the one and would end with one at the other takes a tick more.
#[test]
fn a_slow_cpu_s_tick_reads_the_clock_later() {
    for seed in 0..20 {
        let mut setup = setup_of("ondemand");
        let mut spin = task("spin", Periodic::new(100_000 * MS, u64::MAX / 4));
        spin.allowed = vec![CpuId(1)];
        spin.start = Nanos(1);
        (setup.tasks, setup.seed) = (vec![spin], seed);
        let polls = seen(setup).polls;
        // The first takes what the second is compared with; that finds the CPU busy, and takes the highest frequency.
        let ticks: Vec<u64> = polls.windows(2).map(|two| (two[1] - two[0]) / TICK).collect();
        assert_eq!(ticks[1], 3, "{ticks:?}");
        assert!(ticks[2..].contains(&2), "{ticks:?}");
    }
}

/// Where a machine has been idle for long a sampler has looked long ago: it samples when it is next called, and finds no load.
#[test]
fn on_a_machine_that_idled_a_sampler_waits_for_a_call_from_the_beginning() {
    let mut setup = setup_of("ondemand");
    let mut spin = task("spin", Periodic::new(100_000 * MS, u64::MAX / 4));
    spin.start = Nanos(10 * MS + 1);
    setup.tasks = vec![spin];
    setup.before = Some(Before::default());
    let polls = seen(setup).polls;
    // When it is created; and two or three ticks after that a tick.
    assert_eq!(polls[0], 10 * MS + 1);
    assert!([20 * MS, 24 * MS].contains(&polls[1]), "{polls:?}");
}

/// Wake-ups of the worker, what it did and the samples.
#[derive(Default)]
struct Worker {
    called: Vec<(u64, CpuId)>,
    sampled: Vec<u64>,
    done: Vec<u64>,
}

impl Observer for Worker {
    fn governor(&mut self, at: Nanos, _: usize, event: &Event<'_>, _: &Decision) {
        if matches!(event, Event::Poll { .. }) {
            self.sampled.push(at.0);
        }
    }
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if task != WORK {
            self.called.push((at.0, cpu));
        }
    }
    fn switched_out(&mut self, at: Nanos, task: TaskId, _: CpuId, why: SwitchOut) {
        if task != WORK && matches!(why, SwitchOut::Slept) {
            self.done.push(at.0);
        }
    }
}

#[test]
fn a_worker_samples_on_the_cpu_that_called() {
    for governor in ["ondemand", "conservative"] {
        let mut setup = setup_of(governor);
        setup.platform.sampler.cycles = 600_000;
        let mut worker = Worker::default();
        Machine::new(setup).unwrap().run(&mut worker);
        let Worker { called, sampled, done } = worker;
        assert!(called.len() > 60, "{governor}: {}", called.len());
        // The first one takes what the second is compared with. What its worker left on CPU 0 decays with the tick of 36 ms,
        // under conservative: the task is still at it, and its CPU calls at that tick, too, and first.
        let elsewhere = called[1..].iter().filter(|(_, cpu)| *cpu != CpuId(1));
        assert_eq!(elsewhere.count(), 0, "{governor}: {called:?}");
        assert_eq!(sampled, done, "{governor}: it samples at its end");
        for ((called, _), sampled) in called.iter().zip(&sampled) {
            // 0.6 million cycles at 3.2 GHz to 600 MHz, and what it waited for the CPU.
            let took = sampled - called;
            assert!((187_500..=1_000_000 + 2 * TICK).contains(&took), "{governor}: {took}");
        }
        let apart = called.is_sorted_by(|(a, _), (b, _)| a + 2 * TICK <= *b);
        assert!(apart, "{governor}: the period begins with the call: {called:?}");
    }
}

/// Of 600,000 cycles 200,000 until it decides: at 600 MHz it works 0.67 ms longer, and what a change costs comes only with one.
#[test]
fn a_worker_goes_on_when_it_has_decided() {
    let rest = |change_cycles: u64, khz: u64| {
        let mut setup = setup_of("ondemand");
        let sampler = &mut setup.platform.sampler;
        (sampler.cycles, sampler.decision_cycles) = (600_000, Some(200_000));
        sampler.change_cycles = change_cycles;
        setup.limits = vec![Some((KiloHertz(600_000), KiloHertz(khz)))];
        let mut worker = Worker::default();
        Machine::new(without_transitions(setup)).unwrap().run(&mut worker);
        let Worker { sampled, done, .. } = worker;
        assert!(sampled.len() > 60 && sampled.len() == done.len(), "{}", sampled.len());
        let rests = done.iter().zip(&sampled).map(|(done, sampled)| (done - sampled) / 1000);
        rests.collect::<BTreeSet<u64>>()
    };
    // Nobody goes before it: it has hardly run.
    assert_eq!(rest(900_000, 600_000), BTreeSet::from([666]));
    // At 3.2 GHz 125 us, and where it has changed to that 281 more.
    assert!(!rest(0, 3_200_000).contains(&406) && rest(900_000, 3_200_000).contains(&406));
}

/// A CPU that its task wakes up has first to wake up the worker, too, whom that calls: 90,000 cycles and 30,000 to the first
/// instruction, at 600 MHz 0.2 ms.
#[test]
fn a_worker_holds_up_the_cpu_that_calls_it() {
    let mut setup = setup_of("ondemand");
    setup.platform.sampler.cycles = 1_000;
    setup.platform.sampler.wake_cycles = 90_000;
    setup.platform.clock_readings = ClockReadings { wake_cycles: 1, ..ClockReadings::default() };
    setup.platform.paths.switch = 30_000;
    setup.limits = vec![Some((KiloHertz(600_000), KiloHertz(600_000)))];
    let (log, _) = run(setup);
    let woken = log.lines.iter().filter_map(|line| line.strip_suffix(" woken 0 cpu1"));
    // It is created at 0, which is another way.
    let woken: Vec<u64> = woken.map(|at| at.parse().unwrap()).filter(|at| *at > 0).collect();
    assert_eq!(woken.len(), 30);
    for at in woken {
        let calls = log.lines.iter().any(|line| line.starts_with(&format!("{at} woken 1 ")));
        let begins = log.switches.iter().find(|of| of.0 >= at).unwrap().0;
        assert!(calls && begins.abs_diff(at + 200_000) < 10, "{at}: {begins}, {calls}");
    }
}

/// 60,000 cycles at 600 MHz; a wake-up's interrupt is the worker's, too.
#[test]
fn a_worker_is_awake_some_cycles_after_the_call_from_which_the_period_counts() {
    const WAKE: u64 = MS / 10;
    for governor in ["ondemand", "conservative"] {
        let mut setup = setup_of(governor);
        setup.platform.sampler.cycles = 600_000;
        setup.platform.sampler.wake_cycles = 60_000;
        setup.limits = vec![Some((KiloHertz(600_000), KiloHertz(600_000)))];
        let mut both = (Worker::default(), Seen::default());
        Machine::new(setup)
            .unwrap()
            .run_seen(Nanos::from_secs(SECONDS), &mut [&mut both.0, &mut both.1]);
        let (worker, seen) = both;
        let way = |at: &u64| if seen.woken.contains(at) { 0 } else { WAKE };
        let calls: Vec<u64> = worker.called[1..].iter().map(|(at, _)| at - way(at)).collect();
        assert!(calls.len() > 60, "{governor}: {}", calls.len());
        for at in &calls {
            let called =
                at.is_multiple_of(TICK) || seen.woken.contains(at) || seen.asleep.contains(at);
            assert!(called, "{governor}: woken {WAKE} ns after {at}, when nobody called");
        }
        assert!(calls.is_sorted_by(|a, b| a + 2 * TICK <= *b), "{governor}: {calls:?}");
        let least = calls.windows(2).map(|pair| pair[1] - pair[0]).min();
        assert_eq!(least, Some(2 * TICK), "{governor}: not later by what the worker takes");
        let joined = calls.iter().filter(|at| seen.woken.contains(at)).count();
        assert!(
            (20..calls.len() - 20).contains(&joined),
            "{governor}: {joined} of {}",
            calls.len()
        );
    }
}

/// The idle time of CPU 1 at each poll while its task works.
#[derive(Default)]
struct IdleTimes(Vec<(u64, u64)>);

impl Observer for IdleTimes {
    fn governor(&mut self, at: Nanos, _: usize, event: &Event<'_>, _: &Decision) {
        if let Event::Poll { times } = event
            && at.0 % (5 * TICK) < 5 * MS
        {
            assert_eq!(times[1].busy + times[1].idle, at, "nothing is lost");
            self.0.push((at.0 / (5 * TICK), times[1].idle.0));
        }
    }
}

/// A task works for 5 of 20 ms at 600 MHz, with ticks 3 ms after its wake-ups and each 4 ms later. Its CPU is idle for 15
/// ms. The tick 2 ms later counts 4 where ticks count until they stop; where an interrupt takes 0.2 ms and the way from there
/// 0.3, the clock of idle time stands still for 0.2 ms at the tick and for 0.5 at the wake-up.
#[test]
fn samplers_see_idle_time_as_the_kernel_keeps_it() {
    for (kernel, interrupt, way, seen_idle) in [
        ("debian-6.12", 0, 0, 15_000),
        ("debian-6.12", 200, 300, 14_300),
        ("debian-7.3", 0, 0, 17_000),
        ("debian-7.3", 500, 0, 17_000),
    ] {
        let mut setup = setup("board-x86", kernel, "ondemand", Nanos::from_secs(SECONDS));
        (setup.platform.sampler.cycles, setup.platform.sampler.wake_cycles) = (0, 0);
        setup.platform.paths.interrupt = 600 * interrupt;
        setup.platform.paths.switch = 600 * way;
        setup.limits = vec![Some((KiloHertz(600_000), KiloHertz(600_000)))];
        setup.tick_phase = Nanos(3 * MS);
        let mut one = task("one", Periodic::new(5 * TICK, 3_000_000));
        one.allowed = vec![CpuId(1)];
        setup.tasks.push(one);
        let mut times = IdleTimes::default();
        Machine::new(setup).unwrap().run(&mut times);
        let (first, at_first) = times.0[0];
        assert!(times.0.len() > 100, "{kernel}: {}", times.0.len());
        for (period, idle) in &times.0 {
            let passed = period - first;
            assert_eq!(idle - at_first, passed * seen_idle * 1000, "{kernel}, {way} us: {period}");
        }
    }
}

#[test]
fn a_daemon_polls_by_its_timer() {
    for governor in ["ondemand", "conservative"] {
        let mut setup = setup_of(governor);
        setup.governor_cost = GovernorCost { cycles_per_poll: 1, cpu: CpuId(0) };
        let seen = seen(setup);
        let idle = seen.polls.iter().filter(|at| !seen.awake(**at)).count();
        let gaps: BTreeSet<u64> =
            seen.polls.windows(2).map(|pair| (pair[1] - pair[0]) / (MS / 10)).collect();
        assert!(idle > 100, "{governor}: {idle} of {}", seen.polls.len());
        assert_eq!(gaps.len(), 1, "{governor}: evenly, whatever the load: {gaps:?}");
    }
}

/// On a CPU of frequency-invariant utilisation at a fifth of its speed a tick of 4 ms is 0.8 ms of load tracking, which
/// crosses a period of 1.024 ms in 78 % of ticks. In the others the scheduler has nothing to say, and samples are further apart
/// than the ticks that would do.
#[test]
fn a_tick_calls_where_load_tracking_crosses_a_period() {
    let periods = |invariant: bool| {
        let mut setup = setup("board-aarch64", "debian-7.3", "ondemand", Nanos::from_secs(20));
        setup.platform.domains.iter_mut().for_each(|d| d.frequency_invariant = invariant);
        setup.platform.sampler.wake_cycles = 0;
        setup.limits = vec![None, Some((KiloHertz(600_000), KiloHertz(600_000)))];
        let mut busy = task("busy", Periodic::new(100_000 * MS, u64::MAX / 4));
        busy.allowed = vec![CpuId(3)];
        setup.tasks.push(busy);
        let polls = big_polls(setup);
        let ticks = polls[2..].windows(2).map(|pair| (pair[1] + MS - pair[0]) / TICK);
        let mut counts = [0; 6];
        ticks.for_each(|ticks| counts[(ticks as usize).min(5)] += 1);
        counts
    };
    let (invariant, other) = (periods(true), periods(false));
    let (some, all) = (invariant.iter().sum::<usize>(), other.iter().sum::<usize>());
    assert_eq!(other[..2].iter().chain(&other[4..]).sum::<usize>(), 0, "{other:?}");
    // Of second ticks 0.78 call, and 0.42 of them come late enough; of third ones many do not call.
    let share = |ticks: usize| invariant[ticks] as f64 / some as f64;
    assert!((share(2) - 0.78 * 0.42).abs() < 0.04, "{invariant:?}");
    assert!(share(4) > 0.15 && invariant[0] + invariant[1] + invariant[5] == 0, "{invariant:?}");
    assert!(all > some, "{all} {some}");
}

/// Samples of the second domain.
fn big_polls(setup: Setup) -> Vec<u64> {
    #[derive(Default)]
    struct Polls(Vec<u64>);
    impl Observer for Polls {
        fn governor(&mut self, at: Nanos, domain: usize, event: &Event<'_>, _: &Decision) {
            if domain == 1 && matches!(event, Event::Poll { .. }) {
                self.0.push(at.0);
            }
        }
    }
    let mut polls = Polls::default();
    Machine::new(setup).unwrap().run(&mut polls);
    polls.0
}
