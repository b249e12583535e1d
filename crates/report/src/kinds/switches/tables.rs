//! The tables of switches.

use super::analysis::{Findings, Switch};
use super::windowed::Windowed;
use crate::table::{Cell, Column, Table};
use crate::text;
use flyball_stats::{Distribution, Estimate};

/// Every table that has rows; columns in which no cell says anything are left out.
pub(crate) fn all(findings: &Findings) -> Vec<Table> {
    let mut tables = vec![detected(findings)];
    tables.extend(written(findings));
    tables.extend([pairs(findings), baselines(findings), grids(findings), outside(findings)]);
    tables.retain(|table| !table.rows.is_empty());
    tables.into_iter().map(Table::without_empty_columns).collect()
}

/// `365`, `21.4`, `1.03`: three digits or all of them.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => text::number(value, 0),
        v if v >= 9.995 => text::number(value, 1),
        _ => text::number(value, 2),
    }
}

/// `870 [866, 875]`.
pub(crate) fn with_interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", short(estimate.value), short(low), short(high))
        }
        _ => short(estimate.value),
    }
}

/// `600`, `1332.8`.
pub(crate) fn mhz(khz: u64) -> String {
    let mhz = khz as f64 / 1e3;
    if khz.is_multiple_of(1000) { format!("{mhz:.0}") } else { format!("{mhz:.1}") }
}

/// What a set-up or a domain is called before a row; nothing where there is but one.
pub(crate) fn place(setup: &Option<String>, domain: &Option<String>) -> String {
    let parts: Vec<&str> = [setup, domain].into_iter().flatten().map(String::as_str).collect();
    text::plain(&parts.join(" "))
}

/// A name, then numbers.
fn columns(first: &str, numbers: &[&str]) -> Vec<Column> {
    let numbers = numbers.iter().map(|name| Column::number(*name));
    [Column::words("where"), Column::words(first)].into_iter().chain(numbers).collect()
}

fn us(value: Option<f64>) -> Cell {
    Cell::number(value, short)
}

fn estimated(value: Option<&Estimate>) -> Cell {
    let Some(of) = value else { return Cell::text("-") };
    Cell { bounds: [of.low, of.high], ..Cell::keyed(with_interval(of), of.value) }
}

fn median(of: &Option<Distribution>) -> Cell {
    estimated(of.as_ref().map(|of| &of.median))
}

fn level(khz: u64) -> Cell {
    Cell::keyed(mhz(khz), khz as f64 / 1e3)
}

fn outside(findings: &Findings) -> Table {
    let heads = ["to MHz", "seen", "P-state", "found after", "step", "loop"];
    let rows = findings.outside.iter().map(|one| {
        vec![
            Cell::text(place(&None, &one.domain)),
            Cell::text(one.method.as_str()),
            level(one.to_khz),
            Cell::keyed(format!("{} of {}", one.seen, one.trials), one.seen as f64),
            median(&one.arrives_us),
            median(&one.found_after_us),
            us(one.step_us),
            us(one.loop_us),
        ]
    });
    let title = "Seen from outside: from the start of the write to the P-state, and from there until the \
                 new speed was found, us";
    Table::new("switches-outside", title, columns("method", &heads)).rows(rows)
}

fn detected(findings: &Findings) -> Table {
    let heads = [
        "valid",
        "p1",
        "median [95 %]",
        "p99",
        "corrected",
        "write",
        "stall",
        "loop",
        "fixed part",
        "+ wait",
    ];
    let title =
        "Transitions (detect): from the start of the write until work runs at the new speed, us";
    let mut table = Table::new("switches-detect", title, columns("MHz", &heads));
    for switch in findings.switches.iter().filter(|switch| switch.method == "detect") {
        let (from, to) = (mhz(switch.from_khz), mhz(switch.to_khz));
        let whole = switch.transition_us.as_ref();
        let split = switch.split.as_ref().filter(|split| split.fits);
        let middle = |of: &Option<Distribution>| us(of.as_ref().map(|of| of.median.value));
        table.rows.push(vec![
            Cell::text(place(&switch.setup, &switch.domain)),
            Cell::text(format!("{from} -> {to}")),
            Cell::number(Some(switch.valid_share()), |share| format!("{:.1} %", 100.0 * share)),
            us(whole.map(|of| of.p01.value)),
            estimated(whole.map(|of| &of.median)),
            us(whole.map(|of| of.p99.value)),
            us(switch.corrected_us.map(|of| of.value)),
            middle(&switch.write_us),
            middle(&switch.stall_us),
            us(switch.loop_us),
            estimated(split.map(|split| &split.fixed_us)),
            Cell::number(split.map(|split| split.wait_us), |wait| format!("0 to {wait:.2}")),
        ]);
        for (why, count) in &switch.rejected {
            table
                .notes
                .push(format!("{from} -> {to} MHz: {count} of {} rejected: {why}", switch.trials));
        }
        if let Some(split) = switch.split.as_ref().filter(|split| !split.fits) {
            table.notes.push(format!(
                "{from} -> {to} MHz: not split into wait and fixed part: the latencies are not uniform over \
                 the grid's period (misfit {:.2})",
                split.misfit
            ));
        }
    }
    table
}

