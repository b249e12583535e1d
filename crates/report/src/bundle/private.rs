//! What of a run is nobody else's business, and how it goes from a file.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use flyball_run::Manifest;
use flyball_run::resealed;

use super::{BundleError, Entry};

/// What tells about a machine and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The host's name.
    Hostname,
    /// The command lines of programs that were measured.
    Commands,
    /// Paths below the folders of people, and people's names in them.
    Paths,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Hostname, Kind::Commands, Kind::Paths];

    const fn name(self) -> &'static str {
        match self {
            Kind::Hostname => "hostname",
            Kind::Commands => "commands",
            Kind::Paths => "paths",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        let found = Kind::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| format!("expected hostname, commands or paths, found \"{text}\""))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Hostname => "the host's name",
            Kind::Commands => "command lines of programs",
            Kind::Paths => "paths of people's folders",
        })
    }
}

/// What stands in the place of a command line and of a path.
const ARGUMENT: &str = "ARGUMENT";
const PATH: &str = "PATH";

/// Folders that hold people's own.
const ROOTS: [&str; 12] = [
    "/home/", "/root/", "/Users/", "/tmp/", "/var/", "/mnt/", "/media/", "/srv/", "/opt/",
    "/work/", "/data/", "/run/",
];

/// Keys of experiments whose values are command lines or folders.
const KEYS: [&str; 7] = ["program", "command", "prepare", "setup", "cleanup", "build", "folder"];

/// Words that go, each with what it is and what takes its place.
pub(super) struct Private {
    /// Command lines that are names of workloads: each gets a name of its own, before anything else goes.
    programs: Vec<Word>,
    words: Vec<Word>,
    commands: bool,
    paths: bool,
}

type Word = (Kind, String, String);

impl Private {
    /// Of the runs in a bundle, but for what is kept.
    pub fn of(entries: &[Entry], keep: &[Kind]) -> Private {
        let goes = |kind: Kind| !keep.contains(&kind);
        let (mut programs, mut words) = (BTreeSet::new(), BTreeSet::new());
        for (_, data) in entries.iter().filter(|(path, _)| is_manifest(path)) {
            let text = String::from_utf8_lossy(data);
            let Ok(manifest) = Manifest::from_toml(&text, "run.toml") else { continue };
            for (at, program) in self::programs(&manifest).enumerate() {
                programs.insert((
                    Kind::Commands,
                    program.to_owned(),
                    format!("program {}", at + 1),
                ));
            }
            let mut take = |kind, word, instead: &str| {
                words.insert((kind, word, instead.to_owned()));
            };
            let hostname = manifest.machine.as_ref().and_then(|machine| machine.hostname.clone());
            hostname.into_iter().for_each(|name| take(Kind::Hostname, name, "host"));
            commands(&manifest).into_iter().for_each(|word| take(Kind::Commands, word, ARGUMENT));
            people(&text).for_each(|name| take(Kind::Paths, name, "person"));
        }
        let all = |words: BTreeSet<Word>| {
            let words = words.into_iter().filter(|(kind, word, _)| goes(*kind) && !word.is_empty());
            let with_escapes = words.flat_map(|(kind, word, instead)| {
                let escaped = escapes(&word).into_iter();
                let all: Vec<Word> =
                    escaped.chain([word]).map(|word| (kind, word, instead.clone())).collect();
                all
            });
            let mut words: Vec<Word> = with_escapes.collect();
            // Whole command lines before their words.
            words.sort_by_key(|(_, word, _)| std::cmp::Reverse(word.len()));
            words
        };
        Private {
            programs: all(programs),
            words: all(words),
            commands: goes(Kind::Commands),
            paths: goes(Kind::Paths),
        }
    }

    /// Whether there are workloads whose names are command lines.
    pub fn has_programs(&self) -> bool {
        !self.programs.is_empty()
    }

    /// A text without them.
    pub fn text(&self, text: String) -> String {
        let text = replaced(text, &self.programs);
        replaced(if self.paths { without_paths(&text) } else { text }, &self.words)
    }

