//! A recorded machine: its files and facts, in virtual time.

use crate::manifest::{self, Manifest, Tried};
use crate::private::Locked;
use crate::tree::{Entry, Tree, normal};
use crate::{
    Access, Bell, Bpf, Call, Child, ControlSocket, CounterRate, CpuTimes, CycleCounter, Errno,
    FairShare, FolderLock, Host, HostError, HostKind, IdleLatencyHold, KeptFile, ProcessSpec,
    ProgramSocket, SchedStat, SchedStatReader, Scheduling, Signal, Stream, SwitchWatch, Task,
    ThreadIdentity, ThreadUsage, Wake, Watched, Woken, dma_latency_path, procfs,
};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::ThreadId;

/// The virtual processor's time for one multiplication: 3 cycles at 1 GHz.
const MULTIPLY: u64 = 3;

/// A machine from a snapshot folder ([`RecordedHost::open`]) or from a listing
/// ([`RecordedHost::from_listing`]).
///
/// Files, folders and permissions are those of the recorded machine. Time is virtual: it moves
/// only when somebody sleeps or multiplies, so tests are instant and exact, and nothing can be
/// *measured* ([`HostKind::Recorded`] says so). Settings are kept per thread, as in Linux.
#[derive(Debug)]
pub struct RecordedHost {
    tree: Arc<RwLock<Tree>>,
    manifest: Manifest,
    environment: BTreeMap<String, String>,
    now: AtomicU64,
    suspended: AtomicU64,
    interrupts: AtomicU32,
    threads: Mutex<HashMap<ThreadId, Thread>>,
    /// Lower utilisation clamps of threads of any process.
    clamps: Mutex<HashMap<ThreadIdentity, u32>>,
    /// What of them is not as the kernel gives it.
    shares: Mutex<HashMap<ThreadIdentity, FairShare>>,
    locked: Locked,
}

/// Settings of one thread.
#[derive(Clone, Debug)]
struct Thread {
    id: u32,
    affinity: CpuSet,
    scheduling: Scheduling,
    timer_slack: Nanos,
    cpu_time: Nanos,
}

