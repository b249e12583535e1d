//! Being asked to end: SIGINT, SIGTERM and SIGHUP, counted.
#![expect(unsafe_code, reason = "signal handlers")]

use crate::{Call, Errno, HostError, Signal};
use flyball_units::Nanos;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Signals caught so far. With [`LAST`] the only globals of the crate: a handler has no other place.
static CAUGHT: AtomicU32 = AtomicU32::new(0);
/// The number of the signal that was caught last.
static LAST: AtomicI32 = AtomicI32::new(0);
/// Microseconds after the first signal at which the process ends whatever it does; 0 where it may take its time.
static GRACE_US: AtomicU32 = AtomicU32::new(0);

/// How often the process was asked to end.
#[inline]
pub fn interrupted() -> u32 {
    CAUGHT.load(Ordering::Relaxed)
}

/// The signal that was caught last.
pub fn last() -> Option<Signal> {
    match LAST.load(Ordering::Relaxed) {
        libc::SIGINT => Some(Signal::Interrupt),
        libc::SIGTERM => Some(Signal::Terminate),
        libc::SIGHUP => Some(Signal::HangUp),
        _ => None,
    }
}

/// Counts. The second signal restores the default action, so that the third ends the process even
/// if the program does not listen.
extern "C" fn handler(signal: libc::c_int) {
    LAST.store(signal, Ordering::Relaxed);
    let caught = CAUGHT.fetch_add(1, Ordering::Relaxed);
    let grace = GRACE_US.load(Ordering::Relaxed);
    if caught == 0 && grace > 0 {
        let value = libc::timeval { tv_sec: 0, tv_usec: grace.into() };
        let once = libc::itimerval {
            it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
            it_value: value,
        };
        // SAFETY: `once` is valid; on Linux this is one system call, which touches no memory of the process.
        unsafe { libc::setitimer(libc::ITIMER_REAL, &once, std::ptr::null_mut()) };
    }
    if caught >= 1 {
        // SAFETY: `signal` is async-signal-safe (POSIX.1-2024, 2.4.3).
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// From now on the process ends at the latest `grace` (less than a second) after the first signal that
/// `catch_interrupts` counts, with 128 and its number: for what only computes, where what is on the disk tells
/// of itself that it is not whole, and nothing is to be restored. What can end in order before does.
pub fn end_soon(grace: Nanos) {
    // SAFETY: an all-zero sigaction is valid; the field that matters is set below.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = grace_over as *const () as libc::sighandler_t;
    // SAFETY: `action` is valid and outlives the call; the handler is async-signal-safe.
    let result = unsafe { libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut()) };
    if result == 0 {
        let us = (grace.0 / 1_000).clamp(1, 999_999);
        GRACE_US.store(us as u32, Ordering::Relaxed);
    }
}

extern "C" fn grace_over(_: libc::c_int) {
    const TEXT: &[u8] = b"interrupted: ended before all was written; what is on the disk stays\n";
    // SAFETY: `write` and `_exit` are async-signal-safe (POSIX.1-2024, 2.4.3); the text is a constant.
    unsafe {
        libc::write(libc::STDERR_FILENO, TEXT.as_ptr().cast(), TEXT.len());
        libc::_exit(128 + LAST.load(Ordering::Relaxed))
    }
}

/// Installs the handler, without SA_RESTART: a sleep must end when the user asks.
pub(crate) fn catch_interrupts() -> Result<(), HostError> {
    let signals = [(libc::SIGINT, "SIGINT"), (libc::SIGTERM, "SIGTERM"), (libc::SIGHUP, "SIGHUP")];
    for (signal, name) in signals {
        if signal == libc::SIGHUP && is_ignored(signal) {
            continue; // started by nohup, or the like
        }
        // SAFETY: an all-zero sigaction is valid; the fields that matter are set below.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        // SAFETY: `action` is valid and outlives the call; the handler is async-signal-safe.
        let result = unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
        if result != 0 {
            return Err(HostError::call(Call::CatchInterrupts, name, Errno::last()));
        }
    }
    Ok(())
}

/// Holds SIGINT, SIGTERM and SIGHUP back from this thread until it is dropped, so that none is missed
/// between a look at [`interrupted`] and a wait that lets them through again.
pub(super) struct HeldBack {
    before: libc::sigset_t,
}

impl HeldBack {
    pub(super) fn new() -> HeldBack {
        // SAFETY: an all-zero set is valid memory; it is emptied, filled with valid numbers and read
        // by the kernel while it lives.
        unsafe {
            let mut held: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut held);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(&mut held, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &held, &mut before);
            HeldBack { before }
        }
    }

    /// What the thread lets through while it waits.
    pub(super) fn before(&self) -> &libc::sigset_t {
        &self.before
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        // SAFETY: the set is the one that the kernel gave.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

/// Ends the process at once, with 128 and the number of the signal, where it is asked to end and nothing
/// catches that: as long as there is nothing to keep and nothing to restore. A signal that the process was
/// told to ignore stays ignored.
pub fn end_on_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)) {
        // SAFETY: an all-zero sigaction is valid; the field that matters is set below.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = end as *const () as libc::sighandler_t;
        // SAFETY: `action` is valid and outlives the call; the handler is async-signal-safe. A failure
        // leaves the default action, which ends the process as well.
        unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
    }
}

extern "C" fn end(signal: libc::c_int) {
    // SAFETY: `_exit` is async-signal-safe (POSIX.1-2024, 2.4.3).
    unsafe { libc::_exit(128 + signal) }
}

/// Whether the process was told to ignore `signal`.
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: an all-zero sigaction is valid, and is only written to.
    let mut found: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is set; `found` is valid and outlives the call.
    let result = unsafe { libc::sigaction(signal, std::ptr::null(), &mut found) };
    result == 0 && found.sa_sigaction == libc::SIG_IGN
}
