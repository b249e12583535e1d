//! When a thread runs: the kernel's records of its context switches (perf), as they come.
#![expect(unsafe_code, reason = "the ring of a perf event lies in shared memory")]

use super::perf::{self, USER_ONLY};
use crate::{Call, Errno, HostError, Listen, Switch, SwitchRecord, Watched};
use flyball_units::Nanos;
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The records of one thread's doings. The kernel writes them into memory that is shared with this
/// process, so reading them takes no system call.
#[derive(Debug)]
pub struct SwitchWatch {
    // None on a recorded machine, where nothing runs.
    births: Option<Ring>,
    switches: Option<Switches>,
}

/// The switches of a thread by two events, of which one is on.
#[derive(Debug)]
struct Switches {
    /// Writes them quietly; a sample of its clock, which goes while the thread runs, wakes who waits.
    quiet: Ring,
    /// Writes them where births are written, and each wakes who waits.
    loud: File,
    now: Listen,
}

const TYPE_SOFTWARE: u32 = 1;
const COUNT_TASK_CLOCK: u64 = 1;
const COUNT_DUMMY: u64 = 9;
const SAMPLE_TIME: u64 = 1 << 2;
/// sample_id_all (the time in every record); use_clockid.
const TIMED: u64 = 1 << 18 | 1 << 25;
const DISABLED: u64 = 1;
/// task: makes and ends threads.
const TASK: u64 = 1 << 13;
/// watermark: any byte wakes, and not a number of samples.
const WATERMARK: u64 = 1 << 14;
/// context_switch.
const SWITCHES: u64 = 1 << 26;
/// `PERF_EVENT_IOC_ENABLE`, `_DISABLE`, `_SET_OUTPUT`.
const ENABLE: libc::Ioctl = 0x2400;
const DISABLE: libc::Ioctl = 0x2401;
const SET_OUTPUT: libc::Ioctl = 0x2405;

const RECORD_LOST: u32 = 2;
const RECORD_EXIT: u32 = 4;
const RECORD_FORK: u32 = 7;
const RECORD_SAMPLE: u32 = 9;
const RECORD_SWITCH: u32 = 14;
const SWITCHED_OUT: u16 = 1 << 13;
const PREEMPTED: u16 = 1 << 14;

impl SwitchWatch {
    /// Watches a thread from now on; switches as [`Listen::ToRuns`].
    pub(crate) fn open(
        tid: u32,
        what: Watched,
        object: impl Fn() -> String,
    ) -> Result<SwitchWatch, HostError> {
        let refused = |errno| HostError::call(Call::WatchSwitches, object(), errno);
        let event = |flags, config| perf::Attributes {
            kind: TYPE_SOFTWARE,
            config,
            sample_type: SAMPLE_TIME,
            // Without which perf_event_paranoid 2 refuses.
            flags: USER_ONLY | TIMED | flags,
            clock: libc::CLOCK_MONOTONIC,
            ..perf::Attributes::default()
        };
        let loud = |flags| perf::Attributes {
            wakeup_watermark: 1,
            ..event(WATERMARK | flags, COUNT_DUMMY)
        };
        let births = Ring::new(loud(TASK).open(tid, -1).map_err(refused)?, &object)?;
        let switches = match what {
            Watched::Births => None,
            Watched::Switches { every } => {
                let clock = || perf::Attributes {
                    sample_period: every.0,
                    // Of samples.
                    wakeup_watermark: 1,
                    ..event(SWITCHES, COUNT_TASK_CLOCK)
                };
                // Samples that fall into the kernel's own code are lost where only user mode may be seen.
                let whole = perf::Attributes { flags: clock().flags & !USER_ONLY, ..clock() };
                let quiet = whole.open(tid, -1).or_else(|_| clock().open(tid, -1));
                let loud = loud(SWITCHES | DISABLED).open(tid, -1).map_err(refused)?;
                control(&loud, SET_OUTPUT, births.file.as_raw_fd()).map_err(refused)?;
                let quiet = Ring::new(quiet.map_err(refused)?, &object)?;
                Some(Switches { quiet, loud, now: Listen::ToRuns })
            }
        };
        Ok(SwitchWatch { births: Some(births), switches })
    }

