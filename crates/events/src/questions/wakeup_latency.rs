//! From a task's wake-up until it runs.

use serde::Serialize;

use super::distribution::Distribution;
use crate::Missing;
use crate::recording::{Recording, Task};

/// The wake-up latencies of one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WakeupLatency {
    /// The task.
    pub task: Task,
    /// The latencies; none where no wake-up was seen to its end.
    pub latency: Option<Distribution>,
    /// Wake-ups after which the task was not seen to run.
    pub unfinished: u64,
    /// Wake-ups during which events were lost: left out, for what ended them may have been
    /// another one.
    pub lost: u64,
}

impl WakeupLatency {
    /// Of every task that woke up, ascending in number.
    ///
    /// # Errors
    /// No wake-up in the span.
    pub fn all(recording: &Recording<'_>) -> Result<Vec<WakeupLatency>, Missing> {
        let of = |tid: u32| WakeupLatency::of(recording, tid).ok();
        let found: Vec<WakeupLatency> = recording.seen().into_iter().filter_map(of).collect();
        if found.is_empty() {
            return Err(Missing::rows("wake-ups", "wakeups"));
        }
        Ok(found)
    }

    /// Of one task.
    ///
    /// # Errors
    /// No wake-up of it in the span.
    pub fn of(recording: &Recording<'_>, tid: u32) -> Result<WakeupLatency, Missing> {
        let (mut unfinished, mut lost, mut latencies) = (0, 0, Vec::new());
        for wakeup in recording.wakeups_of(tid) {
            match wakeup.ran_ns {
                None => unfinished += 1,
                Some(ran) if recording.gaps().touch(wakeup.t_ns, ran) => lost += 1,
                Some(ran) => latencies.push(ran.saturating_sub(wakeup.t_ns)),
            }
        }
        let task = recording.task(tid);
        if unfinished + lost == 0 && latencies.is_empty() {
            return Err(Missing::rows(format!("task {} ({tid})", task.name), "wakeups"));
        }
        let latency = Distribution::of(latencies);
        Ok(WakeupLatency { task, latency, unfinished, lost })
    }
}
