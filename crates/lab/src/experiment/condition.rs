//! One condition: the settings, and the small languages of scheduling class and placement.

use super::ExperimentError;
use flyball_control::{SETTINGS, Scope, Settings};
use flyball_host::Scheduling;
use flyball_load::Profile;
use flyball_units::{CpuSet, Duration, Frequency, Mismatch, Nanos, as_text, nearest};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// One condition: everything that may differ between two sides of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub struct Condition {
    /// Name in the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Background load: `idle`, `medium`, `heavy`, or groups such as `2x50%` and
    /// `cpus=0-3,percent=90,kind=memory,pinned`, joined with `+`; `,stress-ng` lets stress-ng
    /// make it.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub load: Profile,
    /// Scheduling class of the measuring thread: `other`, `fifo:80`, `rr:80` or
    /// `deadline:RUNTIME/PERIOD` such as `deadline:2ms/20ms`.
    #[cfg_attr(feature = "schema", schemars(with = "String", default))]
    pub scheduling: Class,
    /// Where the measuring thread runs: `cpuN`, `cpus=0-3`, `any` (the scheduler chooses) or
    /// `each-core-type` (one condition per kind of core).
    #[cfg_attr(feature = "schema", schemars(with = "String", default))]
    pub placement: Placement,
    /// What is set meanwhile.
    #[serde(flatten)]
    pub settings: Settings,
}

/// The keys of a condition that are no settings.
const OWN: [&str; 4] = ["name", "load", "scheduling", "placement"];

impl Condition {
    /// Its name in the report: the given one, or what it asks for beyond the defaults.
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let scopes = [Scope::Domains, Scope::Hardware, Scope::Thread];
        let mut parts: Vec<String> = self.settings.told(&scopes).collect();
        if parts.is_empty() || !self.load.is_idle() {
            parts.push(self.load.to_string());
        }
        if self.scheduling != Class::default() {
            parts.push(self.scheduling.to_string());
        }
        if self.placement != Placement::default() {
            parts.push(self.placement.to_string());
        }
        parts.extend(self.settings.told(&[Scope::Idle]));
        parts.join(" ")
    }

    /// What of it is held around its trials; none where it asks for nothing. Idle states are the
    /// trial's own matter.
    pub fn held(&self) -> Option<Settings> {
        Some(self.settings.held().without_idle()).filter(|settings| !settings.is_empty())
    }
}

/// Refuses combinations that no machine could carry out.
pub(super) fn check(condition: &Condition, origin: &str) -> Result<(), ExperimentError> {
    let bad = |message: String| {
        Err(ExperimentError::bad(origin, format!("condition \"{}\": {message}", condition.label())))
    };
    let asked = &condition.settings;
    match (&asked.governor, &asked.frequency) {
        (Some(governor), Some(_)) => {
            return bad(format!(
                "expected a governor or a pinned frequency, found both (governor \"{governor}\")"
            ));
        }
        (None, _) if !asked.tunables.is_empty() => {
            return bad("tunables: expected a governor to set them on, found none".into());
        }
        (_, Some(_)) if asked.min.is_some() || asked.max.is_some() => {
            return bad("expected a pinned frequency or limits, found both".into());
        }
        _ => {}
    }
    asked.check().or_else(|slip| bad(slip.line()))?;
    match (asked.min, asked.max) {
        (Some(Frequency::At(min)), Some(Frequency::At(max))) if min > max => bad(format!(
            "expected min_frequency up to max_frequency ({}), found {}",
            Frequency::At(max),
            Frequency::At(min)
        )),
        (Some(Frequency::Max), Some(Frequency::At(_) | Frequency::Min)) => {
            bad("expected min_frequency up to max_frequency, found \"max\"".into())
        }
        _ => Ok(()),
    }
}

/// A scheduling class as experiments write it: `other`, `fifo:80`, `rr:80` or `deadline:2ms/20ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Class(pub Scheduling);

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Scheduling::Other { .. } => f.write_str("other"),
            Scheduling::Deadline { runtime, period, .. } => {
                write!(f, "deadline:{}/{}", Duration(runtime), Duration(period))
            }
            other => other.fmt(f),
        }
    }
}

