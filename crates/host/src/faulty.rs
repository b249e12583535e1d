//! A machine some of whose calls fail as told: for tests of every error path.

use crate::fault::Faults;
use crate::{
    Access, Bell, Bpf, Call, Child, ControlSocket, CounterRate, CpuTimes, CycleCounter, Effect,
    FairShare, Fault, FaultError, FolderLock, Host, HostError, HostKind, IdleLatencyHold, KeptFile,
    ProcessSpec, ProgramSocket, SchedStatReader, Scheduling, Signal, Stream, SwitchWatch, Task,
    ThreadUsage, Wake, Watched, Woken, dma_latency_path, procfs,
};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Another host, some of whose calls fail. What does not fail goes through.
#[derive(Debug)]
pub struct FaultyHost {
    inner: Arc<dyn Host>,
    faults: Arc<Faults>,
}

impl FaultyHost {
    /// `inner` with `faults`.
    pub fn new(inner: Arc<dyn Host>, faults: Vec<Fault>) -> FaultyHost {
        FaultyHost { inner, faults: Arc::new(Faults::new(faults)) }
    }

    /// Calls so far that can fail, failed or not; but not those on the calling thread.
    pub fn calls(&self) -> u64 {
        self.faults.calls()
    }

    /// `inner` with the faults of a text: see [`Fault::parse_list`].
    pub fn parse(inner: Arc<dyn Host>, faults: &str) -> Result<FaultyHost, FaultError> {
        Ok(FaultyHost::new(inner, Fault::parse_list(faults)?))
    }

    /// Fails if some fault says that `call` on `object` fails now.
    fn pass(&self, call: Call, object: impl ToString) -> Result<(), HostError> {
        let object = object.to_string();
        self.effect(call, &object)
            .map_or(Ok(()), |effect| Err(HostError::call(call, object, effect.errno())))
    }

    /// What a fault makes of this call, if any.
    fn effect(&self, call: Call, object: &str) -> Option<Effect> {
        self.faults.effect(call, object)
    }

    /// As [`FaultyHost::pass`], for calls on the calling thread or on nothing.
    fn pass_thread(&self, call: Call) -> Result<(), HostError> {
        // The object is built only where a fault might match: clocks are called often.
        if !self.faults.may_match(call) {
            return Ok(());
        }
        self.pass(call, self.inner.thread_id())
    }
}

impl Host for FaultyHost {
    fn kind(&self) -> HostKind {
        self.inner.kind()
    }

    fn read(&self, path: &Path) -> Result<String, HostError> {
        let object = path.display().to_string();
        match self.effect(Call::Read, &object) {
            Some(Effect::Short) => self.inner.read(path).map(|text| first_half(&text)),
            Some(effect) => Err(HostError::call(Call::Read, object, effect.errno())),
            None => self.inner.read(path),
        }
    }