    /// A file without them.
    pub fn without(&self, (path, data): Entry) -> Result<Entry, BundleError> {
        let renamed = replaced(path.clone(), &self.words);
        let text = match String::from_utf8(data) {
            Ok(text) => text,
            Err(error) => {
                let data = error.into_bytes();
                let inside = |(_, word, _): &&(Kind, String, _)| contains(&data, word.as_bytes());
                return match self.programs.iter().chain(&self.words).find(inside) {
                    Some((what, ..)) => {
                        Err(BundleError::NameInBinary { path: renamed.into(), what: *what })
                    }
                    None => Ok((renamed, data)),
                };
            }
        };
        let before = is_manifest(&path).then(|| text.clone());
        let text = if self.commands && is_manifest(&path) { without_commands(text) } else { text };
        let text = self.text(text);
        let text = match before {
            Some(before) => resealed(&before, text),
            None => text,
        };
        Ok((renamed, text.into_bytes()))
    }
}

fn is_manifest(path: &str) -> bool {
    path.rsplit('/').next() == Some(flyball_run::manifest::FILE)
}

/// A manifest without the command lines in it.
fn without_commands(text: String) -> String {
    let Ok(mut manifest) = Manifest::from_toml(&text, "run.toml") else { return text };
    let before = manifest.clone();
    let program = manifest.command.iter().position(|word| word == "--");
    if let Some(at) = program.filter(|at| at + 1 < manifest.command.len()) {
        manifest.command.truncate(at + 1);
        manifest.command.push(ARGUMENT.to_owned());
    }
    for word in manifest.command.iter_mut().filter(|word| word.contains(char::is_whitespace)) {
        ARGUMENT.clone_into(word);
    }
    for workload in manifest.workloads.iter_mut().filter(|it| it.kernel == "command") {
        ARGUMENT.clone_into(&mut workload.description);
    }
    if let Some(experiment) = &mut manifest.experiment
        && let Ok(mut table) = experiment.parse::<toml::Table>()
    {
        let found = each_command(&mut table, &mut |value| *value = ARGUMENT.into());
        if let (true, Ok(text)) = (found, toml::to_string(&table)) {
            *experiment = text;
        }
    }
    // A manifest of another version may hold more than is known here.
    if manifest == before { text } else { manifest.to_toml().unwrap_or_default() }
}

/// Calls `each` for every text that is a command line of an experiment, or part of one.
fn each_command(table: &mut toml::Table, each: &mut dyn FnMut(&mut toml::Value)) -> bool {
    let mut found = false;
    for (key, value) in table.iter_mut() {
        let commands = KEYS.contains(&key.as_str());
        match value {
            toml::Value::String(_) if commands => {
                each(value);
                found = true;
            }
            toml::Value::Array(list) if commands => {
                list.iter_mut().for_each(&mut *each);
                found = true;
            }
            toml::Value::Array(list) => {
                for table in list.iter_mut().filter_map(toml::Value::as_table_mut) {
                    found |= each_command(table, each);
                }
            }
            toml::Value::Table(table) => found |= each_command(table, each),
            _ => {}
        }
    }
    found
}

/// The names of programs that nobody named: command lines, or paths of theirs, in the order of the run.
fn programs(manifest: &Manifest) -> impl Iterator<Item = &str> {
    let own = manifest.workloads.iter().filter(|workload| workload.kernel == "command");
    own.map(|workload| workload.name.as_str())
        .filter(|name| name.contains(char::is_whitespace) || without_paths(name) != *name)
}

