//! Load files of powerd++'s `loadrec`: what each core of a FreeBSD machine did, every 25 ms.
//!
//! Lines `KEY=VALUE` tell the machine, then each line is a frame: the milliseconds since the one
//! before, with bit 0 of `usr.app.powerdxx.loadrec.features` a frequency in MHz per core, and per core
//! the growth of the five counters of `kern.cp_times`: user, nice, system, interrupt, idle. The first
//! frame holds what they had grown to since the boot.
//!
//! The counters count ticks of the statistics clock, whose rate is not in the file: it is what the
//! counters of all cores grew by in the whole recording. A tick is longer than what is left of many
//! an interval; what has no room in its interval is booked to the next ones.

use std::collections::BTreeMap;
use std::path::Path;

use crate::reading::{file_name, new_run, read_text, record_file};
use flyball_run::manifest::{ClockRecord, CpuRecord, Machine, WorkloadRecord};
use flyball_run::run::{Run, Warning};
use flyball_run::tables::ActivitySample;
use flyball_run::tally::{CUT, Tally};
use flyball_run::{Error, Result};

/// What the file's features are kept under.
const FEATURES: &str = "usr.app.powerdxx.loadrec.features";

/// Counters per core.
const COUNTERS: usize = 5;

/// Whether the head of a file is one of loadrec's.
pub(super) fn is_loadrec(head: &str) -> bool {
    let has = |key: &str| head.lines().any(|line| line.starts_with(key));
    has(FEATURES) || (has("hw.ncpu=") && has("dev.cpu.0.freq="))
}

/// One frame.
struct Frame {
    ms: u64,
    /// Per core.
    mhz: Vec<Option<u64>>,
    /// Per core, in ticks.
    busy: Vec<u64>,
    all: u64,
}

