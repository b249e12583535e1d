//! The keys of a description, and what ships, as documents: generated from the definitions that
//! the reader uses, so that they cannot be out of date.

use crate::file::{kernel::KernelFile, platform::PlatformFile};
use crate::shipped::catalogue;
use crate::{Kernel, Platform};
use flyball_units::{KERNEL_RULES, KernelRuleInfo};
use schemars::{JsonSchema, schema_for};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// JSON Schema of a platform file, for editors.
pub fn platform_schema() -> String {
    schema::<PlatformFile>()
}

/// JSON Schema of a kernel file, for editors.
pub fn kernel_schema() -> String {
    schema::<KernelFile>()
}

/// The keys of a platform file as Markdown tables.
pub fn platform_keys() -> String {
    keys::<PlatformFile>()
}

/// The keys of a kernel file as Markdown tables, and the rules that `version` and `rules` speak of.
pub fn kernel_keys() -> String {
    let mut text = keys::<KernelFile>();
    text.push_str("\n#### Rules by version\n\n");
    text.push_str("| rule | versions | effect | change |\n|---|---|---|---|\n");
    for info in &KERNEL_RULES {
        let KernelRuleInfo { name, effect, change, .. } = info;
        let versions = info.versions();
        push(&mut text, format_args!("| `{name}` | {versions} | {effect} | {change} |\n"));
    }
    text
}

/// Every shipped platform with the source of each of its figures, as Markdown.
pub fn shipped_platforms() -> String {
    let read = |name: &str| Platform::named(name).ok();
    catalogue()
        .platforms
        .iter()
        .filter_map(|entry| read(entry.name))
        .map(|platform| {
            let shape = format!(
                "{}. Kernel where none is named: `{}`",
                shape(&platform),
                platform.default_kernel
            );
            section(&platform.name, &platform.title, &platform.notes, &shape, &platform.sources)
        })
        .collect()
}

/// Every shipped kernel with the source of each of its figures, as Markdown.
pub fn shipped_kernels() -> String {
    let read = |name: &str| Kernel::named(name).ok();
    catalogue()
        .kernels
        .iter()
        .filter_map(|entry| read(entry.name))
        .map(|kernel| {
            let rules: Vec<String> =
                kernel.rules.iter().map(|info| format!("`{}`", info.name)).collect();
            let shape = format!(
                "HZ {}, governor where none is named: `{}`, slice {} us, uclamp {}, rate limit {:?}, rules {}",
                kernel.hz,
                kernel.default_governor,
                kernel.slice.as_micros_f64(),
                if kernel.uclamp { "yes" } else { "no" },
                kernel.rate_limit_rule,
                if rules.is_empty() { "none".to_owned() } else { rules.join(", ") },
            );
            section(&kernel.name, &kernel.title, &kernel.notes, &shape, &kernel.sources)
        })
        .collect()
}

/// `e: CPUs 0-3, 600 to 2064 MHz (5 points)`, one clock domain after the other.
fn shape(platform: &Platform) -> String {
    let domain = |domain: &crate::ClockDomain| {
        let cpus: Vec<String> = domain.cpus.iter().map(|cpu| cpu.0.to_string()).collect();
        let mhz = |khz: flyball_units::KiloHertz| khz.0 / 1000;
        format!(
            "`{}`: CPU {}, {} points from {} to {} MHz",
            domain.name,
            cpus.join(" "),
            domain.points.len(),
            mhz(domain.opps.min()),
            mhz(domain.opps.max()),
        )
    };
    platform.domains.iter().map(domain).collect::<Vec<_>>().join("; ")
}

fn section(
    name: &str,
    title: &str,
    notes: &str,
    shape: &str,
    sources: &[(String, String)],
) -> String {
    let mut text = format!("\n### `{name}`\n\n{title}. {}\n\n{shape}.\n\n", one_line(notes));
    text.push_str("| figures | source |\n|---|---|\n");
    for (path, source) in sources {
        push(&mut text, format_args!("| `{path}` | {} |\n", source.replace('|', "\\|")));
    }
    text
}

fn schema<T: JsonSchema>() -> String {
    let mut text = serde_json::to_string_pretty(&schema_for!(T)).unwrap_or_default();
    text.push('\n');
    text
}

fn keys<T: JsonSchema>() -> String {
    let root = schema_for!(T).to_value();
    let empty = Map::new();
    let definitions = root.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
    // The root has no name of its own in a file; the others are named as their TOML tables.
    let mut tables: BTreeMap<&str, &Value> = BTreeMap::from([("", &root)]);
    tables.extend(definitions.iter().map(|(name, schema)| (name.as_str(), schema)));
    let mut text = String::new();
    for (name, schema) in tables {
        push_table(&mut text, name, schema);
    }
    text
}

fn push_table(text: &mut String, name: &str, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let heading = if name.is_empty() { "The file".to_owned() } else { format!("`{name}`") };
    push(text, format_args!("\n#### {heading}\n\n{}\n\n", described(schema)));
    text.push_str("| key | value | needed | meaning |\n|---|---|---|---|\n");
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let optional = properties.keys().map(String::as_str).filter(|key| !required.contains(key));
    for key in required.iter().copied().chain(optional) {
        let property = properties.get(key).unwrap_or(&Value::Null);
        let needed = if required.contains(&key) { "yes" } else { "" };
        push(
            text,
            format_args!("| `{key}` | {} | {needed} | {} |\n", kind(property), described(property)),
        );
    }
}

fn described(schema: &Value) -> String {
    one_line(schema.get("description").and_then(Value::as_str).unwrap_or_default())
}

/// What a value looks like, in words.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return named(reference);
    }
    for alternatives in ["anyOf", "oneOf"] {
        if let Some(list) = schema.get(alternatives).and_then(Value::as_array) {
            let kinds: Vec<String> = list.iter().map(kind).filter(|kind| kind != "null").collect();
            return kinds.join(" or ");
        }
    }
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        let words = list.iter().filter(|word| !word.is_null());
        return words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    }
    if let Some(word) = schema.get("const") {
        return format!("`{word}`");
    }
    let of = |name: &str| match name {
        "array" => format!("list of {}", kind(schema.get("items").unwrap_or(&Value::Null))),
        "boolean" => "true or false".to_owned(),
        "string" => "text".to_owned(),
        other => other.to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(name)) => of(name),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.map(of).collect::<Vec<_>>().join(" or ")
        }
        _ => "value".to_owned(),
    }
}

fn named(reference: &str) -> String {
    match reference.rsplit('/').next().unwrap_or_default() {
        "Cost" => "[cost](#costs)".to_owned(),
        table => format!("table `{table}`"),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(arguments);
}
