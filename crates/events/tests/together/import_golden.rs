//! A small trace whose rows were worked out by hand.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::reading;

use flyball_events::import::Built;
use flyball_run::Tables;

const TRACE: &str = "\
# tracer: nop
#
            busy-7       [000] d..2.     1.000000: sched_wakeup: comm=idler pid=9 prio=120 target_cpu=001
          <idle>-0       [001] d..1.     1.000010: cpu_idle: state=4294967295 cpu_id=1
          <idle>-0       [001] d..2.     1.000020: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=idler next_pid=9 next_prio=120
           idler-9       [001] d..2.     1.000100: sched_switch: prev_comm=idler prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
          <idle>-0       [001] d..1.     1.000110: cpu_idle: state=2 cpu_id=1
            busy-7       [000] d.h2.     1.000200: cpu_frequency: state=1000000 cpu_id=0
            busy-7       [000] d.h2.     1.000201: cpu_frequency: state=1000000 cpu_id=1
            busy-7       [000] d.h2.     1.000202: cpu_frequency: state=900000 cpu_id=2
            busy-7       [000] d.h2.     1.000210: cap: (__probestub_sched_cpu_capacity_tp+0x4/0x20) cpu=0 cap=409
            busy-7       [000] d.h2.     1.000220: cap: (__probestub_sched_cpu_capacity_tp+0x4/0x20) cpu=0 cap=409
            busy-7       [000] d..2.     1.000300: sched_switch: prev_comm=busy prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=other next_pid=8 next_prio=98
CPU:0 [LOST 5 EVENTS]
            more-6       [000] d..2.     1.000500: sched_switch: prev_comm=more prev_pid=6 prev_prio=120 prev_state=X ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0       [001] d.h3.     1.000590: sched_migrate_task: comm=idler pid=9 prio=120 orig_cpu=1 dest_cpu=0
          <idle>-0       [001] d..1.     1.000600: tracing_mark_write: the end
";

fn built() -> Built {
    reading::read(TRACE.as_bytes()).0
}

#[test]
fn slices_with_what_was_not_seen_of_them() {
    let Tables { slices, .. } = built().tables;
    let rows: Vec<_> = (0..slices.len())
        .map(|row| slices.row(row).unwrap())
        .map(|row| {
            let us = |ns: u64| (ns - 1_000_000_000) / 1000;
            (row.task, row.cpu, us(row.from_ns), us(row.to_ns), row.why, row.cut)
        })
        .collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        rows,
        [
            ("idler".to_owned(), 1, 20, 100, text("slept"), None),
            ("busy".to_owned(), 0, 0, 300, text("preempted"), text("start")),
            ("other".to_owned(), 0, 300, 300, None, text("end")),
            ("more".to_owned(), 0, 500, 500, text("exited"), text("start")),
        ]
    );
}

#[test]
fn wake_ups_moves_idle_and_gaps() {
    let tables = built().tables;
    let woken = tables.wakeups.row(0).unwrap();
    assert_eq!(
        (woken.latency_ns, woken.waker_tid, woken.ran_cpu),
        (Some(20_000), Some(7), Some(1))
    );
    let moved = tables.migrations.row(0).unwrap();
    assert_eq!((moved.from_cpu, moved.to_cpu, moved.why.as_deref()), (1, 0, Some("wakeup")));
    let idle = tables.idle.row(0).unwrap();
    assert_eq!(
        (idle.state, idle.to_ns - idle.from_ns, idle.cut.as_deref()),
        (2, 490_000, Some("end"))
    );
    let lost = tables.lost.row(0).unwrap();
    assert_eq!((lost.cpu, lost.events, lost.to_ns - lost.from_ns), (Some(0), Some(5), 200_000));
    assert_eq!(tables.markers.row(0).unwrap().name, "the end");
}

#[test]
fn domains_are_cpus_that_change_together() {
    let built = built();
    let machine = built.manifest.machine.unwrap();
    let domains: Vec<_> =
        machine.domains.iter().map(|d| (d.name.as_str(), d.cpus.clone())).collect();
    assert_eq!(domains, [("policy0", vec![0, 1]), ("policy2", vec![2])]);
    assert_eq!((machine.cpus[0].capacity, built.tables.capacity.len()), (Some(409), 1));
    let frequency = &built.tables.frequency;
    assert_eq!(frequency.len(), 2);
    let first = frequency.row(0).unwrap();
    assert_eq!((first.domain.as_str(), first.claimed_khz), ("policy0", Some(1_000_000)));
}

/// However long a trace is: rows that one import takes out to write them stay in the other.
#[test]
fn a_long_trace_has_all_its_rows_in_memory_and_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.txt");
    let switches = 140_000;
    let line = |at: u32| {
        let (t_us, prev, next) = (at % 1_000_000, at % 7 + 1, (at + 1) % 7 + 1);
        format!(
            "t-{prev} [000] d..2. 1.{t_us:06}: sched_switch: prev_comm=t prev_pid={prev} prev_prio=120 \
             prev_state=S ==> next_comm=t next_pid={next} next_prio=120\n"
        )
    };
    fs_err::write(&path, (0..switches).map(line).collect::<String>()).unwrap();
    let options = flyball_events::import::Options::default();
    let run = flyball_events::import::import(&path, &options).unwrap();
    assert_eq!(run.tables.slices.len(), switches as usize + 1);
    let written = flyball_events::import::import_to(&path, dir.path().join("run"), &options);
    let read = flyball_run::Run::open(written.unwrap().dir).unwrap();
    assert_eq!(read.tables.slices, run.tables.slices);
}
