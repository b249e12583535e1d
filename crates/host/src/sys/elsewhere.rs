//! Where there is no Linux: time passes (but for WebAssembly, which has no clock), and whatever asks the system for
//! more is refused as unsupported. What a recorded machine hands out is there.

use crate::{Call, HostError};

fn refused<T>(call: Call, object: impl std::fmt::Display) -> Result<T, HostError> {
    Err(HostError::unsupported(call, object, "only Linux has this"))
}

pub(crate) mod access {
    use crate::Errno;
    use std::path::Path;

    #[cfg_attr(unix, expect(unsafe_code, reason = "two numbers of the C library"))]
    pub(crate) fn effective_user() -> u32 {
        #[cfg(unix)]
        // SAFETY: returns a number, and cannot fail.
        return unsafe { libc::geteuid() };
        #[cfg(not(unix))]
        0
    }

    #[cfg_attr(unix, expect(unsafe_code, reason = "two numbers of the C library"))]
    pub(crate) fn effective_group() -> u32 {
        #[cfg(unix)]
        // SAFETY: returns a number, and cannot fail.
        return unsafe { libc::getegid() };
        #[cfg(not(unix))]
        0
    }

    pub(crate) fn may_write(path: &Path) -> Result<(), Errno> {
        match std::fs::metadata(path) {
            Ok(found) if found.permissions().readonly() => Err(Errno::EACCES),
            Ok(_) => Ok(()),
            Err(error) => Err(Errno::of(&error)),
        }
    }
}

pub(crate) mod bell {
    use super::refused;
    use crate::sys::socket::ControlSocket;
    use crate::{Call, HostError, Woken};
    use flyball_units::Nanos;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Remembers that it was rung; nobody can wait for it here.
    #[derive(Debug)]
    pub struct Bell(AtomicBool);

    impl Bell {
        /// A silent bell.
        pub(crate) fn new() -> Result<Bell, HostError> {
            Ok(Bell(AtomicBool::new(false)))
        }

        /// Rings it.
        pub fn ring(&self) {
            self.0.store(true, Ordering::Release);
        }

        /// Whether it was rung since the last time; it is silent again.
        pub(crate) fn silence(&self) -> bool {
            self.0.swap(false, Ordering::AcqRel)
        }

        pub(crate) fn wait(
            &self,
            _socket: Option<&ControlSocket>,
            _deadline: Nanos,
        ) -> Result<Woken, HostError> {
            refused(Call::WaitBell, "a bell")
        }
    }
}

pub(crate) mod bpf {
    use super::refused;
    use crate::{BpfMapSpec, BpfProgramSpec, Call, HostError};

    /// Loads programs into the kernel: there is none that takes them.
    #[derive(Debug)]
    pub struct Bpf(());

    /// There is none.
    #[derive(Debug)]
    pub enum BpfTypes {}

    /// There is none.
    #[derive(Debug)]
    pub enum BpfMap {}

    /// There is none.
    #[derive(Debug)]
    pub enum BpfProgram {}

    /// There is none.
    #[derive(Debug)]
    pub enum BpfLink {}

    #[allow(clippy::missing_errors_doc, reason = "everything is refused")]
    impl Bpf {
        pub(crate) fn new() -> Bpf {
            Bpf(())
        }

        /// Refused.
        pub fn types(&self, _bytes: &[u8]) -> Result<BpfTypes, HostError> {
            refused(Call::Bpf, "types")
        }

        /// Refused.
        pub fn map(
            &self,
            spec: BpfMapSpec,
            _types: Option<&BpfTypes>,
        ) -> Result<BpfMap, HostError> {
            refused(Call::Bpf, spec.name)
        }

        /// Refused.
        pub fn program(
            &self,
            spec: &BpfProgramSpec,
            _types: &BpfTypes,
        ) -> Result<BpfProgram, HostError> {
            refused(Call::Bpf, &spec.name)
        }
    }

    #[allow(clippy::missing_errors_doc, reason = "there is none")]
    impl BpfMap {
        /// Its descriptor.
        pub fn number(&self) -> i32 {
            match *self {}
        }

        /// Bytes of a value.
        pub fn value_bytes(&self) -> usize {
            match *self {}
        }

        /// The value of a key.
        pub fn look_up(&self, _key: &[u8]) -> Result<Option<Vec<u8>>, HostError> {
            match *self {}
        }

        /// Sets it.
        pub fn update(&self, _key: &[u8], _value: &[u8]) -> Result<(), HostError> {
            match *self {}
        }

        /// Removes it.
        pub fn remove(&self, _key: &[u8]) -> Result<(), HostError> {
            match *self {}
        }

        /// Hands it to the kernel.
        pub fn register(&self) -> Result<BpfLink, HostError> {
            match *self {}
        }
    }

