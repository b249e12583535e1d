//! Which governor, with which tunables: `schedutil:rate_limit_us=500,response_time_ms=30`.

use crate::Mismatch;
use std::fmt;
use std::str::FromStr;

/// Tunables with their values.
pub type Tunables = Vec<(String, i64)>;

/// What a specification looks like.
const SUCH: &str = "a governor such as schedutil or schedutil:rate_limit_us=500";

/// A governor by its upstream name, with the tunables that differ from its defaults. Whether there is
/// one of that name, and what its tunables may be, its catalogue knows.
///
/// ```
/// use flyball_units::GovernorSpec;
/// let spec: GovernorSpec = "ondemand: up_threshold=60, powersave_bias=0".parse().unwrap();
/// assert_eq!(spec.to_string(), "ondemand:up_threshold=60,powersave_bias=0");
/// assert_eq!(spec.tunables[0], ("up_threshold".to_owned(), 60));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct GovernorSpec {
    /// Its name.
    pub name: String,
    /// Tunables with their values, each once, in the order in which they are set.
    pub tunables: Vec<(String, i64)>,
}

impl GovernorSpec {
    /// With its default tunables.
    pub fn named(name: impl Into<String>) -> GovernorSpec {
        GovernorSpec { name: name.into(), tunables: Vec::new() }
    }

    /// Reads several, joined by commas: a part with `=` and without `:` is a tunable of the governor
    /// before it. Each is there once.
    ///
    /// # Errors
    /// One that can't be read, or none at all.
    pub fn list(text: &str) -> Result<Vec<GovernorSpec>, Mismatch> {
        let mut specs: Vec<GovernorSpec> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let belongs = part.contains('=') && !part.contains(':');
            match specs.last_mut().filter(|_| belongs) {
                Some(spec) => spec.set(part)?,
                None => specs.push(part.parse()?),
            }
        }
        let mut seen = Vec::new();
        specs.retain(|spec| !seen.contains(spec) && (seen.push(spec.clone()), true).1);
        if specs.is_empty() { Err(Mismatch::text(SUCH, text)) } else { Ok(specs) }
    }

    /// Reads a governor, or `:TUNABLE=VALUE,...` alone, of the governor that is set.
    ///
    /// # Errors
    /// What is neither.
    pub fn name_and_tunables(text: &str) -> Result<(Option<String>, Tunables), Mismatch> {
        let (name, tunables) = match text.trim().strip_prefix(':') {
            Some(rest) if !rest.trim().is_empty() => {
                let mut spec = GovernorSpec::named("");
                spec.set_all(rest)?;
                (None, spec.tunables)
            }
            _ => {
                let spec: GovernorSpec = text.parse()?;
                (Some(spec.name), spec.tunables)
            }
        };
        Ok((name, tunables))
    }

    fn set_all(&mut self, text: &str) -> Result<(), Mismatch> {
        text.split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .try_for_each(|part| self.set(part))
    }

    /// Takes `NAME=VALUE` over.
    ///
    /// # Errors
    /// It is none, or the tunable has a value.
    pub fn set(&mut self, setting: &str) -> Result<(), Mismatch> {
        let (name, value) = tunable(setting)?;
        if self.tunables.iter().any(|(known, _)| *known == name) {
            return Err(Mismatch::text(format!("{name} once"), setting).at(&self.name));
        }
        self.tunables.push((name, value));
        Ok(())
    }
}

/// Reads `NAME=VALUE`, a tunable with its value.
///
/// # Errors
/// There is no name, or no whole number.
pub fn tunable(text: &str) -> Result<(String, i64), Mismatch> {
    let wrong = || {
        let such = "a tunable with a whole number, such as rate_limit_us=500";
        Mismatch::text(such, text.trim())
    };
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    match (name.trim(), value.trim().parse()) {
        (name, Ok(value)) if is_name(name) => Ok((name.to_owned(), value)),
        _ => Err(wrong()),
    }
}

/// A tunable's name becomes part of a path.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

impl FromStr for GovernorSpec {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<GovernorSpec, Mismatch> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut spec = GovernorSpec::named(name.trim());
        if spec.name.is_empty() || spec.name.contains([',', '=']) {
            return Err(Mismatch::text(SUCH, text));
        }
        spec.set_all(rest)?;
        Ok(spec)
    }
}

impl fmt::Display for GovernorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, (name, value)) in self.tunables.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_governor_is_refused() {
        for (text, expected) in [
            ("", "expected a governor such as schedutil"),
            (":x=1", "expected a governor such as schedutil"),
            ("rate_limit_us=70", "expected a governor such as schedutil"),
            ("schedutil:rate_limit_us", "whole number, such as rate_limit_us=500, found"),
            ("schedutil:rate_limit_us=soon", "found \"rate_limit_us=soon\""),
            ("schedutil:=1", "found \"=1\""),
            ("schedutil:../x=1", "found \"../x=1\""),
            ("schedutil:a=1,a=2", "schedutil: expected a once, found \"a=2\""),
        ] {
            let slip = text.parse::<GovernorSpec>().unwrap_err();
            assert!(slip.to_string().contains(expected), "{text}: {slip}");
        }
    }

    #[test]
    fn a_list_knows_which_tunables_belong_to_whom() {
        let list = GovernorSpec::list("schedutil,schedutil:a=1,b=2, tick,schedutil").unwrap();
        let printed: Vec<String> = list.iter().map(ToString::to_string).collect();
        assert_eq!(printed, ["schedutil", "schedutil:a=1,b=2", "tick"]);
        let short = GovernorSpec::list("schedutil,a=1,b=2").unwrap();
        assert_eq!(short, ["schedutil:a=1,b=2".parse().unwrap()]);
        for wrong in ["", " , ", "a=1", "tick,a=x"] {
            assert!(GovernorSpec::list(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn printing_then_reading_is_identity(
            name in "[a-z][a-z+-]{0,11}",
            tunables in proptest::collection::btree_map("[a-z_]{1,12}", any::<i64>(), 0..5),
        ) {
            let spec = GovernorSpec { name, tunables: tunables.into_iter().collect() };
            prop_assert_eq!(spec.to_string().parse(), Ok(spec.clone()));
            prop_assert_eq!(GovernorSpec::list(&spec.to_string()), Ok(vec![spec]));
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,60}") {
            let _ = text.parse::<GovernorSpec>();
            let _ = GovernorSpec::list(&text);
        }
    }
}
