//! Decisions that are taken out of the machine's hands.

use crate::common::*;
use flyball_governors::{Decision, Event};
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::Machine;
use flyball_sim::observe::Observer;
use flyball_sim::setup::{Cared, Class, Placed, Prescribed, Setup};
use flyball_units::{CpuId, KiloHertz, Nanos};

/// Two little CPUs (0 and 1) and two big ones; where schedutil decides, a spinning task ends on a big one at 3 GHz.
fn board(governor: &str) -> Setup {
    without_transitions(setup("board-aarch64", "debian-7.3", governor, Nanos(100 * MS)))
}

fn placed(at_ms: u64, cpu: u32, awake: bool) -> Placed {
    Placed { at: Nanos(at_ms * MS), cpu: CpuId(cpu), awake }
}

/// Whatever its governor asks for, and beside a domain that is free.
#[test]
fn a_domain_has_the_frequencies_that_are_prescribed() {
    for governor in ["schedutil", "ondemand", "performance"] {
        let mut setup = board(governor);
        setup.tasks.push(task("spin", Spin));
        let changes = [(0, 600_000), (30, 1_800_000), (70, 1_200_000)];
        let changes = changes.map(|(ms, khz)| (Nanos(ms * MS), KiloHertz(khz)));
        let mut other = task("other", Spin);
        other.allowed = vec![CpuId(0)];
        setup.tasks.push(other);
        setup.tasks[0].allowed = vec![CpuId(2)];
        setup.prescribed.frequencies = vec![Vec::new(), changes.to_vec()];
        let (log, summary) = run(setup);
        let of = |domain| log.frequency.iter().filter(move |of| of.1 == domain);
        let big: Vec<_> = of(1).map(|&(at, _, khz)| (at / MS, khz)).collect();
        assert_eq!(big, [(0, 600_000), (30, 1_800_000), (70, 1_200_000)], "{governor}");
        assert_eq!(
            of(0).next_back().map(|of| of.2),
            Some(1_800_000),
            "{governor}: the little CPUs"
        );
        // 18,000,000 in 30 ms, 72,000,000 in 40 and 36,000,000 in 30, less what a sampler's worker takes.
        let share = summary.tasks[0].cycles / 126e6;
        let least = if governor == "ondemand" { 0.95 } else { 0.999 };
        assert!((least..=1.0).contains(&share), "{governor}: {share}");
    }
}