    #[allow(clippy::missing_errors_doc, reason = "there is none")]
    impl BpfProgram {
        /// Its descriptor.
        pub fn number(&self) -> i32 {
            match *self {}
        }

        /// Attaches it.
        pub fn attach(&self) -> Result<BpfLink, HostError> {
            match *self {}
        }

        /// Runs it once.
        pub fn run(&self) -> Result<u32, HostError> {
            match *self {}
        }
    }
}

pub(crate) mod clock {
    use super::refused;
    use crate::{Call, HostError, Wake};
    use flyball_units::Nanos;

    /// Time since the first call; always none where there is no clock.
    pub fn now() -> Nanos {
        #[cfg(not(target_family = "wasm"))]
        {
            static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
            let begin = *BEGIN.get_or_init(std::time::Instant::now);
            Nanos(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX))
        }
        #[cfg(target_family = "wasm")]
        Nanos::ZERO
    }

    pub(crate) fn boot_time() -> Nanos {
        now()
    }

    /// Time since 1970 (UTC); none where there is no clock.
    pub fn realtime() -> Nanos {
        #[cfg(not(target_family = "wasm"))]
        {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            since.map_or(Nanos::ZERO, |since| {
                Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
            })
        }
        #[cfg(target_family = "wasm")]
        Nanos::ZERO
    }

    /// Not known here.
    pub fn thread_cpu_time() -> Nanos {
        Nanos::ZERO
    }

    pub(crate) fn process_cpu_time() -> Nanos {
        Nanos::ZERO
    }

    pub(crate) fn cpu_time_of(tid: u32) -> Result<Nanos, HostError> {
        refused(Call::CpuTimeOf, format!("thread {tid}"))
    }

    /// Sleeps until [`now`] reaches `deadline`.
    pub fn sleep_until(deadline: Nanos) -> Result<Wake, HostError> {
        wait_until(deadline).map(|(wake, _)| wake)
    }

    /// As [`sleep_until`], and tells the time.
    pub fn wait_until(deadline: Nanos) -> Result<(Wake, Nanos), HostError> {
        if cfg!(target_family = "wasm") {
            return refused(Call::SleepUntil, "this thread");
        }
        let rest = deadline.since(now());
        #[expect(clippy::disallowed_methods, reason = "this is where the door opens")]
        std::thread::sleep(std::time::Duration::from_nanos(rest.0));
        Ok((Wake::OnTime, now()))
    }

    pub(crate) fn user_hz() -> u64 {
        100
    }
}

pub(crate) mod cycles {
    use super::refused;
    use crate::{Call, Cycles, HostError};

    /// The counters of a machine on which nothing runs.
    #[derive(Debug)]
    pub struct CycleCounter(());

    impl CycleCounter {
        pub(crate) fn open() -> Result<CycleCounter, HostError> {
            refused(Call::OpenCycles, "cycles of this thread")
        }

        pub(crate) fn idle() -> CycleCounter {
            CycleCounter(())
        }

        /// Nothing.
        pub fn read(&mut self) -> Result<Cycles, HostError> {
            Ok(Cycles::default())
        }
    }
}

pub(crate) mod memory {
    use super::refused;
    use crate::{Call, HostError};

    pub(crate) fn lock_all() -> Result<(), HostError> {
        refused(Call::LockMemory, "this process")
    }

    pub(crate) fn unlock_all() -> Result<(), HostError> {
        refused(Call::UnlockMemory, "this process")
    }

    pub(crate) fn load(_range: std::ops::Range<usize>) -> Result<(), HostError> {
        refused(Call::LoadProgram, "this process")
    }

    pub(crate) fn prefault_stack(_bytes: usize) -> Result<(), HostError> {
        refused(Call::PrefaultStack, "this thread")
    }
}

pub(crate) mod process {
    use super::refused;
    use crate::{Call, Exit, HostError, ProcessSpec, Signal};
    use flyball_units::Nanos;

    /// A running child: there is none.
    #[derive(Debug)]
    pub enum Child {}

    impl Child {
        pub(crate) fn spawn(spec: &ProcessSpec) -> Result<Child, HostError> {
            refused(Call::Spawn, spec.program.to_string_lossy())
        }

        /// The child's process id.
        pub fn id(&self) -> u32 {
            match *self {}
        }

        /// Waits for the end.
        pub fn wait(&mut self, _deadline: Option<Nanos>) -> Result<Option<Exit>, HostError> {
            match *self {}
        }

        /// Ends the child's process group at once.
        pub fn kill(&mut self) -> Result<(), HostError> {
            match *self {}
        }

        /// Asks the child's process group to end.
        pub fn terminate(&mut self) -> Result<(), HostError> {
            match *self {}
        }

        /// Passes `signal` on.
        pub fn send(&mut self, _signal: Signal) -> Result<(), HostError> {
            match *self {}
        }
    }

