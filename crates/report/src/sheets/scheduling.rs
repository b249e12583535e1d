//! Tables of tasks and CPUs: shares of the time, wake-ups, utilisation, idle states, and the task
//! that is looked at.

use super::Detail;
use super::trials::{latency, start, trials};
use crate::model::{CpuStates, EventRun, EventTrial, TaskDetail, UtilizationShare};
use crate::table::{Cell, Column, Table};
use crate::text;

/// Tasks of a trial in the short form.
const TASKS: usize = 6;
/// Tasks of a trial in the full form; the JSON has them all.
const MOST_TASKS: usize = 200;
/// CPUs of a trial in the short form.
const CPUS: usize = 8;
/// Changes of a domain in a terminal; the page has up to 1000.
const CHANGES: usize = 40;

/// The beginning of a row that says how many more there are.
fn more(trial: &EventTrial, count: usize) -> Vec<Cell> {
    vec![Cell::text(trial.name.as_str()), Cell::text(format!("... {count} more"))]
}

/// How the tasks spent the time, and how long they waited behind a wake-up.
pub(super) fn tasks(runs: &[&EventRun], detail: Detail) -> Table {
    let mut table = Table::new(
        "tasks",
        "Tasks: shares of the time, and from wake-up to run",
        vec![
            Column::words("trial"),
            Column::words("task"),
            Column::number("runs"),
            Column::number("waits"),
            Column::number("sleeps"),
            Column::number("wake-ups"),
            Column::number("median"),
            Column::number("p99"),
            Column::number("max"),
            Column::number("GHz"),
        ],
    );
    let most = if detail == Detail::Short { TASKS } else { MOST_TASKS };
    for trial in trials(runs) {
        let share = |value: f64| Cell::number(Some(value), text::share);
        // The task that is looked at has its row, however little it ran.
        let focus = trial.detail.as_ref().map(|detail| detail.tid);
        let shown = |(at, tid): (usize, u32)| at < most || focus == Some(tid);
        let all = trial.tasks.iter().enumerate();
        let mut left = 0;
        for (at, task) in all {
            if !shown((at, task.tid)) {
                left += 1;
                continue;
            }
            table.rows.push(vec![
                Cell::text(trial.name.as_str()),
                Cell::text(format!("{}-{}", task.task, task.tid)),
                share(task.running),
                share(task.runnable),
                share(task.sleeping),
                Cell::count(task.wakeups),
                Cell::number(task.wakeup_median_us, latency),
                Cell::number(task.wakeup_p99_us, latency),
                Cell::number(task.wakeup_max_us, latency),
                Cell::number(task.mean_mhz.map(|mhz| mhz / 1e3), |ghz| text::number(ghz, 3)),
            ]);
        }
        if left > 0 {
            table.remark(more(trial, left));
        }
    }
    table
}

