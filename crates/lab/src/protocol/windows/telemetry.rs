//! From the ring to the run directory, in a thread of its own.
//!
//! ```text
//! measuring thread -- ring of WindowRecord ------\
//!                                                 writer thread -> RunWriter
//! everybody else ---- channel of rows (RowSender)-/      |
//!                                          once a second: claimed frequency, steal
//! ```
//!
//! The measuring thread only pushes into the ring: a full ring is counted, never waited for. The
//! writer thread runs at nice 10 and stays off the CPUs that are measured, where others exist.

mod housekeeping;
mod ring;
mod writer;

pub use ring::{Kept, Recorder};

use crate::protocol::windows::trial::{StopFlag, TrialError, TrialLabels};
use flyball_host::Host;
use flyball_probe::{Calibration, Calibrations};
use flyball_run::{CpuUser, FrequencySample, LoadSample, Manifest, Note, RunWriter};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use writer::{Message, Writer};

/// How the telemetry is set up.
#[derive(Clone, Debug)]
pub struct TelemetryOptions {
    /// Windows that the ring holds. At a period of 1 ms, 8192 are 8 s: far more than a writer
    /// ever stalls.
    pub ring_windows: usize,
    /// CPUs that are measured: the writer stays off them where others are left.
    pub measured: CpuSet,
    /// What the probes' ticks mean.
    pub calibrations: Calibrations,
    /// Whether to sample what cpufreq claims, once a second.
    pub claimed_frequency: bool,
}

impl Default for TelemetryOptions {
    fn default() -> Self {
        TelemetryOptions {
            ring_windows: 8192,
            measured: CpuSet::new(),
            calibrations: Calibrations::default(),
            claimed_frequency: true,
        }
    }
}

/// What the writer did.
#[derive(Debug)]
pub struct Finished {
    /// The run directory, everything flushed as far as the disk allowed.
    pub writer: RunWriter,
    /// Windows written.
    pub windows: u64,
    /// Releases skipped in all trials.
    pub skipped: u64,
    /// Records that found the ring full: the run is invalid where this is not zero.
    pub dropped: u64,
    /// Time that the hypervisor took from each CPU that lost any.
    pub steal: Vec<(CpuId, Nanos)>,
    /// The first error of the disk; the trials were stopped by it.
    pub error: Option<flyball_run::Error>,
}

/// The running writer thread.
#[derive(Debug)]
pub struct Telemetry {
    rows: RowSender,
    stop: StopFlag,
    thread: JoinHandle<Finished>,
}

impl Telemetry {
    /// Starts the writer thread and hands out the measuring thread's end of the ring. An error of
    /// the disk raises `stop`; the rest of the run is then discarded, and the error is in
    /// [`Finished`].
    ///
    /// # Errors
    /// Where no thread can be started.
    pub fn start(
        host: Arc<dyn Host>,
        writer: RunWriter,
        options: TelemetryOptions,
        stop: StopFlag,
    ) -> Result<(Telemetry, Recorder), TrialError> {
        let (recorder, consumer) = ring::ring(options.ring_windows);
        let (sender, messages) = channel();
        let state = Writer::new(host, writer, options, stop.clone(), messages, consumer);
        let thread = std::thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || state.run())
            .map_err(|error| TrialError::Thread {
                thread: "telemetry",
                found: error.to_string(),
            })?;
        Ok((Telemetry { rows: RowSender(sender), stop, thread }, recorder))
    }

    /// A sender of rows for other threads.
    pub fn rows(&self) -> RowSender {
        self.rows.clone()
    }

    /// The flag that an error of the disk raises.
    pub fn stop_flag(&self) -> &StopFlag {
        &self.stop
    }

    /// Writes everything that is left, flushes, and ends the thread.
    ///
    /// # Errors
    /// Where the thread has died. An error of the disk is in [`Finished`].
    pub fn finish(self, recorder: Recorder) -> Result<Finished, TrialError> {
        let dropped = recorder.dropped();
        self.rows.send(Message::Finish);
        let mut finished = self
            .thread
            .join()
            .map_err(|_| TrialError::Thread { thread: "telemetry", found: "a panic".to_owned() })?;
        finished.dropped = dropped;
        Ok(finished)
    }
}

/// Sends rows to the writer thread. Cheap to clone; never blocks. Not for the measured loop: it
/// allocates.
#[derive(Clone, Debug)]
pub struct RowSender(Sender<Message>);

impl RowSender {
    /// From now on windows of the trial `labels.trial` may come. Call it before the trial.
    pub fn begin(&self, labels: TrialLabels) {
        self.send(Message::Begin(labels));
    }

    /// A frequency sample.
    pub fn frequency(&self, row: FrequencySample) {
        self.send(Message::Frequency(row));
    }

    /// A load sample.
    pub fn load(&self, row: LoadSample) {
        self.send(Message::Load(row));
    }

    /// A remark.
    pub fn note(&self, row: Note) {
        self.send(Message::Note(row));
    }

    /// Who used the CPUs for a stretch of time.
    pub fn cpu_user(&self, row: CpuUser) {
        self.send(Message::CpuUser(row));
    }

    /// Replaces the manifest.
    pub fn manifest(&self, manifest: Manifest) {
        self.send(Message::Manifest(Box::new(manifest)));
    }

    /// Replaces the calibrations that later windows are converted by.
    pub fn calibrations(&self, calibrations: Vec<Calibration>) {
        self.send(Message::Calibrations(Calibrations(calibrations)));
    }

    fn send(&self, message: Message) {
        // The receiver lives until Finish; after it there is nobody left to tell.
        let _ = self.0.send(message);
    }
}
