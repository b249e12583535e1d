//! Tables of long recordings are small in memory: 24 hours of all events are tens of millions of rows.
#![allow(missing_docs)]

use flyball_run::table::Table;
use flyball_run::{Slice, Slices, UtilizationSample, UtilizationSamples, Wakeup, Wakeups};

/// Enough that what is not yet packed, less than 65536 rows a column, weighs little.
const ROWS: u64 = 2_000_000;

/// Between 0 and 10 ms, without a rule.
fn late(row: u64) -> u64 {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 0x7f_ffff
}

fn bytes_per_row(table: &impl Table) -> f64 {
    let bytes: usize = table.columns().iter().map(|column| column.bytes()).sum();
    bytes as f64 / table.len() as f64
}

#[test]
fn a_row_of_signals_takes_few_bytes() {
    let mut rows = UtilizationSamples::default();
    for row in 0..ROWS {
        let task = row.is_multiple_of(2);
        rows.push(UtilizationSample {
            t_ns: row * 2_000_000 + late(row),
            kind: if task { "task" } else { "cpu" }.to_owned(),
            cpu: Some((row / 1000 % 8) as u32),
            tid: task.then_some(1),
            task: task.then(|| "page".to_owned()),
            util_avg: Some((late(row) % 1024) as u32),
            runnable_avg: Some((late(row) % 1000) as u32),
            util_est: Some((late(row) % 900) as u32),
            period_contrib: None,
            updater_cpu: (!task).then_some(3),
            trial: Some(0),
        });
    }
    let found = bytes_per_row(&rows);
    // As vectors they would be 52.
    assert!(found < 13.0, "{found}");
}

#[test]
fn a_row_of_scheduling_takes_few_bytes() {
    let (mut slices, mut wakeups) = (Slices::default(), Wakeups::default());
    for row in 0..ROWS {
        let woken_ns = row * 10_000_000 + late(row);
        let ran_ns = woken_ns + late(row) % 50_000;
        let (cpu, tid, task, trial) = ((row / 99 % 8) as u32, 1, "page".to_owned(), Some(0));
        wakeups.push(Wakeup {
            woken_ns,
            ran_ns: Some(ran_ns),
            latency_ns: Some(ran_ns - woken_ns),
            cpu,
            ran_cpu: Some(cpu),
            tid,
            task: task.clone(),
            waker_tid: None,
            trial,
        });
        let (to_ns, why) = (ran_ns + 1_000_000, Some("slept".to_owned()));
        slices.push(Slice {
            cpu,
            tid,
            task,
            from_ns: ran_ns,
            to_ns,
            why,
            trial,
            ..Slice::default()
        });
    }
    let (slices, wakeups) = (bytes_per_row(&slices), bytes_per_row(&wakeups));
    assert!(slices < 11.0 && wakeups < 14.0, "{slices} {wakeups}");
}
