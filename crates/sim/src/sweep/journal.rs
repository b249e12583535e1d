//! The journal of a sweep: one JSON line per finished point, so that an interrupted sweep goes on. Behind each
//! stands its CRC-32: a part that was copied wrongly changes no result.

use super::Shard;
use crate::record::Unit;
use flyball_run::Manifest;
use flyball_run::disk::{Disk, RealDisk, Writing};
use flyball_run::writer::Syncer;
use flyball_units::{Diagnostic, Mismatch};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first line: what is swept, and all that the run directory needs beside the points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// What it goes through.
    pub axes: Vec<super::Axis>,
    /// CRC-32 of the files that the scenario names, by their names there.
    pub files: BTreeMap<String, u32>,
    /// The part of the points that this is, where it is not the whole sweep.
    pub shard: Option<Shard>,
    /// The manifest of the run to be, with version, seed and the scenario with all settings.
    #[serde(with = "as_toml")]
    pub manifest: Manifest,
}

impl Header {
    /// What makes two sweeps others, if anything does: the command line does not, and two shards of a
    /// sweep belong to the same one.
    pub fn differs(&self, other: &Header) -> Option<&'static str> {
        let (one, two) = (&self.manifest, &other.manifest);
        let scenario = |manifest: &Manifest| Manifest { command: Vec::new(), ..manifest.clone() };
        [
            // Another version may simulate differently.
            ("version", one.flyball == two.flyball),
            ("axes", self.axes == other.axes),
            ("seed", one.seed == two.seed),
            ("scenario", scenario(one) == scenario(two)),
            ("files", self.files == other.files),
        ]
        .into_iter()
        .find_map(|(what, same)| (!same).then_some(what))
    }
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

/// A manifest as the text that it is in a run: one reader of it.
mod as_toml {
    use flyball_run::Manifest;
    use flyball_run::manifest::Flyball;
    use serde::de::{Error as _, IgnoredAny};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(manifest: &Manifest, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&manifest.to_toml().map_err(S::Error::custom)?)
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        /// Keys and values, as earlier versions wrote it.
        Earlier(IgnoredAny),
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Manifest, D::Error> {
        match Written::deserialize(from)? {
            Written::Text(text) => Manifest::from_toml(&text, "manifest").map_err(D::Error::custom),
            Written::Earlier(_) => {
                let flyball = Flyball { version: "earlier".to_owned(), commit: None };
                Ok(Manifest { flyball, ..Manifest::default() })
            }
        }
    }
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
    /// It cannot be made to last.
    #[error(transparent)]
    Sync(#[from] flyball_run::Error),
    /// It belongs to another sweep.
    #[error("{path}: expected a sweep of the same scenario, found another one's: {what}")]
    Other {
        /// The journal.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// It is something else.
    #[error("{path}: expected the journal of a sweep, found something else")]
    NotOne {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error("{path}: expected the journal for this process alone, found it in use")]
    InUse {
        /// The journal.
        path: PathBuf,
    },
}

impl Diagnostic for JournalError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            JournalError::Sync(error) => Some(error),
            JournalError::Io { .. }
            | JournalError::Other { .. }
            | JournalError::NotOne { .. }
            | JournalError::InUse { .. } => None,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            JournalError::Sync(error) => return Diagnostic::hint(error),
            JournalError::Io { .. } => "check the disk, or choose another place for the sweep",
            JournalError::Other { .. } | JournalError::NotOne { .. } => {
                "choose another place for the sweep, or remove the file to start anew"
            }
            JournalError::InUse { .. } => "give each process a place of its own",
        };
        Some(hint.to_owned())
    }
}

/// A sweep's journal, open for more. What was finished is on the disk within a second, as rows of a run are.
pub struct Journal {
    path: PathBuf,
    file: Writing,
    /// Locked for as long as this lives.
    _held: fs_err::File,
    syncer: Syncer,
    /// The file's, at the syncer.
    number: usize,
    /// What earlier runs finished, by number.
    pub finished: BTreeMap<usize, Finished>,
}

impl Journal {
    /// Opens or begins the journal of a sweep. A torn last line is cut off.
    ///
    /// # Errors
    /// A file that cannot be read or written, that another process writes, or that belongs to another
    /// sweep.
    pub fn open(path: &Path, header: &Header) -> Result<Journal, JournalError> {
        Journal::open_on(Arc::new(RealDisk), path, header)
    }

