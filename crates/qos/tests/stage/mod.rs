//! This machine with a driver that it may not have, and with clamps that are files: threads, sockets, records of
//! switches and ends are the kernel's.

use flyball_host::{
    Access, Bell, Bpf, Child, ControlSocket, CounterRate, CpuTimes, CycleCounter, Errno, FairShare,
    FolderLock, Host, HostError, HostKind, IdleLatencyHold, KeptFile, ProcessSpec, ProgramSocket,
    RealHost, SchedStat, SchedStatReader, Scheduling, Signal, Stream, SwitchWatch, Task,
    ThreadUsage, Wake, Watched, Woken,
};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::path::{Path, PathBuf};

/// The variable that names the folder of a stage to a process of its own.
pub const FOLDER: &str = "FLYBALL_STAGE";

const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";

#[derive(Debug)]
pub struct Stage {
    real: RealHost,
    dir: PathBuf,
}

impl Stage {
    pub fn new(dir: &Path) -> Stage {
        fs_err::create_dir_all(dir.join("clamps")).unwrap();
        Stage { real: RealHost::new(), dir: dir.to_owned() }
    }

    /// Of the process that started this one.
    pub fn inherited() -> Option<Stage> {
        std::env::var_os(FOLDER).map(|dir| Stage::new(Path::new(&dir)))
    }

    fn clamp(&self, task: &Task) -> PathBuf {
        let thread = task.identity();
        self.dir.join(format!("clamps/{}-{}", thread.tid, thread.start))
    }
}

