//! Where a sweep goes: its run directory, and the journal beside it.

use super::{Header, Journal};
use flyball_units::Diagnostic;
use std::io;
use std::path::{Path, PathBuf};

/// What a journal is called beside the run directory to be.
const PARTIAL: &str = "partial";

/// The run directory to be, and its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The run directory.
    pub dir: PathBuf,
    /// The journal: that of the same sweep where one is there.
    pub journal: PathBuf,
}

/// A sweep that has no place.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// The folder of the runs.
    #[error(transparent)]
    Folder(#[from] io::Error),
    /// A directory that holds something.
    #[error("{}: expected a new or empty directory, found one with files in it", .0.display())]
    NotEmpty(PathBuf),
    /// Ten thousand sweeps of the same second.
    #[error("{}: expected a free name, found none", .0.display())]
    NoName(PathBuf),
}

impl Diagnostic for PlacesError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            PlacesError::Folder(error) => Some(error),
            PlacesError::NotEmpty(_) | PlacesError::NoName(_) => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            PlacesError::Folder(error) => Diagnostic::hint(error),
            PlacesError::NotEmpty(_) => Some("choose another directory".to_owned()),
            PlacesError::NoName(_) => Some("give a directory".to_owned()),
        }
    }
}

impl Places {
    /// `out`, or a new directory below `runs` named `name`; that of an interrupted sweep of this
    /// `header` where one is there.
    ///
    /// # Errors
    /// [`PlacesError`].
    pub fn of(
        out: Option<&Path>,
        runs: &Path,
        name: &str,
        header: &Header,
    ) -> Result<Places, PlacesError> {
        if let Some(dir) = out {
            if dir.exists() && dir.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
                return Err(PlacesError::NotEmpty(dir.to_owned()));
            }
            let mut journal = dir.as_os_str().to_owned();
            journal.push(format!(".{PARTIAL}"));
            return Ok(Places { dir: dir.to_owned(), journal: PathBuf::from(journal) });
        }
        fs_err::create_dir_all(runs)?;
        for entry in fs_err::read_dir(runs)?.flatten() {
            let path = entry.path();
            let partial = path.extension().is_some_and(|extension| extension == PARTIAL);
            if partial && Journal::open(&path, header).is_ok() {
                return Ok(Places { dir: path.with_extension(""), journal: path });
            }
        }
        let names = (2..10_000).map(|number| format!("{name}-{number}"));
        let mut dirs = std::iter::once(name.to_owned()).chain(names).map(|name| runs.join(name));
        let taken = |dir: &PathBuf| dir.exists() || dir.with_extension(PARTIAL).exists();
        let dir = dirs.find(|dir| !taken(dir));
        let dir = dir.ok_or_else(|| PlacesError::NoName(runs.join(name)))?;
        Ok(Places { journal: dir.with_extension(PARTIAL), dir })
    }
}
