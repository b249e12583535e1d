//! What somebody outside saw of a board's switches: when each P-state was really written, beside when
//! the program in the guest said that it wrote, and when it found the new speed.
//!
//! ```text
//!   start of the write ......... P-state written ............ new speed found
//!   |<------- arrives -------->|<-------- found after ----->|
//!                               ^ on a board the speed changes here
//! ```

use crate::kinds::Rows;
use flyball_run::SwitchTrial;
use flyball_run::manifest::BoardRecord;
use flyball_stats::Distribution;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A P-state that was written, as the log outside has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// On the clock of the run.
    pub t_ns: u64,
    /// The CPU that wrote.
    pub cpu: u32,
    /// The frequency.
    pub khz: u64,
}

/// Switches to one level, as seen from outside.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outside {
    /// Method.
    pub method: String,
    /// Clock domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// To.
    pub to_khz: u64,
    /// Switches that the program timed.
    pub trials: usize,
    /// Those whose P-state was written while it wrote.
    pub seen: usize,
    /// From the start of the write to the P-state.
    pub arrives_us: Option<Distribution>,
    /// From the P-state to the start of the first loop at the new speed.
    pub found_after_us: Option<Distribution>,
    /// A step of the board's pacing at this level: speed is right over as much.
    pub step_us: Option<f64>,
    /// The loop that finds the speed.
    pub loop_us: Option<f64>,
}

/// How far the two clocks may be apart.
const SLACK_NS: u64 = 1_000_000;

/// The switches of a run beside the P-states `seen` outside, which are in order of time.
pub fn compare<'a>(run: impl Into<Rows<'a>>, seen: &[Seen]) -> Vec<Outside> {
    let run = &run.into();
    let board = run.manifest.machine.as_ref().and_then(|machine| machine.board.as_ref());
    let mut groups = BTreeMap::<_, Vec<SwitchTrial>>::new();
    for at in 0..run.tables.trials.len() {
        let Some(trial) = run.tables.trials.row(at) else { continue };
        let timed = trial.rejected.is_none() && trial.write_ns.is_some() && trial.t_ns.is_some();
        if timed && trial.from_khz != trial.to_khz {
            let key = (trial.method.clone(), trial.domain.clone(), trial.to_khz);
            groups.entry(key).or_default().push(trial);
        }
    }
    groups.into_iter().map(|(key, trials)| group(key, &trials, seen, board)).collect()
}

fn group(
    (method, domain, to_khz): (String, Option<String>, u64),
    trials: &[SwitchTrial],
    seen: &[Seen],
    board: Option<&BoardRecord>,
) -> Outside {
    let (mut arrives, mut after, mut loops) = (Vec::new(), Vec::new(), Vec::new());
    for trial in trials {
        let Some(written) = written(trial, seen, board) else { continue };
        let begin = trial.t_ns.unwrap_or_default();
        arrives.push(microseconds(written, begin));
        if let Some(transition) = trial.transition_ns {
            after.push(microseconds(begin.saturating_add(transition), written));
        }
        loops.extend(trial.loop_ns.map(|ns| ns as f64 / 1e3));
    }
    let cpu = trials.iter().find_map(|trial| trial.cpu);
    let step_us = board.zip(cpu).and_then(|(board, cpu)| {
        let mips = board.instructions_per_cycle(cpu)? * to_khz as f64 / 1e3;
        Some(board.step_instructions as f64 / mips)
    });
    Outside {
        method,
        domain,
        to_khz,
        trials: trials.len(),
        seen: arrives.len(),
        arrives_us: Distribution::of(&arrives),
        found_after_us: Distribution::of(&after),
        step_us,
        loop_us: Distribution::of(&loops).map(|of| of.median.value),
    }
}

/// When the P-state of a trial was written: the first such write from its start on, until its end, by any
/// CPU of its clock domain: a driver may leave it to another than the one that asked.
fn written(trial: &SwitchTrial, seen: &[Seen], board: Option<&BoardRecord>) -> Option<u64> {
    let own = trial.cpu?;
    let policies = board.map_or(&[][..], |board| &board.policies);
    let domain = policies.iter().find(|policy| policy.cpus.contains(&own));
    let of_domain = |cpu| domain.map_or(cpu == own, |policy| policy.cpus.contains(&cpu));
    let begin = trial.t_ns?;
    let until = begin.saturating_add(trial.write_ns?).saturating_add(SLACK_NS);
    let from = begin.saturating_sub(SLACK_NS);
    let first = seen.partition_point(|seen| seen.t_ns < from);
    let during = seen.get(first..)?.iter().take_while(|seen| seen.t_ns <= until);
    let mut fitting = during.filter(|seen| seen.khz == trial.to_khz && of_domain(seen.cpu));
    fitting.next().map(|seen| seen.t_ns)
}

/// From `then` to `now`; below zero by as much as the clocks are apart.
fn microseconds(now: u64, then: u64) -> f64 {
    (now as f64 - then as f64) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::manifest::{BoardPolicyRecord, Machine};

    fn trial(t_us: u64, from_khz: u64, to_khz: u64, transition_us: u64) -> SwitchTrial {
        SwitchTrial {
            method: "detect".to_owned(),
            domain: Some("policy0".to_owned()),
            cpu: Some(1),
            from_khz,
            to_khz,
            t_ns: Some(t_us * 1000),
            write_ns: Some(400_000),
            transition_ns: Some(transition_us * 1000),
            loop_ns: Some(416_000),
            ..SwitchTrial::default()
        }
    }

    #[test]
    fn each_switch_finds_its_p_state() {
        let mut run = flyball_run::Run::default();
        let policy = |cpus: &[u32]| BoardPolicyRecord {
            cpus: cpus.to_vec(),
            instructions_per_cycle: 0.06,
            ..BoardPolicyRecord::default()
        };
        let board = BoardRecord {
            step_instructions: 10_000,
            policies: vec![policy(&[0, 1]), policy(&[2, 3])],
            ..BoardRecord::default()
        };
        run.manifest.machine = Some(Machine { board: Some(board), ..Machine::default() });
        for at in 0..6_u64 {
            run.tables.trials.push(trial(10_000 * at, 600_000, 3_200_000, 900));
        }
        run.tables.trials.push(trial(90_000, 600_000, 3_200_000, 900));
        run.tables.trials.push(trial(95_000, 3_200_000, 3_200_000, 900));
        let seen: Vec<Seen> = (0..6_u64)
            .flat_map(|at| {
                let write = |us: u64, cpu, khz| Seen { t_ns: us * 1000, cpu, khz };
                [
                    write(10_000 * at + 200, 2, 3_200_000), // of another clock domain
                    write(10_000 * at + 300, (at % 2) as u32, 3_200_000),
                    write(10_000 * at + 5000, 0, 600_000),
                ]
            })
            .collect();
        let found = compare(&run, &seen);
        let [up] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (up.trials, up.seen, up.to_khz),
            (7, 6, 3_200_000),
            "the last was never written"
        );
        assert_eq!(up.arrives_us.as_ref().map(|of| of.median.value), Some(300.0));
        assert_eq!(up.found_after_us.as_ref().map(|of| of.median.value), Some(600.0));
        let step = up.step_us.unwrap();
        assert!((step - 52.08).abs() < 0.01, "{step}");
    }
}
