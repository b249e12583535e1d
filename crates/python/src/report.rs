//! Reports: the model, and what is drawn and written from it.

use crate::error::{raise, wrong};
use crate::run::read;
use crate::work::work;
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::export;
use flyball_report::figures;
use flyball_report::html::{self, HtmlOptions};
use flyball_report::model;
use flyball_report::terminal::{self, TerminalOptions};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A report; `each` has one per run, for what is drawn of several.
#[pyclass(frozen, module = "flyball._flyball")]
pub struct Report {
    report: model::Report,
    each: Vec<model::Report>,
}

/// Analyses runs as `flyball report` does; the first is the one that others are compared with.
#[pyfunction]
#[pyo3(signature = (paths, baseline = None, task = None, marker = None))]
pub fn report(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    baseline: Option<String>,
    task: Option<String>,
    marker: Option<String>,
) -> PyResult<Report> {
    work(py, None, |_| {
        let mut runs = Vec::with_capacity(paths.len());
        for path in &paths {
            let name = path.file_name().map_or_else(
                || path.display().to_string(),
                |name| name.to_string_lossy().into_owned(),
            );
            runs.push(RunData::beside(name, path, read(path)?).map_err(raise)?);
        }
        let base = AnalysisOptions::default();
        let stated = runs.iter().find_map(|run| flyball_lab::experiment::margin_of(&run.manifest));
        let options = AnalysisOptions {
            seed: runs.iter().find_map(|run| run.manifest.seed).unwrap_or(base.seed),
            margin: stated.unwrap_or(base.margin),
            baseline,
            task,
            marker,
            ..base
        };
        let report = analyse(&runs, &options);
        if let Some(wanted) = &options.baseline {
            flyball_report::analysis::check_condition(wanted, report.baselines().into_iter())
                .map_err(|slip| raise(slip.at("baseline")))?;
        }
        let each = match runs.as_slice() {
            [_] => Vec::new(),
            runs => runs.iter().map(|run| analyse(std::slice::from_ref(run), &options)).collect(),
        };
        Ok(Report { report, each })
    })?
}

#[pymethods]
impl Report {
    /// The model, JSON.
    fn json(&self) -> PyResult<String> {
        export::json(&self.report).map_err(|error| wrong(error, None))
    }

    /// What a terminal shows.
    fn text(&self, width: usize, verbose: bool) -> String {
        terminal::render(
            &self.report,
            &TerminalOptions { width, verbose, ..TerminalOptions::default() },
        )
    }

    /// The page.
    fn page(&self) -> String {
        let generator = Some(concat!("flyball ", env!("CARGO_PKG_VERSION")).to_owned());
        html::render(&self.report, &HtmlOptions { generator, ..HtmlOptions::default() })
    }

    /// Markdown for a pull request.
    fn markdown(&self) -> String {
        export::markdown(&self.report)
    }

    /// The figures that there are data for: name and SVG.
    fn figures(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        work(py, None, |_| {
            let drawn = figures::all(&self.report, &self.each);
            drawn.iter().map(|figure| (figure.name.clone(), figure.svg())).collect()
        })
    }
}
