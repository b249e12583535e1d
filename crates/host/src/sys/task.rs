//! Threads by number: descriptors that stand for them, and the least utilisation that the scheduler takes
//! them to have (uclamp).
#![expect(unsafe_code, reason = "pidfd_open gives a descriptor, sched_setattr takes a pointer")]

use super::sched::{ClampedAttr, keeping_clamp, keeping_class};
use super::{check, clock, signal};
use crate::{Call, Errno, FairShare, HostError};
use flyball_units::Nanos;
use std::os::fd::FromRawFd;
pub(crate) use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// PIDFD_THREAD of include/uapi/linux/pidfd.h, which is O_EXCL.
pub(crate) const PIDFD_THREAD: libc::c_int = libc::O_EXCL;

/// The lower clamp of the thread that has this number.
pub(crate) fn clamp(tid: u32, object: impl FnOnce() -> String) -> Result<u32, HostError> {
    attributes(tid, Call::LeastUtilization, object).map(|attributes| attributes.least)
}

fn attributes(
    tid: u32,
    call: Call,
    object: impl FnOnce() -> String,
) -> Result<ClampedAttr, HostError> {
    let mut attributes = ClampedAttr::default();
    let size = size_of::<ClampedAttr>() as u32;
    // SAFETY: the kernel writes at most `size` bytes into `attributes`.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, tid, &mut attributes, size, 0) };
    check(result, call, object)?;
    Ok(attributes)
}

/// What the fair thread that has this number has of its CPU.
pub(crate) fn fair_share(tid: u32, object: impl Fn() -> String) -> Result<FairShare, HostError> {
    let found = attributes(tid, Call::FairShare, &object)?;
    found.fair_share().ok_or_else(|| HostError::call(Call::FairShare, object(), Errno::EINVAL))
}

/// Sets it; not read back.
pub(crate) fn set_fair_share(
    tid: u32,
    share: FairShare,
    object: impl FnOnce() -> String,
) -> Result<(), HostError> {
    let attributes = keeping_class(share);
    // SAFETY: `attributes` is the kernel's structure, its own size inside, and outlives the call.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &attributes, 0) };
    check(result, Call::FairShareSet, object).map(drop)
}

/// Sets it, or gives the thread that of its class again; not read back.
pub(crate) fn set_clamp(
    tid: u32,
    least: Option<u32>,
    object: impl Fn() -> String,
) -> Result<(), HostError> {
    let set = |least| {
        let attributes = keeping_clamp(least);
        // SAFETY: `attributes` is the kernel's structure, its own size inside, and outlives the call.
        let result = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &attributes, 0) };
        check(result, Call::LeastUtilizationSet, &object).map(drop)
    };
    match set(least.unwrap_or(u32::MAX)) {
        // Up to Linux 5.10 a clamp cannot be taken away; none is 0.
        Err(error) if least.is_none() && error.errno() == Some(Errno::EINVAL) => set(0),
        result => result,
    }
}

/// A descriptor that stands for a process or a thread (Linux 5.3 and later).
pub(crate) fn pidfd(number: u32, flags: libc::c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: numbers only.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, number, flags) };
    if descriptor < 0 {
        return Err(Errno::last());
    }
    // SAFETY: the kernel just gave this descriptor to us alone; it is closed on exec by itself.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
}

/// Whether who a descriptor stands for has ended.
pub(crate) fn has_ended(fd: &OwnedFd) -> bool {
    let mut event = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd, which outlives the call.
    unsafe { libc::poll(&mut event, 1, 0) > 0 }
}

/// Waits until one of `fds` is ready (true), or until `deadline` (CLOCK_MONOTONIC; none: for ever) or a
/// request to end beyond the first `asked` came (false).
pub(crate) fn wait(
    fds: impl Iterator<Item = RawFd>,
    deadline: Option<Nanos>,
    asked: u32,
) -> Result<bool, HostError> {
    let event = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut events: Vec<libc::pollfd> = fds.map(event).collect();
    let rest = deadline.map(|deadline| deadline.since(clock::now()));
    let timeout = rest.map(|rest| libc::timespec {
        tv_sec: (rest.0 / 1_000_000_000) as libc::time_t,
        tv_nsec: (rest.0 % 1_000_000_000) as _,
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // Held back until the kernel waits: a request that came between the look and the waiting would
    // not be seen until somebody runs.
    let held = signal::HeldBack::new();
    if signal::interrupted() > asked {
        return Ok(false);
    }
    // SAFETY: the array and its length belong together; timeout and mask are valid; all outlive
    // the call.
    let result = unsafe {
        libc::ppoll(events.as_mut_ptr(), events.len() as libc::nfds_t, timeout, held.before())
    };
    match check(i64::from(result), Call::WaitTasks, || "threads".to_owned()) {
        Ok(ready) => Ok(ready > 0),
        Err(error) if error.errno() == Some(Errno::EINTR) => Ok(false),
        Err(error) => Err(error),
    }
}
