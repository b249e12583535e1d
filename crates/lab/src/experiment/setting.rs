//! The small languages inside an experiment's strings: scheduling class and placement.

use flyball_host::Scheduling;
use flyball_units::{CpuSet, Nanos, nearest};

/// Reads `other`, `fifo:80`, `rr:80` or `deadline:2ms/20ms`.
pub fn scheduling(text: &str) -> Result<Scheduling, String> {
    let (class, argument) = match text.split_once(':') {
        Some((class, argument)) => (class.trim(), Some(argument.trim())),
        None => (text.trim(), None),
    };
    match (class, argument) {
        ("other", None) => Ok(Scheduling::Other { nice: 0 }),
        ("fifo", Some(argument)) => {
            priority(argument).map(|priority| Scheduling::Fifo { priority })
        }
        ("rr", Some(argument)) => {
            priority(argument).map(|priority| Scheduling::RoundRobin { priority })
        }
        ("fifo" | "rr", None) => {
            Err(format!("expected a priority, such as \"{class}:80\", found \"{text}\""))
        }
        ("deadline", Some(argument)) => deadline(argument),
        _ => {
            let near = nearest(class, ["other", "fifo", "rr", "deadline"]);
            let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
            Err(format!(
                "expected a scheduling class (other, fifo:80, rr:80, deadline:2ms/20ms), \
                 found \"{text}\"{near}"
            ))
        }
    }
}

fn priority(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|priority| (1..=99).contains(priority))
        .ok_or_else(|| format!("expected a real-time priority from 1 to 99, found \"{text}\""))
}

fn deadline(text: &str) -> Result<Scheduling, String> {
    let time = |text: &str| text.parse::<Nanos>().map_err(|slip| slip.line());
    let (runtime, period) = text
        .split_once('/')
        .ok_or_else(|| format!("expected RUNTIME/PERIOD, such as 2ms/20ms, found \"{text}\""))?;
    let (runtime, period) = (time(runtime)?, time(period)?);
    if runtime.0 == 0 || runtime > period {
        return Err(format!("expected a runtime above 0 and at most the period, found \"{text}\""));
    }
    Ok(Scheduling::Deadline { runtime, deadline: period, period })
}

/// Where the measuring thread runs, as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The scheduler chooses.
    Any,
    /// These CPUs.
    Cpus(CpuSet),
    /// One condition per kind of core.
    EachCoreType,
}

/// Reads `any`, `each-core-type`, `cpu3` or `cpus=0-3`.
pub fn placement(text: &str) -> Result<Placement, String> {
    let text = text.trim();
    match text {
        "any" => return Ok(Placement::Any),
        "each-core-type" => return Ok(Placement::EachCoreType),
        _ => {}
    }
    let list =
        text.strip_prefix("cpus=").or_else(|| text.strip_prefix("cpu")).ok_or_else(|| {
            format!(
                "expected a placement (any, each-core-type, cpu3, cpus=0-3), found \"{text}\"{}",
                nearest(text, ["any", "each-core-type"])
                    .map(|near| format!("; did you mean \"{near}\"?"))
                    .unwrap_or_default()
            )
        })?;
    let cpus: CpuSet = list.parse().map_err(|error| format!("in placement \"{text}\": {error}"))?;
    if cpus.is_empty() {
        return Err(format!("expected at least one CPU, found \"{text}\""));
    }
    Ok(Placement::Cpus(cpus))
}
