//! What a log holds: every event with the decision that it led to, in the words of the model.

use crate::DomainRecord;
use flyball_governors::{Decision, Event};
use flyball_units::{KiloHertz, Nanos};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// One line of a log. With the start of a domain and its steps in order, [`crate::replay`] comes to
/// the same decisions.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry<'a> {
    /// A governor takes over a domain: at the beginning, after `switch`, when its CPUs come back.
    Start {
        /// When, on the machine's monotonic clock.
        t_ns: Nanos,
        /// The policy.
        domain: String,
        /// The governor.
        governor: String,
        /// All of its tunables.
        tunables: BTreeMap<String, i64>,
        /// What it was told of the domain.
        view: DomainRecord,
        /// What it answered.
        decision: Decision,
    },
    /// A governor was told something, and answered.
    Step {
        /// When.
        t_ns: Nanos,
        /// The policy.
        domain: &'a str,
        /// What it was told.
        event: Event<'static>,
        /// What it answered.
        decision: Decision,
        /// The operating point that the answer became, where it asked for a frequency.
        resolved_khz: Option<KiloHertz>,
        /// Whether the kernel was told: not where nothing changes, and never in the shadow.
        written: bool,
        /// What the machine claimed then; in the shadow only.
        machine_khz: Option<KiloHertz>,
        /// Time from reading to the end of writing.
        cost_ns: u32,
    },
    /// A tunable was set while it ran, in all domains.
    Set {
        /// When.
        t_ns: Nanos,
        /// The tunable.
        name: String,
        /// Its new value.
        value: i64,
    },
    /// Something else that happened.
    Note {
        /// When.
        t_ns: Nanos,
        /// The policy, where it is about one.
        domain: Option<&'a str>,
        /// What.
        #[serde(flatten)]
        note: Note,
    },
}

/// What may happen to a daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// Another program set the policy's limits.
    LimitsChanged {
        /// The lower one now.
        min_khz: KiloHertz,
        /// The upper one now.
        max_khz: KiloHertz,
    },
    /// Another program, or a cooling device, moved the limits by which this daemon sets the
    /// frequency; they are set again.
    LimitsTaken {
        /// The lower one found.
        min_khz: KiloHertz,
        /// The upper one found.
        max_khz: KiloHertz,
    },
    /// Another program set another governor: the domain is left to it.
    GovernorTaken,
    /// The governor is `userspace` again: the domain is ruled again.
    GovernorBack,
    /// All CPUs of the domain went offline.
    DomainGone,
    /// A CPU of the domain is online again, the first one.
    DomainBack,
    /// The machine was suspended.
    Suspended {
        /// For how long.
        for_ns: Nanos,
    },
    /// The kernel refused a frequency.
    WriteFailed {
        /// The number of the error.
        errno: i32,
    },
    /// The CPUs' times could not be read.
    ReadFailed {
        /// The number of the error; 0 where the text made no sense.
        errno: i32,
    },
    /// A wish to be woken was met later than by a whole poll.
    Late {
        /// How late.
        by_ns: Nanos,
    },
    /// The daemon ended; nothing follows.
    Ended,
    /// Records that did not fit into the ring since the last such note.
    Dropped {
        /// How many.
        records: u64,
    },
}

/// Where a log goes. Called in the writer's thread.
pub trait Sink: Send {
    /// Takes an entry.
    ///
    /// # Errors
    /// What went wrong, for people; nothing more comes after that.
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), String>;

    /// Hands over what was taken so far.
    ///
    /// # Errors
    /// As [`Sink::entry`].
    fn flush(&mut self) -> Result<(), String>;
}

/// NDJSON: one line per entry.
#[derive(Debug)]
pub struct Lines<W: Write + Send>(W);

impl<W: Write + Send> Lines<W> {
    /// Lines into `out`, which should be buffered.
    pub fn new(out: W) -> Lines<W> {
        Lines(out)
    }

    /// What was written into.
    pub fn into_inner(self) -> W {
        self.0
    }
}

impl<W: Write + Send> Sink for Lines<W> {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), String> {
        serde_json::to_writer(&mut self.0, entry).map_err(|error| error.to_string())?;
        self.0.write_all(b"\n").map_err(|error| error.to_string())
    }

    fn flush(&mut self) -> Result<(), String> {
        self.0.flush().map_err(|error| error.to_string())
    }
}
