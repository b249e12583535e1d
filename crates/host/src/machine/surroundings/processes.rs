//! Programs that meddle: those known to change frequencies or to move interrupts, and those that
//! hold the idle latency down.

use crate::{Errno, Host, dma_latency_path};
use std::path::{Path, PathBuf};

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, as the kernel keeps it: at most 15 bytes.
    pub name: String,
}

/// Who holds the idle latency down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleLatencyHolders {
    /// Processes that have `/dev/cpu_dma_latency` open: with the path of the open file.
    pub found: Vec<(Process, String)>,
    /// Processes that may not be looked into.
    pub hidden: usize,
}

/// Names of programs that change frequencies, limits or the placement of interrupts while others
/// measure. Names end after 15 bytes, as the kernel cuts them.
pub const WATCHED: &[&str] = &[
    "auto-cpufreq",
    "cpufreqd",
    "cpuspeed",
    "gamemoded",
    "intel_lpmd",
    "irqbalance",
    "power-profiles-",
    "system76-power",
    "thermald",
    "tlp-pd",
    "tuned",
    "tuned-ppd",
];

/// Services that set the frequency once, when they start, and leave no process behind.
pub const WATCHED_SERVICES: &[&str] = &["cpupower.service", "cpufrequtils.service", "tlp.service"];

/// Where systemd links the services that start at boot.
const ENABLED: &str = "/etc/systemd/system/multi-user.target.wants";

/// Processes with a name of [`WATCHED`].
pub(crate) fn watched(host: &dyn Host) -> Vec<Process> {
    let all = numbers(host).into_iter().filter_map(|pid| name_of(host, pid));
    all.filter(|process| WATCHED.contains(&process.name.as_str())).collect()
}

/// The services of [`WATCHED_SERVICES`] that are enabled.
pub(crate) fn services(host: &dyn Host) -> Vec<String> {
    let names = host.list(Path::new(ENABLED)).unwrap_or_default();
    names.into_iter().filter(|name| WATCHED_SERVICES.contains(&name.as_str())).collect()
}

/// The link that enables a service.
pub(crate) fn service_link(name: &str) -> PathBuf {
    Path::new(ENABLED).join(name)
}

/// Looks at the open files of all processes. Nothing is opened: who opens the device takes part
/// in the decision.
pub(crate) fn holders(host: &dyn Host) -> IdleLatencyHolders {
    let mut holders = IdleLatencyHolders::default();
    for pid in numbers(host) {
        let folder = format!("/proc/{pid}/fd");
        let files = match host.list(Path::new(&folder)) {
            Ok(files) => files,
            Err(error) => {
                let refused = matches!(error.errno(), Some(Errno::EACCES | Errno::EPERM));
                holders.hidden += usize::from(refused);
                continue;
            }
        };
        let open = files.into_iter().map(|file| format!("{folder}/{file}")).find(|file| {
            host.read_link(Path::new(file)).is_ok_and(|target| target == dma_latency_path())
        });
        if let (Some(file), Some(process)) = (open, name_of(host, pid)) {
            holders.found.push((process, file));
        }
    }
    holders
}

fn numbers(host: &dyn Host) -> Vec<u32> {
    let names = host.list(Path::new("/proc")).unwrap_or_default();
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// A process that ended meanwhile has no name.
fn name_of(host: &dyn Host, pid: u32) -> Option<Process> {
    let name = host.read(Path::new(&format!("/proc/{pid}/comm"))).ok()?;
    Some(Process { pid, name: name.trim().to_owned() })
}
