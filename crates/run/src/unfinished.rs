//! The one rule of completeness: a run is whole where it ended as planned and every table is as it was
//! when the run was closed. Whoever reads a run that is not says so first, and nothing is decided on it.

use std::fmt;
use std::path::Path;

use crate::manifest::{Manifest, PlanRecord, RunState, TableRecord};
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
    /// When its rows are written.
    pub written: Written,
}

/// When the rows of a run are written, and so what a killed one can have lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Written {
    /// While it goes on, within a second.
    #[default]
    AsItGoes,
    /// At its end: all of them may be lost.
    AtEnd,
    /// In one go, of tables that the manifest counted before: what is lost is known.
    Counted,
}

/// Kinds of runs whose rows are made at their end.
const AT_END: [&str; 4] = ["capture", "import", "play", "replay"];

/// Columns that tell how much of a plan is here, by what is counted.
const COUNTED: [(&str, &[(&str, &str)]); 6] = [
    ("trials", &[("windows", "trial")]),
    ("measurements", &[("trials", "rejected")]),
    ("ramp-ups", &[("rampups", "seq")]),
    ("phases", &[("sweep", "point")]),
    ("points", &[("sweep", "point")]),
    ("milliseconds", &[("activity", "t_ns"), ("governor", "t_ns")]),
];

impl Unfinished {
    /// What is missing of a run; `lost` are the tables that are not as they were, among those that the
    /// manifest `counted`.
    pub(crate) fn of(
        dir: &Path,
        manifest: &Manifest,
        counted: &[TableRecord],
        lost: Vec<String>,
    ) -> Option<Unfinished> {
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
        let written = match AT_END.contains(&manifest.kind.as_str()) {
            _ if !counted.is_empty() => Written::Counted,
            true => Written::AtEnd,
            false => Written::AsItGoes,
        };
        Some(Unfinished { state, plan, lost, written })
    }

    /// How many are missing of what was planned, where that is known.
    pub fn missing(&self) -> Option<u64> {
        let plan = self.plan.as_ref()?;
        Some(plan.planned.saturating_sub(plan.done?))
    }
}

/// How much of the plan the tables of a run hold that was not closed.
fn count(dir: &Path, manifest: &Manifest, what: &str) -> Option<u64> {
    let (_, keys) = COUNTED.iter().find(|(counted, _)| *counted == what)?;
    let tables = crate::directory::read_tables(dir, Columns::Only(keys), &[]).ok()?.tables;
    Some(match what {
        "trials" => whole_trials(&tables, manifest),
        "measurements" => tables.trials.rejected.iter().filter(|why| why.is_none()).count() as u64,
        "ramp-ups" => tables.rampups.len() as u64,
        "milliseconds" if AT_END.contains(&manifest.kind.as_str()) => return None,
        "milliseconds" => {
            let times = || tables.activity.t_ns.iter().copied().chain(tables.governor.t_ns.iter());
            // Of one row nothing is known: a governor may have nothing to decide for long.
            times().max()?.checked_sub(times().min()?).filter(|span| *span > 0)? / 1_000_000
        }
        _ => {
            let mut points = tables.sweep.point;
            points.sort_unstable();
            points.dedup();
            points.len() as u64
        }
    })
}

/// Trials that count and whose windows are all here: the last one that began may not have ended, and of one
/// that ended the rows may be lost.
fn whole_trials(tables: &Tables, manifest: &Manifest) -> u64 {
    let mut begun = tables.windows.trial.clone();
    begun.sort_unstable();
    begun.dedup();
    let aside = manifest.order.iter().filter(|trial| trial.set_aside).count();
    let ended = manifest.order.len().min(begun.len());
    let whole = ended.max(begun.len().saturating_sub(1));
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
            None if self.state == RunState::Complete || self.written == Written::Counted => {}
            None => f.write_str(": how much is missing is not known")?,
        }
        self.lost.iter().try_for_each(|lost| write!(f, "; {lost}"))?;
        if self.state != RunState::Running {
            return Ok(());
        }
        f.write_str(match self.written {
            Written::AsItGoes => "; of what was done, at most the last second is lost",
            Written::AtEnd => "; its rows are written at its end, so they may all be lost",
            Written::Counted if self.lost.is_empty() => ": no row is missing",
            Written::Counted => "",
        })
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
        let played = Unfinished { written: Written::AtEnd, ..Unfinished::default() };
        assert!(played.to_string().ends_with("may all be lost"), "{played}");
        let old = Unfinished { state: RunState::Interrupted, ..Unfinished::default() };
        assert_eq!(old.to_string(), "interrupted: how much is missing is not known");
        let mut import = Unfinished { written: Written::Counted, ..Unfinished::default() };
        assert!(import.to_string().ends_with("killed): no row is missing"), "{import}");
        import.lost.push("the table windows of 9 rows is missing".to_owned());
        assert!(import.to_string().ends_with("killed); the table windows of 9 rows is missing"));
    }
}
