//! Several runs as one: an experiment with one condition that was run alternately on several machines
//! becomes one run in which the machine is the condition and the round is the block; one that was run
//! several times becomes one run with the same conditions. Either way a run is one repeat, whatever
//! repeats it had: those within a run (a boot) resemble each other more than those of another.

use crate::error::{Error, Result};
use crate::manifest::{ConditionRecord, Manifest, RunState};
use crate::run::Run;
use crate::tables::{FrequencySample, LoadSample, NO_DEADLINE, Note, Tables, Window};

/// Time between two runs in the pooled one, where their own clocks know nothing of each other.
const GAP_NS: u64 = 1_000_000_000;

/// One of the runs.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Name of its machine: the condition in the pooled run. Without one the conditions stay.
    pub label: Option<&'a str>,
    /// Its round, from 0.
    pub round: u32,
    /// The run.
    pub run: &'a Run,
}

/// Puts `parts` behind each other, in the order given. Windows, frequency, load and notes are taken;
/// the events of a run stay in its own directory.
///
/// # Errors
/// No part, a labelled one with more or fewer conditions than one, or one with other work than the first.
pub fn pool(parts: &[Part<'_>]) -> Result<Run> {
    let Some(first) = parts.first() else {
        return Err(Error::bad_input("runs", "at least one", "none", "name some runs"));
    };
    let mut pool = Pool::new(&first.run.manifest);
    for part in parts {
        pool.add(part)?;
    }
    Ok(pool.run)
}

impl Part<'_> {
    /// A condition's name in the pooled run.
    fn condition(&self, own: &str) -> String {
        self.label.unwrap_or(own).to_owned()
    }

    /// Which one it is, in words.
    fn told(&self) -> String {
        match self.label {
            Some(label) => format!("{label}, round {}", self.round + 1),
            None => self.run.name(),
        }
    }
}

#[derive(Default)]
struct Pool {
    run: Run,
    /// Where the next part begins.
    start_ns: u64,
    seq: u64,
    /// Number of the next part's first trial.
    trials: u32,
}

impl Pool {
    fn new(first: &Manifest) -> Pool {
        let mut manifest = first.clone();
        manifest.conditions.clear();
        manifest.order.clear();
        manifest.checks.clear();
        manifest.overheads.clear();
        manifest.plan = None;
        for clock in &mut manifest.clocks {
            (clock.offset_to, clock.offset_ns, clock.uncertainty_ns) = (None, None, None);
        }
        Pool { run: Run { manifest, ..Run::default() }, ..Pool::default() }
    }

    fn add(&mut self, part: &Part<'_>) -> Result<()> {
        let from = &part.run.manifest;
        if part.label.is_some() && from.conditions.len() != 1 {
            return Err(Error::bad_input(
                part.run.name(),
                "one condition",
                format!("{}", from.conditions.len()),
                "what differs between machines is compared under one condition at a time",
            ));
        }
        let differs = self.run.manifest.workloads.iter().find(|ours| {
            from.workload(&ours.name).is_none_or(|theirs| theirs.params != ours.params)
        });
        if let Some(workload) = differs {
            return Err(Error::bad_input(
                part.run.name(),
                format!("workload {} with the same parameters as in the first run", workload.name),
                "others",
                "only the same work can be compared",
            ));
        }
        if self.run.unfinished.is_none() {
            self.run.unfinished.clone_from(&part.run.unfinished);
        }
        let trials = self.trials;
        self.manifest(part);
        let tables = &part.run.tables;
        let begin = span(tables).map_or(0, |(begin, _)| begin);
        let start = self.start_ns;
        let at = |t: u64| t.saturating_sub(begin).saturating_add(start);
        let renamed = |condition: &str| part.condition(condition);
        for row in (0..tables.windows.len()).filter_map(|row| tables.windows.row(row)) {
            self.run.tables.windows.push(Window {
                seq: self.seq,
                trial: trials.saturating_add(row.trial),
                condition: renamed(&row.condition),
                repeat: part.round + 1,
                block: part.round,
                release_ns: at(row.release_ns),
                dispatch_ns: at(row.dispatch_ns),
                end_ns: at(row.end_ns),
                deadline_ns: match row.deadline_ns {
                    NO_DEADLINE => NO_DEADLINE,
                    deadline => at(deadline),
                },
                ..row
            });
            self.seq += 1;
        }
        for row in (0..tables.frequency.len()).filter_map(|row| tables.frequency.row(row)) {
            self.run.tables.frequency.push(FrequencySample {
                t_ns: at(row.t_ns),
                condition: row.condition.as_deref().map(renamed),
                trial: row.trial.map(|trial| trials.saturating_add(trial)),
                ..row
            });
        }
        for row in (0..tables.load.len()).filter_map(|row| tables.load.row(row)) {
            self.run.tables.load.push(LoadSample {
                t_ns: at(row.t_ns),
                condition: renamed(&row.condition),
                trial: row.trial.map(|trial| trials.saturating_add(trial)),
                ..row
            });
        }
        for row in (0..tables.notes.len()).filter_map(|row| tables.notes.row(row)) {
            let message = format!("{}: {}", part.told(), row.message);
            self.run.tables.notes.push(Note { t_ns: row.t_ns.map(at), message, ..row });
        }
        let ordered = from.order.iter().map(|trial| trial.trial);
        let last = tables.windows.trial.iter().copied().chain(ordered).max();
        self.trials = trials.saturating_add(last.map_or(0, |last| last.saturating_add(1)));
        let (begin, end) = span(tables).unwrap_or((0, 0));
        self.start_ns += end.saturating_sub(begin) + GAP_NS;
        Ok(())
    }

