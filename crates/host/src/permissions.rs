//! What this process may do, and the command that grants what it may not. Nothing is left changed:
//! real time is tried in a thread that ends at once; the rest is asked, not done.

use crate::error::SETCAP;
use crate::{CGROUPS, Call, Host, HostError, Membership, Scheduling, dma_latency_path};
use flyball_units::{Diagnostic, ErrorKind};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Something that needs a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Power {
    /// Real-time scheduling: FIFO, round robin, deadline.
    RealTime,
    /// Locking memory.
    LockMemory,
    /// Counting cycles.
    CycleCounters,
    /// Bounding the latency of idle states.
    IdleLatency,
    /// Tracing the kernel.
    Tracing,
    /// Setting governors and frequencies.
    FrequencyControl,
}

/// Whether a power is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Grant {
    /// It is.
    Granted,
    /// It could be.
    Denied {
        /// What stands in the way.
        reason: String,
        /// The command that grants it.
        command: String,
    },
    /// Not on this machine.
    Impossible {
        /// Why not.
        reason: String,
    },
}

/// A power and whether it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permission {
    /// The power.
    pub power: Power,
    /// Whether it is there.
    #[serde(flatten)]
    pub grant: Grant,
}

/// All powers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permissions {
    /// One entry per [`Power`].
    pub all: Vec<Permission>,
}

impl Power {
    /// What it is called in a report.
    pub const fn name(self) -> &'static str {
        match self {
            Power::RealTime => "real-time scheduling",
            Power::LockMemory => "locked memory",
            Power::CycleCounters => "cycle counters",
            Power::IdleLatency => "bounded idle latency",
            Power::Tracing => "kernel tracing",
            Power::FrequencyControl => "frequency control",
        }
    }
}

// Bits of include/uapi/linux/capability.h.
const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_NICE: u32 = 23;

impl Permissions {
    /// Asks for everything.
    pub fn probe(host: &dyn Host) -> Permissions {
        let grants = [
            (Power::RealTime, real_time(host)),
            (Power::LockMemory, lock_memory(host)),
            (Power::CycleCounters, cycle_counters(host)),
            (Power::IdleLatency, idle_latency(host)),
            (Power::Tracing, tracing(host)),
            (Power::FrequencyControl, frequency_control(host)),
        ];
        let all = grants.into_iter().map(|(power, grant)| Permission { power, grant });
        Permissions { all: all.collect() }
    }

    /// Whether `power` is there.
    pub fn grants(&self, power: Power) -> bool {
        self.get(power) == Some(&Grant::Granted)
    }

    /// The state of `power`.
    pub fn get(&self, power: Power) -> Option<&Grant> {
        self.all.iter().find(|permission| permission.power == power).map(|found| &found.grant)
    }
}

/// Tries FIFO at the lowest priority, in a thread of its own that ends at once.
pub(crate) fn try_real_time(host: &dyn Host) -> Result<(), HostError> {
    let fifo = Scheduling::Fifo { priority: 1 };
    std::thread::scope(|scope| {
        let scratch = std::thread::Builder::new().name("flyball-probe".to_owned());
        let fail = |error: &std::io::Error| {
            HostError::call(Call::SchedulingSet, fifo, crate::Errno::of(error))
        };
        let thread = scratch
            .spawn_scoped(scope, || host.scheduling_set(fifo))
            .map_err(|error| fail(&error))?;
        // A panic there would be a defect of the host; it must not become one of the caller.
        thread.join().unwrap_or_else(|_| {
            Err(HostError::unsupported(Call::SchedulingSet, fifo, "the scratch thread panicked"))
        })
    })
}

fn real_time(host: &dyn Host) -> Grant {
    let Err(error) = try_real_time(host) else { return Grant::Granted };
    if error.kind() != ErrorKind::Permission {
        return Grant::Impossible { reason: error.to_string() };
    }
    // With the capability and still refused: then it is the control group.
    let no_budget = has_capability(host, CAP_SYS_NICE).then(|| rt_group_file(host)).flatten();
    match no_budget {
        Some(file) => Grant::Denied {
            reason: format!("this control group has no real-time budget: {file} is 0"),
            command: format!("echo 950000 | sudo tee {file}"),
        },
        None => Grant::Denied {
            reason: "needs CAP_SYS_NICE, or a limit of real-time priority (ulimit -r)".to_owned(),
            command: SETCAP.to_owned(),
        },
    }
}

