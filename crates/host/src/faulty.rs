//! A machine some of whose calls fail as told: for tests of every error path.

use crate::{
    Call, Child, CounterRate, CpuSet, CpuTimes, CycleCounter, Errno, Host, HostError, HostKind,
    IdleLatencyHold, ProcessSpec, SchedStatReader, Scheduling, ThreadUsage, Wake, dma_latency_path,
    procfs,
};
use flyball_units::{CpuId, Nanos};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One call that fails. Text form: `CALL[:OBJECT][#N|#N+]=ERRNO`, where OBJECT is a path, a CPU
/// list, a class, a thread id or a program as the call takes it (a final `*` stands for anything),
/// `#N` fails only the N-th such call and `#N+` that one and all later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The call.
    pub call: Call,
    /// What it is called on; anything where none is given.
    pub object: Option<String>,
    /// The first matching call that fails, counted from 1.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// How it fails.
    pub errno: Errno,
}

/// A fault that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fault {fault:?}: expected {expected}")]
pub struct FaultError {
    /// The text of the fault.
    pub fault: String,
    /// What should have been there.
    pub expected: String,
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Fault, FaultError> {
        let fail =
            |expected: &str| FaultError { fault: text.to_owned(), expected: expected.to_owned() };
        // Paths may hold any of the signs, so split from the outside in.
        let (target, errno) =
            text.rsplit_once('=').ok_or_else(|| fail("CALL[:OBJECT][#N|#N+]=ERRNO"))?;
        let errno = errno.trim().parse().map_err(|expected: String| fail(&expected))?;
        let (target, (first, last)) = match target.rsplit_once('#') {
            None => (target, (1, u64::MAX)),
            Some((target, times)) => {
                let range = parse_times(times).ok_or_else(|| fail("#N or #N+, N from 1"))?;
                (target, range)
            }
        };
        let (call, object) = match target.split_once(':') {
            Some((call, object)) => (call, Some(object.trim().to_owned())),
            None => (target, None),
        };
        let call = call.trim().parse().map_err(|expected: String| fail(&expected))?;
        Ok(Fault { call, object, first, last, errno })
    }
}

/// Reads `N` or `N+` as the range of calls that fail.
fn parse_times(times: &str) -> Option<(u64, u64)> {
    let (digits, open) = match times.strip_suffix('+') {
        Some(digits) => (digits, true),
        None => (times, false),
    };
    let first = digits.parse().ok().filter(|&first| first > 0)?;
    Some((first, if open { u64::MAX } else { first }))
}

impl Fault {
    /// Reads a list of faults, parted by commas that a new fault follows:
    /// `sched_set=EPERM,read:/sys/devices/system/cpu/online=ENOENT`. The empty text is no fault.
    pub fn parse_list(text: &str) -> Result<Vec<Fault>, FaultError> {
        let mut faults = Vec::new();
        let mut pending = String::new();
        for part in text.split(',') {
            if !pending.is_empty() {
                pending.push(',');
            }
            pending.push_str(part);
            // A comma inside an object (`affinity_set:0,2=EINVAL`) comes before the equals sign.
            if part.contains('=') {
                faults.push(pending.trim().parse()?);
                pending.clear();
            }
        }
        if !pending.trim().is_empty() {
            faults.push(pending.trim().parse()?);
        }
        Ok(faults)
    }

    fn matches(&self, call: Call, object: &str) -> bool {
        self.call == call
            && match &self.object {
                None => true,
                Some(wanted) => match wanted.strip_suffix('*') {
                    Some(start) => object.starts_with(start),
                    None => wanted == object,
                },
            }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.call)?;
        if let Some(object) = &self.object {
            write!(f, ":{object}")?;
        }
        match (self.first, self.last) {
            (1, u64::MAX) => {}
            (first, u64::MAX) => write!(f, "#{first}+")?,
            (first, _) => write!(f, "#{first}")?,
        }
        write!(f, "={}", String::from(self.errno))
    }
}

/// Another host, some of whose calls fail. What does not fail goes through.
#[derive(Debug)]
pub struct FaultyHost {
    inner: Arc<dyn Host>,
    faults: Vec<(Fault, AtomicU64)>,
}

impl FaultyHost {
    /// `inner` with `faults`.
    pub fn new(inner: Arc<dyn Host>, faults: Vec<Fault>) -> FaultyHost {
        let faults = faults.into_iter().map(|fault| (fault, AtomicU64::new(0))).collect();
        FaultyHost { inner, faults }
    }

