//! The measured loop: nothing here allocates, locks, does I/O or makes a system call that the
//! window would pay for.
//!
//! ```text
//!      release k-1                                            release k
//!  ...----|--|==window==|account|probe|next input|....probe....|--|==window==|account|...
//!            dispatch  end                                  account  dispatch  end
//!                      \______ outside the timed part _______/ waiting
//! ```

use super::bookkeeping::Bookkeeper;
use super::error::TrialError;
use super::grid::Grid;
use super::plan::{ProbeMode, TrialPlan};
use super::record::WindowRecord;
use super::work::{Work, WorkInfo};
use super::{Ended, StopFlag, TrialCounts};
use crate::protocol::windows::telemetry::Recorder;
use flyball_host::{Host, HostError, Wake};
use flyball_probe::{Chain, ProbeSample};
use flyball_units::Nanos;

/// Everything that the loop touches, made before it starts.
pub(super) struct MeasuredLoop<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) plan: &'a TrialPlan,
    pub(super) chain: Option<Chain>,
    pub(super) work: &'a mut dyn Work,
    pub(super) bookkeeper: Bookkeeper<'a>,
    pub(super) recorder: &'a mut Recorder,
    pub(super) stop: &'a StopFlag,
}

impl MeasuredLoop<'_> {
    /// Runs all windows, or until it is stopped.
    pub(super) fn run(&mut self) -> Result<(Ended, TrialCounts), TrialError> {
        let grid = self.grid();
        let releases = self.plan.releases();
        let mut counts = TrialCounts::default();
        let (mut index, mut skipped) = (0, 0);
        while index < releases {
            if self.should_stop() {
                return Ok((Ended::Stopped, counts));
            }
            let release = match self.plan.period {
                Nanos::ZERO => self.host.now(),
                _ => grid.release(index),
            };
            let Some(mut record) = self.window(release, index)? else {
                return Ok((Ended::Stopped, counts));
            };
            record.skipped_before = skipped;
            counts.recorded += 1;
            counts.dropped += u64::from(!self.recorder.push(record));
            let next = match self.plan.period {
                Nanos::ZERO => index + 1,
                _ => grid.next(index, self.host.now()).min(releases),
            };
            skipped = next - index - 1;
            counts.skipped += skipped;
            index = next;
        }
        Ok((Ended::Complete, counts))
    }

    /// One window: the gap before its release, the release, what follows it. None where the
    /// program was asked to end meanwhile.
    fn window(&mut self, release: Nanos, index: u64) -> Result<Option<WindowRecord>, TrialError> {
        self.work.prepare();
        let Ok(probe_before) = self.probe_before(release)? else {
            return Ok(None);
        };
        self.bookkeeper.before();
        let waits = self.host.now() < release;
        let dispatch = if waits {
            let woken = self.host.wait_until(release).map_err(not_released)?;
            let (Wake::OnTime, dispatch) = woken else { return Ok(None) };
            dispatch
        } else {
            self.host.now()
        };
        let cpu_before = self.host.current_cpu().ok();
        let info = self.work.run();
        let end = self.host.now();

        let cpu_after = self.host.current_cpu().ok();
        let info = info.map_err(|error| *error)?;
        if info.abandoned {
            return Ok(None);
        }
        let mut record = self.record(index, info);
        (record.release, record.dispatch, record.end) = (release, dispatch, end);
        (record.cpu_before, record.cpu_after) = (cpu_before, cpu_after);
        self.bookkeeper.after(&mut record, waits, info.usage);
        record.probe_before = probe_before;
        record.probe_after = self.probe_after();
        Ok(Some(record))
    }

    /// The parts of a record that no clock decides.
    fn record(&self, index: u64, info: WorkInfo) -> WindowRecord {
        WindowRecord {
            trial: self.plan.labels.trial,
            index,
            warmup: index < self.plan.warmup_windows,
            deadline: self.plan.deadline,
            nan_replaced: info.nan_replaced,
            exit_status: info.exit_status,
            cpu_time: info.cpu_time,
            run_delay: info.waited,
            ..WindowRecord::default()
        }
    }

    /// Probes in the gap before `release`, early enough for the core to go idle again. The inner
    /// error: the program was asked to end meanwhile.
    fn probe_before(
        &self,
        release: Nanos,
    ) -> Result<Result<Option<ProbeSample>, StoppedWaiting>, TrialError> {
        let (ProbeMode::BeforeAfter { lead }, Some(chain)) = (self.plan.probe, self.chain) else {
            return Ok(Ok(None));
        };
        let now = self.host.now();
        let Some(start) = probe_start(now, release, lead) else {
            return Ok(Ok(None));
        };
        if start > now && self.sleep_until(start)? == Wake::Interrupted {
            return Ok(Err(StoppedWaiting));
        }
        Ok(Ok(Some(chain.sample(self.host))))
    }

    fn probe_after(&self) -> Option<ProbeSample> {
        match self.plan.probe {
            ProbeMode::Off => None,
            ProbeMode::After | ProbeMode::BeforeAfter { .. } => {
                self.chain.map(|chain| chain.sample(self.host))
            }
        }
    }

    fn sleep_until(&self, deadline: Nanos) -> Result<Wake, TrialError> {
        self.host.sleep_until(deadline).map_err(not_released)
    }

    fn should_stop(&self) -> bool {
        self.stop.is_raised() || self.host.interrupted() > 0
    }

    /// The grid from the first release that can still be met.
    fn grid(&self) -> Grid {
        let now = self.host.now();
        let origin = match self.plan.first_release {
            None => now + TrialPlan::LEAD_IN,
            Some(first) => {
                let missed = now.since(first).0.div_ceil(self.plan.period.0.max(1));
                first + Nanos(missed.saturating_mul(self.plan.period.0))
            }
        };
        Grid::new(origin, self.plan.period)
    }
}

/// The program was asked to end while the loop waited.
struct StoppedWaiting;

fn not_released(error: HostError) -> TrialError {
    TrialError::host("wait for the release of a window", error)
}

/// When to probe in the gap from `now` to `release`: `lead` before the release, or half of the
/// gap; at least [`ProbeMode::MIN_LEAD`] before it. None where the gap is too short.
fn probe_start(now: Nanos, release: Nanos, lead: Option<Nanos>) -> Option<Nanos> {
    let gap = release.since(now);
    if gap < ProbeMode::MIN_LEAD {
        return None;
    }
    let lead = lead.unwrap_or(Nanos(gap.0 / 2)).max(ProbeMode::MIN_LEAD).min(gap);
    Some(Nanos(release.0 - lead.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    #[test]
    fn the_probe_before_leaves_the_core_time_to_go_idle() {
        assert_eq!(probe_start(MS(0), MS(20), None), Some(MS(10)));
        assert_eq!(probe_start(MS(0), MS(20), Some(MS(3))), Some(MS(17)));
        assert_eq!(probe_start(MS(0), MS(20), Some(Nanos(5))), Some(MS(19)), "at least 1 ms");
        assert_eq!(probe_start(MS(0), MS(20), Some(MS(50))), Some(MS(0)), "at once");
        assert_eq!(probe_start(Nanos(1), MS(1), None), None, "the gap is too short");
        assert_eq!(probe_start(MS(30), MS(20), None), None, "the release is past");
    }
}
