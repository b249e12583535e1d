//! perfetto's traces: ftrace events (one message each, or compact columns), counters, names of
//! threads.
//!
//! A trace is a list of packets, by time only within a CPU; so the file is held in memory, packets
//! are sorted into one list per CPU, and these are merged by time as they are decoded. Times become
//! those of CLOCK_BOOTTIME, perfetto's own, by the clock snapshots in the file. Counters that
//! sched-analyzer writes (`CPU0 util_avg`, `rampup-163 util_est.ewma`) become readings of
//! utilisation; other counters are counted by name.

mod clocks;
mod counters;
mod event;
mod index;
mod messages;
mod reader;
mod write;

pub use reader::Reader;
pub use write::{Stretch, Writer};

/// Whether a file begins as a list of packets does: field 1, with a length, and a field of a packet
/// in it.
pub(crate) fn is_trace(head: &[u8]) -> bool {
    // Text may begin with an empty line and read as fields by chance; it has none of these bytes.
    if !head.iter().any(|byte| *byte < b'\t') {
        return false;
    }
    let mut rest = head;
    let mut packets = 0;
    while packets < 3 && !rest.is_empty() {
        match index::packet(&mut rest) {
            Some((packet, _)) if index::is_packet(packet) => packets += 1,
            // The head may end within a packet that began well.
            Some(_) | None => break,
        }
    }
    packets > 0
}
