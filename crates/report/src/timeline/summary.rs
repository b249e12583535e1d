//! All runs in one table, and what could not be answered.

use flyball_events::questions::{Outcome, Target, TimeTo};

use super::bars::millis;
use super::view::RunView;
use crate::table::{Cell, Column, Table};
use crate::terminal::Style;
use crate::text;

/// One line per run; two tables where one would be too wide.
pub(super) fn lines(runs: &[RunView], width: usize, style: Style) -> Vec<String> {
    let targets = targets(runs);
    let on_core = format!("on {} ms", smallest_core(runs));
    let names = [Column::words("run"), Column::words("task")];
    let times: Vec<Column> = targets.iter().map(|target| Column::number(head(*target))).collect();
    let got = [on_core.as_str(), "GHz", "runs %", "waits %", "changes/s"].map(Column::number);
    let cells = |run: &RunView| {
        let name = [text::plain(&run.name), task(run)];
        let row = name.into_iter().chain(row_times(run, &targets)).chain(row_got(run));
        row.map(Cell::text).collect()
    };
    let columns: Vec<Column> = names.into_iter().chain(times).chain(got).collect();
    let whole = Table::new("", "", columns).rows(runs.iter().map(cells));

    let mut lines = vec![style.bold("Time to utilisation (ms, % of 1024), and what the task got")];
    if whole.natural_width() <= width {
        lines.extend(whole.lines(width, style));
    } else {
        let behind = 2 + targets.len();
        lines.extend(whole.columns(0..behind).lines(width, style));
        lines.push(String::new());
        let got = std::iter::once(0).chain(behind..whole.columns.len());
        lines.extend(whole.columns(got).lines(width, style));
    }
    lines.extend(notes(runs, style));
    lines
}

fn task(run: &RunView) -> String {
    run.task.as_ref().map_or_else(dash, |task| text::plain(&task.name))
}

fn dash() -> String {
    "-".to_owned()
}

/// The absolute levels that any run was asked for; a run that was not asked shows a dash.
fn targets(runs: &[RunView]) -> Vec<Target> {
    let mut targets = Vec::new();
    for time in runs.iter().filter_map(|run| run.rise.as_ref()).flat_map(|rise| &rise.times) {
        if !targets.contains(&time.target) {
            targets.push(time.target);
        }
    }
    targets
}

fn head(target: Target) -> String {
    match target {
        Target::Value(value) => format!("{value}"),
        Target::PercentOfScale(percent) => format!("{percent} %"),
        Target::PercentOfPeak(percent) => format!("{percent} % peak"),
    }
}

/// The kind of core that ramps begin on, where all runs agree.
fn smallest_core(runs: &[RunView]) -> String {
    let first = |run: &RunView| {
        let stages = run.stages.as_ref()?;
        stages.stages.first()?.core_type.clone()
    };
    let mut kinds: Vec<String> = runs.iter().filter_map(first).collect();
    kinds.dedup();
    match kinds.as_slice() {
        [one] => text::plain(one),
        _ => "first core".to_owned(),
    }
}

fn row_times(run: &RunView, targets: &[Target]) -> Vec<String> {
    let time = |target: &Target| {
        let mut times = run.rise.iter().flat_map(|rise| &rise.times);
        times.find(|time| time.target == *target).map_or_else(dash, outcome)
    };
    targets.iter().map(time).collect()
}

/// Time on the first kind of core, mean frequency while running, shares of the view's time, and
/// changes of frequency per second, all domains together.
fn row_got(run: &RunView) -> Vec<String> {
    let stage = run.stages.as_ref().and_then(|stages| Some((stages, stages.stages.first()?)));
    let on_core = stage.map_or_else(dash, |(stages, stage)| {
        let mark = match stage.left_ns {
            _ if !stages.capacities_known => "?",
            Some(_) => "",
            None => " stays",
        };
        millis(stage.ran_ns) + mark
    });
    let mean = run.running_frequency.as_ref().and_then(|answer| answer.mean_khz);
    let share = |part: u64| {
        let whole = run.span.length_ns().max(1) as f64;
        text::number(part as f64 / whole * 100.0, 1)
    };
    let states = run.states.as_ref();
    let rates: Vec<f64> = run.transitions.iter().filter_map(|t| t.per_second).collect();
    let rate = (!rates.is_empty()).then(|| rates.iter().sum::<f64>());
    vec![
        on_core,
        mean.map_or_else(dash, |khz| text::number(khz / 1e6, 3)),
        states.map_or_else(dash, |states| share(states.running_ns)),
        states.map_or_else(dash, |states| share(states.runnable_ns)),
        rate.map_or_else(dash, |rate| text::number(rate, 1)),
    ]
}

fn outcome(time: &TimeTo) -> String {
    match time.outcome {
        Outcome::Already => "at once".to_owned(),
        Outcome::Reached { after_ns, lost, .. } => {
            format!("{}{}", millis(after_ns), if lost { "?" } else { "" })
        }
        Outcome::Never => "never".to_owned(),
    }
}

/// What qualifies the table.
fn notes(runs: &[RunView], style: Style) -> Vec<String> {
    let mut notes = Vec::new();
    for run in runs {
        let name = text::plain(&run.name);
        if run.rise.iter().flat_map(|rise| &rise.times).any(|t| t.outcome == Outcome::Never) {
            let peak = run.rise.as_ref().map_or(0, |rise| rise.peak);
            notes.push(format!("{name}: never above {peak} in {:.1} ms", run.length_ms()));
        }
        if run.gaps > 0 {
            let events = text::count(run.lost_events, "event");
            let gaps = text::count(run.gaps as u64, "gap");
            notes.push(format!(
                "{name}: {gaps}, {events} or more lost; ? marks what they may have hidden"
            ));
        }
        if run.stages.as_ref().is_some_and(|stages| !stages.capacities_known) {
            notes.push(format!(
                "{name}: capacities unknown, so a move to a larger core is not seen"
            ));
        }
    }
    notes.into_iter().map(|note| style.dim(&format!("  {note}"))).collect()
}

/// Before the lines of a list.
const INDENT: &str = "  ";

/// Why questions have no answer, once per reason, whole: half a reason is none.
pub(super) fn unanswered(runs: &[RunView], width: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs {
        for missing in &run.unanswered {
            let text = format!("{}: {missing}", text::plain(&run.name));
            let wrapped = text::wrap(&text, width.saturating_sub(INDENT.len()).max(1));
            lines.extend(wrapped.into_iter().map(|line| format!("{INDENT}{line}")));
        }
    }
    if !lines.is_empty() {
        lines.insert(0, style.bold("Not answered"));
    }
    lines
}
