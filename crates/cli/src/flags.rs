//! Values of flags.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_capture::trace::Group;
use flyball_units::{Duration, Mismatch};

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

/// A governor with tunables: `NAME[:TUNABLE=VALUE,...]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GovernorSpec {
    /// Its name; none where only tunables are named, of the governor that is set.
    pub name: Option<String>,
    pub tunables: Vec<(String, i64)>,
}

/// A governor on the command line.
pub fn governor(place: &str, text: &str) -> Result<GovernorSpec, Failure> {
    let wrong = |expected: &str, found: &str| {
        let text = format!("{place}: expected {expected}, found \"{found}\"");
        Failure::new(Exit::Usage, text).hint("such as ondemand, or ondemand:up_threshold=60")
    };
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    let mut tunables = Vec::new();
    for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        // A tunable's name becomes part of a path.
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        };
        let pair = part
            .split_once('=')
            .and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)));
        let pair = pair.filter(|(name, _)| is_name(name));
        tunables.push(pair.ok_or_else(|| wrong("TUNABLE=WHOLE NUMBER", part))?);
    }
    if name.is_none() && tunables.is_empty() {
        return Err(wrong("NAME[:TUNABLE=VALUE,...]", text));
    }
    Ok(GovernorSpec { name, tunables })
}
