//! Settings of the measuring thread: applied in that thread, read back in that thread.

use super::plan::{Applied, Degraded, TrialPlan};
use flyball_host::{Host, IdleLatencyHold};
use flyball_qos::{Attached, QosError};
use flyball_units::Diagnostic;
use std::fmt::Display;

/// Stack that is touched before the first window. Kernels keep their buffers on the heap; this
/// is for frames.
const STACK_BYTES: usize = 256 * 1024;

/// Settings that last until this is dropped; those of the thread end with the thread.
#[derive(Debug)]
pub(super) struct Settings<'a> {
    host: &'a dyn Host,
    locked: bool,
    idle_latency: Option<IdleLatencyHold>,
    ramp: Option<Attached<'a>>,
    pub(super) applied: Applied,
}

impl<'a> Settings<'a> {
    /// Takes back what lasts longer than the thread.
    ///
    /// # Errors
    /// Clamps that could not be removed.
    pub(super) fn end(mut self) -> Result<Applied, QosError> {
        self.ramp.take().map_or(Ok(()), Attached::end)?;
        Ok(std::mem::take(&mut self.applied))
    }

    /// Applies what `plan` asks of the calling thread and reads everything back.
    pub(super) fn apply(host: &'a dyn Host, plan: &TrialPlan) -> Settings<'a> {
        let applied = Applied { tid: Some(host.thread_id()), ..Applied::default() };
        let mut this = Settings { host, locked: false, idle_latency: None, ramp: None, applied };
        // Before placement and class, which its controller would have, too.
        if let Some(multiplier) = plan.response_ramp {
            let ramp = Attached::to_this_thread(host, multiplier);
            this.ramp = this.note(format_args!("ramp {multiplier}"), ramp);
            this.applied.response_ramp = this.ramp.as_ref().map(|_| multiplier);
        }
        // Memory next: what follows then touches locked pages.
        this.lock_memory(plan);
        if let Some(cpus) = &plan.cpus {
            this.note(format_args!("CPUs {cpus}"), host.affinity_set(cpus));
        }
        // A nice value that is already there is set all the same: the read-back is the proof.
        this.note(format_args!("scheduling {}", plan.scheduling), {
            host.scheduling_set(plan.scheduling)
        });
        if let Some(slack) = plan.timer_slack.filter(|_| !plan.scheduling.is_real_time()) {
            this.note(format_args!("timer slack {} ns", slack.0), host.timer_slack_set(slack));
        }
        if let Some(limit) = plan.hold_idle_latency {
            let held = this.note(
                format_args!("idle latency at most {} us", limit.0 / 1_000),
                host.hold_idle_latency(limit),
            );
            this.applied.idle_latency = held.as_ref().map(IdleLatencyHold::limit);
            this.idle_latency = held;
        }
        if let Some((least, most)) = plan.utilization_clamp {
            let clamped = this.note(
                format_args!("utilisation clamped to {least} to {most}"),
                host.utilization_clamp_set(least, most),
            );
            this.applied.utilization_clamp = clamped.map(|()| (least, most));
        }
        if let Err(error) = host.prefault_stack(STACK_BYTES) {
            this.applied.unavailable.push(degraded("prefaulted stack", &error));
        }
        this.read_back();
        this
    }

    fn lock_memory(&mut self, plan: &TrialPlan) {
        if plan.lock_memory {
            self.applied.locked_bytes = self.note("locked memory", self.host.lock_memory());
            self.locked = self.applied.locked_bytes.is_some();
        }
    }

    /// What this thread has now, whether it was asked for or not.
    fn read_back(&mut self) {
        let cpus = self.host.affinity_get();
        self.applied.cpus = cpus.map(|cpus| cpus.iter().collect()).unwrap_or_default();
        self.applied.scheduling = self.host.scheduling_get().ok();
        self.applied.timer_slack = self.host.timer_slack_get().ok();
    }

    /// Keeps the value of a call, or notes why there is none.
    fn note<T, E: Diagnostic + Display>(
        &mut self,
        setting: impl Display,
        result: Result<T, E>,
    ) -> Option<T> {
        result.map_err(|error| self.applied.degraded.push(degraded(setting, &error))).ok()
    }
}

impl Drop for Settings<'_> {
    fn drop(&mut self) {
        if self.locked {
            // Nothing can be done about a failure, and nothing depends on it.
            let _ = self.host.unlock_memory();
        }
    }
}

/// Why `setting` was not applied.
pub(super) fn degraded(setting: impl Display, error: &(impl Diagnostic + Display)) -> Degraded {
    Degraded {
        setting: setting.to_string(),
        reason: error.to_string(),
        hint: error.hint().unwrap_or_default(),
    }
}