impl RecordedHost {
    /// Reads a snapshot folder: `manifest.json`, and the files below `root/`.
    pub fn open(folder: &Path) -> Result<RecordedHost, HostError> {
        let path = folder.join("manifest.json");
        let text = crate::files::read(&path)
            .map_err(|errno| HostError::call(Call::Read, path.display(), errno))?;
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| {
            HostError::malformed(path.display(), "the manifest of a snapshot", &error.to_string())
        })?;
        if manifest.format != manifest::FORMAT {
            return Err(HostError::malformed(
                path.display(),
                format!("format {}", manifest::FORMAT),
                &format!("format {}", manifest.format),
            ));
        }
        let mut tree = Tree::default();
        let root = folder.join("root");
        if root.is_dir() {
            load(&root, Path::new("/"), &mut tree)?;
        }
        Ok(RecordedHost::new(tree, manifest))
    }

    /// Reads a machine written down by hand, one fact per line:
    ///
    /// ```text
    /// # comment
    /// /sys/devices/system/cpu/online = 0-3
    /// /sys/devices/system/cpu/cpu0/cpufreq -> ../cpufreq/policy0
    /// /sys/class/powercap/intel-rapl:0/energy_uj ! EACCES
    /// /sys/kernel/tracing/instances /
    /// ```
    ///
    /// Lines of the same path add up to one file.
    pub fn from_listing(text: &str) -> Result<RecordedHost, HostError> {
        let mut tree = Tree::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fail = || {
                HostError::malformed(
                    format!("listing, line {}", number + 1),
                    "PATH = TEXT, PATH -> TARGET, PATH ! ERRNO or PATH /, with an absolute path",
                    line,
                )
            };
            let mut words = line.splitn(3, ' ');
            let path = words.next().filter(|path| path.starts_with('/')).ok_or_else(fail)?;
            let (sign, rest) = (words.next(), words.next().unwrap_or_default());
            let path = PathBuf::from(path);
            match sign {
                Some("=") => tree.append_line(&path, rest),
                Some("->") => tree.insert(path, Entry::Link(rest.into())),
                Some("!") => {
                    tree.insert(path, Entry::Unreadable(rest.parse().map_err(|_| fail())?));
                }
                Some("/") if rest.is_empty() => tree.insert(path, Entry::Folder),
                _ => return Err(fail()),
            }
        }
        Ok(RecordedHost::new(tree, Manifest::default()))
    }

    fn new(mut tree: Tree, manifest: Manifest) -> RecordedHost {
        for (path, target) in &manifest.links {
            tree.insert(path.into(), Entry::Link(target.into()));
        }
        for (path, errno) in &manifest.unreadable {
            tree.insert(path.into(), Entry::Unreadable(*errno));
        }
        RecordedHost {
            tree: Arc::new(RwLock::new(tree)),
            now: AtomicU64::new(manifest.monotonic.0),
            suspended: AtomicU64::new(0),
            manifest,
            environment: BTreeMap::new(),
            interrupts: AtomicU32::new(0),
            threads: Mutex::new(HashMap::new()),
            clamps: Mutex::default(),
            shares: Mutex::default(),
            locked: Locked::default(),
        }
    }

    /// The same machine with other facts than files: permissions, affinity, clocks.
    pub fn with_manifest(self, manifest: Manifest) -> RecordedHost {
        let tree = self.tree().clone();
        let made = RecordedHost::new(tree, manifest);
        RecordedHost { environment: self.environment, ..made }
    }

    /// The same machine with a file whose content is no text.
    pub fn with_bytes(self, path: &Path, bytes: Vec<u8>) -> RecordedHost {
        self.tree_mut().insert(path.to_owned(), Entry::Bytes(bytes));
        self
    }

    /// The same machine with a variable in its environment, which no recording holds.
    pub fn with_env(mut self, name: &str, value: &str) -> RecordedHost {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// What was recorded beside the files.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Asks the program to end, as the user of a real machine would with Ctrl-C.
    pub fn interrupt(&self) {
        self.interrupts.fetch_add(1, Ordering::Relaxed);
    }

    /// Suspends the machine for `time`: only [`Host::boot_time`] goes on.
    pub fn suspend(&self, time: Nanos) {
        self.suspended.fetch_add(time.0, Ordering::Relaxed);
    }

    /// Replaces the text of a file, as the kernel or another program would.
    pub fn put(&self, path: &Path, text: &str) {
        self.tree_mut().insert(path.to_owned(), Entry::File(text.to_owned()));
    }

    /// The CPUs that a thread may use before anybody narrows that.
    fn all_cpus(&self) -> CpuSet {
        let online =
            || self.tree().read(Path::new("/sys/devices/system/cpu/online")).ok()?.parse().ok();
        self.manifest.calls.affinity.clone().or_else(online).unwrap_or_else(|| CpuId(0).into())
    }

    fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        // Nothing panics while it holds the lock, and every state of the tree is a valid one.
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the recorded process might write to `path`: recorded for itself, or for a folder
    /// above it.
    fn may_write(&self, path: &Path) -> bool {
        let recorded = &self.manifest.calls.writable;
        let path = normal(path);
        let known = path.ancestors().find_map(|path| recorded.get(&*path.to_string_lossy()));
        known.copied().unwrap_or(false)
    }

    /// Changes a file in memory, where the recorded process might have written.
    fn change(
        &self,
        call: Call,
        path: &Path,
        act: impl FnOnce(&mut Tree) -> Result<(), Errno>,
    ) -> Result<(), HostError> {
        let allowed = if self.may_write(path) { Ok(()) } else { Err(Errno::EACCES) };
        let done = allowed.and_then(|()| act(&mut self.tree_mut()));
        done.map_err(|errno| HostError::call(call, path.display(), errno))
    }

    fn threads(&self) -> MutexGuard<'_, HashMap<ThreadId, Thread>> {
        // Nothing panics while it holds the lock, and every state of the map is a valid one.
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the calling thread's settings.
    fn this_thread<T>(&self, act: impl FnOnce(&mut Thread) -> T) -> T {
        let mut threads = self.threads();
        let next = 1 + threads.len() as u32;
        let thread = threads.entry(std::thread::current().id()).or_insert_with(|| Thread {
            id: next,
            affinity: self.all_cpus(),
            scheduling: self.manifest.calls.scheduling,
            timer_slack: self.manifest.calls.timer_slack,
            cpu_time: Nanos::ZERO,
        });
        act(thread)
    }

    /// Does something with a thread's lower clamp, where the thread is there.
    fn clamp<T>(
        &self,
        call: Call,
        task: &Task,
        act: impl FnOnce(&mut u32) -> T,
    ) -> Result<T, HostError> {
        if !task.is_alive(self) {
            return Err(HostError::call(call, task, Errno::ESRCH));
        }
        let mut clamps = self.clamps.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(act(clamps.entry(task.identity()).or_default()))
    }

    /// The virtual CPU time of the thread `tid`.
    fn thread(&self, call: Call, tid: u32) -> Result<Thread, HostError> {
        self.threads()
            .values()
            .find(|thread| thread.id == tid)
            .cloned()
            .ok_or_else(|| HostError::call(call, format!("thread {tid}"), Errno::ESRCH))
    }
}

