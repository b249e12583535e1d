//! Whether somebody controls clamps, or left some.

use crate::journal::{boot_id, qos_folder, read};
use crate::{Backend, By, QosError, Served, backend, served};
use flyball_host::{Host, ProcessIdentity};
use flyball_units::Nanos;
use serde::Serialize;
use std::path::{Path, PathBuf};

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
        /// Where programs may ask for themselves.
        #[serde(skip_serializing_if = "Option::is_none")]
        socket: Option<PathBuf>,
        /// Processes that it took in and that still run.
        processes: Vec<ProcessIdentity>,
        /// Whether it raises the lower limits of frequencies, and not clamps.
        limits: bool,
    },
    /// A controller died, and so did its guardian: threads may have clamps still.
    Left {
        /// The controller.
        owner: ProcessIdentity,
        /// Processes that it took in and that still run.
        processes: Vec<ProcessIdentity>,
        /// Whether it raised the lower limits of frequencies, and not clamps.
        limits: bool,
    },
}

/// How it is done on a machine, whether it is being done, and who asks for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// How it is done by clamps.
    pub backend: Option<Backend>,
    /// ... by a program in the kernel.
    pub inside: Option<Backend>,
    /// ... by the lower limits of CPUs.
    pub limits: Option<Backend>,
    /// Whether it is being done.
    pub controller: Status,
    /// Programs at the socket.
    pub programs: Option<Served>,
    /// Why it cannot be done at all.
    #[serde(skip)]
    pub refused: Option<QosError>,
}

/// Looks at all of it; nothing is changed.
///
/// # Errors
/// As [`status`].
pub fn overview(host: &dyn Host) -> Result<Overview, QosError> {
    let controller = status(host, &qos_folder(host)?)?;
    let socket = match &controller {
        Status::Running { socket, .. } => socket.as_deref(),
        _ => None,
    };
    let programs = served(host, socket);
    let [clamps, inside, limits] =
        [By::Clamps, By::SchedExt, By::Limits].map(|by| backend(host, by));
    let refused = clamps.as_ref().err().filter(|_| inside.is_err() && limits.is_err()).cloned();
    let (backend, inside, limits) = (clamps.ok(), inside.ok(), limits.ok());
    Ok(Overview { backend, inside, limits, controller, programs, refused })
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
            socket: journal.socket,
            processes,
            limits: journal.limits,
        },
        false => Status::Left { owner, processes, limits: journal.limits },
    })
}
