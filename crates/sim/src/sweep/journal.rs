//! The journal of a sweep: one JSON line per finished point, so that an interrupted sweep goes on.

use crate::record::Unit;
use flyball_run::disk::{Disk, RealDisk};
use flyball_units::Diagnostic;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// The first line: what is swept. Two sweeps are the same where this is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the program: another one may simulate differently.
    pub version: String,
    /// The scenario with all settings.
    pub scenario: String,
    /// What it goes through.
    pub axes: Vec<super::Axis>,
}

/// One finished point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Its number.
    pub point: usize,
    /// Paths of the metrics.
    pub names: Vec<String>,
    /// Their values, one list per phase.
    #[serde(with = "exact")]
    pub values: Vec<Vec<Option<f64>>>,
}

/// Numbers as text: a JSON number may come back with another last bit, and a resumed sweep must not
/// differ from one that never stopped.
mod exact {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    type Values = Vec<Vec<Option<f64>>>;

    pub fn serialize<S: Serializer>(values: &Values, serializer: S) -> Result<S::Ok, S::Error> {
        let text = |value: &Option<f64>| value.map(|value| value.to_string());
        serializer.collect_seq(values.iter().map(|v| v.iter().map(text).collect::<Vec<_>>()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        let texts = Vec::<Vec<Option<String>>>::deserialize(deserializer)?;
        let number = |text: Option<String>| {
            text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
        };
        texts.into_iter().map(|phase| phase.into_iter().map(number).collect()).collect()
    }
}

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{path}: expected to {what}, found {source}")]
    Io {
        /// The journal.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What failed.
        source: io::Error,
    },
    /// It belongs to another sweep.
    #[error("{path}: expected a sweep of the same scenario, found another one's")]
    Other {
        /// The journal.
        path: PathBuf,
    },
}

impl Diagnostic for JournalError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            JournalError::Io { .. } => "check the disk, or choose another place for the sweep",
            JournalError::Other { .. } => {
                "choose another place for the sweep, or remove the file to start anew"
            }
        };
        Some(hint.to_owned())
    }
}

/// A sweep's journal, open for more.
pub struct Journal {
    path: PathBuf,
    file: fs_err::File,
    /// What earlier runs finished, by number.
    pub finished: BTreeMap<usize, Finished>,
}

impl Journal {
    /// Opens or begins the journal of a sweep. A torn last line is cut off.
    ///
    /// # Errors
    /// A file that cannot be read or written, or that belongs to another sweep.
    pub fn open(path: &Path, header: &Header) -> Result<Journal, JournalError> {
        let failed = |what| move |source| JournalError::Io { path: path.to_owned(), what, source };
        let mut finished = BTreeMap::new();
        let mut whole = 0_u64;
        if path.exists() {
            let file = fs_err::File::open(path).map_err(failed("read the journal"))?;
            whole = read(io::BufReader::new(file), header, path, &mut finished)?;
        }
        let mut file = fs_err::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)
            .map_err(failed("open the journal"))?;
        file.set_len(whole).map_err(failed("cut a torn line off"))?;
        io::Seek::seek(&mut file, io::SeekFrom::End(0)).map_err(failed("go to its end"))?;
        let mut journal = Journal { path: path.to_owned(), file, finished };
        if whole == 0 {
            journal.line(header)?;
        }
        Ok(journal)
    }

    /// Makes what was finished last.
    ///
    /// # Errors
    /// A failing disk.
    pub fn sync(&self) -> Result<(), JournalError> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let synced = self.file.sync_all().and_then(|()| RealDisk.sync_dir(folder));
        synced.map_err(|source| JournalError::Io {
            path: self.path.clone(),
            what: "sync the journal",
            source,
        })
    }

    /// Adds a finished point.
    ///
    /// # Errors
    /// A full or failing disk.
    pub fn add(&mut self, finished: Finished) -> Result<(), JournalError> {
        self.line(&finished)?;
        self.finished.insert(finished.point, finished);
        Ok(())
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), JournalError> {
        let mut line = serde_json::to_vec(value).unwrap_or_default();
        line.push(b'\n');
        self.file.write_all(&line).map_err(|source| JournalError::Io {
            path: self.path.clone(),
            what: "append a point",
            source,
        })
    }
}

/// Reads the lines that are whole; returns their length.
fn read(
    mut lines: impl BufRead,
    header: &Header,
    path: &Path,
    finished: &mut BTreeMap<usize, Finished>,
) -> Result<u64, JournalError> {
    let (mut whole, mut line, mut first) = (0_u64, Vec::new(), true);
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line).map_err(|source| JournalError::Io {
            path: path.to_owned(),
            what: "read the journal",
            source,
        })?;
        if !line.ends_with(b"\n") {
            // A first line without its end may be anybody's.
            return if first && length > 0 { other(path) } else { Ok(whole) };
        }
        if first {
            match serde_json::from_slice::<Header>(&line) {
                Ok(found) if found == *header => {}
                _ => return other(path),
            }
        } else {
            let Ok(point) = serde_json::from_slice::<Finished>(&line) else { return Ok(whole) };
            finished.insert(point.point, point);
        }
        (first, whole) = (false, whole + length as u64);
    }
}

fn other<T>(path: &Path) -> Result<T, JournalError> {
    Err(JournalError::Other { path: path.to_owned() })
}

/// The unit that a metric's path ends in.
pub fn unit_of(path: &str) -> Unit {
    let units = [Unit::Ns, Unit::Percent, Unit::Khz, Unit::Mj, Unit::Mw, Unit::PerS, Unit::Celsius];
    units.into_iter().find(|unit| path.ends_with(unit.suffix())).unwrap_or(Unit::Count)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests {
    use super::*;

    fn header(scenario: &str) -> Header {
        Header { version: "1".into(), scenario: scenario.into(), axes: vec![] }
    }

    fn point(point: usize) -> Finished {
        Finished {
            point,
            names: vec!["a.b_ns".into()],
            values: vec![vec![Some(0.1 + 0.2)], vec![None]],
        }
    }

    #[test]
    fn goes_on_after_a_torn_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let mut journal = Journal::open(&path, &header("s")).unwrap();
        journal.add(point(3)).unwrap();
        journal.add(point(1)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [whole.as_slice(), b"{\"point\": 7, \"na"].concat()).unwrap();
        let mut again = Journal::open(&path, &header("s")).unwrap();
        assert_eq!(again.finished.keys().copied().collect::<Vec<_>>(), [1, 3]);
        again.add(point(7)).unwrap();
        let last = Journal::open(&path, &header("s")).unwrap();
        assert_eq!(last.finished.get(&7), Some(&point(7)));
    }

    #[test]
    fn another_sweep_s_journal_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        Journal::open(&path, &header("s")).map(drop).unwrap();
        let error = Journal::open(&path, &header("t")).map(drop).unwrap_err();
        assert!(matches!(error, JournalError::Other { .. }) && error.hint().is_some());
        std::fs::write(&path, "my notes").unwrap();
        assert!(Journal::open(&path, &header("s")).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"my notes");
    }
}
