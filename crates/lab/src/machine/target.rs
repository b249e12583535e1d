//! The text after `--machine`.

use flyball_platform::Entry;
use flyball_units::nearest;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Which machine a command is to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// This computer.
    #[default]
    Host,
    /// A simulated machine.
    Model {
        /// The platform's name.
        name: String,
        /// The kernel's name; the platform's usual one where absent.
        kernel: Option<String>,
    },
    /// A real kernel on a virtual board.
    Board(BoardTarget),
    /// A recording.
    Record(PathBuf),
}

/// Which virtual board, and what runs on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardTarget {
    /// The platform's name or file, or an architecture for its usual platform.
    pub name: String,
    /// An image or `debian:SERIES`; the architecture's usual one where absent.
    pub kernel: Option<String>,
    /// The architecture; where absent what the platform needs.
    pub arch: Option<String>,
    /// More kernel arguments, such as `nohz_full=1-3`.
    pub append: Option<String>,
}

/// A text that names no machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--machine \"{found}\": expected {expected}")]
pub struct TargetError {
    /// The text.
    pub found: String,
    /// What would have been right.
    pub expected: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The forms, for help and errors.
const FORMS: &str =
    "host, model:NAME[,kernel=K], board:NAME[,kernel=K][,arch=A][,append=ARGS] or record:DIR";

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        let wrong = |expected: &str, hint: Option<String>| TargetError {
            found: text.to_owned(),
            expected: expected.to_owned(),
            hint,
        };
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind.trim(), Some(rest.trim())),
            None => (text.trim(), None),
        };
        match (kind, rest.filter(|rest| !rest.is_empty())) {
            ("host", None) if rest.is_none() => Ok(Target::Host),
            ("model", Some(rest)) => {
                model(rest).map_err(|expected| wrong(&expected, Some(models())))
            }
            ("board", Some(rest)) => board(rest).map_err(|expected| {
                let hint = "a comma begins the next key; CPUs can be ranges: append=nohz_full=1-3";
                wrong(&expected, Some(hint.to_owned()))
            }),
            ("record", Some(dir)) => Ok(Target::Record(PathBuf::from(dir))),
            ("model", None) => Err(wrong("a model's name after `model:`", Some(models()))),
            ("board" | "record", None) => {
                Err(wrong(&format!("something after `{kind}:`"), Some(format!("forms: {FORMS}"))))
            }
            _ => {
                let near = nearest(kind, ["host", "model", "board", "record"])
                    .map(|near| format!("did you mean `{near}`?"));
                // A model's bare name is the likeliest slip of all.
                let bare = platform_names().any(|name| name == kind);
                let hint = if bare { Some(format!("did you mean `model:{text}`?")) } else { near };
                Err(wrong(FORMS, hint))
            }
        }
    }
}

/// What follows `model:`.
fn model(rest: &str) -> Result<Target, String> {
    let (name, [kernel]) = name_and_options(rest, "a model's name", ["kernel"])?;
    Ok(Target::Model { name, kernel })
}

/// What follows `board:`.
fn board(rest: &str) -> Result<Target, String> {
    let keys = ["kernel", "arch", "append"];
    let (name, [kernel, arch, append]) = name_and_options(rest, "a board's name", keys)?;
    Ok(Target::Board(BoardTarget { name, kernel, arch, append }))
}

/// `NAME[,KEY=VALUE]...` with the values of `keys`, in their order.
fn name_and_options<const N: usize>(
    rest: &str,
    what: &str,
    keys: [&str; N],
) -> Result<(String, [Option<String>; N]), String> {
    let mut parts = rest.split(',').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty()).ok_or(what)?.to_owned();
    let mut values = [const { None }; N];
    for part in parts {
        let known = part.split_once('=').and_then(|(key, value)| {
            let at = keys.iter().position(|known| *known == key.trim())?;
            Some((at, value.trim())).filter(|(_, value)| !value.is_empty())
        });
        let Some((at, value)) = known else {
            let forms = keys.map(|key| format!("{key}=...")).join(" or ");
            return Err(format!("{forms} after {what}, found `{part}`"));
        };
        values[at] = Some(value.to_owned());
    }
    Ok((name, values))
}

impl Target {
    /// That a model and its kernel are among those that ship.
    ///
    /// # Errors
    /// They are not; the hint names the nearest, or lists what there is.
    pub(crate) fn ships(&self) -> Result<(), TargetError> {
        let Target::Model { name, kernel } = self else { return Ok(()) };
        let catalogue = flyball_platform::catalogue();
        self.among("model", name, catalogue.platforms)?;
        kernel.as_ref().map_or(Ok(()), |kernel| self.among("kernel", kernel, catalogue.kernels))
    }

    fn among(&self, what: &str, name: &str, entries: &[Entry]) -> Result<(), TargetError> {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        if names.contains(&name) {
            return Ok(());
        }
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{what}s: {}", names.join(", ")),
        };
        let expected = format!("a {what} that ships");
        Err(TargetError { found: self.to_string(), expected, hint: Some(hint) })
    }
}

/// The names of the platforms that ship.
pub(crate) fn platform_names() -> impl Iterator<Item = &'static str> {
    flyball_platform::catalogue().platforms.iter().map(|entry| entry.name)
}

fn models() -> String {
    format!("models: {}", platform_names().collect::<Vec<_>>().join(", "))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Host => f.write_str("host"),
            Target::Model { name, kernel: None } => write!(f, "model:{name}"),
            Target::Model { name, kernel: Some(kernel) } => {
                write!(f, "model:{name},kernel={kernel}")
            }
            Target::Board(board) => board.fmt(f),
            Target::Record(dir) => write!(f, "record:{}", dir.display()),
        }
    }
}

impl fmt::Display for BoardTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "board:{}", self.name)?;
        let options = [("kernel", &self.kernel), ("arch", &self.arch), ("append", &self.append)];
        for (key, value) in options {
            if let Some(value) = value {
                write!(f, ",{key}={value}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_and_prints_it_back() {
        for text in [
            "host",
            "model:apple-m1",
            "model:apple-m1,kernel=linux-6.12",
            "board:a53",
            "board:rk3399,kernel=debian:7,arch=aarch64",
            "board:aarch64,append=nohz_full=1-3 threadirqs",
            "record:runs/x:y",
        ] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string(), text);
        }
    }

    #[test]
    fn a_slip_is_named() {
        for (text, expected, hint) in [
            ("modl:apple-m1", "expected host, model:NAME", "did you mean `model`?"),
            ("apple-m1", "expected host", "did you mean `model:apple-m1`?"),
            ("model:", "a model's name", "models: "),
            ("model:apple-m1,kernal=x", "found `kernal=x`", "models: "),
            ("board", "something after `board:`", "forms: "),
            ("board:aarch64,append=nohz_full=1,3", "found `3`", "ranges"),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(error.hint.unwrap_or_default().contains(hint), "{text}");
        }
        for (text, hint) in [
            ("model:aple-m1", "did you mean `apple-m1`?"),
            ("model:nope", "models: apple-m1, "),
            ("model:apple-m1,kernel=linux-6.13", "did you mean `linux-6.12`?"),
            ("model:apple-m1,kernel=nope", "kernels: debian-6.12, "),
        ] {
            let error = text.parse::<Target>().unwrap().ships().unwrap_err();
            assert!(error.to_string().contains(" that ships"), "{error}");
            assert!(error.hint.unwrap_or_default().starts_with(hint), "{text}");
        }
        assert!("".parse::<Target>().is_err());
        assert!("host:x".parse::<Target>().is_err());
    }
}
