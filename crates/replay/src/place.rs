//! Recorded work on a platform of the model.

use crate::error::ReplayError;
use crate::work::{Item, Work};
use flyball_governors::Governor;
use flyball_platform::{Cpu, Kernel, Platform};
use flyball_sim::behavior;
use flyball_sim::setup::{
    Class, Controller, Creator, GovernorCost, Placement, Prescribed, Setup, TaskSetup,
};
use flyball_sim::workload::{Pace, Recorded, Replay};
use flyball_units::{CpuId, KiloHertz, Nanos};
use std::sync::Arc;

/// How often as long as recorded a closed loop may take.
const LONGEST: u64 = 100;

/// How a recording is put onto a platform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placing {
    /// When work becomes due.
    pub pace: Pace,
    /// Whether the model's scheduler places tasks; else each stays on its CPU of the recording.
    pub free: bool,
    /// Frequency that is assumed where none was recorded; the highest of the platform's CPU in its
    /// place, where none is given.
    pub assumed: Option<KiloHertz>,
    /// What all work is multiplied with.
    pub scale: f64,
}

impl Default for Placing {
    fn default() -> Placing {
        Placing { pace: Pace::Open, free: false, assumed: None, scale: 1.0 }
    }
}

/// The work of one CPU or task, in the platform's cycles.
#[derive(Clone, Debug)]
pub struct Stint {
    /// Its name.
    pub name: String,
    /// The platform's CPU.
    pub cpu: CpuId,
    /// Its items.
    pub items: Arc<[Recorded]>,
}

/// A recording on a platform.
#[derive(Clone, Debug)]
pub struct Load {
    /// The recording's name.
    pub name: String,
    /// Who does what.
    pub stints: Vec<Stint>,
    /// Length of the recording.
    pub duration: Nanos,
    /// Length of an interval, where items are intervals: the next one's begin is their deadline.
    pub interval: Option<Nanos>,
    /// When work becomes due.
    pub pace: Pace,
    /// Whether the model's scheduler places tasks.
    pub free: bool,
    /// What was assumed or left out.
    pub notes: Vec<String>,
}

impl Load {
    /// Puts `work` onto `platform`: recorded CPUs, ascending, become the platform's, ascending; the
    /// fastest kind of core there becomes the fastest kind here, cycle for cycle.
    ///
    /// # Errors
    /// More recorded CPUs than the platform has, where each task stays on its own; nothing to do.
    pub fn new(work: &Work, platform: &Platform, placing: &Placing) -> Result<Load, ReplayError> {
        if !placing.free && work.cpus.len() > platform.cpus.len() {
            return Err(ReplayError::bad_input(
                format!("{} on {}", work.name, platform.name),
                format!("a platform with at least {} CPUs", work.cpus.len()),
                format!("{}", platform.cpus.len()),
            )
            .hint("choose a platform with more CPUs, or let its scheduler place the tasks"));
        }
        if work.items() == 0 {
            let expected = "work: a CPU that was busy";
            return Err(ReplayError::bad_input(&work.name, expected, "none at all"));
        }
        // Cycles are counted in those of the fastest kind of core, here as there.
        let best = platform.cpus.iter().map(|cpu| cpu.work_per_cycle).fold(0.0, f64::max);
        let speed = |cpu: &&Cpu| cpu.work_per_cycle * highest(platform, cpu.domain) as f64;
        let fastest = platform.cpus.iter().max_by(|a, b| speed(a).total_cmp(&speed(b)));
        let (mut notes, mut assumed) = (work.notes.clone(), Vec::new());
        let mut stints = Vec::with_capacity(work.streams.len());
        for stream in &work.streams {
            let place = work.cpus.iter().position(|cpu| *cpu == stream.cpu).unwrap_or(0);
            let here = platform.cpus.get(place).or(fastest);
            let Some(cpu) = here else { continue };
            let unknown = match placing.assumed {
                Some(khz) => (khz.0, best),
                None => (highest(platform, cpu.domain), cpu.work_per_cycle),
            };
            let items = stream.items.iter().map(|item| {
                let (cycles, speed) = match item.cycles {
                    Some(cycles) => (cycles as f64, best),
                    None => {
                        if !assumed.contains(&unknown.0) {
                            assumed.push(unknown.0);
                        }
                        (item.busy.0 as f64 * unknown.0 as f64 / 1e6, unknown.1)
                    }
                };
                recorded(item, cycles * speed * placing.scale)
            });
            stints.push(Stint { name: stream.name.clone(), cpu: cpu.id, items: items.collect() });
        }
        if !assumed.is_empty() {
            let list: Vec<String> =
                assumed.iter().map(|khz| format!("{} MHz", *khz as f64 / 1e3)).collect();
            notes.push(format!(
                "assumed: recorded at {}{}",
                list.join(" and "),
                if placing.assumed.is_none() { ", the platform's highest" } else { "" }
            ));
        }
        if placing.scale != 1.0 {
            notes.push(format!("all work times {}", placing.scale));
        }
        Ok(Load {
            name: work.name.clone(),
            stints,
            duration: work.duration,
            interval: work.interval,
            pace: placing.pace,
            free: placing.free,
            notes,
        })
    }

