//! Every published number of the five sources beside ours: reproduced, refuted, not reproduced or
//! not decidable.
//!
//! ```text
//! published/*.toml -> catalogue -> evaluators (data, pelt, governors, model) -> rows with verdicts
//! ```
//! The catalogue holds what the sources print and a formula (`how`) in terms of the evaluators'
//! functions; ours is computed, never written down.

mod arithmetic;
mod catalogue;
mod context;
mod data;
mod expression;
pub mod figures;
mod function;
mod functions;
mod load_tracking;
mod markdown;
mod model;
mod printed;
mod quantity;
mod ramp;
mod report;
mod simulation;
mod summary;
mod terminal;
mod tolerance;

pub use catalogue::{Catalogue, CatalogueError, Entry, Exclusion, Kind, Source};
pub use markdown::markdown;
pub use printed::Printed;
pub use quantity::Range;
pub use report::{Reproduction, Row, Verdict};
pub use summary::SourceSummary;
pub use terminal::{Rows, TerminalOptions, terminal};

use context::Context;
use rayon::prelude::*;
use std::path::PathBuf;

/// What to reproduce.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folder of the recordings (their names as in the sources' list); none: the tables that ship.
    pub data: Option<PathBuf>,
    /// Letters of sources; empty: all.
    pub sources: Vec<String>,
    /// Ids, or the starts of ids; empty: all.
    pub ids: Vec<String>,
}

/// Evaluates the chosen numbers. `progress` is told how many of how many are done; it is called
/// from several threads.
///
/// # Errors
/// A defect of the catalogue.
pub fn reproduce(
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Reproduction, CatalogueError> {
    let catalogue = Catalogue::load()?;
    let context = Context::new(&catalogue, options.data.clone());
    let entries: Vec<&Entry> =
        catalogue.entries.iter().filter(|entry| options.wants(entry)).collect();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let rows: Vec<Row> = entries
        .par_iter()
        .map(|entry| {
            let row = report::row(&catalogue, &context, entry);
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            progress(done, entries.len());
            row
        })
        .collect();
    Ok(Reproduction { schema: "flyball-reproduction/1", sources: catalogue.sources.clone(), rows })
}

impl Catalogue {
    /// Reads the catalogue, and checks its formulas.
    ///
    /// # Errors
    /// A defect of the committed files; the tests would have found it.
    pub fn load() -> Result<Catalogue, CatalogueError> {
        Catalogue::read(functions::check)
    }
}

impl Options {
    fn wants(&self, entry: &Entry) -> bool {
        let source = self.sources.is_empty()
            || self.sources.iter().any(|letter| letter.eq_ignore_ascii_case(&entry.source));
        let id = self.ids.is_empty() || self.ids.iter().any(|id| entry.id.starts_with(id));
        source && id
    }
}

/// The functions that formulas may call: name, parameters in words, what they give.
pub fn functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    functions::all().map(|function| (function.name, function.doc))
}
