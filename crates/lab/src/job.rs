//! A job: a protocol with its conditions and its seed, as one file. The guest of a board is handed
//! it and leaves a run directory.

use crate::experiment::Experiment;
use crate::machine::MachineError;
use crate::protocol::{rampup, switches, windows};
use crate::session::{Destination, EventRecorder, Origin, Outcome, Progress, SideRecorder};
use flyball_capture::trace::Group;
use flyball_host::Host;
use flyball_units::{Mismatch, Nanos};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Groups of scheduler events to record meanwhile; all that the kernel has where the list is
    /// empty, no events where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
    /// The protocol.
    pub protocol: Protocol,
}

/// A protocol with its conditions and its seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Windows of workloads under conditions.
    Windows(Box<Experiment>),
    /// Ramp-ups.
    Rampup(rampup::plan::Plan),
    /// Frequency switches.
    Switches(switches::methods::Plan),
}

impl Protocol {
    /// The kind of run that it leaves.
    pub fn kind(&self) -> &'static str {
        match self {
            Protocol::Windows(_) => "bench",
            Protocol::Rampup(_) => "rampup",
            Protocol::Switches(_) => "transition",
        }
    }
}

/// A guest that goes on measuring switches is given up then.
const MOST_TIME: Nanos = Nanos::from_secs(4 * 3600);

impl Job {
    /// Reads one.
    ///
    /// # Errors
    /// A text that is none.
    pub fn read(text: &str) -> Result<Job, Mismatch> {
        toml::from_str(text).map_err(|error| Mismatch::value("a job", error.message()))
    }

    /// When a guest that is still at it is given up: guests are slow to start programs, to
    /// calibrate and to write. `windows` is how long the windows take, where it measures some.
    pub(crate) fn patience(&self, windows: Option<Nanos>) -> Nanos {
        let slow =
            |time: Nanos, times: u64| Nanos(time.0.saturating_mul(times)) + Nanos::from_secs(600);
        match &self.protocol {
            Protocol::Windows(_) => slow(windows.unwrap_or_default(), 3),
            Protocol::Rampup(plan) => slow(plan.duration(), 4),
            Protocol::Switches(_) => MOST_TIME,
        }
    }

    /// Does it on this computer.
    ///
    /// # Errors
    /// Those of the protocol, and of the capture of events.
    pub fn run(
        self,
        host: &Arc<dyn Host>,
        destination: &Destination,
        origin: &Origin,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, MachineError> {
        let groups = self.events.as_deref().map(groups).transpose()?;
        match self.protocol {
            Protocol::Windows(experiment) => {
                let context = windows::Context { folder: None, origin: origin.clone() };
                let prepared = windows::prepare(host, *experiment, &context)?;
                progress.planned(
                    prepared.plan.trials.len(),
                    "trials",
                    prepared.duration(),
                    &prepared.plan.order(),
                );
                recorded(host, destination, groups, progress, |progress, side| {
                    Ok(windows::run(host, prepared, destination, progress, side)?)
                })
            }
            Protocol::Rampup(plan) => {
                let prepared = rampup::live::prepare(host, plan, origin)?;
                let plan = prepared.plan();
                progress.planned(plan.spins(), "ramp-ups", plan.duration(), "");
                recorded(host, destination, groups, progress, |progress, side| {
                    Ok(rampup::live::run(host, prepared, destination, progress, side)?)
                })
            }
            Protocol::Switches(plan) => {
                Ok(switches::run::host(host, &plan, destination, origin, progress)?)
            }
        }
    }
}

/// The groups of these names; none where there are no names: all that the kernel has.
fn groups(names: &[String]) -> Result<Option<Vec<Group>>, MachineError> {
    let list = || Group::parse_list(&names.join(",")).map(Some);
    match names.is_empty() {
        true => Ok(None),
        false => list().map_err(|expected| MachineError::Events { expected }),
    }
}

/// Runs `measure` while events of `groups` are captured, where there are groups to capture.
///
/// # Errors
/// Those of `measure`; a capture that cannot start; tracefs that is not as it was.
pub fn recorded(
    host: &Arc<dyn Host>,
    destination: &Destination,
    groups: Option<Option<Vec<Group>>>,
    progress: &mut dyn Progress,
    measure: impl FnOnce(
        &mut dyn Progress,
        Option<&mut dyn SideRecorder>,
    ) -> Result<Outcome, MachineError>,
) -> Result<Outcome, MachineError> {
    let Some(groups) = groups else { return measure(progress, None) };
    let mut recorder = EventRecorder::start(host, destination, groups)?;
    for note in recorder.notes() {
        progress.note(&format!("trace: {note}"));
    }
    let outcome = measure(progress, Some(&mut recorder))?;
    for note in recorder.notes() {
        progress.note(&format!("trace: {note}"));
    }
    recorder.restored()?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::rampup::plan::{Condition, Plan};
    use flyball_control::Settings;

    #[test]
    fn every_protocol_is_the_same_behind_its_file() {
        let mut settings = Settings::default();
        settings.set("epp", "power").unwrap();
        settings.set("rate_limit_us", "70").unwrap();
        let condition = Condition {
            name: "a".to_owned(),
            sleeps: 3,
            gaps: vec![Nanos::from_millis(1), Nanos::from_secs(1)],
            settings,
            cpus: None,
        };
        let rampup = Plan {
            repeats: 20,
            spin: Nanos::from_millis(200),
            seed: 7,
            conditions: vec![condition.clone(), Condition { name: "b".to_owned(), ..condition }],
        };
        let experiment = crate::experiment::quick().unwrap();
        for protocol in [
            Protocol::Windows(Box::new(experiment)),
            Protocol::Rampup(rampup),
            Protocol::Switches(switches::methods::Plan::default()),
        ] {
            for events in [None, Some(Vec::new()), Some(vec!["sched".to_owned()])] {
                let job = Job { events, protocol: protocol.clone() };
                let text = toml::to_string(&job).unwrap();
                assert_eq!(Job::read(&text).unwrap(), job, "{text}");
            }
        }
    }

    #[test]
    fn groups_are_read_or_left_to_the_kernel() {
        assert!(groups(&[]).unwrap().is_none());
        assert_eq!(groups(&["sched".to_owned()]).unwrap(), Some(vec![Group::Sched]));
        assert!(groups(&["nonsense".to_owned()]).is_err());
    }
}