/// Adds the files below `folder` to `tree` as those below `path`.
fn load(folder: &Path, path: &Path, tree: &mut Tree) -> Result<(), HostError> {
    let names = crate::files::list(folder)
        .map_err(|errno| HostError::call(Call::List, folder.display(), errno))?;
    for name in names {
        let (from, to) = (folder.join(&name), path.join(&name));
        // Links out of a recording are not followed: it may come from anybody.
        let kind = std::fs::symlink_metadata(&from)
            .map(|meta| meta.file_type())
            .map_err(|error| HostError::call(Call::Read, from.display(), Errno::of(&error)))?;
        if kind.is_dir() {
            load(&from, &to, tree)?;
        } else if kind.is_file() {
            let text = crate::files::read(&from)
                .map_err(|errno| HostError::call(Call::Read, from.display(), errno))?;
            tree.insert(to, Entry::File(text));
        }
    }
    Ok(())
}

/// Turns what came of trying into the result of trying again.
fn again(tried: &Tried, call: Call, object: impl ToString) -> Result<(), HostError> {
    match tried {
        Tried::Worked => Ok(()),
        Tried::Refused(errno) => Err(HostError::call(call, object, *errno)),
        Tried::Impossible(reason) => Err(HostError::unsupported(call, object, reason)),
    }
}

impl Host for RecordedHost {
    fn kind(&self) -> HostKind {
        HostKind::Recorded
    }

    fn read(&self, path: &Path) -> Result<String, HostError> {
        self.tree().read(path).map_err(|errno| HostError::call(Call::Read, path.display(), errno))
    }

    fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        let bytes = self.tree().read_bytes(path);
        bytes.map_err(|errno| HostError::call(Call::Read, path.display(), errno))
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, HostError> {
        self.tree().list(path).map_err(|errno| HostError::call(Call::List, path.display(), errno))
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, HostError> {
        self.tree()
            .read_link(path)
            .map_err(|errno| HostError::call(Call::ReadLink, path.display(), errno))
    }

    fn exists(&self, path: &Path) -> bool {
        self.tree().exists(path)
    }

    fn writable(&self, path: &Path) -> Result<bool, HostError> {
        let recorded = self.manifest.calls.writable.get(&*normal(path).to_string_lossy());
        match recorded {
            Some(writable) => Ok(*writable),
            None if self.exists(path) => Ok(self.may_write(path)),
            None => Err(HostError::call(Call::Writable, path.display(), Errno::ENOENT)),
        }
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), HostError> {
        self.change(Call::Write, path, |tree| tree.write(path, text))
    }

    fn make_dir(&self, path: &Path) -> Result<(), HostError> {
        self.change(Call::MakeDir, path, |tree| tree.make_dir(path))
    }

    fn remove_dir(&self, path: &Path) -> Result<(), HostError> {
        self.change(Call::RemoveDir, path, |tree| tree.remove_dir(path))
    }

    fn lock_folder(&self, path: &Path) -> Result<FolderLock, HostError> {
        self.change(Call::LockFolder, path, |tree| tree.make_dirs(path))?;
        FolderLock::recorded(&self.locked, normal(path))
            .map_err(|errno| HostError::call(Call::LockFolder, path.display(), errno))
    }

    fn save(&self, path: &Path, text: &str) -> Result<(), HostError> {
        self.change(Call::Save, path, |tree| tree.save(path, text))
    }

    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        self.change(Call::RemoveFile, path, |tree| tree.remove_file(path))
    }

