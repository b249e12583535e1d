//! What a simulated tick pays for load tracking.
//!
//! `examples/ticks.rs` counts its instructions.

#![allow(missing_docs, reason = "criterion's macros")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flyball_pelt::{
    ClockPelt, CpuSpeed, EntityState, PeltMultiplier, QueueLoad, SchedAvg, approximate_util_avg,
};
use std::hint::black_box;

const CALLS: u64 = 1000;

/// `CALLS` updates, `step` ns apart.
fn updates(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("update");
    group.throughput(Throughput::Elements(CALLS));
    for (name, step, state) in [
        ("within a period", 9_973, EntityState::Running),
        ("each tick of 1 ms", 1_000_000, EntityState::Running),
        ("each tick of 10 ms", 10_000_000, EntityState::Running),
        ("blocked", 1_000_000, EntityState::Blocked),
    ] {
        group.bench_function(name, |bencher| {
            let mut task = SchedAvg::starting_at(0);
            let mut now = 0;
            bencher.iter(|| {
                for _ in 0..CALLS {
                    now += black_box(step);
                    black_box(task.update_entity(now, 1024, state));
                }
                task.util_avg()
            });
        });
    }
    group.finish();
}

/// A tick of a busy CPU: the clock, the running task, its queue.
fn tick(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tick");
    group.throughput(Throughput::Elements(CALLS));
    for (name, capacity, frequency_scale) in [("large", 1024, 1024), ("small and slow", 459, 297)] {
        group.bench_function(name, |bencher| {
            let speed = CpuSpeed { capacity, frequency_scale };
            let mut clock = ClockPelt::starting_at(0, PeltMultiplier::X1);
            let mut task = SchedAvg::starting_at(0);
            let mut queue = SchedAvg::starting_at(0);
            bencher.iter(|| {
                for _ in 0..CALLS {
                    clock.advance(black_box(1_000_000), black_box(speed));
                    let now = clock.now();
                    black_box(task.update_entity(now, 1024, EntityState::Running));
                    black_box(
                        queue.update(now, QueueLoad { load: 1024, runnable: 1, running: true }),
                    );
                }
                queue.util_avg()
            });
        });
    }
    group.finish();
}

fn approximations(criterion: &mut Criterion) {
    criterion.bench_function("approximate_util_avg", |bencher| {
        bencher.iter(|| {
            approximate_util_avg(black_box(300), black_box(4000), black_box(PeltMultiplier::X1))
        });
    });
}

criterion_group!(benches, updates, tick, approximations);
criterion_main!(benches);
