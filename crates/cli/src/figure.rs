//! `--figure FILE`: utilisation and frequency over time as SVG or PNG.

use crate::args::Talk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use flyball_report::draw::PngError;
use flyball_report::figures::Figure;
use flyball_report::timeline::{RunView, figure};
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
        let scene = figure(runs, WIDTH);
        let bytes = match self.form {
            Form::Svg => scene.svg().into_bytes(),
            Form::Png => scene.png(SCALE).map_err(own)?,
        };
        self.save(&bytes, talk)
    }

    /// As [`Target::write`], for a figure that is drawn.
    pub fn write_figure(&self, figure: &Figure, talk: Talk) -> Result<(), Failure> {
        let bytes = match self.form {
            Form::Svg => figure.svg().into_bytes(),
            Form::Png => figure.png().map_err(own)?,
        };
        self.save(&bytes, talk)
    }

    fn save(&self, bytes: &[u8], talk: Talk) -> Result<(), Failure> {
        fs_err::write(self.path, bytes).map_err(|error| Failure::io(&error))?;
        if !talk.quiet {
            output::talk(&format!("figure  {}", self.path.display()));
        }
        Ok(())
    }
}

fn own(error: PngError) -> Failure {
    Failure::new(Exit::Own, error.to_string())
}
