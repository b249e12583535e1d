//! The tables of ramp-ups: of one machine, or of several side by side.

use super::analysis::Cell as Figures;
use super::analysis::{Findings, LEVELS, PERCENT, Quantiles, Ramp, Stretch, Time};
use crate::table::{Cell, Column, Table};
use crate::text;

/// Those of one run, or of several beside each other.
pub(crate) fn all(all: &[Findings]) -> Vec<Table> {
    match all {
        [one] => alone(one),
        several => side_by_side(several),
    }
}

fn alone(found: &Findings) -> Vec<Table> {
    let mut columns = vec![Column::words("idle")];
    columns.extend(PERCENT.map(|percent| Column::words(format!("{percent} %"))));
    columns.push(Column::words("ramp").sentences());
    let several = found.cells.iter().any(|cell| cell.condition != found.cells[0].condition);
    let rows = found.cells.iter().map(|cell| {
        let to = |to: &Time| timed(to, first_look(found), found, cell.repetitions);
        let times = cell.times.iter().map(to);
        let name = Cell::text(label(cell, several));
        std::iter::once(name).chain(times).chain([Cell::text(ramp(cell))]).collect()
    });
    let title =
        "Time from the wake-up to a share of the highest rate, ms: median [95 %], 90th percentile";
    let mut times = Table::new("rampup", title, columns).rows(rows);
    times.notes.extend(legend(found));
    times.notes.extend(unbounded([found]));
    let name = |cell: &Figures| Cell::text(label(cell, several));
    vec![times, curves(found, name), from_events(found, name), places(found, name)]
}

/// What a cell is called.
pub(crate) fn label(cell: &Figures, with_condition: bool) -> String {
    match with_condition {
        true => format!("{}, {}", cell.condition, idle(cell)),
        false => idle(cell),
    }
}

/// How long it was idle before.
pub(crate) fn idle(cell: &Figures) -> String {
    let times = if cell.sleeps == 1 { String::new() } else { format!("{} x ", cell.sleeps) };
    let gap = match cell.gap_ms {
        ms if ms >= 1e3 => format!("{} s", number(ms / 1e3)),
        ms => format!("{} ms", number(ms)),
    };
    times + &gap
}

/// A time as a cell that sorts by its median.
fn timed(time: &Time, first: f64, found: &Findings, of: usize) -> Cell {
    let number = time.quantiles.median.map(|median| median.estimate.value);
    Cell { number, ..Cell::text(self::time(time, first, found, of)) }
}

/// The end of the first look at a rate, in milliseconds: what was there then was there at once.
fn first_look(found: &Findings) -> f64 {
    (found.sample_us / 1e3).max(MOMENT_MS)
}

/// Shorter than any clock here tells.
const MOMENT_MS: f64 = 1e-6;

/// `12.3 [10.1, 15.0], 20.2`, or `at once` where that is all: a time to something. What never came in most repetitions says in how
/// many; what was there at the `first` look came at once.
fn time(time: &Time, first: f64, found: &Findings, of: usize) -> String {
    let Some(median) = time.quantiles.median else {
        return format!("not within {} ms in {} of {of}", number(found.spin_ms), of - time.reached);
    };
    let at = |value: f64| match value {
        value if value < first => "at once".to_owned(),
        value if value.is_infinite() && time.reached < of => "never".to_owned(),
        value => end(value),
    };
    let p90 = time.quantiles.p90.map_or("never".to_owned(), |p90| at(p90.estimate.value));
    shown(median.ends().map(at), &p90)
}

/// The same of a length, which may be none.
fn length(quantiles: &Quantiles) -> String {
    let at = |value: f64| if value < MOMENT_MS { "0".to_owned() } else { end(value) };
    let Some(median) = quantiles.median else { return "-".to_owned() };
    let p90 = quantiles.p90.map_or("-".to_owned(), |p90| at(p90.estimate.value));
    shown(median.ends().map(at), &p90)
}

/// A number; `-` for an end that is not known.
fn end(value: f64) -> String {
    if value.is_infinite() { "-".to_owned() } else { number(value) }
}

fn shown([low, value, high]: [String; 3], p90: &str) -> String {
    match low == high {
        true if value == p90 => value,
        true => format!("{value}, {p90}"),
        false => format!("{value} [{low}, {high}], {p90}"),
    }
}

/// The verdict in words.
fn ramp(cell: &Figures) -> String {
    match cell.ramp {
        Ramp::Visible { lowest, until_ms } => {
            format!("from {}, over by {} ms", percent(lowest), number(until_ms))
        }
        Ramp::NotVisible { at_least } => format!("no ramp visible: at least {}", percent(at_least)),
        Ramp::TooFew => "too few repetitions to say".to_owned(),
    }
}

