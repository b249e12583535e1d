//! What is taken from a playing, on small recordings, and what a model does with it.

use super::super::clocks::x86_at;
use super::*;
use crate::protocol::score::{BEGIN, END};
use flyball_events::recording::Ended;
use flyball_run::{Item as ItemRow, Marker, Migration, Slice, UtilizationSample, Wakeup};
use flyball_sim::scenario::{Source, read};

const MS: u64 = 1_000_000;

pub(in crate::compare) fn ran(cpu: u32, from_ns: u64, to_ns: u64, ended: Ended) -> Ran {
    Ran { cpu, tid: 1, from_ns, to_ns, ended }
}

#[test]
fn a_slice_is_its_items_and_what_comes_after_them() {
    let slice = ran(0, 10, 50, Ended::Slept);
    let items = [(5, 20), (18, 30), (40, 60)];
    let expected = [(10, 20, Some(0)), (20, 30, Some(1)), (30, 40, None), (40, 50, Some(2))];
    assert_eq!(parts(&slice, &items), expected);
    assert_eq!(parts(&slice, &[]), [(10, 50, None)]);
    assert_eq!(parts(&slice, &[(60, 70)]), [(10, 50, None)]);
}

/// On the x86 board at 1 GHz: a cycle is a nanosecond.
pub(in crate::compare) fn scenario(phases: u32) -> Scenario {
    let text = format!(
        "platform = \"board-x86\"\nkernel = \"debian-6.12\"\nduration = \"100ms\"\nphases = {phases}\n\
         [governor]\nname = \"schedutil\"\n[[task]]\nkind = \"periodic\"\nname = \"work\"\n\
         period = \"40ms\"\nphase = \"20ms\"\nwork = \"1ms\"\n"
    );
    read(&text, Source::text_only("x.toml", "x")).unwrap()
}

/// A playing that begins at 1 s: `work` is created at 3 ms by a thread on CPU 2, sets itself up for 1 ms on CPU 0, and has
/// items at 20 and 60 ms, of which it is woken 0.5 ms late and runs 0.25 ms later: for 6 and 8 ms, and 1 ms after each.
/// A worker runs for 2 ms on CPU 3 at 50 ms, in two parts.
pub(in crate::compare) fn playing() -> Run {
    let mut run = x86_at(1_000_000);
    let at = |us: u64| 1_000 * MS + us * 1000;
    let tables = &mut run.tables;
    for (t_ns, name) in [(at(0), BEGIN), (at(100_000), END)] {
        tables.markers.push(Marker { t_ns, name: name.to_owned(), ..Marker::default() });
    }
    let mut slice = |tid: u32, task: &str, cpu: u32, from: u64, to: u64, why: &str| {
        let (task, why) = (task.to_owned(), Some(why.to_owned()));
        let (from_ns, to_ns, priority) = (at(from), at(to), Some(120));
        let slice = Slice { cpu, tid, task, from_ns, to_ns, why, priority, ..Slice::default() };
        tables.slices.push(slice);
    };
    slice(9, "flyball-play", 2, 2_000, 4_000, "slept");
    slice(1, "work", 0, 3_000, 4_000, "slept");
    slice(1, "work", 1, 20_750, 27_750, "slept");
    slice(1, "work", 1, 60_750, 69_750, "slept");
    slice(5, "kworker/3:0", 3, 50_000, 51_000, "preempted");
    slice(5, "kworker/3:0", 3, 52_000, 53_000, "slept");
    slice(6, "migration/1", 1, 90_000, 91_000, "slept");
    slice(6, "migration/1", 1, 92_000, 92_500, "slept");
    for (tid, task, cpu, woken, ran, waker_tid) in [
        (1, "work", 0, 3_000, 3_000, Some(9)),
        (1, "work", 1, 20_500, 20_750, None),
        (1, "work", 1, 60_500, 60_750, None),
        (5, "kworker/3:0", 3, 49_000, 50_000, None),
    ] {
        let (woken_ns, ran_ns, task) = (at(woken), Some(at(ran)), task.to_owned());
        let wakeup = Wakeup { woken_ns, ran_ns, cpu, tid, task, waker_tid, ..Wakeup::default() };
        tables.wakeups.push(wakeup);
    }
    for (item, released, ended) in [(0, 20_000, 26_750), (1, 60_000, 68_750)] {
        let (released_ns, ended_ns, task) = (at(released), Some(at(ended)), "work".to_owned());
        tables.items.push(ItemRow {
            tid: 1,
            task,
            item,
            released_ns,
            ended_ns,
            ..ItemRow::default()
        });
    }
    // The first utilisation is that of 1 ms later: 1024 (1 - y) more than what 200 became.
    let util_avg = Some(200 - 4 + 21);
    // The first of the two moves a task.
    let (t_ns, from_cpu, to_cpu) = (at(90_500), 1, 2);
    tables.migrations.push(Migration { t_ns, tid: 9, from_cpu, to_cpu, ..Migration::default() });
    let (t_ns, kind, tid) = (at(4_000), "task".to_owned(), Some(1));
    let sample = UtilizationSample { t_ns, kind, tid, util_avg, ..UtilizationSample::default() };
    tables.utilization.push(sample);
    run
}

