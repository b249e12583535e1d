//! Threads of any process: which one is meant, and whether it still runs.

use crate::sys::task::{self, AsRawFd, OwnedFd, PIDFD_THREAD, RawFd, has_ended, pidfd};
use crate::{Call, Errno, FairShare, Host, HostError, ThreadIdentity};
use std::fmt;

/// A thread of any process, held by a descriptor: once it has ended, its number is not taken for
/// another thread's.
#[derive(Debug)]
pub struct Task {
    identity: ThreadIdentity,
    handle: Handle,
}

#[derive(Debug)]
enum Handle {
    /// Of the thread itself (Linux 6.9 and later).
    Thread(OwnedFd),
    /// Of its process: that the thread is the same one is looked up by its start.
    Process(OwnedFd),
    Recorded,
}

impl Task {
    /// Opens the thread `tid` of the process `pid`.
    pub(crate) fn open(host: &dyn Host, pid: u32, tid: u32) -> Result<Task, HostError> {
        let handle = match pidfd(tid, PIDFD_THREAD) {
            Ok(fd) => Handle::Thread(fd),
            Err(Errno::EINVAL) => Handle::Process(
                pidfd(pid, 0).map_err(|errno| failed(Call::OpenTask, pid, tid, errno))?,
            ),
            Err(errno) => return Err(failed(Call::OpenTask, pid, tid, errno)),
        };
        // After the descriptor: so the start is that of the thread that it holds, or the number has
        // been given away and the descriptor says that its thread has ended.
        let (identity, _) = ThreadIdentity::read(host, pid, tid)?;
        let task = Task { identity, handle };
        match task.is_alive(host) {
            true => Ok(task),
            false => Err(failed(Call::OpenTask, pid, tid, Errno::ESRCH)),
        }
    }

    /// A thread of a recorded machine.
    pub(crate) fn recorded(identity: ThreadIdentity) -> Task {
        Task { identity, handle: Handle::Recorded }
    }

    /// Which thread.
    pub fn identity(&self) -> ThreadIdentity {
        self.identity
    }

    /// Whether it has not ended.
    pub fn is_alive(&self, host: &dyn Host) -> bool {
        match &self.handle {
            Handle::Thread(fd) => !has_ended(fd),
            Handle::Process(fd) => !has_ended(fd) && self.identity.is_alive(host),
            Handle::Recorded => self.identity.is_alive(host),
        }
    }

    /// Ready once it has ended.
    pub(crate) fn descriptor(&self) -> Option<RawFd> {
        match &self.handle {
            Handle::Thread(fd) | Handle::Process(fd) => Some(fd.as_raw_fd()),
            Handle::Recorded => None,
        }
    }

    /// The clamp of whoever has the number now.
    pub(crate) fn clamp(&self) -> Result<u32, HostError> {
        task::clamp(self.identity.tid, || self.to_string())
    }

    /// Sets the clamp, or gives the thread that of its class again; not read back.
    ///
    /// The system call takes a number alone. It is made between two looks at the descriptor, and
    /// where the thread ended meanwhile, whoever has its number now is given back what it had.
    pub(crate) fn set_clamp(&self, host: &dyn Host, least: Option<u32>) -> Result<(), HostError> {
        let gone = || self.failed(Call::LeastUtilizationSet, Errno::ESRCH);
        if !self.is_alive(host) {
            return Err(gone());
        }
        self.write(least)?;
        if self.is_alive(host) {
            return Ok(());
        }
        if !self.identity.is_alive(host) && least.is_some() && self.clamp().ok() == least {
            let _ = self.write(None);
        }
        Err(gone())
    }

    /// What whoever has the number now has of its CPU.
    pub(crate) fn fair_share(&self) -> Result<FairShare, HostError> {
        task::fair_share(self.identity.tid, || self.to_string())
    }

    /// Sets it, not read back; as [`Task::set_clamp`] with a number that came to mean another thread.
    pub(crate) fn set_fair_share(
        &self,
        host: &dyn Host,
        share: FairShare,
    ) -> Result<(), HostError> {
        let gone = || self.failed(Call::FairShareSet, Errno::ESRCH);
        let write = |share| task::set_fair_share(self.identity.tid, share, || self.to_string());
        let before = self.fair_share()?;
        if !self.is_alive(host) {
            return Err(gone());
        }
        write(share)?;
        if self.is_alive(host) {
            return Ok(());
        }
        if !self.identity.is_alive(host) && self.fair_share().ok() == Some(share) {
            let _ = write(before);
        }
        Err(gone())
    }

    fn write(&self, least: Option<u32>) -> Result<(), HostError> {
        task::set_clamp(self.identity.tid, least, || self.to_string())
    }

    fn failed(&self, call: Call, errno: Errno) -> HostError {
        failed(call, self.identity.pid, self.identity.tid, errno)
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.identity.fmt(f)
    }
}

fn failed(call: Call, pid: u32, tid: u32, errno: Errno) -> HostError {
    HostError::call(call, ThreadIdentity { pid, tid, start: 0 }, errno)
}
