//! Words that the command line had once: an error names the new ones.

use crate::failure::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// An old command, a command and its old flag, or an old name of something that ships.
const WORDS: &str = include_str!("../help/moved.txt");

/// What to type today.
fn today(old: &str) -> Option<&'static str> {
    behind(old, " => ")
}

/// What to type for a command that never was.
fn instead(word: &str) -> Option<&'static str> {
    behind(word, " -> ")
}

fn behind(word: &str, arrow: &str) -> Option<&'static str> {
    let mut rows = WORDS.lines().filter_map(|line| line.split_once(arrow));
    rows.find(|(own, _)| *own == word).map(|(_, new)| new)
}

/// The error of an old name of something that ships.
pub fn name(old: &str) -> Option<Failure> {
    let new = today(old)?;
    Some(Failure::usage(format!("`{old}` is now `{new}`")))
}

/// What to say of an error that comes from an old word.
pub fn word(error: &clap::Error, arguments: &[String]) -> Option<String> {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.as_str()),
        _ => None,
    };
    let command = arguments.iter().skip(1).find(|word| !word.starts_with('-'))?;
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let old = named(ContextKind::InvalidSubcommand)?;
            let moved = today(old).map(|new| format!("`flyball {old}` is now `{new}`"));
            moved.or_else(|| {
                let new = instead(old)?;
                Some(format!("expected a command of flyball, found {old}\nhint: {new}"))
            })
        }
        ErrorKind::UnknownArgument => {
            let found = named(ContextKind::InvalidArg)?;
            let old = found.split('=').next().unwrap_or(found);
            let new = today(&format!("{command} {old}"))?;
            Some(format!("`flyball {command} {old}` is now `{new}`"))
        }
        _ => None,
    }
}
