//! Results of other tools: the first byte says as which format the rest is read.
#![no_main]

use std::fs;
use std::path::Path;

use flyball_import::{Format, Options, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((which, rest)) = data.split_first() else { return };
    let path = format!("/dev/shm/flyball-fuzz-import-{}", std::process::id());
    fs::write(&path, rest).unwrap();
    let which = usize::from(*which) % (2 * (Format::NAMES.len() + 1));
    let format = Format::NAMES.get(which / 2).map(|(_, format)| *format);
    let map = "latency_us=latency_us".parse().unwrap();
    let options = match which % 2 {
        0 => Options { format, ..Options::default() },
        _ => Options { format, map, ..Options::default() },
    };
    let _ = import(Path::new(&path), &options);
});
