//! A million windows: 16 cells of 62,500 in 5 repeats, as the reader hands them over.
#![allow(clippy::expect_used, missing_docs)] // a benchmark may fail; criterion's macros have no docs

use criterion::{Criterion, criterion_group, criterion_main};
use flyball_stats::*;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use std::hint::black_box;

const CELLS: u64 = 16;
const REPEATS: usize = 5;
const WINDOWS: usize = 12_500;

/// Two speeds, 3 % of spread, a 1 % tail, on a nanosecond clock.
fn cell(seed: u64) -> Cell {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut window = || {
        let speed = if uniform() < 0.6 { 1.0 } else { 1.4 };
        let tail = if uniform() < 0.01 { 1.0 + uniform() } else { 1.0 };
        let noise: f64 = (0..4).map(|_| uniform() - 0.5).sum();
        (68_000.0 * speed * tail * (1.0 + 0.03 * noise)).round()
    };
    let repeats = (0..REPEATS).map(|_| (0..WINDOWS).map(|_| window()).collect());
    Cell::new(repeats.collect()).expect("latencies are above zero")
}

fn million(c: &mut Criterion) {
    let cells: Vec<Cell> = (0..CELLS).map(cell).collect();
    let options = BootstrapOptions::default();
    let mut group = c.benchmark_group("million");
    group.sample_size(10);
    group.bench_function("prepare", |b| {
        b.iter(|| cells.par_iter().map(Prepared::new).collect::<Vec<_>>());
    });
    let ready: Vec<Prepared> = cells.par_iter().map(Prepared::new).collect();
    group.bench_function("summaries", |b| {
        b.iter(|| ready.par_iter().map(|r| r.summary()).collect::<Vec<_>>());
    });
    group.bench_function("modes", |b| {
        let find = |r: &Prepared| find_modes(r.sorted(), &ModeOptions::default());
        b.iter(|| ready.par_iter().map(find).collect::<Vec<_>>());
    });
    group.bench_function("modes, one core", |b| {
        let find = |r: &Prepared| find_modes(r.sorted(), &ModeOptions::default());
        b.iter(|| ready.iter().map(find).collect::<Vec<_>>());
    });
    group.bench_function("bootstrap of median and p99", |b| {
        b.iter(|| {
            for statistic in [Statistic::Median, Statistic::Quantile(0.99)] {
                for r in &ready {
                    let _ = black_box(estimate(r, statistic, &options));
                }
            }
        });
    });
    group.bench_function("effective size", |b| {
        b.iter(|| cells.par_iter().map(effective_size).collect::<Vec<_>>());
    });
    group.bench_function("welch and drift", |b| {
        b.iter(|| {
            cells.par_iter().for_each(|cell| {
                let _ = black_box((welch_windows(cell, &cells[0]), drift(cell, 0.02)));
            });
        });
    });
    let modes: Vec<Modes> = (ready.iter())
        .map(|r| find_modes(r.sorted(), &ModeOptions::default()).expect("a valid sample"))
        .collect();
    group.bench_function("like for like, 4 kernels", |b| {
        let pair = |k: usize| KernelModes {
            kernel: "kernel",
            a: &cells[k],
            b: &cells[k + 4],
            a_modes: &modes[k],
            b_modes: &modes[k + 4],
        };
        let pairs: Vec<KernelModes<'_>> = (0..4).map(pair).collect();
        b.iter(|| like_for_like_with_modes(&pairs, &options));
    });
    group.finish();
}

criterion_group!(benches, million);
criterion_main!(benches);
