//! The cells: one table of every figure, from which every reader picks.

use crate::model::{Cell as Figures, Measure, Report};
use crate::table::{Cell, Column, Table};
use crate::{text, view};

/// The main figures.
pub(crate) const MAIN: [&str; 8] = [
    "workload",
    "condition",
    "median_us",
    "p99_us",
    "cpu_time_median_us",
    "lateness_p99_us",
    "delivered_median",
    "placement",
];

/// The figures of one workload's conditions.
pub(crate) const OF_WORKLOAD: [&str; 10] = [
    "condition",
    "median_us",
    "p99_us",
    "max_us",
    "lateness_p99_us",
    "delivered_median",
    "placement",
    "modes",
    "effective_n",
    "disturbed_windows",
];

/// The distributions.
pub(crate) const DISTRIBUTIONS: [&str; 14] = [
    "workload",
    "condition",
    "n",
    "effective_n",
    "lag1_autocorrelation",
    "mean_us",
    "sd_us",
    "min_us",
    "p95_us",
    "p999_us",
    "max_us",
    "missed",
    "disturbed_windows",
    "scheduling",
];

/// What a page shows of all cells.
pub(crate) const ALL: [&str; 19] = [
    "workload",
    "condition",
    "run",
    "n",
    "repeats",
    "median_us",
    "mean_us",
    "sd_us",
    "min_us",
    "p5_us",
    "p95_us",
    "p99_us",
    "p999_us",
    "max_us",
    "response_p99_us",
    "missed",
    "lag1_autocorrelation",
    "delivered_median",
    "scheduling",
];

/// `GHz`, or `of best` where some cells know their frequency only as percent of the best seen.
pub(crate) fn frequency_heading(report: &Report) -> &'static str {
    let relative = report.cells.iter().filter_map(|c| c.delivered.as_ref()).any(text::is_percent);
    if relative { "of best" } else { "GHz" }
}

/// Every figure of every cell, in the order of the report, conditions by their own names.
pub(crate) fn exact(report: &Report) -> Table {
    let rows = report.cells.iter().map(|cell| row(cell, &cell.condition));
    Table::new("cells", "", columns(report)).rows(rows)
}

/// The same for people: workload by workload, conditions by the names that tell them apart.
pub(crate) fn shown(report: &Report) -> Table {
    let mut table = Table::new("cells", "", columns(report));
    for workload in view::workloads(report) {
        table.rows.extend(of_workload(report, &workload).rows);
    }
    table
}

/// Those of one workload.
pub(crate) fn of_workload(report: &Report, workload: &str) -> Table {
    let groups = view::groups(report);
    let rows = groups.iter().filter_map(|group| {
        view::cell(report, workload, group).map(|cell| row(cell, &group.label))
    });
    Table::new("", format!("Figures of {workload}"), columns(report)).rows(rows)
}

fn columns(report: &Report) -> Vec<Column> {
    use Column as C;
    let wake_ups = view::measured(&report.cells) == "wake-up latency";
    let median = if wake_ups { "wake-up median us" } else { "median us" };
    vec![
        C::words("run"),
        C::words("workload").once(),
        C::words("condition"),
        C::number("n"),
        C::number("repeats"),
        C::number(median).key("median_us").interval("95 %"),
        C::number("mean us").expendable(6),
        C::number("sd").key("sd_us").expendable(7),
        C::number("min").key("min_us").expendable(9),
        C::number("p1").key("p1_us"),
        C::number("p5").key("p5_us"),
        C::number("p25").key("p25_us"),
        C::number("p75").key("p75_us"),
        C::number("p95").key("p95_us").expendable(3),
        C::number("p99 us").key("p99_us").interval("95 % of p99").expendable(1),
        C::number("p99.9").key("p999_us"),
        C::number("max").key("max_us"),
        C::number("late median us").key("lateness_median_us"),
        C::number("late p99 us").key("lateness_p99_us").expendable(3),
        C::number("response median").key("response_median_us"),
        C::number("response p99").key("response_p99_us"),
        C::number("missed").expendable(4),
        C::number("deadline us").key("deadline_us"),
        C::number("ESS").key("effective_n"),
        C::number("lag 1").key("lag1_autocorrelation").expendable(8),
        C::number("modes"),
        C::words("mixture"),
        C::words("mode medians us"),
        C::words("mode shares"),
        C::number(frequency_heading(report)).key("delivered_median"),
        C::number("delivered p1"),
        C::number("delivered p99"),
        C::words("delivered source"),
        C::words("delivered unit"),
        C::words("where").key("placement").expendable(2),
        C::words("placement recorded"),
        C::number("disturbed").key("disturbed_windows"),
        C::words("class").key("scheduling").expendable(5),
        C::words("degraded"),
        C::words("measure"),
        C::number("CPU us").key("cpu_time_median_us").expendable(2),
    ]
}

