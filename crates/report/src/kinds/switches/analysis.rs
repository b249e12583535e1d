//! From the rows of a run to findings.

mod groups;
mod measured;
mod recorded;

use crate::kinds::Rows;
use crate::kinds::switches::baseline::Baseline;
use crate::kinds::switches::grid::{Grid, NoGrid};
use crate::kinds::switches::outside::Outside;
use crate::kinds::switches::split::Split;
use crate::kinds::switches::windowed::Windowed;
use flyball_run::{SwitchTrial, Tables};
use flyball_stats::{Distribution, Estimate};
use groups::group;
use measured::{grids, paths, scores, switch, windowed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the rows of a run say.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SwitchFindings"))]
#[serde(default)]
pub struct Findings {
    /// The run's name.
    pub name: String,
    /// What it was measured on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What the drivers declare, per clock domain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<Declared>,
    /// Per method, pair of levels and direction.
    pub switches: Vec<Switch>,
    /// The windowed method's figures: one per pair.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windowed: Vec<Windowed>,
    /// The levels alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<Baseline>,
    /// The hardware's grids, one per set-up and clock domain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grids: Vec<GridFinding>,
    /// What was seen from outside, of a board.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
    /// What was not measured, or must not be used, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The measurements, from which the distributions are drawn; not part of the JSON.
    #[serde(skip)]
    pub trials: Vec<SwitchTrial>,
}

/// What a driver declares.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Declared {
    /// Clock domain.
    pub domain: String,
    /// `cpuinfo_transition_latency`.
    pub latency_us: f64,
}

/// Switches from one level to another, measured by one method.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Switch {
    /// `direct` or `detect`.
    pub method: String,
    /// Set-up, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Clock domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// From.
    pub from_khz: u64,
    /// To; the same: only the way to the driver.
    pub to_khz: u64,
    /// Levels that it goes up (negative: down), of those in this run.
    pub levels: i64,
    /// Measurements.
    pub trials: usize,
    /// Those that count.
    pub valid: usize,
    /// The others, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected: BTreeMap<String, usize>,
    /// The write, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_us: Option<Distribution>,
    /// The longest time without work after the write had returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall_us: Option<Distribution>,
    /// From the start of the write until work ran at the new speed: raw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition_us: Option<Distribution>,
    /// The median of the transition less the way to the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_us: Option<Estimate>,
    /// What was taken off for that, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_us: Option<f64>,
    /// A loop at the new speed: a transition is uncertain by as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_us: Option<f64>,
    /// The transition on the hardware's grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
}

impl Switch {
    /// Share of the measurements that count.
    pub fn valid_share(&self) -> f64 {
        self.valid as f64 / self.trials.max(1) as f64
    }
}

/// A grid, or why there is none.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GridFinding {
    /// Set-up, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Clock domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub none: Option<NoGrid>,
}

/// Whether a run has anything to analyse here.
pub fn has_trials(tables: &Tables) -> bool {
    !tables.trials.is_empty()
}

/// Analyses the rows of a run. `seed` is the resampling's.
pub fn analyse<'a>(run: impl Into<Rows<'a>>, seed: u64) -> Findings {
    let run = &run.into();
    let trials: Vec<SwitchTrial> =
        (0..run.tables.trials.len()).filter_map(|at| run.tables.trials.row(at)).collect();
    let groups = group(&trials);
    let mut findings = Findings {
        name: run.name.clone(),
        machine: recorded::machine(run),
        declared: recorded::declared(run),
        notes: recorded::notes(run),
        refused: recorded::refused(run),
        ..Findings::default()
    };
    let paths = paths(&groups);
    findings.grids = grids(&groups);
    let levels = groups::levels(&trials);
    for (key, trials) in &groups {
        match key.method.as_str() {
            "windowed" => {}
            "fixed" => {
                let place = key.setup.clone().or_else(|| key.domain.clone());
                findings.baselines.extend(Baseline::of(place, key.from, &scores(trials)));
            }
            _ => {
                let grid = findings
                    .grids
                    .iter()
                    .find(|found| found.setup == key.setup && found.domain == key.domain);
                let period = grid.and_then(|found| found.grid).map(|grid| grid.period_us.value);
                let levels = levels.get(&(key.setup.clone(), key.domain.clone()));
                let skipped = levels.map_or(0, |levels| groups::steps(levels, key.from, key.to));
                let path = paths.get(&(key.setup.clone(), key.domain.clone())).copied();
                findings.switches.push(switch(key, trials, skipped, path, period));
            }
        }
    }
    findings.windowed = windowed(&groups, &paths, seed);
    remarks(&mut findings);
    drop(groups);
    findings.trials = trials;
    findings
}

/// What a reader has to know of the figures, from the figures.
fn remarks(findings: &mut Findings) {
    if !findings.windowed.is_empty() {
        findings.notes.push(
            "windowed: one figure per pair, (up x higher + down x lower) / (higher + lower): up and \
             down cannot be told apart, and how long the new frequency takes to hold cancels"
                .to_owned(),
        );
    }
    for baseline in findings.baselines.iter().filter(|baseline| !baseline.outliers.is_empty()) {
        let setup = baseline.setup.as_ref().map_or(String::new(), |name| format!("{name}, "));
        findings.notes.push(format!(
            "{setup}{} MHz alone: {} of {} runs are outliers ({:.0} %), which moves the mean by {:+.2} %; \
             trust the medians",
            baseline.khz as f64 / 1e3,
            baseline.outliers.len(),
            baseline.n,
            100.0 * baseline.contamination,
            100.0 * baseline.mean_shift,
        ));
    }
    let detected = findings.switches.iter().any(|s| s.method == "detect");
    let stalls = findings.switches.iter().any(|s| s.method == "detect" && s.stall_us.is_some());
    if detected && !stalls {
        findings.notes.push(
            "no stall is recorded apart: one that begins within the write ends with it, and is part \
             of the write's time"
                .to_owned(),
        );
    }
}
