//! Values of flags.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_capture::trace::Group;
use flyball_units::{Duration, GovernorSpec, Mismatch};

/// A duration on the command line.
pub fn time(flag: &str, text: &str) -> Result<Duration, Failure> {
    text.parse().map_err(|slip: Mismatch| slip.at(flag).into())
}

/// The groups of events that `--trace[=GROUPS]` names; none where it names none.
pub fn groups(text: &str) -> Result<Option<Vec<Group>>, Failure> {
    let usage = |error: String| Failure::new(Exit::Usage, format!("--trace: expected {error}"));
    match text.trim() {
        "" => Ok(None),
        names => Group::parse_list(names).map(Some).map_err(usage),
    }
}

/// A governor on the command line: its name, none where only tunables are given, of the governor that is
/// set; and its tunables.
#[derive(Clone, Debug, Default)]
pub struct Governor {
    pub name: Option<String>,
    pub tunables: Vec<(String, i64)>,
}

/// Reads `NAME[:TUNABLE=VALUE,...]` or `:TUNABLE=VALUE,...`.
pub fn governor(place: &str, text: &str) -> Result<Governor, Failure> {
    let alone = text.trim_start().starts_with(':');
    let named = if alone { format!("set{}", text.trim_start()) } else { text.to_owned() };
    let wrong = |slip: Mismatch| {
        let hint = "such as ondemand, or ondemand:up_threshold=60";
        Failure::from(slip.at(place)).hint(hint)
    };
    let spec: GovernorSpec = named.parse().map_err(wrong)?;
    // A tunable's name becomes part of a path.
    let is_name =
        |name: &str| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    if let Some((name, _)) = spec.tunables.iter().find(|(name, _)| !is_name(name)) {
        return Err(wrong(Mismatch::text("a tunable's name", name)));
    }
    if alone && spec.tunables.is_empty() {
        return Err(wrong(Mismatch::text("NAME[:TUNABLE=VALUE,...]", text)));
    }
    Ok(Governor { name: (!alone).then_some(spec.name), tunables: spec.tunables })
}
