//! The program stress-ng as a generator, held to the same proof as our own threads.
//!
//! One instance runs for each pinned thread, or one for each unpinned group. Its workers are
//! found as the children of its process, and their CPU time is read from /proc/PID/schedstat.

use super::error::LoadError;
use super::place::Slot;
use super::proof::ThreadReading;
use super::{GeneratorKind, Kind};
use flyball_host::{Child, Errno, Host, HostError, ProcessSpec};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the figures come from, for the table `load`.
pub const SOURCE: &str = "stress-ng: schedstat of its workers, by CPU last seen on";

/// How long the workers may take to appear.
const START_LIMIT: Nanos = Nanos::from_secs(3);

/// How long stress-ng may take to end when asked, before it is killed.
const STOP_LIMIT: Nanos = Nanos::from_secs(1);

/// One running stress-ng. It ends when this is dropped, or with the thread that started it.
#[derive(Debug)]
pub struct StressNg {
    host: Arc<dyn Host>,
    child: Child,
    cpus: CpuSet,
    workers: Vec<Worker>,
}

/// One worker process, which stands for one slot.
#[derive(Debug)]
struct Worker {
    number: usize,
    pid: u32,
    last: ThreadReading,
}

/// Slots that one instance serves: numbers in the profile, and what they have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Numbers of the slots in the profile.
    pub numbers: Vec<usize>,
    /// The slot, the same for all of them.
    pub slot: Slot,
}

impl Instance {
    /// Puts slots that differ in nothing but their number together.
    pub fn gather(slots: &[(usize, Slot)]) -> Vec<Instance> {
        let mut instances: Vec<Instance> = Vec::new();
        for (number, slot) in slots {
            match instances.iter_mut().find(|instance| instance.slot == *slot) {
                Some(instance) => instance.numbers.push(*number),
                None => instances.push(Instance { numbers: vec![*number], slot: slot.clone() }),
            }
        }
        instances
    }

    /// The arguments of stress-ng: `--cpu N --cpu-load P`, a single method per kind, and the
    /// period as its time slice where the profile gives one.
    pub fn arguments(&self) -> Vec<String> {
        let method = match self.slot.kind {
            Kind::Integer => "int64",
            Kind::Float => "double",
            // Refused when the profile is read; its nearest relative.
            Kind::Memory => "matrixprod",
        };
        let mut arguments: Vec<String> = ["--quiet", "--timeout", "0", "--cpu-method", method]
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        add("--cpu", self.numbers.len().to_string());
        add("--cpu-load", self.slot.percent.to_string());
        add("--taskset", self.slot.cpus.to_string());
        if let Some(period) = self.slot.period {
            add("--cpu-load-slice", (period.0 / 1_000_000).max(1).to_string());
        }
        arguments
    }
}

impl StressNg {
    /// Starts `instance` and waits until its workers use CPU time. Call it from a thread that
    /// outlives the load: the program dies with the thread that started it.
    pub fn start(host: &Arc<dyn Host>, instance: &Instance) -> Result<StressNg, LoadError> {
        let spec = ProcessSpec::new("stress-ng", instance.arguments()).captured();
        let child = host.spawn(&spec).map_err(|error| match error.errno() {
            Some(Errno::ENOENT) => unavailable("the program stress-ng is not installed"),
            _ => LoadError::Host(error),
        })?;
        let cpus = instance.slot.cpus.clone();
        let mut this = StressNg { host: Arc::clone(host), child, cpus, workers: Vec::new() };
        let host = host.as_ref();
        let limit = host.now() + START_LIMIT;
        loop {
            let mut pids = children(host, this.child.id()).unwrap_or_default();
            pids.retain(|&pid| run_time(host, pid).is_ok_and(|(used, _)| used > Nanos::ZERO));
            if pids.len() >= instance.numbers.len() {
                this.workers = instance
                    .numbers
                    .iter()
                    .zip(pids)
                    .map(|(&number, pid)| Worker { number, pid, last: ThreadReading::default() })
                    .collect();
                return Ok(this);
            }
            let pause = host.now() + Nanos::from_millis(10);
            if let Some(exit) = this.child.wait(Some(pause))? {
                let said = String::from_utf8_lossy(&exit.stderr).trim().to_owned();
                return Err(unavailable(&format!(
                    "stress-ng ended at once (exit status {}): {said}",
                    exit.status
                )));
            }
            if host.now() > limit || host.interrupted() > 0 {
                return Err(unavailable(&format!(
                    "{} workers expected, {} found running in time",
                    instance.numbers.len(),
                    pids.len()
                )));
            }
        }
    }

