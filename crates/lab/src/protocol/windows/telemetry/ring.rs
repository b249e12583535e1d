//! The ring between the measuring thread and the writer: one producer, one consumer, no lock.

use crate::protocol::windows::trial::WindowRecord;
use rtrb::{Consumer, Producer, RingBuffer};

/// What is kept of a window, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// From dispatch to end.
    pub execution: u64,
    /// CPU time; 0 where it was not counted.
    pub cpu_time: u64,
}

/// The measuring thread's end of the ring.
#[derive(Debug)]
pub struct Recorder {
    producer: Producer<WindowRecord>,
    dropped: u64,
    /// Execution and CPU time of the windows since [`Recorder::keep`], nanoseconds; never grows.
    kept: Vec<Kept>,
}

impl Recorder {
    /// Puts a record into the ring; false where it was full, which is counted. Never blocks.
    pub fn push(&mut self, record: WindowRecord) -> bool {
        if self.kept.len() < self.kept.capacity() {
            let execution = record.end.since(record.dispatch).0;
            self.kept.push(Kept { execution, cpu_time: record.cpu_time.map_or(0, |time| time.0) });
        }
        let pushed = self.producer.push(record).is_ok();
        self.dropped += u64::from(!pushed);
        pushed
    }

    /// Keeps the times of the next `windows` windows beside the ring; none for 0.
    pub fn keep(&mut self, windows: usize) {
        self.kept = Vec::with_capacity(windows);
    }

    /// The times that were kept.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Records that found the ring full.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// A recorder with no writer behind it, for `windows` records, and what empties it, oldest
    /// first: to time recording, and to use the loop without a run directory.
    pub fn unconnected(windows: usize) -> (Recorder, impl FnMut() -> Option<WindowRecord>) {
        let (recorder, mut consumer) = ring(windows);
        (recorder, move || consumer.pop().ok())
    }
}

/// A ring for `windows` records, at least one. All its memory is written once, so that the
/// measured loop meets no page fault there.
pub(super) fn ring(windows: usize) -> (Recorder, Consumer<WindowRecord>) {
    let (mut producer, mut consumer) = RingBuffer::new(windows.max(1));
    while producer.push(WindowRecord::default()).is_ok() {}
    while consumer.pop().is_ok() {}
    (Recorder { producer, dropped: 0, kept: Vec::new() }, consumer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ring_counts_and_keeps_the_oldest() {
        let (mut recorder, mut consumer) = ring(2);
        let record = |index| WindowRecord { index, ..WindowRecord::default() };
        assert!(recorder.push(record(0)) && recorder.push(record(1)));
        assert!(!recorder.push(record(2)));
        assert_eq!(recorder.dropped(), 1);
        assert_eq!(consumer.pop().map(|record| record.index), Ok(0));
        assert!(recorder.push(record(3)));
        assert_eq!(consumer.pop().map(|record| record.index), Ok(1));
        assert_eq!(consumer.pop().map(|record| record.index), Ok(3));
    }
}
