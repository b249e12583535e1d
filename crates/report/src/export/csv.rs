//! Cells, comparisons and events as CSV: full precision, empty where unknown.

use crate::kinds::{Kind, measures};
use crate::model::Report;
use crate::sheets::{cells, comparisons, evidence};
use crate::table::{Cell, Column, Table};

/// What a program wants of the report: cells, else figures of ramp-ups and switches, else of events.
#[must_use]
pub fn csv(report: &Report) -> String {
    match Kind::of(report).first() {
        Some(Kind::Rampup | Kind::Switches) => measures::table(report).csv(),
        Some(Kind::Events | Kind::Sweep) => events_csv(report),
        Some(Kind::Load) => evidence::loads(report).csv(),
        Some(Kind::Activity) => evidence::activity(report).csv(),
        Some(Kind::Windows) | None => cells_csv(report),
    }
}

/// One line per run, workload and condition.
#[must_use]
pub fn cells_csv(report: &Report) -> String {
    cells::exact(report).csv()
}

/// One line per comparison and scope: `all`, each stratum, each workload and each of its strata.
#[must_use]
pub fn comparisons_csv(report: &Report) -> String {
    comparisons::all(report).pick(&comparisons::EXACT).csv()
}

/// One line per figure of a run with events: whose it is, what it is with its unit, and the number.
#[must_use]
pub fn events_csv(report: &Report) -> String {
    let columns = ["run", "trial", "parameters", "subject", "name"].map(Column::words);
    let columns = columns.into_iter().chain([Column::number("value")]).collect();
    let mut table = Table::new("", "", columns);
    let mut add = |words: [&str; 5], value: Option<f64>| {
        let mut row = words.map(Cell::text).to_vec();
        row.push(Cell { number: value, ..Cell::default() });
        table.rows.push(row);
    };
    for run in &report.events {
        for trial in &run.trials {
            let mut line = |subject: &str, name: &str, value: Option<f64>| {
                add([run.run.as_str(), &trial.name, "", subject, name], value);
            };
            for item in &trial.items {
                line(&item.task, "items_done", Some(item.done as f64));
                line(&item.task, "latency_median_us", item.median_us);
                line(&item.task, "latency_p99_us", item.p99_us);
                line(&item.task, "latency_max_us", item.max_us);
                line(&item.task, "missed", Some(item.missed as f64));
            }
            for domain in &trial.domains {
                let subject = format!("domain {}", domain.domain);
                line(&subject, "frequency_mean_mhz", domain.mean_mhz);
                line(&subject, "transitions_per_s", domain.transitions_per_s);
                for level in &domain.residency {
                    line(&subject, &format!("share_at_{}_mhz", level.mhz), Some(level.share));
                }
            }
            for task in &trial.tasks {
                let subject = format!("{}-{}", task.task, task.tid);
                line(&subject, "running_share", Some(task.running));
                line(&subject, "runnable_share", Some(task.runnable));
                line(&subject, "sleeping_share", Some(task.sleeping));
                line(&subject, "wakeups", Some(task.wakeups as f64));
                line(&subject, "wakeup_median_us", task.wakeup_median_us);
                line(&subject, "wakeup_p99_us", task.wakeup_p99_us);
                line(&subject, "wakeup_max_us", task.wakeup_max_us);
                line(&subject, "frequency_while_running_mhz", task.mean_mhz);
            }
            for cpu in &trial.cpus {
                let subject = format!("cpu{}", cpu.cpu);
                line(&subject, "busy_share", cpu.busy);
                line(&subject, "util_median", cpu.util_median.map(f64::from));
                line(&subject, "util_max", cpu.util_max.map(f64::from));
                for state in &cpu.idle {
                    line(&subject, &format!("idle_state_{}_share", state.state), Some(state.share));
                }
            }
            for sum in &trial.energy {
                line(&sum.subject, "energy_mj", Some(sum.energy_mj));
            }
        }
        for point in &run.points {
            let parameters = point.parameters.iter().map(|f| format!("{}={}", f.name, f.value));
            let parameters = parameters.collect::<Vec<_>>().join(" ");
            for result in &point.results {
                for (what, value) in
                    [("median", result.median), ("p1", result.p1), ("p99", result.p99)]
                {
                    let name = format!("{} {what} over phases", result.name);
                    add([run.run.as_str(), "", &parameters, &result.subject, &name], Some(value));
                }
            }
        }
    }
    table.csv()
}
