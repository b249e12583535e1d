//! The reader of perfetto's traces: whatever the bytes are, it counts or leaves out, in bounded memory.
#![no_main]

use std::io;

use flyball_events::import::Builder;
use flyball_events::perfetto::Reader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut reader = Reader::of(data.to_vec());
    let mut builder = Builder::new();
    let outcome = reader.for_each(|item| -> io::Result<()> {
        builder.item(item);
        Ok(())
    });
    assert!(outcome.is_ok());
    let slices = builder.finish().tables.slices;
    assert!(slices.from_ns.iter().zip(slices.to_ns.iter()).all(|(from, to)| from <= to));
});
