//! `--figure FILE`: utilisation and frequency over time as SVG or PNG.

use crate::args::Talk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use flyball_report::draw::{PngError, Scene};
use flyball_report::timeline::{RunView, figure};
use flyball_run::disk::write_file;
use std::path::Path;

/// Width, units (CSS pixels).
const WIDTH: f64 = 960.0;
/// Pixels of a PNG per unit.
const SCALE: f64 = 2.0;

/// What a file's name says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
}

/// Where the figure goes, checked before anything is simulated.
pub struct Target<'a> {
    path: &'a Path,
    form: Form,
}

impl<'a> Target<'a> {
    /// The form follows from the name; folders are made.
    pub fn of(path: &'a Path) -> Result<Target<'a>, Failure> {
        let extension = path.extension().map(|text| text.to_string_lossy().to_lowercase());
        let form = match extension.as_deref() {
            Some("svg") => Form::Svg,
            Some("png") => Form::Png,
            _ => {
                let text = format!(
                    "--figure: expected a name that ends in .svg or .png, found \"{}\"",
                    path.display()
                );
                return Err(Failure::new(Exit::Usage, text));
            }
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs_err::create_dir_all(folder).map_err(|error| Failure::io(&error))?;
        }
        Ok(Target { path, form })
    }

    /// Draws the runs on common axes; a file of that name is replaced.
    pub fn write(&self, runs: &[RunView], talk: Talk) -> Result<(), Failure> {
        self.draw(&figure(runs, WIDTH), talk)
    }

    /// The same of what is drawn.
    pub fn draw(&self, scene: &Scene, talk: Talk) -> Result<(), Failure> {
        let bytes = match self.form {
            Form::Svg => scene.svg().into_bytes(),
            Form::Png => {
                let failed = |error: PngError| Failure::new(Exit::Own, error.to_string());
                scene.png(SCALE).map_err(failed)?
            }
        };
        write_file(self.path, &bytes).map_err(|error| Failure::io(&error))?;
        output::unless_quiet(talk.quiet, &format!("figure  {}", self.path.display()));
        Ok(())
    }
}
