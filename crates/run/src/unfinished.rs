//! The one rule of completeness: a run is whole where it ended as planned and every table is as it was
//! when the run was closed. Whoever reads a run that is not says so first, and nothing is decided on it.

use std::fmt;
use std::path::Path;

use crate::manifest::{Manifest, PlanRecord, RunState};
use crate::run::{Run, Warning};
use crate::storage::Columns;
use crate::tables::Tables;

/// What is missing of a run that is not whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unfinished {
    /// How far the run came.
    pub state: RunState,
    /// What was to be done, and how much of it is here; none where the manifest does not tell.
    pub plan: Option<PlanRecord>,
    /// Tables of which rows are missing, each as a sentence.
    pub lost: Vec<String>,
    /// Whether rows of such a run are written when it ends, and not while it goes on.
    pub at_end: bool,
}

/// Kinds of runs whose rows are made at their end.
const AT_END: [&str; 4] = ["capture", "import", "play", "replay"];

/// Columns that tell how much of a plan is here, by what is counted.
const COUNTED: [(&str, (&str, &str)); 5] = [
    ("trials", ("windows", "trial")),
    ("measurements", ("trials", "rejected")),
    ("ramp-ups", ("rampups", "seq")),
    ("phases", ("sweep", "point")),
    ("points", ("sweep", "point")),
];

impl Unfinished {
    /// What is missing of a run; `lost` are the tables that are not as they were.
    pub(crate) fn of(dir: &Path, manifest: &Manifest, lost: Vec<String>) -> Option<Unfinished> {
        let state = manifest.state;
        let short = |plan: &PlanRecord| plan.done.is_some_and(|done| done < plan.planned);
        let whole = match state {
            RunState::Running | RunState::Interrupted => false,
            RunState::Complete | RunState::Invalid | RunState::Unknown => {
                lost.is_empty() && !manifest.plan.as_ref().is_some_and(short)
            }
        };
        if whole {
            return None;
        }
        let plan = manifest.plan.clone().map(|plan| match plan.done {
            Some(_) => plan,
            None => PlanRecord { done: count(dir, manifest, &plan.what), ..plan },
        });
        let at_end = AT_END.contains(&manifest.kind.as_str());
        Some(Unfinished { state, plan, lost, at_end })
    }

    /// How many are missing of what was planned, where that is known.
    pub fn missing(&self) -> Option<u64> {
        let plan = self.plan.as_ref()?;
        Some(plan.planned.saturating_sub(plan.done?))
    }
}

/// How much of the plan the tables of a run hold that was not closed.
fn count(dir: &Path, manifest: &Manifest, what: &str) -> Option<u64> {
    let (_, key) = COUNTED.iter().find(|(counted, _)| *counted == what)?;
    let tables = crate::run::tables(dir, Columns::Only(&[*key])).ok()?;
    Some(match what {
        "trials" => whole_trials(&tables, manifest),
        "measurements" => tables.trials.rejected.iter().filter(|why| why.is_none()).count() as u64,
        "ramp-ups" => tables.rampups.len() as u64,
        _ => {
            let mut points = tables.sweep.point;
            points.sort_unstable();
            points.dedup();
            points.len() as u64
        }
    })
}

/// Trials that count and whose windows are all here: the last one that began may not have ended.
fn whole_trials(tables: &Tables, manifest: &Manifest) -> u64 {
    let mut begun = tables.windows.trial.clone();
    begun.sort_unstable();
    begun.dedup();
    let aside = manifest.order.iter().filter(|trial| trial.set_aside).count();
    let whole = manifest.order.len().max(begun.len().saturating_sub(1));
    whole.saturating_sub(aside) as u64
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            RunState::Running => "not finished (it is still running, or it was killed)",
            RunState::Interrupted => "interrupted",
            RunState::Invalid => "invalid, and not finished",
            RunState::Complete | RunState::Unknown => "not whole",
        })?;
        match &self.plan {
            // Of the plan nothing is missing: it is the tables.
            Some(PlanRecord { planned, done: Some(done), .. }) if done >= planned => {}
            Some(PlanRecord { what, planned, done: Some(done) }) => {
                let missing = planned.saturating_sub(*done);
                write!(f, ": {done} of {planned} {what} were done, {missing} are missing")?;
            }
            Some(PlanRecord { what, planned, done: None }) => {
                write!(f, ": how many of {planned} {what} were done is not known")?;
            }
            None if self.state == RunState::Complete => {}
            None => f.write_str(": how much is missing is not known")?,
        }
        self.lost.iter().try_for_each(|lost| write!(f, "; {lost}"))?;
        if self.state == RunState::Running && self.at_end {
            f.write_str("; its rows are written at its end, so they may all be lost")?;
        } else if self.state == RunState::Running {
            f.write_str("; of what was done, at most the last second is lost")?;
        }
        Ok(())
    }
}

impl Run {
    /// What is missing of the run, as a reader's remark.
    pub fn unfinished_warning(&self) -> Option<Warning> {
        let unfinished = self.unfinished.as_ref()?;
        Some(Warning { object: self.name(), message: unfinished.to_string(), hint: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        let plan = PlanRecord { what: "trials".into(), planned: 12, done: Some(7) };
        let killed = Unfinished { plan: Some(plan), ..Unfinished::default() };
        assert_eq!(
            killed.to_string(),
            "not finished (it is still running, or it was killed): 7 of 12 trials were done, 5 are \
             missing; of what was done, at most the last second is lost"
        );
        assert_eq!(killed.missing(), Some(5));
        let played = Unfinished { at_end: true, ..Unfinished::default() };
        assert!(played.to_string().ends_with("may all be lost"), "{played}");
        let old = Unfinished { state: RunState::Interrupted, ..Unfinished::default() };
        assert_eq!(old.to_string(), "interrupted: how much is missing is not known");
    }
}
