//! From rt-app's JSON to threads.

use super::{Event, PhaseSpec, Program, ThreadSpec, json};
use crate::scenario::{Fields, Item, Key, ScenarioError, Value, key, suggestion};
use crate::setup::{Cgroup, Class};
use flyball_units::{CpuId, Nanos};

/// Threads above which a typing error is more likely than a wish.
const MAX_THREADS: usize = 4096;

/// Turns of a loop in which no time passes.
const MAX_IDLE_LOOPS: u64 = 10_000;

const TOP: &[Key] = &[
    key("global", "table", "none", "Settings of the whole workload."),
    key("tasks", "table", "", "The threads by name."),
    key("resources", "table", "", "No effect: locks and conditions are known by their names."),
];

/// `global`. Those that tell rt-app where to log or how to calibrate say nothing about the
/// workload; they may stand and have no effect.
const GLOBAL: &[Key] = &[
    key("duration", "s", "-1", "How long; -1: without end."),
    key("default_policy", "word", "SCHED_OTHER", "Policy of threads without one."),
    key("calibration", "", "", "No effect: work is calibrated to the fastest CPU."),
    key("ftrace", "", "", "No effect."),
    key("gnuplot", "", "", "No effect."),
    key("logdir", "", "", "No effect."),
    key("log_basename", "", "", "No effect."),
    key("log_size", "", "", "No effect."),
    key("lock_pages", "", "", "No effect: there is no paging."),
    key("pi_enabled", "", "", "No effect: there are no locks."),
    key("cumulative_slack", "", "", "No effect."),
    key("frag", "", "", "No effect."),
    key("io_device", "", "", "No effect: I/O takes the same time on any device."),
    key("mem_buffer_size", "", "", "No effect."),
];

/// Settings of a thread; what is neither of these nor an event is an error.
const THREAD: &[&str] = &[
    "policy",
    "priority",
    "cpus",
    "nodes_membind",
    "delay",
    "loop",
    "instance",
    "phases",
    "util_min",
    "util_max",
    "taskgroup",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
];

/// Settings of a phase.
const PHASE: &[&str] = &["loop", "cpus", "nodes_membind", "taskgroup"];

/// Events by the start of their key; the longer one of two comes first.
const EVENTS: &[&str] = &[
    "runtime",
    "run",
    "sleep",
    "timer",
    "suspend",
    "resume",
    "mem",
    "iorun",
    "lock",
    "unlock",
    "wait",
    "sig_and_wait",
    "signal",
    "sync",
    "broad",
    "barrier",
    "yield",
    "fork",
];

/// Bytes that `mem` writes in a microsecond: 4 GB/s.
const MEMORY_BYTES_PER_US: u64 = 4_000;

/// Bytes that `iorun` moves in a microsecond: 500 MB/s.
const DEVICE_BYTES_PER_US: u64 = 500;

/// What was approximated.
mod note {
    pub const MEMORY: &str = "mem takes the time of writing at 4 GB/s, whatever the frequency";
    pub const IO: &str = "iorun sleeps, waiting for I/O, for the time of a device of 500 MB/s";
    pub const LOCKS: &str = "locks and barriers are never contended: they take no time";
    pub const YIELD: &str = "yield keeps the CPU";
    pub const CONDITIONS: &str = "wait and sync sleep until another thread signals the same name; signal wakes the first of them";
    pub const FORKS: &str =
        "each fork in the file has one thread, which runs again at the next turn";
    pub const FIRST_GROUP: &str = "a thread stays in the first taskgroup that it names";
    pub const NESTED: &str = "a taskgroup within another one lies beside it";
    pub const NODES: &str = "nodes_membind has no effect: memory is everywhere alike";
    pub const PHASE_CPUS: &str = "a thread may run on the CPUs of all its phases in each of them";
    pub const DEADLINE: &str = "SCHED_DEADLINE on some CPUs, or of times that the kernel refuses, is FIFO with the priority 99";
    pub const IDLE: &str = "SCHED_IDLE is the nice value 19";
}

