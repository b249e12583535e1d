//! Recordings of signals: EDF and CSV of any bytes are read or refused.
#![no_main]

use flyball_signal::input::{parse_csv, parse_edf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = parse_edf(data, "x.edf");
    let _ = parse_csv(data, "x.csv", 160.0);
});