    /// Adds the part's records.
    fn manifest(&mut self, part: &Part<'_>) {
        let into = &mut self.run.manifest;
        let from = &part.run.manifest;
        // A fact that differs between the parts does not hold for the whole.
        if let Some(machine) = &mut into.machine {
            let other = from.machine.as_ref();
            if part.label.is_some() || other.is_none_or(|other| other.kernel != machine.kernel) {
                machine.kernel = None;
            }
        }
        for trial in &from.order {
            let mut trial = trial.clone();
            trial.trial = trial.trial.saturating_add(self.trials);
            trial.condition = part.condition(&trial.condition);
            trial.repeat = part.round + 1;
            trial.block = part.round;
            into.order.push(trial);
        }
        for condition in &from.conditions {
            let name = part.condition(&condition.name);
            if into.conditions.iter().any(|known| known.name == name) {
                continue;
            }
            let mut record = ConditionRecord { name, ..condition.clone() };
            let kernel = from.machine.as_ref().and_then(|machine| machine.kernel.clone());
            if let (Some(_), Some(kernel)) = (part.label, kernel) {
                record.applied.insert("kernel".into(), kernel.into());
            }
            into.conditions.push(record);
        }
        for check in &from.checks {
            let mut check = check.clone();
            let told = into.checks.iter().any(|known| {
                known.name == check.name
                    && known.outcome == check.outcome
                    && known.found == check.found
            });
            if !told {
                check.object = format!("{} ({})", check.object, part.told());
                into.checks.push(check);
            }
        }
        into.state = match (into.state, from.state) {
            (RunState::Complete, state) => state,
            (state, _) => state,
        };
    }
}