    /// Delivers what the file holds when it is opened, then nothing.
    fn open_stream(&self, path: &Path) -> Result<Stream, HostError> {
        let bytes = self.tree().read_bytes(path);
        bytes
            .map(|bytes| Stream::recorded(path, bytes))
            .map_err(|errno| HostError::call(Call::OpenStream, path.display(), errno))
    }

    /// Nothing ever comes: waits until `deadline`, in virtual time.
    fn wait_streams(&self, _streams: &[Stream], deadline: Nanos) -> Result<bool, HostError> {
        self.sleep_until(deadline)?;
        Ok(false)
    }

    /// The file as it is when it is opened is where later readings look: links are followed once.
    fn open_kept(&self, path: &Path, access: Access) -> Result<KeptFile, HostError> {
        let fail = |errno| HostError::call(Call::OpenKept, path.display(), errno);
        let may_write = self.may_write(path);
        if access == Access::Write && !may_write {
            return Err(fail(Errno::EACCES));
        }
        let resolved = self.tree().resolved_file(path).map_err(fail)?;
        Ok(KeptFile::recorded(&self.tree, resolved, may_write && access == Access::Write))
    }

    fn now(&self) -> Nanos {
        Nanos(self.now.load(Ordering::Relaxed))
    }

    fn boot_time(&self) -> Nanos {
        Nanos(self.now().0.saturating_add(self.suspended.load(Ordering::Relaxed)))
    }

    fn realtime(&self) -> Nanos {
        self.manifest.captured + self.now().since(self.manifest.monotonic)
    }

    fn thread_cpu_time(&self) -> Result<Nanos, HostError> {
        Ok(self.this_thread(|thread| thread.cpu_time))
    }

    fn cpu_time_of(&self, tid: u32) -> Result<Nanos, HostError> {
        self.thread(Call::CpuTimeOf, tid).map(|thread| thread.cpu_time)
    }

    fn process_cpu_time(&self) -> Result<Nanos, HostError> {
        Ok(self.threads().values().fold(Nanos::ZERO, |sum, thread| sum + thread.cpu_time))
    }

    fn sleep_until(&self, deadline: Nanos) -> Result<Wake, HostError> {
        if self.interrupted() > 0 {
            return Ok(Wake::Interrupted);
        }
        self.now.fetch_max(deadline.0, Ordering::Relaxed);
        Ok(Wake::OnTime)
    }

    fn counter(&self) -> u64 {
        self.now().0
    }

    fn counter_hz(&self) -> Result<CounterRate, HostError> {
        Ok(CounterRate { hz: 1e9, relative_uncertainty: 0.0 })
    }

    fn multiply_chain(&self, multiplies: u64) -> u64 {
        let rounds = multiplies.div_ceil(crate::arch::CHAIN_ROUND).max(1);
        let count = rounds.saturating_mul(crate::arch::CHAIN_ROUND);
        let time = count.saturating_mul(MULTIPLY);
        self.now.fetch_add(time, Ordering::Relaxed);
        self.this_thread(|thread| thread.cpu_time = thread.cpu_time + Nanos(time));
        3u64.wrapping_pow(count.wrapping_add(1) as u32)
    }

    fn current_cpu(&self) -> Result<CpuId, HostError> {
        Ok(self.this_thread(|thread| thread.affinity.first()).unwrap_or_default())
    }

    fn thread_id(&self) -> u32 {
        self.this_thread(|thread| thread.id)
    }

