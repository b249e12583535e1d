//! Cycle counters of the calling thread, by perf events.

use super::perf::{self, USER_ONLY};
use super::this_thread;
use crate::{Call, Cycles, Errno, HostError};
use flyball_units::Nanos;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, RawFd};

const TYPE_HARDWARE: u32 = 0;
const CPU_CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;
const REF_CPU_CYCLES: u64 = 9;
/// PERF_FORMAT_TOTAL_TIME_ENABLED, _TOTAL_TIME_RUNNING and _GROUP.
const READ_FORMAT: u64 = 1 | 2 | 8;

/// Cycles, reference cycles and instructions of the thread that opened it, as one group: they
/// count over exactly the same time. One system call per reading, no allocation.
#[derive(Debug)]
pub struct CycleCounter {
    // None on a recorded machine, where nothing runs and every count stays zero.
    leader: Option<File>,
    // Held open: closing a member takes it out of the group.
    _members: Vec<File>,
    has_ref_cycles: bool,
}

impl CycleCounter {
    /// Opens the group for the calling thread.
    pub(crate) fn open() -> Result<CycleCounter, HostError> {
        let leader = open_event(CPU_CYCLES, -1).map_err(explain)?;
        let instructions = open_event(INSTRUCTIONS, leader.as_raw_fd()).map_err(explain)?;
        let mut members = vec![instructions];
        // Last, since it is the one that may be missing.
        let ref_cycles = open_event(REF_CPU_CYCLES, leader.as_raw_fd()).ok();
        let has_ref_cycles = ref_cycles.is_some();
        members.extend(ref_cycles);
        Ok(CycleCounter { leader: Some(leader), _members: members, has_ref_cycles })
    }

    /// The counters of a machine on which nothing runs.
    pub(crate) fn idle() -> CycleCounter {
        CycleCounter { leader: None, _members: Vec::new(), has_ref_cycles: true }
    }

    /// The counts now.
    pub fn read(&mut self) -> Result<Cycles, HostError> {
        let Some(leader) = &mut self.leader else { return Ok(Cycles::default()) };
        // Layout with READ_FORMAT: number of events, time enabled, time running, values.
        let mut buffer = [0u8; 6 * 8];
        let length = leader
            .read(&mut buffer)
            .map_err(|error| HostError::call(Call::OpenCycles, this_thread(), Errno::of(&error)))?;
        let events = 2 + usize::from(self.has_ref_cycles);
        if length != (3 + events) * 8 {
            // A group that could not be scheduled at all reads as end of file.
            return Err(HostError::malformed(
                "perf event group",
                format!("{} bytes", (3 + events) * 8),
                &format!("{length} bytes"),
            ));
        }
        let word = |index: usize| {
            let mut bytes = [0u8; 8];
            bytes.copy_from_slice(&buffer[index * 8..index * 8 + 8]);
            u64::from_ne_bytes(bytes)
        };
        Ok(Cycles {
            cycles: word(3),
            instructions: word(4),
            ref_cycles: self.has_ref_cycles.then(|| word(5)),
            enabled: Nanos(word(1)),
            running: Nanos(word(2)),
        })
    }
}

/// Opens one hardware event of the calling thread on any CPU, in the group of `leader` or as one.
fn open_event(config: u64, leader: RawFd) -> Result<File, Errno> {
    let attributes = perf::Attributes {
        kind: TYPE_HARDWARE,
        config,
        read_format: READ_FORMAT,
        flags: USER_ONLY,
        ..perf::Attributes::default()
    };
    attributes.open(0, leader)
}

/// Why the counters can't be opened.
fn explain(errno: Errno) -> HostError {
    match errno {
        Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV => HostError::unsupported(
            Call::OpenCycles,
            "cycles of this thread",
            format!("no hardware cycle counter here (a virtual machine without a PMU?): {errno}"),
        ),
        Errno::ENOSYS => HostError::unsupported(
            Call::OpenCycles,
            "cycles of this thread",
            "the kernel was built without perf events, or a sandbox hides them",
        ),
        errno => HostError::call(Call::OpenCycles, "cycles of this thread", errno),
    }
}
