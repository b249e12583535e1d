//! Blame of schedules that nobody thought of: the parts always sum to the response.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::schedule::{MEASURED, run, window_with};
use flyball_events::blame::{Blame, Part};
use flyball_run::{FrequencySample, IdleStay, Interrupt, Loss, Migration, Run, Slice, Wakeup};
use proptest::prelude::*;

const WHY: [&str; 6] = ["slept", "preempted", "yielded", "migrated", "exited", "?"];

fn any_run() -> impl Strategy<Value = Run> {
    let time = 0u64..2_000;
    let stretch = || (0u32..3, 0u64..2_000, 0u64..400, 0usize..6);
    let rows = || proptest::collection::vec(stretch(), 0..25);
    let windows = proptest::collection::vec(
        (
            time,
            0u64..300,
            0u64..900,
            proptest::option::of(0u64..500),
            proptest::option::of(1u32..1_100),
        ),
        1..12,
    );
    (rows(), rows(), rows(), rows(), rows(), rows(), windows).prop_map(
        |(slices, wakeups, moves, idle, interrupts, others, windows)| {
            let mut run = run();
            for (cpu, from_ns, length, why) in slices {
                let tid = if why % 2 == 0 { MEASURED } else { 3 + cpu };
                let (task, why) = (format!("t{tid}"), Some(WHY[why].to_owned()));
                let to_ns = from_ns + length;
                run.tables.slices.push(Slice {
                    cpu,
                    tid,
                    task,
                    from_ns,
                    to_ns,
                    why,
                    ..Slice::default()
                });
            }
            for (cpu, woken_ns, ..) in wakeups {
                run.tables.wakeups.push(Wakeup {
                    cpu,
                    woken_ns,
                    tid: MEASURED,
                    ..Wakeup::default()
                });
            }
            for (to_cpu, t_ns, ..) in moves {
                run.tables.migrations.push(Migration {
                    to_cpu,
                    t_ns,
                    tid: MEASURED,
                    ..Migration::default()
                });
            }
            for (cpu, from_ns, length, state) in idle {
                let (state, to_ns) = (state as u32, from_ns + length);
                run.tables.idle.push(IdleStay {
                    cpu,
                    state,
                    from_ns,
                    to_ns,
                    ..IdleStay::default()
                });
            }
            for (cpu, from_ns, length, number) in interrupts {
                let (number, to_ns) = (Some(number as u32), from_ns + length);
                run.tables.interrupts.push(Interrupt {
                    cpu,
                    number,
                    from_ns,
                    to_ns,
                    ..Interrupt::default()
                });
            }
            for (cpu, t_ns, length, kind) in others {
                if kind == 0 {
                    let (cpu, to_ns) = (Some(cpu).filter(|cpu| *cpu < 2), t_ns + length / 4);
                    run.tables.lost.push(Loss { cpu, from_ns: t_ns, to_ns, ..Loss::default() });
                } else {
                    run.tables.frequency.push(FrequencySample {
                        t_ns,
                        domain: "policy0".to_owned(),
                        claimed_khz: Some(length * 6_000),
                        delivered_khz: (kind == 1).then_some(length * 5_000),
                        source: "cpu_frequency".to_owned(),
                        ..FrequencySample::default()
                    });
                }
            }
            for (seq, (release, late, exec, steal, permille)) in windows.into_iter().enumerate() {
                window_with(&mut run, seq as u64, (0, 0, 0), |row| {
                    row.release_ns = release;
                    row.dispatch_ns = release + late;
                    row.end_ns = release + late + exec;
                    row.response_ns = (late + exec) as i64;
                    row.steal_ns = steal;
                    row.probe_after_permille = permille;
                });
            }
            run
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn parts_sum_to_the_response(run in any_run()) {
        let Ok(blame) = Blame::of(&run) else { return Ok(()) };
        prop_assert_eq!(blame.windows.len() as u64 + blame.uncovered, run.tables.windows.len() as u64);
        for window in &blame.windows {
            let response = run.tables.windows.response_ns[window.row];
            prop_assert_eq!(i64::try_from(window.parts.sum_ns()).unwrap(), response);
            prop_assert!(window.parts.get(Part::Unexplained).is_some());
            prop_assert_eq!(
                window.parts.get(Part::Steal).is_some(),
                run.tables.windows.steal_ns.get(window.row).is_some()
            );
            prop_assert_eq!(window.parts.get(Part::IdleExit).is_some(), blame.recorded.idle);
            // What was taken from others' time is theirs to the nanosecond.
            for part in [Part::Queue, Part::Preemption, Part::IdleExit, Part::Interrupts] {
                let culprits: u64 =
                    window.culprits.iter().filter(|found| found.0 == part).map(|found| found.2).sum();
                let known = window.parts.get(part).unwrap_or_default();
                prop_assert!(culprits == known || window.parts.get(part).is_none());
            }
        }
    }
}
