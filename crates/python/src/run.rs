//! A run: its manifest, and its tables as they are asked for.

use crate::error::{json, missing, raise};
use crate::table::{Table, table};
use crate::work::work;
use flyball_events::Reading;
use flyball_run::disk::{DESCRIPTION_BYTES, read_text};
use flyball_run::{
    Columns, Manifest, Run as Opened, TableSpec, Tables, Warning, manifest, registry,
};
use flyball_units::nearest;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A run directory that was opened, or another tool's file that was imported.
#[pyclass(frozen, module = "flyball._flyball")]
pub struct Run {
    opened: Opened,
    /// Rows of the tables of a directory, where they are known, and all tables of an import.
    tables: Vec<(&'static str, Option<u64>)>,
    imported: HashMap<&'static str, Py<Table>>,
}

/// Reads `path` as `flyball report` does.
pub fn read(path: &Path) -> PyResult<Opened> {
    Reading::default().open(path).map_err(raise)
}

/// Opens a run directory, or imports what `flyball report` reads.
#[pyfunction]
pub fn open(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    if Opened::is_run(&path) {
        let opened = work(py, None, |_| Opened::open_with(&path, Columns::Only(&[])))?;
        let mut opened = opened.map_err(raise)?;
        // Whole: it leaves out how many rows each table was closed with.
        let text = read_text(&path.join(manifest::FILE), DESCRIPTION_BYTES).map_err(raise)?;
        opened.manifest = Manifest::from_toml(&text, manifest::FILE).map_err(raise)?;
        let tables = registry().iter().filter_map(|spec| {
            let closed = opened.manifest.tables.iter().find(|table| table.name == spec.name);
            let there = |ending: &str| path.join(format!("{}.{ending}", spec.name)).exists();
            (closed.is_some() || there("parquet") || there("ndjson"))
                .then(|| (spec.name, closed.map(|table| table.rows)))
        });
        let tables = tables.collect();
        return Ok(Run { opened, tables, imported: HashMap::new() });
    }
    let mut opened = work(py, None, |_| read(&path))??;
    let mut run = Run { opened: Opened::default(), tables: Vec::new(), imported: HashMap::new() };
    for spec in registry() {
        let made = take(&mut opened.tables, *spec, None)?;
        let rows = made.0.num_rows();
        if rows > 0 {
            run.tables.push((spec.name, Some(rows as u64)));
            run.imported.insert(spec.name, Py::new(py, made)?);
        }
    }
    run.opened = opened;
    Ok(run)
}

#[pymethods]
impl Run {
    /// Its name.
    fn name(&self) -> String {
        self.opened.name()
    }

    /// Its manifest, JSON.
    fn manifest(&self) -> PyResult<String> {
        json(&self.opened.manifest)
    }

    /// Names of the tables that it has, with their rows where these are known.
    fn tables(&self) -> Vec<(&'static str, Option<u64>)> {
        self.tables.clone()
    }

    /// What the reader had to say, a sentence each.
    fn warnings(&self) -> Vec<String> {
        self.opened.warnings.iter().map(sentence).collect()
    }

    /// What is missing of a run that is not whole.
    fn unfinished(&self) -> Option<String> {
        self.opened.unfinished.as_ref().map(ToString::to_string)
    }

    /// A table with all its columns or some, and what the reader had to say.
    #[pyo3(signature = (name, columns = None))]
    fn table(
        &self,
        py: Python<'_>,
        name: &str,
        columns: Option<Vec<String>>,
    ) -> PyResult<(Py<Table>, Vec<String>)> {
        let spec = spec(name)?;
        for wanted in columns.iter().flatten() {
            check_column(spec, wanted)?;
        }
        if let Some(table) = self.imported.get(name) {
            let table = match &columns {
                None => table.clone_ref(py),
                Some(columns) => Py::new(py, table.get().only(columns)?)?,
            };
            return Ok((table, Vec::new()));
        }
        let Some(dir) = &self.opened.dir else {
            return Ok((
                Py::new(py, take(&mut Tables::default(), spec, columns.as_deref())?)?,
                Vec::new(),
            ));
        };
        let taken = |column: &&str| {
            columns.as_ref().is_none_or(|only| only.iter().any(|name| name == column))
        };
        let wanted: Vec<(&str, &str)> = spec
            .columns
            .iter()
            .map(|column| column.name)
            .filter(taken)
            .map(|column| (spec.name, column))
            .collect();
        let opened = work(py, None, |_| Opened::open_with(dir, Columns::Only(&wanted)))?;
        let mut opened = opened.map_err(raise)?;
        let table = take(&mut opened.tables, spec, columns.as_deref())?;
        let told = opened.warnings.iter().map(sentence).collect();
        Ok((Py::new(py, table)?, told))
    }
}

fn take(tables: &mut Tables, spec: TableSpec, columns: Option<&[String]>) -> PyResult<Table> {
    table(spec, tables.take(spec.name).unwrap_or_default(), columns)
}

fn sentence(warning: &Warning) -> String {
    format!("{}: {}", warning.object, warning.message)
}

fn spec(name: &str) -> PyResult<TableSpec> {
    registry().iter().find(|spec| spec.name == name).copied().ok_or_else(|| {
        let near = nearest(name, registry().iter().map(|spec| spec.name));
        let message = format!("expected a table of a run, found \"{name}\"");
        missing(message, near.map(|near| format!("did you mean `{near}`?")))
    })
}

fn check_column(spec: TableSpec, name: &str) -> PyResult<()> {
    let mut names = spec.columns.iter().map(|column| column.name);
    if names.clone().any(|own| own == name) {
        return Ok(());
    }
    let near = names.by_ref().collect::<Vec<_>>();
    let near = nearest(name, near.iter().copied());
    let message = format!("expected a column of {}, found \"{name}\"", spec.name);
    Err(missing(message, near.map(|near| format!("did you mean `{near}`?"))))
}
