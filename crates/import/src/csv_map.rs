//! Which column of a CSV file is which of our fields: `latency_us=lat,cpu=core,condition=gov`.

use std::collections::BTreeMap;
use std::str::FromStr;

use flyball_units::nearest;

use flyball_run::{Error, Result};

/// One of our fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Exec,
    Lateness,
    Response,
    Release,
    Dispatch,
    End,
    Deadline,
    Delivered,
    Cpu,
    Condition,
    Workload,
    Repeat,
    Index,
    Warmup,
    Missed,
    ExitStatus,
}

/// What a field measures, and so which units it may be given in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Time,
    Frequency,
    Plain,
}

const FIELDS: [(&str, Field, Quantity); 19] = [
    ("latency", Field::Exec, Quantity::Time),
    ("exec", Field::Exec, Quantity::Time),
    ("lateness", Field::Lateness, Quantity::Time),
    ("response", Field::Response, Quantity::Time),
    ("release", Field::Release, Quantity::Time),
    ("dispatch", Field::Dispatch, Quantity::Time),
    ("start", Field::Dispatch, Quantity::Time),
    ("end", Field::End, Quantity::Time),
    ("deadline", Field::Deadline, Quantity::Time),
    ("delivered", Field::Delivered, Quantity::Frequency),
    ("cpu", Field::Cpu, Quantity::Plain),
    ("condition", Field::Condition, Quantity::Plain),
    ("workload", Field::Workload, Quantity::Plain),
    ("kernel", Field::Workload, Quantity::Plain),
    ("repeat", Field::Repeat, Quantity::Plain),
    ("index", Field::Index, Quantity::Plain),
    ("warmup", Field::Warmup, Quantity::Plain),
    ("missed", Field::Missed, Quantity::Plain),
    ("exit_status", Field::ExitStatus, Quantity::Plain),
];

/// Nanoseconds per unit of time.
const TIME_UNITS: [(&str, u64); 4] =
    [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Kilohertz per unit of frequency.
const FREQUENCY_UNITS: [(&str, u64); 3] = [("khz", 1), ("mhz", 1_000), ("ghz", 1_000_000)];

/// A map from our fields to the columns of a CSV file. Empty, it takes the columns that are
/// called as our fields are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnMap {
    pub(super) entries: Vec<Entry>,
}

/// One field with its unit, and the column that holds it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub field: Field,
    /// Our units per one of theirs.
    pub scale: u64,
    /// Our field with its unit, as written.
    pub ours: String,
    /// Their column.
    pub theirs: String,
}

impl ColumnMap {
    /// The map as a table: ours on the left.
    pub(super) fn as_table(&self) -> BTreeMap<String, String> {
        self.entries.iter().map(|entry| (entry.ours.clone(), entry.theirs.clone())).collect()
    }

    /// The columns of `header` that are called as our fields are.
    pub(super) fn of_same_names(header: &[String]) -> ColumnMap {
        let mut entries: Vec<Entry> = Vec::new();
        for name in header {
            if let Ok((field, scale)) = field(&name.to_lowercase())
                && !entries.iter().any(|entry| entry.field == field)
            {
                entries.push(Entry {
                    field,
                    scale,
                    ours: name.to_lowercase(),
                    theirs: name.clone(),
                });
            }
        }
        ColumnMap { entries }
    }
}

impl FromStr for ColumnMap {
    type Err = Error;