/// Reads a workload.
pub fn parse(text: &str, origin: &str) -> Result<Program, ScenarioError> {
    let root = json::parse(text, origin)?;
    let top = Fields::new(origin, "", &root, &[TOP])?;
    let mut duration = None;
    let mut default_class = Policy::Other;
    if let Some(global) = top.get("global") {
        let global = global.fields(&[GLOBAL])?;
        let seconds = global.integer_or("duration", -1, -1..=1_000_000)?;
        duration = u64::try_from(seconds).ok().filter(|s| *s > 0).map(Nanos::from_secs);
        default_class = global.choice_or("default_policy", Policy::Other, POLICIES)?;
    }
    let tasks = top.require("tasks")?.any_fields()?;
    let mut names = Names::default();
    for (entry, item) in tasks.entries() {
        names.conditions(entry.key.as_str(), &item)?;
    }
    let forks = |name: &str| names.forks.iter().filter(|forked| *forked == name).count();
    let mut total = 0_usize;
    for (entry, item) in tasks.entries() {
        let instances = item.any_fields()?.integer_or("instance", 1, 0..=4096)? as usize;
        let forked = forks(&entry.key);
        names.threads.push(Instances { name: entry.key.clone(), start: total, instances, forked });
        total += instances + forked;
        if total > MAX_THREADS {
            return Err(item.wrong(format!("expected at most {MAX_THREADS} threads in all")));
        }
    }
    if total == 0 {
        return Err(top.require("tasks")?.expected("at least one thread"));
    }
    let mut threads = Vec::new();
    let mut notes = Vec::new();
    let mut forks_taken = Vec::new();
    for (at, (_, item)) in tasks.entries().enumerate() {
        let Some(own) = names.threads.get(at) else { continue };
        let mut events =
            Events { names: &names, own, timers: Vec::new(), taskgroup: None, notes, forks_taken };
        let spec = thread(&item, default_class, &mut events)?;
        (notes, forks_taken) = (events.notes, events.forks_taken);
        let count = own.instances + own.forked;
        for number in 0..count {
            let name = match count {
                1 => spec.name.clone(),
                _ => format!("{}-{number}", spec.name),
            };
            let forked = number >= own.instances;
            threads.push(ThreadSpec { name, forked, ..spec.clone() });
        }
    }
    notes.sort_unstable();
    notes.dedup();
    Ok(Program { duration, threads, notes })
}

/// What threads know each other by.
#[derive(Default)]
struct Names {
    threads: Vec<Instances>,
    /// (condition, name of a thread that waits for it), in the order of the file.
    waiters: Vec<(String, String)>,
    /// The threads that the file's forks name, in its order.
    forks: Vec<String>,
}

/// The threads of one name: those that begin with the workload, then those that are forked.
struct Instances {
    name: String,
    start: usize,
    instances: usize,
    forked: usize,
}

