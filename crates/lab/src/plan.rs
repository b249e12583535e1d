//! From an experiment to the order in which its trials run.
//!
//! The order is randomised in blocks: every block holds each workload under each condition once,
//! conditions in random order, and within a condition the workloads in random order. A drift of
//! the machine (temperature, other users) then falls on all conditions alike instead of on the
//! last one. A block is a repeat, which is what the statistics resample.

use crate::experiment::{Condition, Experiment, ExperimentError, Placement, Workload};
use flyball_host::Scheduling;
use flyball_units::{CpuId, CpuSet, Nanos};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// A condition on this machine: one per condition of the experiment, or one per core type.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCondition {
    /// Name in the tables: the experiment's, with ` on P` where there is one per core type.
    pub name: String,
    /// The condition as written.
    pub asked: Condition,
    /// CPUs that the measuring thread may use; `None` leaves the choice to the scheduler.
    pub cpus: Option<CpuSet>,
}

/// One workload under one condition, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTrial {
    /// Index into the experiment's workloads.
    pub workload: usize,
    /// Index into [`Plan::conditions`].
    pub condition: usize,
    /// Block and repeat, from 0.
    pub block: u32,
}

/// What is run, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The conditions on this machine.
    pub conditions: Vec<PlannedCondition>,
    /// The trials in order of execution; the trials of one condition in one block are adjacent.
    pub trials: Vec<PlannedTrial>,
    /// Trials of further blocks, for those that are disturbed from outside and done again.
    pub spare: Vec<PlannedTrial>,
}

impl Plan {
    /// What would be measured, trial by trial, as text.
    pub fn text(&self, experiment: &Experiment) -> String {
        let mut text = format!(
            "{}: {} trials of {} + {} warm-up, about {:.0} s in all, seed {}\n",
            experiment.name,
            self.trials.len(),
            experiment.duration,
            experiment.warmup,
            self.duration(experiment).as_secs_f64(),
            experiment.seed
        );
        for condition in &self.conditions {
            let cpus =
                condition.cpus.as_ref().map_or("any CPU".to_owned(), |cpus| format!("CPUs {cpus}"));
            let Condition { load, scheduling, .. } = &condition.asked;
            text.push_str(&format!(
                "  condition {:<12} load {load}, scheduling {scheduling}, on {cpus}\n",
                condition.name
            ));
        }
        for (number, trial) in self.trials.iter().enumerate() {
            let workload = experiment.workloads.get(trial.workload).map(Workload::label);
            let condition = self.conditions.get(trial.condition).map(|c| c.name.as_str());
            text.push_str(&format!(
                "  {number:>4}  repeat {:<3} {:<14} {}\n",
                trial.block + 1,
                workload.unwrap_or_default(),
                condition.unwrap_or_default()
            ));
        }
        text
    }

    /// The order of the conditions in words, block by block.
    pub fn order(&self) -> String {
        let mut blocks: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for trial in &self.trials {
            let Some(condition) = self.conditions.get(trial.condition) else { continue };
            let names = blocks.entry(trial.block).or_default();
            if names.last() != Some(&condition.name.as_str()) {
                names.push(&condition.name);
            }
        }
        let blocks: Vec<String> = blocks.values().map(|names| names.join(", ")).collect();
        blocks.join(" | ")
    }

    /// Time that all trials of `experiment` take, warm-up included.
    pub fn duration(&self, experiment: &Experiment) -> Nanos {
        let windows = experiment.windows() + experiment.warmup_windows();
        let trial = match experiment.runs {
            Some(_) => experiment.duration.nanos(),
            None => windows.saturating_mul(experiment.period.nanos()),
        };
        Nanos(trial.saturating_mul(self.trials.len() as u64))
    }
}

/// A kind of core, and the CPU of that kind on which to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreChoice {
    /// The kind's name, for example `P`.
    pub core_type: String,
    /// The CPU.
    pub cpu: CpuId,
}