/// What the verdicts mean.
fn legend(found: &Findings) -> Option<String> {
    let none = |cell: &Figures| matches!(cell.ramp, Ramp::NotVisible { .. });
    let from = match found.sample_us {
        us if us > 0.0 => format!("the first {} us", number(us)),
        _ => "the start".to_owned(),
    };
    found.cells.iter().any(none).then(|| {
        format!(
            "no ramp visible: a lower share of the settled rate in any stretch from {from} on would have been \
             seen (95 %)"
        )
    })
}

/// Why some intervals end in `-`.
fn unbounded<'a>(all: impl IntoIterator<Item = &'a Findings>) -> Option<String> {
    let open = |(cell, quantiles): (&Figures, &Quantiles)| {
        let open = quantiles.median.is_some_and(|median| median.estimate.high.is_none());
        open.then_some(cell.repetitions)
    };
    let all_of = |cell: &'a Figures| {
        let times = cell.times.iter().chain(&cell.utilization);
        let times = times.filter(|time| time.reached == cell.repetitions);
        let times = times.map(|time| &time.quantiles);
        let cores = cell.cores.iter().map(|core| &core.quantiles);
        times.chain(cores).map(move |quantiles| (cell, quantiles))
    };
    let cells = all.into_iter().flat_map(|found| &found.cells);
    let fewest = cells.flat_map(all_of).filter_map(open).min()?;
    Some(format!(
        "-: {fewest} repetitions give the interval no upper end within the spin; more repetitions do"
    ))
}

/// The rate in stretches of time, one row per cell.
fn curves(found: &Findings, name: impl Fn(&Figures) -> Cell) -> Table {
    let longest = found.cells.iter().max_by_key(|cell| cell.curve.len());
    let stretches = longest.map(|cell| cell.curve.as_slice()).unwrap_or_default();
    let short = |us: f64| match us {
        us if us >= 1e3 => format!("{} ms", number(us / 1e3)),
        us => format!("{} us", number(us)),
    };
    let mut columns = vec![Column::words("idle")];
    columns.extend(stretches.iter().map(|it| Column::number(format!("to {}", short(it.to_us)))));
    let rows = found.cells.iter().map(|cell| {
        let share = |wanted: &Stretch| {
            let here = cell.curve.iter().find(|stretch| stretch.from_us == wanted.from_us);
            Cell::number(here.map(|it| 100.0 * it.share.estimate.value), |share| {
                text::number(share, 1)
            })
        };
        std::iter::once(name(cell)).chain(stretches.iter().map(share)).collect()
    });
    let title = "Rate since the wake-up, % of each repetition's settled rate: median";
    Table::new("rampup-rate", title, columns).rows(rows)
}

/// Utilisation and kinds of core, where they were recorded.
fn from_events(found: &Findings, name: impl Fn(&Figures) -> Cell) -> Table {
    let facts = |cell: &Figures| -> Vec<(String, Cell)> {
        let levels = cell.utilization.iter().map(|level| {
            let name = format!("to utilisation {}", level.level);
            (name, timed(level, MOMENT_MS, found, cell.repetitions))
        });
        let cores = cell
            .cores
            .iter()
            .map(|core| (format!("on {}", core.core_type), Cell::text(length(&core.quantiles))));
        levels.chain(cores).collect()
    };
    let most = found.cells.iter().map(&facts).max_by_key(Vec::len).unwrap_or_default();
    let mut columns = vec![Column::words("idle")];
    columns.extend(most.iter().map(|(name, _)| Column::words(name.as_str())));
    let mut table =
        Table::new("rampup-events", "In the spin, ms: median [95 %], 90th percentile", columns);
    for cell in found.cells.iter().filter(|_| !most.is_empty()) {
        let values = facts(cell);
        let of = |(wanted, _): &(String, Cell)| {
            let here = values.iter().find(|(name, _)| name == wanted);
            here.map_or_else(|| Cell::text("-"), |(_, value)| value.clone())
        };
        table.rows.push(std::iter::once(name(cell)).chain(most.iter().map(of)).collect());
    }
    table
}

