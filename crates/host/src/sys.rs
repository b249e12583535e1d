//! The system calls, one file per subject: the smallest possible `unsafe`, wrapped into functions
//! that take and return plain types. Nothing here decides anything.
//!
//! Other systems have `elsewhere` in their place, so that all that asks no machine (models, reports, replays)
//! compiles and runs there.

pub(crate) mod dma_latency;
pub(crate) mod kept;
pub(crate) mod schedstat;
pub(crate) mod stream;
pub(crate) mod unix;

macro_rules! linux {
    ($($(#[$attribute:meta])* $sight:vis mod $name:ident;)*) => {
        $(#[cfg(target_os = "linux")] $(#[$attribute])* $sight mod $name;)*
    };
}
linux! {
    pub(crate) mod access;
    pub(crate) mod bell;
    pub(crate) mod bpf;
    pub(crate) mod clock;
    pub(crate) mod cycles;
    pub(crate) mod huge;
    pub(crate) mod memory;
    mod perf;
    mod poll;
    pub(crate) mod process;
    pub(crate) mod programs;
    pub(crate) mod sched;
    pub(crate) mod signal;
    pub(crate) mod socket;
    mod spawn;
    pub(crate) mod task;
    pub(crate) mod usage;
    pub(crate) mod watch;
}

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{
    access, bell, bpf, clock, cycles, memory, process, programs, sched, signal, socket, task,
    usage, watch,
};

#[cfg(target_os = "linux")]
use crate::{Call, Errno, HostError};

/// Turns the `-1` of a system call into the error of `call` on `object`.
#[cfg(target_os = "linux")]
fn check(result: i64, call: Call, object: impl FnOnce() -> String) -> Result<i64, HostError> {
    if result != -1 {
        return Ok(result);
    }
    // Before `object` can make calls of its own.
    let errno = Errno::last();
    Err(HostError::call(call, object(), errno))
}

/// How errors name the calling thread.
#[cfg(target_os = "linux")]
fn this_thread() -> String {
    format!("thread {}", sched::thread_id())
}