    /// All cycles.
    pub fn cycles(&self) -> u64 {
        let items = self.stints.iter().flat_map(|stint| stint.items.iter());
        items.map(|item| item.work.cycles).fold(0, u64::saturating_add)
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.stints.iter().map(|stint| stint.items.len()).sum()
    }

    /// What the engine is given.
    pub fn setup(
        &self,
        platform: &Platform,
        kernel: &Kernel,
        governors: Vec<Box<dyn Governor>>,
    ) -> Setup {
        let task = |stint: &Stint| TaskSetup {
            name: stint.name.clone(),
            class: Class::Fair { nice: 0 },
            allowed: if self.free { Vec::new() } else { vec![stint.cpu] },
            uclamp_min: 0,
            uclamp_max: 1024,
            rampup_multiplier: None,
            clamp_ramp: None,
            cgroup: None,
            start: Nanos::ZERO,
            creator: Creator::Nobody,
            initial_util: None,
            initial_util_est: 0,
            behavior: Box::new(Replay::new(Arc::clone(&stint.items), self.pace)),
        };
        let longest = match self.pace {
            Pace::Open => self.duration,
            Pace::Closed => Nanos(self.duration.0.saturating_mul(LONGEST)),
        };
        Setup {
            limits: vec![None; platform.domains.len()],
            initial: vec![None; platform.domains.len()],
            governors,
            platform: platform.clone(),
            kernel: kernel.clone(),
            governor_cost: GovernorCost::default(),
            tasks: self.stints.iter().map(task).collect(),
            cgroups: Vec::new(),
            hints: Vec::new(),
            placement: match kernel.capacity_aware {
                true => Placement::CapacityAware,
                false => Placement::PreviousOrIdle,
            },
            before: None,
            tick_phase: Nanos::ZERO,
            poll_phase: Nanos::ZERO,
            prescribed: Prescribed::default(),
            controller: Controller::default(),
            duration: longest,
            seed: 1,
        }
    }
}

fn recorded(item: &Item, cycles: f64) -> Recorded {
    Recorded {
        released: item.released,
        // The conversion saturates.
        work: behavior::Work { cycles: cycles.round() as u64, memory: Nanos::ZERO },
        busy: item.busy,
        way: 0,
    }
}

/// The highest speed of a clock domain, in kHz.
fn highest(platform: &Platform, domain: usize) -> u64 {
    let points = platform.domains.get(domain).map(|domain| domain.points.as_slice());
    points.unwrap_or_default().iter().map(|point| point.effective.0).max().unwrap_or(1)
}
