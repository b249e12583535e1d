//! Which machine is meant: `host`, `model:NAME[,kernel=K]`,
//! `board:NAME[,kernel=K][,arch=A][,append=ARGS]`, `record:DIR`.

use crate::Mismatch;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The forms, for help and errors.
const FORMS: &str =
    "host, model:NAME[,kernel=K], board:NAME[,kernel=K][,arch=A][,append=ARGS] or record:DIR";

/// The words before the colon.
const KINDS: [&str; 4] = ["host", "model", "board", "record"];

/// Which machine is to be used. Whether there is a model, board or recording of that name, those
/// know who have them.
///
/// ```
/// use flyball_units::MachineSpec;
/// let spec: MachineSpec = "model:apple-m1,kernel=linux-6.12".parse().unwrap();
/// let kernel = Some("linux-6.12".to_owned());
/// assert_eq!(spec, MachineSpec::Model { name: "apple-m1".to_owned(), kernel });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MachineSpec {
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
    Board(BoardSpec),
    /// A recording.
    Record(PathBuf),
}

/// Which virtual board, and what runs on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardSpec {
    /// The platform's name or file, or an architecture for its usual platform.
    pub name: String,
    /// An image or `debian:SERIES`; the architecture's usual one where absent.
    pub kernel: Option<String>,
    /// The architecture; where absent what the platform needs.
    pub arch: Option<String>,
    /// More kernel arguments, such as `nohz_full=1-3`.
    pub append: Option<String>,
}

impl FromStr for MachineSpec {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<MachineSpec, Mismatch> {
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind.trim(), Some(rest.trim())),
            None => (text.trim(), None),
        };
        match (kind, rest.filter(|rest| !rest.is_empty())) {
            ("host", None) if rest.is_none() => Ok(MachineSpec::Host),
            ("model", Some(rest)) => {
                let (name, [kernel]) = name_and_options(rest, "a model's name", ["kernel"])?;
                Ok(MachineSpec::Model { name, kernel })
            }
            ("board", Some(rest)) => {
                let keys = ["kernel", "arch", "append"];
                let (name, [kernel, arch, append]) =
                    name_and_options(rest, "a board's name", keys)?;
                Ok(MachineSpec::Board(BoardSpec { name, kernel, arch, append }))
            }
            ("record", Some(dir)) => Ok(MachineSpec::Record(PathBuf::from(dir))),
            ("model" | "board" | "record", None) => {
                let what = if kind == "record" { "a directory" } else { "a name" };
                let slip = Mismatch::text(format!("{what} after `{kind}:`"), text);
                Err(slip.hint(format!("forms: {FORMS}")))
            }
            _ => {
                let slip = Mismatch::text(FORMS, text);
                // A model's bare name is the likeliest slip of all.
                let slip = match rest.is_none() && !kind.is_empty() {
                    true => slip.hint(format!("a model is `model:{kind}`")),
                    false => slip,
                };
                Err(slip.near(kind, KINDS))
            }
        }
    }
}

/// `NAME[,KEY=VALUE]...` with the values of `keys`, in their order.
fn name_and_options<const N: usize>(
    rest: &str,
    what: &str,
    keys: [&str; N],
) -> Result<(String, [Option<String>; N]), Mismatch> {
    let mut parts = rest.split(',').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Mismatch::text(what, rest))?.to_owned();
    let mut values = [const { None }; N];
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim(), value.trim());
        let at = keys.iter().position(|known| *known == key).filter(|_| !value.is_empty());
        let Some(at) = at else {
            let forms = keys.map(|key| format!("{key}=...")).join(" or ");
            let slip = Mismatch::text(format!("{forms} after {what}"), part);
            return Err(match part.contains('=') {
                true => slip.near(key, keys),
                false => slip
                    .hint("a comma begins the next key; CPUs can be ranges: append=nohz_full=1-3"),
            });
        };
        if values[at].replace(value.to_owned()).is_some() {
            return Err(Mismatch::text(format!("{key} once"), rest));
        }
    }
    Ok((name, values))
}

impl fmt::Display for MachineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineSpec::Host => f.write_str("host"),
            MachineSpec::Model { name, kernel: None } => write!(f, "model:{name}"),
            MachineSpec::Model { name, kernel: Some(kernel) } => {
                write!(f, "model:{name},kernel={kernel}")
            }
            MachineSpec::Board(board) => board.fmt(f),
            MachineSpec::Record(dir) => write!(f, "record:{}", dir.display()),
        }
    }
}

impl fmt::Display for BoardSpec {
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
    use proptest::prelude::*;

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
            let spec: MachineSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    fn a_slip_is_named() {
        for (text, expected, hint) in [
            ("modl:apple-m1", "expected host, model:NAME", "did you mean `model`?"),
            ("hots", "expected host, model:NAME", "did you mean `host`?"),
            ("apple-m1", "expected host, model:NAME", "a model is `model:apple-m1`"),
            ("model:", "a name after `model:`", "forms: "),
            ("model:apple-m1,kernal=x", "found \"kernal=x\"", "did you mean `kernel`?"),
            ("model:a,kernel=b,kernel=c", "expected kernel once", ""),
            ("board", "a name after `board:`", "forms: "),
            ("record:", "a directory after `record:`", "forms: "),
            ("board:aarch64,append=nohz_full=1,3", "found \"3\"", "a comma begins the next key"),
            ("host:x", "expected host, model:NAME", "did you mean `host`?"),
            ("", "expected host, model:NAME", ""),
        ] {
            let slip = text.parse::<MachineSpec>().unwrap_err();
            assert!(slip.to_string().contains(expected), "{text}: {slip}");
            assert!(slip.hint.as_deref().unwrap_or_default().starts_with(hint), "{text}: {slip:?}");
        }
    }

    fn name() -> impl Strategy<Value = String> {
        "[a-z0-9][a-z0-9.:/_-]{0,10}"
    }

    proptest! {
        #[test]
        fn printing_then_reading_is_identity(
            name in name(),
            kernel in proptest::option::of(name()),
            arch in proptest::option::of(name()),
            append in proptest::option::of("[a-z0-9][a-z0-9_= -]{0,10}[a-z0-9]"),
        ) {
            let board =
                BoardSpec { name: name.clone(), kernel: kernel.clone(), arch, append };
            for spec in [
                MachineSpec::Host,
                MachineSpec::Record(PathBuf::from(&name)),
                MachineSpec::Model { name, kernel },
                MachineSpec::Board(board),
            ] {
                prop_assert_eq!(spec.to_string().parse(), Ok(spec));
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,60}") {
            let _ = text.parse::<MachineSpec>();
        }
    }
}
