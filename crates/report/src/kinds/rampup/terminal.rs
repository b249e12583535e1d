//! The findings as text: one machine, or several side by side.

use crate::kinds::rampup::analysis::{
    Cell, Findings, LEVELS, PERCENT, Quantiles, Ramp, Stretch, Time,
};
use crate::text;
use flyball_units::KiloHertz;
use std::fmt::Write;

/// The findings of one run, or of several beside each other, `width` columns wide.
pub fn render(all: &[Findings], width: usize) -> String {
    match all {
        [one] => alone(one, width),
        several => side_by_side(several, width),
    }
}

/// Rows of cells; every column as wide as its widest, the last one wrapped.
fn table(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| text::width(cell)).max().unwrap_or(0) + 2
    };
    let widths: Vec<usize> = (0..columns.saturating_sub(1)).map(widest).collect();
    let before: usize = widths.iter().sum();
    let room = width.saturating_sub(before).max(24);
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let fill = width.saturating_sub(text::width(cell));
            let _ = write!(line, "{cell}{:fill$}", "");
        }
        let last = row.get(columns.saturating_sub(1)).map(String::as_str).unwrap_or_default();
        for (number, part) in text::wrap(last, room).iter().enumerate() {
            if number > 0 {
                let _ = writeln!(out, "{}", line.trim_end());
                line = " ".repeat(before);
            }
            line.push_str(part);
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// What was measured on what.
fn title(found: &Findings) -> String {
    let mut line = text::plain(&found.name);
    if let Some(machine) = &found.machine {
        let _ = write!(line, "  {}", text::plain(machine));
    }
    if let Some(name) = &found.virtualisation {
        let _ = write!(line, ", virtual ({})", text::plain(name));
    }
    let highest = match found.highest_khz {
        Some(khz) => format!("{}", KiloHertz(khz)),
        None => "not known as a frequency".to_owned(),
    };
    let _ =
        write!(line, "\nhighest settled rate: {highest}; spins of {} ms", number(found.spin_ms));
    if found.sample_us > 0.0 {
        let _ = write!(
            line,
            "; a sample of the probe takes {} us and resolves {:.1} %",
            number(found.sample_us),
            100.0 * found.resolution
        );
    }
    line + "\n"
}

fn alone(found: &Findings, width: usize) -> String {
    let mut out = title(found);
    let several = found.cells.iter().any(|cell| cell.condition != found.cells[0].condition);
    let label = |cell: &Cell| label(cell, several);
    let _ = writeln!(
        out,
        "\nTime from the wake-up to a share of the highest rate, ms: median [95 %], 90th percentile\n"
    );
    let mut rows = vec![vec!["idle".to_owned()]];
    rows[0].extend(PERCENT.map(|percent| format!("{percent} %")));
    rows[0].push("ramp".to_owned());
    for cell in &found.cells {
        let mut row = vec![label(cell)];
        let times = cell.times.iter();
        row.extend(times.map(|to| time(to, first_look(found), found, cell.repetitions)));
        row.push(ramp(cell));
        rows.push(row);
    }
    out += &table(&rows, width);
    out += &legend(found);
    out += "\nRate since the wake-up, % of each repetition's settled rate: median\n\n";
    out += &curves(found, &label, width);
    out += &from_events(found, &label, width);
    out += &places(found, &label, width);
    for remark in &found.remarks {
        let _ = writeln!(out, "note: {}", text::plain(remark));
    }
    out
}

fn label(cell: &Cell, with_condition: bool) -> String {
    let times = if cell.sleeps == 1 { String::new() } else { format!("{} x ", cell.sleeps) };
    let gap = if cell.gap_ms >= 1e3 {
        format!("{} s", number(cell.gap_ms / 1e3))
    } else {
        format!("{} ms", number(cell.gap_ms))
    };
    let condition =
        if with_condition { format!("{}, ", text::plain(&cell.condition)) } else { String::new() };
    format!("{condition}{times}{gap}")
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
        value if value.is_infinite() => "never".to_owned(),
        value => number(value),
    };
    let p90 = time.quantiles.p90.map_or("never".to_owned(), |p90| at(p90.estimate.value));
    shown(median.ends().map(at), &p90)
}