fn core(cpu: &CpuStates) -> String {
    let parts = cpu.core_type.iter().chain(&cpu.domain);
    parts.map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn idle_name(state: &crate::model::IdleShare) -> String {
    state.name.clone().unwrap_or_else(|| format!("state {}", state.state))
}

/// A line per CPU.
pub(super) fn cpus(runs: &[&EventRun], detail: Detail) -> Table {
    let mut table = Table::new(
        "cpus",
        "CPUs: busy, utilisation, idle states",
        vec![
            Column::words("trial"),
            Column::words("cpu"),
            Column::words("core, domain"),
            Column::number("busy"),
            Column::number("util median"),
            Column::number("util max"),
            Column::words("idle state and share of the time"),
            Column::number("not idle"),
        ],
    );
    let most = if detail == Detail::Short { CPUS } else { usize::MAX };
    for trial in trials(runs) {
        for cpu in trial.cpus.iter().take(most) {
            let states = cpu.idle.iter();
            let states = states.map(|s| format!("{} {}", idle_name(s), text::share(s.share)));
            let states = states.collect::<Vec<_>>().join(", ");
            let whole =
                |util: Option<u32>| Cell::number(util.map(f64::from), |util| text::number(util, 0));
            table.rows.push(vec![
                Cell::text(trial.name.as_str()),
                Cell::keyed(format!("cpu{}", cpu.cpu), f64::from(cpu.cpu)),
                Cell::text(core(cpu)),
                Cell::number(cpu.busy, text::share),
                whole(cpu.util_median),
                whole(cpu.util_max),
                Cell::text(if states.is_empty() { "-".to_owned() } else { states }),
                Cell::number(cpu.awake, text::share),
            ]);
        }
        if trial.cpus.len() > most {
            table.remark(more(trial, trial.cpus.len() - most));
        }
    }
    table
}

/// Stays in idle states, one row per CPU and state.
pub(super) fn idle(runs: &[&EventRun], detail: Detail) -> Table {
    let mut rows = Vec::new();
    if detail != Detail::Short {
        for trial in trials(runs) {
            for (cpu, state) in trial.cpus.iter().flat_map(|c| c.idle.iter().map(move |s| (c, s))) {
                rows.push(vec![
                    Cell::text(trial.name.as_str()),
                    Cell::text(format!("cpu{}", cpu.cpu)),
                    Cell::text(idle_name(state)),
                    Cell::number(Some(state.share), text::share),
                    Cell::count(state.stays),
                    Cell::number(Some(state.mean_us), latency),
                ]);
            }
        }
    }
    let names = [
        Column::words("trial"),
        Column::words("cpu"),
        Column::words("idle state"),
        Column::number("of the time"),
        Column::number("stays"),
        Column::number("mean stay"),
    ];
    let title = "Residency per idle state".to_owned();
    Table::new("idle", title, names.into()).rows(rows)
}

/// Time at ranges of utilisation: of each CPU, and of the task while it ran.
pub(super) fn utilization(runs: &[&EventRun], detail: Detail) -> Table {
    let mut rows = Vec::new();
    if detail != Detail::Short {
        for trial in trials(runs) {
            let mut tell = |whose: &str, ranges: &[UtilizationShare]| {
                for range in ranges {
                    rows.push(vec![
                        Cell::text(trial.name.as_str()),
                        Cell::text(whose),
                        Cell::keyed(
                            format!("{} to {}", range.from, range.to - 1),
                            f64::from(range.from),
                        ),
                        Cell::number(Some(range.share), text::share),
                    ]);
                }
            };
            // In a terminal the time lines show the task's.
            if let Some(task) = trial.detail.as_ref().filter(|_| detail == Detail::Page) {
                tell(&format!("{} while it ran", task.task), &task.utilization);
            }
            for cpu in &trial.cpus {
                tell(&format!("cpu{}", cpu.cpu), &cpu.utilization);
            }
        }
    }
    let names = [
        Column::words("trial"),
        Column::words("of"),
        Column::number("util_avg"),
        Column::number("of the time"),
    ];
    let title = "Residency per utilisation".to_owned();
    Table::new("utilization", title, names.into()).rows(rows)
}

fn details<'a>(runs: &'a [&EventRun]) -> impl Iterator<Item = (&'a EventTrial, &'a TaskDetail)> {
    trials(runs).filter_map(|trial| Some((trial, trial.detail.as_ref()?)))
}

fn begin(trial: &EventTrial, detail: &TaskDetail) -> Vec<Cell> {
    vec![Cell::text(trial.name.as_str()), Cell::text(detail.task.as_str())]
}

fn millis(ms: f64) -> String {
    latency(ms * 1e3)
}

/// Times to levels of utilisation; in a terminal the summary of the time lines says them.
pub(super) fn levels(runs: &[&EventRun], detail: Detail) -> Table {
    let mut rows = Vec::new();
    if detail == Detail::Page {
        for (trial, task) in details(runs) {
            for level in &task.levels {
                let mut row = begin(trial, task);
                let shown = match (level.after_ms, level.already) {
                    (_, true) => Cell::keyed("at once".to_owned(), 0.0),
                    (Some(ms), _) => {
                        let lost = if level.lost { "?" } else { "" };
                        Cell::keyed(format!("{}{lost}", millis(ms)), ms)
                    }
                    (None, _) => Cell::text("never"),
                };
                row.extend([
                    Cell::keyed(level.asked.clone(), f64::from(level.util)),
                    Cell::count(level.util.into()),
                    shown,
                    Cell::number(level.within_ms, millis),
                ]);
                rows.push(row);
            }
        }
    }
    let names = [
        Column::words("trial"),
        Column::words("task"),
        Column::number("level"),
        Column::number("util_avg"),
        Column::number("reached after"),
        Column::number("within"),
    ];
    let title = "Time to utilisation, from the time line's begin".to_owned();
    Table::new("levels", title, names.into()).rows(rows)
}

fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Time on each kind of core before the move to a larger one; in the short form only where a task
/// moved at all.
pub(super) fn stages(runs: &[&EventRun], detail: Detail) -> Table {
    let mut rows = Vec::new();
    for (trial, task) in details(runs) {
        if detail == Detail::Short && task.stages.len() < 2 {
            continue;
        }
        for stage in &task.stages {
            let left = match stage.left_after_ms {
                Some(ms) => Cell::keyed(millis(ms), ms),
                None if task.capacities_known => Cell::text("stays"),
                None => Cell::text("capacity unknown"),
            };
            let mut row = begin(trial, task);
            row.extend([
                Cell::text(stage.core_type.clone().unwrap_or_else(|| "any core".to_owned())),
                Cell::text(list(&stage.cpus)),
                Cell::number(Some(stage.ran_ms), millis),
                left,
            ]);
            rows.push(row);
        }
    }
    let names = [
        Column::words("trial"),
        Column::words("task"),
        Column::words("core"),
        Column::words("cpus"),
        Column::number("ran"),
        Column::number("left after"),
    ];
    let title = "Time on each kind of core before the move to a larger one".to_owned();
    Table::new("stages", title, names.into()).rows(rows)
}

/// Running time of the task per frequency; in a terminal the time lines show it as bars.
pub(super) fn running(runs: &[&EventRun], detail: Detail) -> Table {
    let mut rows = Vec::new();
    if detail == Detail::Page {
        for (trial, task) in details(runs) {
            let whole: f64 = task.frequencies.iter().map(|level| level.ran_ms).sum();
            for level in &task.frequencies {
                let mut row = begin(trial, task);
                row.extend([
                    Cell::text(level.core_type.clone().unwrap_or_else(|| "any core".to_owned())),
                    Cell::text(list(&level.cpus)),
                    Cell::number(Some(level.mhz), |mhz| text::number(mhz / 1e3, 3)),
                    Cell::number(Some(level.ran_ms), millis),
                    Cell::number(Some(level.ran_ms / whole.max(f64::MIN_POSITIVE)), text::share),
                ]);
                rows.push(row);
            }
        }
    }
    let names = [
        Column::words("trial"),
        Column::words("task"),
        Column::words("core"),
        Column::words("cpus"),
        Column::number("GHz"),
        Column::number("ran"),
        Column::number("of its time"),
    ];
    let title = "Frequency while the task ran".to_owned();
    Table::new("running", title, names.into()).rows(rows)
}

/// Each change with what led to it.
pub(super) fn changes(runs: &[&EventRun], detail: Detail) -> Table {
    let mut rows = Vec::new();
    let most = match detail {
        Detail::Short => 0,
        Detail::Full => CHANGES,
        Detail::Page => usize::MAX,
    };
    let mut left = 0;
    for (trial, domain) in
        trials(runs).flat_map(|trial| trial.domains.iter().map(move |domain| (trial, domain)))
    {
        left += (domain.transitions as usize).saturating_sub(most.min(domain.changes.len()));
        for change in domain.changes.iter().take(most) {
            let ghz = |mhz: f64| Cell::number(Some(mhz), |mhz| text::number(mhz / 1e3, 3));
            let mut row = start(trial, domain);
            row.extend([
                Cell::number(Some(change.t_ms), |ms| text::number(ms, 3)),
                ghz(change.from_mhz),
                ghz(change.to_mhz),
                Cell::text(change.cause.clone().unwrap_or_else(|| "nothing that fits".to_owned())),
                Cell::number(change.after_us, latency),
            ]);
            rows.push(row);
        }
    }
    let names = [
        Column::words("trial"),
        Column::words("domain"),
        Column::number("at ms"),
        Column::number("from GHz"),
        Column::number("to GHz"),
        Column::words("led to by"),
        Column::number("after"),
    ];
    let more = if left > 0 { format!(" ({left} more)") } else { String::new() };
    let title = format!("Changes of frequency, each with what led to it{more}");
    Table::new("changes", title, names.into()).rows(rows)
}
