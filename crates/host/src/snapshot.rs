//! Capturing a machine into a folder that [`RecordedHost`](crate::RecordedHost) opens.
//!
//! ```text
//! DIR/manifest.json   format version, date, results of system calls, links, what was unreadable
//! DIR/root/sys/...    the files, as they were read
//! DIR/root/proc/...
//! ```

use crate::machine::kernel::relevant_words;
use crate::machine::surroundings::processes;
use crate::manifest::{Calls, FORMAT, Manifest, Tried};
use crate::permissions::{TRACING_ON, governor_files, try_real_time};
use crate::{Errno, Host, HostError, dma_latency_path};
use flyball_units::Diagnostic;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod list;

/// Bytes kept of one file. `/proc/cpuinfo` takes some 1.7 KB per CPU.
pub const FILE_LIMIT: usize = 1 << 20;

/// Files kept of one machine: some 100 per CPU.
pub const FILES_LIMIT: usize = 100_000;

/// Why a machine could not be captured.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The folder holds something.
    #[error("{folder}: expected an empty or a new folder, found {entries} entries")]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// How many names are in it.
        entries: usize,
    },
    /// Nothing of the machine is to be seen.
    #[error("/proc and /sys: expected files to copy, found none that can be read")]
    Nothing,
    /// The folder could not be written.
    #[error("the snapshot could not be written: {0}")]
    Write(#[from] std::io::Error),
    /// The machine could not be read at all.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Diagnostic for SnapshotError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            SnapshotError::NotEmpty { .. } | SnapshotError::Nothing => None,
            SnapshotError::Write(error) => Some(error),
            SnapshotError::Host(error) => Some(error),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            SnapshotError::NotEmpty { .. } => {
                Some("name a folder that does not exist yet".to_owned())
            }
            SnapshotError::Nothing => {
                Some("mount them, or start the container with them".to_owned())
            }
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}

/// What was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Files written.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were there and could not be read.
    pub unreadable: usize,
}

/// Copies the files that matter, and the results of harmless system calls, into `folder`, which
/// must be empty or new. Nothing on the machine is changed. Left out: the host's name, serial
/// numbers, addresses, paths of control groups, and words of the command line that have nothing to
/// do with measuring. Of processes it holds the names of those that change frequencies or hold the
/// idle latency down, and no others.
pub fn capture(host: &dyn Host, folder: &Path) -> Result<Captured, SnapshotError> {
    fs_err::create_dir_all(folder)?;
    let entries = fs_err::read_dir(folder)?.count();
    if entries > 0 {
        return Err(SnapshotError::NotEmpty { folder: folder.to_owned(), entries });
    }
    let mut captured = Captured { files: 0, bytes: 0, unreadable: 0 };
    let mut manifest = Manifest {
        format: FORMAT,
        flyball: env!("CARGO_PKG_VERSION").to_owned(),
        architecture: std::env::consts::ARCH.to_owned(),
        captured: host.realtime(),
        monotonic: host.now(),
        calls: calls(host)?,
        links: links(host),
        ..Manifest::default()
    };
    let mut files = list::expand(host, &mut manifest.unreadable);
    files.extend(processes(host, &mut manifest));
    for path in files.into_iter().take(FILES_LIMIT) {
        match host.read(&path) {
            Ok(text) => {
                let mut text = sanitise(&path, text);
                if text.len() > FILE_LIMIT {
                    text.truncate(text.floor_char_boundary(FILE_LIMIT));
                    manifest.shortened.push(path.display().to_string());
                }
                captured.files += 1;
                captured.bytes += text.len() as u64;
                write(folder, &path, &text)?;
            }
            Err(error) if error.is_absent() => {}
            Err(error) => {
                // Folders match some patterns; they are not content.
                let errno = error.errno().filter(|&errno| errno != Errno::EISDIR);
                manifest.unreadable.extend(errno.map(|errno| (path.display().to_string(), errno)));
            }
        }
    }
    if captured.files == 0 {
        return Err(SnapshotError::Nothing);
    }
    captured.unreadable = manifest.unreadable.len();
    let text = serde_json::to_string_pretty(&manifest).map_err(std::io::Error::from)?;
    // Last, so that a folder with a manifest is a whole one.
    fs_err::write(folder.join("manifest.json"), text + "\n")?;
    Ok(captured)
}

/// Writes a file of the machine below `folder/root`.
fn write(folder: &Path, path: &Path, text: &str) -> Result<(), std::io::Error> {
    let target = folder.join("root").join(path.strip_prefix("/").unwrap_or(path));
    if let Some(parent) = target.parent() {
        fs_err::create_dir_all(parent)?;
    }
    fs_err::write(target, text)
}