pub(super) fn import(path: &Path) -> Result<Run> {
    let text = read_text(path)?;
    let mut header = BTreeMap::<&str, &str>::new();
    let (mut frames, mut tally) = (Vec::new(), Tally::default());
    let lines = text.lines().count() as u64;
    for line in text.lines() {
        tally.lines += 1;
        if let Some((key, value)) = line.split_once('=') {
            header.insert(key.trim(), value.trim());
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        if tally.lines == lines && !text.ends_with('\n') {
            tally.bad(true, CUT);
            continue;
        }
        match frame(line, &header) {
            Ok(frame) => {
                tally.rows += 1;
                frames.push(frame);
            }
            Err(why) => tally.bad(false, why),
        }
    }
    if frames.len() < 2 {
        return Err(Error::bad_input(
            path.display(),
            "two frames of a load recording",
            format!("{}", frames.len()),
            "record one with powerd++'s loadrec",
        ));
    }
    tally.check(&path.display().to_string(), "frame")?;
    let mut run = new_run("loadrec");
    let period = rows(&mut run, &frames);
    run.manifest.machine = Some(machine(&header));
    run.manifest.clocks.push(ClockRecord {
        table: "activity".to_owned(),
        clock: "unknown".to_owned(),
        ..ClockRecord::default()
    });
    let mut workload = WorkloadRecord { name: "load".to_owned(), ..WorkloadRecord::default() };
    workload.description = "a load recording of powerd++".to_owned();
    workload.params.insert("resolution_ns".to_owned(), (period as i64).into());
    run.manifest.workloads.push(workload);
    record_file(&mut run, file_name(path), text.len() as u64, &tally);
    run.warnings.push(Warning {
        object: file_name(path),
        message: format!(
            "busy time in ticks of {:.3} ms, by what the counters grew by in all",
            period as f64 / 1e6
        ),
        hint: None,
    });
    Ok(run)
}

/// One line of numbers, the number of cores known by the header.
fn frame(line: &str, header: &BTreeMap<&str, &str>) -> Result<Frame, String> {
    let number =
        |text: &str| text.parse::<u64>().map_err(|_| format!("expected a number, found {text:?}"));
    let numbers =
        line.split_ascii_whitespace().map(number).collect::<Result<Vec<u64>, String>>()?;
    let features: u64 = header.get(FEATURES).and_then(|text| text.parse().ok()).unwrap_or(0);
    let tracked = features & 1 == 1;
    let per_core = COUNTERS + usize::from(tracked);
    let (&ms, rest) = numbers.split_first().ok_or("expected numbers, found none")?;
    let cores = rest.len() / per_core;
    if cores == 0 || rest.len() % per_core != 0 {
        return Err(format!("expected {per_core} numbers per core, found {} in all", rest.len()));
    }
    let (clocks, counters) = rest.split_at(if tracked { cores } else { 0 });
    let fixed = |core: usize| -> Option<u64> {
        // A core that tells nothing goes with the one before.
        (0..=core)
            .rev()
            .find_map(|core| header.get(format!("dev.cpu.{core}.freq").as_str())?.parse().ok())
    };
    let mhz = (0..cores).map(|core| if tracked { clocks.get(core).copied() } else { fixed(core) });
    let sum = |values: &[u64]| values.iter().fold(0, |sum: u64, value| sum.saturating_add(*value));
    let busy =
        counters.chunks(COUNTERS).map(|core| sum(core.get(..COUNTERS - 1).unwrap_or_default()));
    Ok(Frame { ms, mhz: mhz.collect(), busy: busy.collect(), all: sum(counters) })
}

/// Writes the rows; the length of a tick in nanoseconds.
fn rows(run: &mut Run, frames: &[Frame]) -> u64 {
    let frames = frames.get(1..).unwrap_or_default();
    let all: u64 = frames.iter().map(|frame| frame.all).sum();
    let core_ms: u64 = frames.iter().map(|frame| frame.ms * frame.busy.len() as u64).sum();
    let period = (core_ms as f64 * 1e6 / all.max(1) as f64) as u64;
    let mut waiting: Vec<u64> = Vec::new();
    let mut now = 0_u64;
    for frame in frames {
        let length = frame.ms.saturating_mul(1_000_000);
        now = now.saturating_add(length);
        waiting.resize(frame.busy.len(), 0);
        for (core, (waiting, ticks)) in waiting.iter_mut().zip(&frame.busy).enumerate() {
            *waiting = waiting.saturating_add(ticks.saturating_mul(period));
            let busy = length.min(*waiting);
            *waiting -= busy;
            run.tables.activity.push(ActivitySample {
                t_ns: now,
                interval_ns: length,
                cpu: core as u32,
                busy_ns: busy,
                idle_ns: length - busy,
                claimed_khz: frame.mhz.get(core).copied().flatten().map(|mhz| mhz * 1000),
                ..ActivitySample::default()
            });
        }
    }
    period
}

/// What the header tells of the machine.
fn machine(header: &BTreeMap<&str, &str>) -> Machine {
    let count = header.get("hw.ncpu").and_then(|text| text.parse::<u32>().ok()).unwrap_or(0);
    let highest = |cpu: u32| {
        let levels = (0..=cpu)
            .rev()
            .find_map(|cpu| header.get(format!("dev.cpu.{cpu}.freq_levels").as_str()))?;
        // FREQUENCY/POWER, in MHz and mW.
        let mhz = levels.split_ascii_whitespace().filter_map(|level| level.split('/').next());
        mhz.filter_map(|mhz| mhz.parse::<u64>().ok()).max().map(|mhz| mhz * 1000)
    };
    // A header may claim anything; more CPUs than this have no rows anyway.
    let cpu = |cpu| CpuRecord { cpu, max_khz: highest(cpu), ..CpuRecord::default() };
    Machine {
        cpu_model: header.get("hw.model").map(|&text| text.to_owned()),
        architecture: header.get("hw.machine").map(|&text| text.to_owned()),
        cpus: (0..count.min(4096)).map(cpu).collect(),
        ..Machine::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    fn run(features: Option<u64>, frames: &[&str]) -> Result<Run> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.load");
        let mut text = String::new();
        if let Some(features) = features {
            let _ = writeln!(text, "{FEATURES}={features}");
        }
        text.push_str("hw.model=Core\nhw.ncpu=2\ndev.cpu.0.freq=1700\n");
        text.push_str("dev.cpu.0.freq_levels=2400/15000 800/4090\n");
        frames.iter().for_each(|frame| {
            let _ = writeln!(text, "{frame}");
        });
        fs_err::write(&path, text).unwrap();
        import(&path)
    }

    const SINCE_BOOT: &str = "0 1700 1700 9000 9 9 9 9000 9000 9 9 9 9000";

    #[test]
    fn frames_with_frequencies() {
        // 4 ticks of 6.25 ms per core and frame.
        let run = run(
            Some(1),
            &[SINCE_BOOT, "25 1700 800 1 0 1 0 2 0 0 0 0 4", "25 1700 800 0 0 0 0 4 0 0 0 0 4"],
        );
        let rows = run.unwrap().tables.activity;
        assert_eq!(rows.t_ns, [25_000_000, 25_000_000, 50_000_000, 50_000_000]);
        assert_eq!(rows.busy_ns, [12_500_000, 0, 0, 0]);
        assert_eq!(
            (0..4).map(|row| rows.claimed_khz.get(row).unwrap()).collect::<Vec<_>>(),
            [1_700_000, 800_000, 1_700_000, 800_000]
        );
    }

    #[test]
    fn old_files_have_one_frequency_and_late_ticks_go_on() {
        let idle = "25 0 0 0 0 4 0 0 0 0 4";
        let run = run(None, &["0 1 1 1 1 1 1 1 1 1 1", "25 6 0 0 0 0 0 0 0 0 2", idle]).unwrap();
        let rows = &run.tables.activity;
        // 16 ticks in 100 ms of two cores: 6.25 ms each; 37.5 ms of them do not fit into 25.
        assert_eq!(rows.busy_ns, [25_000_000, 0, 12_500_000, 0]);
        assert_eq!(rows.claimed_khz.get(1), Some(1_700_000), "as core 0");
        let machine = run.manifest.machine.unwrap();
        assert_eq!((machine.cpus.len(), machine.cpus[1].max_khz), (2, Some(2_400_000)));
    }

    #[test]
    fn wrong_lines_are_counted_or_refused() {
        let good = "25 1700 800 1 0 1 0 2 0 0 0 0 4";
        let mut frames = vec![SINCE_BOOT];
        frames.extend([good; 20]);
        frames.push("25 1700 800 1 0");
        let run = run(Some(1), &frames).unwrap();
        assert_eq!(run.tables.activity.len(), 40);
        assert!(run.warnings[0].message.contains("per core"), "{:?}", run.warnings);
        assert!(self::run(Some(1), &[SINCE_BOOT]).is_err());
        assert!(self::run(Some(1), &[SINCE_BOOT, good, "x", "y", "z"]).is_err());
    }
}
