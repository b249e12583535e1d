//! Recorded work as a kind of task: a line per item.

use super::error::ScenarioError;
use super::model::RecordedItem;
use super::quantity;
use super::reader::Item;
use flyball_units::Nanos;
use std::fmt::Write;
use std::sync::Arc;

/// The items that a text lists.
///
/// # Errors
/// A line that is no item, items out of order, none.
pub fn read(field: &Item<'_>) -> Result<Arc<[RecordedItem]>, ScenarioError> {
    let mut items: Vec<RecordedItem> = Vec::new();
    for line in field.text()?.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let item = item(field, line)?;
        if items.last().is_some_and(|before| before.released > item.released) {
            return Err(field.wrong(format!("expected items in order of time, found \"{line}\"")));
        }
        items.push(item);
    }
    if items.is_empty() {
        return Err(field.wrong("expected a line per item, found none"));
    }
    Ok(items.into())
}

fn item(field: &Item<'_>, line: &str) -> Result<RecordedItem, ScenarioError> {
    let (due, work) = line.split_once(char::is_whitespace).ok_or_else(|| {
        let such = "expected when an item is due and its work, such as 16.7ms 3Mcycles";
        field.wrong(format!("{such}, found \"{line}\""))
    })?;
    let released = due.parse::<Nanos>().map_err(|slip| field.mismatch(slip))?;
    let work = quantity::amount(work.trim()).map_err(|slip| field.mismatch(slip))?;
    if work.is_zero() {
        return Err(field.wrong(format!("expected work above 0, found \"{line}\"")));
    }
    Ok(RecordedItem { released, work })
}

/// A task of this kind as TOML, on one CPU or on all: `items` are when each is due and its cycles of the reference
/// kind of core, which are done in time within `deadline`.
pub fn write(
    name: &str,
    cpu: Option<u32>,
    deadline: Option<Nanos>,
    items: impl Iterator<Item = (Nanos, u64)>,
) -> String {
    let mut text = format!("[[task]]\nkind = \"recorded\"\nname = {name:?}\n");
    if let Some(cpu) = cpu {
        let _ = writeln!(text, "cpus = \"{cpu}\"");
    }
    if let Some(deadline) = deadline {
        let _ = writeln!(text, "deadline = \"{deadline}\"");
    }
    text.push_str("items = \"\"\"\n");
    for (released, cycles) in items {
        let _ = writeln!(text, "{released} {cycles}cycles");
    }
    text.push_str("\"\"\"\n");
    text
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Scenario, Source, Workload};
    use crate::workload::FullSpeed;
    use flyball_units::Nanos;

    fn read(items: &str) -> Result<Scenario, String> {
        let text = format!(
            "platform = \"apple-m1\"\n[[task]]\nkind = \"recorded\"\nitems = '''\n{items}\n'''\n"
        );
        crate::scenario::read(&text, Source::text_only("a", "a")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_reads_as_it_was() {
        let items = [(Nanos(0), 1), (Nanos(16_700_123), 2_103_456), (Nanos(16_700_123), 7)];
        let task = super::write("a \"b\"", Some(3), None, items.into_iter());
        let text = format!("platform = \"apple-m1\"\n{task}");
        let scenario = crate::scenario::read(&text, Source::text_only("a", "a")).unwrap();
        let [task] = scenario.tasks.as_slice() else { panic!("{scenario:?}") };
        assert_eq!((task.name.as_str(), task.cpus[0].0), ("a \"b\"", 3));
        let Workload::Recorded(read) = &task.workload else { panic!("{task:?}") };
        let full_speed = FullSpeed(1);
        let read: Vec<_> =
            read.iter().map(|item| (item.released, item.work.cycles(full_speed))).collect();
        assert_eq!(read, items);
    }

    #[test]
    fn what_is_none() {
        for (items, expected) in [
            ("", "expected a line per item, found none"),
            ("3ms", "found \"3ms\""),
            ("3 2ms", "expected"),
            ("3ms 2", "expected"),
            ("3ms 0cycles", "expected work above 0"),
            ("3ms 1ms\n2ms 1ms", "expected items in order of time, found \"2ms 1ms\""),
        ] {
            let message = read(items).unwrap_err();
            assert!(message.contains(expected), "{items}: {message}");
        }
        assert!(read("0ms 2ms\n 16.7ms  3Mcycles\n\n").is_ok());
    }
}
