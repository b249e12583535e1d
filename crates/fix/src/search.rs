//! The search, apart from how its stages are measured.

use crate::change::{Candidate, Change, Kind};
use crate::error::FixError;
use crate::goal::{Goal, Standing};
use crate::ladder::{Ladder, Unavailable};
use flyball_stats::Resampled;
use flyball_units::{CpuId, Mismatch};
use serde::Serialize;
use std::path::PathBuf;

/// A candidate that failed its confirmation makes way for the next one, so often.
const CONFIRMATIONS: usize = 3;

/// One candidate as it was measured in a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The changes.
    pub candidate: Candidate,
    /// The goal's statistic, in nanoseconds.
    #[serde(rename = "estimate_ns")]
    pub found: Resampled,
    /// Where it stands.
    pub standing: Standing,
    /// Windows it rests on.
    pub windows: usize,
    /// Mean power of the machine meanwhile, where it has a counter.
    pub power_w: Option<f64>,
}

/// Candidates that were measured alternately.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// `pilot`, `screen`, `levels`, `together`, `confirm`.
    pub name: String,
    /// Its run directory.
    pub run: PathBuf,
    /// The candidates, the baseline first.
    pub tried: Vec<Tried>,
    /// The CPU on which most of the baseline's windows ran.
    pub home: Option<CpuId>,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum Outcome {
    /// Nothing has to change.
    AlreadyMet,
    /// The smallest change that was found, and confirmed in fresh windows.
    Found {
        /// The changes.
        changes: Candidate,
        /// As confirmed.
        confirmed: Box<Tried>,
        /// The baseline of the confirmation.
        baseline: Box<Tried>,
    },
    /// Not even everything together meets the goal.
    Unreachable {
        /// What came closest.
        closest: Box<Tried>,
    },
    /// Nothing was shown to meet the goal, but it was not shown to be out of reach either.
    NotProven {
        /// What came closest.
        closest: Box<Tried>,
        /// Why nothing is claimed.
        why: String,
    },
}

/// All that a search did and found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What was to be reached.
    pub goal: Goal,
    /// What was measured, in order.
    pub stages: Vec<Stage>,
    /// What could not be tried.
    pub unavailable: Vec<Unavailable>,
    /// How it ended.
    pub outcome: Outcome,
}

/// Somebody who measures candidates alternately.
pub trait Trier {
    /// Measures `candidates`, alternately in blocks, in windows of their own.
    ///
    /// # Errors
    /// What keeps them from being measured, or believed.
    fn measure(&mut self, stage: &str, candidates: &[Candidate]) -> Result<Stage, FixError>;

    /// What can be changed for work that runs mostly on `home`.
    ///
    /// # Errors
    /// A machine that cannot be read.
    fn ladder(&mut self, home: CpuId) -> Result<Ladder, FixError>;
}

/// Searches the smallest change that meets `goal`.
///
/// # Errors
/// A stage that could not be measured; then nothing is claimed.
pub fn fix(goal: Goal, trier: &mut dyn Trier) -> Result<Report, FixError> {
    let mut search = Search { trier, stages: Vec::new() };
    let (outcome, unavailable) = search.run()?;
    Ok(Report { goal, stages: search.stages, unavailable, outcome })
}

struct Search<'a> {
    trier: &'a mut dyn Trier,
    stages: Vec<Stage>,
}

