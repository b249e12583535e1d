//! `flyball sim --machine host`: a scenario's tasks as real threads on this machine.

use crate::args::{CheckFormat, SimArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{flags, machine, output, runs};
use flyball_capture::trace::Group;
use flyball_host::{Host, Topology};
use flyball_lab::machine::describe::describe;
use flyball_lab::protocol::score::{BEGIN, Basis, END, PlayError, Played, Score, Speed, play};
use flyball_lab::session::{Destination, EventRecorder, SideRecorder};
use flyball_run::manifest::{ClockRecord, WorkloadRecord};
use flyball_run::{Manifest, Note, RunState, RunWriter};
use flyball_sim::record::spread;
use flyball_sim::scenario::Scenario;
use flyball_units::CpuSet;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

pub fn run(args: &SimArgs, scenario: Scenario, talk: Talk) -> Result<Exit, Failure> {
    for (given, flag) in [
        (!args.sweep.is_empty(), "--sweep"),
        (args.phases.is_some(), "--phases"),
        (args.record.is_some(), "--record"),
        (args.figure.is_some(), "--figure"),
        (args.governor.is_some(), "--governor"),
    ] {
        if given {
            let text = format!("{flag}: expected a model, found --machine host");
            return Err(Failure::new(Exit::Usage, text));
        }
    }
    let groups = args.trace.as_deref().map(flags::groups).transpose()?;
    let host = machine::real();
    host.catch_interrupts()?;
    let topology = Topology::discover(host.as_ref())?;
    let usable = topology.online.intersection(&host.affinity_get()?);
    // Refused before anything is measured or made.
    Score::new(&scenario, 0, &usable)?;
    let speed = Speed::of(host.as_ref(), &scenario.platform, fastest(&topology, &usable)?)?;
    let stage = Stage { host, topology, usable, scenario, speed, groups };
    let mut played = Vec::new();
    for number in 0..args.repeats.map_or(1, u32::from) {
        let destination = match (&args.out, args.repeats) {
            (Some(dir), Some(_)) => Destination::Dir(dir.join((number + 1).to_string())),
            (Some(dir), None) => Destination::Dir(dir.clone()),
            (None, _) => Destination::Below(PathBuf::from(runs::RUNS)),
        };
        let (dir, result) = stage.once(number, &destination, talk)?;
        let interrupted = result.interrupted;
        played.push((dir, result));
        if interrupted {
            break;
        }
    }
    output::data(&match args.format {
        CheckFormat::Text => text(&stage.scenario, &played),
        CheckFormat::Json => {
            let list: Vec<Value> = played.iter().map(|(dir, played)| value(dir, played)).collect();
            format!("{:#}\n", json!({ "scenario": stage.scenario.name, "played": list }))
        }
    })?;
    let interrupted = played.iter().any(|(_, played)| played.interrupted);
    Ok(if interrupted { Exit::Interrupted } else { Exit::Ok })
}

/// A CPU of the fastest kind that this program may use.
fn fastest(topology: &Topology, usable: &CpuSet) -> Result<flyball_units::CpuId, Failure> {
    let kinds = topology.core_types.iter().map(|kind| kind.cpus.intersection(usable));
    let first = kinds.filter_map(|cpus| cpus.first()).next().or(usable.first());
    first.ok_or_else(|| {
        Failure::new(Exit::Unsupported, "expected a CPU that may be used, found none")
    })
}

/// What every repeat has in common.
struct Stage {
    host: Arc<dyn Host>,
    topology: Topology,
    usable: CpuSet,
    scenario: Scenario,
    speed: Speed,
    groups: Option<Option<Vec<Group>>>,
}

impl Stage {
    /// Plays it once, into a run directory of its own.
    fn once(
        &self,
        number: u32,
        destination: &Destination,
        talk: Talk,
    ) -> Result<(PathBuf, Played), Failure> {
        let host = self.host.as_ref();
        let score = Score::new(&self.scenario, number, &self.usable)?;
        let mut trace = match &self.groups {
            Some(groups) => Some(EventRecorder::start(&self.host, destination, groups.clone())?),
            None => None,
        };
        let seconds = runs::seconds(host);
        let mut manifest = self.manifest(seconds, score.seed);
        let tell = |recorder: &EventRecorder| {
            for note in recorder.notes().iter().filter(|_| !talk.quiet) {
                output::talk(&format!("trace: {note}"));
            }
        };
        trace.iter().for_each(tell);
        let mut writer = destination.begin(host, &manifest)?;
        for claimed in flyball_lab::machine::describe::claimed(&self.topology, host) {
            writer.frequency(&claimed)?;
        }
        let played = play(&self.host, score, self.speed)?;
        manifest.state =
            if played.interrupted { RunState::Interrupted } else { RunState::Complete };
        self.rows(&mut writer, &played)?;
        if let Some(trace) = &mut trace {
            let checks = trace.finish(&mut writer, &mut manifest)?;
            manifest.checks.extend(checks);
        }
        let dir = writer.finish(&manifest)?;
        trace.iter().for_each(tell);
        trace.map_or(Ok(()), |trace| trace.restored())?;
        Ok((dir, played))
    }

    fn manifest(&self, seconds: u64, seed: u64) -> Manifest {
        let workload = |task: &flyball_sim::scenario::TaskSpec| WorkloadRecord {
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
            seed: Some(seed),
            experiment: Some(self.scenario.text.clone()),
            machine: Some(describe(&self.topology, self.host.as_ref())),
            workloads: self.scenario.tasks.iter().map(workload).collect(),
            clocks: ["frequency", "items", "markers", "notes"].map(clock).to_vec(),
            ..runs::manifest("play", seconds)
        }
    }

    /// What was done, and what work was taken to be.
    fn rows(&self, writer: &mut RunWriter, played: &Played) -> Result<(), Failure> {
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
        for at in [(played.begin, BEGIN), (played.end, END)] {
            writer.append(&flyball_run::Marker {
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

/// One line per task, then where the runs are.
fn text(scenario: &Scenario, played: &[(PathBuf, Played)]) -> String {
    let mut text = format!(
        "{} on this machine, {} s{}\n\n{:<24}{:>8}{:>14}{:>14}{:>14}\n",
        scenario.name,
        scenario.duration.as_secs_f64(),
        if played.len() > 1 { format!(", {} times", played.len()) } else { String::new() },
        "task",
        "items",
        "median ms",
        "p99 ms",
        "largest ms"
    );
    let Some((_, first)) = played.first() else { return text };
    for player in &first.players {
        let items: Vec<f64> = played
            .iter()
            .flat_map(|(_, played)| &played.players)
            .filter(|other| other.name == player.name)
            .flat_map(|player| &player.items)
            .filter_map(|item| item.latency_ns)
            .map(|latency| latency as f64 / 1e6)
            .collect();
        let _ = write!(text, "{:<24}{:>8}", player.name, items.len());
        match spread(items) {
            Some(of) => {
                let _ = writeln!(text, "{:>14.3}{:>14.3}{:>14.3}", of.median, of.p99, of.max);
            }
            None => {
                let _ = writeln!(text, "{:>14}{:>14}{:>14}", "-", "-", "-");
            }
        }
    }
    text.push('\n');
    for (dir, _) in played {
        let _ = writeln!(text, "Run   {}", dir.display());
    }
    text
}

fn value(dir: &std::path::Path, played: &Played) -> Value {
    let players: Vec<Value> = played
        .players
        .iter()
        .map(|player| {
            let done = player.items.iter().filter(|item| item.ended_ns.is_some()).count();
            let responses = player.items.iter().filter_map(|item| item.latency_ns);
            json!({
                "task": player.name, "tid": player.tid, "began_ns": player.began.0,
                "items": player.items.len(), "done": done,
                "response_ns": spread(responses.map(|latency| latency as f64)),
            })
        })
        .collect();
    json!({
        "run": dir, "begin_ns": played.begin.0, "end_ns": played.end.0,
        "interrupted": played.interrupted, "tasks": players,
    })
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Failure {
        let exit = match &error {
            PlayError::Unplayable { .. } => Exit::BadInput,
            PlayError::Host { .. } => Exit::Unsupported,
        };
        Failure::new(exit, &error).maybe_hint(error.hint())
    }
}
