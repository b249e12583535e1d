//! When the kernel read its clock.
//!
//! Load tracking goes by a CPU's clock, which is read at the beginning of what brings signals up to date: a wake-up, a tick.
//! What is recorded of it is later, on a board's slow CPUs by 10 to 300 us. How much of a period of load tracking had passed
//! at the reading (`period_contrib`) tells when that was, as an idle CPU's periods have the same length, one after the other:
//!
//! ```text
//!   reading = begin of a period + 1024 ns * period_contrib = recorded time - cycles / frequency
//! ```

use super::clocks::Clocks;
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Signals, Subject};
use flyball_platform::{ClockReadings, Platform};
use flyball_run::Run;
use flyball_stats::median_of;
use flyball_units::{KernelRule, KernelRules};
use std::collections::BTreeMap;

/// A period of load tracking, in ns.
const PERIOD: u64 = 1024 * 1024;

/// Cycles of the reference kind of core from the reading of the clock to the probe, where a tick or another CPU brings signals up to date:
/// by how much later that is at lower frequencies, 39,000 (x86 board), 37,000 and 43,000 (arm64 board, big and little CPUs).
pub(super) const UPDATE_CYCLES: u64 = 40_000;

/// And for the tick of a CPU that is busy: 70,000 (9,600 ticks of the x86 board, half of them within 68,000 to 74,000).
pub(super) const BUSY_UPDATE_CYCLES: u64 = 70_000;

/// From the reading for a task that goes to sleep to the first record of it, by the periods of the x86 board and those of big CPUs at their
/// highest frequency: 36,000 to 37,000 for its signals with 7.3 (2,000 sleeps), 13,000 for what is expected of it with
/// `UtilEstBeforeUpdate` (1,500).
const SLEEP_CYCLES: f64 = 37_000.0;
const SLEEP_ESTIMATE_CYCLES: f64 = 13_000.0;

/// A frequency changes at most this long after the signals are recorded for which it does, in ns.
const CHANGE_NS: u64 = 300_000;

/// A wake-up is recorded this long after the queue's signals, at most, in ns.
const NEAR_NS: u64 = 500_000;

/// From a question to the change that it brings a CPU executes less than this, in cycles.
const LONGEST_CHANGE: u64 = 300_000;

/// When clocks were read in a playing.
#[derive(Default)]
pub(super) struct Readings {
    of_cpus: BTreeMap<u32, OfCpu>,
    /// By thread and time of the switch from it the cycles that its CPU executed between the reading for its sleep and then.
    ways: BTreeMap<(u32, u64), f64>,
    ago: ClockReadings,
}

#[derive(Default)]
struct OfCpu {
    /// From when to when it was busy, in order.
    busy: Vec<(u64, u64)>,
    /// When tasks were woken there, in order.
    woken: Vec<u64>,
    /// When tasks were woken there for whose sake a period of load tracking ended, and how long before the clock was read.
    read_for: Vec<(u64, u64)>,
    /// Where a period of load tracking begins, from 0 to [`PERIOD`].
    period: Option<u64>,
    /// Whether its periods are as long while it is busy: load tracking there does not go by its frequency.
    is_steady: bool,
}

impl OfCpu {
    /// Since when it has had nothing to do; None where it is busy.
    fn idle_since(&self, t_ns: u64) -> Option<u64> {
        let before = self.busy.partition_point(|&(from_ns, _)| from_ns < t_ns).checked_sub(1);
        let Some(&(_, to_ns)) = before.and_then(|before| self.busy.get(before)) else {
            return Some(0);
        };
        (to_ns < t_ns).then_some(to_ns)
    }

    /// When a task was woken there for whose sake its signals were brought up to date at this time.
    fn woken_by(&self, t_ns: u64) -> Option<u64> {
        let next = *self.woken.get(self.woken.partition_point(|&woken| woken < t_ns))?;
        (next - t_ns < NEAR_NS).then_some(next)
    }
}

impl Readings {
    /// Of a whole run, also of what was before the scenario began.
    pub(super) fn of_run(platform: &Platform, rules: KernelRules, run: &Run) -> Readings {
        let recording = Recording::of(run);
        Readings::of(&recording, &Clocks::of(platform, run, &recording), rules)
    }

