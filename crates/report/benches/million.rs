//! A million windows, analysed: 4 workloads x 4 conditions x 260 repeats of 241 windows, each
//! cell a mixture of two kinds of core. Reading them is timed by `scripts/bench-million`.
#![allow(missing_docs)] // criterion's macros make public functions without documentation

use criterion::{Criterion, criterion_group, criterion_main};
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_run::Window;

const REPEATS: u32 = 260;
const WINDOWS: u64 = 241;

/// A small generator: the data only have to be uneven (Steele, Lea and Flood, SplitMix64, 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn million() -> RunData {
    let mut run = RunData { name: "million".into(), ..RunData::default() };
    let (mut state, mut now_ns) = (1, 0);
    for (workload, work_ns) in [("car", 70_000), ("notch", 160_000), ("goertzel", 900_000)]
        .into_iter()
        .chain([("fir", 7_400_000)])
    {
        for (condition, slowness) in
            [("performance", 1), ("powersave", 4), ("schedutil", 5), ("boosted", 5)]
        {
            for repeat in 1..=REPEATS {
                let core = 10 + 4 * (random(&mut state) % 2);
                for index in 0..WINDOWS {
                    now_ns += 20_000_000;
                    let noise = random(&mut state) % (work_ns / 20);
                    let exec_ns = work_ns * slowness * core / 10 + noise;
                    run.tables.windows.push(Window {
                        workload: workload.into(),
                        condition: condition.into(),
                        repeat,
                        index,
                        release_ns: now_ns,
                        end_ns: now_ns + exec_ns + 300,
                        lateness_ns: 300,
                        exec_ns,
                        response_ns: exec_ns as i64 + 300,
                        ..Window::default()
                    });
                }
            }
        }
    }
    run
}

fn bench(criterion: &mut Criterion) {
    let runs = [million()];
    let mut group = criterion.benchmark_group("analyse");
    group.sample_size(10);
    group.bench_function("a million windows", |bencher| {
        bencher.iter(|| analyse(&runs, &AnalysisOptions::default()));
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
