//! TOML to and from the tree of values with places.

use super::error::{ScenarioError, suggestion};
use super::reset;
use super::tree::{Entry, Node, Place, Places, Value};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Reads TOML.
pub fn parse(text: &str, origin: &str) -> Result<Node, ScenarioError> {
    let table = DeTable::parse(text).map_err(|error| toml_error(origin, text, &error))?;
    let mut root = table_node(table.get_ref(), &Places::of(text), origin)?;
    root.place = Place::At { line: 1, column: 1 };
    Ok(root)
}

fn toml_error(origin: &str, text: &str, error: &toml::de::Error) -> ScenarioError {
    let wrong = ScenarioError::new(origin, error.message().trim().to_owned());
    match error.span() {
        Some(span) => wrong.at(Places::of(text).at(span.start)),
        None => wrong,
    }
}

fn table_node(
    table: &DeTable<'_>,
    places: &Places<'_>,
    origin: &str,
) -> Result<Node, ScenarioError> {
    // The reader sorts by name; the place in the text is the order that the user means.
    let mut items: Vec<_> = table.iter().collect();
    items.sort_by_key(|(key, _)| key.span().start);
    let entries = items.into_iter().map(|(key, value)| {
        let place = places.at(key.span().start);
        let node = value_node(value.get_ref(), value.span(), places, origin)?;
        Ok(Entry { key: key.get_ref().to_string(), place, node })
    });
    let entries = entries.collect::<Result<Vec<Entry>, ScenarioError>>()?;
    let place = entries.first().map_or(Place::At { line: 1, column: 1 }, |first| first.place);
    Ok(Node { place, value: Value::Table(entries) })
}

fn value_node(
    value: &DeValue<'_>,
    span: Range<usize>,
    places: &Places<'_>,
    origin: &str,
) -> Result<Node, ScenarioError> {
    let place = places.at(span.start);
    let bad = |what: &str, found: &str| {
        ScenarioError::new(origin, format!("expected {what}, found {found}")).at(place)
    };
    let value = match value {
        DeValue::String(string) => Value::Text(string.to_string()),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Integer(integer) => {
            let parsed = i64::from_str_radix(integer.as_str(), integer.radix());
            Value::Integer(parsed.map_err(|_| bad("a whole number", integer.as_str()))?)
        }
        DeValue::Float(float) => {
            Value::Real(float.as_str().parse().map_err(|_| bad("a number", float.as_str()))?)
        }
        DeValue::Datetime(date) => return Err(bad("no date", &date.to_string())),
        DeValue::Array(array) => {
            let nodes = array.iter().map(|v| value_node(v.get_ref(), v.span(), places, origin));
            Value::List(nodes.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let mut node = table_node(table, places, origin)?;
            node.place = place;
            return Ok(node);
        }
    };
    Ok(Node { place, value })
}

/// The tree as TOML text: what was run, defaults of the command line included.
pub fn print(root: &Node) -> String {
    match to_toml(root) {
        Some(toml::Value::Table(table)) => toml::to_string(&table).unwrap_or_default(),
        _ => String::new(),
    }
}

fn to_toml(node: &Node) -> Option<toml::Value> {
    Some(match &node.value {
        Value::Null => return None,
        Value::Boolean(value) => toml::Value::Boolean(*value),
        Value::Integer(value) => toml::Value::Integer(*value),
        Value::Real(value) => toml::Value::Float(*value),
        Value::Text(text) => toml::Value::String(text.clone()),
        Value::List(list) => toml::Value::Array(list.iter().filter_map(to_toml).collect()),
        Value::Table(entries) => {
            let pairs = entries.iter().filter_map(|e| Some((e.key.clone(), to_toml(&e.node)?)));
            toml::Value::Table(pairs.collect())
        }
    })
}

/// Sets `path` (`hz`, `governor.rate_limit_us`, `task.NAME.work`, `task.0.work`, `task.*.work`) to a value as TOML
/// writes it; a word that is no TOML value is a string. Another governor's name takes the tunables
/// of the file's away.
pub fn set(root: &mut Node, path: &str, value: &str) -> Result<(), ScenarioError> {
    let wrong =
        |message: String| ScenarioError::new("command line", message).at(Place::CommandLine);
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(wrong(format!("expected KEY=VALUE, found \"{path}={value}\""))
            .hint("such as governor.rate_limit_us=70 or task.NAME.work=2ms"));
    }
    let new = Node { place: Place::CommandLine, value: command_line_value(value) };
    reset::forget_tunables(root, &keys, &new.value);
    set_in(root, &keys, &new, path)
}

