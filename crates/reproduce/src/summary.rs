//! Counts per source.

use crate::report::{Reproduction, Verdict};
use serde::Serialize;

/// What became of one source's numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceSummary {
    /// The source's letter.
    pub source: String,
    /// Numbers that were reproduced.
    pub reproduced: usize,
    /// Numbers that the source's own recordings, numbers or rules contradict.
    pub refuted: usize,
    /// Numbers that a model does not give.
    pub not_reproduced: usize,
    /// Numbers that nothing here can decide.
    pub not_decidable: usize,
    /// Settings and assumptions.
    pub inputs: usize,
}

impl Reproduction {
    /// One per source that has rows, in order.
    pub fn summary(&self) -> Vec<SourceSummary> {
        let of = |letter: &str| {
            let count = |verdict| {
                let rows = self.rows.iter();
                rows.filter(|row| row.source == letter && row.verdict == verdict).count()
            };
            SourceSummary {
                source: letter.to_owned(),
                reproduced: count(Verdict::Reproduced),
                refuted: count(Verdict::Refuted),
                not_reproduced: count(Verdict::NotReproduced),
                not_decidable: count(Verdict::NotDecidable),
                inputs: count(Verdict::Input),
            }
        };
        let here = |letter: &str| self.rows.iter().any(|row| row.source == letter);
        let letters = self.sources.iter().map(|source| source.letter.as_str());
        letters.filter(|letter| here(letter)).map(of).collect()
    }

    /// Leaves only rows with one of these verdicts; all of them where there is none.
    pub fn keep(&mut self, verdicts: &[Verdict]) {
        if !verdicts.is_empty() {
            self.rows.retain(|row| verdicts.contains(&row.verdict));
        }
    }

    /// The whole table as JSON: `schema`, `sources`, `summary`, `rows`.
    ///
    /// # Errors
    /// None in practice: every number is finite.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: &'static str,
            sources: &'a [crate::Source],
            summary: Vec<SourceSummary>,
            rows: &'a [crate::Row],
        }
        serde_json::to_string_pretty(&Document {
            schema: self.schema,
            sources: &self.sources,
            summary: self.summary(),
            rows: &self.rows,
        })
        .map(|text| text + "\n")
    }
}
