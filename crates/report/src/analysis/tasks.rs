//! Who ran in runs with scheduler events.

use super::RunData;
use flyball_events::Recording;
use flyball_events::questions::CpuTime;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Whether some run has a task of this name, number or name-number.
///
/// # Errors
/// None has: the names of the `most` tasks that ran longest.
pub fn find(wanted: &str, runs: &[RunData], most: usize) -> Result<(), Vec<String>> {
    let mut ran = BTreeMap::<String, u64>::new();
    for run in runs {
        let recording = Recording::new(&run.tables, &run.manifest, None);
        if recording.find(wanted).is_ok() {
            return Ok(());
        }
        for time in CpuTime::all(&recording).unwrap_or_default().iter().flat_map(|cpu| &cpu.tasks) {
            *ran.entry(time.task.name.clone()).or_default() += time.ran_ns;
        }
    }
    let mut names: Vec<(String, u64)> = ran.into_iter().collect();
    names.sort_by_key(|(_, ran_ns)| Reverse(*ran_ns));
    Err(names.into_iter().take(most).map(|(name, _)| name).collect())
}
