//! Work from scheduler events: an item is what a task did from a wake-up until it slept again.

use crate::activity::speeds;
use crate::error::ReplayError;
use crate::work::{Item, Stream, Work};
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Steps};
use flyball_run::Run;
use flyball_units::Nanos;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The work of a run with the tables `slices` and `wakeups`; of its first trial where it has trials.
///
/// # Errors
/// A run without these events.
pub fn work(run: &Run) -> Result<Work, ReplayError> {
    let trials = Recording::trials(run);
    let recording = match trials.first() {
        Some(&trial) => Recording::of_trial(run, trial),
        None => Recording::of(run),
    };
    let mut slices: Vec<Ran> = recording.slices().collect();
    if slices.is_empty() {
        return Err(ReplayError::bad_input(
            run.name(),
            "a recorded load or scheduler events",
            "neither the table `activity` nor `slices`",
        )
        .hint("record the load of a machine, or its scheduler events"));
    }
    slices.sort_by_key(|slice| slice.from_ns);
    let mut cpus: Vec<u32> = slices.iter().map(|slice| slice.cpu).collect();
    cpus.extend(recording.topology().cpus().map(|cpu| cpu.cpu));
    cpus.sort_unstable();
    cpus.dedup();
    let clocks = Clocks::of(run, &recording, &cpus);
    let mut wakeups = BTreeMap::<u32, Vec<u64>>::new();
    for woken in recording.wakeups() {
        wakeups.entry(woken.tid).or_default().push(woken.t_ns);
    }
    wakeups.values_mut().for_each(|times| times.sort_unstable());
    let mut tasks = BTreeMap::<u32, Task>::new();
    let span = recording.span();
    for slice in &slices {
        let wakeups = wakeups.get(&slice.tid).map(Vec::as_slice).unwrap_or_default();
        tasks.entry(slice.tid).or_default().add(slice, wakeups, span.from_ns, &clocks);
    }
    let name = |tid: u32| format!("{}-{tid}", recording.task(tid).name);
    let streams = tasks.into_iter().map(|(tid, task)| task.end(name(tid)));
    let streams: Vec<Stream> = streams.filter(|stream| !stream.items.is_empty()).collect();
    let mut work = Work {
        name: run.name(),
        duration: Nanos(span.length_ns()),
        interval: None,
        cpus,
        streams,
        notes: Vec::new(),
    };
    if let [first, _, ..] = trials.as_slice() {
        let of = run.manifest.order.iter().find(|record| record.trial == *first);
        let condition = of.map_or_else(String::new, |of| format!(" (condition {})", of.condition));
        let count = trials.len();
        work.notes.push(format!("of {count} trials trial {first}{condition} is replayed"));
    }
    let items = || work.streams.iter().flat_map(|stream| &stream.items);
    let unknown = items().filter(|item| item.cycles.is_none()).count();
    if unknown > 0 {
        work.notes.push(format!("{unknown} of {} items without a frequency", work.items()));
    }
    if recording.gaps().is_empty() {
        return Ok(work);
    }
    work.notes.push("events were lost: what happened in the gaps is missing".to_owned());
    Ok(work)
}

/// The clock of each CPU over time, and what its cycles are worth.
struct Clocks {
    of_cpu: BTreeMap<u32, (Arc<Steps<u64>>, f64)>,
}

impl Clocks {
    fn of(run: &Run, recording: &Recording<'_>, cpus: &[u32]) -> Clocks {
        let speeds = speeds(run);
        let clock = |&cpu: &u32| {
            let steps = recording.frequency_of_cpu(cpu).unwrap_or_default();
            (cpu, (steps, speeds.get(&cpu).copied().unwrap_or(1.0)))
        };
        Clocks { of_cpu: cpus.iter().map(clock).collect() }
    }

    /// Cycles of a slice. Before the first change of frequency the first one is taken to hold: a
    /// trace tells changes only.
    fn cycles(&self, slice: &Ran) -> Option<f64> {
        let (steps, speed) = self.of_cpu.get(&slice.cpu)?;
        let first = steps.points().next()?.1;
        let segments = steps.segments(slice.from_ns, slice.to_ns);
        let cycles = segments.map(|segment| {
            let ns = segment.to_ns.saturating_sub(segment.from_ns) as f64;
            ns * segment.value.unwrap_or(first) as f64 / 1e6
        });
        Some(cycles.sum::<f64>() * speed)
    }
}