/// The file that gives this process's control group (version 1) no real-time budget.
fn rt_group_file(host: &dyn Host) -> Option<String> {
    let groups = host.read(Path::new("/proc/thread-self/cgroup")).ok()?;
    let group = Membership::all(&groups).find(|group| group.has("cpu"))?;
    let file = format!("{CGROUPS}/cpu{}/cpu.rt_runtime_us", group.path.trim_end_matches('/'));
    let budget = host.read(Path::new(&file)).ok()?;
    (budget.trim() == "0").then_some(file)
}

/// Whether this thread has a capability, by `CapEff` of its status.
fn has_capability(host: &dyn Host, bit: u32) -> bool {
    let status = host.read(Path::new("/proc/thread-self/status")).unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = bits.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> bit & 1 == 1)
}

fn lock_memory(host: &dyn Host) -> Grant {
    if has_capability(host, CAP_IPC_LOCK) {
        return Grant::Granted;
    }
    let limits = host.read(Path::new("/proc/self/limits")).unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"));
    match limit.and_then(|rest| rest.split_whitespace().next()) {
        Some("unlimited") => Grant::Granted,
        limit => Grant::Denied {
            reason: format!(
                "needs CAP_IPC_LOCK, or no limit of locked memory (now {} bytes)",
                limit.unwrap_or("an unknown number of")
            ),
            command: SETCAP.to_owned(),
        },
    }
}

fn cycle_counters(host: &dyn Host) -> Grant {
    match host.open_cycles() {
        Ok(_) => Grant::Granted,
        Err(error) if error.kind() == ErrorKind::Permission => {
            let paranoid = host.read(Path::new("/proc/sys/kernel/perf_event_paranoid"));
            let level = paranoid.as_deref().map_or("unknown", str::trim);
            Grant::Denied {
                reason: format!("kernel.perf_event_paranoid is {level}"),
                command: "sudo sysctl kernel.perf_event_paranoid=2".to_owned(),
            }
        }
        Err(HostError::Unsupported { reason, .. }) => Grant::Impossible { reason },
        Err(error) => Grant::Impossible { reason: error.to_string() },
    }
}

/// The grant for a path that must be writable.
fn path_grant(host: &dyn Host, path: &Path, command: &str) -> Grant {
    match host.writable(path) {
        Ok(true) => Grant::Granted,
        Ok(false) => Grant::Denied {
            reason: format!("{} may not be written", path.display()),
            command: command.to_owned(),
        },
        Err(error) => Grant::Impossible { reason: error.to_string() },
    }
}

fn idle_latency(host: &dyn Host) -> Grant {
    path_grant(host, dma_latency_path(), "sudo chmod o+rw /dev/cpu_dma_latency")
}

/// The switch of the tracer.
pub(crate) const TRACING_ON: &str = "/sys/kernel/tracing/tracing_on";

fn tracing(host: &dyn Host) -> Grant {
    let grant = path_grant(host, Path::new(TRACING_ON), "run flyball with sudo");
    let filesystems = || host.read(Path::new("/proc/filesystems")).unwrap_or_default();
    match grant {
        Grant::Impossible { .. } if filesystems().lines().any(|line| line.ends_with("tracefs")) => {
            Grant::Denied {
                reason: "tracefs is not mounted".to_owned(),
                command: "sudo mount -t tracefs nodev /sys/kernel/tracing".to_owned(),
            }
        }
        Grant::Impossible { .. } => {
            Grant::Impossible { reason: "this kernel has no tracefs".to_owned() }
        }
        grant => grant,
    }
}

/// The governor files of all policies.
pub(crate) fn governor_files(host: &dyn Host) -> Vec<String> {
    const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";
    let names = host.list(Path::new(FOLDER)).unwrap_or_default();
    let policies = names.iter().filter(|name| name.starts_with("policy"));
    policies.map(|name| format!("{FOLDER}/{name}/scaling_governor")).collect()
}

fn frequency_control(host: &dyn Host) -> Grant {
    let files = governor_files(host);
    if files.is_empty() {
        return Grant::Impossible {
            reason: "no cpufreq policies: the kernel has no say in the frequency".to_owned(),
        };
    }
    let grants =
        files.iter().map(|file| path_grant(host, Path::new(file), "run flyball with sudo"));
    grants.into_iter().find(|grant| *grant != Grant::Granted).unwrap_or(Grant::Granted)
}
