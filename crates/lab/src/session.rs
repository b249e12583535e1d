//! What every measurement shares, whichever protocol and machine: who asks, where the run goes, who
//! watches, what records beside it, and what is left.

mod energy;
mod events;

pub use energy::{EnergyLog, EnergySide, Metered, TrialEnergy};
pub use events::{EventRecorder, EventRecorderError};

use flyball_capture::trace::Group;
use flyball_host::Host;
use flyball_run::manifest::{CheckRecord, Flyball};
use flyball_run::{Manifest, RunState, RunWriter};
use flyball_units::Nanos;
use std::path::PathBuf;

/// Who asks, for the manifest.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The command line.
    pub command: Vec<String>,
    /// Version and commit of the program.
    pub flyball: Flyball,
}

/// Where a run goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// This directory, which must not exist yet or be empty.
    Dir(PathBuf),
    /// A new directory below this one, named after the time and the kind.
    Below(PathBuf),
}

impl Destination {
    /// Makes the directory and begins its run.
    ///
    /// # Errors
    /// A directory that is not empty or cannot be made; a full disk.
    pub fn begin(&self, host: &dyn Host, manifest: &Manifest) -> flyball_run::Result<RunWriter> {
        match self {
            Destination::Dir(dir) => RunWriter::create(dir, manifest),
            Destination::Below(root) => RunWriter::create_below(root, seconds(host), manifest),
        }
    }

    /// Makes the directory for a run of `kind` that somebody else writes.
    ///
    /// # Errors
    /// As [`Destination::begin`].
    pub fn empty(&self, host: &dyn Host, kind: &str) -> flyball_run::Result<PathBuf> {
        match self {
            Destination::Dir(dir) => flyball_run::empty_dir(dir),
            Destination::Below(root) => flyball_run::new_dir_below(root, seconds(host), kind),
        }
    }

    /// One for each of `names`: itself for one alone, else folders of these names in it.
    ///
    /// # Errors
    /// As [`Destination::begin`].
    pub fn split(
        self,
        host: &dyn Host,
        kind: &str,
        names: &[String],
    ) -> flyball_run::Result<Vec<Destination>> {
        if names.len() == 1 {
            return Ok(vec![self]);
        }
        let folder = self.empty(host, kind)?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let named = |(index, name): (usize, &String)| {
            let name: String = name.chars().map(plain).collect();
            Destination::Dir(folder.join(format!("{}-{name}", index + 1)))
        };
        Ok(names.iter().enumerate().map(named).collect())
    }
}

/// The groups of events that blame needs; named, so that a kernel that lacks one says so.
pub const BLAME: [Group; 4] = [Group::Sched, Group::Frequency, Group::Idle, Group::Irq];

/// Seconds since 1970.
pub(crate) fn seconds(host: &dyn Host) -> u64 {
    host.realtime().0 / 1_000_000_000
}

/// What a measurement left.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run directory.
    pub dir: PathBuf,
    /// How it ended.
    pub state: RunState,
    /// Why it must not be believed; empty unless the state is invalid.
    pub invalid: Vec<CheckRecord>,
}

/// Somebody who watches a measurement. All methods do nothing by default.
pub trait Progress {
    /// The plan is made: how many `what` (trials, ramp-ups, ...), how long all of them take, and
    /// their order in words.
    fn planned(&mut self, _steps: usize, _what: &'static str, _total: Nanos, _order: &str) {}
    /// The same of a machine whose time is not ours: nobody waits for it.
    fn planned_in_virtual_time(&mut self, _steps: usize, _what: &'static str, _total: Nanos) {}
    /// `done` are done; this one comes now, under this condition.
    fn step(&mut self, _done: usize, _now: &str, _condition: &str) {}
    /// Something the user should know now.
    fn note(&mut self, _text: &str) {}
    /// The measuring is over; the run is being closed.
    fn closing(&mut self) {}
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// Something that records during a measurement, such as the scheduler's events, and whose rows
/// belong into the same run directory.
pub trait SideRecorder {
    /// Ends the recording and writes its rows; called once, right behind the last trial. What it
    /// says of clocks goes into the manifest, and so do the checks that it returns: they do not
    /// make the run invalid, for what was measured is good without it.
    ///
    /// # Errors
    /// A disk that takes no more.
    fn finish(
        &mut self,
        writer: &mut RunWriter,
        manifest: &mut Manifest,
    ) -> flyball_run::Result<Vec<CheckRecord>>;
}
