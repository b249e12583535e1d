//! `run.toml`: everything about a run that is not a row of a table.
//!
//! Every part but `format` is optional, so that a run by another tool, an older or a slightly
//! newer version still reads; a newer `format` is refused with a hint.

mod board;
pub mod command;
mod conditions;
pub mod error;
mod machine;
mod record;
mod wrong;

use flyball_units::ErrorKind;
use serde::{Deserialize, Serialize};

pub use board::{BoardPaceRecord, BoardPolicyRecord, BoardRecord};
pub use conditions::{
    ConditionRecord, CpuLimitRecord, LoadCpuRecord, LoadRecord, LooksRecord, TrialRecord,
    WorkloadRecord,
};
pub use machine::{CpuRecord, DomainRecord, IdleStateRecord, Machine};
pub use record::{
    CheckOutcome, CheckRecord, ClockRecord, FileRecord, InputRecord, OverheadRecord, PlanRecord,
    ProbeBasis, ProbeCalibration, SourceRecord, TableRecord,
};

pub use error::{Error, Result};

/// The format that this version writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// The manifest's file name in a run directory.
pub const FILE: &str = "run.toml";

/// `run.toml` as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Manifest {
    /// Version of the format; raised only when an older reader would be misled.
    pub format: u32,
    /// What made the run: `bench`, `import`, `rampup`, ...
    pub kind: String,
    /// Start of the run, RFC 3339, UTC.
    pub created: String,
    /// How far the run came.
    pub state: RunState,
    /// What was to be done, and how much of it was; absent where nothing is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanRecord>,
    /// The command line, program first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Seed of everything random in the run.
    #[serde(skip_serializing_if = "Option::is_none", with = "seed")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub seed: Option<u64>,
    /// The experiment as run, verbatim TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The version that wrote the run.
    pub flyball: Flyball,
    /// The machine: of a model run the model, without a fact about the computer that ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// What was run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<WorkloadRecord>,
    /// Under what it was run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionRecord>,
    /// The trials in order of execution.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<TrialRecord>,
    /// Whether that order was drawn at random; a bench's is, also where this is absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub order_drawn: bool,
    /// The looks at the data while it ran, which could have ended it; absent where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looks: Option<LooksRecord>,
    /// Which clock each table uses, and the offsets between clocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockRecord>,
    /// The measurement's own costs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overheads: Vec<OverheadRecord>,
    /// The frequency probe's calibration, per CPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<ProbeCalibration>,
    /// What was checked before and after, and how it went.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckRecord>,
    /// The signal that the workloads read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<InputRecord>,
    /// Where imported data came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRecord>,
    /// The tables when the run was closed; none of a run that was not, or by an older version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableRecord>,
}

impl Default for Manifest {
    fn default() -> Self {
        Manifest {
            format: FORMAT,
            kind: String::new(),
            created: String::new(),
            state: RunState::Running,
            plan: None,
            command: Vec::new(),
            seed: None,
            experiment: None,
            flyball: Flyball::default(),
            machine: None,
            workloads: Vec::new(),
            conditions: Vec::new(),
            order: Vec::new(),
            order_drawn: false,
            looks: None,
            clocks: Vec::new(),
            overheads: Vec::new(),
            probe: Vec::new(),
            checks: Vec::new(),
            input: None,
            source: None,
            tables: Vec::new(),
        }
    }
}

/// The version that wrote a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Flyball {
    /// Version of the program.
    pub version: String,
    /// Commit it was built from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Default for Flyball {
    fn default() -> Self {
        Flyball { version: env!("CARGO_PKG_VERSION").to_owned(), commit: None }
    }
}

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Not ended: still running, or killed.
    #[default]
    Running,
    /// Ended as planned.
    Complete,
    /// Ended early on request, with what was measured until then.
    Interrupted,
    /// Ended, but a check or a condition failed: not to be relied on.
    Invalid,
    /// A state that a newer version wrote.
    #[serde(other)]
    Unknown,
}

impl Manifest {
    /// So much of the plan was done.
    pub fn did(&mut self, done: usize) {
        if let Some(plan) = &mut self.plan {
            plan.done = Some(done as u64);
        }
    }

    /// All of the plan was done.
    pub fn did_all(&mut self) {
        if let Some(plan) = &mut self.plan {
            plan.done = Some(plan.planned);
        }
    }

    /// Whether a model wrote the run: its times are virtual.
    pub fn is_model(&self) -> bool {
        self.clocks.iter().any(|clock| clock.clock == "virtual")
    }

