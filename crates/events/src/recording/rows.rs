//! The rows of each task, found once: a recording is asked about dozens of tasks.

use ahash::HashMap;

use flyball_run::Tables;

use super::events::of_trial;

/// Which rows of the tables are whose.
#[derive(Debug, Default)]
pub(super) struct RowsByTask {
    slices: ByTask,
    wakeups: ByTask,
}

/// Row numbers by the task's number, ascending.
type ByTask = HashMap<u32, Vec<u32>>;

impl RowsByTask {
    pub(super) fn of(tables: &Tables, trial: Option<u32>) -> RowsByTask {
        macro_rules! by_task {
            ($table:ident) => {{
                let rows = &tables.$table;
                let mut found = ByTask::default();
                for (&tid, row) in rows.tid.iter().zip(0_u32..) {
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
    pub(super) fn slices(&self, tid: u32) -> &[u32] {
        self.slices.get(&tid).map_or(&[], Vec::as_slice)
    }

    /// The rows of a task's wake-ups.
    pub(super) fn wakeups(&self, tid: u32) -> &[u32] {
        self.wakeups.get(&tid).map_or(&[], Vec::as_slice)
    }

    /// Everybody who ran or woke up, ascending in number.
    pub(super) fn tasks(&self) -> Vec<u32> {
        let mut tasks: Vec<u32> = self.slices.keys().chain(self.wakeups.keys()).copied().collect();
        tasks.sort_unstable();
        tasks.dedup();
        tasks
    }
}
