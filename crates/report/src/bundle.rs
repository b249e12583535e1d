//! One shareable file: run directories, the page and the data as a `tar.gz`, the same bytes every
//! time, without the host's name unless asked.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};

/// What goes into a bundle.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// Run directories; each becomes a folder of its own name.
    pub runs: Vec<PathBuf>,
    /// Files made by the report, for example `report.html` and `report.json`.
    pub files: Vec<(String, Vec<u8>)>,
    /// Names to be replaced by `host` wherever they occur in text, for example the machine's name;
    /// empty to keep everything.
    pub redact: Vec<String>,
}

/// Why a bundle could not be written.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file system refused; the message names the path.
    #[error("cannot bundle: {0}")]
    Io(#[from] std::io::Error),
    /// Two runs would get the same folder.
    #[error("cannot bundle: two runs are named `{0}`, expected different names")]
    SameName(String),
    /// A name has to go from data that cannot be rewritten safely.
    #[error("cannot bundle: `{path}` holds the host's name inside binary data")]
    NameInBinary {
        /// The file.
        path: PathBuf,
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
    /// Writes the bundle to `target`, whole or not at all: first beside it, then renamed.
    ///
    /// # Errors
    /// [`BundleError`]; the message names the file.
    pub fn write(&self, target: &Path) -> Result<(), BundleError> {
        let bytes = self.bytes()?;
        Ok(flyball_run::disk::write_file(target, &bytes)?)
    }

    /// The bundle's bytes: entries sorted, no times, no owners.
    ///
    /// # Errors
    /// [`BundleError`]; the message names the file.
    pub fn bytes(&self) -> Result<Vec<u8>, BundleError> {
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
        entries.sort();
        let encoder =
            GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::new(6));
        let mut archive = tar::Builder::new(encoder);
        for (path, data) in entries {
            let (path, data) = self.redacted(path, data)?;
            append(&mut archive, &path, &data)?;
        }
        let mut encoder = archive.into_inner()?;
        encoder.flush()?;
        Ok(encoder.finish()?)
    }

    fn redacted(&self, path: String, data: Vec<u8>) -> Result<(String, Vec<u8>), BundleError> {
        let mut path = path;
        let mut text = String::from_utf8(data);
        for name in self.redact.iter().filter(|n| !n.is_empty()) {
            path = replace_word(&path, name);
            match &mut text {
                Ok(text) => *text = replace_word(text, name),
                Err(bytes) if contains(bytes.as_bytes(), name.as_bytes()) => {
                    return Err(BundleError::NameInBinary { path: path.into() });
                }
                Err(_) => {}
            }
        }
        Ok((path, text.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes)))
    }
}

/// Regular files below `folder`, links left out: a bundle must not reach outside the run.
fn collect(
    folder: &Path,
    prefix: &str,
    into: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), BundleError> {
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

/// Replaces `name` by `host` where it stands as a word: a machine called `car` must not rename the
/// workload `cardiac`.
fn replace_word(text: &str, name: &str) -> String {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(name) {
        let end = at + name.len();
        if inside(text[..at].chars().next_back()) || inside(text[end..].chars().next()) {
            continue;
        }
        out.push_str(&text[done..at]);
        out.push_str("host");
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

/// Whether `name` stands as a word in binary data. Names under four letters are not looked for:
/// in megabytes of compressed columns they would be found by chance.
fn contains(data: &[u8], name: &[u8]) -> bool {
    let outside = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric());
    name.len() >= 4
        && data.windows(name.len()).enumerate().any(|(at, w)| {
            w == name
                && outside(at.checked_sub(1).and_then(|i| data.get(i)))
                && outside(data.get(at + name.len()))
        })
}
