//! Why a load did not start, or did not run.

use super::GeneratorKind;
use super::proof::LoadProof;
use flyball_host::HostError;
use flyball_units::{CpuId, CpuSet, Diagnostic, ErrorKind, Mismatch};

/// A load that can't be generated, or that did not run as asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LoadError {
    /// The profile can't be read.
    #[error(transparent)]
    Profile(#[from] Mismatch),
    /// The profile does not fit this machine.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The machine refused something that a load thread needs.
    #[error("load thread {thread} on CPUs {cpus}: {source}")]
    Thread {
        /// Number of the thread in the profile, from 0.
        thread: usize,
        /// Where it was to run.
        cpus: CpuSet,
        /// What was refused.
        source: HostError,
    },
    /// A load thread ended although nobody had asked it to.
    #[error("load thread {thread} on CPUs {cpus} ended by itself: {reason}")]
    Ended {
        /// Number of the thread in the profile, from 0.
        thread: usize,
        /// Where it ran.
        cpus: CpuSet,
        /// How it ended.
        reason: String,
    },
    /// The memory that the profile asks for is not there.
    #[error(
        "load of kind memory: {threads} buffers of {bytes} bytes wanted, {available} bytes available"
    )]
    Memory {
        /// How many buffers.
        threads: u64,
        /// Size of one.
        bytes: u64,
        /// What the system has available.
        available: u64,
    },
    /// The generator can't be used here.
    #[error("load generator {generator} is not available here: {reason}")]
    Unavailable {
        /// The generator.
        generator: GeneratorKind,
        /// Why not.
        reason: String,
    },
    /// Something else that the machine refused.
    #[error("load: {0}")]
    Host(#[from] HostError),
    /// The load ran, but not as asked: the condition is not what it says it is.
    #[error("the load did not run as asked: {}", .0.why.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    NotProven(Box<LoadProof>),
}

/// A profile that asks for what this machine does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// CPUs that are offline, absent or forbidden.
    #[error("load: CPUs {missing} are not usable: expected some of {usable}")]
    NotUsable {
        /// Those that can't be used.
        missing: CpuSet,
        /// Those that can.
        usable: CpuSet,
    },
    /// More pinned threads than CPUs.
    #[error("load: {wanted} pinned threads wanted, {usable} CPUs usable")]
    TooMany {
        /// Threads of the group.
        wanted: u32,
        /// CPUs.
        usable: usize,
    },
    /// One CPU would have to give more than all of itself.
    #[error("load: {cpu} would need {percent} % of itself")]
    CpuOverfull {
        /// The CPU.
        cpu: CpuId,
        /// What all its pinned threads want together.
        percent: u64,
    },
    /// The CPUs together would have to give more than they have.
    #[error("load: {wanted} % wanted of CPUs {usable}, which have {available} %")]
    Overfull {
        /// Sum over all threads.
        wanted: u64,
        /// The CPUs.
        usable: CpuSet,
        /// 100 for each CPU.
        available: u64,
    },
    /// Something is measured on every CPU.
    #[error(
        "load: cpus=others: expected a CPU on which nothing is measured, found none of {usable}"
    )]
    NoOthers {
        /// The CPUs.
        usable: CpuSet,
    },
    /// No CPU to run on.
    #[error("load: no CPU is usable")]
    NoCpu,
}

impl PlacementError {
    /// What would fit.
    pub fn hint(&self) -> Option<String> {
        match self {
            PlacementError::NotUsable { usable, .. } => Some(format!(
                "cpus={usable}, or bring the others online; a cpuset or taskset narrows the choice, too"
            )),
            PlacementError::TooMany { usable, .. } => {
                Some(format!("at most {usable} pinned threads"))
            }
            PlacementError::CpuOverfull { .. } => {
                Some("let the groups use different CPUs, or lower the percentages".to_owned())
            }
            PlacementError::Overfull { .. } => {
                Some("fewer threads, or a lower percentage".to_owned())
            }
            PlacementError::NoOthers { .. } => {
                Some("pin the condition to some of them: placement = \"cpu1\"".to_owned())
            }
            PlacementError::NoCpu => None,
        }
    }
}

impl Diagnostic for LoadError {
    fn hint(&self) -> Option<String> {
        match self {
            LoadError::Profile(slip) => slip.hint.clone(),
            LoadError::Placement(error) => error.hint(),
            LoadError::Thread { source, .. } | LoadError::Host(source) => source.hint(),
            LoadError::Ended { .. } => None,
            LoadError::Memory { .. } => Some("buffer=64MiB, or fewer threads".to_owned()),
            LoadError::Unavailable { generator: GeneratorKind::StressNg, .. } => Some(
                "sudo apt install stress-ng (Debian, Ubuntu; elsewhere the package has the same \
                 name), or leave out generator=stress-ng"
                    .to_owned(),
            ),
            LoadError::Unavailable { .. } => {
                Some("load can only run on the machine itself".to_owned())
            }
            LoadError::NotProven(proof) => proof.hint(),
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            LoadError::Profile(_) | LoadError::Placement(_) => ErrorKind::BadInput,
            LoadError::Thread { source, .. } | LoadError::Host(source) => source.kind(),
            LoadError::Unavailable { .. } => ErrorKind::Unsupported,
            LoadError::Memory { .. } | LoadError::Ended { .. } => ErrorKind::System,
            LoadError::NotProven(_) => ErrorKind::NotApplied,
        }
    }
}
