//! Where a text is TOML and no manifest.

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use crate::Manifest;

/// Where the first part begins that is not a manifest's. Each part is tried by itself: all are optional, and
/// what comes from a table that was read knows no place in the text.
pub(crate) fn start(text: &str) -> usize {
    let (Ok(parsed), Ok(table)) = (DeTable::parse(text), text.parse::<Table>()) else { return 0 };
    let found = in_table(&table, parsed.get_ref(), &|part| match part {
        Value::Table(table) => Manifest::from_table(table).is_err(),
        _ => false,
    });
    found.unwrap_or(0)
}

/// Where the first part of a table begins that is wrong by itself.
fn in_table(
    table: &Table,
    parsed: &DeTable<'_>,
    is_wrong: &dyn Fn(Value) -> bool,
) -> Option<usize> {
    table.iter().find_map(|(key, part)| {
        let alone = |part: Value| is_wrong(Value::Table(Table::from_iter([(key.clone(), part)])));
        alone(part.clone()).then(|| in_part(part, parsed.get(key.as_str())?, &alone))?
    })
}

/// Where what is wrong in a wrong part begins: the part itself, where none of its own is.
fn in_part(
    part: &Value,
    parsed: &Spanned<DeValue<'_>>,
    is_wrong: &dyn Fn(Value) -> bool,
) -> Option<usize> {
    let within = match (part, parsed.get_ref()) {
        (Value::Table(table), DeValue::Table(parsed)) => in_table(table, parsed, is_wrong),
        (Value::Array(parts), DeValue::Array(all)) => {
            parts.iter().zip(all.iter()).find_map(|(part, parsed)| {
                let alone = |part: Value| is_wrong(Value::Array(vec![part]));
                alone(part.clone()).then(|| in_part(part, parsed, &alone))?
            })
        }
        _ => None,
    };
    within.or(Some(parsed.span().start))
}
