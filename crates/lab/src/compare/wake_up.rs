//! How a task that slept comes to an item: its timer's interrupt, the choice of a CPU, that one's queue, and the switch.

use super::clocks::Clocks;
use super::median;
use super::readings::Readings;
use flyball_events::Recording;
use flyball_events::recording::{Ran, Subject, Woken};
use flyball_platform::Paths;
use flyball_sim::behavior::{Arrival, Interrupt};
use flyball_sim::workload::Late;
use flyball_units::Nanos;
use std::collections::BTreeMap;

/// What a thread's timers may come late by themselves, in nanoseconds (`timer_slack_ns`).
const TIMER_SLACK_NS: u64 = 50_000;

/// How a task that slept came to an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WakeUp {
    /// The CPU on which it slept; None where it had not run.
    pub slept_on: Option<u32>,
    /// From the release until its CPU was chosen, in ns.
    pub late_ns: u64,
    /// From then until it was in that CPU's queue, when the kernel read the clock for that, in ns; 0 where the choice is not recorded.
    pub queued_ns: u64,
    /// Who put it there.
    pub by: By,
    /// What that one could have executed meanwhile.
    pub queued_cycles: f64,
    /// What its CPU executed from the task before in the same interrupt to this one, where it was told of both.
    pub next_told_cycles: Option<f64>,
    /// From when its CPU was last woken until it ran, in ns and in cycles; None where somebody was in the way.
    pub switch: Option<(u64, f64)>,
    /// How late its timer was, with the interrupt.
    pub late: Option<Late>,
}

/// Who puts a task into the queue of its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// That CPU, where its timer expired, and the choice takes no time.
    AtOnce,
    /// That CPU, where its timer expired.
    Timer,
    /// That CPU, which another one told of it.
    Itself,
    /// Another CPU.
    Other(u32),
}

/// When anybody was woken on each CPU, and when and by whom its queue's signals were brought up to date.
pub(super) struct OnCpus {
    woken: BTreeMap<u32, Vec<u64>>,
    updates: BTreeMap<u32, Vec<(u64, u32)>>,
}

impl OnCpus {
    pub(super) fn of(recording: &Recording<'_>) -> OnCpus {
        let mut woken = BTreeMap::<u32, Vec<u64>>::new();
        for of in recording.wakeups() {
            woken.entry(of.cpu).or_default().push(of.t_ns);
        }
        let mut updates = BTreeMap::<u32, Vec<(u64, u32)>>::new();
        for of in recording.signals() {
            if let (Subject::Cpu(cpu), Some(updater)) = (of.subject, of.updater) {
                updates.entry(cpu).or_default().push((of.t_ns, updater));
            }
        }
        woken.values_mut().for_each(|times| times.sort_unstable());
        updates.values_mut().for_each(|rows| rows.sort_unstable());
        OnCpus { woken, updates }
    }

    /// The last wake-up on a CPU before `t_ns`.
    fn woken_before(&self, cpu: u32, t_ns: u64) -> Option<u64> {
        let times = self.woken.get(&cpu)?;
        times[..times.partition_point(|&woken_ns| woken_ns < t_ns)].last().copied()
    }

    /// When the way to a CPU's switch at `ran_ns` began, to a task that was woken at `woken_ns`: an interrupt that wakes several is over with
    /// the last.
    pub(super) fn switch_begins(&self, cpu: u32, (woken_ns, ran_ns): (u64, u64)) -> u64 {
        self.woken_before(cpu, ran_ns).map_or(woken_ns, |last| last.max(woken_ns)).min(ran_ns)
    }

    /// Which other CPU put a task into this one's queue, and when, from its choice to its record.
    fn put(&self, cpu: u32, (chosen_ns, recorded_ns): (u64, u64)) -> Option<(u32, u64)> {
        let rows = self.updates.get(&cpu)?;
        let rows = &rows[..rows.partition_point(|&(t_ns, _)| t_ns <= recorded_ns)];
        let &(t_ns, by) = rows.last().filter(|&&(t_ns, by)| t_ns >= chosen_ns && by != cpu)?;
        Some((by, t_ns))
    }
}

