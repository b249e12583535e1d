//! One shareable file: run directories, the page and the data as a `tar.gz`, the same bytes every
//! time, without the host's name, command lines of programs and paths of their owner unless asked.

mod private;

use std::io::Write;
use std::path::{Path, PathBuf};

pub use private::Kind;
use private::Private;

use flate2::{Compression, GzBuilder};
use flyball_run::Run;

/// What goes into a bundle.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// Run directories; each becomes a folder of its own name.
    pub runs: Vec<PathBuf>,
    /// Files made by the report, for example `report.html` and `report.json`.
    pub files: Vec<(String, Vec<u8>)>,
    /// What is left in though it tells about the machine and its owner.
    pub keep: Vec<Kind>,
}

/// A file of a bundle.
type Entry = (String, Vec<u8>);

/// Why a bundle could not be written.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file system refused; the message names the path.
    #[error("cannot bundle: {0}")]
    Io(#[from] std::io::Error),
    /// Two runs would get the same folder.
    #[error("cannot bundle: two runs are named `{0}`, expected different names")]
    SameName(String),
    /// Something has to go from data that cannot be rewritten safely.
    #[error("cannot bundle: `{path}` holds {what} inside binary data")]
    NameInBinary {
        /// The file.
        path: PathBuf,
        /// What it holds.
        what: Kind,
    },
}

impl BundleError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io(_) => "check that the runs can be read and that the target can be written",
            Self::SameName(_) => "rename one of the run directories",
            Self::NameInBinary { .. } => "keep the name knowingly, or leave the file out",
        }
    }
}

impl Bundle {
    /// Writes the bundle to `target`, whole or not at all: first beside it, then renamed. What it contains
    /// is told to `say` before, line by line.
    ///
    /// # Errors
    /// [`BundleError`]; the message names the file.
    pub fn write(&self, target: &Path, say: &mut dyn FnMut(String)) -> Result<(), BundleError> {
        let entries = self.entries()?;
        for (path, data) in &entries {
            say(format!("  {:>10} bytes  {path}", data.len()));
        }
        let (kept, left_out): (Vec<Kind>, Vec<Kind>) =
            Kind::ALL.into_iter().partition(|kind| self.keep.contains(kind));
        for (kinds, what) in [(left_out, "left out"), (kept, "kept")] {
            if !kinds.is_empty() {
                let kinds: Vec<String> = kinds.iter().map(Kind::to_string).collect();
                say(format!("  {what}: {}", kinds.join(", ")));
            }
        }
        Ok(flyball_run::disk::write_file(target, &packed(&entries)?)?)
    }

    /// The bundle's bytes: entries sorted, no times, no owners.
    ///
    /// # Errors
    /// [`BundleError`]; the message names the file.
    pub fn bytes(&self) -> Result<Vec<u8>, BundleError> {
        packed(&self.entries()?)
    }

    /// The files with what is to be left out gone, sorted.
    fn entries(&self) -> Result<Vec<Entry>, BundleError> {
        let mut entries = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for run in &self.runs {
            let name = fs_err::canonicalize(run)?
                .file_name()
                .map_or_else(|| "run".to_owned(), |n| n.to_string_lossy().into_owned());
            if names.contains(&name) {
                return Err(BundleError::SameName(name));
            }
            collect(run, &name, &mut entries)?;
            names.push(name);
        }
        entries.extend(self.files.iter().map(|(name, data)| (name.clone(), data.clone())));
        let private = Private::of(&entries, &self.keep);
        for (run, name) in self.runs.iter().zip(&names) {
            rename_in_tables(run, name, &private, &mut entries);
        }
        let mut entries: Vec<Entry> =
            entries.into_iter().map(|entry| private.without(entry)).collect::<Result<_, _>>()?;
        entries.sort();
        Ok(entries)
    }
}

/// Takes what is private out of the tables of a run of programs, where they can be read: their texts are names of
/// workloads and conditions, and a program without a name has its command line.
fn rename_in_tables(dir: &Path, folder: &str, private: &Private, entries: &mut [Entry]) {
    let Some(mut run) = private.has_programs().then(|| Run::open(dir).ok()).flatten() else {
        return;
    };
    let mut renamed = false;
    run.tables.rename(&mut |text| {
        let clean = private.text(text.to_owned());
        renamed |= clean != text;
        (clean != text).then_some(clean)
    });
    let Some(files) = run.files().ok().filter(|_| renamed) else { return };
    for (file, data) in files {
        let name = format!("{folder}/{}", file.display());
        if let Some(entry) = entries.iter_mut().find(|(known, _)| *known == name) {
            entry.1 = data;
        }
    }
}

fn packed(entries: &[Entry]) -> Result<Vec<u8>, BundleError> {
    let encoder =
        GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::new(6));
    let mut archive = tar::Builder::new(encoder);
    for (path, data) in entries {
        append(&mut archive, path, data)?;
    }
    let mut encoder = archive.into_inner()?;
    encoder.flush()?;
    Ok(encoder.finish()?)
}

/// Regular files below `folder`, links left out: a bundle must not reach outside the run.
fn collect(folder: &Path, prefix: &str, into: &mut Vec<Entry>) -> Result<(), BundleError> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), &name, into)?;
        } else if kind.is_file() {
            let mut data = Vec::new();
            std::io::Read::read_to_end(&mut fs_err::File::open(entry.path())?, &mut data)?;
            into.push((name, data));
        }
    }
    Ok(())
}

fn append<W: Write>(archive: &mut tar::Builder<W>, path: &str, data: &[u8]) -> std::io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(data.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    archive.append_data(&mut header, path, data)
}
