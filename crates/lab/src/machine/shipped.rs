//! Which models and kernels ship.

use flyball_platform::Entry;
use flyball_units::{MachineSpec, Mismatch, nearest};

/// That a model and its kernel are among those that ship.
///
/// # Errors
/// They are not; the hint names the nearest, or lists what there is.
pub(crate) fn check(machine: &MachineSpec) -> Result<(), Mismatch> {
    let MachineSpec::Model { name, kernel } = machine else { return Ok(()) };
    let catalogue = flyball_platform::catalogue();
    among("model", machine, name, catalogue.platforms)?;
    kernel.as_ref().map_or(Ok(()), |kernel| among("kernel", machine, kernel, catalogue.kernels))
}

fn among(what: &str, machine: &MachineSpec, name: &str, entries: &[Entry]) -> Result<(), Mismatch> {
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    if names.contains(&name) {
        return Ok(());
    }
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{what}s: {}", names.join(", ")),
    };
    Err(Mismatch::text(format!("a {what} that ships"), &machine.to_string()).hint(hint))
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
            let error = check(&text.parse().unwrap()).unwrap_err();
            assert!(error.to_string().contains(" that ships"), "{error}");
            assert!(error.hint.unwrap_or_default().starts_with(hint), "{text}");
        }
    }
}