/// The writes, as a matrix per set-up and domain.
fn written(findings: &Findings) -> Vec<Table> {
    let all: Vec<&Switch> =
        findings.switches.iter().filter(|switch| switch.method == "direct").collect();
    let mut places: Vec<String> =
        all.iter().map(|switch| place(&switch.setup, &switch.domain)).collect();
    places.dedup();
    places.iter().map(|at| matrix(at, &all)).collect()
}

fn matrix(at: &str, all: &[&Switch]) -> Table {
    let here: Vec<&&Switch> =
        all.iter().filter(|switch| place(&switch.setup, &switch.domain) == at).collect();
    let mut levels: Vec<u64> = here.iter().flat_map(|s| [s.from_khz, s.to_khz]).collect();
    levels.sort_unstable();
    levels.dedup();
    let title = format!(
        "Writes (direct), median us, from row to column{}{at}; in (): no switch, the way to the driver alone",
        if at.is_empty() { "" } else { ", " }
    );
    let columns = levels.iter().map(|khz| Column::number(mhz(*khz)));
    let columns = std::iter::once(Column::words("MHz")).chain(columns).collect();
    let row = |from: &u64| {
        let cell = |to: &u64| {
            let found = here.iter().find(|s| s.from_khz == *from && s.to_khz == *to);
            let value = found.and_then(|switch| switch.write_us.as_ref());
            Cell::number(value.map(|of| of.median.value), |value| match from == to {
                true => format!("({})", short(value)),
                false => short(value),
            })
        };
        std::iter::once(level(*from)).chain(levels.iter().map(cell)).collect()
    };
    Table::new("switches-direct", title, columns).rows(levels.iter().map(row))
}

fn pairs(findings: &Findings) -> Table {
    let heads = ["window", "runs", "median [95 %]", "mean [95 %]", "corrected"];
    let mut columns = columns("MHz", &heads);
    columns.push(Column::words("use"));
    let title = "Pairs (windowed): time without work per switch, us";
    let mut table = Table::new("switches-windowed", title, columns);
    for pair in &findings.windowed {
        let Windowed { setup, domain, from_khz, to_khz, .. } = pair;
        let (from, to) = (mhz(*from_khz), mhz(*to_khz));
        table.rows.push(vec![
            Cell::text(place(setup, domain)),
            Cell::text(format!("{from} <-> {to}")),
            Cell::number(Some(pair.window_us), |window| format!("{window:.0}")),
            Cell::count(pair.runs as u64),
            estimated(Some(&pair.median_us)),
            estimated(Some(&pair.mean_us)),
            us(pair.corrected_us.map(|of| of.value)),
            Cell::text(if pair.refused.is_some() { "REFUSED" } else { "" }),
        ]);
        if let Some(why) = &pair.refused {
            let window = pair.window_us;
            table.notes.push(format!("{from} <-> {to} MHz, {window:.0} us: refused: {why}"));
        }
    }
    table
}

fn baselines(findings: &Findings) -> Table {
    let heads = ["runs", "median", "spread", "mean", "outliers", "mean shifted"];
    let one = |value: f64| Cell::number(Some(value), |value| text::number(value, 1));
    let rows = findings.baselines.iter().map(|level| {
        let outliers = level.outliers.len();
        vec![
            Cell::text(place(&level.setup, &None)),
            self::level(level.khz),
            Cell::count(level.n as u64),
            one(level.median),
            one(level.spread),
            one(level.mean),
            Cell::keyed(
                format!("{outliers} ({:.0} %)", 100.0 * level.contamination),
                outliers as f64,
            ),
            Cell::number(Some(level.mean_shift), |shift| format!("{:+.2} %", 100.0 * shift)),
        ]
    });
    let mut columns = columns("MHz", &heads);
    columns[1] = Column::number("MHz");
    Table::new("switches-levels", "Levels alone: scores", columns).rows(rows)
}

/// The hardware's grids, or why there are none.
fn grids(findings: &Findings) -> Table {
    let columns = vec![Column::words("where"), Column::words("grid").sentences()];
    let rows = findings.grids.iter().filter_map(|found| {
        let told = match (&found.grid, &found.none) {
            (Some(grid), _) => {
                let period = &grid.period_us;
                let places = places(period);
                let ends = match (period.low, period.high) {
                    (Some(low), Some(high)) => format!(" [{low:.places$}, {high:.places$}]"),
                    _ => String::new(),
                };
                format!(
                    "{:.places$} us{ends}, coherence {:.3} (of the writes {:.3}), scatter {} us, over {} s, \
                     in {} switches; chance of that without a grid: 10^{:.0}",
                    period.value,
                    grid.coherence,
                    grid.writes_coherence,
                    short(grid.jitter_us),
                    short(grid.coherent_s),
                    grid.switches,
                    grid.log10_false_alarm,
                )
            }
            (None, Some(none)) => none.to_string(),
            (None, None) => return None,
        };
        Some(vec![Cell::text(place(&found.setup, &found.domain)), Cell::text(told)])
    });
    let title = "Grid of the hardware, looked for in the times of effect";
    Table::new("switches-grid", title, columns).rows(rows)
}

/// Decimals that show an interval's width in two digits, from 2 to 6.
fn places(estimate: &Estimate) -> usize {
    let width = estimate.high.zip(estimate.low).map_or(0.1, |(high, low)| high - low);
    (1.0 - width.max(1e-9).log10().floor()).clamp(2.0, 6.0) as usize
}
