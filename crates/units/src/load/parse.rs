//! From text or a table to a [`Profile`]: one set of keys and one set of errors for both.

use super::{CpuChoice, GeneratorKind, Group, Kind, Profile};
use crate::{CpuSet, Mismatch, Nanos, with_unit};
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

/// What a load looks like.
const SUCH: &str = "a load such as idle, medium, heavy, 2x50% or cpus=0-3,percent=90";

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
pub(super) fn profile(text: &str) -> Result<Profile, Mismatch> {
    if text.trim() == "idle" {
        return Ok(Profile::IDLE);
    }
    let groups = text.split('+').map(|part| group(part.trim())).collect::<Result<_, _>>()?;
    Ok(Profile { groups })
}

/// Parses one group: items joined by commas. A list of CPUs holds commas itself: an item that
/// is only digits and dashes belongs to the list before it.
fn group(text: &str) -> Result<Group, Mismatch> {
    let mut draft = Draft::default();
    let mut items = text.split(',').map(str::trim).peekable();
    while let Some(item) = items.next() {
        match item.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some((key @ ("cpus" | "cpu"), value)) => {
                let mut list = value.to_owned();
                while let Some(more) = items.next_if(|item| is_cpu_range(item)) {
                    list = format!("{list},{more}");
                }
                draft.set(key, &Value::Text(list))?;
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
    fn word(&mut self, word: &str) -> Result<(), Mismatch> {
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
            "idle" => Err(conflict("idle", "any other load", "idle alone")),
            _ if word.ends_with('%') => self.set("percent", &text(word)),
            _ if Kind::ALL.iter().any(|kind| kind.name() == word) => self.set("kind", &text(word)),
            _ if GeneratorKind::ALL.iter().any(|generator| generator.name() == word) => {
                self.set("generator", &text(word))
            }
            _ => Err(unknown(word, WORDS.iter().chain(KEYS))),
        }
    }

    /// One key with its value.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Mismatch> {
        match key {
            "cpus" => put("cpus", &mut self.cpus, value, cpus),
            "cpu" => put("cpus", &mut self.cpus, value, numbered),
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
    fn finish(self, text: &str) -> Result<Group, Mismatch> {
        let missing = |key, hint: &str| Mismatch::text(format!("{key}, too"), text).hint(hint);
        let cpus = self.cpus.ok_or_else(|| missing("cpus", "add cpus=0-3, or write 2x50%"))?;
        let mut group =
            Group::new(cpus, self.percent.ok_or_else(|| missing("percent", "add percent=50"))?);
        group.pinned = self.pinned.unwrap_or(group.pinned);
        group.period = self.period;
        group.kind = self.kind.unwrap_or_default();
        group.buffer = self.buffer;
        group.nice = self.nice.unwrap_or_default();
        group.generator = self.generator.unwrap_or_default();
        if group.generator == GeneratorKind::StressNg {
            let (with, hint) = ("generator=stress-ng", "leave out generator=stress-ng");
            if group.kind == Kind::Memory {
                return Err(conflict("kind=memory", with, hint));
            }
            if group.nice != 0 {
                return Err(conflict(&format!("nice={}", group.nice), with, hint));
            }
        }
        if group.buffer.is_some() && group.kind != Kind::Memory {
            let kind = format!("kind={}", group.kind);
            return Err(conflict("buffer", &kind, "a buffer is of kind=memory"));
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
    read: impl Fn(&Value) -> Result<T, Mismatch>,
) -> Result<(), Mismatch> {
    if slot.is_some() {
        return Err(Mismatch::value(
            format!("{key} once"),
            format_args!("it again as {}", quoted(value)),
        ));
    }
    *slot = Some(read(value)?);
    Ok(())
}

fn cpus(value: &Value) -> Result<CpuChoice, Mismatch> {
    match value {
        Value::Integer(_) => count(value),
        Value::Text(text) if text == "all" => Ok(CpuChoice::All),
        Value::Text(text) if text == "half" => Ok(CpuChoice::Half),
        Value::Text(text) if text == "others" => Ok(CpuChoice::Others),
        Value::Text(text) => match text.parse::<CpuSet>() {
            Ok(set) if !set.is_empty() => Ok(CpuChoice::List(set)),
            Ok(_) => Err(value_error("cpus", "at least one CPU", text)),
            Err(slip) => {
                let slip = Mismatch {
                    expected: format!("{}, all, half or others", slip.expected),
                    ..slip
                };
                Err(slip.near(text, ["all", "half", "others"]).at("cpus"))
            }
        },
        _ => {
            Err(value_error("cpus", "a list such as \"0-3\", all, half, others or a count", value))
        }
    }
}

/// CPUs by their numbers, where a bare number is one of them too.
fn numbered(value: &Value) -> Result<CpuChoice, Mismatch> {
    cpus(&Value::Text(value.to_string()))
}

fn count(value: &Value) -> Result<CpuChoice, Mismatch> {
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

fn percent(value: &Value) -> Result<u8, Mismatch> {
    let number = match value {
        Value::Text(text) => text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok(),
        other => other.integer(),
    };
    match number {
        Some(percent @ 1..=100) => Ok(percent as u8),
        _ => Err(value_error("percent", "a whole number from 1 to 100", value)),
    }
}

fn flag(value: &Value) -> Result<bool, Mismatch> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::Text(text) if text == "true" => Ok(true),
        Value::Text(text) if text == "false" => Ok(false),
        _ => Err(value_error("pinned", "true or false", value)),
    }
}

fn period(value: &Value) -> Result<Nanos, Mismatch> {
    let wrong = || value_error("period", "a time from 1ms to 1s, such as 10ms", value);
    let Value::Text(text) = value else { return Err(wrong()) };
    // Whole microseconds, so that the printed form says all of it.
    match text.parse() {
        Ok(time @ Nanos(1_000_000..=1_000_000_000)) if time.0 % 1000 == 0 => Ok(time),
        _ => Err(wrong()),
    }
}

fn nice(value: &Value) -> Result<i8, Mismatch> {
    match value.integer() {
        Some(nice @ -20..=19) => Ok(nice as i8),
        _ => Err(value_error("nice", "a whole number from -20 to 19", value)),
    }
}

/// A size such as `64MiB`: at least a page, at most 2^42 bytes.
fn bytes(value: &Value) -> Result<u64, Mismatch> {
    const UNITS: [(&str, u64); 3] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    let such = "a size from 4KiB to 4096GiB, such as 64MiB";
    match with_unit(&value.to_string(), &UNITS, such).map_err(|slip| slip.at("buffer"))? {
        bytes @ 0x1000..=0x400_0000_0000 if bytes % 1024 == 0 => Ok(bytes),
        _ => Err(value_error("buffer", such, value)),
    }
}

fn kind(value: &Value) -> Result<Kind, Mismatch> {
    named("kind", &Kind::ALL, Kind::name, value)
}

fn generator(value: &Value) -> Result<GeneratorKind, Mismatch> {
    named("generator", &GeneratorKind::ALL, GeneratorKind::name, value)
}

/// A value that is one of several names.
fn named<T: Copy>(
    key: &'static str,
    all: &[T],
    name: fn(T) -> &'static str,
    value: &Value,
) -> Result<T, Mismatch> {
    let text = value.to_string();
    all.iter().copied().find(|&item| name(item) == text).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&item| name(item)).collect();
        value_error(key, names.join(" or "), &text).near(&text, names)
    })
}

