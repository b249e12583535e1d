//! What is replayed: whatever holds work.

use crate::args::ReplayWhat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::machine;
use flyball_events::import as trace;
use flyball_replay::{Load, Placing, Subject, Work, activity, events};
use flyball_run::Run;
use flyball_run::import::{Options, load};
use flyball_sim::scenario::{Scenario, Source, read};
use flyball_sim::workload::{Pace, rt_app};
use flyball_units::{KiloHertz, MachineSpec, Nanos};
use std::path::Path;

/// The machine where none is named: an ordinary one with eight CPUs.
const MACHINE: &str = "model:laptop-x86";

/// How much of a program without an end is replayed.
const ENDLESS: Nanos = Nanos::from_secs(10);

/// A recording that was read.
pub enum Opened {
    /// Work to be put onto a machine.
    Work(Work),
    /// A scenario, with its machine.
    Scenario(Box<Scenario>),
}

/// Reads a run directory, another tool's file, a trace, an rt-app program or a scenario.
///
/// # Errors
/// None of these, or one without work in it.
pub fn open(what: &ReplayWhat) -> Result<Opened, Failure> {
    let path = what.recording();
    if path.is_file() {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => return scenario(&text_of(path)?, path, what),
            Some("json") => return rt_app(path, what),
            _ => {}
        }
        if trace::is_trace(path)? {
            let run = trace::import(path, &trace::Options::default())?;
            return Ok(Opened::Work(events::work(&run)?));
        }
    }
    let run = load(path, &Options::default())?;
    Ok(Opened::Work(work(&run)?))
}

/// The work in a run: of a recorded load, else of its scheduler events.
fn work(run: &Run) -> Result<Work, Failure> {
    Ok(match run.tables.activity.is_empty() {
        false => activity::work(run)?,
        true => events::work(run)?,
    })
}

fn text_of(path: &Path) -> Result<String, Failure> {
    fs_err::read_to_string(path).map_err(|error| Failure::io(&error))
}

/// An rt-app program as a scenario of its own, which lasts as long as the program says.
fn rt_app(path: &Path, what: &ReplayWhat) -> Result<Opened, Failure> {
    let text = text_of(path)?;
    let program = rt_app::parse(&text, &path.display().to_string())?;
    let duration = program.duration.unwrap_or(ENDLESS).0;
    let json = serde_json::Value::String(text);
    let machine = machine::target(what.machine.as_deref().unwrap_or(MACHINE))?;
    let MachineSpec::Model { name: platform, .. } = &machine else {
        return Err(machine::expected("model:NAME[,kernel=K]", &machine.to_string()));
    };
    let name = |text: &str| serde_json::Value::String(text.to_owned());
    // A JSON string is a TOML string.
    let scenario_text = format!(
        "platform = {}\nduration = \"{duration}ns\"\n[[task]]\nkind = \"rt-app\"\njson = {json}\n",
        name(platform)
    );
    scenario(&scenario_text, path, what)
}

fn scenario(text: &str, path: &Path, what: &ReplayWhat) -> Result<Opened, Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let open =
        |name: &str| fs_err::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let origin = path.display().to_string();
    let name = name.unwrap_or_else(|| origin.clone());
    let source = Source { origin: &origin, name: &name, open: &open };
    let mut scenario = read(text, source)?;
    if let Some(text) = &what.machine {
        let (platform, kernel) = machine::model(text)?;
        if platform.name != scenario.platform.name {
            let own = format!("the scenario's own, model:{}", scenario.platform.name);
            return Err(machine::expected(&own, text).hint("change `platform` in the scenario"));
        }
        if text.contains("kernel=") {
            scenario.kernel = kernel;
        }
    }
    if what.closed_loop || what.free || what.scale != 1.0 || what.assume.is_some() {
        let text =
            "--closed-loop, --free, --assume, --scale: expected a recording, found a scenario";
        return Err(Failure::new(Exit::Usage, text).hint("a scenario says all of this itself"));
    }
    scenario.check(&origin)?;
    Ok(Opened::Scenario(Box::new(scenario)))
}

/// The recording on its machine.
///
/// # Errors
/// No such platform or kernel; a platform that is too small.
pub fn prepare(opened: &Opened, what: &ReplayWhat) -> Result<Subject, Failure> {
    let work = match opened {
        Opened::Scenario(scenario) => return Ok(Subject::Scenario(scenario.clone())),
        Opened::Work(work) => work,
    };
    let (platform, kernel) = machine::model(what.machine.as_deref().unwrap_or(MACHINE))?;
    if !(what.scale.is_finite() && what.scale > 0.0) {
        let text = format!("--scale: expected a number above 0, found {}", what.scale);
        return Err(Failure::new(Exit::Usage, text));
    }
    let assumed = what.assume.as_deref().map(str::parse::<KiloHertz>).transpose();
    let assumed = assumed.map_err(|slip| slip.at("--assume"))?;
    let placing = Placing {
        pace: if what.closed_loop { Pace::Closed } else { Pace::Open },
        free: what.free,
        assumed,
        scale: what.scale,
    };
    let load = Load::new(work, &platform, &placing)?;
    Ok(Subject::Recorded { load, platform: Box::new(platform), kernel: Box::new(kernel) })
}
