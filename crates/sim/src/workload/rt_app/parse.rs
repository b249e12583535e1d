//! From rt-app's JSON to threads.

use super::{Event, PhaseSpec, Program, ThreadSpec, json};
use crate::scenario::{Fields, Item, Key, ScenarioError, Value, key, suggestion};
use crate::setup::Class;
use flyball_units::{CpuId, Nanos};

/// Threads above which a typing error is more likely than a wish.
const MAX_THREADS: usize = 4096;

/// Turns of a loop in which no time passes.
const MAX_IDLE_LOOPS: u64 = 10_000;

const TOP: &[Key] = &[
    key("global", "table", "none", "Settings of the whole workload."),
    key("tasks", "table", "", "The threads by name."),
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
    key("io_device", "", "", "No effect: there is no I/O."),
    key("mem_buffer_size", "", "", "No effect."),
];

/// Settings of a thread; what is neither of these nor an event is an error.
const THREAD: &[&str] =
    &["policy", "priority", "cpus", "delay", "loop", "instance", "phases", "util_min", "util_max"];

/// Events by the start of their key; the longer one of two comes first.
const EVENTS: &[&str] = &["runtime", "run", "sleep", "timer", "suspend", "resume"];

/// Events of rt-app that are refused by name.
const REFUSED: &[&str] = &[
    "lock",
    "unlock",
    "wait",
    "signal",
    "broad",
    "sync",
    "barrier",
    "mem",
    "iorun",
    "yield",
    "sig_and_wait",
    "fork",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "taskgroup",
    "numa",
];

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
    let names: Vec<&str> = tasks.entries().map(|(entry, _)| entry.key.as_str()).collect();
    let mut starts = Vec::new();
    let mut total = 0_usize;
    for (_, item) in tasks.entries() {
        let instances = item.any_fields()?.integer_or("instance", 1, 1..=4096)?;
        starts.push((total, instances as usize));
        total += instances as usize;
        if total > MAX_THREADS {
            return Err(item.wrong(format!("expected at most {MAX_THREADS} threads in all")));
        }
    }
    if total == 0 {
        return Err(top.require("tasks")?.expected("at least one thread"));
    }
    let mut threads = Vec::new();
    for ((entry, item), (_, instances)) in tasks.entries().zip(&starts) {
        let spec = thread(&item, &entry.key, default_class, &names, &starts)?;
        for instance in 0..*instances {
            let name = match instances {
                1 => spec.name.clone(),
                _ => format!("{}-{instance}", spec.name),
            };
            threads.push(ThreadSpec { name, ..spec.clone() });
        }
    }
    Ok(Program { duration, threads })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Other,
    Fifo,
}

const POLICIES: &[(&str, Policy)] = &[
    ("SCHED_OTHER", Policy::Other),
    ("SCHED_FIFO", Policy::Fifo),
    // Round robin differs from FIFO only between tasks of one priority.
    ("SCHED_RR", Policy::Fifo),
];

fn thread(
    item: &Item<'_>,
    name: &str,
    default: Policy,
    names: &[&str],
    starts: &[(usize, usize)],
) -> Result<ThreadSpec, ScenarioError> {
    let fields = item.any_fields()?;
    let policy = fields.choice_or("policy", default, POLICIES)?;
    let class = match policy {
        Policy::Other => Class::Fair { nice: fields.integer_or("priority", 0, -20..=19)? as i8 },
        Policy::Fifo => Class::Fifo { priority: fields.integer_or("priority", 10, 1..=99)? as u8 },
    };
    let mut events = Events { names, starts, timers: Vec::new() };
    let phases = match fields.get("phases") {
        Some(phases) => events.phases(&phases, &fields)?,
        None => {
            let known = fields.entries().filter(|(entry, _)| !THREAD.contains(&entry.key.as_str()));
            vec![PhaseSpec { loops: Some(1), events: events.of(known, &fields)? }]
        }
    };
    let spec = ThreadSpec {
        name: name.to_owned(),
        class,
        cpus: fields.get("cpus").map_or(Ok(Vec::new()), |item| cpus(&item))?,
        uclamp_min: fields.integer_or("util_min", 0, 0..=1024)? as u32,
        uclamp_max: fields.integer_or("util_max", 1024, 0..=1024)? as u32,
        delay: fields.get("delay").map_or(Ok(Nanos::ZERO), |item| micros(&item))?,
        loops: loops(&fields, None)?,
        phases,
    };
    check_progress(&spec, item)?;
    Ok(spec)
}

