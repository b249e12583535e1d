//! When a thread runs: the kernel's records of its context switches (perf), as they come.
#![expect(unsafe_code, reason = "the ring of a perf event lies in shared memory")]

use super::perf::{self, USER_ONLY};
use crate::{Call, Errno, HostError, Switch, SwitchRecord, Watched};
use flyball_units::Nanos;
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The records of one thread's switches. The kernel writes them into memory that is shared with this
/// process, so reading them takes no system call.
#[derive(Debug)]
pub struct SwitchWatch {
    // None on a recorded machine, where nothing runs.
    ring: Option<Ring>,
}

const TYPE_SOFTWARE: u32 = 1;
const COUNT_DUMMY: u64 = 9;
const SAMPLE_TIME: u64 = 1 << 2;
/// User mode only, without which perf_event_paranoid 2 refuses; task (makes and ends threads); watermark;
/// sample_id_all (the time in every record); use_clockid.
const FLAGS: u64 = USER_ONLY | 1 << 13 | 1 << 14 | 1 << 18 | 1 << 25;
/// context_switch.
const SWITCHES: u64 = 1 << 26;

const RECORD_LOST: u32 = 2;
const RECORD_EXIT: u32 = 4;
const RECORD_FORK: u32 = 7;
const RECORD_SWITCH: u32 = 14;
const SWITCHED_OUT: u16 = 1 << 13;
const PREEMPTED: u16 = 1 << 14;

impl SwitchWatch {
    /// Watches a thread from now on.
    pub(crate) fn open(
        tid: u32,
        what: Watched,
        object: impl Fn() -> String,
    ) -> Result<SwitchWatch, HostError> {
        let flags = FLAGS | if what == Watched::Switches { SWITCHES } else { 0 };
        let attributes = perf::Attributes {
            kind: TYPE_SOFTWARE,
            config: COUNT_DUMMY,
            sample_type: SAMPLE_TIME,
            flags,
            wakeup_watermark: 1,
            clock: libc::CLOCK_MONOTONIC,
            ..perf::Attributes::default()
        };
        let file = attributes
            .open(tid, -1)
            .map_err(|errno| HostError::call(Call::WatchSwitches, object(), errno))?;
        Ring::new(file, object).map(|ring| SwitchWatch { ring: Some(ring) })
    }

    /// A watch on a machine on which nothing runs.
    pub(crate) fn idle() -> SwitchWatch {
        SwitchWatch { ring: None }
    }

    pub(crate) fn descriptor(&self) -> Option<RawFd> {
        self.ring.as_ref().map(|ring| ring.file.as_raw_fd())
    }

    /// Adds what came since the last time to `records`.
    pub fn read(&mut self, records: &mut Vec<SwitchRecord>) {
        let Some(ring) = &mut self.ring else { return };
        while let Some(record) = ring.next() {
            records.extend(record.parse());
        }
    }
}

/// A page of head and tail, then the data, as `mmap` gives them.
#[derive(Debug)]
struct Ring {
    file: File,
    base: NonNull<u8>,
    page: usize,
}

// SAFETY: the memory belongs to this object alone; the kernel's side is only touched by atomics.
unsafe impl Send for Ring {}

/// Offsets of `data_head` and `data_tail` in `struct perf_event_mmap_page`.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// A record: its header's type and flags, and what follows the header.
struct Record {
    kind: u32,
    flags: u16,
    body: [u8; Record::LONGEST],
    length: usize,
}

impl Ring {
    fn new(file: File, object: impl Fn() -> String) -> Result<Ring, HostError> {
        // SAFETY: numbers only.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        // SAFETY: a new mapping of the descriptor, at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                2 * page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast::<libc::c_void>() != libc::MAP_FAILED => {
                Ok(Ring { file, base, page })
            }
            _ => {
                let errno = Errno::last();
                Err(HostError::call(Call::WatchSwitches, object(), errno))
            }
        }
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both offsets lie within the first page, are aligned, and the kernel reads and writes
        // them as atomics.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }

    /// The byte at `position` of the endless stream that the ring holds the end of.
    fn byte(&self, position: u64) -> u8 {
        let offset = self.page + (position % self.page as u64) as usize;
        // SAFETY: `offset` lies within the second page, and the kernel does not write what lies
        // between tail and head.
        unsafe { self.base.as_ptr().add(offset).read_volatile() }
    }

    fn next(&mut self) -> Option<Record> {
        let (head, tail) = (self.word(HEAD).load(Ordering::Acquire), self.word(TAIL));
        let at = tail.load(Ordering::Relaxed);
        let mut header = [0; 8];
        let there = head.wrapping_sub(at);
        if there < header.len() as u64 {
            return None;
        }
        for (offset, byte) in (0..).zip(&mut header) {
            *byte = self.byte(at.wrapping_add(offset));
        }
        let [a, b, c, d, e, f, g, h] = header;
        let size = u64::from(u16::from_ne_bytes([g, h]));
        if size < 8 || size > there {
            // What the kernel never writes: nothing after it can be read either.
            tail.store(head, Ordering::Release);
            return None;
        }
        let length = (size as usize - 8).min(Record::LONGEST);
        let mut body = [0; Record::LONGEST];
        for (offset, byte) in (8..).zip(&mut body[..length]) {
            *byte = self.byte(at.wrapping_add(offset));
        }
        tail.store(at.wrapping_add(size), Ordering::Release);
        let (kind, flags) = (u32::from_ne_bytes([a, b, c, d]), u16::from_ne_bytes([e, f]));
        Some(Record { kind, flags, body, length })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this mapping, of this length, and nobody refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), 2 * self.page) };
    }
}

