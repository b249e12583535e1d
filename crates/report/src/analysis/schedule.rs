//! Whether releases were on a schedule, or written down when the window was dispatched.
//!
//! Lateness means something only against a release that was fixed beforehand. A loop that sleeps
//! for a period and then takes the time has intervals that jitter with its own dispatch; a
//! schedule has intervals that are equal to the clock's resolution.

use super::rows::CellRows;
use flyball_run::Windows;
use flyball_stats::median_in_place;

/// Intervals that differ from the median one by more than this are not on a schedule.
const TOLERANCE_NS: f64 = 1_000.0;

/// What the releases of a cell are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Releases {
    /// Fixed beforehand (or too few to tell).
    #[default]
    Scheduled,
    /// Taken at dispatch: lateness leaves out whatever came before.
    AtDispatch,
}

/// Looks at the intervals between releases of imported windows.
pub(super) fn releases(windows: &Windows, rows: &CellRows) -> Releases {
    let mut intervals = Vec::with_capacity(rows.len());
    for repeat in &rows.repeats {
        let mut last: Option<u64> = None;
        for row in repeat.rows() {
            let release = windows.release_ns.get(row).copied().unwrap_or(0);
            if let Some(last) = last.filter(|&last| release > last) {
                intervals.push((release - last) as f64);
            }
            last = Some(release);
        }
    }
    if intervals.len() < 3 {
        return Releases::Scheduled;
    }
    let median = median_in_place(&mut intervals);
    let off = intervals.iter().filter(|interval| (*interval - median).abs() > TOLERANCE_NS);
    if 2 * off.count() > intervals.len() { Releases::AtDispatch } else { Releases::Scheduled }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::rows::group;
    use crate::analysis::source::RunData;
    use flyball_run::Window;

    fn found(releases_ns: impl Iterator<Item = u64>) -> Releases {
        let mut run = RunData::default();
        for release_ns in releases_ns {
            run.tables.windows.push(Window { release_ns, ..Window::default() });
        }
        releases(&run.tables.windows, &group(&run)[0])
    }

    #[test]
    fn a_jittering_interval_is_no_schedule() {
        assert_eq!(found((0..50).map(|i| i * 500_000_000)), Releases::Scheduled);
        let jitter = |i: u64| i * 500_000_000 + i * i * 7_919 % 90_000;
        assert_eq!(found((0..50).map(jitter)), Releases::AtDispatch);
    }
}
