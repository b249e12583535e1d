//! The kinds of tasks: what each is called, its keys, and how they are read. A new kind is a file of
//! its own with its [`Kind`], and a line in [`KINDS`].

use super::error::ScenarioError;
use super::keys::{DEADLINE, JITTER, MEMORY, OVERRUN, PHASE, WORK, keys};
use super::model::{Making, PageSpec, Release, Workload};
use super::parse::{Source, nonzero, unknown_name};
use super::reader::{Fields, Key};
use super::recorded;
use crate::workload::{
    Amount, Batch, FullSpeed, Overrun, Service, kernels, rt_app as rt_app_files,
};
use flyball_units::Nanos;

/// A workload, and the relative deadline of its items where it has one.
pub type WithDeadline = (Workload, Option<Nanos>);

/// Reads the keys of a kind.
pub type Read = fn(&Fields<'_>, Source<'_>) -> Result<WithDeadline, ScenarioError>;

/// One kind of task.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word for `kind`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its own keys.
    pub keys: &'static [Key],
    /// What they say.
    pub read: Read,
}

const fn kind(name: &'static str, doc: &'static str, keys: &'static [Key], read: Read) -> Kind {
    Kind { name, doc, keys, read }
}

/// Every kind of task.
pub const KINDS: &[Kind] = &[
    kind(
        "rampup",
        "Sleeps, leaves a mark, then runs without end (the response-time series).",
        keys! {
            "sleeps": "whole number" = "100" => "Number of sleeps.",
            "gap": "duration" = "10ms" => "Length of each.",
        },
        rampup,
    ),
    kind("spin", "Runs without end from its start.", &[], spin),
    kind(
        "periodic",
        "One item of work per period.",
        keys! {
            "period": "duration" => "From release to release.",
            WORK, MEMORY, PHASE, JITTER, DEADLINE, OVERRUN,
        },
        periodic,
    ),
    kind(
        "bursty",
        "Bursts with quiet times between them (Thomson 2010, Figure 5).",
        keys! {
            "every": "duration" => "From burst to burst.",
            "busy": "duration" => "CPU time of a burst, whatever the frequency; or `work`.",
            "work": "work" => "Fixed work of a burst; or `busy`.",
            MEMORY, PHASE,
        },
        bursty,
    ),
    kind(
        "batch",
        "Jobs of fixed work that start at random times (Thomson 2010, Table 1).",
        keys! {
            WORK, MEMORY,
            "rest": "duration" = "1s" => "Time before each job.",
            "spread": "duration" = "0s" => "A random time below this is added to each rest.",
            "jobs": "whole number" = "1" => "Number of jobs; the task then ends.",
        },
        batch,
    ),
    kind(
        "kernel",
        "A signal kernel with the costs that were measured on an M1, released periodically.",
        keys! {
            "kernel": "word" => "`car`, `notch_iir`, `goertzel` or `bandpass_fir`.",
            "period": "duration" = "500ms" => "From window to window.",
            PHASE, JITTER, DEADLINE, OVERRUN,
        },
        kernel,
    ),
    kind(
        "page-load",
        "An interactive page: short tasks in dependency chains (stand-in for Speedometer).",
        keys! {
            "stages": "whole number" = "40" => "Hand-overs per page.",
            "main": "work" = "1.2ms" => "Mean work of the main thread per stage.",
            "helper": "work" = "0.8ms" => "Mean work of a helper per stage.",
            "helpers": "whole number" = "3" => "Number of helpers, 0 to 64.",
            "pause": "duration" = "4ms" => "Pause for timers and frames.",
            "pause_every": "whole number" = "4" => "Stages between pauses; 0: none.",
            "think": "duration" = "200ms" => "Quiet time between pages.",
            "pages": "whole number" = "without end" => "Pages after which it ends.",
        },
        page_load,
    ),
    kind(
        "poisson",
        "Requests at random times, independent of each other.",
        keys! {
            "mean": "duration" => "Mean time between arrivals.",
            WORK, MEMORY,
            "service": "word" = "fixed"
                => "Distribution of the work: `fixed`, `uniform` or `exponential`.",
            "deadline": "duration" = "none" => "Relative deadline.",
        },
        poisson,
    ),
    kind(
        "recorded",
        "Items of a recording, due when they were then.",
        keys! {
            "items": "text"
                => "A line per item, ascending: when it is due and its work, such as `16.7ms 3Mcycles`.",
            "deadline": "duration" = "none" => "Relative deadline.",
        },
        recorded_work,
    ),
    kind(
        "rt-app",
        "An rt-app workload, all its threads.",
        keys! {
            "file": "path" => "The JSON file, relative to the scenario; or `json`.",
            "json": "text" => "The JSON itself; or `file`.",
        },
        rt_app,
    ),
];

fn rampup(fields: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    let sleeps = fields.integer_or("sleeps", 100, 0..=1_000_000)? as u32;
    let gap = fields.span_or("gap", Nanos::from_millis(10))?;
    Ok((Workload::Rampup { sleeps, gap }, None))
}

fn spin(_: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    Ok((Workload::Rampup { sleeps: 0, gap: Nanos::ZERO }, None))
}

fn periodic(fields: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    let work = fields.require("work")?;
    let work = nonzero(&work, work.amount()?)?;
    let release = release(fields, fields.require("period")?.interval()?, work)?;
    Ok((Workload::Periodic(release), Some(deadline(fields)?.unwrap_or(release.period))))
}

