//! When cpufreq is asked: seen on the x86 board, where each question is a step, as the frequency that is asked for
//! follows from the present one.

use crate::common::*;
use flyball_governors::{Decision, Event};
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::Machine;
use flyball_sim::observe::Observer;
use flyball_sim::setup::{Before, Class, Left, Setup, TaskSetup};
use flyball_units::{CpuId, Nanos};

fn board(tasks: Vec<TaskSetup>) -> Setup {
    let mut setup = setup("board-x86", "debian-6.12", "schedutil", Nanos(200 * MS));
    setup.tasks = tasks;
    setup
}

fn on(cpu: u32, steps: Vec<Step>) -> TaskSetup {
    let mut task = task("task", Script::new(steps));
    task.allowed = vec![CpuId(cpu)];
    task
}

fn fifo(cpu: u32, steps: Vec<Step>) -> TaskSetup {
    TaskSetup { class: Class::Fifo { priority: 50 }, ..on(cpu, steps) }
}

fn cycles(cycles: u64) -> Step {
    Step::Run(Work { cycles, memory: Nanos::ZERO })
}

/// Changes of frequency from `from` on: when, and to what in MHz.
fn changes(setup: Setup, from: u64) -> Vec<(u64, u64)> {
    let later = |&&(at, ..): &&(u64, usize, u64)| at >= from;
    run(setup).0.frequency.iter().filter(later).map(|&(at, _, khz)| (at, khz / 1000)).collect()
}

/// A FIFO task's ticks ask nothing. It wakes up at 50 ms, which asks: 1.25 x 600 MHz, 800. Its CPU was idle and so
/// looks at others again with its first tick, at 52 ms: 1.25 x 800 MHz, 1200. It looked last at 4 ms, where a tick found
/// it idle, and found nothing to do: each 8 ms from then on, and 16 times as long but for a tick while it is busy:
/// 1600 MHz at 4 + 124 ms.
#[test]
fn a_busy_cpu_asks_when_it_balances() {
    let steps = vec![cycles(600_000), Step::SleepUntil(Nanos(50 * MS)), Step::Run(Work::FOREVER)];
    let found = changes(board(vec![fifo(1, steps)]), 50 * MS);
    assert_eq!(found, [(50 * MS, 800), (52 * MS, 1200), (128 * MS, 1600)]);
}

/// What a CPU is stopped for takes it from any task, for 5 ms at 600 MHz, and counts in no signal: a FIFO task raises
/// the frequency.
#[test]
fn what_a_cpu_is_stopped_for_asks_for_nothing() {
    let once = |class| {
        let steps = vec![Step::SleepUntil(Nanos(50 * MS)), cycles(3_000_000)];
        board(vec![TaskSetup { class, ..on(1, steps) }])
    };
    assert_eq!(changes(once(Class::Stop), 50 * MS), []);
    assert_eq!(changes(once(Class::Fifo { priority: 99 }), 50 * MS)[0], (50 * MS, 800));
    let mut beside = once(Class::Stop);
    let forever = on(1, vec![Step::Run(Work::FOREVER)]);
    beside.tasks.push(TaskSetup { class: Class::Fifo { priority: 99 }, ..forever });
    assert!(run(beside).1.tasks[0].running.0 > 0);
}

/// Two CPUs have their ticks at the same moment of the model, 46 us apart on average on the board. The second asks from what
/// the first one got, 1.25 x 1.25 x its utilisation of the present frequency, if that is longer ago than the rate limit
/// of 15 us: with a probability of exp(-15 / 46) = 0.722, in 144 of 200 cases (three standard deviations are 19).
#[test]
fn cpus_with_ticks_at_once_ask_one_after_the_other() {
    let spin = |cpu| on(cpu, vec![Step::Run(Work::FOREVER)]);
    let steps = |setup| {
        let found = changes(setup, MS);
        let first = found.first().map_or(0, |&(at, _)| at);
        found.iter().filter(|&&(at, _)| at == first).count()
    };
    assert_eq!(steps(board(vec![spin(1)])), 1);
    let twice = (0..200).filter(|&seed| {
        let both = Setup { seed, ..board(vec![spin(1), spin(2)]) };
        steps(both) == 2
    });
    assert!((125..=163).contains(&twice.count()));
    let mut at_once = board(vec![spin(1), spin(2)]);
    at_once.platform.tick_spread = Nanos::ZERO;
    at_once.platform.question_cycles = 0;
    assert_eq!(steps(at_once), 1);
}

