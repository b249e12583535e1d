//! Tasks that run for less than the trace's clock can tell: a slice without a length still says what
//! came behind it.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io;

use crate::schedule::*;
use flyball_events::Recording;
use flyball_events::blame::Blame;
use flyball_events::ftrace::Reader;
use flyball_events::import::Builder;
use flyball_events::questions::{CpuTime, Stages, States, WakeupLatency};
use flyball_run::{Run, Slice};

/// Woken at 10 us, at work at 15 us, asleep at 15 us; later woken and asleep at one and the same
/// time; then preempted by the other at once, and back for a microsecond.
const TRACE: &str = "\
    <idle>-0  [000] d..2.  2.000000: cpu_idle: state=4294967295 cpu_id=0
    <idle>-0  [000] d.h2.  2.000010: sched_wakeup: comm=blink pid=5 prio=120 target_cpu=000
    <idle>-0  [000] d..2.  2.000015: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=blink next_pid=5 next_prio=120
     blink-5  [000] d..2.  2.000015: sched_switch: prev_comm=blink prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
    <idle>-0  [000] d.h2.  2.001000: sched_wakeup: comm=blink pid=5 prio=120 target_cpu=000
    <idle>-0  [000] d..2.  2.001000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=blink next_pid=5 next_prio=120
     blink-5  [000] d..2.  2.001000: sched_switch: prev_comm=blink prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
    <idle>-0  [000] d.h2.  2.001000: sched_wakeup: comm=blink pid=5 prio=120 target_cpu=000
    <idle>-0  [000] d..2.  2.001004: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=blink next_pid=5 next_prio=120
     blink-5  [000] d..2.  2.001004: sched_switch: prev_comm=blink prev_pid=5 prev_prio=120 prev_state=R ==> next_comm=other next_pid=6 next_prio=120
     other-6  [000] d..2.  2.001024: sched_switch: prev_comm=other prev_pid=6 prev_prio=120 prev_state=S ==> next_comm=blink next_pid=5 next_prio=120
     blink-5  [000] d..2.  2.001025: sched_switch: prev_comm=blink prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
    <idle>-0  [000] d..2.  2.002000: cpu_idle: state=4294967295 cpu_id=0
    <idle>-0  [000] d.h2.  2.003025: sched_migrate_task: comm=none pid=9 prio=120 orig_cpu=1 dest_cpu=0
";

fn read(text: &str) -> Run {
    let mut builder = Builder::new();
    Reader::new(text.as_bytes())
        .for_each(|item| -> io::Result<()> {
            builder.item(item);
            Ok(())
        })
        .unwrap();
    let built = builder.finish();
    Run { tables: built.tables, manifest: built.manifest, ..Run::default() }
}

#[test]
fn a_task_that_blinks_sleeps_behind_it() {
    let run = read(TRACE);
    let recording = Recording::of(&run);
    let States { running_ns, runnable_ns, sleeping_ns, unknown_ns, .. } =
        States::of(&recording, 5).unwrap();
    assert_eq!((running_ns, unknown_ns), (us(1), 0));
    // 10 to 15 and 1000 to 1004 behind wake-ups, 1004 to 1024 behind the other.
    assert_eq!(runnable_ns, us(5 + 4 + 20));
    assert_eq!(sleeping_ns, us(985 + 2_000));
    assert_eq!(WakeupLatency::of(&recording, 5).unwrap().latency.unwrap().max_ns, us(5));
    let time = CpuTime::of_task(&recording, 5).unwrap();
    assert_eq!(time[0].busy_ns, us(1));
    assert_eq!(Stages::of(&recording, 5).unwrap().stages[0].ran_ns, us(1));
    // Through another stretch of time as well, at its very begin.
    let later = States::of(&recording.between(2_000_015_000, 2_000_900_000), 5).unwrap();
    assert_eq!((later.sleeping_ns, later.runnable_ns), (us(885), 0));
}

/// Released at 1000 us, ran from 1040 us; before that the measuring task blinked.
fn window_behind(blinks: &[u64]) -> Run {
    let mut run = run();
    slice(&mut run, 0, MEASURED, "trial-0", (0, 10), "slept");
    for &at in blinks {
        wakeup(&mut run, MEASURED, 0, (at - 1, at));
        slice(&mut run, 0, MEASURED, "trial-0", (at, at), "slept");
    }
    idle(&mut run, 0, 2, "C2", (600, 1_010));
    wakeup(&mut run, MEASURED, 0, (1_004, 1_040));
    slice(&mut run, 0, MEASURED, "trial-0", (1_040, 1_300), "slept");
    frequency(&mut run, "policy0", 0, 2_000_000);
    window(&mut run, 0, (1_000, 1_042, 1_280));
    run
}

#[test]
fn blame_does_not_take_a_blink_for_a_window_that_goes_on() {
    let parts = |run: &Run| Blame::of(run).unwrap().windows[0].parts;
    let expected = parts(&window_behind(&[]));
    assert_eq!(parts(&window_behind(&[500])), expected);
    assert_eq!(parts(&window_behind(&[500, 550])), expected);
    let at_once = {
        let mut run = window_behind(&[]);
        wakeup(&mut run, MEASURED, 0, (500, 500));
        slice(&mut run, 0, MEASURED, "trial-0", (500, 500), "slept");
        run
    };
    assert_eq!(parts(&at_once), expected);
}

#[test]
fn a_slice_that_ends_before_it_begins_is_nothing() {
    let mut run = run();
    run.tables.slices.push(Slice { tid: 3, from_ns: us(5), to_ns: us(4), ..Slice::default() });
    assert!(Recording::of(&run).slices().next().is_none());
}