    fn of(recording: &Recording<'_>, clocks: &Clocks<'_>, rules: KernelRules) -> Readings {
        let mut readings = Readings::default();
        let mut slices: Vec<Ran> = recording.slices().collect();
        slices.sort_by_key(|slice| (slice.from_ns, slice.to_ns));
        for slice in slices {
            let busy = &mut readings.of_cpus.entry(slice.cpu).or_default().busy;
            match busy.last_mut() {
                Some(last) if slice.from_ns <= last.1 => last.1 = slice.to_ns.max(last.1),
                _ => busy.push((slice.from_ns, slice.to_ns)),
            }
        }
        for of in recording.wakeups() {
            readings.of_cpus.entry(of.cpu).or_default().woken.push(of.t_ns);
        }
        let (mut ways, mut changes) = (Vec::new(), Vec::new());
        for (&cpu, of) in &mut readings.of_cpus {
            of.woken.sort_unstable();
            let signals = recording.signals_of(Subject::Cpu(cpu));
            let signals = signals.filter(|signals| of.idle_since(signals.t_ns).is_some());
            let is_own = |of: &Signals| of.updater.is_none_or(|updater| updater == cpu);
            let woken_by = |told: &Signals| of.woken_by(told.t_ns).filter(|_| is_own(told));
            let (wakeups, others): (Vec<Signals>, Vec<Signals>) =
                signals.partition(|of| woken_by(of).is_some());
            let Some(period) = period(&others, cpu, clocks) else { continue };
            for own in wakeups.iter().chain(&others).filter(|own| is_own(own)) {
                let changed =
                    clocks.next_change(cpu, own.t_ns).filter(|at| at - own.t_ns < CHANGE_NS);
                let Some((changed, contrib)) = changed.zip(own.period_contrib) else { continue };
                let since = changed - own.t_ns + after(period, own.t_ns, contrib);
                let rate = clocks.cycles_per_ns(cpu, own.t_ns);
                changes.extend(rate.map(|rate| since as f64 * rate));
            }
            let read_for = wakeups.iter().filter_map(|of| {
                let (woken_ns, contrib) = (woken_by(of)?, of.period_contrib?);
                let later = after(period, woken_ns, contrib);
                ways.push(later as f64 * clocks.cycles_per_ns(cpu, of.t_ns)?);
                (later < NEAR_NS).then_some((woken_ns, later))
            });
            of.read_for = read_for.collect();
            of.read_for.sort_unstable();
            of.period = Some(period);
            of.is_steady = clocks.is_steady(cpu);
        }
        let sleeps = sleeps(recording, clocks, rules);
        let usual = |cycles: Vec<f64>| median_of(cycles).map(|cycles| cycles.round() as u64);
        let of = |crosses: bool| {
            let such = sleeps.iter().filter(|sleep| sleep.crosses == crosses);
            usual(such.map(|sleep| sleep.cycles).collect())
        };
        let (plain, crossing) = (of(false), of(true));
        readings.ways = sleeps.iter().map(|of| ((of.tid, of.to_ns), of.cycles)).collect();
        readings.ago = ClockReadings {
            wake_cycles: usual(ways).unwrap_or(0),
            sleep_cycles: plain.or(crossing).unwrap_or(0),
            crossing_sleep_cycles: crossing.or(plain).unwrap_or(0),
            // Where others than fair tasks ask, it is told by none of their rows.
            change_cycles: usual(changes).filter(|cycles| *cycles < LONGEST_CHANGE).unwrap_or(0),
        };
        readings
    }

    /// Whether it is known when clocks were read.
    pub(super) fn are_known(&self) -> bool {
        self.ago.wake_cycles > 0
    }

    /// How long before events it is read.
    pub(super) fn ago(&self) -> Option<ClockReadings> {
        self.are_known().then_some(self.ago)
    }

    /// When the clock was read for an update of signals by a tick.
    pub(super) fn of_update(&self, of: &Signals, clocks: &Clocks<'_>) -> u64 {
        let Subject::Cpu(cpu) = of.subject else { return of.t_ns };
        let own = of.updater.is_none_or(|updater| updater == cpu);
        let cycles = match own && self.idle_since(cpu, of.t_ns).is_none() {
            true => BUSY_UPDATE_CYCLES,
            false => UPDATE_CYCLES,
        };
        match read_ns(of, cpu, clocks, cycles) {
            Some(read_ns) if self.are_known() => read_ns,
            _ => of.t_ns,
        }
    }

    /// The same by the CPU's periods, where these tell it.
    pub(super) fn at_tick(&self, of: &Signals, clocks: &Clocks<'_>) -> u64 {
        let by_period = || {
            let Subject::Cpu(cpu) = of.subject else { return None };
            let own = self.of_cpus.get(&cpu)?;
            let tells = own.is_steady || own.idle_since(of.t_ns).is_some();
            let later = after(own.period.filter(|_| tells)?, of.t_ns, of.period_contrib?);
            of.t_ns.checked_sub(later).filter(|_| later < NEAR_NS)
        };
        by_period().unwrap_or_else(|| self.of_update(of, clocks))
    }

