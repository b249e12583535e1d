//! The tables that a report shows, once for every renderer: each says which columns there are and
//! picks what its reader has room for.

pub(crate) mod blame;
pub(crate) mod cells;
pub(crate) mod comparisons;
pub(crate) mod evidence;
pub(crate) mod points;
mod scheduling;
pub(crate) mod traces;
mod trials;

use crate::model::{EventRun, EventTrial, Report};
use crate::table::Table;
use crate::text;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What answers most questions.
    Short,
    /// Everything that the time lines beside it do not say.
    Full,
    /// Everything, for a page without a terminal's time lines.
    Page,
}

/// The runs that are told by their events; one of windows has its time line only.
pub(crate) fn runs(report: &Report) -> Vec<&EventRun> {
    let tells = |run: &&EventRun| {
        let of_run = !run.facts.is_empty() || !run.points.is_empty() || !run.missing.is_empty();
        let of_trial = |trial: &EventTrial| !trial.domains.is_empty() || !trial.missing.is_empty();
        of_run || run.trials.iter().any(of_trial)
    };
    report.events.iter().filter(tells).collect()
}

/// Where the time lines begin, if not with their recordings; in one sentence.
pub(crate) fn zero(report: &Report) -> Option<String> {
    let trials = report.events.iter().flat_map(|run| &run.trials);
    let mut marks: Vec<&str> = trials.filter_map(|trial| trial.zero.as_deref()).collect();
    marks.sort_unstable();
    marks.dedup();
    let marks: Vec<String> = marks.iter().map(|mark| format!("`{}`", text::plain(mark))).collect();
    (!marks.is_empty()).then(|| {
        format!(
            "Time lines begin at the task's first mark, {}, not with the recording.",
            marks.join(", ")
        )
    })
}

/// Every table that has rows.
pub(crate) fn all(report: &Report, detail: Detail) -> Vec<Table> {
    let runs = runs(report);
    let mut sheets = traces::figures(report, detail);
    sheets.extend([points::phases(&runs, detail), points::sweep(&runs, detail)]);
    sheets.extend([trials::items(&runs, detail), scheduling::tasks(&runs, detail)]);
    sheets.extend([scheduling::levels(&runs, detail), scheduling::stages(&runs, detail)]);
    sheets.extend([scheduling::running(&runs, detail), trials::domains(&runs)]);
    sheets.extend([trials::residency(&runs, detail), trials::causes(&runs, detail)]);
    sheets.extend([scheduling::changes(&runs, detail), scheduling::cpus(&runs, detail)]);
    sheets.extend([scheduling::idle(&runs, detail), scheduling::utilization(&runs, detail)]);
    sheets.push(trials::energy(&runs));
    sheets.retain(|sheet| !sheet.rows.is_empty());
    if runs.iter().map(|run| run.trials.len()).sum::<usize>() == 1 {
        sheets.iter_mut().for_each(of_one_trial);
    }
    sheets
}

/// Leaves out the column that says which trial, where there is only one.
fn of_one_trial(table: &mut Table) {
    if table.columns.first().is_some_and(|column| column.heading == "trial") {
        table.drop_column(0);
    }
}

/// What runs and trials lack: whose, and what; said once where all trials lack it.
pub(crate) fn missing(report: &Report) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for run in runs(report) {
        found.extend(run.missing.iter().map(|text| (run.run.clone(), text.clone())));
        for trial in &run.trials {
            for text in &trial.missing {
                let everywhere = run.trials.iter().all(|other| other.missing.contains(text));
                let name = if everywhere { &run.run } else { &trial.name };
                let entry = (name.clone(), text.clone());
                if !found.contains(&entry) {
                    found.push(entry);
                }
            }
            if trial.gaps > 0 {
                let text = format!(
                    "{} in the recording, {} or more lost: shares leave them out",
                    text::count(trial.gaps, "gap"),
                    text::count(trial.lost_events, "event")
                );
                found.push((trial.name.clone(), text));
            }
        }
    }
    found
}
