//! From a work item's release until it is done.

use std::collections::BTreeMap;

use serde::Serialize;

use super::distribution::Distribution;
use crate::Missing;
use crate::recording::{Recording, Task};

/// The latencies of one task's work items.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemLatency {
    /// The task.
    pub task: Task,
    /// From release to done; none where no item was done.
    pub latency: Option<Distribution>,
    /// Items that were released and not seen done.
    pub unfinished: u64,
    /// Done items with a deadline.
    pub with_deadline: u64,
    /// Those of them that were done after it.
    pub missed: u64,
}

impl ItemLatency {
    /// Of every task with work items, ascending in number.
    ///
    /// # Errors
    /// No work item in the span.
    pub fn all(recording: &Recording<'_>) -> Result<Vec<ItemLatency>, Missing> {
        let mut found = BTreeMap::<u32, (Vec<u64>, ItemLatency)>::new();
        for item in recording.items() {
            let (latencies, answer) =
                found.entry(item.tid).or_insert_with(|| (Vec::new(), empty(recording, item.tid)));
            let Some(ended) = item.ended_ns else {
                answer.unfinished += 1;
                continue;
            };
            latencies.push(ended.saturating_sub(item.released_ns));
            if let Some(deadline) = item.deadline_ns {
                answer.with_deadline += 1;
                answer.missed += u64::from(ended > deadline);
            }
        }
        if found.is_empty() {
            return Err(Missing::rows("work items", "items"));
        }
        let finish =
            |(latencies, answer)| ItemLatency { latency: Distribution::of(latencies), ..answer };
        Ok(found.into_values().map(finish).collect())
    }
}

fn empty(recording: &Recording<'_>, tid: u32) -> ItemLatency {
    ItemLatency {
        task: recording.task(tid),
        latency: None,
        unfinished: 0,
        with_deadline: 0,
        missed: 0,
    }
}