/// Where it ran, and what disturbed it.
fn places(found: &Findings, name: impl Fn(&Figures) -> Cell) -> Table {
    let columns = vec![
        Column::words("idle"),
        Column::words("began on"),
        Column::number("moved"),
        Column::number("samples disturbed"),
        Column::number("stolen"),
    ];
    let seen = found.cells.iter().filter(|cell| !cell.first_cpu.is_empty());
    let rows = seen.map(|cell| {
        let mut first: Vec<(u32, usize)> = cell.first_cpu.clone().into_iter().collect();
        first.sort_by_key(|(cpu, count)| (std::cmp::Reverse(*count), *cpu));
        let first = first.iter().map(|(cpu, count)| format!("cpu{cpu} {count}"));
        vec![
            name(cell),
            Cell::text(first.collect::<Vec<_>>().join(", ")),
            Cell::keyed(format!("{} of {}", cell.moved, cell.repetitions), cell.moved as f64),
            Cell::number(Some(cell.disturbed), percent),
            Cell::number(Some(cell.steal_ms), |ms| format!("{} ms", number(ms))),
        ]
    });
    Table::new("rampup-places", "Where it ran, and what disturbed it", columns).rows(rows)
}

/// One table per condition and gap, one column per machine.
fn side_by_side(all: &[Findings]) -> Vec<Table> {
    let mut seen: Vec<(&str, u64, u32)> = Vec::new();
    let key = |cell: &'_ Figures| (cell.gap_ms.to_bits(), cell.sleeps);
    for cell in all.iter().flat_map(|found| &found.cells) {
        let (gap, sleeps) = key(cell);
        if !seen.contains(&(cell.condition.as_str(), gap, sleeps)) {
            seen.push((cell.condition.as_str(), gap, sleeps));
        }
    }
    let table = |(condition, gap, sleeps): (&str, u64, u32)| {
        let of = |found: &Findings| {
            let same = |cell: &&Figures| cell.condition == condition && key(cell) == (gap, sleeps);
            found.cells.iter().find(same).cloned()
        };
        let columns: Vec<(&Findings, Option<Figures>)> =
            all.iter().map(|found| (found, of(found))).collect();
        block(&columns)
    };
    let mut tables: Vec<Table> = seen.into_iter().map(table).collect();
    if let Some(last) = tables.last_mut() {
        last.notes.extend(unbounded(all));
    }
    tables
}

fn block(machines: &[(&Findings, Option<Figures>)]) -> Table {
    let cells = || machines.iter().filter_map(|(_, cell)| cell.as_ref());
    let title = cells().next().map_or_else(String::new, |cell| label(cell, true));
    let mut columns = vec![Column::words("ms: median [95 %], 90th percentile")];
    columns.extend(machines.iter().map(|(found, _)| Column::words(found.name.as_str())));
    let mut table = Table::new("rampup", title, columns);
    let mut row = |name: String, value: &dyn Fn(&Findings, &Figures) -> Option<Cell>| {
        let of = |(found, cell): &(&Findings, Option<Figures>)| {
            let found = cell.as_ref().and_then(|cell| value(found, cell));
            found.unwrap_or_else(|| Cell::text("-"))
        };
        table.rows.push(std::iter::once(Cell::text(name)).chain(machines.iter().map(of)).collect());
    };
    row("repetitions".into(), &|_, cell| Some(Cell::count(cell.repetitions as u64)));
    for (at, percent) in PERCENT.iter().enumerate() {
        row(format!("to {percent} % of the highest rate"), &|found, cell| {
            Some(timed(cell.times.get(at)?, first_look(found), found, cell.repetitions))
        });
    }
    for level in LEVELS {
        row(format!("to utilisation {level}"), &|found, cell| {
            let to = cell.utilization.iter().find(|time| time.level == level)?;
            Some(timed(to, MOMENT_MS, found, cell.repetitions))
        });
    }
    let mut kinds: Vec<&str> = Vec::new();
    for core in cells().flat_map(|cell| &cell.cores) {
        if !kinds.contains(&core.core_type.as_str()) {
            kinds.push(&core.core_type);
        }
    }
    for kind in kinds {
        row(format!("time on {kind}"), &|_, cell| {
            let core = cell.cores.iter().find(|core| core.core_type == kind)?;
            Some(Cell::text(length(&core.quantiles)))
        });
    }
    row("ramp".into(), &|_, cell| {
        Some(Cell::text(match cell.ramp {
            Ramp::Visible { lowest, .. } => format!("from {}", percent(lowest)),
            Ramp::NotVisible { at_least } => format!("none visible (>= {})", percent(at_least)),
            Ramp::TooFew => "too few".to_owned(),
        }))
    });
    table
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        value if value.abs() < 9.95 => format!("{} %", text::number(value, 1)),
        value if value >= 90.0 => format!("{} %", text::number(value, 1)),
        value => format!("{} %", text::number(value, 0)),
    }
}

/// Three digits or so.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 || v == v.round() => text::number(value, 0),
        v if v >= 9.995 => text::number(value, 1),
        v if v >= 0.0995 => text::number(value, 2),
        _ => text::number(value, 3),
    }
}
