//! Which machine a command looks at: this one, a recorded one, or a model.

use crate::failure::Failure;
use flyball_host::{FaultyHost, Host, RealHost, RecordedHost};
use flyball_lab::machine::described;
use flyball_platform::{Kernel, Platform};
use flyball_units::{MachineSpec, Mismatch};
use std::path::Path;
use std::sync::Arc;

/// This machine.
pub fn real() -> Arc<dyn Host> {
    Arc::new(RealHost::new())
}

/// This machine, some of whose calls fail as told.
pub fn with_faults(faults: Option<&str>) -> Result<Arc<dyn Host>, Failure> {
    let Some(faults) = faults else { return Ok(real()) };
    let faulty = FaultyHost::parse(real(), faults)
        .map_err(|error| Failure::usage(format!("--faults: {error}")))?;
    Ok(Arc::new(faulty))
}

/// What `--machine` names.
pub fn target(text: &str) -> Result<MachineSpec, Failure> {
    Ok(text.parse::<MachineSpec>().map_err(|slip: Mismatch| slip.at("--machine"))?)
}

/// A machine to look at: this one, some of whose calls may fail as told, or a recorded one.
pub fn to_read(text: &str, faults: Option<&str>) -> Result<Arc<dyn Host>, Failure> {
    match target(text)? {
        MachineSpec::Host => with_faults(faults),
        MachineSpec::Record(folder) => recorded(&folder),
        _ => Err(expected("host or record:DIR", text)),
    }
}

/// A machine to measure on: a recording cannot be measured.
pub fn to_measure(text: &str) -> Result<MachineSpec, Failure> {
    match target(text)? {
        MachineSpec::Record(dir) => Err(expected("host, model:NAME or board:NAME", text)
            .hint(format!("read it with: flyball report {}", dir.display()))),
        spec => Ok(spec),
    }
}

/// A `--machine` that this command cannot take.
pub fn expected(forms: &str, found: &str) -> Failure {
    Failure::usage(format!("--machine: expected {forms}, found {found}"))
}

/// A recorded machine.
fn recorded(folder: &Path) -> Result<Arc<dyn Host>, Failure> {
    let opened = RecordedHost::open(folder).map_err(|error| {
        let failure = Failure::from(error);
        match failure.hint {
            Some(_) => failure,
            None => failure.hint("record a machine with: flyball check --snapshot DIR"),
        }
    });
    Ok(Arc::new(opened?))
}

/// A model's platform and kernel, the platform's usual one where none is named: names that ship, or files.
pub fn model(text: &str) -> Result<(Platform, Kernel), Failure> {
    let MachineSpec::Model { name, kernel } = target(text)? else {
        return Err(expected("model:NAME[,kernel=K]", text));
    };
    Ok(described(&name, kernel.as_deref())?)
}