    /// How much of a period of load tracking has passed on a CPU at a time, in units of 1024 ns, if it was idle until then.
    pub(super) fn period_contrib(&self, cpu: u32, t_ns: u64) -> Option<u32> {
        let period = self.of_cpus.get(&cpu)?.period?;
        Some((after(period, t_ns, 0) / 1024) as u32)
    }

    /// Since when a CPU has had nothing to do; None where it is busy.
    pub(super) fn idle_since(&self, cpu: u32, t_ns: u64) -> Option<u64> {
        self.of_cpus.get(&cpu).map_or(Some(0), |of| of.idle_since(t_ns))
    }

    /// Whether signals that a CPU brought up to date at this time are those of a wake-up.
    pub(super) fn is_wakeup(&self, cpu: u32, t_ns: u64) -> bool {
        self.of_cpus.get(&cpu).is_some_and(|of| of.woken_by(t_ns).is_some())
    }

    /// How long before a wake-up of an idle CPU is recorded its clock was read for it, in ns: as the update of signals tells that was recorded
    /// with it, else as long as usual.
    pub(super) fn before_wakeup(&self, cpu: u32, woken_ns: u64, clocks: &Clocks<'_>) -> u64 {
        let is_woken = |of: &&OfCpu| of.woken.binary_search(&woken_ns).is_ok();
        let idle = |of: &&OfCpu| of.idle_since(woken_ns).is_some();
        let Some(of) = self.of_cpus.get(&cpu).filter(is_woken).filter(idle) else { return 0 };
        let at = of.read_for.binary_search_by_key(&woken_ns, |read| read.0);
        if let Some((_, later)) = at.ok().and_then(|at| of.read_for.get(at)) {
            return *later;
        }
        // At the frequency before, which the wake-up may have changed.
        let rate = clocks.cycles_per_ns(cpu, woken_ns.saturating_sub(NEAR_NS / 2));
        rate.map_or(0, |rate| (self.ago.wake_cycles as f64 / rate).round() as u64)
    }

    /// Reference cycles from the reading for the sleep with which a thread's time on its CPU ended to the switch: as its signals
    /// tell that were recorded then, else as many as usual; 0 where it did not sleep, or nothing is known.
    pub(super) fn way_to_sleep(&self, slice: &Ran) -> f64 {
        if !self.are_known() || slice.ended != Ended::Slept {
            return 0.0;
        }
        let own = self.ways.get(&(slice.tid, slice.to_ns)).copied();
        own.unwrap_or(self.ago.sleep_cycles as f64)
    }

    /// How long a CPU's idle times until then were, and since when it was idle: 0 where it was always.
    pub(super) fn idle_times(&self, cpu: u32, until: u64) -> (Vec<u64>, u64) {
        let busy = self.of_cpus.get(&cpu).map_or(&[][..], |of| &of.busy);
        let busy = &busy[..busy.partition_point(|&(from_ns, _)| from_ns < until)];
        let times = busy.windows(2).map(|two| two[1].0 - two[0].1).collect();
        (times, busy.last().map_or(0, |&(_, to_ns)| to_ns.min(until)))
    }
}

/// For how long a period that has so much behind it was going on longer at `t_ns`, in ns.
fn after(period: u64, t_ns: u64, contrib: u32) -> u64 {
    // A file may say more than a period.
    (t_ns % PERIOD + 2 * PERIOD - period - 1024 * u64::from(contrib % 1024)) % PERIOD
}

/// When the clock was read for an update of signals of this CPU by a tick, or by another CPU.
fn read_ns(of: &Signals, cpu: u32, clocks: &Clocks<'_>, cycles: u64) -> Option<u64> {
    let rate = clocks.cycles_per_ns(of.updater.unwrap_or(cpu), of.t_ns)?;
    of.t_ns.checked_sub((cycles as f64 / rate).round() as u64)
}

/// Where an idle CPU's periods begin.
fn period(idle: &[Signals], cpu: u32, clocks: &Clocks<'_>) -> Option<u64> {
    let begins = idle.iter().filter_map(|of| {
        Some(after(0, read_ns(of, cpu, clocks, UPDATE_CYCLES)?, of.period_contrib?))
    });
    let begins: Vec<u64> = begins.collect();
    // All around: as seen from one of them.
    let turned = *begins.first()? + PERIOD / 2;
    let turned_back = begins.iter().map(|begin| (begin + 2 * PERIOD - turned) % PERIOD);
    let median = median_of(turned_back.map(|ns| ns as f64))?;
    Some((median.round() as u64 + turned) % PERIOD)
}

