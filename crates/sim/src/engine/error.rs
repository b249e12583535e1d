//! Why a setup can't be simulated.

use flyball_units::{CpuId, Diagnostic, KiloHertz, Nanos};

/// A setup that is not a machine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// The platform has no CPU.
    #[error("platform `{platform}` has no CPU, at least one expected")]
    NoCpu {
        /// Its name.
        platform: String,
    },
    /// A part of the platform contradicts another.
    #[error("platform `{platform}`: {what}")]
    Platform {
        /// Its name.
        platform: String,
        /// What is wrong.
        what: String,
    },
    /// A list has not one entry per clock domain.
    #[error("{list}: {found} entries for {expected} clock domains")]
    PerDomain {
        /// Which list.
        list: &'static str,
        /// Number of domains.
        expected: usize,
        /// Number of entries.
        found: usize,
    },
    /// The tick or the statistics clock has no usable rate.
    #[error("kernel `{kernel}`: {name} = {hz} Hz is outside 1..=100000")]
    Rate {
        /// The kernel's name.
        kernel: String,
        /// Which clock.
        name: &'static str,
        /// Its rate.
        hz: u32,
    },
    /// A phase is not shorter than its period.
    #[error("{name} = {found:?} is not below its period of {period:?}")]
    Phase {
        /// Which phase.
        name: &'static str,
        /// What was given.
        found: Nanos,
        /// The period.
        period: Nanos,
    },
    /// A task names a CPU that the platform does not have.
    #[error("task `{task}` is allowed on {cpu}, the platform has {cpus} CPUs")]
    UnknownCpu {
        /// The task's name.
        task: String,
        /// The CPU.
        cpu: CpuId,
        /// Number of CPUs.
        cpus: usize,
    },
    /// Something is said of a task that the setup does not have.
    #[error("{what} is about task number {task}, the setup has {tasks} tasks")]
    UnknownTask {
        /// What is said.
        what: &'static str,
        /// The task's number, from 0.
        task: u32,
        /// Number of tasks.
        tasks: usize,
    },
    /// A task's parameter is out of range.
    #[error("task `{task}`: {name} = {found} is outside {min}..={max}")]
    TaskRange {
        /// The task's name.
        task: String,
        /// Which parameter.
        name: &'static str,
        /// What was given.
        found: i64,
        /// Lowest value.
        min: i64,
        /// Highest value.
        max: i64,
    },
    /// A deadline task that the kernel would refuse.
    #[error("task `{task}`: {slip}")]
    Deadline {
        /// The task's name.
        task: String,
        /// What is wrong with it.
        slip: Box<flyball_units::Mismatch>,
    },
    /// A control group that the kernel would refuse.
    #[error("cgroup `{cgroup}`: {slip}")]
    Cgroup {
        /// The group's name.
        cgroup: String,
        /// What is wrong with it.
        slip: Box<flyball_units::Mismatch>,
    },
    /// A task is in a control group that the setup does not have.
    #[error("task `{task}` is in cgroup number {number}, the setup has {groups} cgroups")]
    UnknownCgroup {
        /// The task's name.
        task: String,
        /// The group's number, from 0.
        number: usize,
        /// Number of groups.
        groups: usize,
    },
    /// Policy limits that are not a range of the domain's operating points.
    #[error("domain `{domain}`: limits {min:?}..={max:?} hold no operating point")]
    Limits {
        /// The domain's name.
        domain: String,
        /// Lower limit.
        min: KiloHertz,
        /// Upper limit.
        max: KiloHertz,
    },
    /// A frequency that is not an operating point.
    #[error("domain `{domain}`: {which} frequency {found:?} is not an operating point")]
    NoPoint {
        /// Which frequency.
        which: &'static str,
        /// The domain's name.
        domain: String,
        /// What was given.
        found: KiloHertz,
    },
    /// A governor needs what the machine can't give.
    #[error("domain `{domain}`: governor {governor} needs {need}")]
    Need {
        /// The domain's name.
        domain: String,
        /// The governor's name.
        governor: &'static str,
        /// What it needs.
        need: &'static str,
    },
}

impl Diagnostic for SetupError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            SetupError::Phase { .. } => "phases repeat with the period: take the remainder",
            SetupError::Need { .. } => {
                "describe a thermal model for the platform, or choose another governor"
            }
            SetupError::NoPoint { .. } => {
                "take a frequency inside the clock domain's operating points"
            }
            SetupError::PerDomain { .. } => "domains ruled by hardware count as well",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
