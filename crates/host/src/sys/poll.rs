//! Waiting for descriptors until a time.
#![expect(unsafe_code, reason = "ppoll takes pointers")]

use super::{check, clock};
use crate::{Call, HostError};
use flyball_units::Nanos;

/// Waits until something happens to one of `events` or CLOCK_MONOTONIC reaches `deadline`; how many
/// have something then. A signal ends it with `EINTR`. No allocation.
pub(super) fn until(
    events: &mut [libc::pollfd],
    deadline: Nanos,
    call: Call,
    object: impl FnOnce() -> String,
) -> Result<i64, HostError> {
    let rest = deadline.since(clock::now());
    let timeout = libc::timespec {
        tv_sec: (rest.0 / 1_000_000_000) as libc::time_t,
        tv_nsec: (rest.0 % 1_000_000_000) as _,
    };
    // SAFETY: the array and its length belong together, the timeout is valid, there is no signal
    // mask; all outlive the call.
    let result = unsafe {
        libc::ppoll(events.as_mut_ptr(), events.len() as libc::nfds_t, &timeout, std::ptr::null())
    };
    check(i64::from(result), call, object)
}
