//! One pass over the packets: which belong to which CPU, what the counters say.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use prost::Message;
use prost::bytes::Bytes;

use super::clocks::Clocks;
use super::counters::{Reading, Signal, Subject, track};
use super::messages::{BundleHead, Packet, TrackDescriptor};
use crate::stream::{Counts, Unit};

/// `TrackEvent.Type` of a counter.
const COUNTER: i32 = 4;
/// `TracePacket.sequence_flags`: what was said before is void.
const CLEARED: u32 = 1;
/// Bytes that packed packets may have in all.
const UNPACKED_BYTES: u64 = 1 << 30;
/// Highest field of a packet; perfetto's are below 1000.
const FIELD_MAX: u64 = 1 << 12;

/// What the packets hold.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The bundles of ftrace events of each CPU, in the file's order.
    pub bundles: BTreeMap<u32, Vec<Bytes>>,
    /// Readings of the tracks, by time.
    pub readings: Vec<Reading>,
    pub tracks: Vec<(Subject, Signal)>,
    /// Names of threads.
    pub names: HashMap<u32, Bytes>,
    pub counts: Counts,
}

#[derive(Debug, Default)]
struct Scan {
    index: Index,
    clocks: Clocks,
    /// Tracks by their number: name, factor, whether readings are differences.
    described: HashMap<u64, (String, f64, bool)>,
    /// The track of a sequence's events that name none.
    usual: HashMap<u32, u64>,
    /// Time, track, value.
    values: Vec<(u64, u64, f64)>,
    unpacked: u64,
}

/// A number of seven bits per byte at the begin of `bytes`.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The next packet of a trace, which is a field 1 with a length, as far as there is of it; and how many of
/// its bytes are missing.
pub(super) fn packet<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], usize)> {
    let mut bytes = *rest;
    if varint(&mut bytes)? != (1 << 3 | 2) {
        return None;
    }
    let length = usize::try_from(varint(&mut bytes)?).ok()?;
    let (packet, behind) = bytes.split_at(length.min(bytes.len()));
    *rest = behind;
    Some((packet, length - packet.len()))
}

/// Whether bytes are fields one behind the other, as far as they go.
pub(super) fn is_packet(mut bytes: &[u8]) -> bool {
    let mut fields = 0;
    while !bytes.is_empty() {
        let Some(key) = varint(&mut bytes) else { return false };
        if key >> 3 == 0 || key >> 3 > FIELD_MAX {
            return false;
        }
        let skipped = match key & 7 {
            0 => varint(&mut bytes).is_some().then_some(0),
            1 => Some(8),
            2 => varint(&mut bytes),
            5 => Some(4),
            _ => None,
        };
        let Some(skipped) = skipped else { return false };
        fields += 1;
        bytes = usize::try_from(skipped).ok().and_then(|to| bytes.get(to..)).unwrap_or_default();
    }
    fields > 0
}

/// The number of the field that says what an ftrace event is: the first but time, thread, flags.
pub(super) fn kind_of_event(mut bytes: &[u8]) -> Option<u64> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        if !matches!(key >> 3, 1 | 2 | 5) {
            return Some(key >> 3);
        }
        varint(&mut bytes)?;
    }
    None
}

impl Index {
    pub fn of(bytes: &Bytes) -> Index {
        let mut scan = Scan::default();
        scan.index.counts.unit = Unit::Packet;
        scan.index.counts.bytes = bytes.len() as u64;
        scan.packets(bytes, 0);
        scan.finish()
    }
}

impl Scan {
    fn packets(&mut self, bytes: &Bytes, depth: u32) {
        let mut rest = bytes.as_ref();
        while !rest.is_empty() {
            let begin = rest;
            self.index.counts.lines += 1;
            let number = self.index.counts.lines;
            let Some((packet, missing)) = packet(&mut rest) else {
                let found = begin.get(..16).unwrap_or(begin);
                self.index.counts.torn_at(number, "a packet with its length", found);
                return;
            };
            if missing > 0 {
                // What is left of it may read, and be less than what was written.
                let found = format!("{missing} bytes too few at the end of the file");
                self.index.counts.torn_at(number, "a whole packet", found.as_bytes());
                return;
            }
            match Packet::decode(bytes.slice_ref(packet)) {
                Ok(packet) => self.packet(packet, depth),
                Err(error) => {
                    let found = error.to_string();
                    self.index.counts.torn_at(number, "a whole packet", found.as_bytes());
                }
            }
        }
    }

