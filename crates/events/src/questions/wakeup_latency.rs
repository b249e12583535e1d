//! From a task's wake-up until it runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::distribution::Distribution;
use crate::Missing;
use crate::recording::{Recording, Task, Woken};

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
        let mut woken = BTreeMap::<u32, Vec<Woken>>::new();
        for wakeup in recording.wakeups() {
            woken.entry(wakeup.tid).or_default().push(wakeup);
        }
        if woken.is_empty() {
            return Err(Missing::rows("wake-ups", "wakeups"));
        }
        Ok(woken.into_iter().map(|(tid, woken)| latency(recording, tid, &woken)).collect())
    }

    /// Of one task.
    ///
    /// # Errors
    /// No wake-up of it in the span.
    pub fn of(recording: &Recording<'_>, tid: u32) -> Result<WakeupLatency, Missing> {
        let woken: Vec<Woken> = recording.wakeups().filter(|wakeup| wakeup.tid == tid).collect();
        if woken.is_empty() {
            let task = recording.task(tid);
            return Err(Missing::rows(format!("task {} ({tid})", task.name), "wakeups"));
        }
        Ok(latency(recording, tid, &woken))
    }
}

fn latency(recording: &Recording<'_>, tid: u32, woken: &[Woken]) -> WakeupLatency {
    let (mut unfinished, mut lost) = (0, 0);
    let mut latencies = Vec::with_capacity(woken.len());
    for wakeup in woken {
        match wakeup.ran_ns {
            None => unfinished += 1,
            Some(ran) if recording.gaps().touch(wakeup.t_ns, ran) => lost += 1,
            Some(ran) => latencies.push(ran.saturating_sub(wakeup.t_ns)),
        }
    }
    let latency = Distribution::of(latencies);
    WakeupLatency { task: recording.task(tid), latency, unfinished, lost }
}