#[test]
fn what_a_task_did_is_taken_from_the_beginning_on() {
    let (scenario, run) = (scenario(1), playing());
    let found = given(&scenario, &scenario.setup(0), [&run].into_iter()).unwrap();
    let playing = &found.playings[0];
    let work = &playing.tasks["work"];
    assert_eq!((work.creator_cpu, work.created_ns), (Some(2), Some(3 * MS)));
    assert!(work.util.unwrap().abs_diff(200) <= 1, "{work:?}");
    let ms = |cycles: f64| (cycles / 1e4).round() / 100.0;
    let set_up: Vec<_> = work.set_up.iter().map(|of| (of.woken_ns / MS, ms(of.cycles))).collect();
    assert_eq!(set_up, [(3, 1.0)]);
    let items: Vec<_> =
        work.items.iter().map(|item| (item.released_ns / MS, item.cycles.map(ms))).collect();
    assert_eq!(items, [(20, Some(6.0)), (60, Some(8.0))]);
    assert!(work.wake_ups().all(|of| of.late_ns == MS / 2));
    assert!(work.wake_ups().all(|of| of.switch == Some((MS / 4, 2.5e5))), "at 1 GHz");
    assert!(work.items.iter().all(|item| item.after_cycles.map(ms) == Some(1.0)), "{work:?}");
    let background: Vec<_> = playing
        .background
        .iter()
        .map(|of| (of.name.as_str(), of.cpu, of.stretches.len(), ms(of.stretches[0].cycles)))
        .collect();
    let others = [("kworker/3:0", 3, 1, 2.0), ("migration/1", 1, 1, 0.5)];
    assert_eq!(background, [others[0], others[1], ("flyball-play", 2, 1, 2.0)]);
    assert_eq!(playing.background[0].stretches[0].woken_ns, 49 * MS);
    assert_eq!(found.controller, None);
}

/// Created as a fair thread, it takes its class where its CPU's utilisation falls by its own; until then what it ran is that of a thread.
#[test]
fn a_thread_takes_its_class_later() {
    let mut scenario = scenario(1);
    let mut run = playing();
    let mut told = |us: u64, kind: &str, util: u32| {
        let cpu = Some(0);
        let tid = (kind == "task").then_some(1);
        let (t_ns, kind) = (1_000 * MS + us * 1000, kind.to_owned());
        let row = UtilizationSample {
            t_ns,
            kind,
            cpu,
            tid,
            util_avg: Some(util),
            ..UtilizationSample::default()
        };
        run.tables.utilization.push(row);
    };
    told(3_010, "cpu", 212);
    told(3_500, "task", 210);
    told(3_600, "cpu", 4);
    told(3_900, "cpu", 3);
    let given = |scenario: &Scenario| {
        let mut given = given(scenario, &scenario.setup(0), [&run].into_iter()).unwrap();
        given.playings.remove(0)
    };
    let as_thread = |playing: &Played| playing.background.iter().any(|of| of.name == "work");
    let fair = given(&scenario);
    assert!(!as_thread(&fair) && fair.tasks["work"].created_ns == Some(3 * MS));
    scenario.tasks[0].class = Class::Fifo { priority: 1 };
    let fifo = given(&scenario);
    assert!(as_thread(&fifo));
    // 220,000 cycles before, at 1 GHz.
    assert_eq!(fifo.tasks["work"].created_ns, Some(3 * MS + 380_000));
    let thread = fifo.background.iter().find(|of| of.name == "work").unwrap();
    let last = thread.stretches.last().unwrap();
    // It leaves its queue as it goes on in its class, and its CPU a little later.
    assert_eq!((last.cycles, last.way), (460_000.0, 160_000.0));
}
