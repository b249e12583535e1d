//! What the responses were made of, where events lie beside the windows.

use std::collections::BTreeMap;

use flyball_events::blame::{Basis, Blame, Part, Who, WindowBlame};
use flyball_stats::{self as stats, Statistic};

use super::rows::{self, CellRows};
use super::source::Context;
use crate::model::{BlameCell, BlameCulprit, BlamePart, BlameRun, BlameWindow, Estimate};
use crate::text;

/// Slowest windows of a cell that are listed one by one.
const LISTED: usize = 3;
/// Culprits of a cell that are named.
const CULPRITS: usize = 5;
/// A share of one has no complement with a logarithm, which the resampling works on.
const LEAST: f64 = 1e-9;

/// What a run's events tell of its windows: none where it has no such events, a warning where they
/// cannot be brought together.
pub(super) fn summarise(context: &Context<'_>) -> Option<Result<BlameRun, String>> {
    let blame = match context.blame()? {
        Ok(blame) => blame,
        Err(error) => return Some(Err(error.clone())),
    };
    let of_row: BTreeMap<usize, &WindowBlame> =
        blame.windows.iter().map(|window| (window.row, window)).collect();
    let cells: Vec<BlameCell> = rows::group(context.run)
        .iter()
        .filter_map(|rows| cell(context, blame, rows, &of_row))
        .collect();
    Some(Ok(BlameRun {
        run: context.name.clone(),
        windows: cells.iter().map(|cell| cell.n).sum(),
        uncovered: blame.uncovered,
        uncertainty_us: blame.clocks.uncertainty_ns as f64 / 1e3,
        missing: missing(context, blame),
        cells,
    }))
}

/// One cell; none where no window of it is covered.
fn cell(
    context: &Context<'_>,
    blame: &Blame,
    rows: &CellRows,
    of_row: &BTreeMap<usize, &WindowBlame>,
) -> Option<BlameCell> {
    let repeats: Vec<Vec<&WindowBlame>> = rows
        .repeats
        .iter()
        .map(|repeat| repeat.rows().filter_map(|row| of_row.get(&row).copied()).collect())
        .filter(|windows: &Vec<&WindowBlame>| !windows.is_empty())
        .collect();
    let mut ranked: Vec<&WindowBlame> = repeats.iter().flatten().copied().collect();
    if ranked.is_empty() {
        return None;
    }
    // Of equal ones the earlier first, so that the order is the same everywhere.
    ranked.sort_by_key(|window| (std::cmp::Reverse(window.response_ns), window.row));
    let (slow, rest) = ranked.split_at(slow_count(ranked.len()));
    let mean_of = |windows: &[&WindowBlame], ns: &dyn Fn(&WindowBlame) -> u64| {
        mean(windows.iter().map(|window| ns(window) as f64 / 1e3))
    };
    let response = |window: &WindowBlame| window.response_ns;
    Some(BlameCell {
        workload: rows.workload.clone(),
        condition: rows.condition.clone(),
        n: ranked.len() as u64,
        response_us: mean_of(&ranked, &response),
        running_us: mean_of(&ranked, &|window| window.running_ns),
        slow_n: slow.len() as u64,
        slow_response_us: mean_of(slow, &response),
        rest_response_us: mean_of(if rest.is_empty() { slow } else { rest }, &response),
        basis: basis(&ranked),
        mhz: mhz(&ranked),
        parts: Part::ALL.iter().map(|part| part_of(context, *part, &repeats, slow, rest)).collect(),
        culprits: culprits(blame, slow),
        slowest: slow.iter().take(LISTED).map(|window| listed(context, blame, window)).collect(),
    })
}

/// 1 %, at least 5 where there are 50.
fn slow_count(n: usize) -> usize {
    n.div_ceil(100).max(5.min(n / 10)).clamp(1, n.max(1))
}

fn part_of(
    context: &Context<'_>,
    part: Part,
    repeats: &[Vec<&WindowBlame>],
    slow: &[&WindowBlame],
    rest: &[&WindowBlame],
) -> BlamePart {
    let name = part.name().to_owned();
    let all = || repeats.iter().flatten();
    if !all().any(|window| window.parts.get(part).is_some()) {
        return BlamePart {
            part: name,
            mean_us: None,
            share: None,
            slow_us: None,
            excess_us: None,
        };
    }
    // A window in which it cannot be known has its time elsewhere: here it counts as none.
    let us = |window: &&WindowBlame| window.parts.get(part).unwrap_or_default() as f64 / 1e3;
    let slow_us = mean(slow.iter().map(us));
    let rest_us = mean(rest.iter().map(us));
    BlamePart {
        part: name,
        mean_us: Some(mean(all().map(us))),
        share: share(context, part, repeats),
        slow_us: Some(slow_us),
        excess_us: (!rest.is_empty()).then_some(slow_us - rest_us),
    }
}

/// Mean share of the responses, with its interval over repeats.
fn share(context: &Context<'_>, part: Part, repeats: &[Vec<&WindowBlame>]) -> Option<Estimate> {
    let of = |window: &WindowBlame| {
        let ns = window.parts.get(part).unwrap_or_default();
        ns as f64 / window.response_ns.max(1) as f64
    };
    // The resampling works on logarithms, and a share may be zero: its complement is not, or by a
    // billionth.
    let complements = repeats
        .iter()
        .map(|windows| windows.iter().map(|window| 1.0 - of(window) + LEAST).collect())
        .collect();
    let cell = stats::Cell::new(complements).ok()?;
    let prepared = stats::Prepared::new(&cell);
    let found = stats::estimate(&prepared, Statistic::Mean, &context.options.bootstrap()).ok()?;
    let turn = |complement: f64| (1.0 - complement).clamp(0.0, 1.0);
    let Estimate { value, low, high } = found.estimate;
    Some(Estimate { value: turn(value - LEAST), low: high.map(turn), high: low.map(turn) })
}

