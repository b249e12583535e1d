//! Words that the command line had once: an error names the new ones.

use crate::failure::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A command, and what to type today.
const COMMANDS: &[(&str, &str)] = &[
    ("completions", "flyball install --completions SHELL"),
    ("import", "flyball report PATH --out DIR"),
    ("init", "flyball bench --init [FILE], for a scenario flyball sim --init [FILE]"),
    ("loadgen", "flyball hold --load PROFILE"),
    ("man", "flyball install --man DIR"),
    ("play", "flyball sim SCENARIO --machine host"),
    ("shadow", "flyball replay shadow"),
    ("tune", "flyball replay tune"),
];

/// A command, its flag, and what to type today.
const FLAGS: &[(&str, &str, &str)] = &[
    ("board", "--append", "--machine board:NAME,append=ARGS"),
    ("board", "--arch", "--machine board:x86_64 or board:NAME,arch=A"),
    ("board", "--kernel", "--machine board:NAME,kernel=K"),
    ("board", "--platform", "--machine board:NAME"),
    ("check", "--recorded", "--machine record:DIR"),
    ("govern", "--recorded", "--machine record:DIR"),
    ("govern", "--set", "GOVERNOR:TUNABLE=VALUE, such as powerd:poll_ival=100"),
    ("hold", "--tunable", "--governor NAME:TUNABLE=VALUE"),
    ("hold", "-t", "--governor NAME:TUNABLE=VALUE"),
    ("rampup", "--kernel", "--machine model:NAME,kernel=K"),
    ("rampup", "--set", "--governor NAME:TUNABLE=VALUE"),
    ("report", "--with-hostname", "--keep hostname"),
    ("replay", "--kernel", "--machine model:NAME,kernel=K"),
    ("replay", "--platform", "--machine model:NAME"),
    ("replay", "-k", "--machine model:NAME,kernel=K"),
    ("replay", "-p", "--machine model:NAME"),
    ("transition", "--again", "flyball report RUN"),
];

/// Names of what ships.
const NAMES: &[(&str, &str)] = &[("source-a", "cortex-governors"), ("source-b", "cortex-load")];

/// The error of an old name of something that ships.
pub fn name(old: &str) -> Option<Failure> {
    let (_, new) = NAMES.iter().find(|(own, _)| *own == old)?;
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
            let (_, new) = COMMANDS.iter().find(|(own, _)| *own == old)?;
            Some(format!("`flyball {old}` is now `{new}`"))
        }
        ErrorKind::UnknownArgument => {
            let found = named(ContextKind::InvalidArg)?;
            let old = found.split('=').next().unwrap_or(found);
            let (.., new) = FLAGS.iter().find(|(own, flag, _)| own == command && *flag == old)?;
            Some(format!("`flyball {command} {old}` is now `{new}`"))
        }
        _ => None,
    }
}