/// The same of a length, which may be none.
fn length(quantiles: &Quantiles) -> String {
    let at = |value: f64| if value < MOMENT_MS { "0".to_owned() } else { number(value) };
    let Some(median) = quantiles.median else { return "-".to_owned() };
    let p90 = quantiles.p90.map_or("-".to_owned(), |p90| at(p90.estimate.value));
    shown(median.ends().map(at), &p90)
}

fn shown([low, value, high]: [String; 3], p90: &str) -> String {
    match low == high {
        true if value == p90 => value,
        true => format!("{value}, {p90}"),
        false => format!("{value} [{low}, {high}], {p90}"),
    }
}

/// The verdict in words.
fn ramp(cell: &Cell) -> String {
    match cell.ramp {
        Ramp::Visible { lowest, until_ms } => {
            format!("from {}, over by {} ms", percent(lowest), number(until_ms))
        }
        Ramp::NotVisible { at_least } => format!("no ramp visible: at least {}", percent(at_least)),
        Ramp::TooFew => "too few repetitions to say".to_owned(),
    }
}

/// What the verdicts mean.
fn legend(found: &Findings) -> String {
    let none = |cell: &Cell| matches!(cell.ramp, Ramp::NotVisible { .. });
    let from = match found.sample_us {
        us if us > 0.0 => format!("the first {} us", number(us)),
        _ => "the start".to_owned(),
    };
    match found.cells.iter().any(none) {
        true => format!(
            "no ramp visible: a lower share of the settled rate in any stretch from {from} on would \
             have been seen (95 %)\n"
        ),
        false => String::new(),
    }
}

/// The rate in stretches of time, one row per cell; with events, what they say.
fn curves(found: &Findings, label: &dyn Fn(&Cell) -> String, width: usize) -> String {
    let Some(longest) = found.cells.iter().max_by_key(|cell| cell.curve.len()) else {
        return String::new();
    };
    let short = |us: f64| match us {
        us if us >= 1e3 => format!("{} ms", number(us / 1e3)),
        us => format!("{} us", number(us)),
    };
    let mut rows = vec![vec!["idle".to_owned()]];
    rows[0].extend(longest.curve.iter().map(|stretch| format!("to {}", short(stretch.to_us))));
    for cell in &found.cells {
        let mut row = vec![label(cell)];
        let share = |wanted: &Stretch| {
            let here = cell.curve.iter().find(|stretch| stretch.from_us == wanted.from_us);
            here.map_or("-".to_owned(), |stretch| {
                text::number(100.0 * stretch.share.estimate.value, 1)
            })
        };
        row.extend(longest.curve.iter().map(share));
        rows.push(row);
    }
    table(&rows, width)
}

/// Utilisation and kinds of core, where they were recorded.
fn from_events(found: &Findings, label: &dyn Fn(&Cell) -> String, width: usize) -> String {
    let facts = |cell: &Cell| -> Vec<(String, String)> {
        let levels = cell.utilization.iter().map(|level| {
            let name = format!("to utilisation {}", level.level);
            (name, time(level, MOMENT_MS, found, cell.repetitions))
        });
        let cores = cell
            .cores
            .iter()
            .map(|core| (format!("on {}", text::plain(&core.core_type)), length(&core.quantiles)));
        levels.chain(cores).collect()
    };
    let Some(most) = found.cells.iter().map(facts).max_by_key(Vec::len) else {
        return String::new();
    };
    if most.is_empty() {
        return String::new();
    }
    let heads = std::iter::once("idle".to_owned()).chain(most.into_iter().map(|(name, _)| name));
    let mut rows: Vec<Vec<String>> = vec![heads.collect()];
    for cell in &found.cells {
        let mut row = vec![label(cell)];
        row.extend(facts(cell).into_iter().map(|(_, value)| value));
        rows.push(row);
    }
    format!("\nIn the spin, ms: median [95 %], 90th percentile\n\n{}", table(&rows, width))
}

