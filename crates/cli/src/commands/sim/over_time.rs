//! What a figure over time shows: the recorded phase, and other runs beside it.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_events::Recording;
use flyball_report::timeline::{Ask, RunView};
use flyball_run::Run;
use flyball_sim::scenario::Scenario;
use flyball_sim::text::governors;
use std::path::{Path, PathBuf};

/// The runs to be drawn beside, opened before anything is simulated.
pub fn open(dirs: &[PathBuf]) -> Result<Vec<(String, Run)>, Failure> {
    let named = |dir: &PathBuf| {
        let name = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned();
        Ok((name, Run::open(dir)?))
    };
    dirs.iter().map(named).collect()
}

/// The recorded phase first, then the others by their directories' names.
pub fn views(
    scenario: &Scenario,
    dir: &Path,
    beside: &[(String, Run)],
) -> Result<Vec<RunView>, Failure> {
    let run = Run::open(dir)?;
    let wanted = scenario.tasks.first().map(|task| task.name.as_str());
    let name = format!("{}: {}", scenario.name, governors(scenario));
    let own = view(name, &Recording::of_trial(&run, scenario.record_phase), wanted);
    let others = beside.iter().map(|(name, run)| {
        let recording = match Recording::trials(run).first() {
            Some(trial) => Recording::of_trial(run, *trial),
            None => Recording::of(run),
        };
        view(name.clone(), &recording, wanted)
    });
    std::iter::once(own).chain(others).collect()
}

/// Looks at the task of that name; at the one that ran longest where there is none, as in workloads
/// that name their tasks themselves.
fn view(name: String, recording: &Recording<'_>, wanted: Option<&str>) -> Result<RunView, Failure> {
    let task = wanted.filter(|name| recording.find(name).is_ok()).map(str::to_owned);
    RunView::of(name, recording, &Ask { task, ..Ask::default() })
        .map_err(|missing| Failure::new(Exit::InvalidRun, missing))
}