/// The choice of a CPU takes no longer than this until the task is moved there, in ns.
const LONGEST_CHOICE_NS: u64 = 400_000;

/// When the choice began with which a task moved.
fn choice_ns(synced: &[u64], moved_ns: u64) -> u64 {
    let begins = synced.partition_point(|&t_ns| t_ns + LONGEST_CHOICE_NS < moved_ns);
    synced.get(begins).copied().filter(|&t_ns| t_ns < moved_ns).unwrap_or(moved_ns)
}

/// A task, with what is recorded of it and of others.
pub(super) struct Sleeper<'a> {
    /// What it ran.
    pub(super) slices: &'a [Ran],
    /// When it was woken, in order.
    pub(super) wakeups: &'a [Woken],
    /// When its signals were brought up to date, in order: with that the choice of a CPU begins.
    pub(super) synced: Vec<u64>,
    /// When it was moved.
    pub(super) moves: Vec<u64>,
    /// Whether its utilisation is looked at in a choice.
    pub(super) by_size: bool,
    /// What all ran.
    pub(super) all: &'a [Ran],
    /// What else happened on CPUs.
    pub(super) on_cpus: &'a OnCpus,
}

impl Sleeper<'_> {
    /// How it came to the item that was `released` and `ended` then; None where it did not sleep.
    pub(super) fn comes(
        &self,
        (released_ns, ended_ns): (u64, u64),
        (readings, clocks): (&Readings, &Clocks<'_>),
    ) -> Option<WakeUp> {
        let during = |t_ns: u64| (released_ns..=ended_ns).contains(&t_ns);
        let woken = self.wakeups.iter().find(|woken| during(woken.t_ns))?;
        if self.slices.iter().any(|ran| ran.to_ns > released_ns && ran.from_ns <= released_ns) {
            return None;
        }
        let ran_ns = woken.ran_ns.filter(|ran_ns| *ran_ns <= ended_ns)?;
        let ran_ns = self.slices.iter().rev().find(|slice| slice.from_ns <= ran_ns)?.from_ns;
        let (cpu, recorded_ns) = (woken.cpu, woken.t_ns);
        let mut others = self.all.iter().filter(|of| of.cpu == cpu && of.tid != woken.tid);
        let alone = !others.any(|of| of.from_ns < ran_ns && of.to_ns > released_ns);
        let switch = alone.then(|| {
            let from_ns = self.on_cpus.switch_begins(cpu, (recorded_ns, ran_ns));
            (ran_ns - from_ns, clocks.cycles(cpu, from_ns, ran_ns))
        });
        let (chosen_ns, queued_ns, by) = self.queued(woken, released_ns);
        // What is recorded is later than the clock's reading, with which the task is in its queue.
        let ago = match by {
            By::Other(_) => 0,
            _ => readings.before_wakeup(cpu, recorded_ns, clocks),
        };
        let read_ns = queued_ns.saturating_sub(ago).max(released_ns);
        // What is taken for the choice may have been later.
        let chosen_ns = chosen_ns.min(read_ns);
        let slept_on = self.slices.iter().rev().find(|slice| slice.to_ns <= chosen_ns);
        let before_ns = self.on_cpus.woken_before(cpu, recorded_ns);
        let before_ns = before_ns.filter(|&t_ns| by == By::Itself && t_ns > read_ns);
        Some(WakeUp {
            slept_on: slept_on.map(|slice| slice.cpu),
            late_ns: chosen_ns - released_ns,
            queued_ns: read_ns - chosen_ns,
            by,
            queued_cycles: match by {
                By::Other(by) => clocks.cycles(by, chosen_ns, read_ns),
                _ => clocks.cycles(cpu, chosen_ns, read_ns),
            },
            next_told_cycles: before_ns.map(|from_ns| clocks.cycles(cpu, from_ns, recorded_ns)),
            switch,
            late: None,
        })
    }

    /// When its CPU was chosen, and when and by whom it was put into that one's queue, as far as that is recorded.
    fn queued(&self, woken: &Woken, released_ns: u64) -> (u64, u64, By) {
        let mut moves = self.moves.iter().copied();
        let Some(moved_ns) = moves.find(|t_ns| (released_ns..=woken.t_ns).contains(t_ns)) else {
            let since = self.synced.partition_point(|&t_ns| t_ns < released_ns);
            let chosen_ns = self.synced.get(since).filter(|_| self.by_size);
            let by = if self.by_size { By::Timer } else { By::AtOnce };
            return (chosen_ns.map_or(woken.t_ns, |&at| at.min(woken.t_ns)), woken.t_ns, by);
        };
        let chosen_ns = choice_ns(&self.synced, moved_ns).max(released_ns);
        match self.on_cpus.put(woken.cpu, (chosen_ns, woken.t_ns)) {
            Some((by, put_ns)) => (chosen_ns, put_ns, By::Other(by)),
            None => (chosen_ns, woken.t_ns, By::Itself),
        }
    }
}