/// Where it ran, and what disturbed it.
fn places(found: &Findings, label: &dyn Fn(&Cell) -> String, width: usize) -> String {
    let heads = ["idle", "began on", "moved", "samples disturbed", "stolen"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for cell in found.cells.iter().filter(|cell| !cell.first_cpu.is_empty()) {
        let mut first: Vec<(u32, usize)> = cell.first_cpu.clone().into_iter().collect();
        first.sort_by_key(|(cpu, count)| (std::cmp::Reverse(*count), *cpu));
        let first = first.iter().map(|(cpu, count)| format!("cpu{cpu} {count}"));
        rows.push(vec![
            label(cell),
            first.collect::<Vec<_>>().join(", "),
            format!("{} of {}", cell.moved, cell.repetitions),
            percent(cell.disturbed),
            format!("{} ms", number(cell.steal_ms)),
        ]);
    }
    if rows.len() == 1 { String::new() } else { format!("\n{}", table(&rows, width)) }
}

/// One block per condition and gap, one column per machine.
fn side_by_side(all: &[Findings], width: usize) -> String {
    let mut out = String::new();
    for found in all {
        out += &title(found);
        for remark in &found.remarks {
            let _ = writeln!(out, "note: {}", text::plain(remark));
        }
    }
    out += "\nTimes in ms: median [95 %], 90th percentile\n";
    let mut seen: Vec<(&str, u64, u32)> = Vec::new();
    let cells = || all.iter().flat_map(|found| &found.cells);
    for cell in cells() {
        let key = (cell.condition.as_str(), cell.gap_ms.to_bits(), cell.sleeps);
        if !seen.contains(&key) {
            seen.push(key);
        }
    }
    for key in seen {
        let of = |found: &'_ Findings| {
            found.cells.iter().position(|cell| {
                (cell.condition.as_str(), cell.gap_ms.to_bits(), cell.sleeps) == key
            })
        };
        let columns: Vec<(&Findings, Option<&Cell>)> =
            all.iter().map(|it| (it, of(it).and_then(|at| it.cells.get(at)))).collect();
        if let Some(cell) = columns.iter().find_map(|(_, cell)| *cell) {
            let _ = writeln!(out, "\n{}", label(cell, true));
        }
        out += &block(&columns, width);
    }
    out
}

fn block(columns: &[(&Findings, Option<&Cell>)], width: usize) -> String {
    let row = |name: String, value: &dyn Fn(&Findings, &Cell) -> Option<String>| {
        let of = |(found, cell): &(&Findings, Option<&Cell>)| {
            cell.and_then(|cell| value(found, cell)).unwrap_or_else(|| "-".to_owned())
        };
        std::iter::once(name).chain(columns.iter().map(of)).collect::<Vec<String>>()
    };
    let mut rows = vec![row(String::new(), &|found, _| Some(text::plain(&found.name)))];
    rows.push(row("repetitions".into(), &|_, cell| Some(cell.repetitions.to_string())));
    for (at, percent) in PERCENT.iter().enumerate() {
        rows.push(row(format!("to {percent} % of the highest rate"), &|found, cell| {
            Some(time(cell.times.get(at)?, first_look(found), found, cell.repetitions))
        }));
    }
    for level in LEVELS {
        rows.push(row(format!("to utilisation {level}"), &|found, cell| {
            let to = cell.utilization.iter().find(|time| time.level == level)?;
            Some(time(to, MOMENT_MS, found, cell.repetitions))
        }));
    }
    let mut kinds: Vec<&str> = Vec::new();
    for core in columns.iter().filter_map(|(_, cell)| *cell).flat_map(|cell| &cell.cores) {
        if !kinds.contains(&core.core_type.as_str()) {
            kinds.push(&core.core_type);
        }
    }
    for kind in kinds {
        rows.push(row(format!("time on {}", text::plain(kind)), &|_, cell| {
            let core = cell.cores.iter().find(|core| core.core_type == kind)?;
            Some(length(&core.quantiles))
        }));
    }
    rows.push(row("ramp".into(), &|_, cell| {
        Some(match cell.ramp {
            Ramp::Visible { lowest, .. } => format!("from {}", percent(lowest)),
            Ramp::NotVisible { at_least } => format!("none visible (>= {})", percent(at_least)),
            Ramp::TooFew => "too few".to_owned(),
        })
    }));
    table(&rows, width)
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        value if value.abs() < 9.95 => format!("{} %", text::number(value, 1)),
        value if value >= 90.0 => format!("{} %", text::number(value, 1)),
        value => format!("{} %", text::number(value, 0)),
    }
}

/// Three digits or so.
fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 || v == v.round() => text::number(value, 0),
        v if v >= 9.995 => text::number(value, 1),
        v if v >= 0.0995 => text::number(value, 2),
        _ => text::number(value, 3),
    }
}
