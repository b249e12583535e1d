//! The only door to Linux.
//!
//! Everything Flyball knows about a machine, and everything it asks of one, passes through the
//! trait [`Host`]: files of sysfs and /proc, clocks, scheduling, counters, child processes. Three
//! machines stand behind it:
//!
//! - [`RealHost`]: this Linux machine (on other systems it knows time and files, and refuses the rest),
//! - [`RecordedHost`]: a folder captured by [`snapshot::capture`], in virtual time,
//! - [`FaultyHost`]: another host, some of whose calls fail as told.
//!
//! [`Topology`], [`Surroundings`] and [`Permissions`] are built on the trait alone, so they work on all three. Every
//! setting is applied to the calling thread and read back there: an affinity that was set in
//! another thread than the one that measures has spoilt published results.
//!
//! All `unsafe` of the program lives in `sys` and `arch`.

pub mod arch;
mod calibrate;
mod call;
mod cgroup;
mod errno;
mod error;
mod fault;
mod faulty;
mod files;
mod host;
pub mod hot;
mod identity;
mod machine;
pub mod manifest;
mod permissions;
mod private;
mod process;
mod procfs;
mod program;
mod real;
mod recorded;
pub mod snapshot;
mod sys;
mod task;
mod tree;
mod types;
mod usage;

pub use call::Call;
pub use cgroup::{CGROUPS, Membership};
pub use errno::Errno;
pub use error::HostError;
pub use fault::{Effect, Fault, FaultError};
pub use faulty::FaultyHost;
pub use host::{Host, HostKind};
pub use identity::{ProcessIdentity, ThreadIdentity};
pub use machine::core_types::CoreType;
pub use machine::cpus::{Cpu, Node};
pub use machine::energy::{EnergyCounter, EnergyKind};
pub use machine::idle::{Idle, IdleGroup, IdleState};
pub use machine::kernel::Kernel;
pub use machine::policies::{FrequencyScaling, Policy};
pub use machine::processor::{ArmPart, Processor, Product};
pub use machine::sensors::TemperatureSensor;
pub use machine::surroundings::Surroundings;
pub use machine::surroundings::clocks::{EnergyBias, IntelLimits, LatencyBound, PolicyDetail};
pub use machine::surroundings::heat::{CoolingDevice, ThermalZone, Throttled, Trip};
pub use machine::surroundings::interrupts::Interrupt;
pub use machine::surroundings::kernel_work::KernelWork;
pub use machine::surroundings::memory::Memory;
pub use machine::surroundings::power::{PowerLimit, Supply};
pub use machine::surroundings::processes::{
    IdleLatencyHolders, Process, WATCHED, WATCHED_SERVICES,
};
pub use machine::surroundings::quota::CpuQuota;
pub use machine::topology::Topology;
pub use machine::virtualization::Virtualization;
pub use permissions::{Grant, Permission, Permissions, Power};
pub use private::{FolderLock, check_trusted};
pub use process::{Child, Exit, Input, Output, ProcessSpec, Signal, Status};
pub use program::run_program;
pub use real::RealHost;
pub use recorded::RecordedHost;
pub use sys::bell::Bell;
pub use sys::bpf::{Bpf, BpfLink, BpfMap, BpfProgram, BpfTypes};
pub use sys::cycles::CycleCounter;
pub use sys::dma_latency::IdleLatencyHold;
#[cfg(target_os = "linux")]
pub use sys::huge::HugePages;
pub use sys::kept::{Access, KeptFile};
pub use sys::programs::{Guest, Knock, ProgramSocket};
pub use sys::schedstat::SchedStatReader;
pub use sys::signal::{end_on_signals, end_soon, last as last_signal};
pub use sys::socket::{ControlSocket, Visitor};
pub use sys::stream::Stream;
pub use sys::watch::SwitchWatch;
pub use task::Task;
pub use types::{
    BpfMapSpec, BpfProgramSpec, CounterRate, CpuTime, CpuTimes, Cycles, FairShare, Listen,
    SchedStat, Scheduling, SchedulingError, Switch, SwitchRecord, ThreadUsage, Wake, Watched,
    Woken,
};
pub use usage::{CpuUsage, ProcessTimes};

/// The device behind [`Host::hold_idle_latency`].
fn dma_latency_path() -> &'static std::path::Path {
    std::path::Path::new(sys::dma_latency::PATH)
}