    /// `inner` with the faults of a text: see [`Fault::parse_list`].
    pub fn parse(inner: Arc<dyn Host>, faults: &str) -> Result<FaultyHost, FaultError> {
        Ok(FaultyHost::new(inner, Fault::parse_list(faults)?))
    }

    /// Fails if some fault says that `call` on `object` fails now.
    fn pass(&self, call: Call, object: impl ToString) -> Result<(), HostError> {
        let object = object.to_string();
        let mut failure = None;
        for (fault, seen) in &self.faults {
            if fault.matches(call, &object) {
                let time = seen.fetch_add(1, Ordering::Relaxed) + 1;
                if (fault.first..=fault.last).contains(&time) && failure.is_none() {
                    failure = Some(fault.errno);
                }
            }
        }
        failure.map_or(Ok(()), |errno| Err(HostError::call(call, object, errno)))
    }

    /// As [`FaultyHost::pass`], for calls on the calling thread or on nothing.
    fn pass_thread(&self, call: Call) -> Result<(), HostError> {
        // The object is built only where a fault might match: clocks are called often.
        if !self.faults.iter().any(|(fault, _)| fault.call == call) {
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
        self.pass(Call::Read, path.display())?;
        self.inner.read(path)
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

    fn now(&self) -> Nanos {
        self.inner.now()
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

    fn lock_memory(&self) -> Result<u64, HostError> {
        self.pass_thread(Call::LockMemory)?;
        self.inner.lock_memory()
    }

    fn unlock_memory(&self) -> Result<(), HostError> {
        self.pass_thread(Call::UnlockMemory)?;
        self.inner.unlock_memory()
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

    fn spawn(&self, spec: &ProcessSpec) -> Result<Child, HostError> {
        self.pass(Call::Spawn, spec.program.to_string_lossy())?;
        self.inner.spawn(spec)
    }

    fn env(&self, name: &str) -> Option<String> {
        self.inner.env(name)
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

    fn hold_idle_latency(&self, limit: Nanos) -> Result<IdleLatencyHold, HostError> {
        self.pass(Call::HoldIdleLatency, dma_latency_path().display())?;
        self.inner.hold_idle_latency(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedHost;
    use proptest::prelude::*;

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
        let failures = [
            host.read(path).is_err(),
            host.list(path).is_err(),
            host.read_link(path).is_err(),
            !host.exists(path),
            host.writable(path).is_err(),
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
            host.lock_memory().is_err(),
            host.unlock_memory().is_err(),
            host.prefault_stack(1).is_err(),
            host.usage().is_err(),
            host.schedstat().is_err(),
            host.timer_slack_set(nanos).is_err(),
            host.timer_slack_get().is_err(),
            host.catch_interrupts().is_err(),
            host.spawn(&spec).is_err(),
            host.open_cycles().is_err(),
            host.cpu_times().is_err(),
            host.hold_idle_latency(nanos).is_err(),
        ];
        assert!(failures.iter().all(|&failed| failed), "{failures:?}");
        assert_eq!(failures.len(), Call::ALL.len(), "every call is tried");
    }

    #[test]
    fn lists_keep_commas_inside_objects() {
        let faults = Fault::parse_list("affinity_set:0,2=EINVAL,wrong").unwrap_err();
        assert_eq!(faults.fault, "wrong");
        let faults = Fault::parse_list("affinity_set:0,2=EINVAL, read:/x=y#3=EIO").unwrap();
        assert_eq!(faults[0].object.as_deref(), Some("0,2"));
        assert_eq!((faults[1].object.as_deref(), faults[1].first), (Some("/x=y"), 3));
        for wrong in ["read", "read=EWHAT", "now=EIO", "read#0=EIO", "read#x=EIO"] {
            assert!(Fault::parse_list(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".{0,80}") {
            let _ = Fault::parse_list(&text);
        }

        #[test]
        fn printing_then_parsing_is_identity(
            index in 0..Call::ALL.len(),
            object in proptest::option::of("/[a-z0-9/]{0,9}"),
            first in 1u64..9,
            open in any::<bool>(),
        ) {
            let last = if open { u64::MAX } else { first };
            let fault = Fault { call: Call::ALL[index], object, first, last, errno: Errno::EIO };
            prop_assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault);
        }
    }
}
