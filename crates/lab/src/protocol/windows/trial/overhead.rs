//! What the measurement itself costs here, to be published beside its results.

use super::bookkeeping::Bookkeeper;
use super::record::WindowRecord;
use crate::protocol::windows::telemetry::Recorder;
use flyball_host::{CounterRate, Host};
use flyball_probe::Chain;
use flyball_run::manifest::OverheadRecord;
use flyball_stats::nearest_rank;
use std::hint::black_box;

/// Timings per overhead.
const ROUNDS: usize = 2_000;

/// Probes take longer, and vary less.
const PROBE_ROUNDS: usize = 200;

/// Times what the loop does around each window, in the calling thread: reading the clock, the
/// ring, all bookkeeping of a window, and the probe where there is one. The cost of timing itself
/// is subtracted: the median of two successive readings of the counter. Takes some 20 ms.
pub fn overheads(
    host: &dyn Host,
    rate: CounterRate,
    chain: Option<Chain>,
    count_cycles: bool,
) -> Vec<OverheadRecord> {
    let mut stopwatch = Stopwatch { host, rate, empty_ticks: 0 };
    stopwatch.empty_ticks = nearest_rank(&stopwatch.ticks(ROUNDS, || {}), 0.5).unwrap_or_default();
    let mut bookkeeper = Bookkeeper::open(host, count_cycles);
    let (mut recorder, mut drain) = Recorder::unconnected(1 << 10);
    let mut record = WindowRecord::default();
    let clock = stopwatch.time("clock", ROUNDS, || {
        black_box(host.now());
    });
    let ring = stopwatch.time("ring", ROUNDS, || {
        recorder.push(black_box(record));
        drain();
    });
    let recording = stopwatch.time("recording", ROUNDS, || {
        bookkeeper.before();
        black_box(host.now());
        record.cpu_before = host.current_cpu().ok();
        record.cpu_after = host.current_cpu().ok();
        bookkeeper.after(&mut record, false, None);
        recorder.push(black_box(record));
        drain();
    });
    let mut records = vec![clock, ring, recording];
    if let Some(chain) = chain {
        records.push(stopwatch.time("probe", PROBE_ROUNDS, || {
            black_box(chain.sample(host));
        }));
    }
    records
}

/// Times pieces of code with the counter.
struct Stopwatch<'a> {
    host: &'a dyn Host,
    rate: CounterRate,
    empty_ticks: u64,
}

impl Stopwatch<'_> {
    fn time(&self, name: &str, rounds: usize, work: impl FnMut()) -> OverheadRecord {
        let ticks = self.ticks(rounds, work);
        let nanos = |share| {
            self.rate.nanos(
                nearest_rank(&ticks, share).unwrap_or_default().saturating_sub(self.empty_ticks),
            )
        };
        OverheadRecord {
            name: name.to_owned(),
            median_ns: nanos(0.5),
            p99_ns: Some(nanos(0.99)),
            n: rounds as u64,
        }
    }

    /// Sorted ticks of `rounds` executions.
    fn ticks(&self, rounds: usize, mut work: impl FnMut()) -> Vec<u64> {
        let mut ticks: Vec<u64> = (0..rounds)
            .map(|_| {
                let start = self.host.counter();
                work();
                self.host.counter().wrapping_sub(start)
            })
            .collect();
        ticks.sort_unstable();
        ticks
    }
}
