//! A run: its manifest, and its tables as they are asked for.

use crate::error::{json, missing, raise};
use crate::table::{Table, table};
use crate::work::work;
use flyball_events::Reading;
use flyball_run::{
    Columns, Directory, Run as Opened, TableSpec, Tables, TablesRead, Warning, registry,
};
use flyball_units::nearest;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A run directory that was opened, or what was made of another tool's file.
#[pyclass(frozen, module = "flyball._flyball")]
pub struct Run {
    source: Source,
    /// Rows of its tables; none where they are not known.
    tables: Vec<(&'static str, Option<u64>)>,
}

enum Source {
    /// Its tables are read as they are asked for.
    Directory(Box<Directory>),
    Import {
        opened: Box<Opened>,
        tables: HashMap<&'static str, Py<Table>>,
    },
}

/// Reads `path` as `flyball report` does.
pub fn read(path: &Path) -> PyResult<Opened> {
    Reading::default().open(path).map_err(raise)
}

/// Opens a run directory, or imports what `flyball report` reads.
#[pyfunction]
pub fn open(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    if Opened::is_run(&path) {
        let directory = work(py, None, |_| Directory::open(&path))?.map_err(raise)?;
        let tables = registry().iter().filter_map(|spec| {
            let closed = directory.manifest.tables.iter().find(|table| table.name == spec.name);
            let there = |ending: &str| path.join(format!("{}.{ending}", spec.name)).exists();
            (closed.is_some() || there("parquet") || there("ndjson"))
                .then(|| (spec.name, closed.map(|table| table.rows)))
        });
        let tables = tables.collect();
        return Ok(Run { source: Source::Directory(Box::new(directory)), tables });
    }
    let mut opened = work(py, None, |_| read(&path))??;
    let (mut rows, mut imported) = (Vec::new(), HashMap::new());
    for spec in registry() {
        let made = take(&mut opened.tables, *spec, None)?;
        let count = made.0.num_rows();
        if count > 0 {
            rows.push((spec.name, Some(count as u64)));
            imported.insert(spec.name, Py::new(py, made)?);
        }
    }
    let source = Source::Import { opened: Box::new(opened), tables: imported };
    Ok(Run { source, tables: rows })
}

#[pymethods]
impl Run {
    /// Its name.
    fn name(&self) -> String {
        match &self.source {
            Source::Directory(directory) => directory.name(),
            Source::Import { opened, .. } => opened.name(),
        }
    }

    /// Its manifest, JSON.
    fn manifest(&self) -> PyResult<String> {
        match &self.source {
            Source::Directory(directory) => json(&directory.manifest),
            Source::Import { opened, .. } => json(&opened.manifest),
        }
    }

    /// Names of the tables that it has, with their rows where these are known.
    fn tables(&self) -> Vec<(&'static str, Option<u64>)> {
        self.tables.clone()
    }

    /// What the reader had to say, a sentence each.
    fn warnings(&self) -> Vec<String> {
        match &self.source {
            Source::Directory(_) => Vec::new(),
            Source::Import { opened, .. } => opened.warnings.iter().map(sentence).collect(),
        }
    }

    /// What is missing of a run that is not whole.
    fn unfinished(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let found = match &self.source {
            // It may count rows.
            Source::Directory(directory) => work(py, None, |_| directory.unfinished())?,
            Source::Import { opened, .. } => opened.unfinished.clone(),
        };
        Ok(found.map(|told| told.to_string()))
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
        let mut read = TablesRead::default();
        match &self.source {
            Source::Import { tables, .. } => {
                if let Some(table) = tables.get(name) {
                    let table = match &columns {
                        None => table.clone_ref(py),
                        Some(columns) => Py::new(py, table.get().only(columns)?)?,
                    };
                    return Ok((table, Vec::new()));
                }
            }
            Source::Directory(directory) => {
                let taken = |column: &&str| {
                    columns.as_ref().is_none_or(|only| only.iter().any(|name| name == column))
                };
                let names = spec.columns.iter().map(|column| column.name).filter(taken);
                let wanted: Vec<(&str, &str)> = names.map(|column| (spec.name, column)).collect();
                read =
                    work(py, None, |_| directory.read(Columns::Only(&wanted)))?.map_err(raise)?;
            }
        }
        let table = take(&mut read.tables, spec, columns.as_deref())?;
        let told = read.warnings.iter().map(sentence).chain(read.lost).collect();
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