/// The same below a node; `*` among the keys is every element of a list.
fn set_in(node: &mut Node, keys: &[&str], new: &Node, path: &str) -> Result<(), ScenarioError> {
    let wrong =
        |message: String| ScenarioError::new("command line", message).at(Place::CommandLine);
    let (key, rest) = keys.split_first().unwrap_or((&"", &[]));
    match (&mut node.value, rest) {
        (Value::List(list), [_, ..]) if *key == "*" => {
            list.iter_mut().try_for_each(|element| set_in(element, rest, new, path))
        }
        (_, [_, ..]) => set_in(step(node, key, path)?, rest, new, path),
        (Value::Table(entries), []) => {
            match entries.iter_mut().find(|entry| entry.key == *key) {
                Some(entry) => (entry.place, entry.node) = (Place::CommandLine, new.clone()),
                None => entries.push(Entry {
                    key: (*key).to_owned(),
                    place: Place::CommandLine,
                    node: new.clone(),
                }),
            }
            Ok(())
        }
        (other, []) => {
            Err(wrong(format!("{path}: expected a table to set `{key}` in, found {other}")))
        }
    }
}

/// A value as TOML writes it; anything else is a string.
fn command_line_value(value: &str) -> Value {
    let text = format!("v = {value}");
    match parse(&text, "").map(|root| root.entry("v").map(|entry| entry.node.value.clone())) {
        Ok(Some(parsed)) => on_command_line(parsed),
        _ => Value::Text(value.to_owned()),
    }
}

/// Everything in a value from the command line has its place there.
fn on_command_line(mut value: Value) -> Value {
    let place = Place::CommandLine;
    match &mut value {
        Value::List(list) => {
            for node in list {
                let inner = std::mem::replace(&mut node.value, Value::Null);
                *node = Node { place, value: on_command_line(inner) };
            }
        }
        Value::Table(entries) => {
            for entry in entries {
                let inner = std::mem::replace(&mut entry.node.value, Value::Null);
                entry.place = place;
                entry.node = Node { place, value: on_command_line(inner) };
            }
        }
        _ => {}
    }
    value
}

/// One step down: a key of a table (made where absent), or an element of a list by number or name.
fn step<'a>(node: &'a mut Node, key: &str, path: &str) -> Result<&'a mut Node, ScenarioError> {
    let wrong =
        |message: String| ScenarioError::new("command line", message).at(Place::CommandLine);
    match &mut node.value {
        Value::Table(entries) => {
            let found = entries.iter().position(|entry| entry.key == key);
            let position = found.unwrap_or_else(|| {
                let node = Node { place: Place::CommandLine, value: Value::Table(Vec::new()) };
                entries.push(Entry { key: key.to_owned(), place: Place::CommandLine, node });
                entries.len() - 1
            });
            entries
                .get_mut(position)
                .map(|entry| &mut entry.node)
                .ok_or_else(|| wrong(format!("{path}: expected `{key}`, found none")))
        }
        Value::List(list) => {
            let names: Vec<String> = list.iter().map(name_of).collect();
            let number = key.parse::<usize>().ok();
            let position = names.iter().position(|name| name == key).or(number);
            let length = list.len();
            list.get_mut(position.unwrap_or(length)).ok_or_else(|| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                wrong(format!("{path}: expected one of {length} elements, found `{key}`"))
                    .maybe_hint(suggestion(key, &names))
            })
        }
        other => Err(wrong(format!("{path}: expected a table before `{key}`, found {other}"))),
    }
}

