//! What can go wrong with a daemon.

use flyball_control::ControlError;
use flyball_governors::{TunableError, UnknownGovernor};
use flyball_host::HostError;
use flyball_units::{Diagnostic, ErrorKind, Mismatch, Nanos};

/// An error of a daemon. Unless its kind is [`ErrorKind::Restore`], everything is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GovernError {
    /// No governor has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownGovernor),
    /// A tunable was refused.
    #[error(transparent)]
    Tunable(#[from] TunableError),
    /// The governor needs something that this machine does not deliver to user space.
    #[error("{governor}: expected {need}, found {found}")]
    Unmet {
        /// The governor's name.
        governor: String,
        /// What it needs.
        need: &'static str,
        /// What this machine has.
        found: String,
        /// What to do about it.
        hint: String,
    },
    /// Polls that are shorter than what the times can tell.
    #[error(
        "{governor}: expected at least {} ms between polls, twice the resolution of {origin} ({} ms), \
         found {} ms",
        millis(.resolution.0 * 2), millis(.resolution.0), millis(.interval.0)
    )]
    TooFast {
        /// The governor's name.
        governor: String,
        /// Time between its polls.
        interval: Nanos,
        /// Resolution of the times.
        resolution: Nanos,
        /// Where the times come from.
        origin: &'static str,
        /// The tunable that sets the time between polls, and its value for the least time.
        remedy: Option<(&'static str, i64)>,
    },
    /// What the machine says, or lacks.
    #[error(transparent)]
    Unsupported(Mismatch),
    /// The loop did not come back in time; the settings were restored without it.
    #[error(
        "the loop: expected a poll at least every {} ms, found none for {} ms; the kernel has its \
         settings back",
        millis(.patience.0), millis(.late.0)
    )]
    Stalled {
        /// How long it may be late.
        patience: Nanos,
        /// How late it was.
        late: Nanos,
    },
    /// The loop failed itself.
    #[error("the loop: expected it to run, found a panic; the kernel has its settings back")]
    Panicked,
    /// A frequency could not be written, again and again.
    #[error(
        "{count} writes in a row: expected them to be taken, found the last one refused: {last}"
    )]
    Writes {
        /// How many.
        count: u32,
        /// The last error.
        last: HostError,
    },
    /// The log cannot be replayed.
    #[error("line {line}: expected {expected}, found {found}")]
    Log {
        /// Number of the line, from 1.
        line: usize,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The daemon at the socket refused.
    #[error("the daemon: {message}")]
    Refused {
        /// What it said.
        message: String,
    },
    /// The system refused a step.
    #[error("{doing}: {source}")]
    Host {
        /// What was being done.
        doing: String,
        /// Why it did not go.
        source: HostError,
    },
    /// Holding or restoring failed.
    #[error(transparent)]
    Control(#[from] ControlError),
}

fn millis(ns: u64) -> f64 {
    ns as f64 / 1e6
}

impl GovernError {
    /// The system refused a step of `doing`.
    pub(crate) fn host(doing: impl Into<String>) -> impl FnOnce(HostError) -> GovernError {
        move |source| GovernError::Host { doing: doing.into(), source }
    }
}

impl Diagnostic for GovernError {
    fn kind(&self) -> ErrorKind {
        match self {
            GovernError::Unknown(_) | GovernError::Tunable(_) | GovernError::TooFast { .. } => {
                ErrorKind::Usage
            }
            GovernError::Unmet { .. } | GovernError::Unsupported(_) => ErrorKind::Unsupported,
            GovernError::Stalled { .. }
            | GovernError::Panicked
            | GovernError::Writes { .. }
            | GovernError::Refused { .. } => ErrorKind::Own,
            GovernError::Log { .. } => ErrorKind::BadInput,
            GovernError::Host { source, .. } => source.kind().without_a_run(),
            GovernError::Control(error) => error.kind(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            GovernError::Unknown(error) => error.hint(),
            GovernError::Tunable(error) => matches!(error, TunableError::OutOfRange { .. })
                .then(|| "look at its tunables and their ranges".to_owned()),
            GovernError::Unmet { hint, .. } => Some(hint.clone()),
            GovernError::TooFast { governor, remedy: Some((name, value)), .. } => {
                Some(format!("{governor}:{name}={value}"))
            }
            GovernError::Unsupported(slip) => slip.hint.clone(),
            GovernError::Stalled { .. } => {
                Some("a driver that hangs, or a machine that is too busy: see the log".to_owned())
            }
            GovernError::Writes { .. } => Some(
                "another program may have taken the governor: see scaling_governor and the log"
                    .to_owned(),
            ),
            GovernError::Host { source, .. } => source.hint(),
            GovernError::Control(ControlError::Permission { .. }) => Some(
                "run it with sudo; following in the shadow and a dry run need no rights".to_owned(),
            ),
            GovernError::Control(error) => error.hint(),
            GovernError::TooFast { remedy: None, .. }
            | GovernError::Panicked
            | GovernError::Log { .. }
            | GovernError::Refused { .. } => None,
        }
    }
}
