//! Times of packets on CLOCK_BOOTTIME.

use std::collections::HashMap;

use super::messages::{ClockSnapshot, Packet};

/// perfetto's number of CLOCK_BOOTTIME.
const BOOTTIME: u32 = 6;
/// Numbers from here to below [`GLOBAL`] mean something within one sequence of packets only.
const OF_SEQUENCE: u32 = 64;
const GLOBAL: u32 = 128;

/// Where a clock was at a snapshot.
#[derive(Clone, Copy, Debug)]
struct Seen {
    boot_ns: i128,
    /// The clock's own time then, in ns.
    own_ns: i128,
    /// The last time of an incremental clock.
    last_ns: i128,
    incremental: bool,
    unit_ns: i128,
}

/// All clocks as the snapshots show them.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// By sequence (0 where the clock is everybody's) and number.
    seen: HashMap<(u32, u32), Seen>,
    /// The clock of a sequence's packets that name none.
    usual: HashMap<u32, u32>,
    /// Packets whose clock no snapshot shows.
    pub unknown: u64,
}

fn key(sequence: u32, clock: u32) -> (u32, u32) {
    let own = (OF_SEQUENCE..GLOBAL).contains(&clock);
    (if own { sequence } else { 0 }, clock)
}

impl Clocks {
    pub fn snapshot(&mut self, sequence: u32, snapshot: &ClockSnapshot) {
        let clocks = || snapshot.clocks.iter().filter_map(|clock| Some((clock, clock.clock_id?)));
        let boot = clocks().find(|(_, id)| *id == BOOTTIME);
        let Some(boot) = boot.and_then(|(clock, _)| clock.timestamp) else { return };
        for (clock, id) in clocks() {
            let Some(time) = clock.timestamp else { continue };
            let unit_ns = i128::from(clock.unit_multiplier_ns.unwrap_or(1).max(1));
            let own_ns = i128::from(time) * unit_ns;
            let incremental = clock.is_incremental.unwrap_or(false);
            let seen = Seen { boot_ns: boot.into(), own_ns, last_ns: own_ns, incremental, unit_ns };
            self.seen.insert(key(sequence, id), seen);
        }
    }

    /// Takes over what a sequence says of its packets.
    pub fn usual(&mut self, sequence: u32, clock: u32) {
        self.usual.insert(sequence, clock);
    }

    /// A packet's time; none where it has none or nobody knows its clock.
    pub fn time(&mut self, packet: &Packet) -> Option<u64> {
        let sequence = packet.sequence.unwrap_or(0);
        let time = packet.timestamp?;
        let usual = self.usual.get(&sequence).copied();
        let clock = packet.timestamp_clock_id.or(usual).unwrap_or(BOOTTIME);
        let Some(seen) = self.seen.get_mut(&key(sequence, clock)) else {
            if clock == BOOTTIME {
                return Some(time);
            }
            self.unknown += 1;
            return None;
        };
        let time = i128::from(time) * seen.unit_ns;
        let own_ns = if seen.incremental { seen.last_ns + time } else { time };
        seen.last_ns = own_ns;
        u64::try_from(seen.boot_ns + own_ns - seen.own_ns).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::Clock;
    use super::*;

    fn packet(sequence: u32, time: u64, clock: Option<u32>) -> Packet {
        Packet {
            sequence: Some(sequence),
            timestamp: Some(time),
            timestamp_clock_id: clock,
            ..Packet::default()
        }
    }

    #[test]
    fn every_clock_becomes_boot_time() {
        let mut clocks = Clocks::default();
        let clock = |id, time, incremental, unit| Clock {
            clock_id: Some(id),
            timestamp: Some(time),
            is_incremental: incremental,
            unit_multiplier_ns: unit,
        };
        let all = vec![
            clock(6, 1000, None, None),
            clock(3, 900, None, None),
            clock(64, 2, Some(true), Some(1000)),
        ];
        clocks.snapshot(7, &ClockSnapshot { clocks: all });
        assert_eq!(clocks.time(&packet(1, 5000, None)), Some(5000));
        assert_eq!(clocks.time(&packet(1, 5000, Some(3))), Some(5100));
        clocks.usual(7, 64);
        assert_eq!(clocks.time(&packet(7, 3, None)), Some(4000));
        assert_eq!(clocks.time(&packet(7, 2, None)), Some(6000), "3 and 2 after the snapshot");
        assert_eq!(clocks.time(&packet(8, 2, Some(64))), None, "another sequence's");
        assert_eq!(clocks.unknown, 1);
    }
}
