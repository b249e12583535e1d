//! What load is asked for: groups of threads, each on some CPUs at some percentage.
//!
//! A profile reads the same in an experiment file and on the command line:
//!
//! ```text
//! "medium"                                    half of the CPUs at 50 %
//! "2x50%"                                     two threads at 50 %, anywhere
//! "cpus=0-3,percent=90,kind=memory,pinned"    one thread on each of CPUs 0 to 3
//! { cpus = "0-3", percent = 90 }              the same as a table
//! "cpu=0,30% + cpu=1,90%"                     two groups; as a list in a file
//! ```

use super::parse;
pub use super::parse::ProfileError;
use flyball_units::{CpuSet, Nanos};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A background load. No group at all is idle.
///
/// ```
/// use flyball_load::Profile;
/// let profile: Profile = "2x50%,pinned".parse().unwrap();
/// assert_eq!(profile.to_string(), "2x50%,pinned");
/// assert!("2x500%".parse::<Profile>().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The groups run side by side.
    pub groups: Vec<Group>,
}

/// Threads of the same kind at the same percentage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// How many threads, and where.
    pub cpus: CpuChoice,
    /// Share of one CPU that each thread takes, 1 to 100.
    pub percent: u8,
    /// One CPU to each thread (true), or any of the group's CPUs to all of them (false).
    pub pinned: bool,
    /// Length of one burst and the pause after it, 1 ms to 1 s; the generator's own if not given.
    pub period: Option<Nanos>,
    /// What the threads do.
    pub kind: Kind,
    /// Bytes that each thread of kind `memory` streams over; twice the largest cache if not given.
    pub buffer: Option<u64>,
    /// Nice value of the threads, -20 to 19.
    pub nice: i8,
    /// Who generates the load.
    pub generator: GeneratorKind,
}

/// How many threads a group has, and on which CPUs they may run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CpuChoice {
    /// One thread for each usable CPU.
    All,
    /// One thread for every second usable CPU: n / 2 rounded down, but at least one.
    Half,
    /// One thread for each usable CPU on which nothing is measured.
    Others,
    /// That many threads on any of the usable CPUs.
    Count(u32),
    /// One thread for each of these CPUs.
    List(CpuSet),
}

/// What a load thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Multiplications and shifts in registers.
    #[default]
    Integer,
    /// Multiplications and additions of doubles in registers.
    Float,
    /// Reads and writes of a buffer larger than the caches.
    Memory,
}

/// Who generates the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorKind {
    /// Threads of this program, in a closed loop on their own CPU time.
    #[default]
    Flyball,
    /// The program stress-ng, where it is installed.
    StressNg,
}

impl Profile {
    /// Nothing at all.
    pub const IDLE: Profile = Profile { groups: Vec::new() };

    /// Half of the CPUs at 50 %, unpinned, as in the sources' medium load.
    pub fn medium() -> Profile {
        Profile { groups: vec![Group::new(CpuChoice::Half, 50)] }
    }

    /// All CPUs at 90 %, unpinned, as in the sources' heavy load.
    pub fn heavy() -> Profile {
        Profile { groups: vec![Group::new(CpuChoice::All, 90)] }
    }

    /// Whether nothing is to run.
    pub fn is_idle(&self) -> bool {
        self.groups.is_empty()
    }
}

impl Group {
    /// A group with the default of everything else: integer work of this program's own threads,
    /// pinned where the CPUs are listed by number.
    pub fn new(cpus: CpuChoice, percent: u8) -> Group {
        let pinned = cpus.pinned_by_default();
        Group {
            cpus,
            percent,
            pinned,
            period: None,
            kind: Kind::default(),
            buffer: None,
            nice: 0,
            generator: GeneratorKind::default(),
        }
    }
}

