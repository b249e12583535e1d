//! The published figures of a real ramp, from its trace: aarch64, 2 little and 2 big CPUs,
//! schedutil, HZ=250. The few lines that read the trace know this one file only.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test reads its own file, stops at the first surprise, and says why it skips"
)]

use std::collections::HashMap;

use flyball_events::Recording;
use flyball_events::questions::{FrequencyOverTime, Rise, Stages, States, Target};
use flyball_run::{
    CapacitySample, FrequencySample, Marker, Migration, Run, Slice, UtilizationSample,
};

const TRACE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/board-rampup/rampup-arm64.trace");

/// `key=` in the text of an event.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let value = text.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    value.filter(|value| !value.is_empty())
}

fn number(text: &str, key: &str) -> Option<u32> {
    field(text, key)?.parse().ok()
}

/// Time and rest of a line: `task-pid [cpu] flags seconds: event: text`.
fn split(line: &str) -> Option<(u32, u64, &str, &str)> {
    let (head, rest) = line.split_once(": ")?;
    let (event, text) = rest.split_once(": ")?;
    let (_, after) = head.rsplit_once('[')?;
    let (cpu, after) = after.split_once(']')?;
    let (seconds, micros) = after.split_whitespace().last()?.split_once('.')?;
    let us: u64 = seconds.parse::<u64>().ok()? * 1_000_000 + micros.parse::<u64>().ok()?;
    Some((cpu.parse().ok()?, us * 1000, event, text))
}

fn read(trace: &str) -> Run {
    let mut run = Run::default();
    let mut running = HashMap::<u32, (u32, u64)>::new();
    for (cpu, t_ns, event, text) in trace.lines().filter_map(split) {
        match event {
            "sched_switch" => switch(&mut run, &mut running, cpu, t_ns, text),
            "cpu_frequency" => run.tables.frequency.push(FrequencySample {
                t_ns,
                domain: format!("cpu{}", number(text, "cpu_id").unwrap()),
                claimed_khz: number(text, "state").map(u64::from),
                source: "cpu_frequency".into(),
                ..FrequencySample::default()
            }),
            "pelt_se" if field(text, "my_q") == Some("0x0") => {
                let (tid, util_avg) = (number(text, "pid"), number(text, "util"));
                let kind = "task".to_owned();
                let row = UtilizationSample { t_ns, kind, tid, util_avg, ..Default::default() };
                run.tables.utilization.push(row);
            }
            "sched_migrate_task" => run.tables.migrations.push(Migration {
                t_ns,
                tid: number(text, "pid").unwrap(),
                from_cpu: number(text, "orig_cpu").unwrap(),
                to_cpu: number(text, "dest_cpu").unwrap(),
                ..Migration::default()
            }),
            "cap" => {
                let (cpu, capacity) = (number(text, "cpu").unwrap(), number(text, "cap").unwrap());
                run.tables.capacity.push(CapacitySample {
                    t_ns,
                    cpu,
                    capacity,
                    ..Default::default()
                });
            }
            "tracing_mark_write" => {
                run.tables.markers.push(Marker {
                    t_ns,
                    name: text.to_owned(),
                    ..Default::default()
                });
            }
            _ => {}
        }
    }
    run
}

fn switch(run: &mut Run, running: &mut HashMap<u32, (u32, u64)>, cpu: u32, t_ns: u64, text: &str) {
    if let Some((tid, from_ns)) = running.remove(&cpu) {
        let why = match field(text, "prev_state").unwrap_or_default() {
            state if state.starts_with('R') => "preempted",
            state if state.starts_with(['X', 'Z']) => "exited",
            _ => "slept",
        };
        let task = field(text, "prev_comm").unwrap_or_default().to_owned();
        let why = Some(why.to_owned());
        run.tables.slices.push(Slice {
            cpu,
            tid,
            task,
            from_ns,
            to_ns: t_ns,
            why,
            ..Default::default()
        });
    }
    let next = number(text, "next_pid").unwrap();
    if next != 0 {
        running.insert(cpu, (next, t_ns));
    }
}

#[test]
fn the_ramp_reads_as_it_was_published() {
    let Ok(trace) = std::fs::read_to_string(TRACE) else {
        println!("skipped: {TRACE} is not here");
        return;
    };
    let run = read(&trace);
    let whole = Recording::of(&run);
    let start = whole.marker("rampup start").unwrap().t_ns;
    let recording = whole.between(start, u64::MAX);
    let task = recording.find("rampup").unwrap();
    let after = |t_ns: u64| ((t_ns - start) as f64 / 1e5).round() / 10.0;

    let rise = Rise::of(&recording, task.tid, &[Target::Value(450), Target::Value(1000)]).unwrap();
    let reached: Vec<f64> =
        rise.times.iter().map(|t| after(start + t.outcome.after_ns().unwrap())).collect();
    assert_eq!(reached, [105.9, 266.0]);

    let stages = Stages::of(&recording, task.tid).unwrap();
    let [little, big] = stages.stages.as_slice() else { panic!("{stages:?}") };
    assert_eq!((little.capacity, big.capacity), (Some(409), Some(1024)));
    assert!((after(little.left_ns.unwrap()) - 82.9).abs() < 1e-9, "{stages:?}");

    let first = |cpu: u32, khz: u64| {
        let over = FrequencyOverTime::of(&recording, &format!("cpu{cpu}")).unwrap();
        let point = over.points.iter().find(|point| point.khz == khz && point.t_ns > start);
        after(point.unwrap().t_ns)
    };
    // The kernel writes one event per CPU of the domain; the published times are those of the last.
    let little = [1_000_000, 1_400_000, 1_800_000].map(|khz| first(1, khz));
    assert_eq!(little, [38.1, 54.0, 70.1]);
    assert_eq!(big.cpus, [2]);
    let big = [1_800_000, 2_400_000, 3_000_000].map(|khz| first(3, khz));
    assert_eq!(big, [90.1, 106.0, 126.0]);

    let states = States::of(&recording, task.tid).unwrap();
    assert!(states.running_ns > recording.span().length_ns() / 2, "{states:?}");
}
