//! What a poll of 8 clock domains costs: with files in memory (this program's own part) and with
//! files that the kernel reads and writes (its part, too; without a driver behind them).
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{acpi, machine, on_files};
use criterion::{Criterion, criterion_group, criterion_main};
use flyball_govern::{Trail, Wish, prepare, trail};
use flyball_host::Host;
use std::path::Path;
use std::sync::Arc;

const DOMAINS: u32 = 8;

fn poll(criterion: &mut Criterion) {
    for governor in ["powerd", "conservative"] {
        let tunables = match governor {
            "conservative" => vec![("sampling_rate".to_owned(), 20_000)],
            _ => Vec::new(),
        };
        for logged in [false, true] {
            let name = if logged { "logged" } else { "plain" };
            let host = machine(&acpi(DOMAINS), true);
            let wish = Wish {
                governor: governor.to_owned(),
                tunables: tunables.clone(),
                ..Wish::default()
            };
            for id in 0..DOMAINS {
                let path = format!("{}/cpufreq/policy{id}/scaling_governor", common::CPU);
                host.write(Path::new(&path), "userspace").unwrap();
            }
            let prepared = prepare(host.as_ref(), &wish).unwrap();
            let ring = trail(prepared.names());
            let (kept, _writer) =
                if logged { (ring.0, Some(ring.1)) } else { (Trail::none(), None) };
            let shared: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
            let mut engine = prepared.open(&shared, kept).unwrap();
            let mut now = host.now();
            engine.start(now).unwrap();
            criterion.bench_function(&format!("memory/{governor}/{name}/{DOMAINS}"), |bencher| {
                bencher.iter(|| now = engine.step(now).unwrap().next);
            });
        }
        let dir = tempfile::tempdir().unwrap();
        let (host, mut engine) = on_files(dir.path(), governor, DOMAINS as u16, Trail::none());
        let mut now = host.now();
        for (name, value) in &tunables {
            engine.set(name, *value, now).unwrap();
        }
        engine.start(now).unwrap();
        criterion.bench_function(&format!("files/{governor}/plain/{DOMAINS}"), |bencher| {
            bencher.iter(|| now = engine.step(now).unwrap().next);
        });
    }
}

criterion_group!(benches, poll);
criterion_main!(benches);