impl CpuChoice {
    /// Whoever names CPUs means them: a list pins one thread to each, and so do the others; a count
    /// leaves it to the scheduler.
    pub fn pinned_by_default(&self) -> bool {
        matches!(self, CpuChoice::List(_) | CpuChoice::Others)
    }
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 3] = [Kind::Integer, Kind::Float, Kind::Memory];

    /// The word in a profile.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Memory => "memory",
        }
    }
}

impl GeneratorKind {
    /// Every generator.
    pub const ALL: [GeneratorKind; 2] = [GeneratorKind::Flyball, GeneratorKind::StressNg];

    /// The word in a profile.
    pub const fn name(self) -> &'static str {
        match self {
            GeneratorKind::Flyball => "flyball",
            GeneratorKind::StressNg => "stress-ng",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for GeneratorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The shortest text that parses to the same profile.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_idle() {
            return f.write_str("idle");
        }
        for (index, group) in self.groups.iter().enumerate() {
            write!(f, "{}{group}", if index == 0 { "" } else { " + " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.percent;
        match &self.cpus {
            CpuChoice::Half if percent == 50 => f.write_str("medium")?,
            CpuChoice::All if percent == 90 => f.write_str("heavy")?,
            CpuChoice::Half => write!(f, "halfx{percent}%")?,
            CpuChoice::All => write!(f, "allx{percent}%")?,
            CpuChoice::Others => write!(f, "othersx{percent}%")?,
            CpuChoice::Count(count) => write!(f, "{count}x{percent}%")?,
            CpuChoice::List(cpus) if cpus.len() == 1 => write!(f, "cpu={cpus},{percent}%")?,
            CpuChoice::List(cpus) => write!(f, "cpus={cpus},{percent}%")?,
        }
        if self.pinned != self.cpus.pinned_by_default() {
            f.write_str(if self.pinned { ",pinned" } else { ",unpinned" })?;
        }
        if self.kind != Kind::default() {
            write!(f, ",{}", self.kind)?;
        }
        if let Some(period) = self.period {
            write!(f, ",period={}us", period.0 / 1000)?;
        }
        if let Some(bytes) = self.buffer {
            write!(f, ",buffer={}KiB", bytes / 1024)?;
        }
        if self.nice != 0 {
            write!(f, ",nice={}", self.nice)?;
        }
        if self.generator != GeneratorKind::default() {
            write!(f, ",{}", self.generator)?;
        }
        Ok(())
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Profile, ProfileError> {
        parse::profile(text)
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Profile {
    fn schema_name() -> Cow<'static, str> {
        "LoadProfile".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let group = json_schema!({
            "type": "object",
            "properties": {
                "cpus": {
                    "description": "CPU numbers such as \"0-3,8\", the words \"all\", \"half\" or \"others\" (than the measured ones), or how many threads.",
                    "type": ["string", "integer"], "minimum": 1
                },
                "percent": {
                    "description": "Share of one CPU that each thread takes.",
                    "type": "integer", "minimum": 1, "maximum": 100
                },
                "pinned": {
                    "description": "One CPU to each thread. True by default where cpus lists numbers.",
                    "type": "boolean"
                },
                "period": {
                    "description": "Length of a burst and its pause, 1ms to 1s. By default 5ms.",
                    "type": "string"
                },
                "kind": { "enum": ["integer", "float", "memory"] },
                "buffer": {
                    "description": "Bytes that a thread of kind memory streams over, such as \"64MiB\".",
                    "type": "string"
                },
                "nice": { "type": "integer", "minimum": -20, "maximum": 19 },
                "generator": { "enum": ["flyball", "stress-ng"] }
            },
            "required": ["cpus", "percent"],
            "additionalProperties": false
        });
        let text = json_schema!({
            "description": "idle, medium, heavy, or such as \"2x50%\" and \"cpus=0-3,percent=90,pinned\".",
            "type": "string"
        });
        let list = json_schema!({ "type": "array", "items": { "anyOf": [text, group] } });
        json_schema!({
            "description": "Background load: a name, a text, a table, or a list of those.",
            "anyOf": [text, group, list]
        })
    }
}
