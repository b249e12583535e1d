//! Reads a trace of any kind and counts what it tells: `read_trace FILE`. For measuring the reader
//! alone (scripts/bench-ftrace).
#![allow(clippy::print_stdout, reason = "an example tells its result")]

use std::hint::black_box;
use std::io;

use flyball_events::Reader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected the path of a trace")?;
    let mut reader = Reader::open(path)?;
    reader.for_each(|item| -> io::Result<()> {
        black_box(item);
        Ok(())
    })?;
    let counts = reader.counts();
    println!(
        "{{\"bytes\": {}, \"lines\": {}, \"events\": {}, \"other\": {}, \"torn\": {}, \"lost\": {}}}",
        counts.bytes,
        counts.lines,
        counts.records,
        counts.unknown_events(),
        counts.torn,
        counts.lost
    );
    Ok(())
}
