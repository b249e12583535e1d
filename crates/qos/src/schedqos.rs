//! The files of schedqos (v0.1): which program has which class, as JSON, read as rules of ours.

use crate::rules::{Class, Rule, Rules, Treatment, in_range};
use flyball_units::{Mismatch, Nanos};
use serde_json::{Map, Value};

/// What the `qos_mappings.json` of its v0.1 gives each class: nice value, slice in ms, upper clamp.
const CLASSES: [(&str, i32, u64, Option<u32>); 5] = [
    ("QOS_USER_INTERACTIVE", -4, 8, None),
    ("QOS_USER_INITIATED", -2, 12, None),
    ("QOS_UTILITY", 2, 16, Some(512)),
    ("QOS_BACKGROUND", 4, 20, Some(256)),
    ("QOS_DEFAULT", 2, 16, Some(512)),
];

/// Reads one: programs by name, each with `qos` or `thread_qos`; and classes, by the names of its
/// mappings, as one of the program's entries or beside them.
///
/// # Errors
/// What is none, with its place.
pub(crate) fn read(text: &str) -> Result<Rules, Mismatch> {
    let slip = |found: &str| Mismatch::value("an object of programs, as schedqos takes it", found);
    let file: Value = serde_json::from_str(text).map_err(|error| slip(&error.to_string()))?;
    let Value::Object(entries) = file else { return Err(slip("something else")) };
    let mut classes: Vec<Class> = CLASSES
        .iter()
        .map(|(name, nice, ms, most)| {
            let slice = Some(Nanos::from_millis(*ms));
            (
                (*name).to_owned(),
                Treatment { nice: Some(*nice), slice, most: *most, ..Treatment::default() },
            )
        })
        .collect();
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("QOS_")) {
        let own = mapping(entry).map_err(|slip| slip.at(name))?;
        classes.retain(|(known, _)| known != name);
        classes.push((name.clone(), own));
    }
    let mut rules = Vec::new();
    for (program, entry) in entries.iter().filter(|(name, _)| !name.starts_with("QOS_")) {
        let all = of_program(program, entry, &classes).map_err(|slip| slip.at(program))?;
        rules.extend(all);
    }
    Rules::of_rules(rules)
}

fn of_program(program: &str, entry: &Value, classes: &[Class]) -> Result<Vec<Rule>, Mismatch> {
    let object = |value: &Value| value.as_object().cloned();
    let entry = object(entry).ok_or_else(|| Mismatch::value("an object", entry))?;
    let mut rules = Vec::new();
    let threads = entry.get("thread_qos").and_then(object).unwrap_or_else(Map::new);
    for (thread, class) in &threads {
        // One thread may have several hints: only the last can hold.
        let class = class.as_array().and_then(|all| all.last()).unwrap_or(class);
        let treatment = named(class, classes).map_err(|slip| slip.at(thread))?;
        rules.push(Rule::of(program, Some(thread), treatment));
    }
    if let Some(class) = entry.get("qos") {
        rules.push(Rule::of(program, None, named(class, classes)?));
    }
    if rules.is_empty() {
        return Err(Mismatch::value("qos or thread_qos", "neither"));
    }
    Ok(rules)
}

fn named(class: &Value, classes: &[Class]) -> Result<Treatment, Mismatch> {
    let name = class.as_str().ok_or_else(|| Mismatch::value("the name of a class", class))?;
    let found = classes.iter().find(|(known, _)| known == name);
    found.map(|(_, treatment)| *treatment).ok_or_else(|| {
        let known: Vec<&str> = classes.iter().map(|(name, _)| name.as_str()).collect();
        Mismatch::text(format!("a class ({})", known.join(", ")), name)
    })
}

/// Attributes of a class. The scheduling policy is left as the thread has it.
fn mapping(entry: &Value) -> Result<Treatment, Mismatch> {
    let entry = entry.as_object().ok_or_else(|| Mismatch::value("an object", entry))?;
    let mut treatment = Treatment::default();
    for (key, value) in entry {
        let whole =
            || value.as_i64().ok_or_else(|| Mismatch::value("a whole number", value).at(key));
        match key.as_str() {
            "sched_policy" => {}
            "sched_nice" => treatment.nice = Some(in_range(key, whole()?, -20, 19)? as i32),
            "sched_util_max" => treatment.most = Some(in_range(key, whole()?, 1, 1024)? as u32),
            "sched_util_min" => treatment.least = Some(in_range(key, whole()?, 0, 1024)? as u32),
            "sched_runtime" => {
                let slice = in_range(key, whole()?, 100_000, 100_000_000)?;
                treatment.slice = Some(Nanos(slice.unsigned_abs()));
            }
            _ => {
                let expected =
                    "sched_policy, sched_nice, sched_runtime, sched_util_min or sched_util_max";
                return Err(Mismatch::text(expected, key));
            }
        }
    }
    Ok(treatment)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{
        "chrome": { "period": 16000000, "qos": "QOS_USER_INTERACTIVE" },
        "game": { "version": "1", "thread_qos": {
            "render*": "QOS_FRAMES", "io": ["QOS_UTILITY", "QOS_BACKGROUND"] } },
        "QOS_FRAMES": { "sched_policy": "SCHED_NORMAL", "sched_nice": -6, "sched_runtime": 3000000,
            "sched_util_min": 200 }
    }"#;

    #[test]
    fn its_programs_and_classes_become_rules() {
        let rules = Rules::read(FILE).unwrap();
        let interactive = rules.of("chrome", "anything").unwrap();
        assert_eq!((interactive.nice, interactive.slice), (Some(-4), Some(Nanos::from_millis(8))));
        let frames = rules.of("game", "render.0").unwrap();
        assert_eq!((frames.nice, frames.least), (Some(-6), Some(200)));
        assert_eq!(rules.of("game", "io").unwrap().most, Some(256));
        assert_eq!(rules.of("game", "main"), None);
        assert!(rules.name_process("chrome") && !rules.name_process("bash"));
    }

    #[test]
    fn what_is_none_is_named_with_its_place() {
        let error = |text: &str| Rules::read(text).unwrap_err().to_string();
        assert!(error("{").contains("schedqos"));
        assert!(error(r#"{"a": {}}"#).starts_with("a: expected qos or thread_qos"));
        let class = error(r#"{"a": {"qos": "QOS_X"}}"#);
        assert!(class.starts_with("a: expected a class (QOS_USER_INTERACTIVE"), "{class}");
        let nice = error(r#"{"QOS_A": {"sched_nice": 20}, "a": {"qos": "QOS_A"}}"#);
        assert!(nice.contains("QOS_A: sched_nice: expected -20 to 19, found 20"), "{nice}");
        assert!(error(r#"{"QOS_A": {"sched_x": 1}}"#).contains("sched_util_max"));
    }
}
