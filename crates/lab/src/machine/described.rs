//! A model's platform and kernel: names of what ships, or files.

use crate::machine::MachineError;
use flyball_platform::{DescriptionError, Entry, Kernel, Platform, catalogue, is_file};
use flyball_run::disk::{DESCRIPTION_BYTES, read_text};
use flyball_units::{MachineSpec, Mismatch, nearest};
use std::path::Path;

/// The platform and the kernel, the platform's usual one where none is named.
///
/// # Errors
/// A name that nothing has; the hint names the nearest, or lists what there is. A file that does not read.
pub fn described(name: &str, kernel: Option<&str>) -> Result<(Platform, Kernel), MachineError> {
    let spec = MachineSpec::Model { name: name.to_owned(), kernel: kernel.map(str::to_owned) };
    let shipped = catalogue();
    among("model", &spec, name, shipped.platforms)?;
    kernel.map_or(Ok(()), |kernel| among("kernel", &spec, kernel, shipped.kernels))?;
    let platform = read(&spec, name, Platform::named, Platform::parse)?;
    let kernel = kernel.unwrap_or(&platform.default_kernel);
    let kernel = read(&spec, kernel, Kernel::named, Kernel::parse)?;
    Ok((platform, kernel))
}

/// What a name means, where it is no file's.
fn among(
    what: &str,
    machine: &MachineSpec,
    name: &str,
    entries: &[Entry],
) -> Result<(), MachineError> {
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    if is_file(name) || names.contains(&name) {
        return Ok(());
    }
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{what}s: {}", names.join(", ")),
    };
    let expected = format!("a {what} that ships, or a file");
    Err(MachineError::Machine(Mismatch::text(expected, &machine.to_string()).hint(hint)))
}

fn read<T>(
    machine: &MachineSpec,
    name: &str,
    named: impl Fn(&str) -> Result<T, DescriptionError>,
    parse: impl Fn(&str, &str) -> Result<T, DescriptionError>,
) -> Result<T, MachineError> {
    if is_file(name) {
        let text = read_text(Path::new(name), DESCRIPTION_BYTES).map_err(MachineError::File)?;
        return parse(&text, name).map_err(MachineError::Described);
    }
    named(name).map_err(|source| MachineError::Description { machine: machine.to_string(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_named() {
        for (text, hint) in [
            ("model:aple-m1", "did you mean `apple-m1`?"),
            ("model:nope", "models: apple-m1, "),
            ("model:apple-m1,kernel=linux-6.13", "did you mean `linux-6.12`?"),
            ("model:apple-m1,kernel=nope", "kernels: debian-6.12, "),
        ] {
            let MachineSpec::Model { name, kernel } = text.parse().unwrap() else {
                panic!("{text}")
            };
            let error = described(&name, kernel.as_deref()).unwrap_err();
            assert!(error.to_string().contains(" that ships"), "{error}");
            assert!(
                flyball_units::Diagnostic::hint(&error).unwrap_or_default().starts_with(hint),
                "{text}"
            );
        }
    }
}
