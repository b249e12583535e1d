//! The trait [`Host`]: everything that Flyball reads from a machine or asks of it.

use crate::{
    Access, Bell, Bpf, Child, ControlSocket, CounterRate, CpuTimes, CycleCounter, FairShare,
    FolderLock, HostError, IdleLatencyHold, KeptFile, ProcessSpec, ProgramSocket, SchedStat,
    SchedStatReader, Scheduling, Signal, Stream, SwitchWatch, Task, ThreadUsage, Wake, Watched,
    Woken,
};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// Which kind of machine stands behind the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// This Linux machine: figures measured on it mean something.
    Real,
    /// A recording: its facts are real, its time is virtual, nothing can be measured on it.
    Recorded,
}

/// A machine. Object safe; share it as `&dyn Host` or `Arc<dyn Host>`.
///
/// "This thread" is the thread that makes the call: apply settings in the thread that measures.
/// Every setter reads back what it set and returns [`HostError::ReadBack`] where that differs.
pub trait Host: Send + Sync + Debug {
    /// Whether figures measured here mean something.
    fn kind(&self) -> HostKind;

    // Files

    /// The whole text of a file. Bytes that are not UTF-8 are replaced by U+FFFD.
    fn read(&self, path: &Path) -> Result<String, HostError>;
    /// The whole of a file whose content is no text, such as the kernel's BTF.
    fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, HostError>;
    /// The names in a folder, sorted; numbers inside names sort by value (`cpu2` before `cpu10`).
    fn list(&self, path: &Path) -> Result<Vec<String>, HostError>;
    /// The target of a symbolic link, as it is written there.
    fn read_link(&self, path: &Path) -> Result<PathBuf, HostError>;
    /// Whether a path is there, links followed. What may not be looked at counts as absent.
    fn exists(&self, path: &Path) -> bool;
    /// Whether this process may write to `path`; opens and changes nothing.
    fn writable(&self, path: &Path) -> Result<bool, HostError>;
    /// Writes `text` to a file that is there, in one call to the system, without truncating it
    /// first: files of sysfs take it as a new value, some of tracefs (`dynamic_events`) as a further
    /// line. What became of it is not read back here: only the caller knows where it shows.
    fn write(&self, path: &Path, text: &str) -> Result<(), HostError>;
    /// Makes a folder. In tracefs (`instances/NAME`) the kernel fills it.
    fn make_dir(&self, path: &Path) -> Result<(), HostError>;
    /// Removes a folder that is empty, or that the kernel filled.
    fn remove_dir(&self, path: &Path) -> Result<(), HostError>;
    /// Makes a folder that only this user may enter (mode 700), with those above it, where it is not
    /// there, and locks it for this process. Refused where it is a link, belongs to another user or
    /// may be written by others; `EAGAIN` where another process has locked it.
    fn lock_folder(&self, path: &Path) -> Result<FolderLock, HostError>;
    /// Replaces a file so that a crash or a power cut leaves the old one or the new one whole, and
    /// returns when the new one is on the disk. Mode 600.
    fn save(&self, path: &Path, text: &str) -> Result<(), HostError>;
    /// The text of a file that [`Host::save`] wrote. Refused where it is a link, no plain file (a reader of
    /// a pipe waits), another user's than this one's and root's, or may be written by others.
    fn read_saved(&self, path: &Path) -> Result<String, HostError> {
        self.read(path)
    }
    /// Removes a file, and returns when it is gone from the disk.
    fn remove_file(&self, path: &Path) -> Result<(), HostError>;
    /// Opens a file that delivers bytes as they come; reading it never blocks.
    fn open_stream(&self, path: &Path) -> Result<Stream, HostError>;
    /// Waits until one of `streams` has something to read (true), or `deadline` on
    /// [`Host::now`]'s clock or an interrupt came first (false).
    fn wait_streams(&self, streams: &[Stream], deadline: Nanos) -> Result<bool, HostError>;

    /// Opens a small file that is read or written again and again, without allocation.
    fn open_kept(&self, path: &Path, access: Access) -> Result<KeptFile, HostError>;

    // Clocks

