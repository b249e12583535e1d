//! Where and how the calling thread is scheduled.
#![expect(unsafe_code, reason = "scheduling system calls take pointers to structures")]

use super::{check, this_thread};
use crate::{Call, Errno, FairShare, HostError, Scheduling};
use flyball_units::{CpuId, CpuSet, Nanos};

/// `struct sched_attr` as of Linux 3.14 (include/uapi/linux/sched/types.h), 48 bytes: the first
/// version, which every later kernel accepts.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

// Policy numbers of include/uapi/linux/sched.h.
const OTHER: u32 = 0;
const FIFO: u32 = 1;
const ROUND_ROBIN: u32 = 2;
const BATCH: u32 = 3;
const IDLE: u32 = 5;
const DEADLINE: u32 = 6;
const EXTENSIBLE: u32 = 7;

/// Words of a CPU mask: room for [`CpuSet::LIMIT`] CPUs.
const MASK_WORDS: usize = CpuSet::LIMIT as usize / 64;

/// The CPU under the calling thread: some 5 to 20 ns, without a system call where the C library
/// and the kernel can do that (rseq, vDSO).
#[inline]
pub fn current_cpu() -> Result<CpuId, HostError> {
    // SAFETY: takes nothing, returns a number.
    let cpu = unsafe { libc::sched_getcpu() };
    check(i64::from(cpu), Call::CurrentCpu, this_thread).map(|cpu| CpuId(cpu as u32))
}

/// The kernel's number of the calling thread.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: takes nothing, returns a positive number, never fails.
    unsafe { libc::gettid() as u32 }
}

/// Confines the calling thread; not read back.
pub(crate) fn set_affinity(cpus: &CpuSet) -> Result<(), HostError> {
    let words = cpus.words();
    // SAFETY: the pointer and the length in bytes are those of `words`; the kernel takes masks
    // of any length and ignores bits of CPUs it does not have.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(words), words.as_ptr())
    };
    check(result, Call::AffinitySet, || format!("CPUs {cpus}")).map(drop)
}

/// The CPUs allowed to the calling thread.
pub(crate) fn affinity() -> Result<CpuSet, HostError> {
    let mut words = [0u64; MASK_WORDS];
    // SAFETY: the pointer and the length in bytes are those of `words`. The raw call returns the
    // bytes it wrote; the rest stays zero.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&words), words.as_mut_ptr())
    };
    check(result, Call::AffinityGet, this_thread)?;
    Ok(CpuSet::from_words(&words))
}

/// Sets the calling thread's class; not read back.
pub(crate) fn set_scheduling(scheduling: Scheduling) -> Result<(), HostError> {
    let mut attributes = SchedAttr { size: size_of::<SchedAttr>() as u32, ..SchedAttr::default() };
    match scheduling {
        Scheduling::Other { nice } => (attributes.policy, attributes.nice) = (OTHER, nice),
        Scheduling::Batch { nice } => (attributes.policy, attributes.nice) = (BATCH, nice),
        Scheduling::Extensible { nice } => {
            (attributes.policy, attributes.nice) = (EXTENSIBLE, nice)
        }
        Scheduling::Idle => attributes.policy = IDLE,
        Scheduling::Fifo { priority } => {
            (attributes.policy, attributes.priority) = (FIFO, priority);
        }
        Scheduling::RoundRobin { priority } => {
            (attributes.policy, attributes.priority) = (ROUND_ROBIN, priority);
        }
        Scheduling::Deadline { runtime, deadline, period } => {
            attributes.policy = DEADLINE;
            (attributes.runtime, attributes.deadline, attributes.period) =
                (runtime.0, deadline.0, period.0);
        }
    }
    // SAFETY: `attributes` is the kernel's structure, its own size inside, and outlives the call.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &attributes, 0) };
    check(result, Call::SchedulingSet, || scheduling.to_string()).map(drop)
}

/// The calling thread's class.
pub(crate) fn scheduling() -> Result<Scheduling, HostError> {
    let mut attributes = SchedAttr::default();
    let size = size_of::<SchedAttr>() as u32;
    // SAFETY: the kernel writes at most `size` bytes into `attributes`.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &mut attributes, size, 0) };
    check(result, Call::SchedulingGet, this_thread)?;
    Ok(match attributes.policy {
        OTHER => Scheduling::Other { nice: attributes.nice },
        BATCH => Scheduling::Batch { nice: attributes.nice },
        IDLE => Scheduling::Idle,
        FIFO => Scheduling::Fifo { priority: attributes.priority },
        ROUND_ROBIN => Scheduling::RoundRobin { priority: attributes.priority },
        EXTENSIBLE => Scheduling::Extensible { nice: attributes.nice },
        DEADLINE => Scheduling::Deadline {
            runtime: Nanos(attributes.runtime),
            deadline: Nanos(attributes.deadline),
            period: Nanos(attributes.period),
        },
        other => {
            return Err(HostError::malformed(
                this_thread(),
                "a known scheduling policy number",
                &other.to_string(),
            ));
        }
    })
}

