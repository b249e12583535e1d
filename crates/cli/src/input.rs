//! Texts that the user names: a file, or what ships under that name.

use crate::failure::Failure;
use crate::moved;
use flyball_lab::experiment::BUILT_IN;
use flyball_platform::is_file;
use flyball_run::disk::{DESCRIPTION_BYTES, read_text};
use flyball_sim::scenario::EXAMPLES;
use flyball_units::nearest;
use std::path::{Path, PathBuf};

/// A text, and the folder that its paths are relative to: none for what ships.
pub struct Input {
    pub text: String,
    pub folder: Option<PathBuf>,
}

/// What ships by name, and may be a file of the user's.
#[derive(Clone, Copy)]
pub struct Kind {
    shipped: fn() -> Vec<(&'static str, &'static str)>,
    /// Where those that ship are listed.
    pub listed: &'static str,
}

impl Kind {
    /// Experiments, by name and text.
    pub const EXPERIMENTS: Kind = Kind {
        shipped: || BUILT_IN.iter().map(|own| (own.name, own.text)).collect(),
        listed: "those that ship: flyball help experiments",
    };

    /// Scenarios, by name and text.
    pub const SCENARIOS: Kind = Kind {
        shipped: || EXAMPLES.iter().map(|own| (own.name, own.text)).collect(),
        listed: "those that ship: flyball help scenarios",
    };

    /// One of those that ship, or a file.
    ///
    /// # Errors
    /// A file that cannot be read; the hint is the nearest name, or `otherwise`.
    pub fn open(self, name: &str, otherwise: &str) -> Result<Input, Failure> {
        let shipped = (self.shipped)();
        if let Some((_, text)) = shipped.iter().find(|(own, _)| *own == name) {
            return Ok(Input { text: (*text).to_owned(), folder: None });
        }
        if let Some(moved) = moved::name(name) {
            return Err(moved);
        }
        let text = read_text(Path::new(name), DESCRIPTION_BYTES).map_err(|error| {
            let near = nearest(name, shipped.iter().map(|(own, _)| *own));
            let near = near.filter(|_| !is_file(name));
            Failure::from(error)
                .hint(near.map_or(otherwise.to_owned(), |near| format!("did you mean `{near}`?")))
        })?;
        Ok(Input { text, folder: Path::new(name).parent().map(Path::to_path_buf) })
    }
}
