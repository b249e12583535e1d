//! When cpufreq is asked: seen on the x86 board, where each question is a step, as the frequency that is asked for
//! follows from the present one.

use crate::common::*;
use flyball_governors::{Decision, Event};
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::Machine;
use flyball_sim::observe::Observer;
use flyball_sim::setup::{Before, Class, Left, Placed, Setup, TaskSetup};
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

/// The utilisation of CPU 1 and of CPU 3 at each question, and for which CPU that is.
#[derive(Default)]
struct Seen(Vec<(u64, u32, u32, u32)>);

impl Observer for Seen {
    fn governor(&mut self, at: Nanos, _: usize, event: &Event<'_>, _: &Decision) {
        if let Event::Util { cpu, signals, .. } = event {
            self.0.push((at.0, cpu.0, signals[1].util, signals[3].util));
        }
    }
}

fn seen(mut setup: Setup) -> Vec<(u64, u32, u32, u32)> {
    // From a reading to the question it is 0.1 ms at 600 MHz, and the next question comes 0.2 ms later.
    setup.platform.clock_readings.change_cycles = 60_000;
    setup.platform.question_cycles = 120_000;
    let mut seen = Seen::default();
    let duration = setup.duration;
    Machine::new(setup).unwrap().run_until(duration, &mut seen);
    seen.0
}

/// Something ran on CPUs 2 and 3. CPU 0 is busy and wakes CPU 1 to look after them: when that asks for CPU 2 it has not come to CPU 3 yet.
#[test]
fn who_is_looked_after_later_is_seen_as_he_was() {
    let ran = |cpu, ms: u64| {
        let work = Step::Run(Work { cycles: 0, memory: Nanos(ms * MS) });
        on(cpu, vec![work, Step::SleepUntil(Nanos(1_000 * MS))])
    };
    let spin = on(0, vec![Step::Run(Work::FOREVER)]);
    let questions = seen(board(vec![spin, ran(2, 3), ran(3, 30)]));
    let rounds = questions.iter().zip(questions.iter().skip(1));
    let mut rounds = rounds.filter(|(first, next)| (first.1, next.1) == (2, 3));
    let (first, next) = rounds.find(|(first, _)| first.0 > 31 * MS).unwrap();
    assert!(first.3 > next.3 + 50, "{first:?} {next:?}");
    assert!(next.0 - first.0 > 20_000, "{first:?} {next:?}");
}

/// It leaves CPU 3 at 50 ms: for that its CPU asks before the other one has it.
#[test]
fn a_task_that_moves_counts_nowhere_until_it_is_there() {
    let spin = TaskSetup { allowed: Vec::new(), ..on(3, vec![Step::Run(Work::FOREVER)]) };
    let mut setup = board(vec![spin]);
    let placed = |ms: u64, cpu, awake| Placed { at: Nanos(ms * MS), cpu: CpuId(cpu), awake };
    setup.prescribed.placements = vec![vec![placed(0, 3, false), placed(50, 1, true)]];
    let questions = seen(setup);
    let mut moved = questions.iter().filter(|of| of.0 >= 50 * MS);
    let leaves = moved.find(|of| of.1 == 3 && of.3 < 10).unwrap();
    let comes = moved.next().unwrap();
    assert!(leaves.2 < 10, "{leaves:?}");
    assert!(comes.1 == 1 && comes.2 > 500, "{comes:?}");
}

/// A deadline task and a fair one behind it on CPU 0; on CPU 3 something ran. At the ticks of CPU 0 two tasks are in its queue, so it wakes an
/// idle CPU to look after CPU 3, but where the tick finds that the deadline task has used up its time.
#[test]
fn who_has_used_up_his_time_is_out_of_the_queue() {
    let asks_for_3 = |runtime: u64| {
        let runtime = Nanos(runtime * MS);
        let period = Nanos(100 * MS);
        let class = Class::Deadline { runtime, deadline: period, period };
        let forever = || vec![Step::Run(Work::FOREVER)];
        let hog = TaskSetup { class, allowed: Vec::new(), ..on(0, forever()) };
        let ran = Step::Run(Work { cycles: 0, memory: Nanos(3 * MS) });
        let questions = seen(board(vec![hog, on(0, forever()), on(3, vec![ran])]));
        let for_3 = questions.iter().filter(|of| of.1 == 3 && of.0 > 5 * MS && of.0 < 19 * MS);
        for_3.map(|of| of.0 / MS).collect::<Vec<_>>()
    };
    assert_eq!(asks_for_3(15), [12]);
    assert_eq!(asks_for_3(11), [0; 0], "used up at that tick");
}