impl Record {
    /// Bytes that any of the records here may have after the header.
    const LONGEST: usize = 40;

    fn parse(&self) -> Option<SwitchRecord> {
        let number = |at: usize| {
            let bytes = self.body.get(at..at + 4).filter(|_| at + 4 <= self.length)?;
            bytes.try_into().ok().map(u32::from_ne_bytes)
        };
        // sample_id_all puts the time at the end.
        let time = self.body.get(self.length.checked_sub(8)?..self.length)?;
        let at = Nanos(u64::from_ne_bytes(time.try_into().ok()?));
        let what = match self.kind {
            RECORD_SWITCH if self.flags & SWITCHED_OUT == 0 => Switch::In,
            RECORD_SWITCH => Switch::Out { ready: self.flags & PREEMPTED != 0 },
            // pid, parent's pid, tid, parent's tid.
            RECORD_FORK => Switch::Made { pid: number(0)?, tid: number(8)? },
            RECORD_EXIT => Switch::Ended,
            RECORD_LOST => Switch::Lost,
            _ => return None,
        };
        Some(SwitchRecord { at, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{clock, sched};
    use std::sync::mpsc::channel;

    #[test]
    fn a_thread_that_sleeps_makes_another_and_ends_is_seen() {
        let (send, receive) = channel();
        let (go, wait) = channel::<()>();
        let thread = std::thread::spawn(move || {
            send.send(sched::thread_id()).unwrap();
            // Sleeps until it is watched.
            wait.recv().unwrap();
            let from = clock::now();
            while clock::now().since(from) < Nanos::from_millis(5) {}
            clock::sleep_until(clock::now() + Nanos::from_millis(5)).unwrap();
            std::thread::spawn(|| ()).join().unwrap();
        });
        let tid = receive.recv().unwrap();
        let begin = clock::now();
        let births = SwitchWatch::open(tid, Watched::Births, || format!("thread {tid}"));
        let mut watch = match SwitchWatch::open(tid, Watched::Switches, || format!("thread {tid}"))
        {
            Ok(watch) => watch,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        go.send(()).unwrap();
        thread.join().unwrap();
        let mut records = Vec::new();
        watch.read(&mut records);
        let end = clock::now();
        let sleeps = records.iter().filter(|it| it.what == Switch::Out { ready: false }).count();
        let runs = records.iter().filter(|it| it.what == Switch::In).count();
        assert!(sleeps >= 1 && runs >= 2, "{records:?}");
        let pid = std::process::id();
        let made = |it: &SwitchRecord| matches!(it.what, Switch::Made { pid: of, tid: new } if of == pid && new != tid);
        assert!(records.iter().any(made), "{records:?}");
        assert!(records.iter().any(|it| it.what == Switch::Ended), "{records:?}");
        assert!(records.is_sorted_by_key(|it| it.at), "{records:?}");
        assert!(records.iter().all(|it| it.at >= begin && it.at <= end), "{records:?}");
        let before = records.len();
        watch.read(&mut records);
        assert_eq!(records.len(), before);
        records.clear();
        births.unwrap().read(&mut records);
        let kinds: Vec<_> = records.iter().map(|it| it.what).collect();
        assert!(matches!(kinds[..], [Switch::Made { .. }, Switch::Ended]), "{kinds:?}");
    }

    #[test]
    fn odd_records_are_passed_over() {
        let record = |kind, length| Record { kind, flags: 0, body: [0; Record::LONGEST], length };
        assert_eq!(record(RECORD_SWITCH, 4).parse(), None);
        assert_eq!(record(RECORD_FORK, 8).parse(), None);
        assert_eq!(record(99, 16).parse(), None);
        assert!(record(RECORD_SWITCH, 8).parse().is_some());
    }
}