impl Names {
    /// Collects the conditions and forks of a thread or, one level deeper, of its phases.
    fn conditions(&mut self, thread: &str, item: &Item<'_>) -> Result<(), ScenarioError> {
        for (entry, item) in item.any_fields()?.entries() {
            let key = entry.key.as_str();
            if key == "phases" {
                for (_, phase) in item.any_fields()?.entries() {
                    self.conditions(thread, &phase)?;
                }
            } else if key.starts_with("fork") {
                self.forks.push(item.text()?.to_owned());
            } else if ["wait", "sync", "sig_and_wait"].iter().any(|kind| key.starts_with(kind)) {
                self.waiters.push((condition(&item)?, thread.to_owned()));
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Instances> {
        self.threads.iter().find(|thread| thread.name == name)
    }

    /// Every thread of these names that waits for a condition, but for those of `own`.
    fn waiting(&self, wanted: &str, own: &Instances) -> impl Iterator<Item = usize> {
        let waits = |name: &str| {
            self.waiters.iter().any(|(condition, thread)| condition == wanted && thread == name)
        };
        let others = self.threads.iter().filter(|thread| thread.name != own.name);
        let numbers: Vec<usize> = others
            .filter(|thread| waits(&thread.name))
            .flat_map(|thread| thread.start..thread.start + thread.instances + thread.forked)
            .collect();
        numbers.into_iter()
    }
}

/// The name of a condition: the value itself, or its `ref`.
fn condition(item: &Item<'_>) -> Result<String, ScenarioError> {
    match item.text() {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Ok(item.any_fields()?.require("ref")?.text()?.to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Other,
    Idle,
    Fifo,
    Deadline,
}

const POLICIES: &[(&str, Policy)] = &[
    ("SCHED_OTHER", Policy::Other),
    ("SCHED_FIFO", Policy::Fifo),
    // Round robin differs from FIFO only between tasks of one priority.
    ("SCHED_RR", Policy::Fifo),
    ("SCHED_IDLE", Policy::Idle),
    ("SCHED_DEADLINE", Policy::Deadline),
];

fn thread(
    item: &Item<'_>,
    default: Policy,
    events: &mut Events<'_>,
) -> Result<ThreadSpec, ScenarioError> {
    let fields = item.any_fields()?;
    let policy = fields.choice_or("policy", default, POLICIES)?;
    let mut class = match policy {
        Policy::Other => Class::Fair { nice: fields.integer_or("priority", 0, -20..=19)? as i8 },
        Policy::Fifo => Class::Fifo { priority: fields.integer_or("priority", 10, 1..=99)? as u8 },
        Policy::Idle => {
            events.notes.push(note::IDLE);
            Class::Fair { nice: 19 }
        }
        Policy::Deadline => deadline(&fields)?,
    };
    let mut allowed = fields.get("cpus").map_or(Ok(Vec::new()), |item| cpus(&item))?;
    events.settings(&fields)?;
    let phases = match fields.get("phases") {
        Some(phases) => events.phases(&phases, &fields, &mut allowed)?,
        None => {
            let known = fields.entries().filter(|(entry, _)| !THREAD.contains(&entry.key.as_str()));
            vec![PhaseSpec { loops: Some(1), events: events.of(known, &fields)? }]
        }
    };
    allowed.sort();
    allowed.dedup();
    let refused = !allowed.is_empty() || !matches!(class, Class::Deadline { .. });
    if policy == Policy::Deadline && refused {
        events.notes.push(note::DEADLINE);
        class = Class::Fifo { priority: 99 };
    }
    let spec = ThreadSpec {
        name: events.own.name.clone(),
        class,
        cpus: allowed,
        uclamp_min: fields.integer_or("util_min", 0, 0..=1024)? as u32,
        uclamp_max: fields.integer_or("util_max", 1024, 0..=1024)? as u32,
        delay: fields.get("delay").map_or(Ok(Nanos::ZERO), |item| micros(&item))?,
        loops: loops(&fields, None)?,
        taskgroup: events.group(),
        forked: false,
        phases,
    };
    check_progress(&spec, item)?;
    Ok(spec)
}

/// What a thread reserves; FIFO where the kernel would refuse that.
fn deadline(fields: &Fields<'_>) -> Result<Class, ScenarioError> {
    let time =
        |key: &str, default: Nanos| fields.get(key).map_or(Ok(default), |item| micros(&item));
    let runtime = time("dl-runtime", Nanos::ZERO)?;
    let period = time("dl-period", runtime)?;
    let class = Class::deadline(runtime, time("dl-deadline", period)?, period);
    Ok(class.unwrap_or(Class::Fifo { priority: 99 }))
}

/// A thread that goes round for ever without letting time pass would stop the simulation.
fn check_progress(spec: &ThreadSpec, item: &Item<'_>) -> Result<(), ScenarioError> {
    let passes = |phase: &PhaseSpec| {
        phase.loops != Some(0)
            && phase.events.iter().any(|event| match event {
                Event::Run(time) | Event::Runtime(time) | Event::Sleep(time) | Event::Io(time) => {
                    time.0 > 0
                }
                Event::Timer { .. } | Event::Suspend => true,
                Event::Resume(_) => false,
            })
    };
    let many = |loops: Option<u64>| loops.is_none_or(|loops| loops > MAX_IDLE_LOOPS);
    let endless_phase = spec.phases.iter().any(|phase| many(phase.loops) && !passes(phase));
    let endless = many(spec.loops) && !spec.phases.iter().any(passes);
    if endless_phase || endless {
        return Err(item
            .wrong("expected time to pass in every endless loop, found none")
            .hint("add a run, sleep, timer or suspend, or give it a loop count"));
    }
    Ok(())
}

/// -1 is without end.
fn loops(fields: &Fields<'_>, default: Option<u64>) -> Result<Option<u64>, ScenarioError> {
    match fields.get("loop") {
        None => Ok(default),
        Some(item) => Ok(u64::try_from(item.integer(-1..=i64::MAX)?).ok()),
    }
}

fn micros(item: &Item<'_>) -> Result<Nanos, ScenarioError> {
    Ok(Nanos::from_micros(item.integer(0..=1_000_000_000_000)? as u64))
}

fn cpus(item: &Item<'_>) -> Result<Vec<CpuId>, ScenarioError> {
    let list = item.list()?;
    let mut cpus = list
        .iter()
        .map(|item| Ok(CpuId(item.integer(0..=4095)? as u32)))
        .collect::<Result<Vec<CpuId>, ScenarioError>>()?;
    cpus.sort();
    cpus.dedup();
    Ok(cpus)
}

/// Reads the events of one thread.
struct Events<'a> {
    names: &'a Names,
    own: &'a Instances,
    /// Names of the thread's timers.
    timers: Vec<String>,
    /// The first taskgroup that the thread or a phase of it names: a path.
    taskgroup: Option<String>,
    notes: Vec<&'static str>,
    /// Threads that a fork named already.
    forks_taken: Vec<String>,
}

impl Events<'_> {
    fn phases(
        &mut self,
        phases: &Item<'_>,
        thread: &Fields<'_>,
        allowed: &mut Vec<CpuId>,
    ) -> Result<Vec<PhaseSpec>, ScenarioError> {
        // Events beside phases would have no place in their order.
        let stray = thread.entries().find(|(entry, _)| !THREAD.contains(&entry.key.as_str()));
        if let Some((entry, _)) = stray {
            return Err(thread.unknown(entry, THREAD));
        }
        let phases = phases.any_fields()?;
        let one = |(_, item): (_, Item<'_>)| {
            let fields = item.any_fields()?;
            if let Some(list) = fields.get("cpus") {
                allowed.extend(cpus(&list)?);
                self.notes.push(note::PHASE_CPUS);
            }
            self.settings(&fields)?;
            let events = fields.entries().filter(|(entry, _)| !PHASE.contains(&entry.key.as_str()));
            Ok(PhaseSpec { loops: loops(&fields, Some(1))?, events: self.of(events, &fields)? })
        };
        phases.entries().map(one).collect()
    }

    /// Keeps the taskgroup, and notes what has no effect.
    fn settings(&mut self, fields: &Fields<'_>) -> Result<(), ScenarioError> {
        if let Some(item) = fields.get("taskgroup") {
            let path = item.text()?;
            match &self.taskgroup {
                None => self.taskgroup = Some(path.to_owned()),
                Some(first) if first != path => self.notes.push(note::FIRST_GROUP),
                Some(_) => {}
            }
        }
        self.notes.extend(fields.get("nodes_membind").map(|_| note::NODES));
        Ok(())
    }

    /// The thread's group, by the name that a scenario's `[[cgroup]]` has; none in the root.
    fn group(&mut self) -> Option<String> {
        let path = self.taskgroup.take()?;
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        if parts.len() > 1 {
            self.notes.push(note::NESTED);
        }
        let name = parts.join("-");
        let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        (!name.is_empty()).then(|| name.chars().map(fits).take(Cgroup::NAME_LENGTH).collect())
    }

    fn of<'i>(
        &mut self,
        entries: impl Iterator<Item = (&'i crate::scenario::Entry, Item<'i>)>,
        fields: &Fields<'_>,
    ) -> Result<Vec<Event>, ScenarioError> {
        let mut events = Vec::new();
        for (entry, item) in entries {
            match EVENTS.iter().find(|kind| entry.key.starts_with(**kind)) {
                Some(kind) => self.event(kind, &item, &mut events)?,
                None => return Err(refusal(entry, fields)),
            }
        }
        Ok(events)
    }

    fn event(
        &mut self,
        kind: &str,
        item: &Item<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), ScenarioError> {
        let bytes = || Ok::<u64, ScenarioError>(item.integer(0..=1_000_000_000_000)? as u64);
        let event = match kind {
            "runtime" => Event::Runtime(micros(item)?),
            "run" => Event::Run(micros(item)?),
            "sleep" => Event::Sleep(micros(item)?),
            "suspend" => Event::Suspend,
            "resume" => Event::Resume(self.target(item)?),
            "mem" => {
                self.notes.push(note::MEMORY);
                Event::Runtime(Nanos(bytes()? * 1000 / MEMORY_BYTES_PER_US))
            }
            "iorun" => {
                self.notes.push(note::IO);
                Event::Io(Nanos(bytes()? * 1000 / DEVICE_BYTES_PER_US))
            }
            "fork" => Event::Resume(self.forked(item)?),
            "yield" => {
                self.notes.push(note::YIELD);
                return Ok(());
            }
            "wait" | "signal" | "broad" | "sync" | "sig_and_wait" => {
                self.notes.push(note::CONDITIONS);
                let wanted = condition(item)?;
                let woken = if kind == "broad" { usize::MAX } else { usize::from(kind != "wait") };
                let waiting = self.names.waiting(&wanted, self.own).take(woken);
                events.extend(waiting.map(Event::Resume));
                if !matches!(kind, "wait" | "sync" | "sig_and_wait") {
                    return Ok(());
                }
                Event::Suspend
            }
            "lock" | "unlock" | "barrier" => {
                self.notes.push(note::LOCKS);
                return Ok(());
            }
            _ => self.timer(item)?,
        };
        events.push(event);
        Ok(())
    }

    fn target(&self, item: &Item<'_>) -> Result<usize, ScenarioError> {
        let name = item.text()?;
        match self.names.find(name) {
            Some(Instances { start, instances: 1, forked: 0, .. }) => Ok(*start),
            Some(Instances { instances, forked, .. }) => {
                let count = instances + forked;
                Err(item.wrong(format!("expected one thread `{name}` to resume, found {count}")))
            }
            None => Err(self.no_thread(item, "resume", name)),
        }
    }

    /// The thread that belongs to this fork.
    fn forked(&mut self, item: &Item<'_>) -> Result<usize, ScenarioError> {
        self.notes.push(note::FORKS);
        let name = item.text()?;
        let Some(thread) = self.names.find(name) else {
            return Err(self.no_thread(item, "fork", name));
        };
        let taken = self.forks_taken.iter().filter(|taken| *taken == name).count();
        self.forks_taken.push(name.to_owned());
        Ok(thread.start + thread.instances + taken)
    }

    fn no_thread(&self, item: &Item<'_>, to: &str, name: &str) -> ScenarioError {
        let names: Vec<&str> = self.names.threads.iter().map(|known| known.name.as_str()).collect();
        item.wrong(format!("expected a thread to {to}, found \"{name}\""))
            .maybe_hint(suggestion(name, &names))
    }

    fn timer(&mut self, item: &Item<'_>) -> Result<Event, ScenarioError> {
        const TIMER: &[Key] = &[
            key("ref", "text", "", "Its name; `unique` is one of its own."),
            key("period", "us", "", "Its period."),
            key("mode", "word", "relative", "`relative` or `absolute`."),
        ];
        let fields = item.fields(&[TIMER])?;
        let name = fields.require("ref")?.text()?.to_owned();
        let period = micros(&fields.require("period")?)?;
        if period.0 == 0 {
            return Err(fields.require("period")?.expected("a period above 0"));
        }
        let known = self.timers.iter().position(|timer| *timer == name && name != "unique");
        let timer = known.unwrap_or_else(|| {
            self.timers.push(name);
            self.timers.len() - 1
        });
        let absolute =
            fields.choice_or("mode", false, &[("relative", false), ("absolute", true)])?;
        Ok(Event::Timer { timer, period, absolute })
    }
}

fn refusal(entry: &crate::scenario::Entry, fields: &Fields<'_>) -> ScenarioError {
    match &entry.node.value {
        Value::Table(_) if fields.get("phases").is_none() => fields
            .unknown(entry, THREAD)
            .hint("phases stand in a table of their own: \"phases\": { ... }"),
        _ => fields.unknown(entry, &[EVENTS, THREAD].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
        "global": { "duration": 2, "default_policy": "SCHED_OTHER", "calibration": "CPU0", "ftrace": "none" },
        "tasks": {
            /* 20 % every 16 ms */
            "video": {
                "instance": 2, "priority": -5, "cpus": [0, 1], "util_min": 100,
                "loop": -1,
                "phases": {
                    "warm": { "loop": 10, "run": 3200, "timer": { "ref": "t", "period": 16000 } },
                    "hot": { "loop": 1, "run0": 9000, "sleep": 1000, "resume": "audio" }
                }
            },
            "audio": { "policy": "SCHED_FIFO", "priority": 80, "delay": 500, "suspend": 0, "runtime": 200 }
        }
    }"#;

    #[test]
    fn the_common_subset() {
        let program = parse(TEXT, "x.json").unwrap();
        assert_eq!(program.duration, Some(Nanos::from_secs(2)));
        let names: Vec<&str> = program.threads.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["video-0", "video-1", "audio"]);
        let video = &program.threads[0];
        assert_eq!((video.class, video.uclamp_min), (Class::Fair { nice: -5 }, 100));
        assert_eq!(video.phases[0].loops, Some(10));
        let timer = Event::Timer { timer: 0, period: Nanos(16_000_000), absolute: false };
        assert_eq!(video.phases[0].events, [Event::Run(Nanos(3_200_000)), timer]);
        assert_eq!(video.phases[1].events[2], Event::Resume(2));
        let audio = &program.threads[2];
        assert_eq!(audio.class, Class::Fifo { priority: 80 });
        assert_eq!(audio.phases[0].events, [Event::Suspend, Event::Runtime(Nanos(200_000))]);
    }

    #[test]
    fn a_deadline_thread_reserves_what_the_kernel_grants() {
        let class = |keys: &str| {
            let task =
                format!(r#"{{ "policy": "SCHED_DEADLINE", {keys}, "run": 100, "sleep": 9000 }}"#);
            let program = parse(&format!(r#"{{ "tasks": {{ "t": {task} }} }}"#), "x.json").unwrap();
            (program.threads[0].class, program.notes)
        };
        let [runtime, deadline, period] = [2, 8, 10].map(|ms| Nanos(ms * 1_000_000));
        let granted = (Class::Deadline { runtime, deadline, period }, Vec::new());
        assert_eq!(
            class(r#""dl-runtime": 2000, "dl-deadline": 8000, "dl-period": 10000"#),
            granted
        );
        let granted = (Class::Deadline { runtime, deadline: period, period }, Vec::new());
        assert_eq!(class(r#""dl-runtime": 2000, "dl-period": 10000"#), granted);
        let refused = (Class::Fifo { priority: 99 }, vec![note::DEADLINE]);
        assert_eq!(class(r#""dl-runtime": 12000, "dl-period": 10000"#), refused);
        assert_eq!(class(r#""dl-runtime": 2000, "dl-period": 10000, "cpus": [1]"#), refused);
    }

    /// A file with what rt-app's own examples have beyond the common subset.
    const RICH: &str = r#"{
        "global": { "duration": 1, "lock_pages": false, "frag": 1, "mem_buffer_size": 4096, },
        "resources": { "m": { "type": "mutex" }, },
        "tasks": {
            "worker": {
                "instance": 0, "loop": 1, "taskgroup": "/tg1",
                "run": 100, "mem": 8000,
            },
            "main": {
                "phases": {
                    "one": { "cpus": [0], "lock": "m", "run": 10, "unlock": "m", "run": 20, "fork": "worker" },
                    "two": { "cpus": [2, 3], "taskgroup": "/", "iorun": 1000, "signal": "c",
                             "barrier": "b", "yield": "", "sleep": 50, },
                },
            },
            "waiter": { "wait": { "ref": "c", "mutex": "m" }, "run": 5 },
            "late": { "sync": { "ref": "c", "mutex": "m" }, "run": 5 },
        },
    }"#;

    /// 8000 bytes at 4 GB/s are 2 us, 1000 bytes at 500 MB/s as many.
    #[test]
    fn what_the_model_lacks_is_approximated_with_notes() {
        let program = parse(RICH, "x.json").unwrap();
        let names: Vec<&str> = program.threads.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["worker", "main", "waiter", "late"]);
        let [worker, main, waiter, late] = &program.threads[..] else { panic!("{names:?}") };
        assert!(worker.forked && !main.forked);
        assert_eq!((worker.taskgroup.as_deref(), main.taskgroup.as_deref()), (Some("tg1"), None));
        let us = |us: u64| Nanos(us * 1000);
        assert_eq!(worker.phases[0].events, [Event::Run(us(100)), Event::Runtime(us(2))]);
        assert_eq!(main.cpus, [0, 2, 3].map(CpuId));
        assert_eq!(
            main.phases[0].events,
            [Event::Run(us(10)), Event::Run(us(20)), Event::Resume(0)]
        );
        let two = [Event::Io(us(2)), Event::Resume(2), Event::Sleep(us(50))];
        assert_eq!(main.phases[1].events, two, "the first that waits");
        assert_eq!(waiter.phases[0].events[0], Event::Suspend);
        assert_eq!(late.phases[0].events[..2], [Event::Resume(2), Event::Suspend]);
        assert_eq!(program.notes.len(), 7, "{:?}", program.notes);
    }

    #[test]
    fn a_thread_is_in_the_first_taskgroup_that_it_names() {
        let text = r#"{ "tasks": { "a": { "taskgroup": "/tg1/tg 11", "phases": {
            "one": { "run": 5 }, "two": { "taskgroup": "/tg2", "run": 5, "sleep": 5 } } } } }"#;
        let program = parse(text, "x.json").unwrap();
        assert_eq!(program.threads[0].taskgroup.as_deref(), Some("tg1-tg_11"));
        assert_eq!(program.notes, [note::NESTED, note::FIRST_GROUP]);
        let wrong = parse(r#"{ "tasks": { "a": { "taskgroup": 1, "run": 5 } } }"#, "x.json");
        assert!(wrong.unwrap_err().to_string().contains("tasks.a.taskgroup: expected a text"));
    }

    #[test]
    fn what_is_not_understood_names_key_and_place() {
        for (events, words) in [
            ("\"rnu\": 5", "unknown key `tasks.a.rnu`"),
            ("\"fork\": \"b\", \"run\": 5", "expected a thread to fork, found \"b\""),
            ("\"wait\": 3", "expected a table"),
            ("\"run\": -5", "tasks.a.run: expected a whole number from 0"),
            ("\"run\": \"5ms\"", "expected a whole number"),
            ("\"resume\": \"b\"", "expected a thread to resume, found \"b\""),
            ("\"timer\": {\"ref\": \"t\"}", "expected the key `tasks.a.timer.period`"),
            ("\"timer\": {\"ref\": \"t\", \"period\": 0}", "above 0"),
            ("\"policy\": \"SCHED_BATCH\", \"run\": 5", "expected one of SCHED_OTHER"),
            ("\"priority\": 99, \"run\": 5", "-20 to 19"),
            ("\"loop\": -1", "expected time to pass"),
            ("\"phases\": {}, \"run\": 5", "unknown key `tasks.a.run`"),
            ("\"phases\": {\"p\": {\"loop\": -1}}", "expected time to pass"),
        ] {
            let text = format!("{{\"tasks\": {{\"a\": {{{events}}}}}}}");
            let error = parse(&text, "x.json").unwrap_err();
            assert!(error.to_string().contains(words), "{events}: {error}");
            assert!(error.place.is_some(), "{events}: {error}");
        }
        for text in ["{}", "{\"tasks\": {}}", "{\"tasks\": 3}", "[]", "{\"tasks\": {}, \"res\": 1}"]
        {
            assert!(parse(text, "x.json").is_err(), "{text}");
        }
    }
}
