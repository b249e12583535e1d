//! A variant of a ramp-up: gaps, sleeps and settings, read from the words of one line.

use flyball_units::{Duration, GovernorSpec, Mismatch, Nanos};

/// The gaps that are swept on one machine alone: half a decade apart.
const SWEEP: [Nanos; 7] = [
    Nanos::from_millis(1),
    Nanos::from_millis(3),
    Nanos::from_millis(10),
    Nanos::from_millis(30),
    Nanos::from_millis(100),
    Nanos::from_millis(300),
    Nanos::from_millis(1000),
];

/// The gap, and how often it is slept: the kernel's signals have forgotten all work then.
const RESTED: (Nanos, u32) = (Nanos::from_millis(10), 100);

/// One variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its own settings; they are made behind those of all.
    pub words: Vec<String>,
    /// Sleeps before a spin.
    pub sleeps: u32,
    /// Their lengths.
    pub gaps: Vec<Nanos>,
}

impl Variant {
    /// What a variant is called where none is named.
    pub const ONLY: &str = "as it is";

    /// The usual one: a sweep of gaps on one machine `alone`; rested before the spin where machines
    /// stand side by side.
    pub fn usual(alone: bool) -> Variant {
        let (gaps, sleeps) = match alone {
            true => (SWEEP.to_vec(), 1),
            false => (vec![RESTED.0], RESTED.1),
        };
        Variant { name: Variant::ONLY.to_owned(), words: Vec::new(), sleeps, gaps }
    }

    /// The same under another name, with settings separated by spaces.
    ///
    /// # Errors
    /// A gap, a number of sleeps or a governor that does not read.
    pub fn with(&self, name: &str, settings: &str) -> Result<Variant, Mismatch> {
        let mut one = Variant { name: name.to_owned(), ..self.clone() };
        for word in settings.split_whitespace() {
            match word.split_once('=') {
                Some(("gap", value)) => {
                    one.gaps = gaps(value.split(',')).map_err(|slip| slip.at("gap"))?;
                }
                Some(("sleeps", value)) => {
                    let slip = |_| Mismatch::text("a whole number", value).at("sleeps");
                    one.sleeps = value.parse().map_err(slip)?;
                }
                Some(("governor", value)) => {
                    one.words.extend(governor(value).map_err(|slip| slip.at("governor"))?);
                }
                _ => one.words.push(word.to_owned()),
            }
        }
        Ok(one)
    }
}

/// A variant per governor of a list, each named for it; of one alone, the base under its own name.
///
/// # Errors
/// A text that is no list of governors.
pub fn per_governor(base: &Variant, text: &str) -> Result<Vec<Variant>, Mismatch> {
    let several = match text.trim_start().starts_with(':') {
        true => Vec::new(),
        false => GovernorSpec::list(text)?,
    };
    if several.len() < 2 {
        let words = governor(text)?;
        return Ok(vec![Variant { words, ..base.clone() }]);
    }
    several
        .iter()
        .map(GovernorSpec::to_string)
        .map(|spec| Ok(Variant { name: spec.clone(), words: governor(&spec)?, ..base.clone() }))
        .collect()
}

/// The variants that `texts` describe, each as `NAME: SETTINGS`.
///
/// # Errors
/// One without a name, or with one that is there already; settings that do not read.
pub fn named(base: &Variant, texts: &[String]) -> Result<Vec<Variant>, Mismatch> {
    let mut all: Vec<Variant> = Vec::new();
    for text in texts {
        let (name, settings) = text.split_once(':').ok_or_else(|| {
            let example = "such as 'series: series rate_limit_us=70'";
            Mismatch::text("NAME: SETTINGS", text).hint(example)
        })?;
        let name = name.trim();
        if name.is_empty() || all.iter().any(|one| one.name == name) {
            return Err(Mismatch::text("names that differ", name));
        }
        all.push(base.with(name, settings)?);
    }
    Ok(all)
}

/// Lengths of sleeps.
///
/// # Errors
/// A text that is no duration.
pub fn gaps<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<Nanos>, Mismatch> {
    texts.map(|text| Ok(Nanos(text.trim().parse::<Duration>()?.nanos()))).collect()
}

/// A governor and its tunables, a word each.
///
/// # Errors
/// A text that is no governor.
pub fn governor(text: &str) -> Result<Vec<String>, Mismatch> {
    let (name, tunables) = GovernorSpec::name_and_tunables(text)?;
    let name = name.map(|name| format!("governor={name}"));
    let pair = |(name, value): (String, i64)| format!("{name}={value}");
    Ok(name.into_iter().chain(tunables.into_iter().map(pair)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::rampup::Ask;

    #[test]
    fn governors_stand_side_by_side() {
        let base = Variant::usual(false);
        let all = per_governor(&base, "schedutil:rate_limit_us=500,up=1,ondemand").unwrap();
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["schedutil:rate_limit_us=500,up=1", "ondemand"]);
        assert_eq!(all[0].words, ["governor=schedutil", "rate_limit_us=500", "up=1"]);
        for alone in ["schedutil", ":rate_limit_us=500"] {
            let one = per_governor(&base, alone).unwrap();
            assert_eq!((one.len(), one[0].name.as_str()), (1, Variant::ONLY));
        }
        assert!(per_governor(&base, "schedutil:rate_limit_us").is_err());
        let texts = ["a: gap=1ms".to_owned(), "a: hz=100".to_owned()];
        assert!(named(&base, &texts).is_err() && named(&base, &["a".to_owned()]).is_err());
    }

    #[test]
    fn variants_become_settings() {
        let base = Variant::usual(true);
        let ask = Ask {
            words: governor("schedutil").unwrap(),
            variants: vec![
                base.with("a", "rate_limit_us=500 gap=1ms,5ms").unwrap(),
                base.with("b", "uclamp_min=512 cpus=0 sleeps=3 governor=ondemand:up_threshold=60")
                    .unwrap(),
            ],
            spin: Nanos::from_millis(20),
            repeats: 1,
            phases: 1,
            seed: 1,
            events: None,
        };
        let plan = ask.plan().unwrap();
        let [a, b] = &plan.conditions[..] else { panic!("{plan:?}") };
        assert_eq!(a.settings.tunables["rate_limit_us"], 500);
        assert_eq!(a.settings.governor.as_deref(), Some("schedutil"));
        assert_eq!(a.gaps.len(), 2);
        assert_eq!((b.settings.clamp(), b.sleeps, b.gaps.len()), (Some((512, 1024)), 3, 7));
        assert_eq!(b.settings.governor.as_deref(), Some("ondemand"));
        assert_eq!(b.settings.tunables["up_threshold"], 60);
        assert_eq!(b.cpus.as_ref().map(ToString::to_string).as_deref(), Some("0"));
    }
}
