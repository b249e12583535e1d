//! The writer thread.

use super::housekeeping::Housekeeper;
use super::{Finished, TelemetryOptions};
use crate::protocol::windows::trial::{StopFlag, TrialLabels, WindowRecord};
use flyball_host::{Host, Scheduling};
use flyball_probe::Calibrations;
use flyball_run::{CpuUser, FrequencySample, LoadSample, Manifest, Note, RunWriter};
use flyball_units::{CpuSet, Diagnostic};
use rtrb::Consumer;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The ring is emptied at least this often; the run directory hands rows to the system five
/// times a second, so a killed run loses less than half a second.
const DRAIN_EVERY: Duration = Duration::from_millis(50);

/// The writer gives way to everything that is measured.
const NICE: i32 = 10;

/// What other threads send.
#[derive(Debug)]
pub(super) enum Message {
    Begin(TrialLabels),
    Frequency(FrequencySample),
    Load(LoadSample),
    Note(Note),
    CpuUser(CpuUser),
    Manifest(Box<Manifest>),
    Calibrations(Calibrations),
    Finish,
}

pub(super) struct Writer {
    host: Arc<dyn Host>,
    writer: RunWriter,
    stop: StopFlag,
    messages: Receiver<Message>,
    ring: Consumer<WindowRecord>,
    measured: CpuSet,
    calibrations: Calibrations,
    labels: HashMap<u32, TrialLabels>,
    housekeeper: Housekeeper,
    windows: u64,
    skipped: u64,
    finishing: bool,
    error: Option<flyball_run::Error>,
}

impl Writer {
    pub(super) fn new(
        host: Arc<dyn Host>,
        writer: RunWriter,
        options: TelemetryOptions,
        stop: StopFlag,
        messages: Receiver<Message>,
        ring: Consumer<WindowRecord>,
    ) -> Writer {
        let housekeeper = Housekeeper::new(Arc::clone(&host), options.claimed_frequency);
        Writer {
            host,
            writer,
            stop,
            messages,
            ring,
            measured: options.measured,
            calibrations: options.calibrations,
            labels: HashMap::new(),
            housekeeper,
            windows: 0,
            skipped: 0,
            finishing: false,
            error: None,
        }
    }

    /// Writes until told to finish, or until all senders are gone.
    pub(super) fn run(mut self) -> Finished {
        self.keep_out_of_the_way();
        while !self.finishing {
            match self.messages.recv_timeout(DRAIN_EVERY) {
                Ok(message) => self.attempt(|this| this.take(message)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.finishing = true,
            }
            self.attempt(Writer::drain_messages);
            self.attempt(Writer::drain_ring);
            self.attempt(Writer::keep_house);
        }
        self.attempt(|this| this.writer.flush());
        Finished {
            writer: self.writer,
            windows: self.windows,
            skipped: self.skipped,
            dropped: 0,
            steal: self.housekeeper.steal(),
            error: self.error,
        }
    }

    /// Nice 10, and off the measured CPUs. A machine that refuses, or has no CPU to spare, costs
    /// accuracy, not correctness: the run says so.
    fn keep_out_of_the_way(&mut self) {
        let mut remarks = Vec::new();
        if let Err(error) = self.host.scheduling_set(Scheduling::Other { nice: NICE }) {
            remarks.push((error.to_string(), error.hint()));
        }
        let spare = self.host.affinity_get().map(|allowed| allowed.difference(&self.measured));
        match spare {
            Ok(spare) if spare.is_empty() => remarks.push((
                "all allowed CPUs are measured: writing shares one of them".to_owned(),
                Some("allow the program one more CPU than it measures".to_owned()),
            )),
            Ok(spare) => {
                if let Err(error) = self.host.affinity_set(&spare) {
                    remarks.push((error.to_string(), error.hint()));
                }
            }
            Err(error) => remarks.push((error.to_string(), error.hint())),
        }
        for (message, hint) in remarks {
            let t_ns = Some(self.host.now().0);
            let object = "telemetry thread".to_owned();
            let note = Note { t_ns, severity: "info".to_owned(), object, message, hint };
            self.attempt(|this| this.writer.note(&note));
        }
    }

    /// Does one step, unless the disk has failed: then nothing is written any more. The first
    /// failure stops the trials.
    fn attempt(&mut self, step: impl FnOnce(&mut Writer) -> flyball_run::Result<()>) {
        if let Err(error) = step(self)
            && self.error.is_none()
        {
            self.error = Some(error);
            self.stop.raise();
        }
    }

    fn drain_messages(&mut self) -> flyball_run::Result<()> {
        while let Ok(message) = self.messages.try_recv() {
            self.take(message)?;
        }
        Ok(())
    }

    fn take(&mut self, message: Message) -> flyball_run::Result<()> {
        let broken = self.error.is_some();
        match message {
            Message::Finish => self.finishing = true,
            Message::Begin(labels) => {
                self.housekeeper.begin(&labels);
                self.labels.insert(labels.trial, labels);
            }
            Message::Calibrations(calibrations) => self.calibrations = calibrations,
            _ if broken => {}
            Message::Frequency(row) => self.writer.frequency(&row)?,
            Message::Load(row) => self.writer.load(&row)?,
            Message::Note(row) => self.writer.note(&row)?,
            Message::CpuUser(row) => self.writer.append(&row)?,
            Message::Manifest(manifest) => self.writer.update_manifest(&manifest)?,
        }
        Ok(())
    }

    fn drain_ring(&mut self) -> flyball_run::Result<()> {
        while let Ok(record) = self.ring.pop() {
            if self.error.is_none() {
                self.write(&record)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, record: &WindowRecord) -> flyball_run::Result<()> {
        if !self.labels.contains_key(&record.trial) {
            // `begin` was sent before the trial began, so it waits in the channel.
            self.drain_messages()?;
        }
        let unknown = TrialLabels { trial: record.trial, ..TrialLabels::default() };
        let labels = self.labels.get(&record.trial).unwrap_or(&unknown);
        let row = record.row(self.windows, labels, &self.calibrations);
        self.writer.window(&row)?;
        self.windows += 1;
        if record.skipped_before > 0 {
            self.skipped += record.skipped_before;
            let note = skipped_note(record, labels);
            self.writer.note(&note)?;
        }
        Ok(())
    }

    fn keep_house(&mut self) -> flyball_run::Result<()> {
        if self.error.is_none() {
            self.housekeeper.tick(&mut self.writer)?;
            self.writer.tick(self.host.now())?;
        }
        Ok(())
    }
}

/// Skipped releases are never dropped silently: they leave a gap in `index`, and this remark.
fn skipped_note(record: &WindowRecord, labels: &TrialLabels) -> Note {
    let first = record.index - record.skipped_before.min(record.index);
    Note {
        t_ns: Some(record.release.0),
        severity: "warning".to_owned(),
        object: format!("trial {}, {} under {}", labels.trial, labels.workload, labels.condition),
        message: format!(
            "{} releases missed, from index {first}: the window before overran its period",
            record.skipped_before
        ),
        hint: Some("choose a longer period, or a smaller workload".to_owned()),
    }
}
