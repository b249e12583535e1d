//! A run's rows, whoever holds them.

use flyball_run::{Manifest, Run, Tables};

/// A run's rows, whoever holds them.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    /// What the run is called.
    pub name: String,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// Its tables.
    pub tables: &'a Tables,
}

impl<'a> From<&'a Run> for Rows<'a> {
    fn from(run: &'a Run) -> Self {
        Self { name: run.name(), manifest: &run.manifest, tables: &run.tables }
    }
}
