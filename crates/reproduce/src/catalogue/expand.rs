//! From a file of the catalogue to its entries: single numbers, and tables whose cells share what
//! they are and how they are obtained. `{name}` in a table's texts stands for a row's field, and
//! `{column}` for the column's name.

use super::{CatalogueError, Entry, Exclusion, Kind, Source};
use crate::expression;
use crate::printed::Printed;
use crate::tolerance::Tolerance;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: String,
    title: String,
    text: String,
    #[serde(default, rename = "exclude")]
    excluded: Vec<Exclusion>,
    #[serde(default, rename = "number")]
    numbers: Vec<Number>,
    #[serde(default, rename = "table")]
    tables: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    id: String,
    #[serde(default)]
    lines: Vec<usize>,
    printed: String,
    #[serde(flatten)]
    about: About,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    id: String,
    columns: Vec<Column>,
    rows: Vec<Row>,
    #[serde(flatten)]
    about: About,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    lines: Vec<usize>,
    /// One per column; an empty one is not printed.
    cells: Vec<String>,
    /// Fields for the patterns.
    #[serde(flatten)]
    fields: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Column {
    name: String,
    #[serde(flatten)]
    about: About,
}

/// What a number, a column or a whole table says; a column's word goes before its table's.
#[derive(Clone, Default, Deserialize)]
struct About {
    section: Option<String>,
    what: Option<String>,
    kind: Option<Kind>,
    unit: Option<String>,
    uncertainty: Option<String>,
    how: Option<String>,
    within: Option<String>,
    within_because: Option<String>,
    because: Option<String>,
    note: Option<String>,
}

impl About {
    fn or(self, other: &About) -> About {
        let or = |one: Option<String>, other: &Option<String>| one.or_else(|| other.clone());
        About {
            section: or(self.section, &other.section),
            what: or(self.what, &other.what),
            kind: self.kind.or(other.kind),
            unit: or(self.unit, &other.unit),
            uncertainty: or(self.uncertainty, &other.uncertainty),
            how: or(self.how, &other.how),
            within_because: match &self.within {
                Some(_) => self.within_because,
                None => or(self.within_because, &other.within_because),
            },
            within: or(self.within, &other.within),
            because: or(self.because, &other.because),
            note: or(self.note, &other.note),
        }
    }

    fn fill(self, fields: &[(&str, &str)]) -> About {
        let fill = |text: Option<String>| text.map(|text| fill(&text, fields));
        About {
            section: fill(self.section),
            what: fill(self.what),
            kind: self.kind,
            unit: fill(self.unit),
            uncertainty: fill(self.uncertainty),
            how: fill(self.how),
            within: fill(self.within),
            within_because: fill(self.within_because),
            because: fill(self.because),
            note: fill(self.note),
        }
    }
}

fn fill(pattern: &str, fields: &[(&str, &str)]) -> String {
    fields
        .iter()
        .fold(pattern.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// One file's source and entries.
pub(super) fn file(text: &str) -> Result<(Source, Vec<Entry>), CatalogueError> {
    let file: File = toml::from_str(text).map_err(|error| CatalogueError {
        place: text.lines().next().unwrap_or_default().to_owned(),
        what: error.to_string(),
    })?;
    let mut entries = Vec::new();
    for number in file.numbers {
        entries.push(entry(&file.source, number)?);
    }
    for table in file.tables {
        for number in cells(table)? {
            entries.push(entry(&file.source, number)?);
        }
    }
    entries.sort_by_key(|entry| entry.lines.first().copied().unwrap_or(usize::MAX));
    let source =
        Source { letter: file.source, title: file.title, text: file.text, excluded: file.excluded };
    Ok((source, entries))
}

fn cells(table: Table) -> Result<Vec<Number>, CatalogueError> {
    let mut numbers = Vec::new();
    for row in &table.rows {
        if row.cells.len() != table.columns.len() {
            return Err(CatalogueError {
                place: table.id,
                what: format!("expected {} cells, found {:?}", table.columns.len(), row.cells),
            });
        }
        for (column, cell) in table.columns.iter().zip(&row.cells) {
            if cell.is_empty() {
                continue;
            }
            let mut fields: Vec<(&str, &str)> =
                row.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            fields.push(("column", &column.name));
            let about = column.about.clone().or(&table.about).fill(&fields);
            numbers.push(Number {
                id: fill(&table.id, &fields),
                lines: row.lines.clone(),
                printed: cell.clone(),
                about,
            });
        }
    }
    Ok(numbers)
}

fn entry(source: &str, number: Number) -> Result<Entry, CatalogueError> {
    let id = format!("{source}.{}", number.id);
    let wrong = |what: String| CatalogueError { place: id.clone(), what };
    let about = number.about;
    let published = Printed::parse(&number.printed)
        .ok_or_else(|| wrong(format!("expected a number, found `{}`", number.printed)))?;
    let tolerance =
        Tolerance::parse(about.within.as_deref().unwrap_or("printed")).map_err(wrong)?;
    if tolerance.needs_reason() && about.within_because.is_none() {
        return Err(wrong("expected `within_because`, the reason for the tolerance".to_owned()));
    }
    let expression = about.how.as_deref().map(expression::parse).transpose().map_err(wrong)?;
    let Some(what) = about.what else { return Err(wrong("expected `what`".to_owned())) };
    let left = [Some(&id), Some(&what), about.how.as_ref(), about.because.as_ref()];
    if let Some(open) = left.into_iter().flatten().find(|text| text.contains('{')) {
        return Err(wrong(format!("expected every pattern to be a row's field, found `{open}`")));
    }
    Ok(Entry {
        source: source.to_owned(),
        section: about.section.unwrap_or_default(),
        lines: number.lines,
        what,
        kind: about.kind.unwrap_or_default(),
        published,
        uncertainty: about.uncertainty,
        unit: about.unit.unwrap_or_default(),
        how: about.how,
        expression,
        tolerance,
        tolerance_reason: about.within_because,
        because: about.because,
        note: about.note,
        id,
    })
}