/// Asks what files can't tell.
fn calls(host: &dyn Host) -> Result<Calls, HostError> {
    let defaults = Calls::default();
    let mut paths = vec![dma_latency_path().display().to_string(), TRACING_ON.to_owned()];
    paths.extend(governor_files(host));
    let writable: BTreeMap<String, bool> = paths
        .into_iter()
        .filter_map(|path| host.writable(Path::new(&path)).ok().map(|writable| (path, writable)))
        .collect();
    Ok(Calls {
        affinity: Some(host.affinity_get()?),
        scheduling: host.scheduling_get()?,
        timer_slack: host.timer_slack_get().unwrap_or(defaults.timer_slack),
        user_hz: host.user_hz(),
        counter: host.counter_hz().ok(),
        real_time: tried(try_real_time(host)),
        cycles: tried(host.open_cycles().map(drop)),
        writable,
    })
}

/// Keeps what came of trying.
fn tried(result: Result<(), HostError>) -> Tried {
    match result {
        Ok(()) => Tried::Worked,
        Err(HostError::Call { errno, .. }) => Tried::Refused(errno),
        Err(HostError::Unsupported { reason, .. }) => Tried::Impossible(reason),
        Err(error) => Tried::Impossible(error.to_string()),
    }
}

/// The links that tell something by themselves: from each CPU to its policy.
fn links(host: &dyn Host) -> BTreeMap<String, String> {
    let cpus = Path::new("/sys/devices/system/cpu");
    let names = host.list(cpus).unwrap_or_default();
    let links = names.iter().filter_map(|name| {
        let path = cpus.join(name).join("cpufreq");
        let target = host.read_link(&path).ok()?;
        Some((path.display().to_string(), target.display().to_string()))
    });
    links.collect()
}

/// The names of the processes that change what is measured, and the links that show it; of no
/// other process anything.
fn processes(host: &dyn Host, manifest: &mut Manifest) -> Vec<PathBuf> {
    let holders = processes::holders(host);
    for (_, file) in &holders.found {
        manifest.links.insert(file.clone(), dma_latency_path().display().to_string());
    }
    if holders.hidden > 0 {
        // One stands for all: how many there were says nothing about the machine.
        manifest.unreadable.insert("/proc/1/fd".to_owned(), Errno::EACCES);
    }
    for service in processes::services(host) {
        let link = processes::service_link(&service);
        let target = host.read_link(&link).unwrap_or_default();
        manifest.links.insert(link.display().to_string(), target.display().to_string());
    }
    let held = holders.found.into_iter().map(|(process, _)| process);
    let all = processes::watched(host).into_iter().chain(held);
    all.map(|process| PathBuf::from(format!("/proc/{}/comm", process.pid))).collect()
}

/// Lines of `/proc/thread-self/status` that say what this thread may do.
const STATUS: &[&str] =
    &["Cap", "NoNewPrivs:", "Seccomp:", "Cpus_allowed_list:", "Mems_allowed_list:", "VmLck:"];

/// Takes out of a text what identifies a machine or its owner.
fn sanitise(path: &Path, text: String) -> String {
    let keep = |wanted: &dyn Fn(&str) -> bool| -> String {
        text.lines().filter(|line| wanted(line)).flat_map(|line| [line, "\n"]).collect()
    };
    match path.to_str() {
        // The Raspberry Pi's serial number.
        Some("/proc/cpuinfo") => keep(&|line| !line.starts_with("Serial")),
        Some("/proc/cmdline") => relevant_words(&text).join(" ") + "\n",
        Some("/proc/thread-self/status") => {
            keep(&|line| STATUS.iter().any(|start| line.starts_with(start)))
        }
        // Interrupts by number say nothing to anybody, and take most of the space.
        Some("/proc/stat") => {
            keep(&|line| !line.starts_with("intr") && !line.starts_with("softirq"))
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_lines_go() {
        let clean = |path: &str, text: &str| sanitise(Path::new(path), text.to_owned());
        assert_eq!(clean("/proc/cpuinfo", "Model : x\nSerial : 1000\n"), "Model : x\n");
        assert_eq!(clean("/proc/cmdline", "root=/dev/sda1 isolcpus=1\n"), "isolcpus=1\n");
        assert_eq!(clean("/proc/thread-self/status", "Name: me\nCapEff: 0\n"), "CapEff: 0\n");
        assert_eq!(clean("/proc/stat", "cpu0 1\nintr 1 2 3\n"), "cpu0 1\n");
        assert_eq!(clean("/sys/x", "as it is"), "as it is");
    }
}
