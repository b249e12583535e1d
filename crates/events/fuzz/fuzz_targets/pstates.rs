//! A log of frequency writes, alone and joined with a trace: the input is a trace, a zero byte, and
//! a log.
#![no_main]

use std::io;

use flyball_events::ftrace::Reader;
use flyball_events::import::pstates::of_text;
use flyball_events::import::{Builder, join};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let split = data.iter().position(|byte| *byte == 0);
    let (trace, log) = match split {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (&data[..0], data),
    };
    let Ok(writes) = of_text(&String::from_utf8_lossy(log)) else { return };
    assert!(writes.windows(2).all(|pair| pair[0].t_ns <= pair[1].t_ns));
    let mut builder = Builder::new();
    let outcome = Reader::new(trace).for_each(|item| -> io::Result<()> {
        builder.item(item);
        Ok(())
    });
    assert!(outcome.is_ok());
    let built = builder.finish();
    let machine = built.manifest.machine.as_ref();
    if let Ok(joined) = join(&built.tables.frequency, machine, &writes, built.span) {
        let _ = joined.sentences();
    }
});
