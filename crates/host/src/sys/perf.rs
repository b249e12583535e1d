//! Opening perf events.
#![expect(unsafe_code, reason = "perf_event_open takes a pointer and returns a descriptor")]

use crate::Errno;
use std::fs::File;
use std::os::fd::{FromRawFd, RawFd};

/// `struct perf_event_attr`, version 5 (Linux 4.1) of include/uapi/linux/perf_event.h, 112 bytes. Older
/// kernels take it, too, where what they do not know is zero.
#[repr(C)]
#[derive(Default)]
pub(super) struct Attributes {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup_watermark: u32,
    pub breakpoint_type: u32,
    pub config1: u64,
    pub config2: u64,
    pub branch_sample_type: u64,
    pub sample_registers_user: u64,
    pub sample_stack_user: u32,
    pub clock: i32,
    pub sample_registers_interrupt: u64,
    pub aux_watermark: u32,
    pub sample_max_stack: u16,
    pub reserved: u16,
}

/// exclude_kernel and exclude_hv: allowed up to perf_event_paranoid 2.
pub(super) const USER_ONLY: u64 = 1 << 5 | 1 << 6;
/// PERF_FLAG_FD_CLOEXEC.
const CLOSE_ON_EXEC: u64 = 8;

impl Attributes {
    /// The event of a thread (0: the calling one) on any CPU, in the group of `leader` or, with -1, as one.
    pub(super) fn open(mut self, tid: u32, leader: RawFd) -> Result<File, Errno> {
        self.size = size_of::<Attributes>() as u32;
        // SAFETY: `self` is the kernel's structure with its size inside and outlives the call.
        let descriptor = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &self, tid, -1, leader, CLOSE_ON_EXEC)
        };
        if descriptor < 0 {
            return Err(Errno::last());
        }
        // SAFETY: the kernel just gave this descriptor to us alone.
        Ok(unsafe { File::from_raw_fd(descriptor as RawFd) })
    }
}
