//! Starting, waiting for and killing child processes.
#![expect(unsafe_code, reason = "wait4 and pidfd")]

use super::schedstat::SchedStatReader;
use super::spawn::{Started, Tie, spawn};
use super::task::pidfd;
use super::{check, clock, sched, usage};
use crate::{Call, Errno, Exit, HostError, ProcessSpec, SchedStat, Signal, Status};
use flyball_units::Nanos;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A running child, leader of a process group of its own. Dropping it kills the group and reaps
/// the child.
#[derive(Debug)]
pub struct Child {
    name: String,
    pid: libc::pid_t,
    handle: OwnedFd,
    started: Nanos,
    stdout: Option<Drain>,
    stderr: Option<Drain>,
    /// The scheduler's account of its first thread: it can be read until the child is reaped.
    account: Option<SchedStatReader>,
    reaped: bool,
}

/// The first thread's share of all CPU time from which on its waiting is that of the whole program.
const ALONE: f64 = 0.97;

impl Child {
    /// Starts `spec`.
    pub(crate) fn spawn(spec: &ProcessSpec) -> Result<Child, HostError> {
        let name = spec.program.to_string_lossy().into_owned();
        let fail = |error: std::io::Error| HostError::call(Call::Spawn, &name, Errno::of(&error));
        let begun = clock::now();
        let Started { pid, stdout, stderr } = spawn(spec, Tie::Ours).map_err(fail)?;
        match pidfd(pid as u32, 0) {
            Ok(handle) => Ok(Child {
                name,
                pid,
                handle,
                started: begun,
                stdout: stdout.map(Drain::start),
                stderr: stderr.map(Drain::start),
                account: SchedStatReader::of_process(pid as u32).ok(),
                reaped: false,
            }),
            Err(errno) => {
                // Without a handle it could not be waited for with a time limit: give it up.
                // SAFETY: a child of ours that is not reaped, and a null pointer for its status.
                unsafe {
                    libc::kill(pid, libc::SIGKILL);
                    libc::waitpid(pid, std::ptr::null_mut(), 0);
                }
                Err(HostError::call(Call::Spawn, name, errno))
            }
        }
    }

    /// The child's process id.
    pub fn id(&self) -> u32 {
        self.pid as u32
    }

    /// Waits for the end, at most until `deadline` (CLOCK_MONOTONIC); none when it still runs
    /// then, or when this process was asked to end meanwhile. A child can be waited for once.
    pub fn wait(&mut self, deadline: Option<Nanos>) -> Result<Option<Exit>, HostError> {
        if self.reaped {
            return Err(HostError::call(Call::Wait, &self.name, Errno::ECHILD));
        }
        let own = SchedStatReader::open(sched::thread_id()).ok();
        let delay = || own.as_ref()?.read().ok().map(|account| account.run_delay);
        let before = delay();
        if !self.poll(deadline)? {
            return Ok(None);
        }
        let elapsed = clock::now().since(self.started);
        // The end is seen when this thread has a CPU: what it waits for one is waiting, too.
        let late = before.zip(delay()).map_or(Nanos::ZERO, |(before, after)| after.since(before));
        let account = self.account.as_ref().and_then(|account| account.read().ok());
        let (status, usage) = self.reap()?;
        let alone =
            |account: &SchedStat| account.run_time.0 as f64 >= ALONE * usage.cpu_time.0 as f64;
        Ok(Some(Exit {
            status,
            usage,
            waited: account.filter(alone).map(|account| Nanos(account.run_delay.0 + late.0)),
            elapsed,
            stdout: self.stdout.take().map(Drain::finish).unwrap_or_default(),
            stderr: self.stderr.take().map(Drain::finish).unwrap_or_default(),
        }))
    }

    /// Ends the child's process group at once (SIGKILL). One that has ended already is no error.
    pub fn kill(&mut self) -> Result<(), HostError> {
        self.signal(libc::SIGKILL)
    }

    /// Asks the child's process group to end (SIGTERM).
    pub fn terminate(&mut self) -> Result<(), HostError> {
        self.signal(libc::SIGTERM)
    }