    /// CLOCK_MONOTONIC, the clock of every time in a run.
    fn now(&self) -> Nanos;
    /// CLOCK_BOOTTIME: [`Host::now`]'s clock and the time that the machine was suspended.
    fn boot_time(&self) -> Nanos;
    /// CLOCK_REALTIME, nanoseconds since 1970 (UTC), to date a run.
    fn realtime(&self) -> Nanos;
    /// CPU time that the kernel accounts to this thread.
    fn thread_cpu_time(&self) -> Result<Nanos, HostError>;
    /// CPU time of the thread `tid` of this process.
    fn cpu_time_of(&self, tid: u32) -> Result<Nanos, HostError>;
    /// CPU time of all threads of this process together.
    fn process_cpu_time(&self) -> Result<Nanos, HostError>;
    /// Sleeps until [`Host::now`] reaches `deadline`. Ends early only when the program was asked
    /// to end; other signals don't disturb it.
    fn sleep_until(&self, deadline: Nanos) -> Result<Wake, HostError>;
    /// As [`Host::sleep_until`], and reads CLOCK_MONOTONIC as the very first thing after waking.
    fn wait_until(&self, deadline: Nanos) -> Result<(Wake, Nanos), HostError> {
        let wake = self.sleep_until(deadline)?;
        Ok((wake, self.now()))
    }
    /// The free-running counter (TSC, CNTVCT_EL0): finer and cheaper than [`Host::now`].
    fn counter(&self) -> u64;
    /// The counter's rate against CLOCK_MONOTONIC. Measured once, in about 20 ms, then remembered.
    fn counter_hz(&self) -> Result<CounterRate, HostError>;
    /// Executes dependent multiplications: see [`crate::arch::multiply_chain`].
    fn multiply_chain(&self, multiplies: u64) -> u64;

    // This thread

    /// The CPU that runs this thread now.
    fn current_cpu(&self) -> Result<CpuId, HostError>;
    /// The kernel's number of this thread.
    fn thread_id(&self) -> u32;
    /// Confines this thread to `cpus`; they are read back.
    fn affinity_set(&self, cpus: &CpuSet) -> Result<(), HostError>;
    /// The CPUs that this thread may use.
    fn affinity_get(&self) -> Result<CpuSet, HostError>;
    /// Sets this thread's scheduling class; it is read back.
    fn scheduling_set(&self, scheduling: Scheduling) -> Result<(), HostError>;
    /// This thread's scheduling class.
    fn scheduling_get(&self) -> Result<Scheduling, HostError>;
    /// Sets the bounds between which the scheduler takes this thread's utilisation to be, 0 to 1024
    /// (uclamp); read back. 0 and 1024 are no bounds but the kernel's own. Threads that it creates have the same.
    fn utilization_clamp_set(&self, least: u32, most: u32) -> Result<(), HostError>;
    /// Locks present and future memory of the process; returns the bytes that the kernel then
    /// counts as locked.
    fn lock_memory(&self) -> Result<u64, HostError>;
    /// Undoes [`Host::lock_memory`].
    fn unlock_memory(&self) -> Result<(), HostError>;
    /// Brings the files that this process has mapped, above all its code, into memory, and keeps them there as
    /// far as it may: what runs for the first time when it is urgent does not wait for a disk first. Returns their bytes.
    fn load_program(&self) -> Result<u64, HostError>;
    /// Touches `bytes` of this thread's stack below the present frame, so that the measured loop
    /// meets no page fault there. Refused where the stack has less room.
    fn prefault_stack(&self, bytes: usize) -> Result<(), HostError>;
    /// Context switches, page faults and CPU time of this thread.
    fn usage(&self) -> Result<ThreadUsage, HostError>;
    /// Opens the scheduler's account of the thread `tid` of this process, to be read repeatedly
    /// and cheaply, from any thread.
    fn schedstat_of(&self, tid: u32) -> Result<SchedStatReader, HostError>;
    /// The scheduler's account of this thread, once.
    fn schedstat(&self) -> Result<SchedStat, HostError> {
        self.schedstat_of(self.thread_id())?.read()
    }
    /// Sets how late this thread's timers may fire to save wake-ups; read back. Zero asks for the
    /// default of the process. Real-time threads have none, whatever is set.
    fn timer_slack_set(&self, slack: Nanos) -> Result<(), HostError>;
    /// This thread's timer slack.
    fn timer_slack_get(&self) -> Result<Nanos, HostError>;

    // The process

