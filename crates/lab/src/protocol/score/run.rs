//! A scenario on this computer, into a run directory.

use crate::machine::MachineError;
use crate::machine::describe::{claimed, describe};
use crate::protocol::score::{BEGIN, Basis, END, PlayError, Played, Score, Speed, play};
use crate::session::{Destination, Origin, Outcome, SideRecorder, seconds};
use flyball_host::{Host, Topology};
use flyball_qos::{By, backend};
use flyball_run::manifest::{ClockRecord, PlanRecord, WorkloadRecord};
use flyball_run::name::rfc3339;
use flyball_run::{Manifest, Marker, Note, RunState, RunWriter};
use flyball_sim::scenario::{Scenario, TaskSpec};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::sync::Arc;

/// A scenario that is ready to be played, as often as is wanted.
pub struct PreparedScore {
    host: Arc<dyn Host>,
    topology: Topology,
    usable: CpuSet,
    scenario: Scenario,
    speed: Speed,
    origin: Origin,
}

impl PreparedScore {
    /// Checks a scenario against this computer, and measures what a cycle of its work is here.
    ///
    /// # Errors
    /// A scenario that this computer can't play, or one that tells nothing of itself.
    pub fn new(
        host: &Arc<dyn Host>,
        scenario: Scenario,
        origin: Origin,
    ) -> Result<PreparedScore, MachineError> {
        let topology = Topology::discover(host.as_ref())?;
        let usable = topology.online.intersection(&host.affinity_get()?);
        // Refused before anything is measured or made.
        if Score::new(&scenario, 0, &usable)?.ramp.is_some() {
            // By limits, others would be as fast: it would be another playing than the scenario's.
            backend(host.as_ref(), By::Clamps).map_err(PlayError::from)?;
        }
        let fastest = fastest(&topology, &usable).ok_or(PlayError::NoCpu)?;
        let speed = Speed::of(host.as_ref(), &scenario.platform, fastest)?;
        Ok(PreparedScore { host: Arc::clone(host), topology, usable, scenario, speed, origin })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Plays it, with the random choices of this repeat, while `side` records.
    ///
    /// # Errors
    /// A task that this computer refuses; a full disk.
    pub fn play(
        &self,
        repeat: u32,
        destination: &Destination,
        side: Option<&mut dyn SideRecorder>,
    ) -> Result<(Outcome, Played), MachineError> {
        let host = self.host.as_ref();
        let score = Score::new(&self.scenario, repeat, &self.usable)?;
        let mut manifest = self.manifest(score.seed);
        let mut writer = destination.begin(host, &manifest)?;
        for claimed in claimed(&self.topology, host) {
            writer.frequency(&claimed)?;
        }
        let played = play(&self.host, score, self.speed)?;
        manifest.state =
            if played.interrupted { RunState::Interrupted } else { RunState::Complete };
        manifest.did(millis(host.now().min(played.end).since(played.begin)));
        self.rows(&mut writer, &played)?;
        if let Some(side) = side {
            let checks = side.finish(&mut writer, &mut manifest)?;
            manifest.checks.extend(checks);
        }
        let dir = writer.finish(&manifest)?;
        Ok((Outcome { dir, state: manifest.state, invalid: Vec::new() }, played))
    }

    fn manifest(&self, seed: u64) -> Manifest {
        let workload = |task: &TaskSpec| WorkloadRecord {
            name: task.name.clone(),
            deadline_ns: task.deadline.map(|deadline| deadline.0),
            ..WorkloadRecord::default()
        };
        let clock = |table: &str| ClockRecord {
            table: table.to_owned(),
            clock: "monotonic".to_owned(),
            ..ClockRecord::default()
        };
        Manifest {
            kind: "play".to_owned(),
            plan: PlanRecord::time(Some(self.scenario.duration)),
            created: rfc3339(seconds(self.host.as_ref())),
            command: self.origin.command.clone(),
            flyball: self.origin.flyball.clone(),
            seed: Some(seed),
            experiment: Some(self.scenario.text.clone()),
            machine: Some(describe(&self.topology, self.host.as_ref())),
            workloads: self.scenario.tasks.iter().map(workload).collect(),
            clocks: ["frequency", "items", "markers", "notes"].map(clock).to_vec(),
            ..Manifest::default()
        }
    }

    /// What was done, and what work was taken to be.
    fn rows(&self, writer: &mut RunWriter, played: &Played) -> flyball_run::Result<()> {
        let basis = match self.speed.basis {
            Basis::Board => "by the board's instructions per cycle",
            Basis::Measured => "the best seen",
        };
        writer.note(&Note {
            t_ns: Some(played.begin.0),
            severity: "info".to_owned(),
            object: "work".to_owned(),
            message: format!(
                "a millisecond of the fastest CPU at its highest frequency is {:.0} dependent \
                 multiplications ({basis})",
                self.speed.per_ms
            ),
            hint: None,
        })?;
        if let Some(error) = &played.cgroups.left {
            writer.note(&Note {
                t_ns: Some(played.end.0),
                severity: "warning".to_owned(),
                object: "cgroup".to_owned(),
                message: format!("a control group of the playing is left: {error}"),
                hint: Some("the next playing with control groups removes it".to_owned()),
            })?;
        }
        for (name, counted) in &played.cgroups.groups {
            writer.note(&Note {
                t_ns: Some(played.end.0),
                severity: "info".to_owned(),
                object: format!("cgroup {name}"),
                message: counted.clone(),
                hint: None,
            })?;
        }
        for at in [(played.begin, BEGIN), (played.end, END)] {
            writer.append(&Marker {
                t_ns: at.0.0,
                cpu: None,
                tid: None,
                task: None,
                name: at.1.to_owned(),
                trial: None,
            })?;
        }
        for player in &played.players {
            for mark in &player.marks {
                writer.append(mark)?;
            }
            for item in &player.items {
                writer.append(item)?;
            }
        }
        Ok(())
    }
}

fn millis(time: Nanos) -> usize {
    (time.0 / 1_000_000) as usize
}

/// A CPU of the fastest kind that this program may use.
fn fastest(topology: &Topology, usable: &CpuSet) -> Option<CpuId> {
    let kinds = topology.core_types.iter().map(|kind| kind.cpus.intersection(usable));
    kinds.filter_map(|cpus| cpus.first()).next().or(usable.first())
}
