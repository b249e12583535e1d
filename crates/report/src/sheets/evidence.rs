//! What shows that each condition was in force: frequency, load; and the conditions as a whole.

use crate::model::Report;
use crate::table::{Cell, Column, Table, Tone};
use crate::{sheets, text};
use std::collections::BTreeSet;

/// Claimed and delivered frequency per condition and clock domain.
pub(crate) fn frequencies(report: &Report) -> Table {
    let columns = vec![
        Column::words("condition"),
        Column::words("domain"),
        Column::words("governor").expendable(1),
        Column::number("claimed MHz"),
        Column::number("delivered MHz"),
        Column::number("samples").expendable(2),
        Column::words("source").expendable(3),
        Column::words("most claimed"),
    ];
    let mhz = |value: Option<f64>| Cell::number(value, |mhz| text::number(mhz, 1));
    let rows = report.frequencies.iter().map(|f| {
        vec![
            Cell::text(f.condition.as_deref().unwrap_or("-")),
            Cell::text(f.domain.as_str()),
            Cell::text(f.governor.as_deref().unwrap_or("?")),
            mhz(f.claimed_mean_mhz),
            mhz(f.delivered_mean_mhz),
            Cell::count(f.n),
            Cell::text(f.source.as_str()),
            Cell::text(f.most_claimed.as_ref().map_or_else(String::new, |l| {
                format!("{} MHz {}", text::number(l.mhz, 0), text::share(l.share))
            })),
        ]
    });
    let title = "Frequency log (claimed is what the system says, delivered is what was measured)";
    Table::new("", title, columns).rows(rows)
}

/// Proof of load per condition.
pub(crate) fn loads(report: &Report) -> Table {
    let columns = vec![
        Column::words("condition"),
        Column::words("profile"),
        Column::number("wanted"),
        Column::number("achieved"),
        Column::number("steal max"),
        Column::words("proven"),
        Column::words("why").sentences(),
    ];
    let percent = |value: Option<f64>| Cell::number(value, |v| format!("{} %", text::number(v, 1)));
    let rows = report.loads.iter().map(|l| {
        let (word, tone) = if l.proven { ("yes", Tone::Good) } else { ("no", Tone::Bad) };
        vec![
            Cell::text(l.condition.as_str()),
            Cell::text(l.profile.as_str()),
            percent(l.wanted_percent),
            percent(l.achieved_percent),
            percent(l.steal_max_percent),
            Cell::text(word).tone(tone),
            Cell::text(l.why.as_str()),
        ]
    });
    Table::new("", "Load", columns).rows(rows)
}

/// What the CPUs did while their load was recorded.
pub(crate) fn activity(report: &Report) -> Table {
    let columns = vec![
        Column::words("run").once().expendable(3),
        Column::words("CPU"),
        Column::number("recorded").key("recorded_s").expendable(2),
        Column::number("intervals").expendable(1),
        Column::number("busy"),
        Column::number("busiest interval"),
        Column::number("claimed MHz"),
        Column::words("from to"),
        Column::number("tasks waiting"),
    ];
    let mhz = |value: Option<f64>| Cell::number(value, |mhz| text::number(mhz, 0));
    let rows = report.activity.iter().map(|it| {
        let span = it.claimed_low_mhz.zip(it.claimed_high_mhz);
        let span = span
            .map(|(low, high)| format!("{} to {}", text::number(low, 0), text::number(high, 0)));
        vec![
            Cell::text(it.run.as_str()),
            Cell::keyed(it.cpu.to_string(), f64::from(it.cpu)),
            Cell::keyed(text::duration(it.seconds), it.seconds),
            Cell::count(it.n),
            Cell::keyed(text::share(it.busy), it.busy),
            Cell::keyed(text::share(it.busiest), it.busiest),
            mhz(it.claimed_mean_mhz),
            Cell::text(span.unwrap_or_else(|| "-".to_owned())),
            Cell::number(it.waiting_tasks, |tasks| text::number(tasks, 2)),
        ]
    });
    let mut table = Table::new("activity", "Recorded load", columns).rows(rows);
    let runs: BTreeSet<&str> = report.activity.iter().map(|it| it.run.as_str()).collect();
    if runs.len() < 2 {
        table.drop_column(0);
    }
    table.without_empty_columns()
}

/// Geometric mean of the workloads' medians per run and condition.
pub(crate) fn geometric_means(report: &Report) -> Table {
    let columns = vec![
        Column::words("run"),
        Column::words("condition"),
        Column::number("geo-mean us").interval("95 %"),
        Column::number("workloads"),
    ];
    let rows = report.geometric_means.iter().map(|mean| {
        vec![
            Cell::text(mean.run.as_str()),
            Cell::text(mean.condition.as_str()),
            Cell::micros(&mean.median_us),
            Cell::count(mean.workloads.len() as u64),
        ]
    });
    Table::new("", "Geometric mean of medians", columns).rows(rows)
}

/// One row per condition, where cells are too many.
pub(crate) fn conditions(report: &Report) -> Table {
    let columns = vec![
        Column::words("condition"),
        Column::number("geo-mean us").interval("95 %"),
        Column::number("mixtures"),
        Column::number("late p99 us"),
        Column::number(sheets::cells::frequency_heading(report)),
        Column::words("where"),
    ];
    let rows = report.conditions.iter().map(|c| {
        let mut speeds: Vec<String> = c.delivered.iter().map(text::delivered).collect();
        speeds.dedup();
        vec![
            Cell::text(c.label.as_str()),
            c.median_us.as_ref().map_or_else(|| Cell::text("-"), Cell::micros),
            Cell::keyed(format!("{} of {}", c.mixtures, c.cells), c.mixtures as f64),
            Cell::number(c.lateness_p99_us, text::micros),
            Cell::text(if speeds.is_empty() { "?".to_owned() } else { speeds.join(" to ") }),
            Cell::text(c.placement.as_str()),
        ]
    });
    Table::new("", "", columns).rows(rows)
}

/// Releases that were missed, trial by trial.
pub(crate) fn overruns(report: &Report) -> Table {
    let columns = vec![
        Column::words("trial"),
        Column::number("releases missed"),
        Column::number("windows that overran"),
    ];
    let rows = report.overruns.iter().map(|o| {
        let run = if report.runs.len() > 1 { format!("{}: ", o.run) } else { String::new() };
        vec![Cell::text(run + &o.object), Cell::count(o.releases), Cell::count(o.times)]
    });
    Table::new("overruns", "Releases missed", columns).rows(rows)
}