    /// A fault of `read` breaks it, too.
    fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        self.pass(Call::Read, path.display())?;
        self.inner.read_bytes(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, HostError> {
        self.pass(Call::List, path.display())?;
        self.inner.list(path)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, HostError> {
        self.pass(Call::ReadLink, path.display())?;
        self.inner.read_link(path)
    }

    /// A faulty path is absent.
    fn exists(&self, path: &Path) -> bool {
        self.pass(Call::Exists, path.display()).is_ok() && self.inner.exists(path)
    }

    fn writable(&self, path: &Path) -> Result<bool, HostError> {
        self.pass(Call::Writable, path.display())?;
        self.inner.writable(path)
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), HostError> {
        let object = path.display().to_string();
        match self.effect(Call::Write, &object) {
            Some(Effect::Lost) => Ok(()),
            Some(effect) => Err(HostError::call(Call::Write, object, effect.errno())),
            None => self.inner.write(path, text),
        }
    }

    fn make_dir(&self, path: &Path) -> Result<(), HostError> {
        self.pass(Call::MakeDir, path.display())?;
        self.inner.make_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<(), HostError> {
        self.pass(Call::RemoveDir, path.display())?;
        self.inner.remove_dir(path)
    }

    fn lock_folder(&self, path: &Path) -> Result<FolderLock, HostError> {
        self.pass(Call::LockFolder, path.display())?;
        self.inner.lock_folder(path)
    }

    fn save(&self, path: &Path, text: &str) -> Result<(), HostError> {
        self.pass(Call::Save, path.display())?;
        self.inner.save(path, text)
    }

    fn read_saved(&self, path: &Path) -> Result<String, HostError> {
        self.pass(Call::Read, path.display())?;
        self.inner.read_saved(path)
    }

    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        self.pass(Call::RemoveFile, path.display())?;
        self.inner.remove_file(path)
    }

    fn open_stream(&self, path: &Path) -> Result<Stream, HostError> {
        self.pass(Call::OpenStream, path.display())?;
        self.inner.open_stream(path)
    }

    fn wait_streams(&self, streams: &[Stream], deadline: Nanos) -> Result<bool, HostError> {
        self.pass_thread(Call::WaitStreams)?;
        self.inner.wait_streams(streams, deadline)
    }

    /// Its readings and writings fail by the faults of `read` and `write`.
    fn open_kept(&self, path: &Path, access: Access) -> Result<KeptFile, HostError> {
        self.pass(Call::OpenKept, path.display())?;
        Ok(KeptFile::faulty(self.inner.open_kept(path, access)?, &self.faults))
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }

    fn boot_time(&self) -> Nanos {
        self.inner.boot_time()
    }

    fn realtime(&self) -> Nanos {
        self.inner.realtime()
    }

    fn thread_cpu_time(&self) -> Result<Nanos, HostError> {
        self.pass_thread(Call::ThreadCpuTime)?;
        self.inner.thread_cpu_time()
    }

    fn cpu_time_of(&self, tid: u32) -> Result<Nanos, HostError> {
        self.pass(Call::CpuTimeOf, tid)?;
        self.inner.cpu_time_of(tid)
    }

    fn process_cpu_time(&self) -> Result<Nanos, HostError> {
        self.pass_thread(Call::ProcessCpuTime)?;
        self.inner.process_cpu_time()
    }

    fn sleep_until(&self, deadline: Nanos) -> Result<Wake, HostError> {
        self.pass_thread(Call::SleepUntil)?;
        self.inner.sleep_until(deadline)
    }

    fn wait_until(&self, deadline: Nanos) -> Result<(Wake, Nanos), HostError> {
        self.pass_thread(Call::SleepUntil)?;
        self.inner.wait_until(deadline)
    }

    fn counter(&self) -> u64 {
        self.inner.counter()
    }

    fn counter_hz(&self) -> Result<CounterRate, HostError> {
        self.pass_thread(Call::CounterHz)?;
        self.inner.counter_hz()
    }

    fn multiply_chain(&self, multiplies: u64) -> u64 {
        self.inner.multiply_chain(multiplies)
    }

    fn current_cpu(&self) -> Result<CpuId, HostError> {
        self.pass_thread(Call::CurrentCpu)?;
        self.inner.current_cpu()
    }

    fn thread_id(&self) -> u32 {
        self.inner.thread_id()
    }

    fn affinity_set(&self, cpus: &CpuSet) -> Result<(), HostError> {
        self.pass(Call::AffinitySet, cpus)?;
        self.inner.affinity_set(cpus)
    }

    fn affinity_get(&self) -> Result<CpuSet, HostError> {
        self.pass_thread(Call::AffinityGet)?;
        self.inner.affinity_get()
    }

    fn scheduling_set(&self, scheduling: Scheduling) -> Result<(), HostError> {
        self.pass(Call::SchedulingSet, scheduling)?;
        self.inner.scheduling_set(scheduling)
    }

    fn scheduling_get(&self) -> Result<Scheduling, HostError> {
        self.pass_thread(Call::SchedulingGet)?;
        self.inner.scheduling_get()
    }

    fn utilization_clamp_set(&self, least: u32, most: u32) -> Result<(), HostError> {
        self.pass_thread(Call::UtilizationClampSet)?;
        self.inner.utilization_clamp_set(least, most)
    }

    fn lock_memory(&self) -> Result<u64, HostError> {
        self.pass_thread(Call::LockMemory)?;
        self.inner.lock_memory()
    }

    fn unlock_memory(&self) -> Result<(), HostError> {
        self.pass_thread(Call::UnlockMemory)?;
        self.inner.unlock_memory()
    }

    fn load_program(&self) -> Result<u64, HostError> {
        self.pass_thread(Call::LoadProgram)?;
        self.inner.load_program()
    }

    fn prefault_stack(&self, bytes: usize) -> Result<(), HostError> {
        self.pass_thread(Call::PrefaultStack)?;
        self.inner.prefault_stack(bytes)
    }

    fn usage(&self) -> Result<ThreadUsage, HostError> {
        self.pass_thread(Call::Usage)?;
        self.inner.usage()
    }

    fn schedstat_of(&self, tid: u32) -> Result<SchedStatReader, HostError> {
        self.pass(Call::Schedstat, tid)?;
        self.inner.schedstat_of(tid)
    }

    fn timer_slack_set(&self, slack: Nanos) -> Result<(), HostError> {
        self.pass_thread(Call::TimerSlackSet)?;
        self.inner.timer_slack_set(slack)
    }

    fn timer_slack_get(&self) -> Result<Nanos, HostError> {
        self.pass_thread(Call::TimerSlackGet)?;
        self.inner.timer_slack_get()
    }

    fn catch_interrupts(&self) -> Result<(), HostError> {
        self.pass_thread(Call::CatchInterrupts)?;
        self.inner.catch_interrupts()
    }

    fn interrupted(&self) -> u32 {
        self.inner.interrupted()
    }

    fn interrupt_signal(&self) -> Option<Signal> {
        self.inner.interrupt_signal()
    }

    fn spawn(&self, spec: &ProcessSpec) -> Result<Child, HostError> {
        self.pass(Call::Spawn, spec.program.to_string_lossy())?;
        self.inner.spawn(spec)
    }

    fn spawn_detached(&self, spec: &ProcessSpec) -> Result<u32, HostError> {
        self.pass(Call::SpawnDetached, spec.program.to_string_lossy())?;
        self.inner.spawn_detached(spec)
    }

    fn bell(&self) -> Result<Bell, HostError> {
        self.pass_thread(Call::Bell)?;
        self.inner.bell()
    }

    fn wait_bell(
        &self,
        bell: &Bell,
        socket: Option<&ControlSocket>,
        deadline: Nanos,
    ) -> Result<Woken, HostError> {
        self.pass_thread(Call::WaitBell)?;
        self.inner.wait_bell(bell, socket, deadline)
    }

    fn listen(&self, path: &Path) -> Result<ControlSocket, HostError> {
        self.pass(Call::Listen, path.display())?;
        self.inner.listen(path)
    }

    fn listen_to_programs(
        &self,
        path: &Path,
        everybody: bool,
        locked: bool,
    ) -> Result<ProgramSocket, HostError> {
        self.pass(Call::Listen, path.display())?;
        self.inner.listen_to_programs(path, everybody, locked)
    }

    fn ask(&self, path: &Path, request: &str, patience: Nanos) -> Result<String, HostError> {
        self.pass(Call::Ask, path.display())?;
        self.inner.ask(path, request, patience)
    }

    fn notify(&self, text: &str) -> Result<(), HostError> {
        self.pass(Call::Notify, text)?;
        self.inner.notify(text)
    }

    fn env(&self, name: &str) -> Option<String> {
        self.inner.env(name)
    }

    fn open_task(&self, pid: u32, tid: u32) -> Result<Task, HostError> {
        self.pass(Call::OpenTask, tid)?;
        self.inner.open_task(pid, tid)
    }

    fn least_utilization(&self, task: &Task) -> Result<u32, HostError> {
        self.pass(Call::LeastUtilization, task.identity().tid)?;
        self.inner.least_utilization(task)
    }

    fn least_utilization_set(&self, task: &Task, least: Option<u32>) -> Result<(), HostError> {
        self.pass(Call::LeastUtilizationSet, task.identity().tid)?;
        self.inner.least_utilization_set(task, least)
    }

    fn fair_share(&self, task: &Task) -> Result<FairShare, HostError> {
        self.pass(Call::FairShare, task.identity().tid)?;
        self.inner.fair_share(task)
    }

    fn fair_share_set(&self, task: &Task, share: FairShare) -> Result<(), HostError> {
        self.pass(Call::FairShareSet, task.identity().tid)?;
        self.inner.fair_share_set(task, share)
    }

    fn watch_switches(&self, task: &Task, what: Watched) -> Result<SwitchWatch, HostError> {
        self.pass(Call::WatchSwitches, task.identity().tid)?;
        self.inner.watch_switches(task, what)
    }

    fn wait_tasks(
        &self,
        watches: &[&SwitchWatch],
        tasks: &[&Task],
        socket: Option<&ProgramSocket>,
        deadline: Option<Nanos>,
        asked: u32,
    ) -> Result<bool, HostError> {
        self.pass_thread(Call::WaitTasks)?;
        self.inner.wait_tasks(watches, tasks, socket, deadline, asked)
    }

    fn open_cycles(&self) -> Result<CycleCounter, HostError> {
        self.pass_thread(Call::OpenCycles)?;
        self.inner.open_cycles()
    }

    fn user_hz(&self) -> u64 {
        self.inner.user_hz()
    }

    /// Read through this host, so that a fault of the file counts, too.
    fn cpu_times(&self) -> Result<CpuTimes, HostError> {
        self.pass(Call::CpuTimes, "/proc/stat")?;
        procfs::cpu_times(self)
    }

    fn bpf(&self) -> Result<Bpf, HostError> {
        self.pass(Call::Bpf, "kernel")?;
        self.inner.bpf()
    }

    fn hold_idle_latency(&self, limit: Nanos) -> Result<IdleLatencyHold, HostError> {
        self.pass(Call::HoldIdleLatency, dma_latency_path().display())?;
        self.inner.hold_idle_latency(limit)
    }
}

/// What a read that was cut short delivers.
fn first_half(text: &str) -> String {
    let text = text.trim_end();
    text.chars().take(text.chars().count() / 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Errno, RecordedHost};

    fn machine() -> Arc<dyn Host> {
        Arc::new(RecordedHost::from_listing("/a = 1\n/b = 2\n/proc/stat = cpu0 1 2 3 4").unwrap())
    }

    fn faulty(faults: &str) -> FaultyHost {
        FaultyHost::parse(machine(), faults).unwrap()
    }

    #[test]
    fn only_the_named_object_fails() {
        let host = faulty("sched_set=EPERM,read:/a=ENOENT");
        let error = host.read(Path::new("/a")).unwrap_err();
        assert_eq!(error.to_string(), "read failed on /a: No such file or directory (ENOENT)");
        assert_eq!(host.read(Path::new("/b")), Ok("2\n".to_owned()));
        let error = host.scheduling_set(Scheduling::DEFAULT).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EPERM));
    }

