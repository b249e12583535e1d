//! How many times faster than real time an hour of 8 CPUs, recorded every 10 ms, is replayed.

#![allow(missing_docs, reason = "criterion's macros make public items")]
#![allow(clippy::unwrap_used, reason = "a bench stops at a broken setup")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flyball_platform::{Kernel, Platform};
use flyball_replay::{Item, Load, Placing, Stream, Subject, Work, play};
use flyball_units::Nanos;
use std::hint::black_box;

const MS: u64 = 1_000_000;

/// Every CPU busy in every interval, for 5 to 60 % of it at 2 GHz: a repeatable mess.
fn work(seconds: u64) -> Work {
    let stream = |cpu: u32| {
        let mut state = u64::from(cpu) + 1;
        let items = (0..seconds * 100).map(|interval| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let busy = (500 + (state >> 40) % 5500) * 1000;
            let released = Nanos(interval * 10 * MS);
            Item { released, busy: Nanos(busy), cycles: Some(busy * 2) }
        });
        Stream { name: format!("cpu{cpu}"), cpu, items: items.collect() }
    };
    Work {
        name: "mess".to_owned(),
        duration: Nanos::from_secs(seconds),
        interval: Some(Nanos(10 * MS)),
        cpus: (0..8).collect(),
        streams: (0..8).map(stream).collect(),
        notes: Vec::new(),
    }
}

fn subject(platform: &str, seconds: u64) -> Subject {
    let platform = Platform::named(platform).unwrap();
    let kernel = Kernel::named(&platform.default_kernel).unwrap();
    let load = Load::new(&work(seconds), &platform, &Placing::default()).unwrap();
    Subject::Recorded { load, platform: Box::new(platform), kernel: Box::new(kernel) }
}

fn speed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replayed seconds");
    group.sample_size(10);
    for (governor, seconds) in [
        ("powerd", 600),
        ("powerd++", 600),
        ("ondemand", 600),
        ("conservative", 600),
        ("schedutil", 20),
    ] {
        for platform in ["laptop-x86", "apple-m1"] {
            let subject = subject(platform, seconds);
            let choice = governor.parse().unwrap();
            group.throughput(Throughput::Elements(seconds));
            group.bench_function(format!("{governor} on {platform}"), |bencher| {
                bencher.iter(|| play(black_box(&subject), &choice, None, &|| false).unwrap());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, speed);
criterion_main!(benches);
