//! From text or a table to a [`Profile`]: one set of keys and one set of errors for both.

use super::profile::{CpuChoice, GeneratorKind, Group, Kind, Profile};
use flyball_units::{CpuSet, Nanos, nearest};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The keys of a group, on the command line and in a file.
pub const KEYS: &[&str] =
    &["cpus", "cpu", "count", "percent", "pinned", "period", "kind", "buffer", "nice", "generator"];

/// The words that stand alone in a text.
pub const WORDS: &[&str] = &[
    "idle",
    "medium",
    "heavy",
    "pinned",
    "unpinned",
    "integer",
    "float",
    "memory",
    "flyball",
    "stress-ng",
];

/// A profile that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// A word or key that nothing is called.
    #[error("load: unknown word {found:?}")]
    Unknown {
        /// The word.
        found: String,
        /// The nearest right one.
        near: Option<&'static str>,
    },
    /// A key with a value that it can't have.
    #[error("load: {key}: expected {expected}, found {found:?}")]
    Value {
        /// The key.
        key: &'static str,
        /// What would do.
        expected: String,
        /// What was there, shortened to 80 characters.
        found: String,
    },
    /// The same thing said twice.
    #[error("load: {key} is given twice, the second time by {found:?}")]
    Twice {
        /// The key.
        key: &'static str,
        /// The second value.
        found: String,
    },
    /// Something that has no default.
    #[error("load: {key} is missing in {group:?}")]
    Missing {
        /// The key.
        key: &'static str,
        /// The group as written.
        group: String,
    },
    /// Two things that exclude each other.
    #[error("load: {first} does not go with {second}")]
    Conflict {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
}

impl ProfileError {
    /// What would be right.
    pub fn hint(&self) -> Option<String> {
        match self {
            ProfileError::Unknown { near: Some(near), .. } => Some(format!("did you mean {near}?")),
            ProfileError::Unknown { near: None, .. } => Some(format!(
                "a load is idle, medium, heavy, COUNTxPERCENT% such as 2x50%, or a list of {}",
                KEYS.join(", ")
            )),
            ProfileError::Value { key: "cpus", found, .. } if found.parse::<u32>().is_ok() => Some(
                format!("count={found} for {found} threads anywhere, cpu={found} for that CPU"),
            ),
            ProfileError::Value { key: "percent", .. } => {
                Some("100 takes a whole CPU; for several CPUs write 2x100%".to_owned())
            }
            ProfileError::Missing { key: "percent", .. } => Some("add percent=50".to_owned()),
            ProfileError::Missing { .. } => Some("add cpus=0-3, or write 2x50%".to_owned()),
            ProfileError::Conflict { second, .. } if second.contains("stress-ng") => {
                Some("leave out generator=stress-ng".to_owned())
            }
            _ => None,
        }
    }
}

/// A value as it came: a text from the command line, or what a file holds.
#[derive(Clone, Debug)]
enum Value {
    Text(String),
    Integer(i64),
    Bool(bool),
    Other(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) | Value::Other(text) => f.write_str(text),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Bool(flag) => write!(f, "{flag}"),
        }
    }
}

