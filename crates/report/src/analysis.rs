//! From run directories to a [`Report`].
//!
//! ```text
//! RunData -> rows      which windows belong to which cell, in which repeat
//!         -> cell      one cell: distributions, modes, placement, frequency, disturbances
//!         -> compare   two conditions: evidence -> verdict -> sentence
//!         -> frequency, load, findings
//! ```
//! Cells and comparisons are computed in parallel; nothing depends on the number of threads.

mod across;
mod activity;
mod blame;
mod cause;
mod cell;
mod compare;
mod contention;
mod delivered;
mod device;
mod distribution;
mod disturbed;
mod domains;
mod effects;
mod events;
mod evidence;
mod findings;
mod frequency;
mod histogram;
mod labels;
mod like;
mod load;
mod missing;
mod others;
mod pairs;
mod placement;
mod points;
mod reasons;
mod rows;
mod schedule;
mod sentence;
mod source;
mod speed;
mod summary;
pub mod tasks;
mod traces;
mod words;

use rayon::prelude::*;

use crate::kinds::{self, Kind};
use crate::model::{self, BootstrapNote, Report};
use crate::view;
use cell::CellData;
pub(crate) use events::numbers as trial_numbers;
use source::Context;
pub use source::{AnalysisOptions, RunData, check_condition};

/// Analyses one or more runs.
///
/// Never fails: what cannot be estimated is `None`, and what could not be used is named in the
/// report's `warnings` or `not_checked`.
pub fn analyse(runs: &[RunData], options: &AnalysisOptions) -> Report {
    let mut checked = Vec::new();
    let options = options.checked(&mut checked);
    let contexts = source::contexts(runs, &options);
    // The first warning is the one that is always shown.
    let mut warnings: Vec<String> = contexts.iter().filter_map(summary::state_warning).collect();
    warnings.extend(checked);
    let mut cells = measure_cells(&contexts, &mut warnings);
    let frequencies: Vec<_> = contexts.iter().flat_map(frequency::summarise).collect();
    let loads: Vec<_> = contexts.iter().flat_map(load::summarise).collect();

    let pairs = pairs::choose(&contexts, &cells, &options);
    let mut comparisons = compare::compare_all(&pairs, &contexts, &cells, &frequencies, &loads);
    labels::label_modes(&mut cells, &mut comparisons);
    let blamed: Vec<_> = contexts.par_iter().filter_map(blame::summarise).collect();
    let mut blame = Vec::with_capacity(blamed.len());
    for found in blamed {
        match found {
            Ok(run) => blame.push(run),
            Err(warning) => warnings.push(warning),
        }
    }
    warnings.extend(runs.iter().flat_map(|run| run.warnings.iter().cloned()));
    let mut report = Report {
        schema: model::SCHEMA.to_owned(),
        runs: contexts.iter().map(summary::run_summary).collect(),
        comparisons: comparisons.into_iter().map(|compared| compared.comparison).collect(),
        geometric_means: summary::geometric_means(&contexts, &cells),
        conditions: Vec::new(),
        frequencies,
        loads,
        activity: contexts.iter().flat_map(activity::summarise).collect(),
        events: contexts
            .par_iter()
            .filter_map(|context| events::summarise(context, contexts.len() > 1))
            .collect(),
        traces: traces::compare_all(&contexts),
        blame,
        overruns: findings::overruns(&contexts),
        rampups: rampups(runs, &options),
        switches: switches(runs, &options),
        disturbances: findings::disturbances(&contexts, &cells),
        not_checked: missing::not_checked(&contexts, &cells),
        cells: cells.into_iter().map(|cell| cell.model).collect(),
        warnings,
        bootstrap: BootstrapNote {
            seed: options.seed,
            replicates: options.replicates,
            method: "whole repeats are resampled, and blocks of windows within them".to_owned(),
        },
    };
    report.conditions = view::conditions(&report);
    report
}

/// The ramp-ups of the runs that have any; the baseline's cells first.
fn rampups(runs: &[RunData], options: &AnalysisOptions) -> Vec<kinds::rampup::Findings> {
    let own = |run: &&RunData| Kind::of_tables(&run.tables) == Some(Kind::Rampup);
    let found = runs.par_iter().filter(own).map(|run| {
        let mut found = kinds::rampup::analyse(run);
        found.cells.sort_by_key(|cell| Some(&cell.condition) != options.baseline.as_ref());
        found
    });
    found.collect()
}

/// The switches of the runs that have any.
fn switches(runs: &[RunData], options: &AnalysisOptions) -> Vec<kinds::switches::Findings> {
    let own = |run: &&RunData| Kind::of_tables(&run.tables) == Some(Kind::Switches);
    let found = runs.par_iter().filter(own).map(|run| {
        let seed = run.manifest.seed.unwrap_or(AnalysisOptions::default().seed);
        let mut found = kinds::switches::analyse(run, seed);
        found.outside = kinds::switches::outside::compare(run, &run.seen);
        let is_baseline = |setup: &Option<String>| setup.is_some() && *setup == options.baseline;
        found.switches.sort_by_key(|switch| !is_baseline(&switch.setup));
        found.windowed.sort_by_key(|pair| !is_baseline(&pair.setup));
        found
    });
    found.collect()
}

/// All cells of all runs, in the order of the report.
fn measure_cells(contexts: &[Context<'_>], warnings: &mut Vec<String>) -> Vec<CellData> {
    let work: Vec<_> = contexts
        .iter()
        .flat_map(|context| rows::group(context.run).into_iter().map(move |rows| (context, rows)))
        .collect();
    let measured: Vec<_> =
        work.into_par_iter().map(|(context, rows)| cell::measure(context, rows)).collect();
    let mut cells = Vec::with_capacity(measured.len());
    for (cell, remarks) in measured {
        cells.extend(cell);
        warnings.extend(remarks);
    }
    cells
}
