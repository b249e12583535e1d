//! Scenarios that the user names: one that ships, or a file.

use crate::failure::Failure;
use crate::input;
use flyball_run::disk::{DESCRIPTION_BYTES, read_text};
use flyball_sim::scenario::{Node, Scenario, Source, from_tree, parse_text, set};
use std::path::{Path, PathBuf};

/// A scenario that ships, or a file, with the keys of the command line.
pub fn scenario(name: &str, settings: &[String]) -> Result<Scenario, Failure> {
    let input = Input::open(name)?;
    let mut root = input.tree()?;
    set_keys(&mut root, settings)?;
    checked(&root, &input, name)
}

pub fn checked(root: &Node, input: &Input, origin: &str) -> Result<Scenario, Failure> {
    let open = |path: &str| input.read_beside(path);
    let scenario = from_tree(root, Source { origin, name: &input.name, open: &open })?;
    scenario.check(origin)?;
    Ok(scenario)
}

/// A scenario's text, its name and the folder that its paths are relative to.
pub struct Input {
    pub text: String,
    pub name: String,
    /// What the user wrote.
    pub origin: String,
    folder: Option<PathBuf>,
}

impl Input {
    /// A scenario that ships, or a file.
    pub fn open(name: &str) -> Result<Input, Failure> {
        let hint = "write one with: flyball sim --init mine.toml; those that ship: \
                    flyball help scenarios";
        let input::Input { text, folder } = input::Kind::SCENARIOS.open(name, hint)?;
        let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Ok(Input {
            text,
            origin: name.to_owned(),
            name: stem.unwrap_or_else(|| name.to_owned()),
            folder,
        })
    }

    /// Its keys.
    pub fn tree(&self) -> Result<Node, Failure> {
        parse_text(&self.text, &self.origin).map_err(|error| match self.origin.ends_with(".json") {
            true => Failure::from(error)
                .hint(format!("an rt-app program is replayed: flyball replay {}", self.origin)),
            false => error.into(),
        })
    }

    /// A file that the scenario names.
    pub fn read_beside(&self, path: &str) -> Result<String, String> {
        let path = self.folder.as_deref().unwrap_or(Path::new("")).join(path);
        read_text(&path, DESCRIPTION_BYTES).map_err(|error| error.to_string())
    }
}

/// `--set`.
pub fn set_keys(root: &mut Node, settings: &[String]) -> Result<(), Failure> {
    for setting in settings {
        let (path, value) = setting.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--set: expected KEY=VALUE, found \"{setting}\""))
                .hint("such as --set governor.rate_limit_us=70")
        })?;
        set(root, path, value.trim())?;
    }
    Ok(())
}
