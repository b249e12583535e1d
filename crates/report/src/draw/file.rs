//! A figure as a file whose name says what it is.

use super::{PngError, Scene};
use flyball_run::disk::write_file;
use flyball_units::{Diagnostic, ErrorKind, Mismatch};
use std::io;
use std::path::{Path, PathBuf};

/// Pixels of a PNG per unit.
const SCALE: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
    Pdf,
}

/// Where a figure goes, checked before anything is computed for it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The file; one of that name is replaced.
    pub path: PathBuf,
    form: Form,
}

/// A figure that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// A name of no known form.
    #[error(transparent)]
    Name(#[from] Mismatch),
    /// The file or its folder.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The drawing.
    #[error(transparent)]
    Png(#[from] PngError),
}

impl Diagnostic for FigureError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            FigureError::Name(error) => Some(error),
            FigureError::File(error) => Some(error),
            FigureError::Png(_) => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        self.inner().map_or(ErrorKind::Own, Diagnostic::kind)
    }
}

impl Target {
    /// The form follows from the name, which `place` asks for; folders are made.
    ///
    /// # Errors
    /// A name that ends otherwise; a folder that cannot be made.
    pub fn of(path: &Path, place: &str) -> Result<Target, FigureError> {
        let extension = path.extension().map(|text| text.to_string_lossy().to_lowercase());
        let form = match extension.as_deref() {
            Some("svg") => Form::Svg,
            Some("png") => Form::Png,
            Some("pdf") => Form::Pdf,
            _ => {
                let found = format!("\"{}\"", path.display());
                let expected = "a name that ends in .svg, .png or .pdf";
                return Err(Mismatch::value(expected, found).at(place).into());
            }
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs_err::create_dir_all(folder)?;
        }
        Ok(Target { path: path.to_owned(), form })
    }

    /// Draws it.
    ///
    /// # Errors
    /// A size that no PNG has; a file that cannot be written.
    pub fn draw(&self, scene: &Scene) -> Result<(), FigureError> {
        let bytes = match self.form {
            Form::Svg => scene.svg().into_bytes(),
            Form::Png => scene.png(SCALE)?,
            Form::Pdf => scene.pdf(),
        };
        Ok(write_file(&self.path, &bytes)?)
    }
}
