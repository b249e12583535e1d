//! Whatever a person names: a run directory, a trace of the scheduler, or results of another tool.

use crate::import::{self, is_trace};
use flyball_import::{Options, import as import_results, load};
use flyball_run::{Result, Run, Warning};
use std::path::{Path, PathBuf};

/// How what is no run directory is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Results of other tools.
    pub results: Options<'static>,
    /// Traces.
    pub traces: import::Options,
}

/// What was made a run directory.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The directory.
    pub dir: PathBuf,
    /// What is in it, in a line.
    pub outline: String,
    /// What its reader has to know.
    pub warnings: Vec<Warning>,
}

impl Reading {
    /// Opens a run directory, or reads anything else into memory.
    ///
    /// # Errors
    /// A path that is none of these, or one that does not read.
    pub fn open(&self, path: &Path) -> Result<Run> {
        // A path that is no file is told of by `load`, which knows more formats.
        match path.is_file() && is_trace(path)? {
            true => import::import(path, &self.traces),
            false => load(path, &self.results),
        }
    }

    /// Makes what another tool left the new run directory `dir`. A trace goes to disk as it is read, however
    /// large it is.
    ///
    /// # Errors
    /// As [`Reading::open`]; a directory that is not new; a full disk.
    pub fn keep(&self, path: &Path, dir: &Path) -> Result<Kept> {
        if path.is_file() && is_trace(path)? {
            let kept = import::import_to(path, dir, &self.traces)?;
            let outline = format!("{} events, {} rows", kept.events, kept.rows);
            return Ok(Kept { dir: kept.dir, outline, warnings: kept.warnings });
        }
        let run = import_results(path, &self.results)?;
        let (outline, warnings) = (run.outline(), run.warnings.clone());
        Ok(Kept { dir: run.write(dir)?, outline, warnings })
    }
}