    /// The manifest as TOML text.
    ///
    /// # Errors
    /// Where a value has no TOML form (an integer above 2^63 - 1).
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| {
            Error::bad_input(
                FILE,
                "values that TOML can carry",
                error.to_string(),
                "report this as a bug",
            )
        })
    }

    /// Reads a manifest; `object` names it in errors.
    ///
    /// # Errors
    /// Text that is not TOML or not a manifest (with its line), and a newer format.
    pub fn from_toml(text: &str, object: &str) -> Result<Manifest> {
        let bad = |start: usize, found: &str| {
            let line = 1 + text.get(..start).unwrap_or_default().matches('\n').count();
            Error::bad_input(
                format!("{object}:{line}"),
                "a run's manifest",
                found,
                "restore the file, or re-import the data into a new run",
            )
        };
        let table: toml::Table = toml::from_str(text)
            .map_err(|error| bad(error.span().map_or(0, |span| span.start), error.message()))?;
        match table.get("format").and_then(toml::Value::as_integer) {
            Some(format) if format > i64::from(FORMAT) => Err(Error::new(
                ErrorKind::Unsupported,
                object,
                format!("format {FORMAT} or older"),
                format!("format {format}"),
                "update flyball: a newer version wrote this run",
            )),
            Some(_) => Manifest::from_table(table)
                .map_err(|error| bad(wrong::start(text), error.message())),
            None if text.is_empty() => Err(Error::bad_input(
                object,
                "a run's manifest",
                "an empty file",
                "the program that was to write it ended before the run had begun",
            )),
            None => Err(Error::bad_input(
                object,
                "the key `format`, an integer",
                "none",
                "is this a run directory's run.toml?",
            )),
        }
    }

    /// The one place that reads the types of a manifest: a reader of them costs a second of the build.
    fn from_table(table: toml::Table) -> std::result::Result<Manifest, toml::de::Error> {
        table.try_into()
    }

    /// The manifest as a JSON schema.
    #[cfg(feature = "schema")]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Manifest).to_value()
    }

    /// The workload called `name`.
    pub fn workload(&self, name: &str) -> Option<&WorkloadRecord> {
        self.workloads.iter().find(|workload| workload.name == name)
    }

    /// The condition called `name`.
    pub fn condition(&self, name: &str) -> Option<&ConditionRecord> {
        self.conditions.iter().find(|condition| condition.name == name)
    }
}

/// TOML integers end at 2^63 - 1; a seed does not: above that it is written as text.
mod seed {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Integer(u64),
        Text(String),
    }

    pub fn serialize<S: Serializer>(seed: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        match seed {
            None => serializer.serialize_none(),
            Some(seed) if i64::try_from(*seed).is_ok() => serializer.serialize_u64(*seed),
            Some(seed) => serializer.serialize_str(&seed.to_string()),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        match Option::<Written>::deserialize(deserializer)? {
            None => Ok(None),
            Some(Written::Integer(seed)) => Ok(Some(seed)),
            Some(Written::Text(text)) => text.parse().map(Some).map_err(D::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_with_a_large_seed() {
        let manifest = Manifest {
            kind: "bench".into(),
            seed: Some(u64::MAX),
            workloads: vec![WorkloadRecord { name: "car".into(), ..Default::default() }],
            conditions: vec![ConditionRecord {
                name: "idle".into(),
                load: Some(LoadRecord { proven: Some(false), ..Default::default() }),
                ..Default::default()
            }],
            machine: Some(Machine { cpus: vec![CpuRecord::default()], ..Default::default() }),
            ..Default::default()
        };
        let text = manifest.to_toml().unwrap();
        assert_eq!(Manifest::from_toml(&text, FILE).unwrap(), manifest);
    }

    #[test]
    fn unknown_keys_pass_a_newer_format_does_not() {
        let read =
            Manifest::from_toml("format = 1\nlater = 3\n[machine]\nalso = 'x'\n", FILE).unwrap();
        assert_eq!(read.format, 1);
        let error = Manifest::from_toml("format = 2", FILE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.hint().starts_with("update flyball"));
    }

    #[test]
    fn errors_name_the_line() {
        let error = Manifest::from_toml("format = 1\nseed = []\n", FILE).unwrap_err();
        assert_eq!(error.object(), "run.toml:2");
        let text =
            "format = 1\n[[workloads]]\nname = 'a'\n[[workloads]]\nname = 'b'\nperiod_ns = 'x'\n";
        let error = Manifest::from_toml(text, FILE).unwrap_err();
        assert_eq!(error.object(), "run.toml:6");
        let error = Manifest::from_toml("format = 1\nkind = \"ben", FILE).unwrap_err();
        assert_eq!(error.object(), "run.toml:2");
        let error = Manifest::from_toml("kind = 'x'", FILE).unwrap_err();
        assert!(error.expected().contains("format"));
    }
}
