//! What the kernel counted for a thread.
#![expect(unsafe_code, reason = "getrusage takes a pointer")]

use super::{check, this_thread};
use crate::{Call, HostError, ThreadUsage};
use flyball_units::Nanos;

/// Usage of the calling thread.
pub(crate) fn of_this_thread() -> Result<ThreadUsage, HostError> {
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid and outlives the call.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    check(i64::from(result), Call::Usage, this_thread)?;
    Ok(from_rusage(&usage))
}

/// The fields that matter here, in this crate's units.
pub(crate) fn from_rusage(usage: &libc::rusage) -> ThreadUsage {
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    let time = |value: libc::timeval| {
        Nanos::from_secs(u64::try_from(value.tv_sec).unwrap_or(0))
            + Nanos::from_micros(u64::try_from(value.tv_usec).unwrap_or(0))
    };
    ThreadUsage {
        voluntary: count(usage.ru_nvcsw),
        involuntary: count(usage.ru_nivcsw),
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        cpu_time: time(usage.ru_utime) + time(usage.ru_stime),
    }
}