impl Value {
    /// The whole number in it, from a text as well.
    fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// A group while it is being read.
#[derive(Debug, Default)]
struct Draft {
    cpus: Option<CpuChoice>,
    percent: Option<u8>,
    pinned: Option<bool>,
    period: Option<Nanos>,
    kind: Option<Kind>,
    buffer: Option<u64>,
    nice: Option<i8>,
    generator: Option<GeneratorKind>,
}

/// Parses a whole profile from a text: `idle`, or groups joined by `+`.
pub(super) fn profile(text: &str) -> Result<Profile, ProfileError> {
    if text.trim() == "idle" {
        return Ok(Profile::IDLE);
    }
    let groups = text.split('+').map(|part| group(part.trim())).collect::<Result<_, _>>()?;
    Ok(Profile { groups })
}

/// Parses one group: items joined by commas. A list of CPUs holds commas itself: an item that
/// is only digits and dashes belongs to the `cpus=` before it.
fn group(text: &str) -> Result<Group, ProfileError> {
    let mut draft = Draft::default();
    let mut items = text.split(',').map(str::trim).peekable();
    while let Some(item) = items.next() {
        match item.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some(("cpus", value)) => {
                let mut list = value.to_owned();
                while let Some(more) = items.next_if(|item| is_cpu_range(item)) {
                    list = format!("{list},{more}");
                }
                // A file tells a count from a CPU's number by its type; here both look alike.
                if list.parse::<u32>().is_ok() {
                    return Err(value_error(
                        "cpus",
                        "a list such as 0-3, all, half or others",
                        &list,
                    ));
                }
                draft.set("cpus", &Value::Text(list))?;
            }
            Some((key, value)) => draft.set(key, &Value::Text(value.to_owned()))?,
            None => draft.word(item)?,
        }
    }
    draft.finish(text)
}

fn is_cpu_range(item: &str) -> bool {
    !item.is_empty() && item.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

impl Draft {
    /// A word without a key: a named profile, `2x50%`, `50%`, a kind, a generator, a flag.
    fn word(&mut self, word: &str) -> Result<(), ProfileError> {
        let text = |text: &str| Value::Text(text.to_owned());
        if let Some((count, percent)) = word.split_once('x').filter(|(_, rest)| starts_number(rest))
        {
            let key = if starts_number(count) { "count" } else { "cpus" };
            self.set(key, &text(count))?;
            return self.set("percent", &text(percent));
        }
        match word {
            "medium" | "heavy" => {
                let (cpus, percent) = if word == "medium" { ("half", 50) } else { ("all", 90) };
                self.set("cpus", &text(cpus))?;
                self.set("percent", &Value::Integer(percent))
            }
            "pinned" => self.set("pinned", &Value::Bool(true)),
            "unpinned" => self.set("pinned", &Value::Bool(false)),
            "idle" => Err(ProfileError::Conflict {
                first: "idle".to_owned(),
                second: "any other load".to_owned(),
            }),
            _ if word.ends_with('%') => self.set("percent", &text(word)),
            _ if Kind::ALL.iter().any(|kind| kind.name() == word) => self.set("kind", &text(word)),
            _ if GeneratorKind::ALL.iter().any(|generator| generator.name() == word) => {
                self.set("generator", &text(word))
            }
            _ => Err(unknown(word, WORDS.iter().chain(KEYS))),
        }
    }

    /// One key with its value.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), ProfileError> {
        match key {
            "cpus" => put("cpus", &mut self.cpus, value, cpus),
            "cpu" => put("cpus", &mut self.cpus, value, one_cpu),
            "count" => put("cpus", &mut self.cpus, value, count),
            "percent" => put("percent", &mut self.percent, value, percent),
            "pinned" => put("pinned", &mut self.pinned, value, flag),
            "period" => put("period", &mut self.period, value, period),
            "kind" => put("kind", &mut self.kind, value, kind),
            "buffer" => put("buffer", &mut self.buffer, value, bytes),
            "nice" => put("nice", &mut self.nice, value, nice),
            "generator" => put("generator", &mut self.generator, value, generator),
            _ => Err(unknown(key, KEYS.iter())),
        }
    }

    /// The group, with the defaults filled in; `text` is the group as written, for the error.
    fn finish(self, text: &str) -> Result<Group, ProfileError> {
        let missing = |key| ProfileError::Missing { key, group: shorten(text) };
        let cpus = self.cpus.ok_or_else(|| missing("cpus"))?;
        let mut group = Group::new(cpus, self.percent.ok_or_else(|| missing("percent"))?);
        group.pinned = self.pinned.unwrap_or(group.pinned);
        group.period = self.period;
        group.kind = self.kind.unwrap_or_default();
        group.buffer = self.buffer;
        group.nice = self.nice.unwrap_or_default();
        group.generator = self.generator.unwrap_or_default();
        let conflict =
            |first: String, second: String| Err(ProfileError::Conflict { first, second });
        if group.generator == GeneratorKind::StressNg {
            let with = "generator=stress-ng (its --cpu-load knows neither)".to_owned();
            if group.kind == Kind::Memory {
                return conflict("kind=memory".to_owned(), with);
            }
            if group.nice != 0 {
                return conflict(format!("nice={}", group.nice), with);
            }
        }
        if group.buffer.is_some() && group.kind != Kind::Memory {
            return conflict("buffer".to_owned(), format!("kind={}", group.kind));
        }
        Ok(group)
    }
}

