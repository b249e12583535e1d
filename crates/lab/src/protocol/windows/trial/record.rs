//! One window as it travels through the ring: plain numbers, no pointers.

use super::plan::TrialLabels;
use flyball_probe::{Calibrations, ProbeSample};
use flyball_run::Window;
use flyball_units::{CpuId, Nanos};

/// What the measured loop knows about one window. Times are on CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowRecord {
    /// Number of the trial.
    pub trial: u32,
    /// Number of the release on the trial's grid, from 0. A skipped release leaves a gap.
    pub index: u64,
    /// Releases skipped right before this one, because a window overran more than a period.
    pub skipped_before: u64,
    /// Whether the window is warm-up.
    pub warmup: bool,
    /// Scheduled release.
    pub release: Nanos,
    /// First reading of the clock after waking up.
    pub dispatch: Nanos,
    /// First reading of the clock after the work.
    pub end: Nanos,
    /// Deadline after the release; zero where there is none.
    pub deadline: Nanos,
    /// CPU right after dispatch.
    pub cpu_before: Option<CpuId>,
    /// CPU right after the end.
    pub cpu_after: Option<CpuId>,
    /// Involuntary context switches from before the wait to the end.
    pub preemptions: Option<u32>,
    /// Voluntary context switches from before the wait to the end, that of the wait left out.
    pub yields: Option<u32>,
    /// Page faults without I/O, from before the wait to the end.
    pub minor_faults: Option<u32>,
    /// Page faults with I/O, from before the wait to the end.
    pub major_faults: Option<u32>,
    /// CPU time of the window: of a command, what the kernel accounted to it; of a window that was
    /// switched out, what the thread had of the execution.
    pub cpu_time: Option<Nanos>,
    /// Upper bound of the time the thread was runnable without a CPU, from dispatch to end.
    pub run_delay: Option<Nanos>,
    /// Part of the lateness in which the thread was runnable without a CPU; none where nobody looked.
    pub wake_delay: Option<Nanos>,
    /// Cycles in user mode.
    pub cycles: Option<u64>,
    /// Reference cycles in user mode.
    pub ref_cycles: Option<u64>,
    /// Instructions in user mode.
    pub instructions: Option<u64>,
    /// Probe in the gap before the release.
    pub probe_before: Option<ProbeSample>,
    /// Probe right after the end.
    pub probe_after: Option<ProbeSample>,
    /// Samples that were no finite number.
    pub nan_replaced: u32,
    /// Exit status of a command; the negative number of the signal that killed it.
    pub exit_status: Option<i32>,
}

impl WindowRecord {
    /// The row of the `windows` table.
    ///
    /// `seq` is the number of the row in the run. Frequencies come from the calibration of the CPU
    /// that each probe ran on; a disturbed probe keeps its ticks and has no frequency.
    pub fn row(&self, seq: u64, labels: &TrialLabels, calibrations: &Calibrations) -> Window {
        let before = self.probe_before.map(|probe| calibrations.speed(probe, probe.cpu));
        let after = self.probe_after.map(|probe| calibrations.speed(probe, probe.cpu));
        let exec = self.end.since(self.dispatch);
        let disturbed = [self.probe_before, self.probe_after].into_iter().flatten();
        let deadline = self.release + self.deadline;
        Window {
            seq,
            trial: labels.trial,
            workload: labels.workload.clone(),
            condition: labels.condition.clone(),
            repeat: labels.repeat,
            block: labels.block,
            index: self.index,
            warmup: self.warmup,
            release_ns: self.release.0,
            dispatch_ns: self.dispatch.0,
            end_ns: self.end.0,
            lateness_ns: self.dispatch.signed_since(self.release),
            exec_ns: exec.0,
            response_ns: self.end.signed_since(self.release),
            deadline_ns: deadline.0,
            missed: self.deadline > Nanos::ZERO && self.end > deadline,
            cpu_before: self.cpu_before.map(|cpu| cpu.0),
            cpu_after: self.cpu_after.map(|cpu| cpu.0),
            migrations: self.migrations(),
            preemptions: self.preemptions,
            yields: self.yields,
            minor_faults: self.minor_faults,
            major_faults: self.major_faults,
            cpu_time_ns: self.cpu_time.map(|time| time.0),
            run_delay_ns: self.run_delay.map(|delay| delay.0),
            wake_delay_ns: self.wake_delay.map(|delay| delay.0),
            cycles: self.cycles,
            ref_cycles: self.ref_cycles,
            instructions: self.instructions,
            probe_before_ticks: self.probe_before.map(|probe| probe.ticks),
            probe_after_ticks: self.probe_after.map(|probe| probe.ticks),
            probe_before_khz: before.and_then(|speed| speed.khz),
            probe_after_khz: after.and_then(|speed| speed.khz),
            probe_before_permille: before.and_then(|speed| speed.permille),
            probe_after_permille: after.and_then(|speed| speed.permille),
            probe_disturbed: disturbed.map(|probe| probe.disturbed).reduce(|a, b| a || b),
            delivered_khz: self.delivered_khz(),
            nan_replaced: Some(self.nan_replaced),
            exit_status: self.exit_status,
            // What only other tools' data hold.
            ..Window::default()
        }
    }