    /// [`Journal::open`] on another disk.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn open_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        header: &Header,
    ) -> Result<Journal, JournalError> {
        let failed = |what| move |source| JournalError::Io { path: path.to_owned(), what, source };
        let file = disk.append(path).map_err(failed("open the journal"))?;
        let held = fs_err::OpenOptions::new().read(true).write(true).open(path);
        let held = held.map_err(failed("open the journal"))?;
        // A file system without locks is no reason to refuse.
        if let Err(TryLockError::WouldBlock) = held.try_lock() {
            return Err(JournalError::InUse { path: path.to_owned() });
        }
        let Lines { header: found, finished, whole } = lines(io::BufReader::new(&held), path)?;
        if let Some(found) = &found {
            let shard = (found.shard != header.shard).then_some("shard");
            if let Some(what) = found.differs(header).or(shard) {
                return Err(JournalError::Other { path: path.to_owned(), what });
            }
        }
        held.set_len(whole).map_err(failed("cut a torn line off"))?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut syncer = Syncer::new(disk, folder, true);
        let number = syncer.add(path, Arc::clone(&file))?;
        let (path, file) = (path.to_owned(), Writing(file));
        let mut journal = Journal { path, file, _held: held, syncer, number, finished };
        if found.is_none() {
            journal.line(header)?;
            // Without a whole first line nobody knows whose it is.
            journal.sync()?;
        }
        Ok(journal)
    }

    /// What a journal holds; a torn last line is left out.
    ///
    /// # Errors
    /// A file that cannot be read, or that is no journal.
    pub fn read(path: &Path) -> Result<(Header, BTreeMap<usize, Finished>), JournalError> {
        let file = fs_err::File::open(path).map_err(|source| JournalError::Io {
            path: path.to_owned(),
            what: "read the journal",
            source,
        })?;
        let found = lines(io::BufReader::new(file), path)?;
        let header = found.header.ok_or_else(|| JournalError::NotOne { path: path.to_owned() })?;
        Ok((header, found.finished))
    }

    /// That a sweep which is to leave the run directory `dir` was not finished; none where nothing of such a
    /// sweep is there.
    pub fn unfinished(dir: &Path) -> Option<Mismatch> {
        let (header, finished) = Journal::read(&super::places::journal_of(dir)).ok()?;
        let points: usize = header.axes.iter().map(|axis| axis.values.len()).product();
        let (done, missing) = (finished.len(), points.saturating_sub(finished.len()));
        let found = format!(
            "a sweep that was not finished: {done} of {points} points were done, {missing} are missing"
        );
        Some(
            Mismatch::value("a run directory", found)
                .at(dir.display())
                .hint("run the same sweep again: it goes on where it stopped"),
        )
    }

    /// Makes what was finished last.
    ///
    /// # Errors
    /// A failing disk.
    pub fn sync(&self) -> Result<(), JournalError> {
        Ok(self.syncer.sync()?)
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
        let line = sealed(value) + "\n";
        self.file.write_all(line.as_bytes()).map_err(|source| JournalError::Io {
            path: self.path.clone(),
            what: "append a point",
            source,
        })?;
        Ok(self.syncer.written(self.number)?)
    }
}

/// The lines of a journal that are whole.
struct Lines {
    /// None of an empty file.
    header: Option<Header>,
    finished: BTreeMap<usize, Finished>,
    /// Their length in bytes.
    whole: u64,
}

fn lines(mut text: impl BufRead, path: &Path) -> Result<Lines, JournalError> {
    let mut lines = Lines { header: None, finished: BTreeMap::new(), whole: 0 };
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = text.read_until(b'\n', &mut line).map_err(|source| JournalError::Io {
            path: path.to_owned(),
            what: "read the journal",
            source,
        })?;
        if lines.header.is_none() && length > 0 {
            // A first line without its end may be anybody's.
            let header = unsealed(&line).and_then(|json| serde_json::from_str(json).ok());
            let not_one = || JournalError::NotOne { path: path.to_owned() };
            lines.header = Some(header.ok_or_else(not_one)?);
        } else {
            let point = unsealed(&line).and_then(|json| serde_json::from_str(json).ok());
            let Some(point): Option<Finished> = point else { return Ok(lines) };
            lines.finished.insert(point.point, point);
        }
        lines.whole += length as u64;
    }
}

/// Between a line's JSON and its checksum.
const SEAL: &str = " crc32:";

/// A line without its end.
fn sealed(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    let sum = crc32fast::hash(json.as_bytes());
    format!("{json}{SEAL}{sum:08x}")
}

impl Finished {
    /// Its line of a journal, without the line's end, for who writes one from several places.
    #[must_use]
    pub fn line(&self) -> String {
        sealed(self)
    }
}

/// The JSON of a line that is whole and has the bytes that were written.
fn unsealed(line: &[u8]) -> Option<&str> {
    let (json, sum) = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.rsplit_once(SEAL)?;
    (sum == format!("{:08x}", crc32fast::hash(json.as_bytes()))).then_some(json)
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
        let manifest = Manifest { experiment: Some(scenario.into()), ..Manifest::default() };
        Header { axes: vec![], files: BTreeMap::new(), shard: None, manifest }
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
        drop(journal);
        let mut again = Journal::open(&path, &header("s")).unwrap();
        let in_use = Journal::open(&path, &header("s")).map(drop);
        assert!(matches!(in_use, Err(JournalError::InUse { .. })), "two writers");
        assert_eq!(again.finished.keys().copied().collect::<Vec<_>>(), [1, 3]);
        again.add(point(7)).unwrap();
        drop(again);
        let swept = super::super::Axis::parse("kernel.hz=100,250,300,1000").unwrap();
        let header = Header { axes: vec![swept], ..header("s") };
        let beside = super::super::places::journal_of(&dir.path().join("run"));
        let mut begun = Journal::open(&beside, &header).unwrap();
        begun.add(point(3)).unwrap();
        let told = Journal::unfinished(&dir.path().join("run")).unwrap().to_string();
        assert!(told.ends_with("1 of 4 points were done, 3 are missing"), "{told}");
        assert_eq!(Journal::unfinished(&path), None);

        let last = Journal::open(&path, &self::header("s")).unwrap();
        assert_eq!(last.finished.get(&7), Some(&point(7)));
    }

    #[test]
    fn no_flipped_bit_is_taken_for_a_result() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let mut journal = Journal::open(&path, &header("s")).unwrap();
        (0..3).for_each(|number| journal.add(point(number)).unwrap());
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &flipped).unwrap();
            let Ok((found, finished)) = Journal::read(&path) else { continue };
            assert_eq!(found, header("s"), "bit {bit}");
            assert!(finished.iter().all(|(number, found)| *found == point(*number)), "bit {bit}");
            assert!(finished.len() < 3, "bit {bit}");
        }
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
