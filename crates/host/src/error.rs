//! What can go wrong at the door: which call, on which object, what was expected, what was found.

use crate::{Call, Errno};
use flyball_units::{Diagnostic, ErrorKind, nearest_file};
use std::path::{Path, PathBuf};

/// An error of the host. Its text names the call and its object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The system refused a call.
    #[error("{call} failed on {object}: {errno}")]
    Call {
        /// The call.
        call: Call,
        /// What it was called on: a path, a CPU list, a thread, a program.
        object: String,
        /// The system's reason.
        errno: Errno,
    },
    /// A setting was accepted, and reading it back showed another one.
    #[error("{call} on {object}: asked for {expected}, found {found}")]
    ReadBack {
        /// The call that set it.
        call: Call,
        /// What it was called on.
        object: String,
        /// What was asked for.
        expected: String,
        /// What was read back.
        found: String,
    },
    /// Content that this crate can't understand.
    #[error("{object}: expected {expected}, found {found:?}")]
    Malformed {
        /// Where the content came from; a path.
        object: String,
        /// What should have been there.
        expected: String,
        /// What was there, shortened to 80 characters.
        found: String,
    },
    /// This machine or this kind of host can't do it at all.
    #[error("{call} is not possible on {object}: {reason}")]
    Unsupported {
        /// The call.
        call: Call,
        /// What it was called on.
        object: String,
        /// Why not, in words.
        reason: String,
    },
}

impl HostError {
    /// The system refused `call` on `object`.
    pub fn call(call: Call, object: impl ToString, errno: Errno) -> HostError {
        HostError::Call { call, object: object.to_string(), errno }
    }

    /// `object` holds something other than `expected`.
    pub fn malformed(object: impl ToString, expected: impl ToString, found: &str) -> HostError {
        let mut short: String = found.trim_end().chars().take(80).collect();
        if found.trim_end().chars().nth(80).is_some() {
            short.push_str("...");
        }
        HostError::Malformed {
            object: object.to_string(),
            expected: expected.to_string(),
            found: short,
        }
    }

    /// `call` can't be done here at all.
    pub fn unsupported(call: Call, object: impl ToString, reason: impl ToString) -> HostError {
        HostError::Unsupported { call, object: object.to_string(), reason: reason.to_string() }
    }

    /// The system's error number, where there is one.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            HostError::Call { errno, .. } => Some(*errno),
            _ => None,
        }
    }

    /// Whether the object simply is not there (`ENOENT`, `ENODEV`, `ENOTDIR`).
    pub fn is_absent(&self) -> bool {
        matches!(self.errno(), Some(Errno::ENOENT | Errno::ENODEV | Errno::ENOTDIR | Errno::ENXIO))
    }
}

impl Diagnostic for HostError {
    fn kind(&self) -> ErrorKind {
        match self {
            HostError::Malformed { .. } => ErrorKind::BadInput,
            HostError::ReadBack { .. } => ErrorKind::NotApplied,
            HostError::Unsupported { .. } => ErrorKind::Unsupported,
            HostError::Call { errno, call, .. } => match *errno {
                // The verifier refuses with EACCES and EINVAL, too: it is this kernel that does not take it.
                errno if *call == Call::Bpf && errno != Errno::EPERM => ErrorKind::Unsupported,
                Errno::EPERM | Errno::EACCES | Errno::EROFS => ErrorKind::Permission,
                Errno::ENOMEM | Errno::EAGAIN if *call == Call::LockMemory => ErrorKind::Permission,
                Errno::ENOSYS | Errno::EOPNOTSUPP | Errno::ENODEV | Errno::ENXIO => {
                    ErrorKind::Unsupported
                }
                Errno::ENOENT if matches!(call, Call::OpenCycles | Call::HoldIdleLatency) => {
                    ErrorKind::Unsupported
                }
                Errno::EINVAL
                | Errno::ENOENT
                | Errno::ENOTDIR
                | Errno::EISDIR
                | Errno::EILSEQ
                | Errno::ESRCH
                | Errno::ENAMETOOLONG
                | Errno::ELOOP
                | Errno::ENOEXEC => ErrorKind::BadInput,
                _ => ErrorKind::System,
            },
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            HostError::Call { call, errno, object } => call_hint(*call, *errno, object),
            HostError::ReadBack { call: Call::AffinitySet, .. } => Some(
                "a cpuset or an offline CPU may narrow the choice: see Cpus_allowed_list in \
                 /proc/self/status"
                    .to_owned(),
            ),
            HostError::ReadBack { .. } => None,
            HostError::Malformed { .. } => Some(
                "if this is what the kernel really says, please report it with a snapshot of the machine"
                    .to_owned(),
            ),
            HostError::Unsupported { .. } => None,
        }
    }
}