/// A thread that goes round for ever without letting time pass would stop the simulation.
fn check_progress(spec: &ThreadSpec, item: &Item<'_>) -> Result<(), ScenarioError> {
    let passes = |phase: &PhaseSpec| {
        phase.loops != Some(0)
            && phase.events.iter().any(|event| match event {
                Event::Run(time) | Event::Runtime(time) | Event::Sleep(time) => time.0 > 0,
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
    names: &'a [&'a str],
    /// First number and count of each thread's instances.
    starts: &'a [(usize, usize)],
    /// Names of the thread's timers.
    timers: Vec<String>,
}

impl Events<'_> {
    fn phases(
        &mut self,
        phases: &Item<'_>,
        thread: &Fields<'_>,
    ) -> Result<Vec<PhaseSpec>, ScenarioError> {
        // Events beside phases would have no place in their order.
        let stray = thread.entries().find(|(entry, _)| !THREAD.contains(&entry.key.as_str()));
        if let Some((entry, _)) = stray {
            return Err(thread.unknown(entry, THREAD));
        }
        let phases = phases.any_fields()?;
        phases
            .entries()
            .map(|(_, item)| {
                let fields = item.any_fields()?;
                let events = fields.entries().filter(|(entry, _)| entry.key != "loop");
                Ok(PhaseSpec { loops: loops(&fields, Some(1))?, events: self.of(events, &fields)? })
            })
            .collect()
    }

    fn of<'i>(
        &mut self,
        entries: impl Iterator<Item = (&'i crate::scenario::Entry, Item<'i>)>,
        fields: &Fields<'_>,
    ) -> Result<Vec<Event>, ScenarioError> {
        entries
            .map(|(entry, item)| {
                let kind = EVENTS.iter().find(|kind| entry.key.starts_with(**kind));
                match kind {
                    Some(kind) => self.event(kind, &item),
                    None => Err(refusal(entry, fields)),
                }
            })
            .collect()
    }

    fn event(&mut self, kind: &str, item: &Item<'_>) -> Result<Event, ScenarioError> {
        Ok(match kind {
            "runtime" => Event::Runtime(micros(item)?),
            "run" => Event::Run(micros(item)?),
            "sleep" => Event::Sleep(micros(item)?),
            "suspend" => Event::Suspend,
            "resume" => Event::Resume(self.target(item)?),
            _ => self.timer(item)?,
        })
    }

    fn target(&self, item: &Item<'_>) -> Result<usize, ScenarioError> {
        let name = item.text()?;
        let found = self.names.iter().position(|known| *known == name);
        match found.and_then(|position| self.starts.get(position)) {
            Some((start, 1)) => Ok(*start),
            Some((_, count)) => {
                Err(item.wrong(format!("expected one thread `{name}` to resume, found {count}")))
            }
            None => Err(item
                .wrong(format!("expected a thread to resume, found \"{name}\""))
                .maybe_hint(suggestion(name, self.names))),
        }
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
    let refused = REFUSED.iter().find(|name| entry.key.starts_with(**name));
    match (refused, &entry.node.value) {
        (Some(name), _) => {
            let mut error = fields.unknown(entry, &[]);
            error.message = format!("{}: `{name}` is not supported by the model", error.message);
            error.hint("supported events: run, runtime, sleep, timer, suspend, resume".to_owned())
        }
        (None, Value::Table(_)) if fields.get("phases").is_none() => fields
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
    fn what_is_not_understood_names_key_and_place() {
        for (events, words) in [
            ("\"rnu\": 5", "unknown key `tasks.a.rnu`"),
            ("\"lock\": \"m\"", "`lock` is not supported by the model"),
            ("\"run\": -5", "tasks.a.run: expected a whole number from 0"),
            ("\"run\": \"5ms\"", "expected a whole number"),
            ("\"resume\": \"b\"", "expected a thread to resume, found \"b\""),
            ("\"timer\": {\"ref\": \"t\"}", "expected the key `tasks.a.timer.period`"),
            ("\"timer\": {\"ref\": \"t\", \"period\": 0}", "above 0"),
            ("\"policy\": \"SCHED_DEADLINE\", \"run\": 5", "expected one of SCHED_OTHER"),
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