fn basis(windows: &[&WindowBlame]) -> Vec<(String, u64)> {
    let mut counts = BTreeMap::<Basis, u64>::new();
    for basis in windows.iter().filter_map(|window| window.basis) {
        *counts.entry(basis).or_default() += 1;
    }
    let name = |basis: Basis| match basis {
        Basis::Changes => "changes",
        Basis::Cycles => "cycles",
        Basis::Claimed => "claimed",
        Basis::Probe => "probe",
    };
    counts.into_iter().map(|(basis, n)| (name(basis).to_owned(), n)).collect()
}

/// Mean over the running time of which the frequency is known.
fn mhz(windows: &[&WindowBlame]) -> Option<f64> {
    let known = || windows.iter().filter_map(|w| Some((w.khz? as f64, w.running_ns as f64)));
    let time: f64 = known().map(|(_, ns)| ns).sum();
    (time > 0.0).then(|| known().map(|(khz, ns)| khz * ns).sum::<f64>() / time / 1e3)
}

fn culprits(blame: &Blame, slow: &[&WindowBlame]) -> Vec<BlameCulprit> {
    let mut sums = BTreeMap::<(Part, String), (u64, u64)>::new();
    for window in slow {
        let mut of_window = BTreeMap::<(Part, String), u64>::new();
        for (part, who, ns) in window.culprits.iter().filter(|found| found.2 > 0) {
            *of_window.entry((part, called(blame, part, who))).or_default() += ns;
        }
        for (key, ns) in of_window {
            let sum = sums.entry(key).or_default();
            (sum.0, sum.1) = (sum.0 + ns, sum.1 + 1);
        }
    }
    let mut found: Vec<_> = sums.into_iter().collect();
    found.sort_by_key(|(_, (ns, _))| std::cmp::Reverse(*ns));
    found.truncate(CULPRITS);
    let culprit = |((part, who), (ns, windows)): ((Part, String), (u64, u64))| BlameCulprit {
        part: part.name().to_owned(),
        who,
        us: ns as f64 / 1e3 / slow.len().max(1) as f64,
        windows,
    };
    found.into_iter().map(culprit).collect()
}

/// A name; workers of one kind that differ by a number alone stay apart, for they are.
pub(super) fn called(blame: &Blame, part: Part, who: Who) -> String {
    match (part, blame.name_of(who)) {
        (Part::IdleExit, name) if !name.starts_with("idle state") => format!("idle state {name}"),
        (_, name) => name,
    }
}

fn listed(context: &Context<'_>, blame: &Blame, window: &WindowBlame) -> BlameWindow {
    let rows = &context.run.tables.windows;
    let us = |ns: u64| ns as f64 / 1e3;
    let most = window.parts.largest_loss().map(|(part, ns)| {
        let who = window.culprits.most_of(part).map(|(who, _)| called(blame, part, who));
        let by = who.map(|who| format!(" ({who})")).unwrap_or_default();
        let most = if part == Part::Frequency { "at most " } else { "" };
        format!("{} {most}{} us{by}", part.title(), text::micros(us(ns)))
    });
    BlameWindow {
        seq: rows.seq.get(window.row).copied().unwrap_or(window.row as u64),
        repeat: rows.repeat.get(window.row).copied().unwrap_or_default(),
        response_us: us(window.response_ns),
        parts: window.parts.iter().map(|(part, ns)| (part.name().to_owned(), us(ns))).collect(),
        mhz: window.khz.map(|khz| khz as f64 / 1e3),
        most,
    }
}

/// What was not recorded, and where its time is.
fn missing(context: &Context<'_>, blame: &Blame) -> Vec<String> {
    let recorded = blame.recorded;
    let split = blame.windows.iter().filter(|window| window.basis.is_some()).count();
    let mut missing = Vec::new();
    let mut say = |lacks: bool, what: &str| {
        if lacks {
            missing.push(what.to_owned());
        }
    };
    say(!recorded.wakeups, "wake-ups: waiting begins with the task's own switches");
    say(!recorded.idle, "idle states: idle exits are in unexplained");
    say(!recorded.interrupts, "interrupts: they are in what they interrupted");
    let virtualised = context.run.manifest.machine.as_ref().and_then(|m| m.virtualisation.clone());
    let guest = virtualised.is_some_and(|kind| kind != "none");
    say(!recorded.steal && guest, "steal: it is in running time and idle exits");
    if split < blame.windows.len() {
        say(
            true,
            &format!(
                "frequency in {} windows: their running time is in unexplained",
                blame.windows.len() - split
            ),
        );
    }
    if blame.uncovered > 0 {
        let windows = text::count(blame.uncovered, "window");
        say(true, &format!("events of {windows}: in no figure here"));
    }
    missing
}

/// Zero of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0_u64), |(sum, n), value| (sum + value, n + 1));
    if n == 0 { 0.0 } else { sum / n as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_are_one_percent_and_some() {
        let counts = [1, 9, 10, 49, 50, 100, 1_000].map(slow_count);
        assert_eq!(counts, [1, 1, 1, 4, 5, 5, 10]);
    }
}
