//! Traces of several tools and of everyday damage, with the answers worked out by hand.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::reading;

use flyball_events::ftrace::Header;
use flyball_events::import::{join, pstates};
use flyball_events::questions::{Change, IdleResidency, WakeupLatency};
use flyball_events::stream::Counts;
use flyball_events::{Recording, Span};
use flyball_run::Run;

fn read(name: &str) -> (Run, Counts, Header) {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let (built, reader) = reading::read(fs_err::File::open(path).unwrap());
    let run = Run { tables: built.tables, manifest: built.manifest, ..Run::default() };
    (run, reader.counts().clone(), reader.header().clone())
}

/// Task, CPU, from, to in us behind `zero_s`, why, cut.
fn slices(run: &Run, zero_s: u64) -> Vec<(String, u32, u64, u64, String, String)> {
    let slices = &run.tables.slices;
    let us = |ns: u64| (ns - zero_s * 1_000_000_000) / 1000;
    let text = |text: Option<String>| text.unwrap_or_default();
    let rows = (0..slices.len()).map(|row| slices.row(row).unwrap());
    rows.map(|s| (s.task, s.cpu, us(s.from_ns), us(s.to_ns), text(s.why), text(s.cut))).collect()
}

fn slice(
    task: &str,
    cpu: u32,
    from: u64,
    to: u64,
    why: &str,
    cut: &str,
) -> (String, u32, u64, u64, String, String) {
    (task.to_owned(), cpu, from, to, why.to_owned(), cut.to_owned())
}

#[test]
fn every_version_of_trace_cmd_says_the_same() {
    for name in ["trace-cmd-2.txt", "trace-cmd-3.txt", "trace-cmd-ns.txt", "trace-cmd-raw.txt"] {
        let (run, counts, _) = read(name);
        // "No such file" of a plugin is the tool's own talk.
        assert_eq!((counts.records, counts.torn), (7, 0), "{name}: {counts:?}");
        assert_eq!((counts.gaps, counts.lost), (1, 7), "{name}");
        assert_eq!(
            slices(&run, 100),
            [
                slice("ksoftirqd/2", 2, 150, 400, "slept", ""),
                slice("a b", 2, 400, 1400, "preempted", ""),
            ],
            "{name}"
        );
        let woken = run.tables.wakeups.row(0).unwrap();
        assert_eq!((woken.tid, woken.latency_ns), (27, Some(50_000)), "{name}");
        let frequency = run.tables.frequency.row(0).unwrap();
        assert_eq!(
            (frequency.domain.as_str(), frequency.claimed_khz),
            ("policy1", Some(1_400_000))
        );
        let idle = run.tables.idle.row(0).unwrap();
        // The gap cut the stay: nobody saw how it ended.
        assert_eq!((idle.state, idle.cut.as_deref()), (1, Some("end")), "{name}");
        let lost = run.tables.lost.row(0).unwrap();
        assert_eq!((lost.cpu, lost.events, lost.to_ns - lost.from_ns), (Some(2), Some(7), 590_000));
    }
}

#[test]
fn nobody_wakes_from_an_interrupt_however_deep() {
    let (run, counts, _) = read("nested-irqs.txt");
    assert_eq!((counts.records, counts.torn, counts.unknown.len()), (11, 0, 0));
    let interrupt = run.tables.interrupts.row(0).unwrap();
    assert_eq!((run.tables.interrupts.len(), interrupt.kind.as_str()), (1, "irq"));
    let wakeups = &run.tables.wakeups;
    let mut rows: Vec<_> = (0..wakeups.len())
        .map(|row| wakeups.row(row).unwrap())
        .map(|row| (row.task, row.waker_tid, row.latency_ns))
        .collect();
    rows.sort();
    // One by a soft interrupt, two by a hard one within it, four by one that cannot be masked
    // within a hard one; three by the task itself, with interrupts off.
    assert_eq!(
        rows,
        [
            ("four".to_owned(), None, Some(50_000)),
            ("one".to_owned(), None, Some(60_000)),
            ("three".to_owned(), Some(7), Some(50_000)),
            ("two".to_owned(), None, Some(10_000)),
        ]
    );
}

