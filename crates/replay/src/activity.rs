//! Work from the table `activity`: what each CPU did in each interval.
//!
//! An interval's work is due at its begin: when inside it the CPU was busy is not known.

use crate::error::ReplayError;
use crate::work::{Item, Stream, Work};
use flyball_run::{ActivitySamples, Run};
use flyball_stats::median_high;
use flyball_units::Nanos;
use std::collections::BTreeMap;

/// The work of a recorded load.
///
/// # Errors
/// A run without the table.
pub fn work(run: &Run) -> Result<Work, ReplayError> {
    let rows = &run.tables.activity;
    let lengths = rows.t_ns.iter().zip(&rows.interval_ns);
    let Some(origin) = lengths.clone().map(|(end, length)| end.saturating_sub(*length)).min()
    else {
        return Err(ReplayError::bad_input(run.name(), "rows of the table `activity`", "none")
            .hint("record the load of a machine first"));
    };
    let end = rows.t_ns.iter().max().copied().unwrap_or(origin);
    let speeds = speeds(run);
    let mut streams = BTreeMap::<u32, Stream>::new();
    let mut unknown = 0_u64;
    for row in 0..rows.len() {
        let Some((cpu, item)) = item(rows, row, origin, &speeds) else { continue };
        let stream = streams.entry(cpu).or_insert_with(|| Stream {
            name: format!("cpu{cpu}"),
            cpu,
            items: Vec::new(),
        });
        if item.busy > Nanos::ZERO {
            unknown += u64::from(item.cycles.is_none());
            stream.items.push(item);
        }
    }
    let mut work = Work {
        name: run.name(),
        duration: Nanos(end - origin),
        interval: median(&rows.interval_ns).map(Nanos),
        cpus: streams.keys().copied().collect(),
        streams: streams.into_values().collect(),
        notes: vec!["work is due at the begin of its interval".to_owned()],
    };
    for stream in &mut work.streams {
        stream.items.sort_by_key(|item| item.released);
    }
    if unknown > 0 {
        work.notes.push(format!("{unknown} of {} items without a frequency", work.items()));
    }
    Ok(work)
}

fn item(
    rows: &ActivitySamples,
    row: usize,
    origin: u64,
    speeds: &BTreeMap<u32, f64>,
) -> Option<(u32, Item)> {
    let (end, length) = (*rows.t_ns.get(row)?, *rows.interval_ns.get(row)?);
    let (cpu, busy) = (*rows.cpu.get(row)?, *rows.busy_ns.get(row)?);
    let speed = speeds.get(&cpu).copied().unwrap_or(1.0);
    // Cycles are time in ns times kHz / 10^6.
    let cycles = |khz: u64| (busy as f64 * khz as f64 / 1e6 * speed).round() as u64;
    let released = Nanos(end.saturating_sub(length).saturating_sub(origin));
    let cycles = rows.claimed_khz.get(row).map(cycles);
    Some((cpu, Item { released, busy: Nanos(busy), cycles }))
}

fn median(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    median_high(&sorted)
}

/// Work per cycle of each CPU whose capacity is known, of the best of them: capacity over highest
/// frequency.
pub(crate) fn speeds(run: &Run) -> BTreeMap<u32, f64> {
    let machine = run.manifest.machine.as_ref();
    let cpus = machine.map(|machine| machine.cpus.as_slice()).unwrap_or_default();
    let per_khz = cpus.iter().filter_map(|cpu| {
        let domains = machine.map(|machine| machine.domains.as_slice()).unwrap_or_default();
        let domain = domains.iter().find(|domain| domain.cpus.contains(&cpu.cpu));
        let highest = cpu.max_khz.or_else(|| domain?.max_khz).filter(|&khz| khz > 0)?;
        Some((cpu.cpu, f64::from(cpu.capacity?) / highest as f64))
    });
    let per_khz: Vec<(u32, f64)> = per_khz.collect();
    let best = per_khz.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
    // Several clusters of equal cores may differ by a digit of their capacities.
    let relative = |speed: f64| if speed > 0.97 * best { 1.0 } else { speed / best };
    per_khz.into_iter().map(|(cpu, speed)| (cpu, relative(speed))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::ActivitySample;
    use flyball_run::manifest::{CpuRecord, Machine};

    fn run(rows: &[(u64, u32, u64, Option<u64>)]) -> Run {
        let mut run = Run::default();
        for &(end_ms, cpu, busy_ms, claimed_khz) in rows {
            run.tables.activity.push(ActivitySample {
                t_ns: 5_000_000_000 + end_ms * 1_000_000,
                interval_ns: 10_000_000,
                cpu,
                busy_ns: busy_ms * 1_000_000,
                idle_ns: (10 - busy_ms) * 1_000_000,
                claimed_khz,
                ..ActivitySample::default()
            });
        }
        run
    }

    #[test]
    fn work_is_cycles() {
        let ghz = Some(1_000_000);
        let run = run(&[(10, 0, 4, ghz), (10, 2, 1, None), (20, 0, 0, ghz), (30, 0, 2, ghz)]);
        let work = work(&run).unwrap();
        assert_eq!((work.cpus.as_slice(), work.duration), (&[0, 2][..], Nanos::from_millis(30)));
        let first = &work.streams[0].items;
        assert_eq!(first.len(), 2, "an idle interval is not an item");
        assert_eq!(first[1].released, Nanos::from_millis(20));
        assert_eq!((first[0].cycles, first[1].cycles), (Some(4_000_000), Some(2_000_000)));
        assert_eq!(work.streams[1].items[0].cycles, None);
        assert_eq!(work.interval, Some(Nanos::from_millis(10)));
        assert!(work.notes[1].contains("1 of 3"));
    }

    #[test]
    fn small_cores_do_less_per_cycle() {
        let mut run = run(&[(10, 0, 4, Some(1_000_000)), (10, 1, 4, Some(1_000_000))]);
        let cpu = |cpu, capacity, max_khz| CpuRecord {
            cpu,
            capacity: Some(capacity),
            max_khz: Some(max_khz),
            ..CpuRecord::default()
        };
        let cpus = vec![cpu(0, 256, 1_000_000), cpu(1, 1024, 2_000_000)];
        run.manifest.machine = Some(Machine { cpus, ..Machine::default() });
        let cycles = |at: usize| work(&run).unwrap().streams[at].items[0].cycles;
        assert_eq!((cycles(0), cycles(1)), (Some(2_000_000), Some(4_000_000)));
    }

    #[test]
    fn a_run_without_a_load_is_refused() {
        let error = work(&Run::default()).unwrap_err();
        assert!(error.to_string().contains("`activity`"), "{error}");
    }
}