/// Orders an experiment's trials. `cores` has one entry per kind of core on this machine, and
/// `online` the CPUs that may be named.
pub fn plan(
    experiment: &Experiment,
    cores: &[CoreChoice],
    online: &CpuSet,
) -> Result<Plan, ExperimentError> {
    let mut conditions = Vec::new();
    for condition in &experiment.conditions {
        conditions.extend(on_this_machine(condition, cores, online)?);
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(experiment.seed);
    let mut trials = Vec::new();
    for block in 0..experiment.repeats.saturating_add(experiment.retry) {
        for condition in shuffled(conditions.len(), &mut random) {
            for workload in shuffled(experiment.workloads.len(), &mut random) {
                trials.push(PlannedTrial { workload, condition, block });
            }
        }
    }
    let spare = trials.split_off(trials.partition_point(|trial| trial.block < experiment.repeats));
    Ok(Plan { conditions, trials, spare })
}

fn on_this_machine(
    condition: &Condition,
    cores: &[CoreChoice],
    online: &CpuSet,
) -> Result<Vec<PlannedCondition>, ExperimentError> {
    let error =
        |message| ExperimentError::bad(&format!("condition \"{}\"", condition.label()), message);
    let planned = |name: String, cpus: Option<CpuSet>| PlannedCondition {
        name,
        asked: condition.clone(),
        cpus,
    };
    let is_deadline = matches!(condition.scheduling.0, Scheduling::Deadline { .. });
    if is_deadline && condition.placement != Placement::Any {
        return Err(error(format!(
            "scheduling \"{}\": expected placement = \"any\", found \"{}\": the kernel refuses \
             a deadline thread that is pinned",
            condition.scheduling, condition.placement
        )));
    }
    match &condition.placement {
        Placement::Any => Ok(vec![planned(condition.label(), None)]),
        Placement::Cpus(cpus) => {
            if let Some(missing) = cpus.iter().find(|cpu| !online.contains(*cpu)) {
                return Err(error(format!(
                    "placement \"{}\": expected online CPUs ({online}), found {missing}",
                    condition.placement
                )));
            }
            Ok(vec![planned(condition.label(), Some(cpus.clone()))])
        }
        Placement::EachCoreType => Ok(cores
            .iter()
            .map(|core| {
                let name = match cores.len() {
                    1 => condition.label(),
                    _ => format!("{} on {}", condition.label(), core.core_type),
                };
                planned(name, Some([core.cpu].into_iter().collect()))
            })
            .collect()),
    }
}

/// A random order of `0..n` (Fisher-Yates).
pub(crate) fn shuffled(n: usize, random: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, below(last as u64 + 1, random) as usize);
    }
    order
}

/// A number below `limit` without modulo bias: the top of the range that does not divide evenly
/// is drawn again.
fn below(limit: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
    use rand_core::RngCore;
    let fair = u64::MAX - u64::MAX % limit;
    loop {
        let drawn = random.next_u64();
        if drawn < fair {
            return drawn % limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment;

    fn cores(names: &[&str]) -> Vec<CoreChoice> {
        (0u32..)
            .zip(names)
            .map(|(cpu, name)| CoreChoice { core_type: (*name).into(), cpu: CpuId(cpu) })
            .collect()
    }

    fn online(count: u32) -> CpuSet {
        (0..count).map(CpuId).collect()
    }

    #[test]
    fn every_block_holds_every_cell_once() {
        let experiment = experiment::quick().unwrap();
        let plan = plan(&experiment, &cores(&["all"]), &online(1)).unwrap();
        let cells = experiment.workloads.len() * plan.conditions.len();
        assert_eq!(plan.trials.len(), cells * experiment.repeats as usize);
        for block in plan.trials.chunks(cells) {
            let mut seen: Vec<_> = block.iter().map(|t| (t.condition, t.workload)).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), cells);
            let changes = block.windows(2).filter(|t| t[0].condition != t[1].condition).count();
            assert_eq!(changes, plan.conditions.len() - 1, "a load starts once per block");
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        let mut experiment = experiment::quick().unwrap();
        let order = |experiment: &_| plan(experiment, &cores(&["all"]), &online(1)).unwrap().trials;
        let first = order(&experiment);
        assert_eq!(first, order(&experiment));
        experiment.seed = 2;
        assert_ne!(first, order(&experiment));
    }

    #[test]
    fn one_condition_per_core_type_is_named_after_it() {
        let experiment = experiment::quick().unwrap();
        let plan = plan(&experiment, &cores(&["E", "P"]), &online(2)).unwrap();
        let names: Vec<_> = plan.conditions.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["idle on E", "idle on P", "heavy on E", "heavy on P"]);
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        let text = "[[workload]]\nkernel = \"car\"\n[[condition]]\nplacement = \"cpu7\"\n";
        let experiment = experiment::read(text, "x").unwrap();
        let error = plan(&experiment, &cores(&["all"]), &online(2)).unwrap_err();
        assert!(error.to_string().contains("found cpu7"), "{error}");
    }
}
