//! The three methods, on any device.
//!
//! | method | sees | cannot see |
//! |---|---|---|
//! | direct | the write, and a stall that begins within it | when the new speed holds |
//! | windowed | time without work per pair | directions, and a delay that is the same both ways |
//! | detect | the time until work runs at the new speed, a later stall | a stall within the write |

mod detect;
mod direct;
mod level;
mod windowed;

use crate::protocol::switches::TransitionError;
use crate::protocol::switches::device::Device;
use flyball_run::SwitchTrial;
use flyball_stats::random::Random;
use flyball_units::{CpuId, KiloHertz, Mismatch, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

pub(crate) use level::{Level, Loop};

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Times the write.
    Direct,
    /// Alternates two levels and looks at what was worked off.
    Windowed,
    /// Waits until work runs at the new speed.
    Detect,
}

impl Method {
    /// All, in the order in which they are run.
    pub const ALL: [Method; 3] = [Method::Direct, Method::Windowed, Method::Detect];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Direct => "direct",
            Method::Windowed => "windowed",
            Method::Detect => "detect",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Method, String> {
        let found = Method::ALL.into_iter().find(|method| method.name() == text);
        found.ok_or_else(|| format!("expected direct, windowed or detect, found \"{text}\""))
    }
}

/// What to measure, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Only the clock domain of this CPU, and on it; one CPU per domain where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuId>,
    /// The methods.
    pub methods: Vec<Method>,
    /// The levels; those of the device where empty.
    pub levels: Vec<KiloHertz>,
    /// Measurements per direction of `direct` and `detect`. Thomson 2010 has 80.
    pub trials: u32,
    /// Runs per pair of `windowed`.
    pub runs: u32,
    /// Length of such a run.
    pub run_time: Nanos,
    /// How long each of the two levels is asked for in turn; twice as long is tried, too.
    pub window: Nanos,
    /// Waits before a write are random, from 0 to this.
    pub wait: Nanos,
    /// Time for a level to settle where nothing is known of it.
    pub settle: Nanos,
    /// Longest wait for the new speed.
    pub patience: Nanos,
    /// Tries for one measurement.
    pub attempts: u32,
    /// Seed of the waits.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            cpu: None,
            methods: Method::ALL.to_vec(),
            levels: Vec::new(),
            trials: 80,
            runs: 10,
            run_time: Nanos::from_millis(200),
            window: Nanos::from_millis(1),
            wait: Nanos::from_millis(10),
            settle: Nanos::from_millis(20),
            patience: Nanos::from_millis(100),
            attempts: 5,
            seed: 1,
        }
    }
}

impl Plan {
    /// Measurements of a domain with so many levels, where nothing is refused.
    pub fn measurements(&self, levels: usize) -> usize {
        let (trials, runs) = (self.trials as usize, self.runs as usize);
        let directions = levels * levels.saturating_sub(1);
        let each = |method: &Method| match method {
            // Those to the level that is set already included.
            Method::Direct => (levels + directions) * trials,
            // Two lengths of window per pair, and each level alone.
            Method::Windowed => (directions + levels) * runs,
            Method::Detect => directions * trials,
        };
        self.methods.iter().map(each).sum()
    }
}

/// Where measurements go, as they are made.
pub trait Sink {
    /// A measurement; its `seq`, domain and CPU are filled in.
    ///
    /// # Errors
    /// Where it cannot be kept.
    fn trial(&mut self, trial: SwitchTrial) -> Result<(), TransitionError>;

    /// What cannot be measured, and why.
    ///
    /// # Errors
    /// Where it cannot be kept.
    fn refused(&mut self, object: &str, why: &str) -> Result<(), TransitionError>;

    /// How far it has come: steps done, steps in all, what comes now.
    fn progress(&mut self, _done: usize, _all: usize, _now: &str) {}
}

