//! What the loop does around each window, outside its timed part: the bar is 1 us per window
//! without the probe.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use criterion::{Criterion, criterion_group, criterion_main};
use flyball_host::{Host, RealHost, arch};
use flyball_lab::protocol::windows::telemetry::Recorder;
use flyball_lab::protocol::windows::trial::{Bookkeeper, WindowRecord};
use flyball_probe::{CalibrationTarget, calibrate};
use flyball_units::{CpuId, CpuSet};
use std::hint::black_box;

fn recording(criterion: &mut Criterion) {
    let host = RealHost::new();
    let mut group = criterion.benchmark_group("recording");
    group.bench_function("clock", |bencher| bencher.iter(|| host.now()));
    group.bench_function("usage", |bencher| bencher.iter(|| host.usage().ok()));

    let (mut recorder, mut take) = Recorder::unconnected(1 << 10);
    group.bench_function("ring", |bencher| {
        bencher.iter(|| {
            recorder.push(black_box(WindowRecord::default()));
            take()
        });
    });

    // All of it, in the order of the loop, but for sleep, work and probe.
    let mut bookkeeper = Bookkeeper::open(&host, true);
    let mut index = 0;
    group.bench_function("window", |bencher| {
        bencher.iter(|| {
            bookkeeper.before();
            let mut record = WindowRecord { index, ..WindowRecord::default() };
            record.dispatch = host.now();
            record.cpu_before = host.current_cpu().ok();
            record.end = host.now();
            record.cpu_after = host.current_cpu().ok();
            bookkeeper.after(&mut record, false, None);
            recorder.push(black_box(record));
            index += 1;
            take()
        });
    });
    group.finish();
}

fn probe(criterion: &mut Criterion) {
    let host = RealHost::new();
    let cpu = host.affinity_get().ok().as_ref().and_then(CpuSet::first).unwrap_or(CpuId(0));
    let target = CalibrationTarget {
        cpu,
        core_type: None,
        assumed_cycles: arch::MULTIPLY_CYCLES,
        least: None,
    };
    if let Ok(calibrations) = calibrate(&host, &[target]) {
        criterion.bench_function("probe/sample", |bencher| {
            bencher.iter(|| calibrations[0].chain.sample(&host));
        });
    }
}

criterion_group!(benches, recording, probe);
criterion_main!(benches);