/// The command that grants real time and locked memory. A later `setcap` replaces an earlier one,
/// so every hint names both capabilities.
pub(crate) const SETCAP: &str = "sudo setcap cap_sys_nice,cap_ipc_lock+ep $(command -v flyball)";

/// The remedy for a refused call.
fn call_hint(call: Call, errno: Errno, object: &str) -> Option<String> {
    let denied = matches!(errno, Errno::EPERM | Errno::EACCES);
    let text = match call {
        Call::SchedulingSet if errno == Errno::EBUSY => {
            "SCHED_DEADLINE was refused by admission control: ask for less run time per period"
        }
        Call::SchedulingSet if denied => {
            return Some(format!("real-time scheduling needs CAP_SYS_NICE: {SETCAP}"));
        }
        Call::LockMemory if denied || errno == Errno::ENOMEM || errno == Errno::EAGAIN => {
            return Some(format!(
                "locking memory needs CAP_IPC_LOCK: {SETCAP}; or raise the limit: ulimit -l unlimited"
            ));
        }
        Call::OpenCycles if denied => {
            "user-mode counters need: sudo sysctl kernel.perf_event_paranoid=2"
        }
        Call::WatchSwitches if denied => {
            "seeing when threads run needs CAP_PERFMON (root), or for one's own threads: \
             sudo sysctl kernel.perf_event_paranoid=2"
        }
        Call::LeastUtilizationSet | Call::OpenTask if denied => {
            "threads of other users need CAP_SYS_NICE (root)"
        }
        Call::Bpf if errno == Errno::EPERM => {
            "programs in the kernel need root (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN)"
        }
        Call::HoldIdleLatency if denied => "sudo chmod o+rw /dev/cpu_dma_latency",
        Call::AffinitySet if errno == Errno::EINVAL => {
            "none of these CPUs is online and allowed: see Cpus_allowed_list in /proc/self/status"
        }
        Call::Write | Call::MakeDir | Call::RemoveDir | Call::OpenStream | Call::Save if denied => {
            "run flyball with sudo"
        }
        Call::Spawn if errno == Errno::ENOENT && object.contains('/') => {
            return Some(match similar(Path::new(object)) {
                Some(meant) => format!("did you mean `{}`?", meant.display()),
                None => "check the path of the program".to_owned(),
            });
        }
        Call::Spawn if errno == Errno::ENOENT => "is the program installed and on PATH?",
        Call::Spawn if errno == Errno::EACCES => "is the file executable?",
        Call::Read | Call::List | Call::ReadLink if denied => {
            return Some(format!("run as root, or allow it: sudo chmod o+r {object}"));
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// What is in the same folder under a name like this one.
#[expect(clippy::disallowed_methods, reason = "a program of the user, not the machine")]
fn similar(path: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    nearest_file(path, entries.filter_map(|entry| Some(entry.ok()?.file_name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_call_object_and_reason() {
        let error = HostError::call(Call::SchedulingSet, "fifo priority 50", Errno::EPERM);
        assert_eq!(
            error.to_string(),
            "scheduling_set failed on fifo priority 50: Operation not permitted (EPERM)"
        );
        assert_eq!(error.kind(), ErrorKind::Permission);
        assert!(error.hint().unwrap().contains("setcap"));
    }

    #[test]
    fn found_text_is_shortened() {
        let error = HostError::malformed("/proc/stat", "a number", &"x".repeat(200));
        assert!(error.to_string().len() < 140);
        assert_eq!(error.kind(), ErrorKind::BadInput);
    }
}
