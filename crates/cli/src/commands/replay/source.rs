//! What is replayed, and on which machine: the flags that all of `flyball replay` takes.

use crate::args::ReplayWhat;
use crate::failure::Failure;
use crate::machine;
use flyball_lab::machine::shipped_model;
use flyball_platform::{Kernel, Platform};
use flyball_replay::{Opened, Placing, Subject};
use flyball_run::Directory;
use flyball_sim::scenario::Scenario;
use flyball_sim::workload::Pace;
use flyball_units::{KiloHertz, MachineSpec};
use std::path::Path;

/// The machine where none is named, and the recording is of no model that ships: an ordinary one with eight CPUs.
const MACHINE: &str = "model:laptop-x86";

/// The model that left a run.
fn own_machine(recording: &Path) -> Option<String> {
    let manifest = Directory::open(recording).ok()?.manifest;
    shipped_model(manifest.machine.as_ref()?)
}

/// A recording, its machine, and how it is put there.
pub struct Source {
    opened: Opened,
    machine: (Platform, Kernel),
    /// How it was named.
    named: (String, Option<String>),
    placing: Placing,
}

impl Source {
    /// Reads it.
    pub fn of(what: &ReplayWhat) -> Result<Source, Failure> {
        let named = what.machine.clone().or_else(|| own_machine(what.recording()));
        let text = named.as_deref().unwrap_or(MACHINE);
        let MachineSpec::Model { name, kernel } = machine::target(text)? else {
            return Err(machine::expected("model:NAME[,kernel=K]", text));
        };
        let mut opened = Opened::open(what.recording(), &name)?;
        let (platform, own) = machine::model(text)?;
        if let Opened::Scenario(scenario) = &mut opened {
            if what.machine.is_some() && platform.name != scenario.platform.name {
                let own = format!("the scenario's own, model:{}", scenario.platform.name);
                return Err(machine::expected(&own, text).hint("change `platform` in the scenario"));
            }
            if kernel.is_some() {
                scenario.kernel = own.clone();
            }
            check(scenario, what)?;
        }
        let named = (name, kernel);
        Ok(Source { opened, machine: (platform, own), named, placing: placing(what)? })
    }

    /// The platform and the kernel as they were named.
    pub fn named(&self) -> (&str, Option<&str>) {
        (&self.named.0, self.named.1.as_deref())
    }

    /// All of it.
    pub fn subject(&self) -> Result<Subject, Failure> {
        Ok(self.opened.subject(&self.machine, &self.placing)?)
    }

    /// What a search sees, and what is held out.
    pub fn parts(&self) -> Result<(Subject, Option<Subject>), Failure> {
        Ok(self.opened.parts(&self.machine, &self.placing)?)
    }
}

fn check(scenario: &Scenario, what: &ReplayWhat) -> Result<(), Failure> {
    if what.closed_loop || what.free || what.scale != 1.0 || what.assume.is_some() {
        let text =
            "--closed-loop, --free, --assume, --scale: expected a recording, found a scenario";
        return Err(Failure::usage(text).hint("a scenario says all of this itself"));
    }
    Ok(scenario.check(&what.recording().display().to_string())?)
}

fn placing(what: &ReplayWhat) -> Result<Placing, Failure> {
    if !(what.scale.is_finite() && what.scale > 0.0) {
        let text = format!("--scale: expected a number above 0, found {}", what.scale);
        return Err(Failure::usage(text));
    }
    let assumed = what.assume.as_deref().map(str::parse::<KiloHertz>).transpose();
    let assumed = assumed.map_err(|slip| slip.at("--assume"))?;
    let pace = if what.closed_loop { Pace::Closed } else { Pace::Open };
    Ok(Placing { pace, free: what.free, assumed, scale: what.scale })
}