    /// Passes `signal` on to the child's process group. One that has ended already is no error.
    pub fn send(&mut self, signal: Signal) -> Result<(), HostError> {
        self.signal(match signal {
            Signal::Interrupt => libc::SIGINT,
            Signal::Terminate => libc::SIGTERM,
            Signal::HangUp => libc::SIGHUP,
        })
    }

    fn signal(&self, signal: libc::c_int) -> Result<(), HostError> {
        if self.reaped {
            return Ok(());
        }
        // SAFETY: numbers only. The child is not reaped yet, so the number of its group can't
        // have been given to anybody else.
        let result = unsafe { libc::kill(-self.pid, signal) };
        match check(i64::from(result), Call::Kill, || self.name.clone()) {
            Err(error) if error.errno() == Some(Errno::ESRCH) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Waits until the child has ended (true) or `deadline` or an interrupt came first (false).
    fn poll(&self, deadline: Option<Nanos>) -> Result<bool, HostError> {
        loop {
            let rest = deadline.map(|deadline| deadline.since(clock::now()));
            let timeout = rest.map(|rest| libc::timespec {
                tv_sec: (rest.0 / 1_000_000_000) as libc::time_t,
                tv_nsec: (rest.0 % 1_000_000_000) as _,
            });
            let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            let mut event =
                libc::pollfd { fd: self.handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one pollfd, a valid or null timeout, no signal mask; all outlive the call.
            let result = unsafe { libc::ppoll(&mut event, 1, timeout, std::ptr::null()) };
            match check(i64::from(result), Call::Wait, || self.name.clone()) {
                Ok(ready) => return Ok(ready == 1),
                Err(error) if error.errno() == Some(Errno::EINTR) => {
                    if super::signal::interrupted() > 0 {
                        return Ok(false);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Collects the status and the usage of the child, waiting for it.
    fn reap(&mut self) -> Result<(Status, crate::ThreadUsage), HostError> {
        let mut status = 0;
        // SAFETY: all-zero is a valid rusage.
        let mut counted: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: the pointers are valid and outlive the call; `pid` is an unreaped child of
            // ours, so its number can't have been reused.
            let result = unsafe { libc::wait4(self.pid, &mut status, 0, &mut counted) };
            match check(i64::from(result), Call::Wait, || self.name.clone()) {
                Ok(_) => break,
                Err(error) if error.errno() == Some(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        self.reaped = true;
        let status = if libc::WIFSIGNALED(status) {
            Status::Signal(libc::WTERMSIG(status))
        } else {
            Status::Code(libc::WEXITSTATUS(status))
        };
        Ok((status, usage::from_rusage(&counted)))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped && self.kill().is_ok() {
            // Nobody is left to tell about a failure.
            let _ = self.reap();
        }
    }
}

/// Starts `spec` in a session of its own, so that neither the end of this process nor a signal of the
/// terminal ends it; its number. Whoever takes over orphans collects it.
pub(crate) fn spawn_detached(spec: &ProcessSpec) -> Result<u32, HostError> {
    let fail = |error| HostError::call(Call::Spawn, spec.program.to_string_lossy(), Errno::of(&error));
    spawn(spec, Tie::Nobody).map(|started| started.pid as u32).map_err(fail)
}

/// Reads a pipe in a thread of its own, so that the child never waits for us.
#[derive(Debug)]
struct Drain {
    kept: Arc<Mutex<Vec<u8>>>,
    done: Receiver<()>,
}

impl Drain {
    /// How long output is waited for after the child has ended: processes that it left behind may
    /// hold the pipe open for ever.
    const PATIENCE: Duration = Duration::from_millis(250);

    fn start(mut pipe: impl Read + Send + 'static) -> Drain {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (finished, done) = sync_channel(1);
        let shared = Arc::clone(&kept);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            // A broken pipe ends the output like its end does; what came before is kept.
            while let Ok(length @ 1..) = pipe.read(&mut buffer) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let room = Exit::OUTPUT_LIMIT.saturating_sub(kept.len());
                kept.extend_from_slice(&buffer[..length.min(room)]);
            }
            // Nobody listens any more where the child was dropped.
            let _ = finished.send(());
        });
        Drain { kept, done }
    }

    /// What was read.
    fn finish(self) -> Vec<u8> {
        // Late or not, what is there by then is the output.
        let _ = self.done.recv_timeout(Drain::PATIENCE);
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