    /// From now on SIGINT, SIGTERM and SIGHUP are counted instead of ending the process. The third
    /// one ends it after all. One that this process was told to ignore (nohup) stays ignored.
    fn catch_interrupts(&self) -> Result<(), HostError>;
    /// How often this process was asked to end (SIGINT, SIGTERM, SIGHUP) since
    /// [`Host::catch_interrupts`].
    fn interrupted(&self) -> u32;
    /// The signal that asked last, to be passed on to a child.
    fn interrupt_signal(&self) -> Option<Signal>;
    /// Starts a program. It dies with the [`Child`], and with the thread that started it.
    fn spawn(&self, spec: &ProcessSpec) -> Result<Child, HostError>;
    /// Starts a program in a session of its own, which goes on when this process ends; its number.
    fn spawn_detached(&self, spec: &ProcessSpec) -> Result<u32, HostError>;
    /// Makes a bell between two threads.
    fn bell(&self) -> Result<Bell, HostError>;
    /// Waits until `bell` is rung, somebody knocks at `socket`, or [`Host::now`] reaches `deadline`.
    /// A request to end that comes meanwhile ends it early; one from before does not.
    fn wait_bell(
        &self,
        bell: &Bell,
        socket: Option<&ControlSocket>,
        deadline: Nanos,
    ) -> Result<Woken, HostError>;
    /// Listens at a socket that only root and this user may talk to, in a folder that is made private
    /// and locked as by [`Host::lock_folder`].
    fn listen(&self, path: &Path) -> Result<ControlSocket, HostError>;
    /// Listens at a socket that programs of every user, or of this one alone, may talk to. Its folder is made
    /// and locked as by [`Host::lock_folder`], unless it is `locked` by this process already; it has to
    /// belong to this user, and only this one may write there.
    fn listen_to_programs(
        &self,
        path: &Path,
        everybody: bool,
        locked: bool,
    ) -> Result<ProgramSocket, HostError>;
    /// Asks the program that listens at `path`: one line there, one line back within `patience`.
    fn ask(&self, path: &Path, request: &str, patience: Nanos) -> Result<String, HostError>;
    /// Tells the service manager something (`READY=1`, `WATCHDOG=1`), where one listens
    /// (`NOTIFY_SOCKET`); else nothing happens.
    fn notify(&self, text: &str) -> Result<(), HostError>;
    /// A variable of the environment, where it is set and is UTF-8.
    fn env(&self, name: &str) -> Option<String>;

    // Threads of any process

    /// Opens the thread `tid` of the process `pid`, so that its number cannot come to mean another.
    fn open_task(&self, pid: u32, tid: u32) -> Result<Task, HostError>;
    /// The least utilisation that the scheduler takes a thread to have (uclamp), 0 to 1024.
    fn least_utilization(&self, task: &Task) -> Result<u32, HostError>;
    /// Sets it, read back; none gives the thread that of its class again, which for all but real-time
    /// threads is 0. A thread that has ended is `ESRCH`. Threads that it makes have the same.
    fn least_utilization_set(&self, task: &Task, least: Option<u32>) -> Result<(), HostError>;
    /// What a fair thread has of its CPU. `EINVAL` for threads of another class.
    fn fair_share(&self, task: &Task) -> Result<FairShare, HostError>;
    /// Sets it, read back; what the kernel does not have (0 in [`Host::fair_share`]) has to stay 0. A
    /// thread that has ended is `ESRCH`. Threads that it makes have the same.
    fn fair_share_set(&self, task: &Task, share: FairShare) -> Result<(), HostError>;
    /// Watches when a thread runs, without a system call of its own at each switch, or only what it makes and
    /// that it ends.
    fn watch_switches(&self, task: &Task, what: Watched) -> Result<SwitchWatch, HostError>;
    /// Waits until one of `watches` has a record, one of `tasks` has ended or a program at `socket` has
    /// something (true), or until
    /// `deadline` (none: for ever) or a request to end beyond the first `asked` of
    /// [`Host::interrupted`] came, also one from before the call (false). A watch that is left out
    /// does not wake.
    fn wait_tasks(
        &self,
        watches: &[&SwitchWatch],
        tasks: &[&Task],
        socket: Option<&ProgramSocket>,
        deadline: Option<Nanos>,
        asked: u32,
    ) -> Result<bool, HostError>;

    // Counters and the whole machine

    /// Opens cycles, reference cycles and instructions of this thread, user mode, as one group.
    fn open_cycles(&self) -> Result<CycleCounter, HostError>;
    /// Ticks per second in `/proc/stat` (USER_HZ).
    fn user_hz(&self) -> u64;
    /// What every CPU spent its time on since boot: `/proc/stat`.
    fn cpu_times(&self) -> Result<CpuTimes, HostError>;
    /// A door for programs that run in the kernel (BPF).
    fn bpf(&self) -> Result<Bpf, HostError>;
    /// Asks the kernel to use only idle states that wake within `limit` (whole microseconds),
    /// until the guard is dropped. This changes the machine: only when the user asks for it.
    fn hold_idle_latency(&self, limit: Nanos) -> Result<IdleLatencyHold, HostError>;
}