/// A task while its slices come in.
#[derive(Default)]
struct Task {
    items: Vec<Item>,
    open: Option<(u64, u64, Option<f64>)>,
    on: BTreeMap<u32, u64>,
    /// Wake-ups before this position are past.
    woken: usize,
}

impl Task {
    fn add(&mut self, slice: &Ran, wakeups: &[u64], origin: u64, clocks: &Clocks) {
        *self.on.entry(slice.cpu).or_default() += slice.length_ns();
        let mut woken = None;
        while let Some(&at) = wakeups.get(self.woken).filter(|&&at| at <= slice.from_ns) {
            woken = Some(at);
            self.woken += 1;
        }
        let due = woken.unwrap_or(slice.from_ns);
        let (released, busy, cycles) = self.open.take().unwrap_or((due, 0, Some(0.0)));
        let cycles = cycles.zip(clocks.cycles(slice)).map(|(sum, more)| sum + more);
        let busy = busy + slice.length_ns();
        self.open = Some((released, busy, cycles));
        if matches!(slice.ended, Ended::Slept | Ended::Exited) {
            self.close(origin);
        }
    }

    fn close(&mut self, origin: u64) {
        let Some((released, busy, cycles)) = self.open.take() else { return };
        if busy == 0 {
            return;
        }
        self.items.push(Item {
            released: Nanos(released.saturating_sub(origin)),
            busy: Nanos(busy),
            cycles: cycles.map(|cycles| cycles.round() as u64),
        });
    }

    /// Where its last item never ended, the rest of its work is unknown: it is left out.
    fn end(self, name: String) -> Stream {
        let longest = self.on.iter().max_by_key(|(_, time)| **time);
        let cpu = longest.map_or(0, |(cpu, _)| *cpu);
        let mut items = self.items;
        items.sort_by_key(|item| item.released);
        Stream { name, cpu, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::{FrequencySample, Slice, Wakeup};

    const MS: u64 = 1_000_000;

    fn slice(cpu: u32, from_ms: u64, to_ms: u64, why: &str) -> Slice {
        Slice {
            cpu,
            tid: 7,
            task: "worker".to_owned(),
            from_ns: from_ms * MS,
            to_ns: to_ms * MS,
            why: Some(why.to_owned()),
            ..Slice::default()
        }
    }

    #[test]
    fn an_item_goes_from_wakeup_to_sleep() {
        let mut run = Run::default();
        run.tables.slices.push(slice(0, 0, 1, "slept"));
        run.tables.slices.push(slice(0, 12, 14, "preempted"));
        run.tables.slices.push(slice(1, 16, 17, "slept"));
        run.tables.slices.push(slice(1, 30, 40, "preempted"));
        run.tables.wakeups.push(Wakeup {
            woken_ns: 10 * MS,
            tid: 7,
            task: "worker".to_owned(),
            ..Wakeup::default()
        });
        for (at, khz) in [(0, 1_000_000), (13, 2_000_000)] {
            for cpu in ["cpu0", "cpu1"] {
                run.tables.frequency.push(FrequencySample {
                    t_ns: at * MS,
                    domain: cpu.to_owned(),
                    claimed_khz: Some(khz),
                    source: "cpu_frequency".to_owned(),
                    ..FrequencySample::default()
                });
            }
        }
        let work = work(&run).unwrap();
        assert_eq!((work.cpus.as_slice(), work.interval), (&[0, 1][..], None));
        let [worker] = work.streams.as_slice() else { panic!("{work:?}") };
        assert_eq!((worker.name.as_str(), worker.cpu), ("worker-7", 1), "10 ms there, 3 on CPU 0");
        let millis = |ms| Nanos(ms * MS);
        assert_eq!(
            worker.items,
            [
                Item { released: millis(0), busy: millis(1), cycles: Some(1_000_000) },
                // 1 ms at 1 GHz and 2 ms at 2 GHz, from the wake-up at 10 ms on.
                Item { released: millis(10), busy: millis(3), cycles: Some(5_000_000) },
            ]
        );
    }
}