    fn affinity_set(&self, cpus: &CpuSet) -> Result<(), HostError> {
        let usable = cpus.intersection(&self.all_cpus());
        if usable.is_empty() {
            return Err(HostError::call(Call::AffinitySet, format!("CPUs {cpus}"), Errno::EINVAL));
        }
        self.this_thread(|thread| thread.affinity = usable.clone());
        if usable == *cpus {
            return Ok(());
        }
        Err(HostError::ReadBack {
            call: Call::AffinitySet,
            object: format!("thread {}", self.thread_id()),
            expected: cpus.to_string(),
            found: usable.to_string(),
        })
    }

    fn affinity_get(&self) -> Result<CpuSet, HostError> {
        Ok(self.this_thread(|thread| thread.affinity.clone()))
    }

    fn scheduling_set(&self, scheduling: Scheduling) -> Result<(), HostError> {
        let needs_right = match scheduling {
            Scheduling::Other { nice } | Scheduling::Batch { nice } => nice < 0,
            other => other.is_real_time(),
        };
        if needs_right {
            again(&self.manifest.calls.real_time, Call::SchedulingSet, scheduling)?;
        }
        self.this_thread(|thread| thread.scheduling = scheduling);
        Ok(())
    }

    fn scheduling_get(&self) -> Result<Scheduling, HostError> {
        Ok(self.this_thread(|thread| thread.scheduling))
    }

    fn utilization_clamp_set(&self, _least: u32, _most: u32) -> Result<(), HostError> {
        Ok(())
    }

    fn lock_memory(&self) -> Result<u64, HostError> {
        Err(HostError::unsupported(Call::LockMemory, "a recorded machine", "it has no memory"))
    }

    fn unlock_memory(&self) -> Result<(), HostError> {
        Ok(())
    }

    fn load_program(&self) -> Result<u64, HostError> {
        Ok(0)
    }

    fn prefault_stack(&self, _bytes: usize) -> Result<(), HostError> {
        Ok(())
    }

    fn usage(&self) -> Result<ThreadUsage, HostError> {
        let cpu_time = self.thread_cpu_time()?;
        Ok(ThreadUsage { cpu_time, ..ThreadUsage::default() })
    }

    fn schedstat_of(&self, tid: u32) -> Result<SchedStatReader, HostError> {
        let run_time = self.thread(Call::Schedstat, tid)?.cpu_time;
        Ok(SchedStatReader::fixed(SchedStat { run_time, ..SchedStat::default() }))
    }

    fn timer_slack_set(&self, slack: Nanos) -> Result<(), HostError> {
        let default = self.manifest.calls.timer_slack;
        let slack = if slack == Nanos::ZERO { default } else { slack };
        self.this_thread(|thread| thread.timer_slack = slack);
        Ok(())
    }

    fn timer_slack_get(&self) -> Result<Nanos, HostError> {
        Ok(self.this_thread(|thread| thread.timer_slack))
    }

    fn catch_interrupts(&self) -> Result<(), HostError> {
        Ok(())
    }

    fn interrupted(&self) -> u32 {
        self.interrupts.load(Ordering::Relaxed)
    }

    fn interrupt_signal(&self) -> Option<Signal> {
        (self.interrupted() > 0).then_some(Signal::Interrupt)
    }

    fn spawn(&self, spec: &ProcessSpec) -> Result<Child, HostError> {
        let name = spec.program.to_string_lossy();
        Err(HostError::unsupported(Call::Spawn, name, "a recorded machine runs no programs"))
    }

    /// Nothing is started; it has this process's number.
    fn spawn_detached(&self, _spec: &ProcessSpec) -> Result<u32, HostError> {
        Ok(crate::ProcessIdentity::this(self)?.pid)
    }

    fn bell(&self) -> Result<Bell, HostError> {
        Bell::new()
    }

    /// Nobody visits: without a ring, virtual time moves to `deadline`.
    fn wait_bell(
        &self,
        bell: &Bell,
        _socket: Option<&ControlSocket>,
        deadline: Nanos,
    ) -> Result<Woken, HostError> {
        if bell.silence() {
            return Ok(Woken { bell: true, visitor: false });
        }
        self.sleep_until(deadline)?;
        Ok(Woken::default())
    }