/// Gives wake-ups, each with its release, their timers' interrupts: one wakes those whose timers expire at once on one CPU, in turn.
pub(super) fn interrupts(wake_ups: &mut [(u64, &mut WakeUp)], clocks: &Clocks<'_>) {
    let chosen = |of: &WakeUp| of.by == By::Timer && of.queued_ns > 0;
    let known = wake_ups.iter().filter(|(_, of)| chosen(of)).map(|(_, of)| of.queued_cycles as u64);
    let usual_choice = median(&mut known.collect::<Vec<_>>()).unwrap_or(0) as f64;
    let mut due = BTreeMap::<(u64, u32), Vec<&mut WakeUp>>::new();
    for (released_ns, of) in wake_ups {
        if let Some(cpu) = of.slept_on {
            due.entry((*released_ns, cpu)).or_default().push(of);
        }
    }
    for ((released_ns, cpu), mut together) in due {
        // Where a choice is not recorded it begins as long before as usual.
        for of in together.iter_mut().filter(|of| of.by == By::Timer && of.queued_ns == 0) {
            let read_ns = released_ns + of.late_ns;
            let rate = clocks.cycles_per_ns(cpu, read_ns).unwrap_or(1.0);
            of.queued_ns = ((usual_choice / rate) as u64).min(of.late_ns);
            of.late_ns -= of.queued_ns;
            of.queued_cycles = clocks.cycles(cpu, read_ns - of.queued_ns, read_ns);
        }
        together.sort_unstable_by_key(|of| of.late_ns);
        let mut reached_ns = None;
        for of in together {
            let expires_ns = of.late_ns.min(TIMER_SLACK_NS);
            let from_ns = released_ns + reached_ns.unwrap_or(expires_ns);
            let interrupt = Interrupt {
                cycles: clocks.cycles(cpu, from_ns, released_ns + of.late_ns).round() as u64,
                follows: reached_ns.is_some(),
                arrival: of.arrival(),
            };
            of.late = Some(Late { expires: Nanos(expires_ns), interrupt });
            reached_ns = Some(of.late_ns);
        }
    }
}

impl WakeUp {
    /// How it got into its CPU's queue, and in how many cycles.
    fn arrival(&self) -> Option<(Arrival, u64)> {
        let how = match self.by {
            By::AtOnce => return None,
            By::Timer => Arrival::Stays,
            By::Itself if self.next_told_cycles.is_some() => return None,
            By::Itself => Arrival::Told,
            By::Other(_) => Arrival::Put,
        };
        Some((how, self.queued_cycles.round() as u64))
    }
}

/// The medians of what tasks took until their CPUs were chosen, and from then until they ran, in ns.
pub(super) fn usual_ns<'a>(
    wake_ups: impl Iterator<Item = &'a WakeUp> + Clone,
) -> Option<(u64, u64)> {
    let mut late: Vec<u64> = wake_ups.clone().map(|of| of.late_ns).collect();
    let switch = wake_ups.filter_map(|of| Some(of.queued_ns + of.switch?.0));
    let mut switch: Vec<u64> = switch.collect();
    median(&mut late).map(|late| (late, median(&mut switch).unwrap_or(0)))
}