    fn from_str(text: &str) -> Result<ColumnMap> {
        let mut entries: Vec<Entry> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let object = format!("column map `{part}`");
            let Some((ours, theirs)) = part.split_once('=').map(|(a, b)| (a.trim(), b.trim()))
            else {
                return Err(Error::bad_input(
                    object,
                    "FIELD=COLUMN",
                    "no `=`",
                    "for example: latency_us=lat",
                ));
            };
            if theirs.is_empty() {
                return Err(Error::bad_input(
                    object,
                    "a column behind `=`",
                    "nothing",
                    "for example: latency_us=lat",
                ));
            }
            let (field, scale) = field(ours).map_err(|(expected, hint)| {
                Error::bad_input(&object, expected, format!("`{ours}`"), hint)
            })?;
            if entries.iter().any(|entry| entry.field == field) {
                let hint =
                    "map each field once; latency is exec, start is dispatch, kernel is workload";
                return Err(Error::bad_input(
                    object,
                    "a field not mapped before",
                    format!("`{ours}` again"),
                    hint,
                ));
            }
            entries.push(Entry { field, scale, ours: ours.to_owned(), theirs: theirs.to_owned() });
        }
        Ok(ColumnMap { entries })
    }
}

/// The field and scale that `name` means, or what was expected and a hint.
fn field(name: &str) -> Result<(Field, u64), (String, String)> {
    if let Some(&(_, field, quantity)) = FIELDS.iter().find(|(known, ..)| *known == name) {
        return match units(quantity) {
            [] => Ok((field, 1)),
            units => {
                let expected = format!("a unit: one of {}", suffixed(name, units));
                Err((expected, format!("write {name}_{}", units.get(1).map_or("", |unit| unit.0))))
            }
        };
    }
    if let Some((stem, unit)) = name.rsplit_once('_')
        && let Some(&(known, field, quantity)) = FIELDS.iter().find(|(known, ..)| *known == stem)
    {
        let units = units(quantity);
        return match units.iter().find(|(known, _)| *known == unit) {
            Some(&(_, scale)) => Ok((field, scale)),
            None if units.is_empty() => {
                Err((format!("`{known}` without a unit"), format!("write {known}")))
            }
            None => Err((
                format!("one of {}", suffixed(known, units)),
                "the unit is their column's".to_owned(),
            )),
        };
    }
    let all: Vec<String> =
        FIELDS.iter().flat_map(|(known, _, quantity)| with_units(known, *quantity)).collect();
    let hint = match nearest(name, all.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "their column stands on the right: latency_us=THEIRS".to_owned(),
    };
    let names: Vec<&str> = FIELDS.iter().map(|(known, ..)| *known).collect();
    Err((format!("one of our fields ({}), times with _ns, _us, _ms or _s", names.join(", ")), hint))
}

fn units(quantity: Quantity) -> &'static [(&'static str, u64)] {
    match quantity {
        Quantity::Time => &TIME_UNITS,
        Quantity::Frequency => &FREQUENCY_UNITS,
        Quantity::Plain => &[],
    }
}

fn with_units(name: &str, quantity: Quantity) -> Vec<String> {
    match units(quantity) {
        [] => vec![name.to_owned()],
        units => units.iter().map(|(unit, _)| format!("{name}_{unit}")).collect(),
    }
}

fn suffixed(name: &str, units: &[(&str, u64)]) -> String {
    units.iter().map(|(unit, _)| format!("{name}_{unit}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_scale() {
        let map: ColumnMap =
            "latency_us=lat, cpu=core,condition=gov,delivered_ghz=f".parse().unwrap();
        let scales: Vec<u64> = map.entries.iter().map(|entry| entry.scale).collect();
        assert_eq!(scales, [1_000, 1, 1, 1_000_000]);
    }

    #[test]
    fn mistakes_are_named() {
        let hint = |text: &str| {
            let error = text.parse::<ColumnMap>().unwrap_err();
            format!("{error}; {}", error.hint())
        };
        assert!(
            hint("latncy_us=lat").contains("did you mean `latency_us`"),
            "{}",
            hint("latncy_us=lat")
        );
        assert!(hint("latency=lat").contains("write latency_us"));
        assert!(hint("latency_min=lat").contains("latency_ns, latency_us"));
        assert!(hint("cpu_us=core").contains("write cpu"));
        assert!(hint("latency_us").contains("no `=`"));
        assert!(hint("latency_us=").contains("nothing"));
        assert!(hint("latency_us=a,exec_ns=b").contains("again"));
    }
}