    /// A watch on a machine on which nothing runs.
    pub(crate) fn idle() -> SwitchWatch {
        SwitchWatch { births: None, switches: None }
    }

    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let quiet = self.switches.as_ref().map(|switches| &switches.quiet);
        self.births.iter().chain(quiet).map(|ring| ring.file.as_raw_fd())
    }

    /// Says what is to wake who waits, from now on.
    pub fn listen(&mut self, to: Listen) {
        let Some(switches) = self.switches.as_mut().filter(|switches| switches.now != to) else {
            return;
        };
        let (quiet, loud) = (&switches.quiet.file, &switches.loud);
        let (on, off) = match to {
            Listen::ToRuns => (quiet, loud),
            Listen::ToSwitches => (loud, quiet),
        };
        // What falls between is written twice, not never. Where the kernel refuses, both stay as they are.
        if control(on, ENABLE, 0).and_then(|()| control(off, DISABLE, 0)).is_ok() {
            switches.now = to;
        }
    }

    /// Adds what came since the last time to `records`, in order.
    pub fn read(&mut self, records: &mut Vec<SwitchRecord>) {
        let before = records.len();
        if let Some(births) = &mut self.births {
            births.take(records);
        }
        let mixed = records.len() > before;
        if let Some(switches) = &mut self.switches {
            switches.quiet.take(records);
        }
        if mixed {
            records.get_mut(before..).unwrap_or_default().sort_by_key(|record| record.at);
        }
    }
}

fn control(event: &File, request: libc::Ioctl, argument: RawFd) -> Result<(), Errno> {
    // SAFETY: requests that take a number.
    match unsafe { libc::ioctl(event.as_raw_fd(), request, argument) } {
        0 => Ok(()),
        _ => Err(Errno::last()),
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
    fn new(file: File, object: &impl Fn() -> String) -> Result<Ring, HostError> {
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

    fn take(&mut self, records: &mut Vec<SwitchRecord>) {
        while let Some(record) = self.next() {
            records.extend(record.parse());
        }
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
            RECORD_SAMPLE => Switch::Ran,
            _ => return None,
        };
        Some(SwitchRecord { at, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{clock, sched, task};
    use std::sync::mpsc::channel;

    const EVERY: Watched = Watched::Switches { every: Nanos::from_millis(3) };

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
        let mut watch = match SwitchWatch::open(tid, EVERY, || format!("thread {tid}"))
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

    fn run(time: Nanos) {
        let from = clock::now();
        while clock::now().since(from) < time {}
    }

    #[test]
    fn moments_wake_nobody_long_runs_do_and_switches_where_they_are_asked_for() {
        let (send, receive) = channel();
        let (go, wait) = channel::<()>();
        let (told, hear) = channel();
        let thread = std::thread::spawn(move || {
            send.send(sched::thread_id()).unwrap();
            // Moments; a long run; a sleep.
            wait.recv().unwrap();
            for _ in 0..50 {
                clock::sleep_until(clock::now() + Nanos::from_millis(1)).unwrap();
            }
            told.send(()).unwrap();
            wait.recv().unwrap();
            run(Nanos::from_millis(10));
            told.send(()).unwrap();
            wait.recv().unwrap();
            told.send(()).unwrap();
            wait.recv().unwrap();
        });
        let tid = receive.recv().unwrap();
        let every = Watched::Switches { every: Nanos::from_secs(1) };
        let mut watch = match SwitchWatch::open(tid, every, || format!("thread {tid}")) {
            Ok(watch) => watch,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let mut long = SwitchWatch::open(tid, EVERY, || format!("thread {tid}")).unwrap();
        let woken = |watch: &SwitchWatch| task::wait(watch.descriptors(), Some(clock::now()), 0).unwrap();
        let mut records = Vec::new();
        go.send(()).unwrap();
        hear.recv().unwrap();
        assert!(!woken(&watch));
        watch.read(&mut records);
        assert!(records.iter().filter(|it| it.what == Switch::In).count() >= 50, "{records:?}");
        go.send(()).unwrap();
        hear.recv().unwrap();
        assert!(woken(&long));
        records.clear();
        long.read(&mut records);
        assert!(records.iter().any(|it| it.what == Switch::Ran), "{records:?}");
        records.clear();
        watch.read(&mut records);
        watch.listen(Listen::ToSwitches);
        records.clear();
        go.send(()).unwrap();
        hear.recv().unwrap();
        assert!(woken(&watch));
        watch.read(&mut records);
        assert!(records.iter().any(|it| it.what == Switch::In), "{records:?}");
        watch.listen(Listen::ToRuns);
        go.send(()).unwrap();
        thread.join().unwrap();
        watch.read(&mut records);
        assert!(records.iter().any(|it| it.what == Switch::Ended), "{records:?}");
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