    #[test]
    fn only_the_named_time_fails() {
        let host = faulty("read#2=EIO");
        let results = [(); 3].map(|()| host.read(Path::new("/a")).is_ok());
        assert_eq!(results, [true, false, true]);
        let host = faulty("read:/*#2+=EIO");
        let results = [(); 3].map(|()| host.read(Path::new("/a")).is_ok());
        assert_eq!(results, [true, false, false]);
    }

    #[test]
    fn a_short_read_and_a_lost_write_look_well() {
        let host = faulty("read:/long=short,write=lost");
        let inner = RecordedHost::from_listing("/long = performance").unwrap();
        let host = FaultyHost { inner: Arc::new(inner), ..host };
        assert_eq!(host.read(Path::new("/long")).unwrap(), "perfo");
        assert_eq!(host.write(Path::new("/long"), "x"), Ok(()));
        assert_eq!(host.inner.read(Path::new("/long")).unwrap(), "performance\n");
        assert_eq!(host.calls(), 2);
        let dead = faulty("any#2+=EIO");
        assert!(dead.read(Path::new("/a")).is_ok());
        assert!(dead.read(Path::new("/b")).is_err() && dead.usage().is_err());
    }

    #[test]
    fn a_faulty_file_breaks_what_reads_it() {
        assert_eq!(faulty("").cpu_times().unwrap().cpus.len(), 1);
        let error = faulty("read:/proc/stat=EACCES").cpu_times().unwrap_err();
        assert!(error.to_string().starts_with("read failed on /proc/stat"));
        assert!(!faulty("exists:/a=EACCES").exists(Path::new("/a")));
    }