/// Runs the methods of a plan on a device.
///
/// # Errors
/// What the device or the sink refuses; [`TransitionError::Interrupted`].
pub fn run(
    device: &mut dyn Device,
    plan: &Plan,
    sink: &mut dyn Sink,
) -> Result<(), TransitionError> {
    let levels = levels(device, plan)?;
    let mut bench = Bench {
        random: Random::new(plan.seed),
        last_write: None,
        seq: 0,
        levels,
        device,
        plan,
        sink,
    };
    for method in &plan.methods {
        match method {
            Method::Direct => direct::run(&mut bench)?,
            Method::Windowed => windowed::run(&mut bench)?,
            Method::Detect => detect::run(&mut bench)?,
        }
    }
    Ok(())
}

/// The levels to switch between, ascending.
fn levels(device: &dyn Device, plan: &Plan) -> Result<Vec<KiloHertz>, TransitionError> {
    let offered = device.levels();
    let mut levels = if plan.levels.is_empty() { offered.clone() } else { plan.levels.clone() };
    levels.sort_unstable();
    levels.dedup();
    let list = |levels: &[KiloHertz]| {
        let each: Vec<String> =
            levels.iter().map(|khz| format!("{} MHz", khz.0 as f64 / 1e3)).collect();
        each.join(", ")
    };
    if let Some(other) = levels.iter().find(|level| !offered.contains(level)) {
        return Err(TransitionError::BadInput(
            Mismatch::value(list(&offered), list(&[*other]))
                .at(format!("levels of {}", device.domain())),
        ));
    }
    if levels.len() < 2 {
        return Err(TransitionError::BadInput(
            Mismatch::value("two levels or more", list(&levels))
                .at(format!("levels of {}", device.domain()))
                .hint(format!("it has {}", list(&offered))),
        ));
    }
    Ok(levels)
}

/// A device at work for one plan.
pub(crate) struct Bench<'a> {
    pub device: &'a mut dyn Device,
    pub plan: &'a Plan,
    pub sink: &'a mut dyn Sink,
    pub levels: Vec<KiloHertz>,
    random: Random,
    last_write: Option<Nanos>,
    seq: u64,
}

/// A write that was timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub start: Nanos,
    pub end: Nanos,
    pub since_last: Option<Nanos>,
}

impl Bench<'_> {
    /// All ordered pairs of different levels.
    pub fn directions(&self) -> Vec<(KiloHertz, KiloHertz)> {
        let to = |from: KiloHertz| {
            self.levels.iter().filter(move |to| **to != from).map(move |to| (from, *to))
        };
        self.levels.iter().flat_map(|from| to(*from)).collect()
    }

    /// All pairs, the lower one first.
    pub fn pairs(&self) -> Vec<(KiloHertz, KiloHertz)> {
        self.directions().into_iter().filter(|(low, high)| low < high).collect()
    }

    /// A level, asked for without being timed.
    pub fn set(&mut self, to: KiloHertz) -> Result<(), TransitionError> {
        self.write(to).map(|_| ())
    }

    /// A write, timed.
    pub fn write(&mut self, to: KiloHertz) -> Result<Written, TransitionError> {
        if self.device.interrupted() {
            return Err(TransitionError::Interrupted);
        }
        let start = self.device.now();
        self.device.set(to)?;
        let end = self.device.now();
        let since_last = self.last_write.replace(start).map(|last| start.since(last));
        Ok(Written { start, end, since_last })
    }

    /// A random wait, so that nothing falls in step with the hardware.
    pub fn wait(&mut self) -> Nanos {
        let wait = Nanos((self.random.uniform() * self.plan.wait.0 as f64) as u64);
        self.device.busy_for(wait);
        wait
    }

    /// Keeps a measurement.
    pub fn keep(&mut self, method: Method, trial: SwitchTrial) -> Result<(), TransitionError> {
        let method =
            if trial.method.is_empty() { method.name().to_owned() } else { trial.method.clone() };
        let seq = self.seq;
        self.seq += 1;
        self.sink.trial(SwitchTrial {
            seq,
            method,
            domain: Some(self.device.domain()),
            cpu: self.device.cpu(),
            ..trial
        })
    }
}

/// `600 MHz to 1200 MHz`.
pub(crate) fn named(from: KiloHertz, to: KiloHertz) -> String {
    format!("{} MHz to {} MHz", from.0 as f64 / 1e3, to.0 as f64 / 1e3)
}