fn value_error(key: &str, expected: impl Into<String>, found: impl ToString) -> Mismatch {
    let slip = Mismatch::text(expected, &found.to_string()).at(key);
    match key {
        "percent" => slip.hint("100 takes a whole CPU; for several CPUs write 2x100%"),
        _ => slip,
    }
}

/// The error for an unknown word, with the nearest of `known` if one is near.
fn unknown<'a>(word: &str, known: impl Iterator<Item = &'a &'static str>) -> Mismatch {
    Mismatch::text(SUCH, word)
        .hint(format!("its keys: {}", KEYS.join(", ")))
        .near(word, known.copied())
}

/// The error for two things that exclude each other.
fn conflict(first: &str, second: &str, hint: &str) -> Mismatch {
    Mismatch::value(format!("{first} without {second}"), "both").hint(hint)
}

fn quoted(value: &Value) -> String {
    format!("\"{:.80}\"", value.to_string())
}

/// With the hint in the text, because a deserialiser passes on nothing else.
fn custom<E: de::Error>(slip: Mismatch) -> E {
    E::custom(slip.at("load").line())
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
        profile(text).map_err(custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Profile, A::Error> {
        let mut draft = Draft::default();
        let mut keys = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            // An unknown key is told before its value is looked at, so that the place is the key's.
            if !KEYS.contains(&key.as_str()) {
                return Err(custom(unknown(&key, KEYS.iter())));
            }
            let value = map.next_value::<Value>()?;
            draft.set(&key, &value).map_err(custom::<A::Error>)?;
            keys.push(key);
        }
        let group = draft.finish(&keys.join(", ")).map_err(custom::<A::Error>)?;
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
