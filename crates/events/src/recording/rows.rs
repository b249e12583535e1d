//! The rows of each task, found once: a recording is asked about dozens of tasks.

use ahash::HashMap;

use flyball_run::{Packed, Tables};

use super::Subject;
use super::events::{of_trial, subject};

/// Which rows of the tables are whose.
#[derive(Debug, Default)]
pub(super) struct RowsByTask {
    slices: ByTask,
    wakeups: ByTask,
}

/// Row numbers by the task's number, ascending.
type ByTask = HashMap<u32, Packed<u32>>;

impl RowsByTask {
    pub(super) fn of(tables: &Tables, trial: Option<u32>) -> RowsByTask {
        macro_rules! by_task {
            ($table:ident) => {{
                let rows = &tables.$table;
                let mut found = ByTask::default();
                for (tid, row) in rows.tid.iter().zip(0_u32..) {
                    if of_trial(&rows.trial, row as usize, trial) {
                        found.entry(tid).or_default().push(row);
                    }
                }
                found
            }};
        }
        RowsByTask { slices: by_task!(slices), wakeups: by_task!(wakeups) }
    }

    /// The rows of a task's slices.
    pub(super) fn slices(&self, tid: u32) -> impl Iterator<Item = usize> + Clone + '_ {
        own(&self.slices, tid)
    }

    /// The rows of a task's wake-ups.
    pub(super) fn wakeups(&self, tid: u32) -> impl Iterator<Item = usize> + Clone + '_ {
        own(&self.wakeups, tid)
    }

    /// Everybody who ran or woke up, ascending in number.
    pub(super) fn tasks(&self) -> Vec<u32> {
        let mut tasks: Vec<u32> = self.slices.keys().chain(self.wakeups.keys()).copied().collect();
        tasks.sort_unstable();
        tasks.dedup();
        tasks
    }
}

/// Row numbers of the table `utilization` by whose they are, ascending.
#[derive(Debug, Default)]
pub(super) struct RowsBySubject(HashMap<Subject, Packed<u32>>);

impl RowsBySubject {
    pub(super) fn of(tables: &Tables, trial: Option<u32>) -> RowsBySubject {
        let rows = &tables.utilization;
        let mut found = RowsBySubject::default();
        for row in (0..rows.len()).filter(|&row| of_trial(&rows.trial, row, trial)) {
            if let Some(subject) = subject(rows, row) {
                found.0.entry(subject).or_default().push(row as u32);
            }
        }
        found
    }

    pub(super) fn rows(&self, subject: Subject) -> impl Iterator<Item = usize> + Clone + '_ {
        self.0.get(&subject).into_iter().flat_map(|rows| rows.iter().map(|row| row as usize))
    }
}

fn own(rows: &ByTask, tid: u32) -> impl Iterator<Item = usize> + Clone + '_ {
    rows.get(&tid).into_iter().flat_map(|rows| rows.iter().map(|row| row as usize))
}
