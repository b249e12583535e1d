//! What can be named on the command line, as one list to browse: `flyball help TOPIC`.

use crate::exit;
use flyball_governors::catalogue as governors;
use flyball_lab::experiment::BUILT_IN;
use flyball_platform::{Kernel, Platform, catalogue as descriptions};
use flyball_sim::scenario::{EXAMPLES, Example};
use std::fmt::Write;

/// A topic: a list of entries, or a text.
struct Topic {
    name: &'static str,
    about: &'static str,
    /// How an entry is used.
    usage: &'static str,
    entries: fn() -> Vec<Entry>,
}

/// Something with a name of its own.
struct Entry {
    name: &'static str,
    about: String,
    text: String,
}

impl Entry {
    fn new(name: &'static str, about: impl Into<String>, text: impl Into<String>) -> Entry {
        Entry { name, about: about.into(), text: text.into() }
    }
}

/// The lists, in the order of `flyball help`.
const TOPICS: [Topic; 5] = [
    Topic {
        name: "platforms",
        about: "machines to simulate, each figure with its source",
        usage: "--machine model:NAME, or board:NAME for a real kernel on it",
        entries: platforms,
    },
    Topic {
        name: "kernels",
        about: "kernels of these machines",
        usage: "--machine model:PLATFORM,kernel=NAME",
        entries: kernels,
    },
    Topic {
        name: "governors",
        about: "rules that choose the frequency, with their tunables",
        usage: "--governor NAME[:TUNABLE=VALUE,...]",
        entries: governor_entries,
    },
    Topic {
        name: "scenarios",
        about: "tasks on a model",
        usage: "flyball sim NAME; as a file to change: flyball sim NAME --init FILE",
        entries: scenarios,
    },
    Topic {
        name: "experiments",
        about: "measurements under conditions",
        usage: "flyball bench NAME; as a file to change: flyball bench NAME --init FILE",
        entries: experiments,
    },
];

/// A topic that is a text: its name, what it is about, the text.
type TextTopic = (&'static str, &'static str, fn() -> String);

const TEXTS: [TextTopic; 3] = [
    ("exit-codes", "what a command's exit code says", exit::table),
    ("rules", "what --fail-if takes", rules),
    ("run-directory", "tables and columns of a run directory", || {
        include_str!("../../../docs/reference/run-directory.md").to_owned()
    }),
];

/// All topics, for the end of `flyball help`.
pub fn list() -> String {
    let mut text = String::from("Topics of `flyball help TOPIC`:\n");
    for topic in &TOPICS {
        let about = format!("{} ({})", topic.about, (topic.entries)().len());
        let _ = writeln!(text, "  {:<15}{about}", topic.name);
    }
    for (name, about, _) in &TEXTS {
        let _ = writeln!(text, "  {name:<15}{about}");
    }
    text.push_str(
        "`flyball help NAME` shows one of them, such as apple-m1 or schedutil, or a command.\n",
    );
    text
}

/// Every name that has help and is no command.
pub fn names() -> Vec<&'static str> {
    let entries = TOPICS.iter().flat_map(|topic| (topic.entries)()).map(|entry| entry.name);
    let topics = TOPICS.iter().map(|topic| topic.name);
    topics.chain(TEXTS.iter().map(|(name, ..)| *name)).chain(entries).collect()
}

/// The text of a topic, or of all that have this name.
pub fn text(name: &str) -> Option<String> {
    if let Some((.., text)) = TEXTS.iter().find(|(own, ..)| *own == name) {
        return Some(text());
    }
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
        return Some(listing(topic));
    }
    let mut found = Vec::new();
    for topic in &TOPICS {
        if let Some(entry) = (topic.entries)().into_iter().find(|entry| entry.name == name) {
            let kind = topic.name.trim_end_matches('s');
            found.push(format!("{name}: a {kind}. Use: {}\n\n{}", topic.usage, entry.text));
        }
    }
    (!found.is_empty()).then(|| found.join("\n"))
}

/// A topic's entries, a line each.
fn listing(topic: &Topic) -> String {
    let entries = (topic.entries)();
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0) + 2;
    let mut text = format!("{}: {}\n", topic.name, topic.about);
    for entry in &entries {
        let _ = writeln!(text, "  {:<width$}{}", entry.name, entry.about);
    }
    let _ = writeln!(text, "\nUse: {}\nOne of them: flyball help NAME", topic.usage);
    text
}

/// The scenarios, for `flyball sim` alone.
pub fn scenario_list() -> String {
    TOPICS.iter().find(|topic| topic.name == "scenarios").map(listing).unwrap_or_default()
}

fn rules() -> String {
    format!(
        "{}\nJoined by `;` or given repeatedly: --fail-if 'p99 > +5%; lateness.p99[condition=heavy] > 200us'\n\
         Exit code 1 where one holds, 7 where one cannot be decided. More: docs/reading-a-report.md\n",
        include_str!("../help/rules.txt")
    )
}

fn platforms() -> Vec<Entry> {
    let title = |name: &str| Platform::named(name).map(|it| it.title).unwrap_or_default();
    descriptions().platforms.iter().map(|it| Entry::new(it.name, title(it.name), it.text)).collect()
}

fn kernels() -> Vec<Entry> {
    let title = |name: &str| Kernel::named(name).map(|it| it.title).unwrap_or_default();
    descriptions().kernels.iter().map(|it| Entry::new(it.name, title(it.name), it.text)).collect()
}

fn scenarios() -> Vec<Entry> {
    let entry = |own: &Example| {
        let summary = own.summary();
        let sentence = summary.split(". ").next().unwrap_or_default().trim_end_matches('.');
        Entry::new(own.name, sentence, own.text)
    };
    EXAMPLES.iter().map(entry).collect()
}

fn experiments() -> Vec<Entry> {
    BUILT_IN.iter().map(|own| Entry::new(own.name, own.summary, own.text)).collect()
}

fn governor_entries() -> Vec<Entry> {
    governors().iter().map(|own| Entry::new(own.name, own.summary, own.to_string())).collect()
}