    pub(crate) fn spawn_detached(spec: &ProcessSpec) -> Result<u32, HostError> {
        refused(Call::Spawn, spec.program.to_string_lossy())
    }
}

pub(crate) mod sched {
    use super::refused;
    use crate::{Call, HostError, Scheduling};
    use flyball_units::{CpuId, CpuSet, Nanos};

    /// Not known here.
    pub fn current_cpu() -> Result<CpuId, HostError> {
        refused(Call::CurrentCpu, "this thread")
    }

    pub(crate) fn thread_id() -> u32 {
        0
    }

    pub(crate) fn set_affinity(cpus: &CpuSet) -> Result<(), HostError> {
        refused(Call::AffinitySet, format!("CPUs {cpus}"))
    }

    pub(crate) fn affinity() -> Result<CpuSet, HostError> {
        refused(Call::AffinityGet, "this thread")
    }

    pub(crate) fn set_scheduling(scheduling: Scheduling) -> Result<(), HostError> {
        refused(Call::SchedulingSet, scheduling.to_string())
    }

    pub(crate) fn scheduling() -> Result<Scheduling, HostError> {
        refused(Call::SchedulingGet, "this thread")
    }

    pub(crate) fn set_utilization_clamp(_least: u32, _most: u32) -> Result<(), HostError> {
        refused(Call::UtilizationClampSet, "this thread")
    }

    pub(crate) fn utilization_clamp() -> Result<(u32, u32), HostError> {
        refused(Call::UtilizationClampSet, "this thread")
    }

    pub(crate) fn set_timer_slack(_slack: Nanos) -> Result<(), HostError> {
        refused(Call::TimerSlackSet, "this thread")
    }

    pub(crate) fn timer_slack() -> Result<Nanos, HostError> {
        refused(Call::TimerSlackGet, "this thread")
    }
}

pub(crate) mod signal {
    use crate::{HostError, Signal};
    use flyball_units::Nanos;

    /// A request to end ends the process here.
    pub fn interrupted() -> u32 {
        0
    }

    /// None is caught.
    pub fn last() -> Option<Signal> {
        None
    }

    #[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
    pub(crate) fn catch_interrupts() -> Result<(), HostError> {
        Ok(())
    }

    /// What the system does anyway.
    pub fn end_on_signals() {}

    /// The first request ends the process already.
    pub fn end_soon(_grace: Nanos) {}
}

pub(crate) mod programs {
    use super::refused;
    use super::task::RawFd;
    use crate::{Call, HostError};
    use std::convert::Infallible;
    use std::path::Path;

    /// A socket that programs may talk to: there is none.
    #[derive(Debug)]
    pub enum ProgramSocket {}

    /// A program at the socket.
    #[derive(Debug)]
    pub struct Guest {
        nobody: Infallible,
        /// Its number at this socket.
        pub number: u64,
        /// The user that connected.
        pub user: u32,
        /// The process that connected.
        pub pid: u32,
    }

    /// Where somebody has something.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Knock {
        /// Somebody new is there.
        New,
        /// This guest said something, or has gone.
        Guest(u64),
    }

    impl ProgramSocket {
        pub(crate) fn listen(
            path: &Path,
            _everybody: bool,
            _locked: bool,
        ) -> Result<ProgramSocket, HostError> {
            refused(Call::Listen, path.display().to_string())
        }

        /// Its path.
        pub fn path(&self) -> &Path {
            match *self {}
        }

        pub(crate) fn descriptor(&self) -> RawFd {
            match *self {}
        }

        /// Who has something now.
        ///
        /// # Errors
        /// None.
        pub fn knocks(&self) -> Result<Vec<Knock>, HostError> {
            match *self {}
        }

        /// Lets the next one in.
        ///
        /// # Errors
        /// None.
        pub fn accept(&self) -> Result<Option<Guest>, HostError> {
            match *self {}
        }

        /// Whether newcomers are told.
        ///
        /// # Errors
        /// None.
        pub fn heed_newcomers(&self, _heed: bool) -> Result<(), HostError> {
            match *self {}
        }

        /// Whether it is told that this guest says something.
        ///
        /// # Errors
        /// None.
        pub fn heed(&self, _guest: &Guest, _heed: bool) -> Result<(), HostError> {
            match *self {}
        }
    }

    impl Guest {
        /// What it said.
        ///
        /// # Errors
        /// None.
        pub fn read(&self, _into: &mut [u8]) -> Result<Option<usize>, HostError> {
            match self.nobody {}
        }

        /// Answers.
        ///
        /// # Errors
        /// None.
        pub fn answer(&self, _text: &str) -> Result<(), HostError> {
            match self.nobody {}
        }

        /// Whether the process that connected has ended.
        pub fn has_ended(&self) -> Option<bool> {
            match self.nobody {}
        }
    }
}

