//! The thread that reads the counters at regular times. It allocates nothing while it does: samples
//! go into buffers that come back empty.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use flyball_host::Host;
use flyball_units::{CpuId, CpuSet, Nanos};

use super::source::Counters;
use crate::trace::CaptureError;

/// Numbers that every sample begins with: its time, how long it took to read, and whether everything
/// was read.
pub(super) const HEAD: usize = 3;

/// Buffers in turn between the two threads.
const BUFFERS: usize = 4;

/// How long to wait for an empty buffer before looking whether it is over.
const PATIENCE: Duration = Duration::from_millis(100);

/// Recorded time that a buffer holds.
const BUFFER_NS: u64 = 500_000_000;

/// What the thread did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// CPU time of the thread.
    pub cpu: Nanos,
    /// From its first sample to its last.
    pub elapsed: Nanos,
    /// Samples taken.
    pub samples: u64,
    /// Times at which it should have taken one and was late by an interval or more.
    pub missed: u64,
    /// CPUs whose counters could not be brought up to date at the end.
    pub stale: u32,
    /// Files read per sample, on average.
    pub reads: f64,
}

/// Samples one after the other, each [`Sampler::stride`] numbers.
pub(super) type Samples = Vec<u64>;

/// The running thread.
pub(super) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Tally, CaptureError>>>,
    full: Receiver<Samples>,
    empty: SyncSender<Samples>,
    /// Numbers per sample.
    pub(super) stride: usize,
}

impl Sampler {
    /// Starts to sample.
    pub(super) fn start(
        host: &Arc<dyn Host>,
        counters: Counters,
        cpus: &[u32],
        interval: Nanos,
    ) -> Result<Sampler, CaptureError> {
        let stride = HEAD + counters.width();
        let samples = (BUFFER_NS / interval.0.max(1) + 1) as usize;
        let (full_in, full) = sync_channel(BUFFERS);
        let (empty, empty_out) = sync_channel(BUFFERS);
        for _ in 0..BUFFERS {
            let _ = empty.try_send(Vec::with_capacity(samples * stride));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let work = Work {
            host: Arc::clone(host),
            counters,
            cpus: cpus.to_vec(),
            interval,
            stride,
            stop: Arc::clone(&stop),
            full: full_in,
            empty: empty_out,
            tally: Tally::default(),
        };
        let thread = std::thread::Builder::new().name("flyball-load".to_owned());
        let thread = thread
            .spawn(move || work.run())
            .map_err(|error| lacking("a thread that reads the counters", &error.to_string()))?;
        Ok(Sampler { stop, thread: Some(thread), full, empty, stride })
    }

    /// Gives every buffer that is full to `sink`, and returns it to the thread.
    pub(super) fn drain(&self, sink: &mut dyn FnMut(&[u64])) {
        while let Ok(mut samples) = self.full.try_recv() {
            samples.chunks_exact(self.stride).for_each(&mut *sink);
            samples.clear();
            let _ = self.empty.try_send(samples);
        }
    }

    /// Ends the thread; the last samples can then be drained.
    pub(super) fn stop(&mut self) -> Result<Tally, CaptureError> {
        self.stop.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else { return Ok(Tally::default()) };
        thread.join().unwrap_or_else(|_| Err(lacking("an end of the sampler", "a panic")))
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

fn lacking(expected: &str, found: &str) -> CaptureError {
    CaptureError::Lacking {
        object: "recording the load".to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
        hint: None,
        permission: false,
    }
}

struct Work {
    host: Arc<dyn Host>,
    counters: Counters,
    cpus: Vec<u32>,
    interval: Nanos,
    stride: usize,
    stop: Arc<AtomicBool>,
    full: SyncSender<Samples>,
    empty: Receiver<Samples>,
    tally: Tally,
}

impl Work {
    fn run(mut self) -> Result<Tally, CaptureError> {
        let failed = CaptureError::host("recording the load");
        // The first and the last sample find every counter up to date.
        visit(self.host.as_ref(), &self.cpus);
        let cpu_before = self.host.thread_cpu_time().map_err(&failed)?;
        let first = self.host.now();
        let mut samples = self.empty.recv().unwrap_or_default();
        self.sample(&mut samples, false);
        let mut due = first + self.interval;
        while !self.stop.load(Ordering::Acquire) {
            // A sleep that an earlier request to end does not cut short: CMD decides when it ends.
            self.host.wait_streams(&[], due).map_err(&failed)?;
            let now = self.host.now();
            if now < due {
                continue;
            }
            self.sample(&mut samples, false);
            let late = now.since(due).0 / self.interval.0.max(1);
            self.tally.missed += late;
            due = due + Nanos(self.interval.0.saturating_mul(late + 1));
            if samples.len() + self.stride > samples.capacity() {
                samples = self.hand_over(samples);
            }
        }
        self.tally.cpu = Nanos(self.host.thread_cpu_time().map_err(&failed)?.since(cpu_before).0);
        self.tally.elapsed = Nanos(self.host.now().since(first).0);
        self.tally.stale = visit(self.host.as_ref(), &self.cpus);
        self.tally.reads = self.counters.reads();
        self.sample(&mut samples, true);
        self.hand_over(samples);
        Ok(self.tally)
    }

    fn sample(&mut self, samples: &mut Samples, last: bool) {
        let start = samples.len();
        let at = self.host.now();
        samples.resize(start + self.stride, 0);
        if let Some((head, rest)) =
            samples.get_mut(start..).and_then(|s| s.split_at_mut_checked(HEAD))
        {
            let all = self.counters.read(rest, last);
            head.copy_from_slice(&[at.0, self.host.now().since(at).0, u64::from(all)]);
        }
        self.tally.samples += 1;
    }

    /// A full buffer for an empty one. Where nobody drains, time passes until somebody does.
    fn hand_over(&self, samples: Samples) -> Samples {
        match self.full.try_send(samples) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(samples)) => {
                let _ = self.full.send(samples);
            }
        }
        loop {
            match self.empty.recv_timeout(PATIENCE) {
                Ok(samples) => return samples,
                Err(RecvTimeoutError::Timeout) if !self.stop.load(Ordering::Acquire) => {}
                Err(_) => return Vec::new(),
            }
        }
    }
}

/// Runs on each CPU for a moment: one that is idle leaves its idle state, a task that runs gives
/// way, and the counters are up to date. How many CPUs it may not run on.
pub(super) fn visit(host: &dyn Host, cpus: &[u32]) -> u32 {
    let Ok(allowed) = host.affinity_get() else { return cpus.len() as u32 };
    let mut stale = 0;
    for &cpu in cpus {
        let one = CpuSet::from(CpuId(cpu));
        stale += u32::from(host.affinity_set(&one).is_err());
    }
    let _ = host.affinity_set(&allowed);
    stale
}
