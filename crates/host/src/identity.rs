//! Which process or thread: its number and the time of its start, so that a number that was given to
//! somebody else is not taken for the same one.

use crate::{Errno, Host, HostError};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A process: its number, and its start in ticks since boot (`/proc/PID/stat`, field 22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: u32,
    /// Its start, in ticks of [`Host::user_hz`] since boot.
    #[serde(rename = "start_ticks")]
    pub start: u64,
}

impl ProcessIdentity {
    /// This process.
    ///
    /// # Errors
    /// Without /proc, or where it says something else.
    pub fn this(host: &dyn Host) -> Result<ProcessIdentity, HostError> {
        let path = Path::new("/proc/self/stat");
        let text = host.read(path)?;
        let malformed =
            || HostError::malformed(path.display(), "a process's numbers, 22 at least", &text);
        let pid = text.split(' ').next().and_then(|pid| pid.parse().ok());
        Ok(ProcessIdentity {
            pid: pid.ok_or_else(malformed)?,
            start: start_of(&text).ok_or_else(malformed)?,
        })
    }

    /// The process `pid`.
    ///
    /// # Errors
    /// One that is not there.
    pub fn of(host: &dyn Host, pid: u32) -> Result<ProcessIdentity, HostError> {
        let (leader, _) = ThreadIdentity::read(host, pid, pid)?;
        Ok(ProcessIdentity { pid, start: leader.start })
    }

    /// Whether it still runs. What cannot be read counts as running: nothing of it is removed. One that has
    /// ended and that its parent has not asked for (a zombie) does not run.
    pub fn is_alive(self, host: &dyn Host) -> bool {
        match host.read(Path::new(&format!("/proc/{}/stat", self.pid))) {
            Ok(text) => {
                start_of(&text).is_none_or(|start| start == self.start) && !is_zombie(&text)
            }
            Err(error) => !error.is_absent() && error.errno() != Some(Errno::ESRCH),
        }
    }
}

impl std::fmt::Display for ProcessIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}", self.pid)
    }
}

/// A thread: its process, its number, and its start in ticks since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ThreadIdentity {
    /// Its process.
    pub pid: u32,
    /// Its number.
    pub tid: u32,
    /// Its start, in ticks of [`Host::user_hz`] since boot.
    #[serde(rename = "start_ticks")]
    pub start: u64,
}

impl ThreadIdentity {
    /// The thread, and whether it runs or would.
    ///
    /// # Errors
    /// One that is not there.
    pub fn read(host: &dyn Host, pid: u32, tid: u32) -> Result<(ThreadIdentity, bool), HostError> {
        let path = format!("/proc/{pid}/task/{tid}/stat");
        let text = host.read(Path::new(&path))?;
        let start = start_of(&text)
            .ok_or_else(|| HostError::malformed(&path, "a thread's numbers, 22 at least", &text))?;
        let ready = text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'));
        Ok((ThreadIdentity { pid, tid, start }, ready))
    }

    /// Whether it has not ended. What cannot be read counts as running.
    pub fn is_alive(self, host: &dyn Host) -> bool {
        match ThreadIdentity::read(host, self.pid, self.tid) {
            Ok((found, _)) => found == self,
            Err(error) => !error.is_absent() && error.errno() != Some(Errno::ESRCH),
        }
    }
}

impl std::fmt::Display for ThreadIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "thread {} of process {}", self.tid, self.pid)
    }
}

/// By its state, field 3; where only its first thread has ended, others run, field 20.
fn is_zombie(stat: &str) -> bool {
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let mut fields = fields.split_ascii_whitespace();
    matches!(fields.next(), Some("Z" | "X")) && matches!(fields.nth(16), Some("0" | "1"))
}

/// Field 22; the second one, the name in parentheses, may hold anything.
fn start_of(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RealHost, RecordedHost};

    #[test]
    fn this_process_runs_and_a_namesake_does_not() {
        let host = RealHost::new();
        let this = ProcessIdentity::this(&host).unwrap();
        assert!(this.is_alive(&host));
        assert!(!ProcessIdentity { start: this.start + 1, ..this }.is_alive(&host));
        assert!(!ProcessIdentity { pid: 1 << 30, ..this }.is_alive(&host));
    }

    #[test]
    fn a_zombie_has_ended_unless_other_threads_run() {
        for (state, threads, alive) in [('Z', 1, false), ('Z', 2, true), ('R', 1, true)] {
            let zeros = ["0"; 16].join(" ");
            let listing = format!("/proc/7/stat = 7 (a) {state} {zeros} {threads} 0 9");
            let host = RecordedHost::from_listing(&listing).unwrap();
            let process = ProcessIdentity { pid: 7, start: 9 };
            assert_eq!(process.is_alive(&host), alive, "{state} {threads}");
        }
    }

    #[test]
    fn an_odd_name_does_not_confuse() {
        let numbers = (3..=30).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let listing = format!("/proc/self/stat = 7 (a) b) S {numbers}");
        let host = RecordedHost::from_listing(&listing).unwrap();
        let this = ProcessIdentity::this(&host).unwrap();
        assert_eq!(this, ProcessIdentity { pid: 7, start: 21 });
        assert!(!ProcessIdentity { pid: 8, start: 21 }.is_alive(&host));
    }
}