/// Cycles from the reading for a sleep to the record of the switch, at most: with three probes.
const MOST_CYCLES: f64 = 300_000.0;
/// Cycles between the two updates of one sleep, at most.
const APART_CYCLES: f64 = 130_000.0;

/// A thread went to sleep.
struct Sleep {
    tid: u32,
    /// When the switch from it was recorded.
    to_ns: u64,
    /// Cycles from the reading until then.
    cycles: f64,
    /// Whether it crossed a period of load tracking, whose probes take their time.
    crosses: bool,
}

/// Sleeps of which signals tell when the clock was read. What is expected of a task changes at a sleep alone, and its signals if it
/// has crossed a period: just before, or, with `UtilEstBeforeUpdate`, just after.
fn sleeps(recording: &Recording<'_>, clocks: &Clocks<'_>, rules: KernelRules) -> Vec<Sleep> {
    let to_first = match rules.has(KernelRule::UtilEstBeforeUpdate) {
        true => SLEEP_ESTIMATE_CYCLES,
        false => SLEEP_CYCLES,
    };
    let mut found = Vec::new();
    for tid in recording.seen() {
        let of = |wanted: fn(&Signals) -> bool| {
            let signals = recording.signals_of(Subject::Task(tid)).filter(wanted);
            let mut times: Vec<u64> = signals.map(|of| of.t_ns).collect();
            times.sort_unstable();
            times
        };
        let updates = of(|of| of.util_est.is_none());
        let estimates = of(|of| of.util_est.is_some());
        for slice in recording.slices_of(tid).iter().filter(|slice| slice.ended == Ended::Slept) {
            let last = |times: &[u64], until: u64, most: f64| {
                let before = times.partition_point(|&t_ns| t_ns <= until).checked_sub(1)?;
                let at = *times.get(before)?;
                let is_near = clocks.cycles(slice.cpu, at, until) <= most;
                (at >= slice.from_ns && is_near).then_some(at)
            };
            let Some(estimated) = last(&estimates, slice.to_ns, MOST_CYCLES) else { continue };
            let updated = match rules.has(KernelRule::UtilEstBeforeUpdate) {
                true => last(&updates, slice.to_ns, MOST_CYCLES).filter(|&at| at > estimated),
                false => last(&updates, estimated, APART_CYCLES),
            };
            let reading = updated.map_or(estimated, |updated| updated.min(estimated));
            let cycles = to_first + clocks.cycles(slice.cpu, reading, slice.to_ns);
            found.push(Sleep { tid, to_ns: slice.to_ns, cycles, crosses: updated.is_some() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::clocks::x86_at;
    use flyball_run::{FrequencySample, Slice, UtilizationSample, Wakeup};

    const US: u64 = 1000;
    const MS: u64 = 1_000_000;
    /// Where periods begin on CPU 1.
    const BEGIN: u64 = 300 * US;

    /// At 1 GHz a task runs on CPU 1 for 5 of every 20 ms. The clock is read 100 us before its wake-up is recorded, 40 us before a
    /// tick's update is, and before the record of its sleep 30 us, or 130 where its signals are updated as well.
    fn playing() -> Run {
        let mut run = x86_at(1_000_000);
        let tables = &mut run.tables;
        let mut told = |t_ns: u64, read_ns: Option<u64>, util_est: Option<u32>| {
            let contrib = read_ns.map(|read_ns| ((read_ns - BEGIN) % PERIOD / 1024) as u32);
            tables.utilization.push(UtilizationSample {
                t_ns,
                kind: if contrib.is_some() { "cpu" } else { "task" }.to_owned(),
                cpu: Some(1),
                tid: contrib.is_none().then_some(7),
                util_avg: Some(9),
                util_est,
                period_contrib: contrib,
                updater_cpu: contrib.and(Some(1)),
                ..UtilizationSample::default()
            });
        };
        for number in 1..40 {
            let woken_ns = number * 20 * MS;
            let (from_ns, to_ns) = (woken_ns + 50 * US, woken_ns + 5 * MS + number * 13 * US);
            told(woken_ns - 20 * US, Some(woken_ns - 100 * US), None);
            if number % 2 == 0 {
                told(to_ns - 130 * US, None, None);
            }
            told(to_ns - 30 * US, None, Some(9));
            let tick_ns = woken_ns + 11 * MS + number * 7 * US;
            told(tick_ns, Some(tick_ns - 40 * US), None);
            let (cpu, tid, why) = (1, 7, Some("slept".to_owned()));
            tables.wakeups.push(Wakeup { woken_ns, cpu, tid, ..Wakeup::default() });
            tables.slices.push(Slice { cpu, tid, from_ns, to_ns, why, ..Slice::default() });
        }
        run
    }

    fn read(run: &Run) -> Readings {
        Readings::of_run(&Platform::named("board-x86").unwrap(), KernelRules::newest(), run)
    }

    #[test]
    fn periods_tell_when_clocks_were_read() {
        let readings = read(&playing());
        let ClockReadings { wake_cycles, sleep_cycles, crossing_sleep_cycles, .. } =
            readings.ago().unwrap();
        assert!(wake_cycles.abs_diff(100_000) < 1024, "{wake_cycles}");
        assert_eq!((sleep_cycles, crossing_sleep_cycles), (67_000, 167_000), "37,000 more");
        // 250 us after a period's begin.
        let contrib = readings.period_contrib(1, 70 * PERIOD + BEGIN + 250 * US).unwrap();
        assert!(contrib.abs_diff(244) <= 1, "{contrib}");
        assert_eq!(readings.period_contrib(0, 0), None, "nothing was seen there");
    }

    /// Each sleep has its own way, and who did not sleep none. A frequency that changes 30 us after a wake-up's signals are recorded has
    /// been asked for 110 us before.
    #[test]
    fn sleeps_and_changes_have_their_ways() {
        let mut run = playing();
        for number in [3, 5, 9] {
            run.tables.frequency.push(FrequencySample {
                t_ns: number * 20 * MS + 10 * US,
                domain: "policy0".to_owned(),
                claimed_khz: Some(1_000_000),
                source: "cpu_frequency".to_owned(),
                ..FrequencySample::default()
            });
        }
        let readings = read(&run);
        let change = readings.ago().unwrap().change_cycles;
        assert!(change.abs_diff(110_000) < 1024, "{change}");
        // Of changes that are 0.35 ms behind the reading it is not known who asked.
        let mut later = run.clone();
        for t_ns in later.tables.frequency.t_ns.iter_mut().skip(1) {
            *t_ns += 240 * US;
        }
        assert_eq!(read(&later).ago().unwrap().change_cycles, 0);
        let mut slices: Vec<Ran> = Recording::of(&run).slices().collect();
        slices.sort_by_key(|slice| slice.from_ns);
        let ways = |slices: &[Ran]| -> Vec<u64> {
            slices.iter().take(4).map(|slice| readings.way_to_sleep(slice) as u64).collect()
        };
        assert_eq!(ways(&slices), [67_000, 167_000, 67_000, 167_000]);
        slices[0].ended = Ended::Preempted;
        slices[1].to_ns += 1;
        assert_eq!(ways(&slices), [0, 67_000, 67_000, 167_000], "nobody's, and the usual one");
    }

    /// The third wake-up is at 60 ms; at 63 ms nobody is woken. Of one that ended no period it is as long as usual.
    #[test]
    fn wake_ups_are_recorded_after_the_reading() {
        let mut run = playing();
        let woken_ns = 30 * MS;
        run.tables.wakeups.push(Wakeup { woken_ns, cpu: 1, tid: 8, ..Wakeup::default() });
        let recording = Recording::of(&run);
        let platform = Platform::named("board-x86").unwrap();
        let clocks = Clocks::of(&platform, &run, &recording);
        let readings = read(&run);
        let before = |t_ns| readings.before_wakeup(1, t_ns, &clocks);
        assert!(before(60 * MS).abs_diff(100 * US) < 1024, "{}", before(60 * MS));
        assert!(before(woken_ns).abs_diff(100 * US) < 1024, "{}", before(woken_ns));
        assert_eq!(before(63 * MS), 0);
    }

    #[test]
    fn idle_times_are_those_that_ended_before() {
        let readings = read(&playing());
        let (times, since) = readings.idle_times(1, 65 * MS);
        assert_eq!(times, [15_037 * US, 15_024 * US]);
        assert_eq!(since, 65 * MS, "until then");
        assert_eq!(readings.idle_times(0, MS), (Vec::new(), 0));
    }

    #[test]
    fn without_periods_nothing_is_known() {
        let mut run = playing();
        let rows: Vec<_> = (0..run.tables.utilization.len())
            .filter_map(|row| flyball_run::Table::row(&run.tables.utilization, row))
            .collect();
        run.tables.utilization = flyball_run::UtilizationSamples::default();
        for row in rows {
            let row = UtilizationSample { period_contrib: None, ..row };
            run.tables.utilization.push(row);
        }
        let readings = read(&run);
        assert!(!readings.are_known() && readings.ago().is_none());
    }
}
