//! The reader of trace.dat: whatever the bytes are, it counts or refuses, in bounded memory.
#![no_main]

use std::io;

use flyball_events::dat::{MAGIC, Reader};
use flyball_events::import::Builder;
use libfuzzer_sys::fuzz_target;

fn read(data: &[u8]) {
    let Ok(mut reader) = Reader::of(data) else { return };
    let mut builder = Builder::new();
    let mut items = 0;
    let outcome = reader.for_each(|item| -> io::Result<()> {
        builder.item(item);
        items += 1;
        Ok(())
    });
    assert!(outcome.is_ok());
    let counts = reader.counts();
    assert_eq!(items, counts.records + counts.gaps);
    let slices = builder.finish().tables.slices;
    assert!(slices.from_ns.iter().zip(slices.to_ns.iter()).all(|(from, to)| from <= to));
}

fuzz_target!(|data: &[u8]| {
    read(data);
    // What does not begin as such a file never gets far.
    if !data.starts_with(MAGIC) {
        read(&[MAGIC, data].concat());
    }
});
