//! Whether somebody controls clamps, or left some.

use crate::QosError;
use crate::journal::{boot_id, read};
use flyball_host::{Host, ProcessIdentity};
use flyball_units::Nanos;
use serde::Serialize;
use std::path::Path;

/// What the journal says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Status {
    /// Nobody, and nothing was left.
    Idle,
    /// A controller runs.
    Running {
        /// The controller.
        owner: ProcessIdentity,
        /// For how long.
        #[serde(rename = "elapsed_ns")]
        elapsed: Nanos,
        /// Whether its guardian runs.
        guarded: bool,
        /// The ramp's multiplier; none where threads differ in it.
        multiplier: Option<u32>,
        /// Processes that it took in and that still run.
        processes: Vec<ProcessIdentity>,
    },
    /// A controller died, and so did its guardian: threads may have clamps still.
    Left {
        /// The controller.
        owner: ProcessIdentity,
        /// Processes that it took in and that still run.
        processes: Vec<ProcessIdentity>,
    },
}

/// Looks; nothing is changed.
///
/// # Errors
/// A journal that cannot be read, or is not ours.
pub fn status(host: &dyn Host, folder: &Path) -> Result<Status, QosError> {
    let Some(journal) = read(host, folder)? else { return Ok(Status::Idle) };
    if boot_id(host).map_err(QosError::host("reading the boot's id"))? != journal.boot_id {
        return Ok(Status::Idle);
    }
    let mut processes = journal.processes;
    processes.retain(|process| process.is_alive(host));
    let guarded = journal.guardian.is_some_and(|guardian| guardian.is_alive(host));
    let owner = journal.owner;
    Ok(match owner.is_alive(host) {
        true => Status::Running {
            owner,
            elapsed: host.realtime().since(journal.created),
            guarded,
            multiplier: journal.multiplier,
            processes,
        },
        false => Status::Left { owner, processes },
    })
}
