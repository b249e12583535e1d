//! Measuring on this machine, or on a model.

use super::super::report::RUNS;
use super::show::{self, Shown};
use crate::args::{Talk, TransitionArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{hosts, output};
use flyball_control::{Machine, state_folder};
use flyball_host::{Host, Topology};
use flyball_lab::protocol::switches::TransitionError;
use flyball_lab::protocol::switches::live::{self, Control, Live, board_notes};
use flyball_lab::protocol::switches::methods::{self, Plan};
use flyball_lab::protocol::switches::model::{self, Model};
use flyball_lab::protocol::switches::record::{About, Recorder};
use flyball_lab::{Board, GuestRows};
use flyball_platform::Platform;
use flyball_run::manifest::Flyball;
use flyball_run::name::rfc3339;
use flyball_run::{Run, RunState, new_dir_below};
use flyball_units::{CpuId, Nanos};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// When a guest that goes on measuring is given up.
const MOST_TIME: Nanos = Nanos::from_secs(4 * 3600);

/// How each domain of this machine would be switched.
fn controls(
    machine: &Machine,
    args: &TransitionArgs,
    plan: &Plan,
) -> Result<Vec<Control>, Failure> {
    let one_of = |policy: &flyball_host::Policy| {
        let online = || policy.cpus.iter().filter(|cpu| machine.online.contains(*cpu));
        // Most interrupts land on CPU 0.
        online().find(|cpu| cpu.0 != 0).or_else(|| online().next())
    };
    let cpus: Vec<CpuId> = match args.cpu {
        Some(cpu) => vec![CpuId(cpu)],
        None if machine.policies.is_empty() => vec![CpuId(0)],
        None => machine.policies.iter().filter_map(one_of).collect(),
    };
    let mut controls = Vec::new();
    for cpu in cpus {
        controls.push(Control::of(machine, cpu, &plan.levels)?);
    }
    Ok(controls)
}

/// `--dry-run`: the files and what they get.
pub fn dry_run(host: &dyn Host, args: &TransitionArgs, plan: &Plan) -> Result<Exit, Failure> {
    let machine = live::machine(host)?;
    let mut text = String::new();
    for control in controls(&machine, args, plan)? {
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
    output::data(&text)?;
    Ok(Exit::Ok)
}

/// On this machine.
pub fn host(
    host: &Arc<dyn Host>,
    args: &TransitionArgs,
    plan: &Plan,
    shown: &Shown<'_>,
    talk: Talk,
) -> Result<Exit, Failure> {
    let machine = live::machine(host.as_ref())?;
    let controls = controls(&machine, args, plan)?;
    host.catch_interrupts()?;
    let topology = Topology::discover(host.as_ref())?;
    let seconds = host.realtime().0 / 1_000_000_000;
    let about = About {
        created: rfc3339(seconds),
        command: crate::command_line(),
        flyball: flyball(),
        machine: flyball_lab::machine::describe::describe(&topology, host.as_ref()),
        clock: "monotonic".to_owned(),
        seed: plan.seed,
    };
    // Permission and control first: a run directory of nothing helps nobody.
    let Some(first) = controls.first() else {
        return Err(Failure::new(Exit::Unsupported, "expected a clock domain, found none online"));
    };
    let first = Live::start(host, &state_folder(host.as_ref()), first.clone())?;
    let dir = directory(args, seconds)?;
    let mut last = 0;
    let mut progress = |done: usize, all: usize, now: &str| tell(talk, &mut last, done, all, now);
    let mut recorder = Recorder::create(&dir, about, &mut progress)?;
    for note in board_notes(host.as_ref()) {
        recorder.note("board", &note)?;
    }
    let mut outcome = Ok(());
    let mut ready = Some(first);
    for control in &controls {
        outcome = one_domain(host, ready.take(), control, plan, &mut recorder);
        if outcome.is_err() {
            break;
        }
    }
    end(recorder, outcome, &dir, shown, talk)
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

/// In the guest of a board: the same command for its own machine.
pub fn board(
    board: &Board,
    args: &TransitionArgs,
    shown: &Shown<'_>,
    talk: Talk,
) -> Result<Exit, Failure> {
    let host = hosts::real();
    host.catch_interrupts()?;
    let dir = directory(args, host.realtime().0 / 1_000_000_000)?;
    let command = crate::command_line();
    let tell = &mut |text: &str| {
        if !talk.quiet {
            output::talk(text);
        }
    };
    let left = (dir.as_path(), command.as_slice());
    let arguments = in_guest(args);
    let outcome = board.flyball(&host, &arguments, MOST_TIME, left, GuestRows::Switches, tell)?;
    show::findings(&Run::open(&dir)?, Some(&dir), shown, talk)?;
    if !talk.quiet {
        output::talk(&format!("run     {}", dir.display()));
    }
    match outcome.state {
        RunState::Interrupted => Ok(Exit::Interrupted),
        RunState::Invalid => {
            let why = outcome.invalid.first().map_or_else(String::new, |check| {
                format!(": {}: expected {}, found {}", check.object, check.expected, check.found)
            });
            Err(Failure::new(Exit::InvalidRun, format!("the run is not valid{why}")))
        }
        _ => Ok(Exit::Ok),
    }
}

/// The arguments that a guest gets.
fn in_guest(args: &TransitionArgs) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["transition", "--out", "/run/share", "--quiet"].map(str::to_owned).to_vec();
    let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    if !args.method.is_empty() {
        add("--method", args.method.join(","));
    }
    if !args.levels.is_empty() {
        add("--levels", args.levels.join(","));
    }
    if let Some(cpu) = args.cpu {
        add("--cpu", cpu.to_string());
    }
    add("--trials", args.trials.to_string());
    add("--runs", args.runs.to_string());
    add("--window", args.window.clone());
    add("--wait", args.wait.clone());
    add("--seed", args.seed.to_string());
    arguments
}

/// On a model, in virtual time.
pub fn model(
    name: &str,
    args: &TransitionArgs,
    plan: &Plan,
    shown: &Shown<'_>,
    talk: Talk,
) -> Result<Exit, Failure> {
    let platform = Platform::named(name)?;
    let of_cpu = |cpus: &[CpuId]| args.cpu.is_none_or(|cpu| cpus.contains(&CpuId(cpu)));
    let domains: Vec<_> = platform.domains.iter().filter(|domain| of_cpu(&domain.cpus)).collect();
    if domains.is_empty() {
        let cpu = args.cpu.unwrap_or_default();
        return Err(Failure::new(
            Exit::Usage,
            format!("--cpu: expected a CPU of {name}, found {cpu}"),
        ));
    }
    if args.dry_run {
        output::data(&format!("{name}: a model, nothing of this machine is written\n"))?;
        return Ok(Exit::Ok);
    }
    let command = ["flyball", "transition", "--machine", &format!("model:{name}")];
    let about = About {
        created: String::new(),
        command: command.into_iter().map(str::to_owned).collect(),
        flyball: flyball(),
        machine: model::describe(&platform),
        clock: "virtual".to_owned(),
        seed: plan.seed,
    };
    let dir = directory(args, hosts::real().realtime().0 / 1_000_000_000)?;
    let mut progress = |_: usize, _: usize, _: &str| {};
    let mut recorder = Recorder::create(&dir, about, &mut progress)?;
    let mut outcome = Ok(());
    for domain in domains {
        outcome =
            Model::new(domain).and_then(|mut model| methods::run(&mut model, plan, &mut recorder));
        if outcome.is_err() {
            break;
        }
    }
    end(recorder, outcome, &dir, shown, talk)
}

fn flyball() -> Flyball {
    Flyball {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("FLYBALL_COMMIT").map(str::to_owned),
    }
}

fn directory(args: &TransitionArgs, seconds: u64) -> Result<PathBuf, Failure> {
    match &args.out {
        Some(dir) => Ok(dir.clone()),
        None => Ok(new_dir_below(Path::new(RUNS), seconds, "transition")?),
    }
}

/// A line per pair of levels.
fn tell(talk: Talk, last: &mut usize, done: usize, all: usize, now: &str) {
    // Ten lines are enough for anybody.
    let tenth = 10 * done / all.max(1);
    if !talk.quiet && (done == 0 || tenth != *last) {
        output::talk(&format!("{:>3} %  {now}", 100 * done / all.max(1)));
    }
    *last = tenth;
}

/// What was measured is kept and shown, however it ended.
fn end(
    recorder: Recorder<'_>,
    outcome: Result<(), TransitionError>,
    dir: &Path,
    shown: &Shown<'_>,
    talk: Talk,
) -> Result<Exit, Failure> {
    let (state, exit) = match &outcome {
        Ok(()) => (RunState::Complete, Ok(Exit::Ok)),
        Err(TransitionError::Interrupted) => (RunState::Interrupted, Ok(Exit::Interrupted)),
        Err(_) => (RunState::Invalid, Ok(Exit::InvalidRun)),
    };
    recorder.finish(state)?;
    match outcome {
        Ok(()) | Err(TransitionError::Interrupted) => {}
        Err(error) => return Err(error.into()),
    }
    show::findings(&Run::open(dir)?, Some(dir), shown, talk)?;
    if !talk.quiet {
        output::talk(&format!("run     {}", dir.display()));
    }
    exit
}
