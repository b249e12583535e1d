//! The system calls, one file per subject: the smallest possible `unsafe`, wrapped into functions
//! that take and return plain types. Nothing here decides anything.

pub(crate) mod access;
pub(crate) mod bell;
pub(crate) mod bpf;
pub(crate) mod clock;
pub(crate) mod cycles;
pub(crate) mod dma_latency;
pub(crate) mod kept;
pub(crate) mod memory;
mod perf;
mod poll;
pub(crate) mod process;
pub(crate) mod sched;
pub(crate) mod schedstat;
pub(crate) mod signal;
pub(crate) mod socket;
pub(crate) mod stream;
pub(crate) mod task;
pub(crate) mod usage;
pub(crate) mod watch;

use crate::{Call, Errno, HostError};

/// Turns the `-1` of a system call into the error of `call` on `object`.
fn check(result: i64, call: Call, object: impl FnOnce() -> String) -> Result<i64, HostError> {
    if result != -1 {
        return Ok(result);
    }
    // Before `object` can make calls of its own.
    let errno = Errno::last();
    Err(HostError::call(call, object(), errno))
}

/// How errors name the calling thread.
fn this_thread() -> String {
    format!("thread {}", sched::thread_id())
}
