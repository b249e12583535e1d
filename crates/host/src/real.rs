//! This Linux machine.

use crate::sys::{clock, memory, process, sched, signal, socket, task, usage};
use crate::{
    Access, Bell, Bpf, Call, Child, ControlSocket, CounterRate, CpuTimes, CycleCounter, Errno,
    FairShare, FolderLock, Host, HostError, HostKind, IdleLatencyHold, KeptFile, ProcessSpec,
    ProgramSocket, SchedStatReader, Scheduling, Signal, Stream, SwitchWatch, Task, ThreadUsage,
    Wake, Watched, Woken, arch,
};
use crate::{calibrate, files, private, procfs};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// This Linux machine. Cheap to make; it remembers the counter's rate once measured.
#[derive(Debug, Default)]
pub struct RealHost {
    counter_hz: OnceLock<CounterRate>,
}

impl RealHost {
    /// The machine this program runs on.
    pub fn new() -> RealHost {
        RealHost::default()
    }
}

impl Host for RealHost {
    fn kind(&self) -> HostKind {
        HostKind::Real
    }

    fn read(&self, path: &Path) -> Result<String, HostError> {
        files::read(path).map_err(|errno| HostError::call(Call::Read, path.display(), errno))
    }

    fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        files::read_bytes(path).map_err(|errno| HostError::call(Call::Read, path.display(), errno))
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, HostError> {
        files::list(path).map_err(|errno| HostError::call(Call::List, path.display(), errno))
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, HostError> {
        std::fs::read_link(path)
            .map_err(|error| HostError::call(Call::ReadLink, path.display(), Errno::of(&error)))
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn writable(&self, path: &Path) -> Result<bool, HostError> {
        match crate::sys::access::may_write(path) {
            Ok(()) => Ok(true),
            Err(Errno::EACCES | Errno::EPERM | Errno::EROFS) => Ok(false),
            Err(errno) => Err(HostError::call(Call::Writable, path.display(), errno)),
        }
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), HostError> {
        files::write(path, text)
            .map_err(|errno| HostError::call(Call::Write, path.display(), errno))
    }

    fn make_dir(&self, path: &Path) -> Result<(), HostError> {
        std::fs::create_dir(path)
            .map_err(|error| HostError::call(Call::MakeDir, path.display(), Errno::of(&error)))
    }

    fn remove_dir(&self, path: &Path) -> Result<(), HostError> {
        std::fs::remove_dir(path)
            .map_err(|error| HostError::call(Call::RemoveDir, path.display(), Errno::of(&error)))
    }

    fn lock_folder(&self, path: &Path) -> Result<FolderLock, HostError> {
        FolderLock::take(path)
    }

    fn save(&self, path: &Path, text: &str) -> Result<(), HostError> {
        private::save(path, text)
            .map_err(|errno| HostError::call(Call::Save, path.display(), errno))
    }

    fn read_saved(&self, path: &Path) -> Result<String, HostError> {
        private::read_saved(path)
    }

    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        private::remove(path)
            .map_err(|errno| HostError::call(Call::RemoveFile, path.display(), errno))
    }

    fn open_stream(&self, path: &Path) -> Result<Stream, HostError> {
        Stream::open(path)
    }

    fn wait_streams(&self, streams: &[Stream], deadline: Nanos) -> Result<bool, HostError> {
        Stream::wait(streams, deadline)
    }

    fn open_kept(&self, path: &Path, access: Access) -> Result<KeptFile, HostError> {
        KeptFile::open(path, access)
    }

    fn now(&self) -> Nanos {
        clock::now()
    }

    fn boot_time(&self) -> Nanos {
        clock::boot_time()
    }

    fn realtime(&self) -> Nanos {
        clock::realtime()
    }

    fn thread_cpu_time(&self) -> Result<Nanos, HostError> {
        Ok(clock::thread_cpu_time())
    }

    fn cpu_time_of(&self, tid: u32) -> Result<Nanos, HostError> {
        clock::cpu_time_of(tid)
    }

    fn process_cpu_time(&self) -> Result<Nanos, HostError> {
        Ok(clock::process_cpu_time())
    }

    fn sleep_until(&self, deadline: Nanos) -> Result<Wake, HostError> {
        clock::sleep_until(deadline)
    }

    fn wait_until(&self, deadline: Nanos) -> Result<(Wake, Nanos), HostError> {
        clock::wait_until(deadline)
    }

    fn counter(&self) -> u64 {
        arch::counter()
    }

    fn counter_hz(&self) -> Result<CounterRate, HostError> {
        if let Some(rate) = self.counter_hz.get() {
            return Ok(*rate);
        }
        let rate = calibrate::counter_rate()?;
        Ok(*self.counter_hz.get_or_init(|| rate))
    }

    fn multiply_chain(&self, multiplies: u64) -> u64 {
        arch::multiply_chain(multiplies)
    }

    fn current_cpu(&self) -> Result<CpuId, HostError> {
        sched::current_cpu()
    }

    fn thread_id(&self) -> u32 {
        sched::thread_id()
    }

    fn affinity_set(&self, cpus: &CpuSet) -> Result<(), HostError> {
        sched::set_affinity(cpus)?;
        let found = sched::affinity()?;
        read_back(Call::AffinitySet, cpus, &found)
    }

    fn affinity_get(&self) -> Result<CpuSet, HostError> {
        sched::affinity()
    }

    fn scheduling_set(&self, scheduling: Scheduling) -> Result<(), HostError> {
        sched::set_scheduling(scheduling)?;
        let found = sched::scheduling()?;
        read_back(Call::SchedulingSet, &scheduling, &found)
    }

    fn scheduling_get(&self) -> Result<Scheduling, HostError> {
        sched::scheduling()
    }

    fn utilization_clamp_set(&self, least: u32, most: u32) -> Result<(), HostError> {
        sched::set_utilization_clamp(least, most)?;
        let text = |(least, most): (u32, u32)| format!("{least} to {most}");
        let mut found = sched::utilization_clamp()?;
        if (least, most) == (0, 1024) {
            // A real-time thread has the kernel's default then.
            found.0 = 0;
        }
        read_back(Call::UtilizationClampSet, &text((least, most)), &text(found))
    }

    fn lock_memory(&self) -> Result<u64, HostError> {
        memory::lock_all()?;
        let path = Path::new("/proc/thread-self/status");
        let locked = procfs::locked_memory(&self.read(path)?, path)?;
        if locked == 0 {
            return Err(HostError::ReadBack {
                call: Call::LockMemory,
                object: "this process".to_owned(),
                expected: "locked memory".to_owned(),
                found: "VmLck: 0 kB".to_owned(),
            });
        }
        Ok(locked)
    }

    fn unlock_memory(&self) -> Result<(), HostError> {
        memory::unlock_all()
    }

    fn load_program(&self) -> Result<u64, HostError> {
        let maps = self.read(Path::new("/proc/self/maps"))?;
        let mut loaded = 0;
        for range in procfs::mapped_files(&maps) {
            loaded += (range.end - range.start) as u64;
            memory::load(range)?;
        }
        Ok(loaded)
    }

    fn prefault_stack(&self, bytes: usize) -> Result<(), HostError> {
        memory::prefault_stack(bytes)
    }

    fn usage(&self) -> Result<ThreadUsage, HostError> {
        usage::of_this_thread()
    }

    fn schedstat_of(&self, tid: u32) -> Result<SchedStatReader, HostError> {
        SchedStatReader::open(tid)
    }

    fn timer_slack_set(&self, slack: Nanos) -> Result<(), HostError> {
        sched::set_timer_slack(slack)?;
        let found = sched::timer_slack()?;
        // Zero means the default, whatever that is; real-time threads always have none.
        if slack == Nanos::ZERO || found == Nanos::ZERO {
            return Ok(());
        }
        let text = |nanos: Nanos| format!("{} ns", nanos.0);
        read_back(Call::TimerSlackSet, &text(slack), &text(found))
    }

    fn timer_slack_get(&self) -> Result<Nanos, HostError> {
        sched::timer_slack()
    }

    fn catch_interrupts(&self) -> Result<(), HostError> {
        signal::catch_interrupts()
    }

    fn interrupted(&self) -> u32 {
        signal::interrupted()
    }

    fn interrupt_signal(&self) -> Option<Signal> {
        signal::last()
    }

    fn spawn(&self, spec: &ProcessSpec) -> Result<Child, HostError> {
        Child::spawn(spec)
    }

    fn spawn_detached(&self, spec: &ProcessSpec) -> Result<u32, HostError> {
        process::spawn_detached(spec)
    }

    fn bell(&self) -> Result<Bell, HostError> {
        Bell::new()
    }

    fn wait_bell(
        &self,
        bell: &Bell,
        socket: Option<&ControlSocket>,
        deadline: Nanos,
    ) -> Result<Woken, HostError> {
        bell.wait(socket, deadline)
    }

    fn listen(&self, path: &Path) -> Result<ControlSocket, HostError> {
        ControlSocket::listen(path)
    }

    fn listen_to_programs(
        &self,
        path: &Path,
        everybody: bool,
        locked: bool,
    ) -> Result<ProgramSocket, HostError> {
        ProgramSocket::listen(path, everybody, locked)
    }

    fn ask(&self, path: &Path, request: &str, patience: Nanos) -> Result<String, HostError> {
        socket::ask(path, request, patience)
    }

    fn notify(&self, text: &str) -> Result<(), HostError> {
        match self.env("NOTIFY_SOCKET").filter(|to| !to.is_empty()) {
            Some(to) => socket::notify(&to, text),
            None => Ok(()),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the door opens")]
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn open_task(&self, pid: u32, tid: u32) -> Result<Task, HostError> {
        Task::open(self, pid, tid)
    }

    fn least_utilization(&self, task: &Task) -> Result<u32, HostError> {
        task.clamp()
    }

    fn least_utilization_set(&self, task: &Task, least: Option<u32>) -> Result<(), HostError> {
        task.set_clamp(self, least)?;
        let Some(expected) = least else { return Ok(()) };
        match task.clamp()? {
            found if found == expected => Ok(()),
            found => Err(HostError::ReadBack {
                call: Call::LeastUtilizationSet,
                object: task.to_string(),
                expected: expected.to_string(),
                found: found.to_string(),
            }),
        }
    }

    fn fair_share(&self, task: &Task) -> Result<FairShare, HostError> {
        task.fair_share()
    }

    fn fair_share_set(&self, task: &Task, share: FairShare) -> Result<(), HostError> {
        task.set_fair_share(self, share)?;
        match task.fair_share()? {
            found if found == share => Ok(()),
            found => Err(HostError::ReadBack {
                call: Call::FairShareSet,
                object: task.to_string(),
                expected: format!("{share:?}"),
                found: format!("{found:?}"),
            }),
        }
    }

    fn watch_switches(&self, task: &Task, what: Watched) -> Result<SwitchWatch, HostError> {
        SwitchWatch::open(task.identity().tid, what, || task.to_string())
    }

    fn wait_tasks(
        &self,
        watches: &[&SwitchWatch],
        tasks: &[&Task],
        socket: Option<&ProgramSocket>,
        deadline: Option<Nanos>,
        asked: u32,
    ) -> Result<bool, HostError> {
        let watched = watches.iter().flat_map(|watch| watch.descriptors());
        let ending = tasks.iter().filter_map(|task| task.descriptor());
        let socket = socket.map(ProgramSocket::descriptor);
        task::wait(watched.chain(ending).chain(socket), deadline, asked)
    }

    fn open_cycles(&self) -> Result<CycleCounter, HostError> {
        CycleCounter::open()
    }

    fn user_hz(&self) -> u64 {
        clock::user_hz()
    }

    fn cpu_times(&self) -> Result<CpuTimes, HostError> {
        procfs::cpu_times(self)
    }

    fn bpf(&self) -> Result<Bpf, HostError> {
        Ok(Bpf::new())
    }

    fn hold_idle_latency(&self, limit: Nanos) -> Result<IdleLatencyHold, HostError> {
        IdleLatencyHold::open(limit)
    }
}

/// Compares a setting with what was read back after it.
fn read_back<T: PartialEq + std::fmt::Display>(
    call: Call,
    asked: &T,
    found: &T,
) -> Result<(), HostError> {
    if asked == found {
        return Ok(());
    }
    Err(HostError::ReadBack {
        call,
        object: format!("thread {}", sched::thread_id()),
        expected: asked.to_string(),
        found: found.to_string(),
    })
}
