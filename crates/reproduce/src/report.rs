//! The table: every published number beside ours, with a verdict.

use crate::catalogue::{Catalogue, Entry, Kind, Source};
use crate::context::Context;
use crate::functions::{self, Basis};
use crate::quantity::{Quantity, Range, Undecided};
use crate::tolerance::Tolerance;
use flyball_units::Mismatch;
use serde::Serialize;
use std::str::FromStr;

/// What can be said of a published number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Ours agrees within the tolerance.
    Reproduced,
    /// Ours does not, and ours is the source's own recordings, printed numbers or rules.
    Refuted,
    /// Ours does not, and ours is a model's, or the number is a measurement outside the source:
    /// it is the model that falls short.
    NotReproduced,
    /// There is no number of ours.
    NotDecidable,
    /// The number goes in; there is nothing to find out.
    Input,
}

impl Verdict {
    /// All verdicts in the order of the summary.
    pub const ALL: [Verdict; 5] = [
        Verdict::Reproduced,
        Verdict::Refuted,
        Verdict::NotReproduced,
        Verdict::NotDecidable,
        Verdict::Input,
    ];

    /// As people read it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Refuted => "refuted",
            Verdict::NotReproduced => "not reproduced",
            Verdict::NotDecidable => "not decidable",
            Verdict::Input => "input",
        }
    }

    /// As it is typed: its word without spaces.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::NotReproduced => "not-reproduced",
            Verdict::NotDecidable => "not-decidable",
            other => other.word(),
        }
    }

    /// What it says.
    pub fn about(self) -> &'static str {
        match self {
            Verdict::Reproduced => "Ours agrees within the tolerance",
            Verdict::Refuted => {
                "The source's own recordings, numbers or rules contradict it; the row says why"
            }
            Verdict::NotReproduced => "A model does not give it; the row says why",
            Verdict::NotDecidable => "There is no number of ours; the row says why",
            Verdict::Input => "Settings and assumptions: nothing to find out",
        }
    }
}

impl FromStr for Verdict {
    type Err = Mismatch;

    fn from_str(name: &str) -> Result<Verdict, Mismatch> {
        let names = Verdict::ALL.map(Verdict::name);
        let found = Verdict::ALL.into_iter().find(|verdict| verdict.name() == name);
        found.ok_or_else(|| Mismatch::text(names.join(", "), name).near(name, names))
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Unique name, starting with the source's letter.
    pub id: String,
    /// The source's letter.
    pub source: String,
    /// Section, table or figure of the source.
    pub section: String,
    /// Lines of the source's text, from 1.
    pub lines: Vec<usize>,
    /// What the number is.
    pub what: String,
    /// Result, input or check.
    pub kind: Kind,
    /// Unit of all numbers of the row; empty for counts and ratios.
    pub unit: String,
    /// The number as printed.
    pub published: String,
    /// Its value.
    pub published_value: f64,
    /// Its uncertainty where one is printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<String>,
    /// Our number, if there is one.
    pub ours: Option<f64>,
    /// Its 1 to 99 % range over the grid of phases, where it is a distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours_range: Option<Range>,
    /// Ours less published.
    pub difference: Option<f64>,
    /// The same as a share of the published number; None where that is 0, or a bound: how far ours
    /// stays from a bound is no error.
    pub difference_percent: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Within what it was reproduced, or because of what not.
    pub why: String,
    /// The formula that gives ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Why the tolerance is what it is, where it is not that of the print.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance_reason: Option<String>,
    /// What was fitted to published numbers, if anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<String>,
    /// What a reader should know of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Row {
    /// The number as printed, for people: recorders print binary noise (37.300000000000004).
    pub(crate) fn published_text(&self) -> String {
        match self.published.len() > 10 {
            true => format!("{:.2}", self.published_value),
            false => self.published.clone(),
        }
    }
}

/// The whole table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// Name and version of this format.
    pub schema: &'static str,
    /// The five sources.
    pub sources: Vec<Source>,
    /// The rows, in the order of the sources.
    pub rows: Vec<Row>,
}

/// Evaluates one entry.
pub(crate) fn row(catalogue: &Catalogue, context: &Context<'_>, entry: &Entry) -> Row {
    let known = catalogue.undecidable(&entry.id);
    let ours = match (&entry.expression, known) {
        (Some(expression), _) => functions::evaluate(expression, context),
        (None, Some(reason)) => Err(Undecided::Reason(reason.to_owned())),
        (None, None) => Err(Undecided::Reason("no evaluator".to_owned())),
    };
    let (verdict, why) = judge(entry, &ours);
    let ours = ours.ok();
    let difference = ours.as_ref().map(|ours| ours.value - entry.published.value);
    let published = entry.published.value;
    Row {
        id: entry.id.clone(),
        source: entry.source.clone(),
        section: entry.section.clone(),
        lines: entry.lines.clone(),
        what: entry.what.clone(),
        kind: entry.kind,
        unit: entry.unit.clone(),
        published: entry.published.text.clone(),
        published_value: published,
        uncertainty: entry.uncertainty.clone(),
        ours_range: ours.as_ref().and_then(|ours| ours.range),
        difference,
        difference_percent: difference
            .filter(|_| published != 0.0 && !entry.tolerance.is_bound())
            .map(|difference| 100.0 * difference / published.abs()),
        verdict,
        why,
        how: entry.how.clone(),
        tolerance_reason: entry.tolerance_reason.clone(),
        fitted: ours.as_ref().and_then(|ours| ours.fitted.clone()),
        note: notes(entry, ours.as_ref()),
        ours: ours.map(|ours| ours.value),
    }
}

fn judge(entry: &Entry, ours: &Result<Quantity, Undecided>) -> (Verdict, String) {
    if entry.kind == Kind::Input {
        return (Verdict::Input, String::new());
    }
    match ours {
        Err(undecided) => (Verdict::NotDecidable, undecided.to_string()),
        Ok(ours) if entry.tolerance.holds(&entry.published, ours) => {
            (Verdict::Reproduced, entry.tolerance.words(&entry.published, &entry.unit))
        }
        Ok(_) => {
            let verdict = disagreement(entry);
            let cause = entry.because.clone().filter(|cause| !cause.is_empty());
            (verdict, cause.unwrap_or_else(|| "cause not known".to_owned()))
        }
    }
}

/// What it means that ours differs: a source is refuted only by what is its own. A model that
/// does not give a number, and a check that is printed nowhere, refute nothing.
fn disagreement(entry: &Entry) -> Verdict {
    let basis = entry.expression.as_ref().map(functions::basis);
    match (&entry.tolerance, entry.kind, basis) {
        (Tolerance::Beside, _, _) => Verdict::NotDecidable,
        (_, Kind::Result, Some(Basis::Source)) => Verdict::Refuted,
        _ => Verdict::NotReproduced,
    }
}

fn notes(entry: &Entry, ours: Option<&Quantity>) -> Option<String> {
    match (&entry.note, ours.and_then(|ours| ours.note.as_ref())) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.as_ref().or(other).cloned(),
    }
}
