//! Clocks and absolute sleep.
#![expect(unsafe_code, reason = "clock_gettime and clock_nanosleep take pointers")]

use super::{signal, this_thread};
use crate::{Call, Errno, HostError, Wake};
use flyball_units::Nanos;

/// CLOCK_MONOTONIC; some 20 ns, without a system call.
#[inline]
pub fn now() -> Nanos {
    read(libc::CLOCK_MONOTONIC).unwrap_or_default()
}

/// CLOCK_BOOTTIME: as [`now`], and goes on while the machine is suspended.
pub(crate) fn boot_time() -> Nanos {
    read(libc::CLOCK_BOOTTIME).unwrap_or_default()
}

/// CLOCK_REALTIME, since 1970 (UTC).
#[inline]
pub fn realtime() -> Nanos {
    read(libc::CLOCK_REALTIME).unwrap_or_default()
}

/// CPU time of the calling thread. It exists on every Linux, so there is no error.
#[inline]
pub fn thread_cpu_time() -> Nanos {
    read(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default()
}

/// CPU time of all threads of the process.
pub(crate) fn process_cpu_time() -> Nanos {
    read(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_default()
}

/// CPU time of one thread of this process, by the clock that the kernel derives from its number:
/// `CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED` in the low three bits below the inverted number
/// (include/linux/posix-timers_types.h, also what pthread_getcpuclockid computes).
pub(crate) fn cpu_time_of(tid: u32) -> Result<Nanos, HostError> {
    const PER_THREAD_SCHED: libc::clockid_t = 4 | 2;
    let object = || format!("thread {tid}");
    // The kernel's numbers stay below 2^22; a number that does not fit names no thread.
    let number = i32::try_from(tid).ok().filter(|number| (1..1 << 22).contains(number));
    let number = number.ok_or_else(|| HostError::call(Call::CpuTimeOf, object(), Errno::ESRCH))?;
    read((!number << 3) | PER_THREAD_SCHED).map_err(|errno| {
        // EINVAL is how the kernel says that this process has no such thread.
        let errno = if errno == Errno::EINVAL { Errno::ESRCH } else { errno };
        HostError::call(Call::CpuTimeOf, object(), errno)
    })
}

/// Reads any clock.
#[inline]
fn read(clock: libc::clockid_t) -> Result<Nanos, Errno> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that outlives the call.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return Err(Errno::last());
    }
    // No clock used here is negative: they start at boot, at 1970 or at the thread's birth.
    Ok(Nanos((time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)))
}

/// Sleeps until CLOCK_MONOTONIC reaches `deadline`; early only when an interrupt was caught,
/// before or during the sleep.
#[inline]
pub fn sleep_until(deadline: Nanos) -> Result<Wake, HostError> {
    wait_until(deadline).map(|(wake, _)| wake)
}

/// As [`sleep_until`], and reads the clock as the very first thing after waking: an idle core
/// wakes with cold caches, and every line of code before the reading would count as lateness.
#[inline]
pub fn wait_until(deadline: Nanos) -> Result<(Wake, Nanos), HostError> {
    let time = libc::timespec {
        tv_sec: (deadline.0 / 1_000_000_000) as libc::time_t,
        tv_nsec: (deadline.0 % 1_000_000_000) as _,
    };
    loop {
        if signal::interrupted() > 0 {
            return Ok((Wake::Interrupted, now()));
        }
        // SAFETY: `time` is a valid timespec; an absolute sleep writes no remainder, so null is
        // allowed.
        let result = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &time,
                std::ptr::null_mut(),
            )
        };
        let woken = now();
        match result {
            0 => return Ok((Wake::OnTime, woken)),
            libc::EINTR => {}
            other => {
                return Err(HostError::call(Call::SleepUntil, this_thread(), Errno(other)));
            }
        }
    }
}

/// Ticks per second in `/proc/stat`.
pub(crate) fn user_hz() -> u64 {
    // SAFETY: sysconf takes a number and returns one.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    // POSIX lets it fail, Linux does not; 100 is USER_HZ on every architecture supported here.
    u64::try_from(ticks).ok().filter(|&ticks| ticks > 0).unwrap_or(100)
}