    /// Moves between the two readings of the CPU: at least one where they differ. A window that
    /// was never switched out can't have moved; of others this is a lower bound.
    fn migrations(&self) -> Option<u32> {
        self.cpu_before.zip(self.cpu_after).map(|(before, after)| u32::from(before != after))
    }

    /// Frequency during the window, where its cycles were counted and nothing took the CPU away:
    /// cycles over execution time. Cycles are those in user mode, so the kernel's share (a timer
    /// tick is 1 to 5 us of 4 ms) makes it read low by that share.
    fn delivered_khz(&self) -> Option<u64> {
        let cycles = self.cycles?;
        let exec = self.end.since(self.dispatch).0;
        let undisturbed = self.preemptions == Some(0) && self.yields == Some(0);
        (undisturbed && exec > 0).then(|| (cycles as f64 * 1e6 / exec as f64).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> WindowRecord {
        WindowRecord {
            index: 7,
            release: Nanos(1_000_000),
            dispatch: Nanos(1_004_000),
            end: Nanos(1_104_000),
            deadline: Nanos(100_000),
            cpu_before: Some(CpuId(1)),
            cpu_after: Some(CpuId(1)),
            preemptions: Some(0),
            yields: Some(0),
            cycles: Some(300_000),
            ..WindowRecord::default()
        }
    }

    #[test]
    fn times_become_lateness_execution_and_response() {
        let row = record().row(3, &TrialLabels::default(), &Calibrations::default());
        assert_eq!((row.seq, row.index), (3, 7));
        assert_eq!((row.lateness_ns, row.exec_ns, row.response_ns), (4_000, 100_000, 104_000));
        assert_eq!(row.deadline_ns, 1_100_000);
        assert!(row.missed, "the deadline counts from the release, not from the dispatch");
        assert_eq!(row.delivered_khz, Some(3_000_000));
        assert_eq!(row.migrations, Some(0));
        assert_eq!((row.probe_disturbed, row.steal_ns), (None, None));
    }

    #[test]
    fn a_preempted_window_has_no_delivered_frequency() {
        let preempted = WindowRecord { preemptions: Some(1), ..record() };
        let row = preempted.row(0, &TrialLabels::default(), &Calibrations::default());
        assert_eq!(row.delivered_khz, None);
        let unknown = WindowRecord { preemptions: None, ..record() };
        assert_eq!(
            unknown.row(0, &TrialLabels::default(), &Calibrations::default()).delivered_khz,
            None
        );
    }

    #[test]
    fn a_move_shows_in_the_row() {
        let moved = WindowRecord { cpu_after: Some(CpuId(0)), ..record() };
        let row = moved.row(0, &TrialLabels::default(), &Calibrations::default());
        assert_eq!((row.cpu_before, row.cpu_after, row.migrations), (Some(1), Some(0), Some(1)));
    }
}