    fn packet(&mut self, packet: Packet, depth: u32) {
        let sequence = packet.sequence.unwrap_or(0);
        if packet.incremental_state_cleared == Some(true)
            || packet.sequence_flags.unwrap_or(0) & CLEARED != 0
        {
            self.usual.remove(&sequence);
        }
        if let Some(snapshot) = &packet.clock_snapshot {
            self.clocks.snapshot(sequence, snapshot);
        }
        if let Some(defaults) = &packet.defaults {
            if let Some(clock) = defaults.timestamp_clock_id {
                self.clocks.usual(sequence, clock);
            }
            if let Some(track) = defaults.track_event.as_ref().and_then(|event| event.track_uuid) {
                self.usual.insert(sequence, track);
            }
        }
        // Every packet with a time moves an incremental clock on.
        let time = self.clocks.time(&packet);
        if let Some(event) = packet.track_event.filter(|event| event.kind == Some(COUNTER)) {
            let track = event.track_uuid.or_else(|| self.usual.get(&sequence).copied());
            let value =
                event.double_counter_value.or(event.counter_value.map(|value| value as f64));
            if let (Some(time), Some(track), Some(value)) = (time, track, value) {
                self.values.push((time, track, value));
            }
        }
        if let Some(track) = packet.track_descriptor {
            self.describe(track);
        }
        for thread in packet.process_tree.into_iter().flat_map(|tree| tree.threads) {
            if let (Some(tid), Some(name)) = (thread.tid, thread.name) {
                self.name(tid.into(), name);
            }
        }
        if let Some(bundle) = packet.ftrace_events {
            match BundleHead::decode(bundle.clone()) {
                Ok(head) => {
                    self.index.bundles.entry(head.cpu.unwrap_or(0)).or_default().push(bundle);
                }
                Err(error) => {
                    let number = self.index.counts.lines;
                    let found = error.to_string();
                    self.index.counts.torn_at(number, "events of a CPU", found.as_bytes());
                }
            }
        }
        if let Some(packed) = packet.compressed_packets.filter(|_| depth == 0) {
            self.unpack(&packed);
        }
    }

    /// Packets that were packed by zlib.
    fn unpack(&mut self, packed: &Bytes) {
        let most = UNPACKED_BYTES.saturating_sub(self.unpacked);
        let mut bytes = Vec::new();
        let outcome =
            flate2::read::ZlibDecoder::new(packed.as_ref()).take(most).read_to_end(&mut bytes);
        self.unpacked += bytes.len() as u64;
        let number = self.index.counts.lines;
        match outcome {
            Ok(_) if bytes.len() as u64 == most => {
                self.index.counts.torn_at(number, "at most 1 GiB of packed packets", b"more");
            }
            Ok(_) => self.packets(&Bytes::from(bytes), 1),
            Err(error) => {
                self.index.counts.torn_at(number, "packed packets", error.to_string().as_bytes());
            }
        }
    }

    fn describe(&mut self, track: TrackDescriptor) {
        if let Some(thread) = track.thread
            && let (Some(tid), Some(name)) = (thread.tid, thread.thread_name)
        {
            self.name(tid, name);
        }
        let (Some(uuid), Some(counter)) = (track.uuid, track.counter) else { return };
        let name = track.name.or(track.static_name).unwrap_or_default();
        let name = String::from_utf8_lossy(&name).into_owned();
        let factor = counter.unit_multiplier.unwrap_or(1) as f64;
        let differences = counter.is_incremental.unwrap_or(false);
        self.described.insert(uuid, (name, factor, differences));
    }

    fn name(&mut self, tid: i64, name: Bytes) {
        if let (Ok(tid), false) = (u32::try_from(tid), name.is_empty()) {
            self.index.names.insert(tid, name);
        }
    }

    /// The readings of the tracks that are understood; the others are counted by name.
    fn finish(self) -> Index {
        let Scan { mut index, described, mut values, clocks, .. } = self;
        let mut numbers = HashMap::new();
        let mut sums = HashMap::new();
        values.sort_by_key(|(time, ..)| *time);
        for (t_ns, uuid, value) in values {
            let Some((name, factor, differences)) = described.get(&uuid) else {
                index.counts.unknown(b"counter without a name");
                continue;
            };
            let known = *numbers.entry(uuid).or_insert_with(|| {
                index.tracks.push(track(name)?);
                Some(index.tracks.len() - 1)
            });
            let Some(track) = known else {
                index.counts.unknown(name.as_bytes());
                continue;
            };
            let mut value = value * factor;
            if *differences {
                let sum: &mut f64 = sums.entry(uuid).or_default();
                *sum += value;
                value = *sum;
            }
            index.readings.push(Reading { t_ns, track, value });
        }
        if clocks.unknown > 0 {
            let found = format!("{} packets without", clocks.unknown);
            index.counts.torn_at(0, "a snapshot of each packet's clock", found.as_bytes());
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_packet_and_what_is_text() {
        let bytes = [0x0a, 4, 0x40, 5, 0x50, 1, 0x0a];
        let mut rest = bytes.as_slice();
        assert_eq!(packet(&mut rest).map(|(packet, _)| is_packet(packet)), Some(true));
        assert_eq!(packet(&mut rest), None, "its length is missing");
        assert_eq!(packet(&mut &bytes[..4]).map(|(_, missing)| missing), Some(2), "cut");
        assert!(super::super::is_trace(&bytes));
        assert!(!super::super::is_trace(
            b"\n  <idle>-0 [001] d..1. 1.0: cpu_idle: state=1 cpu_id=1"
        ));
        assert_eq!(kind_of_event(&[0x08, 1, 0x10, 2, 0x9a, 0x13, 0]), Some(307));
    }
}
