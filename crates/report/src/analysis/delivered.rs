//! Delivered frequency of the windows: of the window itself, else from the probe around it.
//!
//! What the system claims is never taken for delivered.

use flyball_run::Windows;
use flyball_run::manifest::{Manifest, ProbeBasis};
use flyball_stats::{median_of, quantile, sort};

use super::cell::Sample;
use super::rows::CellRows;
use crate::model::Delivered;

/// Where a cell's delivered frequency comes from; the best that any of its windows has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Cycles of the window itself.
    Cycles,
    /// The calibrated probe before and after it.
    Probe,
    /// The uncalibrated probe: percent of the best seen.
    Percent,
}

impl Source {
    /// The best source that a cell has, if any.
    pub fn of(windows: &Windows, rows: &CellRows) -> Option<Source> {
        let any = |source: Source| rows.rows().any(|row| source.value(windows, row).is_some());
        let null = |empty: bool, source| (!empty).then_some(source);
        [
            null(windows.delivered_khz.is_all_null(), Source::Cycles),
            null(
                windows.probe_before_khz.is_all_null() && windows.probe_after_khz.is_all_null(),
                Source::Probe,
            ),
            null(
                windows.probe_before_permille.is_all_null()
                    && windows.probe_after_permille.is_all_null(),
                Source::Percent,
            ),
        ]
        .into_iter()
        .flatten()
        .find(|source| any(*source))
    }

    /// Frequency of one window, megahertz (percent for [`Source::Percent`]); none where its
    /// probe was disturbed.
    pub fn value(self, windows: &Windows, row: usize) -> Option<f64> {
        if self == Source::Cycles {
            return windows.delivered_khz.get(row).map(|khz| khz as f64 / 1e3);
        }
        match self.around(windows, row) {
            (Some(before), Some(after)) => Some((before + after) / 2.0),
            (one, other) => one.or(other),
        }
    }

    /// What the probes before and after a window say; nothing where they were disturbed.
    fn around(self, windows: &Windows, row: usize) -> (Option<f64>, Option<f64>) {
        if windows.probe_disturbed.get(row) == Some(true) {
            return (None, None);
        }
        match self {
            Source::Cycles => (None, None),
            Source::Percent => (
                windows.probe_before_permille.get(row).map(|permille| f64::from(permille) / 10.0),
                windows.probe_after_permille.get(row).map(|permille| f64::from(permille) / 10.0),
            ),
            Source::Probe => (
                windows.probe_before_khz.get(row).map(|khz| khz as f64 / 1e3),
                windows.probe_after_khz.get(row).map(|khz| khz as f64 / 1e3),
            ),
        }
    }

    /// How far the frequency changes inside windows, as the natural logarithms of the probe after them to
    /// the one before: the median, and the median of their sizes. None where no window has both.
    pub fn change(self, windows: &Windows, rows: &CellRows) -> Option<(f64, f64)> {
        let change = |row| match self.around(windows, row) {
            (Some(before), Some(after)) => Some((after / before).ln()),
            _ => None,
        };
        let changes: Vec<f64> = rows.rows().filter_map(change).collect();
        let median = median_of(changes.iter().copied())?;
        Some((median, median_of(changes.iter().map(|change| change.abs()))?))
    }

    fn name(self) -> &'static str {
        match self {
            Source::Cycles => "cycles",
            Source::Probe => "probe",
            Source::Percent => "percent",
        }
    }
}

/// Delivered frequency of a cell; none where no window has a sample.
pub(super) fn summarise(
    samples: &[Sample],
    source: Source,
    manifest: &Manifest,
) -> Option<Delivered> {
    let mut values: Vec<f64> =
        samples.iter().filter_map(|sample| sample.delivered).map(f64::from).collect();
    if values.is_empty() {
        return None;
    }
    sort(&mut values);
    let at = |share| quantile(&values, share);
    Some(Delivered {
        source: source.name().to_owned(),
        median: at(0.5),
        p1: at(0.01),
        p99: at(0.99),
        basis: basis(source, samples, manifest).to_owned(),
        n: values.len() as u64,
    })
}

/// What the figure rests on: the weakest calibration among the CPUs that the windows ran on.
fn basis(source: Source, samples: &[Sample], manifest: &Manifest) -> &'static str {
    match source {
        Source::Cycles => return "measured",
        Source::Percent => return "relative",
        Source::Probe => {}
    }
    let used = |cpu: u32| samples.iter().any(|sample| sample.cpu.is_none_or(|on| on == cpu));
    let calibrations = manifest.probe.iter().filter(|probe| used(probe.cpu));
    let weakest = calibrations.map(|probe| match probe.basis {
        ProbeBasis::Measured => 0,
        ProbeBasis::Assumed => 1,
        ProbeBasis::Relative | ProbeBasis::Unknown => 2,
    });
    match weakest.max() {
        Some(0) => "measured",
        // A frequency without a record of its calibration rests on an assumption.
        Some(1) | None => "assumed",
        Some(_) => "relative",
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::RepeatRows;
    use super::*;
    use flyball_run::Window;

    #[test]
    fn a_disturbed_probe_says_nothing_but_cycles_do() {
        let mut windows = Windows::default();
        windows.push(Window {
            probe_before_khz: Some(3_000_000),
            probe_after_khz: Some(2_000_000),
            ..Window::default()
        });
        windows.push(Window {
            probe_before_khz: Some(1_000_000),
            probe_disturbed: Some(true),
            delivered_khz: Some(2_900_000),
            ..Window::default()
        });
        assert_eq!(Source::Probe.value(&windows, 0), Some(2500.0));
        assert_eq!(Source::Probe.value(&windows, 1), None);
        assert_eq!(Source::Cycles.value(&windows, 1), Some(2900.0));
        assert_eq!(Source::Percent.value(&windows, 0), None);
        let repeat = RepeatRows { repeat: 0, block: 0, spans: vec![0..1, 1..2] };
        let rows = CellRows { repeats: vec![repeat], ..CellRows::default() };
        let change = (2.0_f64 / 3.0).ln();
        assert_eq!(Source::Probe.change(&windows, &rows), Some((change, -change)));
        assert_eq!(Source::Cycles.change(&windows, &rows), None);
    }
}