/// From the first release to the last end.
fn span(tables: &Tables) -> Option<(u64, u64)> {
    let rows = || (0..tables.windows.len()).filter_map(|row| tables.windows.row(row));
    let begin = rows().map(|row| row.release_ns.min(row.dispatch_ns)).min()?;
    Some((begin, rows().map(|row| row.end_ns).max()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::TrialRecord;

    fn run(begin: u64, exec: u64, state: RunState) -> Run {
        let mut run = Run::default();
        run.manifest.state = state;
        run.manifest.conditions =
            vec![ConditionRecord { name: "schedutil".into(), ..ConditionRecord::default() }];
        for repeat in 1..=2 {
            run.manifest.order.push(TrialRecord {
                trial: repeat - 1,
                workload: "car".into(),
                condition: "schedutil".into(),
                repeat,
                ..TrialRecord::default()
            });
            let release = begin + u64::from(repeat) * 1000;
            run.tables.windows.push(Window {
                trial: repeat - 1,
                workload: "car".into(),
                condition: "schedutil".into(),
                repeat,
                release_ns: release,
                dispatch_ns: release + 10,
                end_ns: release + 10 + exec,
                exec_ns: exec,
                ..Window::default()
            });
        }
        run
    }

    #[test]
    fn machines_become_conditions_and_rounds_blocks() {
        let runs = [
            run(5_000_000, 100, RunState::Complete),
            run(9, 200, RunState::Complete),
            run(77, 101, RunState::Complete),
            run(3, 201, RunState::Complete),
        ];
        let part = |at: usize, label, round| Part { label: Some(label), round, run: &runs[at] };
        let parts = [part(0, "A", 0), part(1, "B", 0), part(2, "A", 1), part(3, "B", 1)];
        let pooled = pool(&parts).unwrap();
        let rows: Vec<Window> = (0..8).filter_map(|at| pooled.tables.windows.row(at)).collect();
        let told: Vec<_> = rows
            .iter()
            .map(|r| (r.condition.as_str(), r.trial, r.repeat, r.block, r.exec_ns))
            .collect();
        assert_eq!(
            told,
            [
                ("A", 0, 1, 0, 100),
                ("A", 1, 1, 0, 100),
                ("B", 2, 1, 0, 200),
                ("B", 3, 1, 0, 200),
                ("A", 4, 2, 1, 101),
                ("A", 5, 2, 1, 101),
                ("B", 6, 2, 1, 201),
                ("B", 7, 2, 1, 201),
            ]
        );
        assert!(rows.windows(2).all(|pair| pair[0].release_ns < pair[1].release_ns), "{rows:?}");
        assert!(rows.iter().all(|row| row.end_ns - row.dispatch_ns == row.exec_ns));
        let trials: Vec<u32> = pooled.manifest.order.iter().map(|trial| trial.trial).collect();
        assert_eq!(trials, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(pooled.manifest.conditions.len(), 2);
        assert_eq!(pooled.manifest.state, RunState::Complete);
    }

    #[test]
    fn runs_of_one_experiment_are_its_repeats() {
        let mut runs = [run(5_000_000, 100, RunState::Complete), run(9, 110, RunState::Complete)];
        for run in &mut runs {
            let idle = ConditionRecord { name: "idle".into(), ..ConditionRecord::default() };
            run.manifest.conditions.push(idle);
            run.tables.windows.push(Window {
                trial: 2,
                workload: "car".into(),
                condition: "idle".into(),
                repeat: 1,
                release_ns: 9_000_000,
                end_ns: 9_000_500,
                ..Window::default()
            });
        }
        let part = |round: u32, run| Part { label: None, round, run };
        let pooled = pool(&[part(0, &runs[0]), part(1, &runs[1])]).unwrap();
        let rows = (0..6).filter_map(|at| pooled.tables.windows.row(at));
        let told: Vec<_> = rows.map(|r| (r.condition, r.repeat, r.block)).collect();
        let expected = [("schedutil", 1, 0), ("schedutil", 1, 0), ("idle", 1, 0)];
        let again = [("schedutil", 2, 1), ("schedutil", 2, 1), ("idle", 2, 1)];
        let all = expected.into_iter().chain(again).map(|(name, r, b)| (name.to_owned(), r, b));
        assert_eq!(told, all.collect::<Vec<_>>());
        let names: Vec<&str> =
            pooled.manifest.conditions.iter().map(|condition| condition.name.as_str()).collect();
        assert_eq!(names, ["schedutil", "idle"]);
    }

    #[test]
    fn one_part_that_is_not_valid_spoils_the_pool() {
        let (good, bad) = (run(0, 1, RunState::Complete), run(0, 1, RunState::Invalid));
        let part = |label, run| Part { label: Some(label), round: 0, run };
        for parts in [[part("A", &good), part("B", &bad)], [part("A", &bad), part("B", &good)]] {
            assert_eq!(pool(&parts).unwrap().manifest.state, RunState::Invalid);
        }
        assert!(pool(&[]).is_err());
        let mut two = good.clone();
        two.manifest.conditions.push(ConditionRecord::default());
        assert!(pool(&[part("A", &two)]).unwrap_err().to_string().contains("one condition"));
    }
}