impl Search<'_> {
    fn run(&mut self) -> Result<(Outcome, Vec<Unavailable>), FixError> {
        let pilot = self.stage("pilot", &[])?;
        if pilot.first().is_some_and(|baseline| baseline.standing == Standing::Met) {
            return Ok((Outcome::AlreadyMet, Vec::new()));
        }
        let home = self.stages.last().and_then(|stage| stage.home).unwrap_or_default();
        let ladder = self.trier.ladder(home)?;
        let outcome = self.climb(&ladder)?;
        Ok((outcome, ladder.unavailable))
    }

    fn climb(&mut self, ladder: &Ladder) -> Result<Outcome, FixError> {
        let tops: Vec<Candidate> =
            ladder.rungs.iter().filter_map(|rung| rung.top().cloned().map(Candidate::of)).collect();
        let all = ladder.all();
        let mut screened = tops.clone();
        if all.changes.len() > 1 {
            screened.push(all.clone());
        }
        let screen = self.stage("screen", &screened)?;
        let met = |candidate: &Candidate| {
            screen.iter().any(|it| it.candidate == *candidate && it.standing == Standing::Met)
        };
        let kinds: Vec<Kind> = ladder
            .rungs
            .iter()
            .zip(&tops)
            .filter(|(_, top)| met(top))
            .map(|(rung, _)| rung.kind)
            .collect();
        // In the order in which they are worth confirming, the smallest first.
        let mut hopefuls: Vec<Candidate> = Vec::new();
        if let Some(rung) = ladder.rungs.iter().find(|rung| kinds.first() == Some(&rung.kind)) {
            hopefuls.extend(self.levels(&rung.levels)?);
        } else if met(&all) {
            hopefuls.extend(self.fewer(&all)?);
        }
        hopefuls.extend(tops.into_iter().filter(|top| met(top)));
        hopefuls.extend(Some(all).filter(|all| all.changes.len() > 1 && met(all)));
        hopefuls.dedup();
        self.confirm(&hopefuls, &screen)
    }

    /// The levels of one kind that meet the goal, from the weakest.
    fn levels(&mut self, levels: &[Change]) -> Result<Vec<Candidate>, FixError> {
        let candidates: Vec<Candidate> = levels.iter().cloned().map(Candidate::of).collect();
        if candidates.len() < 2 {
            return Ok(candidates);
        }
        let tried = self.stage("levels", &candidates)?;
        let good = tried.into_iter().filter(|it| it.standing == Standing::Met);
        Ok(good.map(|it| it.candidate).filter(|it| !it.changes.is_empty()).collect())
    }

    /// What is left of all changes without those that are not needed, each left out by itself.
    fn fewer(&mut self, all: &Candidate) -> Result<Vec<Candidate>, FixError> {
        let kinds: Vec<Kind> = all.changes.iter().map(Change::kind).collect();
        let without: Vec<Candidate> = kinds.iter().map(|kind| all.without(*kind)).collect();
        let tried = self.stage("together", &without)?;
        let is_needed = |kind: &Kind| {
            let without = all.without(*kind);
            tried.iter().any(|it| it.candidate == without && it.standing != Standing::Met)
        };
        let mut needed = all.clone();
        for kind in kinds.iter().filter(|kind| !is_needed(kind)) {
            needed = needed.without(*kind);
        }
        // One of them was enough each time: then any pair may still be too little without all.
        let mut hopefuls: Vec<Candidate> = Vec::new();
        hopefuls.extend(Some(needed).filter(|needed| !needed.changes.is_empty()));
        let good = tried.into_iter().filter(|it| it.standing == Standing::Met);
        let mut good: Vec<Candidate> = good.map(|it| it.candidate).collect();
        good.retain(|candidate| !candidate.changes.is_empty());
        good.sort_by_key(|candidate| candidate.changes.iter().map(Change::kind).max());
        hopefuls.extend(good);
        Ok(hopefuls)
    }

    fn confirm(&mut self, hopefuls: &[Candidate], screen: &[Tried]) -> Result<Outcome, FixError> {
        for candidate in hopefuls.iter().take(CONFIRMATIONS) {
            let tried = self.stage("confirm", std::slice::from_ref(candidate))?;
            let [baseline, confirmed] = tried.as_slice() else { continue };
            if baseline.standing == Standing::Met {
                return Ok(self.baseline_met_late(confirmed));
            }
            if confirmed.standing == Standing::Met {
                return Ok(Outcome::Found {
                    changes: candidate.clone(),
                    confirmed: Box::new(confirmed.clone()),
                    baseline: Box::new(baseline.clone()),
                });
            }
        }
        let by_value = |a: &&Tried, b: &&Tried| {
            let value = |tried: &Tried| tried.found.estimate.value;
            value(a).total_cmp(&value(b))
        };
        let Some(closest) = screen.iter().min_by(by_value) else {
            return Err(FixError::Unsuited(
                Mismatch::value("something that was measured", "nothing").at("the search"),
            ));
        };
        let closest = Box::new(closest.clone());
        if screen.iter().all(|it| it.standing == Standing::Missed) {
            return Ok(Outcome::Unreachable { closest });
        }
        let why = match hopefuls.is_empty() {
            true => {
                "the intervals are too wide; more windows (repeats, or a longer time) may decide"
            }
            false => {
                "what met it in one stage did not in the next; more windows (repeats, or a \
                      longer time) may decide"
            }
        };
        Ok(Outcome::NotProven { closest, why: why.to_owned() })
    }

    /// The baseline meets the goal in a confirmation: it always did, as far as that was decided, or
    /// the machine is not the one that it was.
    fn baseline_met_late(&self, confirmed: &Tried) -> Outcome {
        let missed_in = self.stages.iter().find(|stage| {
            stage.tried.first().is_some_and(|baseline| baseline.standing == Standing::Missed)
        });
        match missed_in {
            None => Outcome::AlreadyMet,
            Some(stage) => Outcome::NotProven {
                closest: Box::new(confirmed.clone()),
                why: format!(
                    "the baseline missed the goal in the stage {} and met it in a later one: the \
                     machine is not steady",
                    stage.name
                ),
            },
        }
    }

    /// The baseline and `candidates`, measured alternately.
    fn stage(&mut self, name: &str, candidates: &[Candidate]) -> Result<Vec<Tried>, FixError> {
        let mut all = vec![Candidate::BASELINE];
        all.extend(candidates.iter().cloned());
        let stage = self.trier.measure(name, &all)?;
        let tried = stage.tried.clone();
        self.stages.push(stage);
        Ok(tried)
    }
}

#[cfg(test)]
mod tests;
