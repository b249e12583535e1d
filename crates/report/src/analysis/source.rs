//! What is analysed, and how.

use flyball_events::import::pstates::{self, Write};
use flyball_run::name::P_STATES_LOG;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use flyball_events::blame::Blame;
use flyball_run::{Manifest, Run, Tables, Unfinished};
use flyball_stats::BootstrapOptions;
use flyball_units::Mismatch;

use crate::kinds::switches::outside::Seen;

/// One run, from a run directory or imported: its manifest and its tables.
#[derive(Debug, Clone, Default)]
pub struct RunData {
    /// Name in the report: the directory's or the file's.
    pub name: String,
    /// Path as it was given.
    pub path: String,
    /// The manifest.
    pub manifest: Manifest,
    /// The tables.
    pub tables: Tables,
    /// What is missing of a run that is not whole.
    pub unfinished: Option<Unfinished>,
    /// What the reader or importer had to say: torn lines, skipped rows.
    pub warnings: Vec<String>,
    /// Whether it is one of the runs that the others are judged against.
    pub against: bool,
    /// Runs that were put together into this one; a run that was read as it is counts as one.
    pub pooled: usize,
    /// What somebody outside saw of the run's switches.
    pub seen: Vec<Seen>,
}

impl RunData {
    /// A run under the name and path that a person knows it by.
    pub fn new(name: impl Into<String>, path: impl Into<String>, run: Run) -> RunData {
        let warnings = (run.warnings.iter())
            .map(|warning| match &warning.hint {
                Some(hint) => format!("{}: {} ({hint})", warning.object, warning.message),
                None => format!("{}: {}", warning.object, warning.message),
            })
            .collect();
        RunData {
            name: name.into(),
            path: path.into(),
            manifest: run.manifest,
            tables: run.tables,
            unfinished: run.unfinished,
            warnings,
            against: false,
            pooled: 1,
            seen: Vec::new(),
        }
    }
}

impl RunData {
    /// The same with what a board's log beside the run saw of its switches from outside.
    ///
    /// # Errors
    /// A log that does not read.
    pub fn beside(name: impl Into<String>, path: &Path, run: Run) -> flyball_run::Result<RunData> {
        let log = path.join(P_STATES_LOG);
        let mut data = RunData::new(name, path.display().to_string(), run);
        if log.is_file() {
            let seen = |write: Write| Seen { t_ns: write.t_ns, cpu: write.cpu, khz: write.khz };
            data.seen = pstates::read(log)?.into_iter().map(seen).collect();
        }
        Ok(data)
    }
}

impl From<Run> for RunData {
    fn from(run: Run) -> RunData {
        let path = run.dir.as_deref().map(|dir| dir.display().to_string()).unwrap_or_default();
        RunData::new(run.name(), path, run)
    }
}

/// How to analyse.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalysisOptions {
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Replicates of the bootstrap, 200 to 1,000,000.
    pub replicates: u32,
    /// Half width of what counts as equal, as a fraction: 0.03 is 3 %.
    pub margin: f64,
    /// Condition that the others are judged against; chosen by name and order where absent.
    pub baseline: Option<String>,
    /// Task that is looked at in runs with scheduler events; chosen where absent.
    pub task: Option<String>,
    /// Text of the mark at which that task's time line begins; its first one where absent.
    pub marker: Option<String>,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        AnalysisOptions {
            seed: 1,
            replicates: 2000,
            margin: 0.03,
            baseline: None,
            task: None,
            marker: None,
        }
    }
}

impl AnalysisOptions {
    /// The options inside their ranges; what had to be changed goes to `warnings`.
    pub(super) fn checked(&self, warnings: &mut Vec<String>) -> AnalysisOptions {
        let mut checked = self.clone();
        checked.replicates = self.replicates.clamp(200, 1_000_000);
        if checked.replicates != self.replicates {
            warnings.push(format!(
                "bootstrap: expected 200 to 1,000,000 replicates, found {}; {} were used",
                self.replicates, checked.replicates
            ));
        }
        if !(self.margin.is_finite() && self.margin > 0.0) {
            checked.margin = AnalysisOptions::default().margin;
            warnings.push(format!(
                "margin: expected a fraction above 0, found {}; {} was used",
                self.margin, checked.margin
            ));
        }
        checked
    }

    /// The resampling of every interval.
    pub(super) fn bootstrap(&self) -> BootstrapOptions {
        BootstrapOptions { replicates: self.replicates, level: 0.95, seed: self.seed }
    }
}

/// A run with what is looked up again and again.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// Position among the runs.
    pub index: usize,
    /// Name in the report, unique.
    pub name: String,
    pub run: &'a RunData,
    pub options: &'a AnalysisOptions,
    /// First release of the run, the zero of every time line.
    pub start_ns: u64,
    /// Last end of the run.
    pub end_ns: u64,
    /// The stratum that each CPU belongs to: its core type, else its clock domain.
    pub strata: BTreeMap<u32, String>,
    /// What its events tell of its windows, once somebody asked.
    blame: OnceLock<Option<Result<Blame, String>>>,
}

/// One context per run; a name that occurs again gets a number.
pub(super) fn contexts<'a>(runs: &'a [RunData], options: &'a AnalysisOptions) -> Vec<Context<'a>> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut contexts = Vec::with_capacity(runs.len());
    for (index, run) in runs.iter().enumerate() {
        let times = seen.entry(run.name.as_str()).and_modify(|n| *n += 1).or_insert(1);
        let name = match *times {
            1 => run.name.clone(),
            n => format!("{} ({n})", run.name),
        };
        let windows = &run.tables.windows;
        contexts.push(Context {
            index,
            name,
            run,
            options,
            start_ns: windows.release_ns.iter().copied().min().unwrap_or(0),
            end_ns: windows.end_ns.iter().copied().max().unwrap_or(0),
            strata: super::placement::strata(&run.manifest),
            blame: OnceLock::new(),
        });
    }
    contexts
}

impl Context<'_> {
    /// What the run's events tell of its windows: none where it has no such events, an error where
    /// they cannot be brought together.
    pub fn blame(&self) -> Option<&Result<Blame, String>> {
        let read = || {
            let (tables, manifest) = (&self.run.tables, &self.run.manifest);
            Blame::is_possible(tables).then(|| {
                Blame::new(tables, manifest)
                    .map_err(|error| format!("{}: no blame: {error}; {}", self.name, error.hint()))
            })
        };
        self.blame.get_or_init(read).as_ref()
    }

    /// Whether the data were made by another tool.
    pub fn imported(&self) -> bool {
        self.run.manifest.source.is_some()
    }

    /// Seconds from the run's first release to `ns`.
    pub fn seconds(&self, ns: u64) -> f64 {
        ns.saturating_sub(self.start_ns) as f64 / 1e9
    }
}

/// Whether `wanted` is one of these conditions.
///
/// # Errors
/// It is not, with those that there are.
pub fn check_condition<'a>(
    wanted: &str,
    conditions: impl Iterator<Item = &'a str>,
) -> Result<(), Mismatch> {
    let mut names: Vec<&str> = conditions.collect();
    names.sort_unstable();
    names.dedup();
    // `idle` stands for `idle on P` and `idle on E`, too.
    let base = |name: &str| name.split(" on ").next() == Some(wanted);
    match names.iter().any(|name| *name == wanted || base(name)) {
        true => Ok(()),
        false => Err(Mismatch::text("a condition of this run", wanted)
            .hint(format!("conditions: {}", names.join(", ")))),
    }
}