fn name_of(node: &Node) -> String {
    let text = |key: &str| match node.entry(key).map(|entry| &entry.node.value) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    text("name").or_else(|| text("kind")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "hz = 1000\n[governor]\nname = \"schedutil\"\n[[task]]\nkind = \"rampup\"\n";

    #[test]
    fn settings_reach_every_level() {
        let mut root = parse(TEXT, "x").unwrap();
        set(&mut root, "hz", "250").unwrap();
        set(&mut root, "governor.rate_limit_us", "70").unwrap();
        set(&mut root, "task.rampup.gap", "20ms").unwrap();
        set(&mut root, "task.0.sleeps", "3").unwrap();
        set(&mut root, "features.series", "true").unwrap();
        let text = print(&root);
        for line in
            ["hz = 250", "rate_limit_us = 70", "gap = \"20ms\"", "sleeps = 3", "series = true"]
        {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert_eq!(print(&parse(&text, "again").unwrap()), text);
    }

    #[test]
    fn a_star_is_every_task() {
        let mut root = parse(&format!("{TEXT}[[task]]\nkind = \"spin\"\n"), "x").unwrap();
        set(&mut root, "task.*.clamp_ramp", "4").unwrap();
        assert_eq!(print(&root).matches("clamp_ramp = 4").count(), 2);
        assert!(set(&mut root, "task.*", "4").is_err() && set(&mut root, "hz.*.a", "4").is_err());
    }

    #[test]
    fn another_governor_starts_with_its_own_tunables() {
        let text = "platform = \"pentium-m\"\nkernel = \"linux-6.12\"\n[governor]\n\
                    name = \"ondemand\"\nmin = \"800MHz\"\nsampling_rate = 50000\n\
                    [governor.domain.package]\nup_threshold = 60\n";
        let after = |settings: &[(&str, &str)]| {
            let mut root = parse(text, "x").unwrap();
            for (path, value) in settings {
                set(&mut root, path, value).unwrap();
            }
            print(&root)
        };
        let other = after(&[("governor.name", "conservative")]);
        assert!(!other.contains("sampling_rate") && !other.contains("up_threshold"), "{other}");
        assert!(other.contains("min = \"800MHz\""), "{other}");
        let same = after(&[("governor.name", "ondemand")]);
        assert!(same.contains("sampling_rate") && same.contains("up_threshold"), "{same}");
        let both = after(&[("governor.sampling_rate", "7000"), ("governor.name", "conservative")]);
        assert!(both.contains("sampling_rate = 7000"), "{both}");
        let domain = after(&[("governor.domain.package.name", "conservative")]);
        assert!(domain.contains("sampling_rate") && !domain.contains("up_threshold"), "{domain}");
    }

    #[test]
    fn settings_that_lead_nowhere_say_so() {
        let mut root = parse(TEXT, "x").unwrap();
        let error = set(&mut root, "task.rampp.gap", "1ms").unwrap_err();
        assert!(error.to_string().starts_with("command line: task.rampp.gap"), "{error}");
        assert_eq!(error.hint.as_deref(), Some("did you mean `rampup`?"));
        assert!(set(&mut root, "hz.what", "1").is_err());
        assert!(set(&mut root, "", "1").is_err());
    }

    #[test]
    fn what_is_no_toml_has_a_place() {
        let error = parse("a = 1\nb = \n", "x.toml").unwrap_err();
        assert!(error.to_string().starts_with("x.toml:2:"), "{error}");
        let error = parse("a = 99999999999999999999\n", "x.toml").unwrap_err();
        assert!(error.to_string().contains("x.toml:1:5"), "{error}");
    }
}