fn kernel(fields: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    let item = fields.require("kernel")?;
    let name = item.text()?;
    let kernel = kernels::KERNELS.iter().find(|kernel| **kernel == name);
    let kernel = kernel.ok_or_else(|| unknown_name(&item, "a kernel", name, kernels::KERNELS))?;
    let period =
        fields.get("period").map_or(Ok(Nanos::from_millis(500)), |item| item.interval())?;
    let release = release(fields, period, Amount::Cycles(0))?;
    Ok((Workload::Kernel { kernel, release }, Some(deadline(fields)?.unwrap_or(period))))
}

fn deadline(fields: &Fields<'_>) -> Result<Option<Nanos>, ScenarioError> {
    fields.get("deadline").map(|item| item.span()).transpose()
}

fn memory(fields: &Fields<'_>) -> Result<Nanos, ScenarioError> {
    fields.duration_or("memory", Nanos::ZERO)
}

fn bursty(fields: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    let memory = memory(fields)?;
    let phase = fields.duration_or("phase", Nanos::ZERO)?;
    // A burst of time keeps its CPU busy whatever the frequency; one of work takes as long as that
    // takes.
    let (work, memory) = match (fields.get("busy"), fields.get("work")) {
        (Some(busy), None) => (Amount::Cycles(0), busy.span()?),
        (None, Some(work)) => (nonzero(&work, work.amount()?)?, memory),
        (None, None) => {
            let busy = fields.require("busy").map_err(|error| {
                error.hint("a burst has a time (busy) or an amount of work (work)")
            })?;
            (Amount::Cycles(0), busy.span()?)
        }
        (Some(_), Some(work)) => {
            return Err(work.wrong("expected `busy` or `work`, found both"));
        }
    };
    let period = fields.require("every")?.interval()?;
    let (jitter, overrun) = (Nanos::ZERO, Overrun::Queue);
    Ok((Workload::Periodic(Release { period, phase, jitter, overrun, work, memory }), None))
}

fn batch(fields: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    let memory = memory(fields)?;
    let work = fields.require("work")?;
    let work = nonzero(&work, work.amount()?)?;
    let rest = fields.duration_or("rest", Nanos::from_secs(1))?;
    let spread = fields.duration_or("spread", Nanos::ZERO)?;
    let jobs = fields.integer_or("jobs", 1, 1..=i64::MAX)? as u64;
    let job = move |_: Nanos, full_speed: FullSpeed| {
        Batch::new(work.work(memory, full_speed), rest, spread, jobs)
    };
    Ok((Making::of(job), None))
}

fn poisson(fields: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    let services = [
        ("fixed", Service::Fixed),
        ("uniform", Service::Uniform),
        ("exponential", Service::Exponential),
    ];
    let work = fields.require("work")?;
    let workload = Workload::Poisson {
        mean: fields.require("mean")?.interval()?,
        work: nonzero(&work, work.amount()?)?,
        memory: memory(fields)?,
        service: fields.choice_or("service", Service::Fixed, &services)?,
    };
    Ok((workload, deadline(fields)?))
}

fn recorded_work(fields: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    let items = recorded::read(&fields.require("items")?)?;
    Ok((Workload::Recorded(items), deadline(fields)?))
}

fn rt_app(fields: &Fields<'_>, source: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    Ok((Workload::RtApp(program(fields, source)?), None))
}

fn release(fields: &Fields<'_>, period: Nanos, work: Amount) -> Result<Release, ScenarioError> {
    let jitter = fields.duration_or("jitter", Nanos::ZERO)?;
    if let Some(item) = fields.get("jitter").filter(|_| jitter >= period) {
        return Err(item.expected("less than the period"));
    }
    Ok(Release {
        period,
        phase: fields.duration_or("phase", Nanos::ZERO)?,
        jitter,
        overrun: fields.choice_or(
            "overrun",
            Overrun::Queue,
            &[("queue", Overrun::Queue), ("skip", Overrun::Skip)],
        )?,
        work,
        memory: fields.duration_or("memory", Nanos::ZERO)?,
    })
}

fn page_load(fields: &Fields<'_>, _: Source<'_>) -> Result<WithDeadline, ScenarioError> {
    let full_speed = |us| Amount::AtFullSpeed(Nanos::from_micros(us));
    let amount = |key: &str, default| match fields.get(key) {
        Some(item) => nonzero(&item, item.amount()?),
        None => Ok(default),
    };
    let pages = fields.get("pages").map(|item| item.integer(1..=i64::MAX)).transpose()?;
    let page = PageSpec {
        stages: fields.integer_or("stages", 40, 1..=1_000_000)? as u32,
        main: amount("main", full_speed(1_200))?,
        helper: amount("helper", full_speed(800))?,
        helpers: fields.integer_or("helpers", 3, 0..=64)? as u32,
        pause: fields.duration_or("pause", Nanos::from_millis(4))?,
        pause_every: fields.integer_or("pause_every", 4, 0..=1_000_000)? as u32,
        think: fields.duration_or("think", Nanos::from_millis(200))?,
        pages: pages.map(|pages| pages as u64),
    };
    Ok((Workload::PageLoad(page), None))
}

fn program(
    fields: &Fields<'_>,
    source: Source<'_>,
) -> Result<rt_app_files::Program, ScenarioError> {
    match (fields.get("file"), fields.get("json")) {
        (Some(file), None) => {
            let path = file.text()?;
            let text = (source.open)(path).map_err(|error| file.wrong(error))?;
            rt_app_files::parse(&text, path)
        }
        (None, Some(json)) => {
            rt_app_files::parse(json.text()?, &format!("{}: json", source.origin))
        }
        (None, None) => Err(fields.require("file").err().unwrap_or_else(|| {
            ScenarioError::new(source.origin, "expected `file` or `json`, found neither")
        })),
        (Some(_), Some(json)) => Err(json.wrong("expected `file` or `json`, found both")),
    }
}
