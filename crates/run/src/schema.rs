//! The schema of the run directory as Markdown and JSON, generated from the definitions that the
//! reader and writer use, so that it cannot be out of date.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::manifest::{FORMAT, Manifest};
use crate::table::{ColumnSpec, TableSpec, one_line};
use crate::tables::registry;

/// The schema as JSON: `format`, `tables` (name, doc, columns) and `manifest` (a JSON Schema).
pub fn json() -> Value {
    let column = |column: &ColumnSpec| {
        json!({
            "name": column.name,
            "kind": column.kind.name(),
            "nullable": column.nullable,
            "doc": one_line(column.doc),
        })
    };
    let table = |table: &TableSpec| {
        json!({
            "name": table.name,
            "doc": one_line(table.doc),
            "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        })
    };
    json!({
        "format": FORMAT,
        "tables": registry().iter().map(table).collect::<Vec<_>>(),
        "manifest": Manifest::schema(),
    })
}

const HEAD: &str = "\
# The run directory

<!-- Generated from the code by `UPDATE_DOCS=1 cargo test -p flyball-run --test together schema`. -->

A run is a directory: `run.toml` says what was run where and how, tables hold the rows. While a
run goes on, each table is `NAME.ndjson`, one row per line, appended; when it ends whole, each is
`NAME.parquet`. A table without rows has no file. Names end in their unit. A later version adds
tables, nullable columns and keys; it raises `format` only where an older reader would be misled.
Queries are in [queries.md](../queries.md).
";

/// The schema as Markdown.
pub fn markdown() -> String {
    let mut text = HEAD.to_owned();
    for table in registry() {
        push(&mut text, &format!("\n## Table `{}`\n\n{}\n\n", table.name, one_line(table.doc)));
        push(&mut text, "| column | kind | null | meaning |\n|---|---|---|---|\n");
        for column in table.columns {
            let null = if column.nullable { "yes" } else { "" };
            let row = format!(
                "| `{}` | {} | {null} | {} |\n",
                column.name,
                column.kind.name(),
                cell(column.doc)
            );
            push(&mut text, &row);
        }
    }
    push(&mut text, &format!("\n## `run.toml`, format {FORMAT}\n"));
    let schema = Manifest::schema();
    section(&mut text, "The whole", &schema);
    if let Some(definitions) = schema.get("$defs").and_then(Value::as_object) {
        for (name, definition) in definitions {
            section(&mut text, name, definition);
        }
    }
    text
}

fn push(text: &mut String, more: &str) {
    // Writing to a string cannot fail.
    let _ = text.write_str(more);
}

fn cell(doc: &str) -> String {
    one_line(doc).replace('|', "\\|")
}

fn section(text: &mut String, name: &str, schema: &Value) {
    push(text, &format!("\n### {name}\n\n{}\n", one_line(description(schema))));
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        push(text, "\n| key | kind | meaning |\n|---|---|---|\n");
        properties.iter().for_each(|(key, property)| {
            push(
                text,
                &format!("| `{key}` | {} | {} |\n", kind(property), cell(description(property))),
            );
        });
    } else if let Some(variants) = schema.get("oneOf").and_then(Value::as_array) {
        push(text, "\n| value | meaning |\n|---|---|\n");
        variants.iter().for_each(|variant| {
            let value = variant.get("const").and_then(Value::as_str).unwrap_or("anything else");
            push(text, &format!("| `{value}` | {} |\n", cell(description(variant))));
        });
    }
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// A property's kind in words.
fn kind(schema: &Value) -> String {
    let empty = Map::new();
    let object = schema.as_object().unwrap_or(&empty);
    if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
        return reference.rsplit('/').next().unwrap_or(reference).to_owned();
    }
    for key in ["anyOf", "allOf"] {
        if let Some(choices) = object.get(key).and_then(Value::as_array) {
            let names: Vec<String> =
                choices.iter().map(kind).filter(|name| name != "null").collect();
            return names.join(" or ");
        }
    }
    let named: Vec<&str> = match object.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect()
        }
        _ => vec!["table"],
    };
    match named.as_slice() {
        ["array"] => format!("list of {}", object.get("items").map_or_else(String::new, kind)),
        ["object"] => "table".to_owned(),
        names => names.join(" or "),
    }
}