pub(crate) mod socket {
    use super::refused;
    use crate::{Call, HostError};
    use flyball_units::Nanos;
    use std::path::Path;

    /// A socket that others may talk to: there is none.
    #[derive(Debug)]
    pub enum ControlSocket {}

    /// Somebody at the socket.
    #[derive(Debug)]
    pub struct Visitor {
        nobody: std::convert::Infallible,
        /// The user.
        pub user: u32,
        /// The process that connected.
        pub pid: u32,
    }

    impl ControlSocket {
        pub(crate) fn listen(path: &Path) -> Result<ControlSocket, HostError> {
            refused(Call::Listen, path.display().to_string())
        }

        /// Its path.
        pub fn path(&self) -> &Path {
            match *self {}
        }

        /// The next visitor.
        ///
        /// # Errors
        /// None.
        pub fn accept(&self) -> Result<Option<Visitor>, HostError> {
            match *self {}
        }
    }

    impl Visitor {
        /// Reads what it asks.
        ///
        /// # Errors
        /// None.
        pub fn request(&mut self, _patience: Nanos) -> Result<String, HostError> {
            match self.nobody {}
        }

        /// Answers with one line.
        ///
        /// # Errors
        /// None.
        pub fn answer(&mut self, _text: &str) -> Result<(), HostError> {
            match self.nobody {}
        }
    }

    pub(crate) fn ask(path: &Path, _text: &str, _patience: Nanos) -> Result<String, HostError> {
        refused(Call::Ask, path.display().to_string())
    }

    pub(crate) fn notify(to: &str, _text: &str) -> Result<(), HostError> {
        refused(Call::Notify, to)
    }
}

pub(crate) mod task {
    use super::refused;
    use crate::{Call, Errno, FairShare, HostError};
    use flyball_units::Nanos;

    /// A descriptor of a thread: there is none.
    #[derive(Debug)]
    pub(crate) enum OwnedFd {}

    pub(crate) type RawFd = i32;

    pub(crate) trait AsRawFd {
        fn as_raw_fd(&self) -> RawFd;
    }

    impl AsRawFd for OwnedFd {
        fn as_raw_fd(&self) -> RawFd {
            match *self {}
        }
    }

    pub(crate) const PIDFD_THREAD: i32 = 0;

    pub(crate) fn clamp(_tid: u32, object: impl FnOnce() -> String) -> Result<u32, HostError> {
        refused(Call::LeastUtilization, object())
    }

    pub(crate) fn set_clamp(
        _tid: u32,
        _least: Option<u32>,
        object: impl Fn() -> String,
    ) -> Result<(), HostError> {
        refused(Call::LeastUtilizationSet, object())
    }

    pub(crate) fn fair_share(
        _tid: u32,
        object: impl Fn() -> String,
    ) -> Result<FairShare, HostError> {
        refused(Call::FairShare, object())
    }

    pub(crate) fn set_fair_share(
        _tid: u32,
        _share: FairShare,
        object: impl FnOnce() -> String,
    ) -> Result<(), HostError> {
        refused(Call::FairShareSet, object())
    }

    pub(crate) fn pidfd(_number: u32, _flags: i32) -> Result<OwnedFd, Errno> {
        Err(Errno::ENOSYS)
    }

    pub(crate) fn has_ended(fd: &OwnedFd) -> bool {
        match *fd {}
    }

    pub(crate) fn wait(
        _fds: impl Iterator<Item = RawFd>,
        _deadline: Option<Nanos>,
        _asked: u32,
    ) -> Result<bool, HostError> {
        refused(Call::WaitTasks, "threads")
    }
}

pub(crate) mod usage {
    use super::refused;
    use crate::{Call, HostError, ThreadUsage};

    pub(crate) fn of_this_thread() -> Result<ThreadUsage, HostError> {
        refused(Call::Usage, "this thread")
    }
}

pub(crate) mod watch {
    use super::refused;
    use super::task::RawFd;
    use crate::{Call, HostError, Listen, SwitchRecord, Watched};

    /// A watch on a machine on which nothing runs.
    #[derive(Debug)]
    pub struct SwitchWatch(());

    impl SwitchWatch {
        pub(crate) fn open(
            _tid: u32,
            _what: Watched,
            object: impl Fn() -> String,
        ) -> Result<SwitchWatch, HostError> {
            refused(Call::WatchSwitches, object())
        }

        pub(crate) fn idle() -> SwitchWatch {
            SwitchWatch(())
        }

        pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
            std::iter::empty()
        }

        /// Nothing wakes.
        pub fn listen(&mut self, _to: Listen) {}

        /// Nothing comes.
        pub fn read(&mut self, _records: &mut Vec<SwitchRecord>) {}
    }
}
