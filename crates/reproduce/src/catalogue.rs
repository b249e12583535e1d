//! The catalogue of published numbers, `published/*.toml`: what is printed, where, and how it is
//! obtained. Only what the sources print stands there; ours is computed.

mod expand;

use crate::expression::Expression;
use crate::printed::Printed;
use crate::tolerance::Tolerance;
use flyball_units::{Diagnostic, ErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The five sources.
const FILES: [&str; 5] = [
    include_str!("../published/a.toml"),
    include_str!("../published/b.toml"),
    include_str!("../published/c.toml"),
    include_str!("../published/d.toml"),
    include_str!("../published/e.toml"),
];

/// What cannot be decided, and why: id (or a prefix ending in `*`) to reason.
const UNDECIDABLE: &str = include_str!("../undecidable.toml");

/// Every published number.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The sources in order.
    pub sources: Vec<Source>,
    /// The numbers, in the order of the sources.
    pub entries: Vec<Entry>,
    /// Known to be undecidable: id, or prefix ending in `*`, to reason.
    pub undecidable: BTreeMap<String, String>,
}

/// One source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Its letter.
    pub letter: String,
    /// Its title.
    pub title: String,
    /// File name of its text.
    pub text: String,
    /// Parts of the text whose numbers are no published results.
    #[serde(skip)]
    pub excluded: Vec<Exclusion>,
}

/// Numbers of the text that the catalogue leaves out, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exclusion {
    /// First and last line, from 1.
    pub lines: [usize; 2],
    /// Only these numbers of the lines; all of them where absent.
    #[serde(default)]
    pub only: Vec<String>,
    /// Why.
    pub reason: String,
}

/// What a number of the catalogue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A result: it gets a verdict.
    #[default]
    Result,
    /// A setting, a threshold or an assumption: it goes in, nothing comes out.
    Input,
    /// Not printed in the source: a known value of a model that the source's method has to find.
    Check,
}

/// One number.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Unique name, starting with the source's letter: `A.median.car.performance`.
    pub id: String,
    /// The source's letter.
    pub source: String,
    /// Section, table or figure.
    pub section: String,
    /// Lines of the text on which it is printed, from 1.
    pub lines: Vec<usize>,
    /// What it is.
    pub what: String,
    /// Result, input or check.
    pub kind: Kind,
    /// The number.
    pub published: Printed,
    /// Its uncertainty where one is printed.
    pub uncertainty: Option<String>,
    /// Its unit; empty for counts and ratios.
    pub unit: String,
    /// How ours is obtained, as written; None where nothing can.
    pub how: Option<String>,
    pub(crate) expression: Option<Expression>,
    pub(crate) tolerance: Tolerance,
    /// Why the tolerance is what it is.
    pub tolerance_reason: Option<String>,
    /// The cause, where ours differs.
    pub because: Option<String>,
    /// What a reader should know of it.
    pub note: Option<String>,
}

/// A defect of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("catalogue of published numbers, {place}: {what}")]
pub struct CatalogueError {
    /// The entry or file.
    pub place: String,
    /// What is wrong: expected and found.
    pub what: String,
}

/// A defect of ours, not of what the user wrote.
impl Diagnostic for CatalogueError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Own
    }
}

impl Catalogue {
    /// Reads the catalogue; `check` says what is wrong with a formula.
    ///
    /// # Errors
    /// A defect of the committed files; the tests would have found it.
    pub(crate) fn read(
        check: fn(&Expression) -> Result<(), String>,
    ) -> Result<Catalogue, CatalogueError> {
        let mut sources = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        for text in FILES {
            let (source, mut numbers) = expand::file(text)?;
            sources.push(source);
            entries.append(&mut numbers);
        }
        let mut ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CatalogueError {
                place: pair[0].to_owned(),
                what: "expected one entry of this id, found two".to_owned(),
            });
        }
        for entry in &entries {
            if let Some(expression) = &entry.expression {
                check(expression)
                    .map_err(|what| CatalogueError { place: entry.id.clone(), what })?;
            }
        }
        let undecidable = toml::from_str(UNDECIDABLE).map_err(|error| CatalogueError {
            place: "undecidable.toml".to_owned(),
            what: error.to_string(),
        })?;
        Ok(Catalogue { sources, entries, undecidable })
    }

    /// The entry of an id.
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Why an id is known not to be decidable, if it is.
    pub fn undecidable(&self, id: &str) -> Option<&str> {
        self.undecidable
            .iter()
            .find(|(pattern, _)| match pattern.strip_suffix('*') {
                Some(prefix) => id.starts_with(prefix),
                None => pattern.as_str() == id,
            })
            .map(|(_, reason)| reason.as_str())
    }
}
