//! The tables that a report shows of events, once for every renderer: text for people, a key to
//! sort by, and what qualifies them.

pub(crate) mod blame;
mod points;
mod scheduling;
pub(crate) mod traces;
mod trials;

use crate::model::{EventRun, EventTrial, Report};
use crate::text;

/// A table with its title.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sheet {
    /// Short, stable, without spaces: an anchor.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// Names of the columns, and whether each holds numbers.
    pub columns: Vec<(String, bool)>,
    /// One cell per column.
    pub rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// Leaves out the column that says which trial, where there is only one.
    fn of_one_trial(&mut self) {
        if self.columns.first().is_some_and(|(name, _)| name == "trial") {
            self.columns.remove(0);
            for row in self.rows.iter_mut().filter(|row| !row.is_empty()) {
                row.remove(0);
            }
        }
    }
}

/// A cell: its text, and its number where it has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    pub text: String,
    pub key: Option<f64>,
}

impl Cell {
    fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), key: None }
    }

    /// A number as shown; a dash where there is none.
    fn number(value: Option<f64>, shown: impl Fn(f64) -> String) -> Cell {
        let value = value.filter(|value| value.is_finite());
        Cell { text: value.map_or_else(|| "-".to_owned(), shown), key: value }
    }

    fn count(value: u64) -> Cell {
        Cell::number(Some(value as f64), |_| value.to_string())
    }
}

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
pub(crate) fn all(report: &Report, detail: Detail) -> Vec<Sheet> {
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
        sheets.iter_mut().for_each(Sheet::of_one_trial);
    }
    sheets
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
