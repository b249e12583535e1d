//! A capture from its start to its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_host::Host;
use flyball_run::manifest::{CheckOutcome, CheckRecord};
use flyball_units::Nanos;

use super::cost::Cost;
use super::error::CaptureError;
use super::groups::Group;
use super::reader::Reader;
use super::setup::{self, CLOCK, Setup};
use super::{BEGIN, END, recover, tracefs};

/// What to capture, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The groups that the user named: one that the kernel lacks is an error. Where none are named,
    /// [`Group::DEFAULT`], and what is missing is a note.
    pub groups: Option<Vec<Group>>,
    /// Bytes of each CPU's buffer; 4 MiB where none are given, less where the CPUs are so many that
    /// all buffers together would take more than 256 MiB.
    pub buffer_bytes: Option<u64>,
}

/// A running capture. Dropping it ends it and restores tracefs; [`Capture::stop`] also says how it
/// went.
#[derive(Debug)]
pub struct Capture {
    host: Arc<dyn Host>,
    // The reader goes first: an instance that is read cannot be removed.
    reader: Reader,
    setup: Setup,
    text: PathBuf,
    began: Nanos,
    buffer_bytes: u64,
    cpus: u64,
}

/// A capture that has ended.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The trace's text, for [`flyball_events::import`]; it names its clock itself.
    pub text: PathBuf,
    /// The groups of which something was captured.
    pub groups: Vec<Group>,
    /// The events that were on: `sched:sched_switch`, `probe:pelt_se`, ...
    pub events: Vec<String>,
    /// Bytes of each CPU's buffer.
    pub buffer_bytes: u64,
    /// What it cost.
    pub cost: Cost,
    /// What is missing and what was found, in words.
    pub notes: Vec<String>,
    /// What of ours could not be removed from tracefs: nothing, if all is well.
    pub left: Vec<String>,
}

impl Capture {
    /// Starts to capture into the new file `text`. What killed captures left behind is removed
    /// first, and noted.
    ///
    /// # Errors
    /// tracefs is not there or not ours to use; the kernel lacks a group that was named; the text
    /// cannot be written. tracefs is restored then.
    pub fn start(
        host: &Arc<dyn Host>,
        text: &Path,
        options: &Options,
    ) -> Result<Capture, CaptureError> {
        tracefs::check(host.as_ref())?;
        let recovered = recover::leftovers(host.as_ref())?;
        let cpus = setup::possible_cpus(host.as_ref());
        let buffer_bytes = options.buffer_bytes.unwrap_or_else(|| setup::buffer_bytes(cpus));
        let mut setup = Setup::new(host, buffer_bytes)?;
        let removed = recovered.removed.iter().map(|what| format!("removed {what}"));
        setup.notes.extend(removed);
        match &options.groups {
            Some(groups) => setup.enable(groups, true)?,
            None => setup.enable(&Group::DEFAULT, false)?,
        }
        let head = head(&setup);
        let reader = Reader::start(host, &setup.instance(), text, &head)?;
        setup.write("tracing_on", "1")?;
        let capture = Capture {
            host: Arc::clone(host),
            reader,
            setup,
            text: text.to_owned(),
            began: host.now(),
            buffer_bytes,
            cpus,
        };
        capture.mark(BEGIN)?;
        Ok(capture)
    }

    /// What is missing and what was found, in words, for the user.
    pub fn notes(&self) -> &[String] {
        &self.setup.notes
    }

    /// What is on, and what is missing, a line each.
    pub fn lines(&self) -> Vec<String> {
        let buffer = self.buffer_bytes as f64 / f64::from(1 << 20);
        let events = self.setup.events.len();
        let on = format!("capturing {events} kinds of events, {buffer:.2} MiB per CPU");
        let notes = self.setup.notes.iter().map(|note| format!("note: {note}"));
        std::iter::once(on).chain(notes).collect()
    }

    /// The events that are on.
    pub fn events(&self) -> &[String] {
        &self.setup.events
    }

    /// Bytes of each CPU's buffer.
    pub fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }

    /// Leaves a marker in the trace.
    ///
    /// # Errors
    /// The system's.
    pub fn mark(&self, text: &str) -> Result<(), CaptureError> {
        self.setup.write("trace_marker", text)
    }

    /// Ends the capture, reads what is left, and restores tracefs. That something could not be
    /// restored is in [`Captured::left`], because the events are there all the same.
    ///
    /// # Errors
    /// The text could not be read or written to its end. tracefs is restored then, too.
    pub fn stop(mut self) -> Result<Captured, CaptureError> {
        let marked = self.mark(END);
        let off = self.setup.write("tracing_on", "0");
        let elapsed = self.host.now().since(self.began);
        let tally = self.reader.stop();
        let done = marked.and(off).and(tally).map(|tally| {
            let cost = Cost::of(self.host.as_ref(), &self.setup, &tally, elapsed);
            Cost { buffer_bytes: self.buffer_bytes * self.cpus, ..cost }
        });
        let left = self.setup.remove();
        let cost = done?;
        Ok(Captured {
            text: self.text.clone(),
            groups: std::mem::take(&mut self.setup.groups),
            events: std::mem::take(&mut self.setup.events),
            buffer_bytes: self.buffer_bytes,
            cost,
            notes: std::mem::take(&mut self.setup.notes),
            left,
        })
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // Or the reader, which ends next, would have to keep up with what goes on. After `stop`
        // there is nothing to switch off any more.
        let _ = self.setup.write("tracing_on", "0");
    }
}

impl Captured {
    /// For the manifest: lost events, and whether tracefs is as it was.
    pub fn checks(&self) -> Vec<CheckRecord> {
        let restored = self.left.is_empty();
        let found = if restored { "nothing".to_owned() } else { self.left.join("; ") };
        let restore = CheckRecord {
            name: "capture restored".to_owned(),
            outcome: if restored { CheckOutcome::Passed } else { CheckOutcome::Failed },
            object: tracefs::ROOT.to_owned(),
            expected: "nothing of this capture left".to_owned(),
            found,
            hint: (!restored).then(|| "recover what is left in tracefs, as root".to_owned()),
        };
        vec![self.cost.check(), restore]
    }
}

/// The top of the text: what `trace_pipe` does not say.
fn head(setup: &Setup) -> String {
    format!("# tracer: nop\n#\n# clock: {CLOCK}\n# events: {}\n#\n", setup.events.join(" "))
}