    fn listen(&self, path: &Path) -> Result<ControlSocket, HostError> {
        let object = path.display();
        Err(HostError::unsupported(Call::Listen, object, "a recorded machine has no sockets"))
    }

    fn listen_to_programs(
        &self,
        path: &Path,
        _everybody: bool,
        _locked: bool,
    ) -> Result<ProgramSocket, HostError> {
        let object = path.display();
        Err(HostError::unsupported(Call::Listen, object, "a recorded machine has no sockets"))
    }

    fn ask(&self, path: &Path, _request: &str, _patience: Nanos) -> Result<String, HostError> {
        let object = path.display();
        Err(HostError::unsupported(Call::Ask, object, "a recorded machine has no sockets"))
    }

    /// Nobody listens.
    fn notify(&self, _text: &str) -> Result<(), HostError> {
        Ok(())
    }

    fn env(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned()
    }

    fn open_task(&self, pid: u32, tid: u32) -> Result<Task, HostError> {
        let (identity, _) = ThreadIdentity::read(self, pid, tid)?;
        Ok(Task::recorded(identity))
    }

    fn least_utilization(&self, task: &Task) -> Result<u32, HostError> {
        self.clamp(Call::LeastUtilization, task, |least| *least)
    }

    fn least_utilization_set(&self, task: &Task, least: Option<u32>) -> Result<(), HostError> {
        self.clamp(Call::LeastUtilizationSet, task, |now| *now = least.unwrap_or(0))
    }

    fn fair_share(&self, task: &Task) -> Result<FairShare, HostError> {
        // No slices: kernels before 6.12 have none, and no recording holds them.
        let fresh = FairShare { most: 1024, ..FairShare::default() };
        if !task.is_alive(self) {
            return Err(HostError::call(Call::FairShare, task, Errno::ESRCH));
        }
        let shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(shares.get(&task.identity()).copied().unwrap_or(fresh))
    }

    fn fair_share_set(&self, task: &Task, share: FairShare) -> Result<(), HostError> {
        if !task.is_alive(self) {
            return Err(HostError::call(Call::FairShareSet, task, Errno::ESRCH));
        }
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares.insert(task.identity(), share);
        Ok(())
    }

    /// Nothing runs, so nothing is seen.
    fn watch_switches(&self, _task: &Task, _what: Watched) -> Result<SwitchWatch, HostError> {
        Ok(SwitchWatch::idle())
    }

    /// Nothing runs and nothing ends: virtual time moves to `deadline`. Without one nobody would ever
    /// wake: then it is as if the user had asked to end.
    fn wait_tasks(
        &self,
        _watches: &[&SwitchWatch],
        _tasks: &[&Task],
        _socket: Option<&ProgramSocket>,
        deadline: Option<Nanos>,
        _asked: u32,
    ) -> Result<bool, HostError> {
        match deadline {
            Some(deadline) => drop(self.sleep_until(deadline)?),
            None => self.interrupt(),
        }
        Ok(false)
    }

    fn open_cycles(&self) -> Result<CycleCounter, HostError> {
        again(&self.manifest.calls.cycles, Call::OpenCycles, "cycles of this thread")?;
        Ok(CycleCounter::idle())
    }

    fn user_hz(&self) -> u64 {
        self.manifest.calls.user_hz
    }

    fn cpu_times(&self) -> Result<CpuTimes, HostError> {
        procfs::cpu_times(self)
    }

    fn bpf(&self) -> Result<Bpf, HostError> {
        Err(HostError::unsupported(Call::Bpf, "a recorded machine", "it has no kernel"))
    }

    fn hold_idle_latency(&self, limit: Nanos) -> Result<IdleLatencyHold, HostError> {
        let path = dma_latency_path();
        match self.writable(path) {
            Ok(true) => Ok(IdleLatencyHold::recorded(limit)),
            Ok(false) => Err(HostError::call(Call::HoldIdleLatency, path.display(), Errno::EACCES)),
            Err(_) => Err(HostError::call(Call::HoldIdleLatency, path.display(), Errno::ENOENT)),
        }
    }
}