#[test]
fn a_task_wakes_up_where_that_is_prescribed() {
    for class in [Class::Fair { nice: 0 }, Class::Fifo { priority: 1 }] {
        let mut setup = board("schedutil");
        // Short enough to be done by 5 ms on any of the CPUs.
        let mut work = task("work", Periodic::new(10 * MS, 300_000));
        work.class = class;
        setup.tasks.push(work);
        let way = [placed(0, 1, false), placed(18, 3, false), placed(38, 0, false)];
        setup.prescribed.placements = vec![way.to_vec()];
        let (log, _) = run(setup);
        let cpus: Vec<u32> = log.switches.iter().map(|of| of.2).collect();
        // From 0 to 100 ms.
        let due = [1, 1, 3, 3, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(cpus, due, "{class:?}");
    }
}

/// It moves while it runs where it did so without having slept; else with its next wake-up, which a spinning task has none of.
#[test]
fn a_task_that_runs_moves_only_if_it_did_so_awake() {
    for (awake, moves) in [(true, vec![(40 * MS, 0, 2, 1)]), (false, vec![])] {
        let mut setup = board("performance");
        setup.tasks.push(task("spin", Spin));
        setup.prescribed.placements = vec![vec![placed(0, 2, false), placed(40, 1, awake)]];
        assert_eq!(run(setup).0.migrations, moves);
    }
}

/// One that waits goes, too, and nobody takes it from there, be his own CPU idle.
#[test]
fn a_task_that_waits_moves_and_stays() {
    let mut setup = board("performance");
    let whole = vec![placed(0, 2, false)];
    setup.tasks.push(task("stays", Spin));
    setup.tasks.push(task("goes", Spin));
    let goes = vec![placed(0, 2, false), placed(50, 0, true)];
    setup.prescribed.placements = vec![whole, goes];
    let (log, summary) = run(setup);
    assert_eq!(log.migrations, [(50 * MS, 1, 2, 0)]);
    let ran = |at: usize| summary.tasks[at].running.0 / MS;
    assert!((73..=77).contains(&ran(0)) && (73..=77).contains(&ran(1)), "{} {}", ran(0), ran(1));
}

/// Something ran on CPUs 2 and 3. Their signals are brought up to date at the times that are prescribed, on behalf of each, and at no others.
#[test]
fn idle_cpus_are_looked_after_when_that_is_prescribed() {
    struct Asked(Vec<(u64, u32)>);
    impl Observer for Asked {
        fn governor(&mut self, at: Nanos, _: usize, event: &Event<'_>, _: &Decision) {
            if let Event::Util { cpu, .. } = event {
                self.0.push((at.0 / MS, cpu.0));
            }
        }
    }
    let asked = |care: Vec<Cared>| {
        let mut setup = setup("board-x86", "debian-6.12", "schedutil", Nanos(100 * MS));
        for cpu in [2, 3] {
            let work = Step::Run(Work { cycles: 0, memory: Nanos(5 * MS) });
            let mut one = task("one", Script::new(vec![work, Step::SleepUntil(Nanos(900 * MS))]));
            one.allowed = vec![CpuId(cpu)];
            setup.tasks.push(one);
        }
        let mut spin = task("spin", Spin);
        spin.allowed = vec![CpuId(0)];
        setup.tasks.push(spin);
        setup.prescribed.care = care;
        let mut asked = Asked(Vec::new());
        Machine::new(setup).unwrap().run(&mut asked);
        let of_idle = asked.0.into_iter().filter(|of| of.0 > 6 && of.1 > 1);
        of_idle.collect::<Vec<_>>()
    };
    let care = |ms: u64, cpu| Cared { at: Nanos(ms * MS), cpu: CpuId(cpu), by: CpuId(1) };
    let found = asked(vec![care(30, 2), care(50, 3), care(50, 2)]);
    assert_eq!(found, [(30, 2), (50, 3), (50, 2)]);
    assert_ne!(asked(Vec::new()), found, "its own");
}

#[test]
fn what_no_machine_can_do_is_refused() {
    let refused = |prescribed: Prescribed| {
        let mut setup = board("performance");
        setup.tasks.push(task("spin", Spin));
        setup.prescribed = prescribed;
        Machine::new(setup).err().map(|error| error.to_string())
    };
    let frequencies = |of: &[&[u64]]| Prescribed {
        frequencies: of
            .iter()
            .map(|of| of.iter().map(|&khz| (Nanos::ZERO, KiloHertz(khz))).collect())
            .collect(),
        ..Prescribed::default()
    };
    assert_eq!(refused(frequencies(&[&[], &[600_000]])), None);
    let error = refused(frequencies(&[&[], &[123]])).unwrap();
    assert!(error.contains("prescribed frequency") && error.contains("123"), "{error}");
    let error = refused(frequencies(&[&[]])).unwrap();
    assert!(error.contains("prescribed frequencies: 1 entries for 2"), "{error}");
    let care = Cared { at: Nanos::ZERO, cpu: CpuId(1), by: CpuId(4) };
    let error = refused(Prescribed { care: vec![care], ..Prescribed::default() }).unwrap();
    assert!(error.contains("cpu4") && error.contains("4 CPUs"), "{error}");
    let placements = |of: Vec<Vec<Placed>>| Prescribed { placements: of, ..Prescribed::default() };
    let error = refused(placements(vec![vec![placed(0, 4, false)]])).unwrap();
    assert!(error.contains("cpu4") && error.contains("4 CPUs"), "{error}");
    let error = refused(placements(vec![Vec::new(), Vec::new()])).unwrap();
    assert_eq!(error, "a placement is about task number 1, the setup has 1 tasks");
}
