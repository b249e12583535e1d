//! Which machine a command looks at.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_host::{FaultyHost, Host, RealHost, RecordedHost};
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
        .map_err(|error| Failure::new(Exit::Usage, format!("--faults: {error}")))?;
    Ok(Arc::new(faulty))
}

/// A recorded machine, or this one.
pub fn recorded(folder: Option<&Path>) -> Result<Arc<dyn Host>, Failure> {
    match folder {
        None => Ok(real()),
        Some(folder) => {
            let opened = RecordedHost::open(folder).map_err(|error| {
                let failure = Failure::from(error);
                match failure.hint {
                    Some(_) => failure,
                    None => failure.hint("record a machine with: flyball check --snapshot DIR"),
                }
            });
            Ok(Arc::new(opened?))
        }
    }
}