    #[test]
    fn every_failing_call_fails() {
        let text: Vec<String> = Call::ALL.iter().map(|call| format!("{call}=EIO")).collect();
        let host = faulty(&text.join(","));
        let (path, nanos) = (Path::new("/a"), Nanos::ZERO);
        let spec = ProcessSpec::new("true", [] as [&str; 0]);
        let task = Task::recorded(crate::ThreadIdentity { pid: 1, tid: 1, start: 1 });
        let failures = [
            host.read(path).is_err(),
            host.list(path).is_err(),
            host.read_link(path).is_err(),
            !host.exists(path),
            host.writable(path).is_err(),
            host.write(path, "1").is_err(),
            host.make_dir(path).is_err(),
            host.remove_dir(path).is_err(),
            host.lock_folder(path).is_err(),
            host.save(path, "").is_err(),
            host.remove_file(path).is_err(),
            host.open_stream(path).is_err(),
            host.wait_streams(&[], nanos).is_err(),
            host.thread_cpu_time().is_err(),
            host.cpu_time_of(1).is_err(),
            host.process_cpu_time().is_err(),
            host.sleep_until(nanos).is_err(),
            host.counter_hz().is_err(),
            host.current_cpu().is_err(),
            host.affinity_set(&CpuSet::new()).is_err(),
            host.affinity_get().is_err(),
            host.scheduling_set(Scheduling::Idle).is_err(),
            host.scheduling_get().is_err(),
            host.utilization_clamp_set(0, 1024).is_err(),
            host.lock_memory().is_err(),
            host.unlock_memory().is_err(),
            host.load_program().is_err(),
            host.prefault_stack(1).is_err(),
            host.usage().is_err(),
            host.schedstat().is_err(),
            host.timer_slack_set(nanos).is_err(),
            host.timer_slack_get().is_err(),
            host.catch_interrupts().is_err(),
            host.spawn(&spec).is_err(),
            host.open_cycles().is_err(),
            host.cpu_times().is_err(),
            host.bpf().is_err(),
            host.hold_idle_latency(nanos).is_err(),
            host.open_kept(path, Access::Read).is_err(),
            host.bell().is_err(),
            host.wait_bell(&Bell::new().unwrap(), None, nanos).is_err(),
            host.listen(path).is_err(),
            host.ask(path, "", nanos).is_err(),
            host.notify("").is_err(),
            host.open_task(1, 1).is_err(),
            host.least_utilization(&task).is_err(),
            host.least_utilization_set(&task, None).is_err(),
            host.fair_share(&task).is_err(),
            host.fair_share_set(&task, FairShare::default()).is_err(),
            host.watch_switches(&task, Watched::Births).is_err(),
            host.wait_tasks(&[], &[], None, None, 0).is_err(),
            host.spawn_detached(&spec).is_err(),
        ];
        assert!(failures.iter().all(|&failed| failed), "{failures:?}");
        assert_eq!(failures.len(), Call::ALL.len(), "every call is tried");
    }
}
