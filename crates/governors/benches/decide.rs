//! What a decision costs: the simulated machine asks schedutil millions of times per second.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use criterion::{Criterion, criterion_group, criterion_main};
use flyball_governors::{CpuSignals, Domain, Event, UtilFlags, create};
use flyball_pelt::Features;
use flyball_units::{CpuId, Nanos, OppTable};
use std::hint::black_box;

fn domain(cpus: u32, capacity: u32, features: Features) -> Domain {
    let mhz =
        [600, 828, 1056, 1284, 1500, 1728, 1956, 2184, 2388, 2592, 2772, 2988, 3096, 3144, 3204];
    let opps = OppTable::from_khz(&mhz.map(|mhz| mhz * 1000)).unwrap();
    Domain::new((0..cpus).map(CpuId).collect(), opps)
        .capacity(capacity)
        .transition_latency(Some(Nanos::from_micros(46)))
        .features(features)
}

/// An update per ms, each past the rate limit; `util` of update number n.
fn updates(c: &mut Criterion, name: &str, domain: &Domain, util: impl Fn(u64) -> u32) {
    let rule = name.split('/').next().unwrap();
    let mut governor = create(rule).unwrap();
    governor.start(domain, Nanos::ZERO);
    let mut signals = vec![CpuSignals::default(); domain.cpus.len()];
    let mut number = 0_u64;
    c.bench_function(name, |b| {
        b.iter(|| {
            number += 1;
            signals[0].util = util(number);
            signals[0].idle_calls = number;
            let signals = black_box(signals.as_slice());
            let flags = UtilFlags::default();
            let event = Event::Util { cpu: CpuId(0), signals: signals.into(), flags };
            governor.on(&event, Nanos(number * 1_000_000))
        });
    });
}

fn schedutil(c: &mut Criterion) {
    let stock = domain(1, 1024, Features::STOCK);
    updates(c, "schedutil/unchanged", &stock, |_| 400);
    updates(c, "schedutil/changing", &stock, |n| (n * 37 % 1024) as u32);
    updates(c, "schedutil/small-cpu", &domain(1, 459, Features::STOCK), |n| (n * 37 % 459) as u32);
    updates(c, "schedutil/four-cpus", &domain(4, 1024, Features::STOCK), |_| 400);
    updates(c, "schedutil/series", &domain(1, 1024, Features::SERIES), |n| (n * 37 % 1024) as u32);
    updates(c, "performance/no-answer", &stock, |_| 400);
    let limited = stock.transition_delay(Some(Nanos(u64::MAX)));
    updates(c, "schedutil/rate-limited", &limited, |_| 400);
}

criterion_group!(benches, schedutil);
criterion_main!(benches);