/// `struct sched_attr` as of Linux 5.3, 56 bytes: with utilisation clamps.
#[repr(C)]
#[derive(Default)]
pub(super) struct ClampedAttr {
    base: SchedAttr,
    pub(super) least: u32,
    pub(super) most: u32,
}

impl ClampedAttr {
    /// What a fair thread has of its CPU; none of another class.
    pub(super) fn fair_share(&self) -> Option<FairShare> {
        let SchedAttr { policy, nice, runtime, .. } = self.base;
        let fair = [OTHER, BATCH, EXTENSIBLE].contains(&policy);
        fair.then_some(FairShare { nice, slice: Nanos(runtime), most: self.most })
    }
}

/// What sets that and leaves everything else as it is. A kernel without clamps refuses their flag.
pub(super) fn keeping_class(share: FairShare) -> ClampedAttr {
    let clamp = if share.most > 0 { CLAMP_MOST } else { 0 };
    ClampedAttr {
        base: SchedAttr {
            size: size_of::<ClampedAttr>() as u32,
            flags: KEEP_POLICY | clamp,
            nice: share.nice,
            runtime: share.slice.0,
            ..SchedAttr::default()
        },
        least: 0,
        most: share.most,
    }
}

// Flags of include/uapi/linux/sched.h: leave policy and parameters alone, set both clamps.
const KEEP_POLICY: u64 = 0x08;
const KEEP_PARAMETERS: u64 = 0x10;
const CLAMP_LEAST: u64 = 0x20;
const CLAMP_MOST: u64 = 0x40;

/// What sets the lower clamp and leaves everything else as it is.
pub(super) fn keeping_clamp(least: u32) -> ClampedAttr {
    ClampedAttr {
        base: SchedAttr {
            size: size_of::<ClampedAttr>() as u32,
            flags: KEEP_POLICY | KEEP_PARAMETERS | CLAMP_LEAST,
            ..SchedAttr::default()
        },
        least,
        most: 0,
    }
}

/// Sets the calling thread's utilisation clamps; not read back. 0 and 1024 take them away: a real-time thread, and one that
/// inherits from it, has then the kernel's default again, which a lower clamp of 0 would not be. Before 5.11 there is no
/// taking away.
pub(crate) fn set_utilization_clamp(least: u32, most: u32) -> Result<(), HostError> {
    const TAKEN_AWAY: u32 = u32::MAX;
    if (least, most) == (0, 1024) {
        let taken = set_clamps(TAKEN_AWAY, TAKEN_AWAY);
        if !matches!(&taken, Err(error) if error.errno() == Some(Errno::EINVAL)) {
            return taken;
        }
    }
    set_clamps(least, most)
}

fn set_clamps(least: u32, most: u32) -> Result<(), HostError> {
    let attributes = ClampedAttr {
        base: SchedAttr {
            size: size_of::<ClampedAttr>() as u32,
            flags: KEEP_POLICY | KEEP_PARAMETERS | CLAMP_LEAST | CLAMP_MOST,
            ..SchedAttr::default()
        },
        least,
        most,
    };
    // SAFETY: `attributes` is the kernel's structure, its own size inside, and outlives the call.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &attributes, 0) };
    check(result, Call::UtilizationClampSet, || format!("{least} to {most}")).map(drop)
}

/// The calling thread's utilisation clamps.
pub(crate) fn utilization_clamp() -> Result<(u32, u32), HostError> {
    let mut attributes = ClampedAttr::default();
    let size = size_of::<ClampedAttr>() as u32;
    // SAFETY: the kernel writes at most `size` bytes into `attributes`.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &mut attributes, size, 0) };
    check(result, Call::UtilizationClampSet, this_thread)?;
    Ok((attributes.least, attributes.most))
}

/// Sets the calling thread's timer slack; not read back.
pub(crate) fn set_timer_slack(slack: Nanos) -> Result<(), HostError> {
    // SAFETY: numbers only.
    let result = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack.0 as libc::c_ulong, 0, 0, 0) };
    check(i64::from(result), Call::TimerSlackSet, this_thread).map(drop)
}

/// The calling thread's timer slack. The C library narrows the result to 32 bits: slacks above
/// 2.1 s come out wrong, so the raw call is used.
pub(crate) fn timer_slack() -> Result<Nanos, HostError> {
    // SAFETY: numbers only.
    let result = unsafe { libc::syscall(libc::SYS_prctl, libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    check(result, Call::TimerSlackGet, this_thread).map(|slack| Nanos(slack as u64))
}
