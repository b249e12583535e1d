//! The measurement on this machine and on a model: domain after domain into one run directory.

use crate::machine::describe::describe;
use crate::protocol::switches::TransitionError;
use crate::protocol::switches::live::{self, Control, Live, board_notes};
use crate::protocol::switches::methods::{self, Plan};
use crate::protocol::switches::model::{self, Model};
use crate::protocol::switches::record::Recorder;
use crate::session::{Destination, Origin, Outcome, Progress, seconds};
use flyball_control::{Machine, state_folder};
use flyball_host::{Host, Policy, Topology};
use flyball_platform::{ClockDomain, Platform};
use flyball_run::name::rfc3339;
use flyball_units::{CpuId, Mismatch};
use std::sync::Arc;

/// How each domain of this machine would be switched.
///
/// # Errors
/// As [`Control::of`].
pub fn controls(machine: &Machine, plan: &Plan) -> Result<Vec<Control>, TransitionError> {
    let one_of = |policy: &Policy| {
        let online = || policy.cpus.iter().filter(|cpu| machine.online.contains(*cpu));
        // Most interrupts land on CPU 0.
        online().find(|cpu| cpu.0 != 0).or_else(|| online().next())
    };
    let cpus: Vec<CpuId> = match plan.cpu {
        Some(cpu) => vec![cpu],
        None if machine.policies.is_empty() => vec![CpuId(0)],
        None => machine.policies.iter().filter_map(one_of).collect(),
    };
    cpus.into_iter().map(|cpu| Control::of(machine, cpu, &plan.levels)).collect()
}

/// What would be written on this machine, and what then restored, as text.
///
/// # Errors
/// A machine that cannot switch.
pub fn planned(host: &dyn Host, plan: &Plan) -> Result<String, TransitionError> {
    let machine = live::machine(host)?;
    let mut text = String::new();
    for control in controls(&machine, plan)? {
        let steps = control.steps(&machine)?;
        for step in steps.all().filter(|step| step.is_change()) {
            let old = if step.old.is_empty() { String::new() } else { format!("{} -> ", step.old) };
            text += &format!("{}: {old}{}\n", step.path.display(), step.new);
        }
        let levels: Vec<String> = control.levels.iter().map(|khz| khz.0.to_string()).collect();
        text += &format!(
            "{}: {}, in turn, by {}; then all of this is restored\n",
            control.path.display(),
            levels.join(", "),
            control.cpu
        );
        for note in control.notes.iter().chain(&steps.notes) {
            text += &format!("note: {note}\n");
        }
    }
    Ok(text)
}

/// On this machine.
///
/// # Errors
/// A machine that cannot switch, or that refuses; what had been measured is kept.
pub fn host(
    host: &Arc<dyn Host>,
    plan: &Plan,
    destination: &Destination,
    origin: &Origin,
    progress: &mut dyn Progress,
) -> Result<Outcome, TransitionError> {
    let machine = live::machine(host.as_ref())?;
    let controls = controls(&machine, plan)?;
    let looking = |source| TransitionError::Host { doing: "looking at the machine", source };
    let topology = Topology::discover(host.as_ref()).map_err(looking)?;
    // Permission and control first: a run directory of nothing helps nobody.
    let Some(first) = controls.first() else {
        return Err(TransitionError::Unsupported(
            Mismatch::value("a clock domain", "none online").at("this machine"),
        ));
    };
    let mut ready = Some(Live::start(host, &state_folder(host.as_ref()), first.clone())?);
    let machine = describe(&topology, host.as_ref());
    let about = (machine, "monotonic", rfc3339(seconds(host.as_ref())));
    let planned = controls.iter().map(|control| plan.measurements(control.levels.len())).sum();
    let seed_and_count = (plan.seed, planned);
    let mut recorder =
        Recorder::create(host.as_ref(), destination, origin, about, seed_and_count, progress)?;
    for note in board_notes(host.as_ref()) {
        recorder.note("board", &note)?;
    }
    let measured = controls
        .iter()
        .try_for_each(|control| one_domain(host, ready.take(), control, plan, &mut recorder));
    recorder.finish(measured)
}

/// One clock domain, taken over and given back.
fn one_domain(
    host: &Arc<dyn Host>,
    ready: Option<Live>,
    control: &Control,
    plan: &Plan,
    recorder: &mut Recorder<'_>,
) -> Result<(), TransitionError> {
    let mut live = match ready {
        Some(live) => live,
        None => Live::start(host, &state_folder(host.as_ref()), control.clone())?,
    };
    for note in &control.notes {
        recorder.note("control", note)?;
    }
    let measured = methods::run(&mut live, plan, recorder);
    for note in live.end()? {
        recorder.note("control", &note)?;
    }
    measured
}

/// On a platform of the model, in virtual time. `host` gives the time in the directory's name.
///
/// # Errors
/// A CPU that the platform does not have; a full disk.
pub fn model(
    host: &dyn Host,
    platform: &Platform,
    plan: &Plan,
    destination: &Destination,
    origin: &Origin,
    progress: &mut dyn Progress,
) -> Result<Outcome, TransitionError> {
    let of_cpu = |cpus: &[CpuId]| plan.cpu.is_none_or(|cpu| cpus.contains(&cpu));
    let domains: Vec<_> = platform.domains.iter().filter(|domain| of_cpu(&domain.cpus)).collect();
    if domains.is_empty() {
        return Err(TransitionError::BadInput(
            Mismatch::value("a CPU of it", plan.cpu.unwrap_or_default()).at(platform.name.clone()),
        ));
    }
    let name = format!("model:{}", platform.name);
    let origin = Origin {
        // The command that repeats the run anywhere.
        command: ["flyball", "transition", "--machine", &name].map(str::to_owned).to_vec(),
        flyball: origin.flyball.clone(),
    };
    let about = (model::describe(platform), "virtual", String::new());
    let levels = |domain: &ClockDomain| match plan.levels.len() {
        0 => domain.points.len(),
        chosen => chosen,
    };
    let planned = domains.iter().map(|domain| plan.measurements(levels(domain))).sum();
    let seed_and_count = (plan.seed, planned);
    let mut recorder =
        Recorder::create(host, destination, &origin, about, seed_and_count, progress)?;
    let measured = domains.into_iter().try_for_each(|domain| {
        Model::new(domain).and_then(|mut model| methods::run(&mut model, plan, &mut recorder))
    });
    recorder.finish(measured)
}