/// What wake-ups cost, as medians, 0 of what there was none; `switches` are further ones from a wake-up to the first instruction.
pub(super) fn usual_paths<'a>(
    wake_ups: impl Iterator<Item = &'a WakeUp> + Clone,
    switches: impl Iterator<Item = f64>,
) -> Paths {
    let usual = |cycles: &mut dyn Iterator<Item = f64>| {
        median(&mut cycles.map(|cycles| cycles.round() as u64).collect::<Vec<_>>()).unwrap_or(0)
    };
    let interrupts = |follows: bool| {
        let late = wake_ups.clone().filter_map(|of| Some(of.late?.interrupt));
        late.filter(move |of| of.follows == follows).map(|of| of.cycles as f64)
    };
    let queued = |is: fn(By) -> bool| {
        wake_ups.clone().filter(move |of| is(of.by)).map(|of| of.queued_cycles)
    };
    let own = wake_ups.clone().filter_map(|of| Some(of.switch?.1));
    Paths {
        switch: usual(&mut own.chain(switches)),
        interrupt: usual(&mut interrupts(false)),
        next: usual(&mut interrupts(true)),
        stays: usual(&mut queued(|by| by == By::Timer)),
        put: usual(&mut queued(|by| matches!(by, By::Other(_)))),
        told: usual(&mut queued(|by| by == By::Itself)),
        next_told: usual(&mut wake_ups.clone().filter_map(|of| of.next_told_cycles)),
        ..Paths::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::clocks::x86_at;
    use crate::compare::given::given;
    use crate::compare::given::tests::{playing, scenario};
    use flyball_run::{Migration, Run, Slice, UtilizationSample};

    const MS: u64 = 1_000_000;

    /// How `work` comes to its items at 20 and 60 ms, on CPU 1 of the x86 board at 1 GHz, if it was moved from CPU 2 0.3 ms before it was
    /// recorded to be awake.
    fn moved(run: &mut Run) -> [WakeUp; 2] {
        run.tables.migrations.push(Migration {
            t_ns: 1_000 * MS + 20_200_000,
            tid: 1,
            from_cpu: 2,
            to_cpu: 1,
            ..Migration::default()
        });
        let scenario = scenario(1);
        let found = given(&scenario, &scenario.setup(0), [&*run].into_iter()).unwrap();
        let found: Vec<WakeUp> = found.playings[0].tasks["work"].wake_ups().copied().collect();
        found.try_into().unwrap()
    }

    /// Its timer's interrupt ends when that CPU is chosen.
    #[test]
    fn a_cpu_is_told_of_a_task() {
        let [first, second] = moved(&mut playing());
        assert_eq!((first.by, first.late_ns, first.queued_ns), (By::Itself, 200_000, 300_000));
        assert_eq!(first.arrival(), Some((Arrival::Told, 300_000)), "at 1 GHz");
        assert_eq!((second.by, second.late_ns, second.queued_ns), (By::AtOnce, MS / 2, 0));
        assert_eq!((first.switch, second.switch), (Some((MS / 4, 2.5e5)), Some((MS / 4, 2.5e5))));
        let late = |of: &WakeUp| {
            let Late { expires, interrupt } = of.late.unwrap();
            (expires.0, interrupt.cycles, interrupt.follows)
        };
        assert_eq!(late(&first), (50_000, 150_000, false), "less the timer's slack");
        assert_eq!((late(&second), second.arrival()), ((50_000, 450_000, false), None));
    }

    /// CPU 2 has brought the queue's signals up to date itself, 0.1 ms before the record.
    #[test]
    fn another_cpu_puts_a_task_into_its_queue() {
        let mut run = playing();
        run.tables.utilization.push(UtilizationSample {
            t_ns: 1_000 * MS + 20_400_000,
            kind: "cpu".to_owned(),
            cpu: Some(1),
            updater_cpu: Some(2),
            util_avg: Some(1),
            ..UtilizationSample::default()
        });
        let [first, _] = moved(&mut run);
        assert_eq!((first.by, first.late_ns, first.queued_ns), (By::Other(2), 200_000, 200_000));
        assert_eq!(first.arrival(), Some((Arrival::Put, 200_000)));
    }

    /// The estimate of energy brings the task's signals up to date, 0.15 ms before it moves.
    #[test]
    fn a_choice_begins_before_the_move() {
        let synced = [MS, 2 * MS, 3 * MS];
        assert_eq!(choice_ns(&synced, 2 * MS + 150_000), 2 * MS);
        let apart = 2 * MS + 550_000;
        assert_eq!(choice_ns(&synced, apart), apart, "that was something else");
        assert_eq!(choice_ns(&synced, 2 * MS), 2 * MS, "nothing is recorded of it");
    }

    /// A task that stays: with its signals up to date at 20.2 ms, and in its queue 0.3 ms later, when that is recorded.
    #[test]
    fn a_choice_takes_time_where_cpus_differ() {
        let run = x86_at(1_000_000);
        let recording = Recording::of(&run);
        let on_cpus = OnCpus::of(&recording);
        let woken = Woken { t_ns: 20_500_000, ran_ns: None, cpu: 1, tid: 1, waker: None };
        let queued = |by_size: bool, synced: Vec<u64>| {
            let (slices, wakeups, all) = (&[][..], &[][..], &[][..]);
            let moves = Vec::new();
            let on_cpus = &on_cpus;
            Sleeper { slices, wakeups, synced, moves, by_size, all, on_cpus }
                .queued(&woken, 20 * MS)
        };
        let synced = || vec![19 * MS, 20_200_000, 20_400_000];
        assert_eq!(queued(true, synced()), (20_200_000, 20_500_000, By::Timer));
        assert_eq!(queued(true, vec![19 * MS]), (20_500_000, 20_500_000, By::Timer));
        assert_eq!(queued(false, synced()), (20_500_000, 20_500_000, By::AtOnce));
    }

    /// Of three items that are due at once on CPU 1 at 1 GHz the first is reached 0.1 ms behind the timer's slack, the second 0.2 ms later, the
    /// third, whose choice is not recorded, as long before its queue as the first one's, 0.06 ms; the fourth sleeps elsewhere.
    #[test]
    fn an_interrupt_comes_to_its_tasks_in_turn() {
        let platform = flyball_platform::Platform::named("board-x86").unwrap();
        let mut run = x86_at(1_000_000);
        run.tables.slices.push(Slice { to_ns: 9 * MS, ..Slice::default() });
        let recording = Recording::of(&run);
        let clocks = Clocks::of(&platform, &run, &recording);
        let of = |cpu: u32, late_ns: u64, queued_ns: u64, by: By| WakeUp {
            slept_on: Some(cpu),
            late_ns,
            queued_ns,
            by,
            queued_cycles: queued_ns as f64,
            next_told_cycles: None,
            switch: None,
            late: None,
        };
        let mut all = [
            of(1, 350_000, 100_000, By::Other(1)),
            of(1, 150_000, 60_000, By::Timer),
            of(1, 500_000, 0, By::Timer),
            of(2, 30_000, 0, By::AtOnce),
        ];
        let mut due: Vec<(u64, &mut WakeUp)> = all.iter_mut().map(|of| (MS, of)).collect();
        interrupts(&mut due, &clocks);
        let late = all.map(|of| {
            let Late { expires, interrupt } = of.late.unwrap();
            (expires.0, interrupt.cycles, interrupt.follows, interrupt.arrival)
        });
        let arrival = |how, cycles| Some((how, cycles));
        assert_eq!(late[1], (50_000, 100_000, false, arrival(Arrival::Stays, 60_000)));
        assert_eq!(late[0], (50_000, 200_000, true, arrival(Arrival::Put, 100_000)));
        assert_eq!(late[2], (50_000, 90_000, true, arrival(Arrival::Stays, 60_000)));
        assert_eq!(late[3], (30_000, 0, false, None), "another interrupt expired it");
        let paths = usual_paths(all.iter(), [].into_iter());
        assert_eq!((paths.interrupt, paths.next, paths.stays), (100_000, 200_000, 60_000));
        assert_eq!((paths.put, paths.told), (100_000, 0));
    }
}
