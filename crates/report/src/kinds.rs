//! Kinds of run: which tables and figures a report on each has.
//!
//! A report may hold several kinds at once: windows and the events beside them, a simulation's events and
//! its sweep. Every renderer asks here and treats all alike.

pub mod measures;
pub mod rampup;
mod rows;
pub mod switches;

pub use rows::Rows;

use flyball_run::Tables;

use crate::analysis::RunData;
use crate::model::Report;
use crate::sheets::{self, Detail, cells, comparisons, evidence};
use crate::table::Table;
use crate::{text, view};

/// What a run was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Latency of windows of work, per workload and condition.
    Windows,
    /// The time to answer a sudden demand.
    Rampup,
    /// The cost of frequency switches.
    Switches,
    /// Background load with its proof, without windows beside it.
    Load,
    /// What the CPUs did while their load was recorded.
    Activity,
    /// Scheduler events: simulations, traces.
    Events,
    /// Results over the phases at the points of a sweep.
    Sweep,
}

impl Kind {
    /// The kinds that a report holds, the most important first; windows where it holds nothing.
    #[must_use]
    pub fn of(report: &Report) -> Vec<Self> {
        let runs = sheets::runs(report);
        // A bench without a window has nothing to show, and its load is not what it was made for.
        let to_measure = report.runs.iter().any(|run| run.kind == "bench");
        let points = runs.iter().any(|run| run.points.len() > 1);
        let told = [
            (Self::Windows, !report.cells.is_empty()),
            (Self::Rampup, !report.rampups.is_empty()),
            (Self::Switches, !report.switches.is_empty()),
            (Self::Load, report.cells.is_empty() && !to_measure && !report.loads.is_empty()),
            (Self::Activity, !report.activity.is_empty()),
            (Self::Events, !runs.is_empty()),
            (Self::Sweep, points),
        ];
        let found: Vec<Self> =
            told.into_iter().filter(|(_, there)| *there).map(|(kind, _)| kind).collect();
        if found.is_empty() { vec![Self::Windows] } else { found }
    }

    /// The kind of one run whose tables say more than its windows and events do.
    pub(crate) fn of_tables(tables: &Tables) -> Option<Self> {
        match tables {
            tables if rampup::analysis::has_rampups(tables) => Some(Self::Rampup),
            tables if switches::analysis::has_trials(tables) && tables.windows.is_empty() => {
                Some(Self::Switches)
            }
            _ => None,
        }
    }

    /// Its tables that have rows.
    pub(crate) fn tables(self, report: &Report, detail: Detail) -> Vec<Table> {
        let whole = detail != Detail::Short;
        let mut tables = match self {
            Self::Windows if whole => windows(report),
            Self::Windows => vec![cells::shown(report).pick(&cells::MAIN).without_empty_columns()],
            Self::Rampup => rampup::tables::all(&report.rampups),
            Self::Switches => report.switches.iter().flat_map(switches::tables::all).collect(),
            Self::Load => vec![evidence::loads(report)],
            Self::Activity => vec![evidence::activity(report)],
            Self::Events => sheets::all(report, detail),
            // Among those of the events.
            Self::Sweep => Vec::new(),
        };
        tables.retain(|table| !table.rows.is_empty());
        tables
    }
}

/// Everything of the windows but their main figures.
fn windows(report: &Report) -> Vec<Table> {
    let mut distributions = cells::shown(report).pick(&cells::DISTRIBUTIONS);
    let measured = text::capital(view::measured(&report.cells));
    distributions.title = format!("{measured} (ESS: effective sample size)");
    let mut tables = vec![comparisons::effects(report), comparisons::causes(report)];
    tables.extend([distributions, cells::modes(report)]);
    tables.extend(report.comparisons.iter().map(|comparison| {
        let mut table = comparisons::one(comparison).pick(&comparisons::TESTS);
        table.notes.extend(comparison.reasons.iter().map(|reason| {
            let inferred = if reason.inferred { " (inferred)" } else { "" };
            format!("- {}{inferred}", reason.text)
        }));
        table
    }));
    tables.extend([evidence::geometric_means(report), evidence::frequencies(report)]);
    tables.extend([evidence::loads(report), evidence::overruns(report)]);
    tables
}

impl<'a> From<&'a RunData> for Rows<'a> {
    fn from(run: &'a RunData) -> Self {
        Self { name: run.name.clone(), manifest: &run.manifest, tables: &run.tables }
    }
}