fn row(c: &Figures, condition: &str) -> Vec<Cell> {
    let (e, modes) = (&c.execution, &c.modes.modes);
    let us = |value: f64| Cell::number(Some(value), text::micros);
    let maybe = |value: Option<f64>| Cell::number(value, text::micros);
    let mut median = Cell::micros(&e.median_us);
    if c.modes.mixture {
        median.interval += &format!(" {} modes", modes.len());
    }
    let join = |values: &mut dyn Iterator<Item = f64>| {
        Cell::text(values.map(|value| value.to_string()).collect::<Vec<_>>().join(";"))
    };
    let yes = |value: bool| Cell::text(if value { "true" } else { "false" });
    let (late, response) = (c.lateness.as_ref(), c.response.as_ref());
    let delivered = c.delivered.as_ref();
    let speed = match delivered {
        Some(d) => Cell::number(Some(d.median), |_| text::delivered(d)),
        None => Cell::text("?"),
    };
    let unit = |d: &crate::model::Delivered| if text::is_percent(d) { "percent" } else { "mhz" };
    vec![
        Cell::text(c.run.as_str()),
        Cell::text(c.workload.as_str()),
        Cell::text(condition),
        Cell::count(c.n),
        Cell::count(c.repeats.into()),
        median,
        us(e.mean_us),
        us(e.sd_us),
        us(e.min_us),
        us(e.p1_us),
        us(e.p5_us),
        us(e.p25_us),
        us(e.p75_us),
        us(e.p95_us),
        Cell::micros(&e.p99_us),
        maybe(e.p999_us),
        us(e.max_us),
        maybe(late.map(|d| d.median_us.value)),
        maybe(late.map(|d| d.p99_us.value)),
        maybe(response.map(|d| d.median_us.value)),
        maybe(response.map(|d| d.p99_us.value)),
        Cell::count(c.missed),
        maybe(c.deadline_us),
        Cell::number(Some(c.effective_n), |n| text::number(n, if n < 10.0 { 1 } else { 0 })),
        Cell::number(c.lag1_autocorrelation, |r| text::number(r, 2)),
        Cell::count(modes.len() as u64),
        yes(c.modes.mixture),
        join(&mut modes.iter().map(|mode| mode.median_us)),
        join(&mut modes.iter().map(|mode| mode.share)),
        speed,
        maybe(delivered.map(|d| d.p1)),
        maybe(delivered.map(|d| d.p99)),
        Cell::text(delivered.map_or("", |d| d.source.as_str())),
        Cell::text(delivered.map_or("", unit)),
        Cell::text(c.placement.summary.as_str()),
        yes(c.placement.recorded),
        Cell::number(Some(c.disturbed.windows as f64), |_| {
            text::share_of(c.disturbed.windows, c.n)
        }),
        Cell::text(c.scheduling.as_deref().unwrap_or("?")),
        Cell::text(c.degraded.join("; ")),
        Cell::text(match c.measure {
            Measure::Execution => "execution",
            Measure::WakeUp => "wake_up",
        }),
        maybe(c.cpu_time_median_us),
    ]
}

/// Modes of the cells that are mixtures.
pub(crate) fn modes(report: &Report) -> Table {
    let columns = vec![
        Column::words("workload"),
        Column::words("condition"),
        Column::number("mode"),
        Column::number("median us"),
        Column::number("from").key("low_us").expendable(2),
        Column::number("to").key("high_us").expendable(1),
        Column::number("share"),
        Column::words("seems to be"),
    ];
    let rows = report.cells.iter().filter(|cell| cell.modes.mixture).flat_map(|cell| {
        let modes = &cell.modes.modes;
        let us = |value: f64| Cell::number(Some(value), text::micros);
        modes.iter().enumerate().map(move |(at, mode)| {
            vec![
                Cell::text(cell.workload.as_str()),
                Cell::text(cell.condition.as_str()),
                Cell::keyed(format!("{} of {}", at + 1, modes.len()), (at + 1) as f64),
                us(mode.median_us),
                us(mode.low_us),
                us(mode.high_us),
                Cell::number(Some(mode.share), text::share),
                Cell::text(mode.label.as_deref().unwrap_or("?")),
            ]
        })
    });
    Table::new("modes", "Modes (a cell with more than one is a mixture)", columns).rows(rows)
}