fn starts_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || first == '-' || first == '+')
}

/// Sets `slot` to what `read` makes of `value`, unless it was set before.
fn put<T>(
    key: &'static str,
    slot: &mut Option<T>,
    value: &Value,
    read: impl Fn(&Value) -> Result<T, ProfileError>,
) -> Result<(), ProfileError> {
    if slot.is_some() {
        return Err(ProfileError::Twice { key, found: shorten(&value.to_string()) });
    }
    *slot = Some(read(value)?);
    Ok(())
}

fn cpus(value: &Value) -> Result<CpuChoice, ProfileError> {
    match value {
        Value::Integer(_) => count(value),
        Value::Text(text) if text == "all" => Ok(CpuChoice::All),
        Value::Text(text) if text == "half" => Ok(CpuChoice::Half),
        Value::Text(text) if text == "others" => Ok(CpuChoice::Others),
        Value::Text(text) => match text.parse::<CpuSet>() {
            Ok(set) if !set.is_empty() => Ok(CpuChoice::List(set)),
            Ok(_) => Err(value_error("cpus", "at least one CPU", text)),
            Err(error) => Err(ProfileError::Value {
                key: "cpus",
                expected: format!("{}, all, half or others", error.expected),
                found: error.found.trim_matches('"').to_owned(),
            }),
        },
        _ => {
            Err(value_error("cpus", "a list such as \"0-3\", all, half, others or a count", value))
        }
    }
}

fn one_cpu(value: &Value) -> Result<CpuChoice, ProfileError> {
    let limit = i64::from(CpuSet::LIMIT);
    match value.integer() {
        Some(number) if (0..limit).contains(&number) => {
            Ok(CpuChoice::List(CpuSet::from(flyball_units::CpuId(number as u32))))
        }
        _ => Err(value_error("cpu", "the number of one CPU", value)),
    }
}

fn count(value: &Value) -> Result<CpuChoice, ProfileError> {
    match value.integer() {
        Some(count) if (1..=i64::from(CpuSet::LIMIT)).contains(&count) => {
            Ok(CpuChoice::Count(count as u32))
        }
        Some(count) if count > 0 => {
            Err(value_error("count", format!("at most {} threads", CpuSet::LIMIT), value))
        }
        _ => Err(value_error("count", "a whole number of threads from 1", value)),
    }
}

fn percent(value: &Value) -> Result<u8, ProfileError> {
    let number = match value {
        Value::Text(text) => text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok(),
        other => other.integer(),
    };
    match number {
        Some(percent @ 1..=100) => Ok(percent as u8),
        _ => Err(value_error("percent", "a whole number from 1 to 100", value)),
    }
}

fn flag(value: &Value) -> Result<bool, ProfileError> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::Text(text) if text == "true" => Ok(true),
        Value::Text(text) if text == "false" => Ok(false),
        _ => Err(value_error("pinned", "true or false", value)),
    }
}

fn period(value: &Value) -> Result<Nanos, ProfileError> {
    let wrong = || value_error("period", "a time from 1ms to 1s, such as 10ms", value);
    let Value::Text(text) = value else { return Err(wrong()) };
    let period = humantime::parse_duration(text).map_err(|_| wrong())?;
    // Whole microseconds, so that the printed form says all of it.
    match u64::try_from(period.as_nanos()) {
        Ok(nanos @ 1_000_000..=1_000_000_000) if nanos % 1000 == 0 => Ok(Nanos(nanos)),
        _ => Err(wrong()),
    }
}

