//! Windows that something disturbed, by cause.

use flyball_run::column::Bits;
use flyball_run::{Nullable, Windows};

use super::rows::CellRows;
use crate::model::Disturbed;

/// The columns that tell of a disturbance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Causes<'a> {
    windows: &'a Windows,
}

/// What disturbed one window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub preempted: bool,
    pub migrated: bool,
    pub steal: bool,
    pub faults: bool,
    pub probe: bool,
    pub nan: bool,
}

impl Marks {
    /// Whether there is any cause.
    pub fn any(self) -> bool {
        self.preempted || self.migrated || self.steal || self.faults || self.probe || self.nan
    }
}

impl<'a> Causes<'a> {
    pub fn of(windows: &'a Windows) -> Causes<'a> {
        Causes { windows }
    }

    /// What disturbed the window in `row`; what was not recorded is not marked.
    pub fn marks(self, row: usize) -> Marks {
        let w = self.windows;
        Marks {
            preempted: above_zero(&w.preemptions, row),
            migrated: above_zero(&w.migrations, row) || self.moved(row),
            steal: w.steal_ns.get(row).is_some_and(|ns| ns > 0),
            // A program that is started maps its pages: that is its work, no disturbance.
            faults: (above_zero(&w.minor_faults, row) && w.exit_status.get(row).is_none())
                || above_zero(&w.major_faults, row),
            probe: w.probe_disturbed.get(row) == Some(true),
            nan: above_zero(&w.nan_replaced, row),
        }
    }

    fn moved(self, row: usize) -> bool {
        match (self.windows.cpu_before.get(row), self.windows.cpu_after.get(row)) {
            (Some(before), Some(after)) => before != after,
            _ => false,
        }
    }
}

fn above_zero(column: &Nullable<u32>, row: usize) -> bool {
    column.get(row).is_some_and(|count| count > 0)
}

/// Counts of a cell; a cause that was recorded for none of its windows is `None`.
pub(super) fn count(windows: &Windows, rows: &CellRows, marks: &[Marks]) -> Disturbed {
    let counted = |recorded: bool, of: fn(&Marks) -> bool| {
        recorded.then(|| marks.iter().filter(|mark| of(mark)).count() as u64)
    };
    let w = windows;
    Disturbed {
        windows: marks.iter().filter(|mark| mark.any()).count() as u64,
        preempted: counted(has(&w.preemptions, rows), |mark| mark.preempted),
        migrated: counted(has(&w.migrations, rows) || has(&w.cpu_after, rows), |mark| {
            mark.migrated
        }),
        steal: counted(has(&w.steal_ns, rows), |mark| mark.steal),
        faults: counted(has(&w.minor_faults, rows) || has(&w.major_faults, rows), |mark| {
            mark.faults
        }),
        probe: counted(has(&w.probe_disturbed, rows), |mark| mark.probe),
        nan: counted(has(&w.nan_replaced, rows), |mark| mark.nan),
    }
}

/// Whether any window of the cell has a value.
pub(super) fn has<T: Bits>(column: &Nullable<T>, rows: &CellRows) -> bool {
    !column.is_all_null() && rows.rows().any(|row| column.get(row).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::Window;

    #[test]
    fn a_move_counts_even_without_the_kernels_count() {
        let mut windows = Windows::default();
        windows.push(Window { cpu_before: Some(0), cpu_after: Some(1), ..Window::default() });
        windows.push(Window { cpu_before: Some(0), cpu_after: Some(0), ..Window::default() });
        let causes = Causes::of(&windows);
        assert!(causes.marks(0).migrated && causes.marks(0).any());
        assert_eq!(causes.marks(1), Marks::default());
    }
}
