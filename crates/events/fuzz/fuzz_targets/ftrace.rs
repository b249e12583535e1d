//! The reader: whatever the bytes are and however they come, each is counted once.
#![no_main]

use std::io::{self, Read};

use flyball_events::ftrace::Reader;
use flyball_events::stream::Counts;
use libfuzzer_sys::fuzz_target;

/// Hands out a few bytes at a time.
struct Drip<'a>(&'a [u8], usize);

impl Read for Drip<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.1.min(to.len()).min(self.0.len());
        let (now, later) = self.0.split_at(n);
        to[..n].copy_from_slice(now);
        self.0 = later;
        Ok(n)
    }
}

fn read(source: impl Read) -> (Counts, u64) {
    let mut reader = Reader::new(source);
    let mut items = 0;
    let outcome = reader.for_each(|item| -> io::Result<()> {
        std::hint::black_box(item);
        items += 1;
        Ok(())
    });
    assert!(outcome.is_ok());
    (reader.counts().clone(), items)
}

fuzz_target!(|data: &[u8]| {
    let (whole, items) = read(data);
    assert_eq!(whole.bytes, data.len() as u64);
    assert_eq!(items, whole.records + whole.gaps);
    assert!(whole.records + whole.unknown_events() + whole.torn + whole.gaps <= whole.lines);
    let (dripped, again) = read(Drip(data, 1 + data.len() % 61));
    assert_eq!((whole, items), (dripped, again));
});
