//! What the JSON of a released version says, every later version with the same number says, too (docs/stability.md):
//! each property of the schema that is kept in `golden/` is still there, with a type that holds what it held.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use flyball_report::export::schema;
use serde_json::Value;

/// Where `now` lacks something that `then` promised.
fn missing(then: &Value, now: &Value, place: &str, lacks: &mut Vec<String>) {
    for room in ["properties", "$defs"] {
        for (name, of_then) in then[room].as_object().into_iter().flatten() {
            let here = format!("{place}/{name}");
            match now[room].get(name) {
                None => lacks.push(here),
                Some(of_now) => missing(of_then, of_now, &here, lacks),
            }
        }
    }
    for key in ["type", "$ref", "format", "enum", "const"] {
        // An enumeration may grow: who reads it has to expect words that are new.
        let grown = |then: &Value, now: &Value| {
            let all = now.as_array();
            then.as_array().is_some_and(|then| {
                then.iter().all(|word| all.is_some_and(|all| all.contains(word)))
            })
        };
        if !then[key].is_null()
            && then[key] != now[key]
            && !(key == "enum" && grown(&then[key], &now[key]))
        {
            lacks.push(format!("{place}: {key} {} became {}", then[key], now[key]));
        }
    }
    if !then["items"].is_null() {
        missing(&then["items"], &now["items"], &format!("{place}[]"), lacks);
    }
    let required = |schema: &Value| -> Vec<String> {
        let names = schema["required"].as_array().into_iter().flatten();
        names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let still = required(now);
    lacks.extend(
        required(then)
            .into_iter()
            .filter(|name| !still.contains(name))
            .map(|name| format!("{place}/{name} was always there, now it may be absent")),
    );
}

#[test]
fn the_report_keeps_what_version_1_promised() {
    let then: Value = serde_json::from_str(include_str!("../golden/report-1.schema.json")).unwrap();
    let now: Value = serde_json::from_str(&schema().unwrap()).unwrap();
    let mut lacks = Vec::new();
    missing(&then, &now, "", &mut lacks);
    assert!(
        lacks.is_empty(),
        "{lacks:#?}\na report that lacks them needs a new number: flyball-report/2"
    );
}

#[test]
fn what_is_gone_is_found() {
    let then: Value = serde_json::from_str(include_str!("../golden/report-1.schema.json")).unwrap();
    let mut now = then.clone();
    let properties = now["properties"].as_object_mut().unwrap();
    let name = properties.keys().next().unwrap().clone();
    properties.remove(&name);
    let mut lacks = Vec::new();
    missing(&then, &now, "", &mut lacks);
    assert_eq!(lacks, [format!("/{name}")]);
}
