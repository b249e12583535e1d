//! Where a sweep goes: its run directory, and the journal beside it.

use super::{Header, Journal};
use flyball_run::disk::{RealDisk, create_dir_all};
use flyball_run::{Columns, Manifest, Run, RunState};
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
            remove_half(dir, header)?;
            if dir.exists() && dir.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
                return Err(PlacesError::NotEmpty(dir.to_owned()));
            }
            return Ok(Places { dir: dir.to_owned(), journal: journal_of(dir) });
        }
        create_dir_all(&RealDisk, runs)?;
        for entry in fs_err::read_dir(runs)?.flatten() {
            let path = entry.path();
            let partial = path.extension().is_some_and(|extension| extension == PARTIAL);
            if partial && Journal::open(&path, header).is_ok() {
                let dir = path.with_extension("");
                remove_half(&dir, header)?;
                if path.exists() {
                    return Ok(Places { dir, journal: path });
                }
            }
        }
        let names = (2..10_000).map(|number| format!("{name}-{number}"));
        let mut dirs = std::iter::once(name.to_owned()).chain(names).map(|name| runs.join(name));
        let taken = |dir: &PathBuf| dir.exists() || journal_of(dir).exists();
        let dir = dirs.find(|dir| !taken(dir));
        let dir = dir.ok_or_else(|| PlacesError::NoName(runs.join(name)))?;
        Ok(Places { journal: journal_of(&dir), dir })
    }
}

/// Removes what a sweep left that was killed while it wrote its run directory, half of which is of no use as
/// all of it is in the journal; or behind it, when the journal has done its work.
fn remove_half(dir: &Path, header: &Header) -> io::Result<()> {
    let journal = journal_of(dir);
    if !journal.exists() || Journal::open(&journal, header).is_err() {
        return Ok(());
    }
    match Run::open_with(dir, Columns::Only(&[])).map(|run| run.manifest) {
        Ok(found) if found.kind != "sweep" => Ok(()),
        Ok(Manifest { state: RunState::Running, .. }) => fs_err::remove_dir_all(dir),
        Ok(Manifest { state: RunState::Complete, .. }) => fs_err::remove_file(journal),
        _ => Ok(()),
    }
}

/// The journal of the sweep that is to leave the run directory `dir`.
pub(super) fn journal_of(dir: &Path) -> PathBuf {
    let mut journal = dir.as_os_str().to_owned();
    journal.push(format!(".{PARTIAL}"));
    PathBuf::from(journal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::RunWriter;
    use std::collections::BTreeMap;

    /// A sweep that is killed at any point of its end goes on, or has ended.
    #[test]
    fn half_a_run_directory_is_in_nobody_s_way() {
        let root = tempfile::tempdir().unwrap();
        let manifest = Manifest { experiment: Some("s".into()), ..Manifest::default() };
        let header = Header { axes: vec![], files: BTreeMap::new(), shard: None, manifest };
        let begin = |dir: &Path, state, kind: &str| {
            let manifest = Manifest { state, kind: kind.into(), ..Manifest::default() };
            drop(RunWriter::create(dir, &manifest).unwrap());
            Journal::open(&journal_of(dir), &header).map(drop).unwrap();
        };
        let places = |out: Option<&Path>| Places::of(out, root.path(), "later", &header);

        let half = root.path().join("half");
        begin(&half, RunState::Running, "sweep");
        let found = places(None).unwrap();
        assert_eq!((&found.dir, found.journal.exists()), (&half, true));
        assert!(!half.exists());
        begin(&half, RunState::Running, "sweep");
        assert_eq!(places(Some(&half)).unwrap(), found);

        begin(&half, RunState::Complete, "sweep");
        assert_eq!(places(None).unwrap().dir, root.path().join("later"));
        assert!(half.exists() && !journal_of(&half).exists(), "what has ended stays");

        let other = root.path().join("other");
        begin(&other, RunState::Running, "bench");
        assert!(matches!(places(Some(&other)), Err(PlacesError::NotEmpty(_))));
        assert!(other.join("run.toml").exists(), "another program's run stays");
    }
}