/// The command lines of a run's programs, and the words of them that tell something.
fn commands(manifest: &Manifest) -> BTreeSet<String> {
    let own = manifest.command.iter().position(|word| word == "--");
    let program = own.map_or(&[][..], |at| manifest.command.get(at + 1..).unwrap_or_default());
    let mut texts: Vec<String> = program.to_vec();
    texts.push(program.join(" "));
    let spaced = |word: &&String| word.contains(char::is_whitespace);
    texts.extend(manifest.command.iter().filter(spaced).cloned());
    let run = manifest.workloads.iter().filter(|workload| workload.kernel == "command");
    texts.extend(run.map(|workload| workload.description.clone()));
    if let Some(Ok(mut table)) = manifest.experiment.as_deref().map(str::parse::<toml::Table>) {
        each_command(&mut table, &mut |value| {
            texts.extend(value.as_str().map(str::to_owned));
        });
    }
    let names: Vec<&str> = (manifest.workloads.iter().map(|workload| workload.name.as_str()))
        .chain(manifest.conditions.iter().map(|condition| condition.name.as_str()))
        .filter(|name| !name.contains(char::is_whitespace))
        .collect();
    let mut words = BTreeSet::new();
    for text in texts {
        for word in text.split_whitespace() {
            let word = word.trim_matches(['"', '\'']);
            let value = word.split_once('=').map(|(_, value)| value);
            words.extend([Some(word), value].into_iter().flatten().map(str::to_owned));
        }
        if text.contains(char::is_whitespace) {
            words.insert(text);
        }
    }
    words.retain(|word| tells(word) && !names.contains(&word.as_str()));
    words
}

/// Whether a word of a command line is more than a number, a flag or a plain word: those stand in any
/// text, and taking them out would spoil it.
fn tells(word: &str) -> bool {
    const SHORTEST: usize = 6;
    let flag = word.starts_with('-') && !word.contains('=');
    let quantity = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let number = quantity.parse::<f64>().is_ok() && word.len() - quantity.len() <= 3;
    let plain = word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_'));
    word.len() >= SHORTEST && !flag && !number && !plain
}

/// Names of people as their folders tell them.
fn people(text: &str) -> impl Iterator<Item = String> {
    ["/home/", "/Users/"].into_iter().flat_map(move |root| {
        let names = text.match_indices(root).map(move |(at, _)| {
            let rest = &text[at + root.len()..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
            rest[..end.unwrap_or(rest.len())].trim_end_matches('.').to_owned()
        });
        names.filter(|name| name.len() >= 3)
    })
}

/// A word as JSON and HTML write it, where that differs.
fn escapes(word: &str) -> Vec<String> {
    let json = word.replace('\\', "\\\\").replace('"', "\\\"");
    let html = word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let html = html.replace('"', "&quot;");
    [json, html].into_iter().filter(|escaped| escaped != word).collect()
}

/// A text with other words.
fn replaced(text: String, words: &[Word]) -> String {
    words.iter().fold(text, |text, (_, word, instead)| replace(&text, word, instead))
}

/// Replaces `word` where it stands as one: a machine called `car` must not rename the workload
/// `cardiac`.
fn replace(text: &str, word: &str, instead: &str) -> String {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (first, last) = (word.chars().next(), word.chars().next_back());
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(word) {
        let end = at + word.len();
        if (inside(first) && inside(text[..at].chars().next_back()))
            || (inside(last) && inside(text[end..].chars().next()))
        {
            continue;
        }
        out.push_str(&text[done..at]);
        out.push_str(instead);
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

/// Text without the paths below people's folders.
fn without_paths(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "./-_~".contains(c));
        let end =
            from.find(|c: char| c.is_whitespace() || c.is_control() || "\"'`<>,;:)]}|".contains(c));
        let path = &from[..end.unwrap_or(from.len())];
        let private = begins && ROOTS.iter().any(|root| path.starts_with(root));
        let taken = if private { path.len() } else { 1 };
        out.push_str(if private { PATH } else { "/" });
        rest = &from[taken..];
    }
    out.push_str(rest);
    out
}

/// Whether `word` stands as one in binary data. Words under four letters are not looked for: in
/// megabytes of compressed columns they would be found by chance.
fn contains(data: &[u8], word: &[u8]) -> bool {
    let outside = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric());
    word.len() >= 4
        && data.windows(word.len()).enumerate().any(|(at, w)| {
            w == word
                && outside(at.checked_sub(1).and_then(|i| data.get(i)))
                && outside(data.get(at + word.len()))
        })
}