fn nice(value: &Value) -> Result<i8, ProfileError> {
    match value.integer() {
        Some(nice @ -20..=19) => Ok(nice as i8),
        _ => Err(value_error("nice", "a whole number from -20 to 19", value)),
    }
}

/// A size such as `64MiB`: at least a page, at most 2^42 bytes.
fn bytes(value: &Value) -> Result<u64, ProfileError> {
    let wrong = || value_error("buffer", "a size from 4KiB to 4096GiB, such as 64MiB", value);
    let text = value.to_string();
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let (digits, shift) = units
        .iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?.trim_end(), shift)))
        .ok_or_else(wrong)?;
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    match number.checked_mul(1 << shift) {
        Some(bytes) if (4096..=1 << 42).contains(&bytes) => Ok(bytes),
        _ => Err(wrong()),
    }
}

fn kind(value: &Value) -> Result<Kind, ProfileError> {
    named("kind", &Kind::ALL, Kind::name, value)
}

fn generator(value: &Value) -> Result<GeneratorKind, ProfileError> {
    named("generator", &GeneratorKind::ALL, GeneratorKind::name, value)
}

/// A value that is one of several names.
fn named<T: Copy>(
    key: &'static str,
    all: &[T],
    name: fn(T) -> &'static str,
    value: &Value,
) -> Result<T, ProfileError> {
    let text = value.to_string();
    all.iter().copied().find(|&item| name(item) == text).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&item| name(item)).collect();
        value_error(key, names.join(" or "), text)
    })
}

fn value_error(key: &'static str, expected: impl ToString, found: impl ToString) -> ProfileError {
    ProfileError::Value { key, expected: expected.to_string(), found: shorten(&found.to_string()) }
}

/// The error for an unknown word, with the nearest of `known` if one is near.
fn unknown<'a>(word: &str, known: impl Iterator<Item = &'a &'static str>) -> ProfileError {
    ProfileError::Unknown { found: shorten(word), near: nearest(word, known.copied()) }
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

/// With the hint in the text, because a deserialiser passes on nothing else.
fn custom<E: de::Error>(error: &ProfileError) -> E {
    match error.hint() {
        Some(hint) => E::custom(format!("{error}; {hint}")),
        None => E::custom(error),
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Profile, D::Error> {
        deserializer.deserialize_any(ProfileVisitor)
    }
}

struct ProfileVisitor;

impl<'de> Visitor<'de> for ProfileVisitor {
    type Value = Profile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a load: \"medium\", \"2x50%\", { cpus = \"0-3\", percent = 90 }, or a list of those",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Profile, E> {
        profile(text).map_err(|error| custom(&error))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Profile, A::Error> {
        let mut draft = Draft::default();
        let mut keys = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            // An unknown key is told before its value is looked at, so that the place is the key's.
            if !KEYS.contains(&key.as_str()) {
                return Err(custom(&unknown(&key, KEYS.iter())));
            }
            let value = map.next_value::<Value>()?;
            draft.set(&key, &value).map_err(|error| custom::<A::Error>(&error))?;
            keys.push(key);
        }
        let group = draft.finish(&keys.join(", ")).map_err(|error| custom::<A::Error>(&error))?;
        Ok(Profile { groups: vec![group] })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Profile, A::Error> {
        let mut groups = Vec::new();
        while let Some(part) = seq.next_element::<Profile>()? {
            groups.extend(part.groups);
        }
        Ok(Profile { groups })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        struct ValueVisitor;
        impl Visitor<'_> for ValueVisitor {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a whole number, true or false")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Value, E> {
                Ok(Value::Bool(flag))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Integer(number))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
                Ok(i64::try_from(number).map_or(Value::Other(number.to_string()), Value::Integer))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
                Ok(Value::Other(number.to_string()))
            }
        }
        deserializer.deserialize_any(ValueVisitor)
    }
}