    /// The clocks of every worker: (number in the profile, reading). None when they have ended
    /// because the user interrupted: an interrupt from the terminal reaches them, too.
    pub fn read(&mut self) -> Result<Option<Vec<(usize, ThreadReading)>>, LoadError> {
        let (host, cpus) = (self.host.as_ref(), &self.cpus);
        let read = |worker: &mut Worker| {
            match run_time(host, worker.pid)
                .and_then(|time| Ok((time, last_cpu(host, worker.pid)?)))
            {
                Ok(((used, waited), cpu)) => worker.last.advance(used, waited, cpu),
                Err(_) if host.interrupted() > 0 => return Ok(None),
                Err(error) => {
                    return Err(LoadError::Ended {
                        thread: worker.number,
                        cpus: cpus.clone(),
                        reason: error.to_string(),
                    });
                }
            }
            Ok(Some((worker.number, worker.last.clone())))
        };
        self.workers.iter_mut().map(read).collect()
    }
}

impl ThreadReading {
    /// Goes on to `used`, all of it since the last reading on `cpu`.
    fn advance(&mut self, used: Nanos, waited: Nanos, cpu: CpuId) {
        let more = used.since(self.cpu_time);
        match self.by_cpu.iter_mut().find(|(id, _)| *id == cpu) {
            Some((_, time)) => *time = *time + more,
            None => self.by_cpu.push((cpu, more)),
        }
        self.cpu_time = used;
        self.waited = Some(waited);
    }
}

impl Drop for StressNg {
    fn drop(&mut self) {
        // Asked politely it ends its workers itself; what is left then is killed with it, and
        // stress-ng's workers ask the kernel to die with their parent.
        if self.child.terminate().is_ok() {
            let _ = self.child.wait(Some(self.host.now() + STOP_LIMIT));
        }
    }
}

fn unavailable(reason: &str) -> LoadError {
    LoadError::Unavailable { generator: GeneratorKind::StressNg, reason: reason.to_owned() }
}

/// The children of a process.
fn children(host: &dyn Host, pid: u32) -> Result<Vec<u32>, HostError> {
    let path = PathBuf::from(format!("/proc/{pid}/task/{pid}/children"));
    let text = host.read(&path)?;
    Ok(text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// Run time and waiting time of a process with one thread: `/proc/PID/schedstat`.
fn run_time(host: &dyn Host, pid: u32) -> Result<(Nanos, Nanos), HostError> {
    let path = PathBuf::from(format!("/proc/{pid}/schedstat"));
    let text = host.read(&path)?;
    let mut numbers = text.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(run)), Some(Ok(waited))) => Ok((Nanos(run), Nanos(waited))),
        _ => Err(HostError::malformed(path.display(), "run time and waiting time", &text)),
    }
}

/// The CPU that a process ran on last: field 39 of `/proc/PID/stat`, the 37th after the name.
fn last_cpu(host: &dyn Host, pid: u32) -> Result<CpuId, HostError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let text = host.read(&path)?;
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    match fields.split_whitespace().nth(36).map(str::parse) {
        Some(Ok(cpu)) => Ok(CpuId(cpu)),
        _ => Err(HostError::malformed(path.display(), "at least 39 fields", &text)),
    }
}