impl FromStr for Class {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Class, Mismatch> {
        let (class, argument) = match text.split_once(':') {
            Some((class, argument)) => (class.trim(), Some(argument.trim())),
            None => (text.trim(), None),
        };
        let wrong = |expected: &str| Mismatch::text(expected, text);
        let priority = || match argument {
            None => Err(wrong(&format!("a priority, such as \"{class}:80\""))),
            Some(argument) => argument
                .parse()
                .ok()
                .filter(|priority| (1..=99).contains(priority))
                .ok_or_else(|| Mismatch::text("a real-time priority from 1 to 99", argument)),
        };
        let scheduling = match (class, argument) {
            ("other", None) => Scheduling::Other { nice: 0 },
            ("fifo", _) => Scheduling::Fifo { priority: priority()? },
            ("rr", _) => Scheduling::RoundRobin { priority: priority()? },
            ("deadline", Some(argument)) => {
                let such = "RUNTIME/PERIOD, such as 2ms/20ms";
                let (runtime, period) =
                    argument.split_once('/').ok_or_else(|| Mismatch::text(such, argument))?;
                let (runtime, period) = (runtime.parse()?, period.parse()?);
                if runtime == Nanos::ZERO || runtime > period {
                    let such = "a runtime above 0 and at most the period";
                    return Err(Mismatch::text(such, argument));
                }
                Scheduling::Deadline { runtime, deadline: period, period }
            }
            _ => {
                let such = "a scheduling class (other, fifo:80, rr:80, deadline:2ms/20ms)";
                return Err(near(wrong(such), class, &["other", "fifo", "rr", "deadline"]));
            }
        };
        Ok(Class(scheduling))
    }
}

as_text!(Class);
as_text!(Placement);

/// With the nearest word as hint, in quotation marks as it would be written in a file.
fn near(slip: Mismatch, word: &str, known: &[&str]) -> Mismatch {
    match nearest(word, known.iter().copied()) {
        Some(near) => slip.hint(format!("did you mean \"{near}\"?")),
        None => slip,
    }
}

/// Where the measuring thread runs, as asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The scheduler chooses.
    Any,
    /// These CPUs.
    Cpus(CpuSet),
    /// One condition per kind of core.
    #[default]
    EachCoreType,
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Any => f.write_str("any"),
            Placement::EachCoreType => f.write_str("each-core-type"),
            Placement::Cpus(cpus) if cpus.len() == 1 => write!(f, "cpu{cpus}"),
            Placement::Cpus(cpus) => write!(f, "cpus={cpus}"),
        }
    }
}

impl FromStr for Placement {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Placement, Mismatch> {
        let text = text.trim();
        match text {
            "any" => return Ok(Placement::Any),
            "each-core-type" => return Ok(Placement::EachCoreType),
            _ => {}
        }
        let list =
            text.strip_prefix("cpus=").or_else(|| text.strip_prefix("cpu")).ok_or_else(|| {
                let such = "a placement (any, each-core-type, cpu3, cpus=0-3)";
                near(Mismatch::text(such, text), text, &["any", "each-core-type"])
            })?;
        let cpus: CpuSet =
            list.parse().map_err(|slip: Mismatch| slip.at(format!("in placement \"{text}\"")))?;
        match cpus.is_empty() {
            true => Err(Mismatch::text("at least one CPU", text)),
            false => Ok(Placement::Cpus(cpus)),
        }
    }
}

/// By hand, because serde's own flattening loses the line and column of what is wrong.
impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Condition, D::Error> {
        deserializer.deserialize_map(ConditionVisitor)
    }
}

struct ConditionVisitor;

impl<'de> Visitor<'de> for ConditionVisitor {
    type Value = Condition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a condition: a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Condition, A::Error> {
        let mut own = Condition::default();
        let split = Split { map, own: &mut own };
        let mut settings = Settings::deserialize(MapAccessDeserializer::new(split))?;
        settings.split_governor();
        Ok(Condition { settings, ..own })
    }
}

/// The keys of the settings; what is the condition's own goes there on the way.
struct Split<'a, A> {
    map: A,
    own: &'a mut Condition,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Split<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        mut seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key_seed(Key(seed))? {
                None => return Ok(None),
                Some(Found::Setting(key)) => return Ok(Some(key)),
                Some(Found::Own(key, back)) => {
                    seed = back;
                    match key.as_str() {
                        "name" => self.own.name = Some(self.map.next_value()?),
                        "load" => self.own.load = self.map.next_value()?,
                        "scheduling" => self.own.scheduling = self.map.next_value()?,
                        _ => self.own.placement = self.map.next_value()?,
                    }
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A key on its way: checked here, where its place in the file is known.
struct Key<S>(S);

enum Found<T, S> {
    /// For the settings.
    Setting(T),
    /// The condition's own, with the seed for the next one.
    Own(String, S),
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<S> {
    type Value = Found<S::Value, S>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        static KNOWN: LazyLock<Vec<&str>> = LazyLock::new(|| {
            let keys = SETTINGS.iter().map(|setting| setting.key);
            OWN.into_iter().chain(keys).chain(["tunables"]).collect()
        });
        let key = String::deserialize(deserializer)?;
        if OWN.contains(&key.as_str()) {
            return Ok(Found::Own(key, self.0));
        }
        if !KNOWN.contains(&key.as_str()) {
            return Err(D::Error::unknown_field(&key, &KNOWN));
        }
        self.0.deserialize(key.into_deserializer()).map(Found::Setting)
    }
}