/// A FIFO task's first tick, at 52 ms, has its CPU 1 balance, which asks, and wakes CPU 0 to look after CPU 3, where something ran: that
/// asks, too, 15 us later on average, and goes a step further if that is longer than the rate limit of 15 us: with a probability of exp(-1) = 0.368, in
/// 74 of 200 cases (three standard deviations are 20).
#[test]
fn a_round_begins_beside_the_tick_that_wakes_it() {
    let heard = |seed| {
        let sleeps =
            vec![cycles(600_000), Step::SleepUntil(Nanos(50 * MS)), Step::Run(Work::FOREVER)];
        let short = vec![cycles(6_000_000), Step::SleepUntil(Nanos(1_000 * MS))];
        let setup = Setup { seed, ..board(vec![fifo(1, sleeps), on(3, short)]) };
        match changes(setup, 52 * MS).first() {
            Some((at, 2000)) if *at == 52 * MS => false,
            Some((at, 2800)) if *at == 52 * MS => true,
            other => panic!("{other:?}"),
        }
    };
    let heard = (0..200).filter(|&seed| heard(seed)).count();
    assert!((54..=94).contains(&heard), "{heard}");
}

/// What FIFO tasks used of CPU 1, as each question sees it.
#[derive(Default)]
struct Used(Vec<(u64, u32)>);

impl Observer for Used {
    fn governor(&mut self, at: Nanos, _: usize, event: &Event<'_>, _: &Decision) {
        if let Event::Util { signals, .. } = event {
            self.0.push((at.0, signals[1].rt));
        }
    }
}

/// A FIFO task runs for 10 ms and more, a fair one behind it. Its CPU balances at its first tick, at 4 ms, and not again
/// before 4 + 124 ms: until then what the FIFO task used counts as it was when it went to sleep, whatever the fair
/// task's ticks ask.
#[test]
fn what_fifo_tasks_used_does_not_decay_before_their_cpu_balances() {
    let tasks = vec![fifo(1, vec![cycles(12_000_000)]), on(1, vec![Step::Run(Work::FOREVER)])];
    let mut used = Used::default();
    Machine::new(board(tasks)).unwrap().run_until(Nanos(200 * MS), &mut used);
    let seen = |from: u64, to: u64| used.0.iter().filter(move |&&(at, _)| from <= at && at < to);
    let before: Vec<u32> = seen(20 * MS, 128 * MS).map(|&(_, rt)| rt).collect();
    assert!(before.len() > 20 && before[0] > 100, "{before:?}");
    assert!(before.iter().all(|rt| *rt == before[0]), "{before:?}");
    // 108 ms and more are three half-lives.
    let after = seen(132 * MS, 200 * MS).next().unwrap().1;
    assert!(after < before[0] / 8, "{after} after {}", before[0]);
}

/// The question at a FIFO task's sleep comes before its last stretch, since the tick before, counts: the next one, at the
/// fair task's tick, sees more.
#[test]
fn a_fifo_task_that_sleeps_asks_before_its_last_stretch_counts() {
    let tasks = vec![fifo(1, vec![cycles(11_000_000)]), on(1, vec![Step::Run(Work::FOREVER)])];
    let mut machine = Machine::new(board(tasks)).unwrap();
    let mut used = Used::default();
    machine.run_until(Nanos(100 * MS), &mut used);
    let slept = machine.finish().tasks[0].ended.unwrap().0;
    let seen = |at: &mut dyn Iterator<Item = &(u64, u32)>| at.next().unwrap().1;
    let at_sleep = seen(&mut used.0.iter().filter(|(at, _)| *at == slept));
    let later = seen(&mut used.0.iter().filter(|(at, _)| *at > slept));
    assert!(slept % (4 * MS) > MS && later > at_sleep, "{at_sleep}, then {later}");
}

/// CPU 1 is known to have read its clock 30 us behind one tick, and 50 us behind the next; what is not known is as late as half of these.
#[test]
fn ticks_come_when_they_were_read() {
    let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(14 * MS));
    for cpu in [0, 1] {
        let mut spin = task("spin", Spin);
        spin.allowed = vec![CpuId(cpu)];
        setup.tasks.push(spin);
    }
    let mut left = vec![Left::default(); 4];
    left[1].ticks = vec![Nanos(4 * MS + 30_000), Nanos(8 * MS + 50_000)];
    setup.before = Some(Before { left, looked_after: Nanos(MS) });
    let (log, _) = run(setup);
    let ticks = |cpu: u32| -> Vec<u64> {
        log.util.iter().filter(|of| of.2 == cpu && of.0 > MS).map(|of| of.0).collect()
    };
    assert_eq!(ticks(0), [4 * MS, 8 * MS, 12 * MS]);
    assert_eq!(ticks(1), [4 * MS + 30_000, 8 * MS + 50_000, 12 * MS + 50_000]);
}
