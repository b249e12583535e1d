//! Speed of the reader of trace.dat, in bytes of the file, on pages as a kernel wrote them.
#![allow(
    clippy::disallowed_methods,
    missing_docs,
    reason = "a benchmark reads its own clock; criterion's macros have no docs"
)]

use std::hint::black_box;
use std::io;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flyball_events::dat::Reader;

/// Bytes of a page.
const PAGE: usize = 4096;

/// The recorded ramp with each CPU's pages 200 times one behind the other. Times go back at each
/// seam, which the reader does not mind.
fn long() -> Vec<u8> {
    let whole = include_bytes!("../tests/golden/dat/ramp-6.dat");
    let table = memchr::memmem::find(whole, b"flyrecord\0").map_or(0, |at| at + 10);
    let word = |at: usize| {
        whole.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
    };
    let regions: Vec<(usize, usize)> = (0..4)
        .map(|cpu| (word(table + 16 * cpu) as usize, word(table + 16 * cpu + 8) as usize))
        .collect();
    let first = regions.iter().map(|(at, _)| *at).min().unwrap_or(PAGE);
    let mut long = whole.get(..first).unwrap_or_default().to_vec();
    for (cpu, (at, bytes)) in regions.into_iter().enumerate() {
        let pages = whole.get(at..at + bytes).unwrap_or_default().repeat(200);
        let place =
            [(long.len() as u64).to_le_bytes(), (pages.len() as u64).to_le_bytes()].concat();
        if let Some(slot) = long.get_mut(table + 16 * cpu..table + 16 * cpu + 16) {
            slot.copy_from_slice(&place);
        }
        long.extend(pages);
    }
    long
}

fn dat(c: &mut Criterion) {
    let file = long();
    let mut group = c.benchmark_group("dat");
    group.throughput(Throughput::Bytes(file.len() as u64)).sample_size(20);
    group.bench_function("read", |b| {
        b.iter(|| {
            let Ok(mut reader) = Reader::of(file.as_slice()) else { return 0 };
            let read = reader.for_each(|item| -> io::Result<()> {
                black_box(item);
                Ok(())
            });
            read.map_or(0, |()| reader.counts().records)
        });
    });
    group.finish();
}

criterion_group!(benches, dat);
criterion_main!(benches);