#[test]
fn interrupted_lines_are_torn_and_give_nobody_a_wrong_name() {
    let (run, counts, _) = read("interrupted.txt");
    assert_eq!((counts.lines, counts.records, counts.torn), (11, 4, 5));
    let named: Vec<u64> = counts.first_torn.iter().map(|torn| torn.line).collect();
    assert_eq!(named, [4, 5, 7, 8, 11]);
    assert_eq!(slices(&run, 3), [slice("busy", 0, 0, 500, "slept", "")]);
    let recording = Recording::of(&run);
    assert!(recording.tasks().all(|task| task.name.len() <= 15), "{run:?}");
    // The first stay's begin was torn away, the last one's end, too.
    let idle = run.tables.idle.row(0).unwrap();
    assert_eq!((run.tables.idle.len(), idle.state, idle.cut.as_deref()), (1, 2, Some("end")));
}

#[test]
fn lost_events_of_every_kind() {
    let (run, counts, header) = read("lost.txt");
    assert_eq!((counts.gaps, counts.lost, header.overwritten()), (5, 24, 21));
    let lost = &run.tables.lost;
    let rows: Vec<_> = (0..lost.len())
        .map(|row| lost.row(row).unwrap())
        .map(|row| (row.cpu, row.events, row.from_ns % 1_000_000_000, row.to_ns % 1_000_000_000))
        .collect();
    // Two gaps without an event between them are one; the last one has no end in the trace.
    assert_eq!(
        rows,
        [
            (Some(0), Some(12), 0, 300_000),
            (Some(1), None, 50_000, 400_000),
            (Some(0), Some(7), 300_000, 600_000),
        ]
    );
    assert_eq!(
        slices(&run, 4),
        [slice("busy", 0, 0, 0, "", "end"), slice("more", 0, 300, 300, "slept", "start")]
    );
    let recording = Recording::of(&run);
    let idle = IdleResidency::all(&recording).unwrap();
    let one = idle.iter().find(|cpu| cpu.cpu == 1).unwrap();
    assert_eq!((one.states[0].value, one.states[0].residency_ns), (2, 300_000));
    assert_eq!(one.lost_ns, 350_000);
    assert!(WakeupLatency::all(&recording).is_err());
}

#[test]
fn a_change_is_led_to_by_the_last_reading_before_it() {
    let (run, ..) = read("ramp.txt");
    let recording = Recording::of(&run);
    assert_eq!(recording.span(), Span { from_ns: 1_000_100_000, to_ns: 1_040_000_000 });
    let changes = Change::all(&recording, "policy0").unwrap();
    let told: Vec<_> = changes
        .iter()
        .map(|change| {
            let cause = change.cause.as_ref();
            let util = cause.and_then(|cause| cause.util);
            (change.from_khz / 1000, change.to_khz / 1000, util, cause.map(|c| c.after_ns / 1000))
        })
        .collect();
    assert_eq!(
        told,
        [
            (600, 1000, Some(400), Some(30)),
            (1000, 1400, Some(600), Some(40)),
            (1400, 1800, Some(800), Some(20)),
            (1800, 600, Some(800), Some(4000)),
            (600, 1400, Some(600), Some(50)),
            (1400, 1800, Some(810), Some(60)),
        ]
    );
}

/// Found by scripts/nightly-fuzz' targets: the end of such a trace plus the offset overflowed.
#[test]
fn a_log_joins_a_trace_that_claims_the_end_of_time() {
    let trace = "  a-1 [000] d..1. 1.000000: cpu_frequency: state=600000 cpu_id=0\n  \
        a-1 [000] d..1. 18446744073.000000: cpu_idle: state=1 cpu_id=0\n";
    let writes = pstates::of_text("6.000000 cpu=0 mhz=600\n").unwrap();
    let (built, _) = reading::read(trace.as_bytes());
    let machine = built.manifest.machine.as_ref();
    let joined = join(&built.tables.frequency, machine, &writes, built.span).unwrap();
    assert_eq!((joined.offset_ns, joined.domains[0].prompt), (5_000_000_000, 1));
}
