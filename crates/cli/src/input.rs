//! Texts that the user names: a file, or what ships under that name.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_units::nearest;
use std::path::{Path, PathBuf};

/// A text, and the folder that its paths are relative to: none for what ships.
pub struct Input {
    pub text: String,
    pub folder: Option<PathBuf>,
}

/// One of those that ship, given by name and text, or a file.
///
/// # Errors
/// A file that cannot be read; the hint is the nearest name, or `otherwise`.
pub fn shipped_or_file(
    name: &str,
    shipped: impl Iterator<Item = (&'static str, &'static str)> + Clone,
    otherwise: &str,
) -> Result<Input, Failure> {
    if let Some((_, text)) = shipped.clone().find(|(own, _)| *own == name) {
        return Ok(Input { text: text.to_owned(), folder: None });
    }
    let text = toml_text(name).map_err(|failure| {
        let near = nearest(name, shipped.map(|(own, _)| own)).filter(|_| !is_file(name));
        failure.hint(near.map_or(otherwise.to_owned(), |near| format!("did you mean `{near}`?")))
    })?;
    Ok(Input { text, folder: Path::new(name).parent().map(Path::to_path_buf) })
}

/// Whether the user named a file and not what ships.
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

/// The text of a TOML file.
///
/// # Errors
/// A file that cannot be read or holds no text.
pub fn toml_text(path: &str) -> Result<String, Failure> {
    let bytes = fs_err::read(path).map_err(|error| Failure::io(&error))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let found = format!("bytes that are no UTF-8 at offset {at}");
        Failure::new(Exit::BadInput, format!("{path}: expected TOML text, found {found}"))
    })
}
