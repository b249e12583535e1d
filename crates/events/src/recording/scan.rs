//! What needs a pass over whole tables: times, trials, names, the steps of a frequency.

use std::collections::{BTreeMap, BTreeSet};

use ahash::HashMap;

use flyball_run::column::Store;
use flyball_run::{Labels, Tables};

use super::events::of_trial;
use super::{Span, Steps};

/// Calls `$each!(table, time columns...)` for the tables whose times bound a recording.
macro_rules! timed_tables {
    ($tables:ident, $each:ident) => {
        $each!($tables.slices, from_ns, to_ns);
        $each!($tables.idle, from_ns, to_ns);
        $each!($tables.lost, from_ns, to_ns);
        $each!($tables.wakeups, woken_ns);
        $each!($tables.migrations, t_ns);
        $each!($tables.utilization, t_ns);
        $each!($tables.capacity, t_ns);
        $each!($tables.markers, t_ns);
        $each!($tables.governor, t_ns);
        $each!($tables.frequency, t_ns);
    };
}

/// From the first to the last time of any event.
pub(super) fn whole(tables: &Tables, trial: Option<u32>) -> Span {
    let mut span: Option<Span> = None;
    let mut see = |t: u64| match &mut span {
        Some(seen) => {
            seen.from_ns = seen.from_ns.min(t);
            seen.to_ns = seen.to_ns.max(t);
        }
        None => span = Some(Span { from_ns: t, to_ns: t }),
    };
    macro_rules! bound {
        ($table:expr, $($column:ident),+) => {
            $(
                (0..$table.len())
                    .filter(|&row| of_trial(&$table.trial, row, trial))
                    .filter_map(|row| Store::value(&$table.$column, row))
                    .for_each(&mut see);
            )+
        };
    }
    timed_tables!(tables, bound);
    span.unwrap_or_default()
}

/// The trials that any event belongs to.
pub(super) fn trials(tables: &Tables) -> Vec<u32> {
    let mut found = BTreeSet::new();
    macro_rules! collect {
        ($table:expr, $($column:ident),+) => {
            found.extend($table.trial.iter().flatten());
        };
    }
    timed_tables!(tables, collect);
    found.into_iter().collect()
}

/// The last name of every task that a table mentions.
pub(super) fn names(tables: &Tables, trial: Option<u32>) -> BTreeMap<u32, String> {
    let mut names = BTreeMap::<u32, &str>::new();
    macro_rules! own {
        ($($table:ident),+) => {$(
            let rows = &tables.$table;
            let mut codes = HashMap::<u32, u32>::default();
            for (row, (tid, code)) in rows.tid.iter().zip(rows.task.codes().iter()).enumerate() {
                if of_trial(&rows.trial, row, trial) {
                    codes.insert(tid, code);
                }
            }
            let named = codes.into_iter().filter_map(|(tid, code)| Some((tid, rows.task.name(code)?)));
            names.extend(named);
        )+};
    }
    // The later table wins: slices name a task as it was when it ran.
    own!(items, migrations, wakeups);
    let rows = &tables.utilization;
    let mut codes = HashMap::<u32, u32>::default();
    for row in (0..rows.len()).filter(|&row| of_trial(&rows.trial, row, trial)) {
        if let (Some(tid), Some(code)) = (rows.tid.get(row), rows.task.code(row)) {
            codes.insert(tid, code);
        }
    }
    let name = |code: u32| rows.task.names().get(code as usize).map(|name| &**name);
    names.extend(codes.into_iter().filter_map(|(tid, code)| Some((tid, name(code)?))));
    own!(slices);
    names.into_iter().map(|(tid, name)| (tid, name.to_owned())).collect()
}

/// Whether rows of this source are changes, which hold until the next.
fn is_change(source: &str) -> bool {
    matches!(source, "model" | "cpu_frequency")
}

/// The frequency of a domain: its changes where they were recorded, else its samples; delivered
/// before claimed.
pub(super) fn frequency(tables: &Tables, trial: Option<u32>, domain: &str) -> Steps<u64> {
    let rows = &tables.frequency;
    let Some(code) = rows.domain.code_of(domain) else { return Steps::default() };
    let mine = |row: &usize| {
        rows.domain.codes().get(*row) == Some(code) && of_trial(&rows.trial, *row, trial)
    };
    let source = |row: usize| rows.source.get(row).is_some_and(is_change);
    let any_change = has_change(&rows.source) && (0..rows.len()).filter(mine).any(source);
    let khz = |row: usize| {
        let khz = rows.delivered_khz.get(row).or_else(|| rows.claimed_khz.get(row))?;
        Some((*rows.t_ns.get(row)?, khz))
    };
    let counted = (0..rows.len()).filter(mine).filter(|&row| !any_change || source(row));
    Steps::from_points(counted.filter_map(khz))
}

fn has_change(sources: &Labels) -> bool {
    sources.names().iter().any(|name| is_change(name))
}

/// The domains with frequency rows, in order of appearance.
pub(super) fn domains(tables: &Tables, trial: Option<u32>) -> Vec<String> {
    let rows = &tables.frequency;
    let mut seen = BTreeSet::new();
    let mut domains = Vec::new();
    for (row, code) in rows.domain.codes().iter().enumerate() {
        if of_trial(&rows.trial, row, trial) && seen.insert(code) {
            domains.extend(rows.domain.value(row));
        }
    }
    domains
}