impl Host for Stage {
    fn read(&self, path: &Path) -> Result<String, HostError> {
        let shown = path.display().to_string();
        match shown.strip_prefix(CPUFREQ) {
            Some("/policy0/scaling_governor") => Ok("schedutil\n".to_owned()),
            None if shown == "/proc/sys/kernel/sched_util_clamp_min" => Ok("1024\n".to_owned()),
            _ => self.real.read(path),
        }
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, HostError> {
        match path == Path::new(CPUFREQ) {
            true => Ok(vec!["policy0".to_owned()]),
            false => self.real.list(path),
        }
    }

    /// Stages have nothing to do with this machine's own controller.
    fn lock_folder(&self, path: &Path) -> Result<FolderLock, HostError> {
        match path.starts_with(&self.dir) {
            true => self.real.lock_folder(path),
            false => self.real.lock_folder(&self.dir.join("elsewhere")),
        }
    }

    fn env(&self, name: &str) -> Option<String> {
        match name {
            "FLYBALL_STATE" => Some(self.dir.display().to_string()),
            other => self.real.env(other),
        }
    }

    /// The guardian, the only one, is this program, too.
    fn spawn_detached(&self, _spec: &ProcessSpec) -> Result<u32, HostError> {
        let mut spec = ProcessSpec::new(
            std::env::current_exe().unwrap(),
            ["guardian_process", "--exact", "--ignored", "--test-threads=1"],
        );
        spec.environment.push((FOLDER.into(), self.dir.clone().into()));
        self.real.spawn_detached(&spec)
    }

    fn least_utilization(&self, task: &Task) -> Result<u32, HostError> {
        if !task.is_alive(self) {
            let call = flyball_host::Call::LeastUtilization;
            return Err(HostError::call(call, task, Errno::ESRCH));
        }
        // A thread that has none has what it was born with.
        let text = fs_err::read_to_string(self.clamp(task))
            .or_else(|_| fs_err::read_to_string(self.dir.join("born-with")))
            .unwrap_or_default();
        Ok(text.trim().parse().unwrap_or(0))
    }

    fn least_utilization_set(&self, task: &Task, least: Option<u32>) -> Result<(), HostError> {
        self.least_utilization(task)?;
        let beside = self.clamp(task).with_extension("new");
        fs_err::write(&beside, least.unwrap_or(0).to_string()).unwrap();
        fs_err::rename(&beside, self.clamp(task)).unwrap();
        Ok(())
    }

    fn watch_switches(&self, task: &Task, what: Watched) -> Result<SwitchWatch, HostError> {
        self.real.watch_switches(task, what)
    }

    fn kind(&self) -> HostKind {
        self.real.kind()
    }
    fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        self.real.read_bytes(path)
    }
    fn read_link(&self, path: &Path) -> Result<PathBuf, HostError> {
        self.real.read_link(path)
    }
    fn exists(&self, path: &Path) -> bool {
        self.real.exists(path)
    }
    fn writable(&self, path: &Path) -> Result<bool, HostError> {
        self.real.writable(path)
    }
    fn write(&self, path: &Path, text: &str) -> Result<(), HostError> {
        self.real.write(path, text)
    }
    fn make_dir(&self, path: &Path) -> Result<(), HostError> {
        self.real.make_dir(path)
    }
    fn remove_dir(&self, path: &Path) -> Result<(), HostError> {
        self.real.remove_dir(path)
    }
    fn save(&self, path: &Path, text: &str) -> Result<(), HostError> {
        self.real.save(path, text)
    }
    fn read_saved(&self, path: &Path) -> Result<String, HostError> {
        self.real.read_saved(path)
    }
    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        self.real.remove_file(path)
    }
    fn open_stream(&self, path: &Path) -> Result<Stream, HostError> {
        self.real.open_stream(path)
    }
    fn wait_streams(&self, streams: &[Stream], deadline: Nanos) -> Result<bool, HostError> {
        self.real.wait_streams(streams, deadline)
    }
    fn open_kept(&self, path: &Path, access: Access) -> Result<KeptFile, HostError> {
        self.real.open_kept(path, access)
    }
    fn now(&self) -> Nanos {
        self.real.now()
    }
    fn boot_time(&self) -> Nanos {
        self.real.boot_time()
    }
    fn realtime(&self) -> Nanos {
        self.real.realtime()
    }
    fn thread_cpu_time(&self) -> Result<Nanos, HostError> {
        self.real.thread_cpu_time()
    }
    fn cpu_time_of(&self, tid: u32) -> Result<Nanos, HostError> {
        self.real.cpu_time_of(tid)
    }
    fn process_cpu_time(&self) -> Result<Nanos, HostError> {
        self.real.process_cpu_time()
    }
    fn sleep_until(&self, deadline: Nanos) -> Result<Wake, HostError> {
        self.real.sleep_until(deadline)
    }
    fn wait_until(&self, deadline: Nanos) -> Result<(Wake, Nanos), HostError> {
        self.real.wait_until(deadline)
    }
    fn counter(&self) -> u64 {
        self.real.counter()
    }
    fn counter_hz(&self) -> Result<CounterRate, HostError> {
        self.real.counter_hz()
    }
    fn multiply_chain(&self, multiplies: u64) -> u64 {
        self.real.multiply_chain(multiplies)
    }
    fn current_cpu(&self) -> Result<CpuId, HostError> {
        self.real.current_cpu()
    }
    fn thread_id(&self) -> u32 {
        self.real.thread_id()
    }
    fn affinity_set(&self, cpus: &CpuSet) -> Result<(), HostError> {
        self.real.affinity_set(cpus)
    }
    fn affinity_get(&self) -> Result<CpuSet, HostError> {
        self.real.affinity_get()
    }
    fn scheduling_set(&self, scheduling: Scheduling) -> Result<(), HostError> {
        self.real.scheduling_set(scheduling)
    }
    fn scheduling_get(&self) -> Result<Scheduling, HostError> {
        self.real.scheduling_get()
    }
    fn utilization_clamp_set(&self, least: u32, most: u32) -> Result<(), HostError> {
        self.real.utilization_clamp_set(least, most)
    }
    fn lock_memory(&self) -> Result<u64, HostError> {
        self.real.lock_memory()
    }
    fn unlock_memory(&self) -> Result<(), HostError> {
        self.real.unlock_memory()
    }
    fn load_program(&self) -> Result<u64, HostError> {
        self.real.load_program()
    }
    fn prefault_stack(&self, bytes: usize) -> Result<(), HostError> {
        self.real.prefault_stack(bytes)
    }
    fn usage(&self) -> Result<ThreadUsage, HostError> {
        self.real.usage()
    }
    fn schedstat_of(&self, tid: u32) -> Result<SchedStatReader, HostError> {
        self.real.schedstat_of(tid)
    }
    fn schedstat(&self) -> Result<SchedStat, HostError> {
        self.real.schedstat()
    }
    fn timer_slack_set(&self, slack: Nanos) -> Result<(), HostError> {
        self.real.timer_slack_set(slack)
    }
    fn timer_slack_get(&self) -> Result<Nanos, HostError> {
        self.real.timer_slack_get()
    }
    fn catch_interrupts(&self) -> Result<(), HostError> {
        self.real.catch_interrupts()
    }
    fn interrupted(&self) -> u32 {
        self.real.interrupted()
    }
    fn interrupt_signal(&self) -> Option<Signal> {
        self.real.interrupt_signal()
    }
    fn spawn(&self, spec: &ProcessSpec) -> Result<Child, HostError> {
        self.real.spawn(spec)
    }
    fn bell(&self) -> Result<Bell, HostError> {
        self.real.bell()
    }
    fn wait_bell(
        &self,
        bell: &Bell,
        socket: Option<&ControlSocket>,
        deadline: Nanos,
    ) -> Result<Woken, HostError> {
        self.real.wait_bell(bell, socket, deadline)
    }
    fn listen(&self, path: &Path) -> Result<ControlSocket, HostError> {
        self.real.listen(path)
    }
    fn listen_to_programs(
        &self,
        path: &Path,
        everybody: bool,
        locked: bool,
    ) -> Result<ProgramSocket, HostError> {
        self.real.listen_to_programs(path, everybody, locked)
    }
    fn ask(&self, path: &Path, request: &str, patience: Nanos) -> Result<String, HostError> {
        self.real.ask(path, request, patience)
    }
    fn notify(&self, text: &str) -> Result<(), HostError> {
        self.real.notify(text)
    }
    fn open_task(&self, pid: u32, tid: u32) -> Result<Task, HostError> {
        self.real.open_task(pid, tid)
    }
    fn fair_share(&self, task: &Task) -> Result<FairShare, HostError> {
        self.real.fair_share(task)
    }
    fn fair_share_set(&self, task: &Task, share: FairShare) -> Result<(), HostError> {
        self.real.fair_share_set(task, share)
    }
    /// A request to end comes to the first thread of a test's process, which is not the one that waits.
    fn wait_tasks(
        &self,
        watches: &[&SwitchWatch],
        tasks: &[&Task],
        socket: Option<&ProgramSocket>,
        deadline: Option<Nanos>,
        asked: u32,
    ) -> Result<bool, HostError> {
        loop {
            let soon = self.now() + Nanos::from_millis(50);
            let until = deadline.map_or(soon, |deadline| deadline.min(soon));
            let woken = self.real.wait_tasks(watches, tasks, socket, Some(until), asked)?;
            let over = deadline.is_some_and(|deadline| self.now() >= deadline);
            if woken || over || self.interrupted() > asked {
                return Ok(woken);
            }
        }
    }

    fn open_cycles(&self) -> Result<CycleCounter, HostError> {
        self.real.open_cycles()
    }
    fn user_hz(&self) -> u64 {
        self.real.user_hz()
    }
    fn cpu_times(&self) -> Result<CpuTimes, HostError> {
        self.real.cpu_times()
    }
    fn bpf(&self) -> Result<Bpf, HostError> {
        self.real.bpf()
    }
    fn hold_idle_latency(&self, limit: Nanos) -> Result<IdleLatencyHold, HostError> {
        self.real.hold_idle_latency(limit)
    }
}
