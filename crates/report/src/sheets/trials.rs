//! Tables of what was recorded, one or more rows per trial.

use super::Detail;
use crate::model::{CauseCount, DomainEvents, EventRun, EventTrial, LevelShare};
use crate::table::{Cell, Column, Table};
use crate::text;

/// Tasks of a trial in the short form; scenarios with background load have dozens.
const TASKS: usize = 8;
/// Frequencies of a domain in the short form.
const LEVELS: usize = 5;
/// Causes of a domain in the short form.
const CAUSES: usize = 3;

pub(super) fn trials<'a>(runs: &'a [&EventRun]) -> impl Iterator<Item = &'a EventTrial> {
    runs.iter().flat_map(|run| &run.trials)
}

/// A latency: microseconds below ten milliseconds, else milliseconds.
pub(super) fn latency(us: f64) -> String {
    if us < 10_000.0 {
        format!("{} us", text::micros(us))
    } else {
        format!("{} ms", text::micros(us / 1e3))
    }
}

/// Latencies of work items, per trial and task.
pub(super) fn items(runs: &[&EventRun], detail: Detail) -> Table {
    let mut table = Table::new(
        "items",
        "Work items, release to done, as recorded",
        vec![
            Column::words("trial"),
            Column::words("task"),
            Column::number("done"),
            Column::number("open"),
            Column::number("median"),
            Column::number("p99"),
            Column::number("max"),
            Column::number("missed"),
        ],
    );
    for trial in trials(runs) {
        let most = if detail != Detail::Short { usize::MAX } else { TASKS };
        for item in trial.items.iter().take(most) {
            let missed =
                (item.with_deadline > 0).then(|| item.missed as f64 / item.with_deadline as f64);
            table.rows.push(vec![
                Cell::text(trial.name.as_str()),
                Cell::text(item.task.as_str()),
                Cell::count(item.done),
                Cell::count(item.unfinished),
                Cell::number(item.median_us, latency),
                Cell::number(item.p99_us, latency),
                Cell::number(item.max_us, latency),
                Cell::number(missed, text::share),
            ]);
        }
        if trial.items.len() > most {
            let more = format!("... {} more", trial.items.len() - most);
            table.remark(vec![Cell::text(trial.name.as_str()), Cell::text(more)]);
        }
    }
    table
}

fn domains_of<'a>(
    runs: &'a [&EventRun],
) -> impl Iterator<Item = (&'a EventTrial, &'a DomainEvents)> {
    trials(runs).flat_map(|trial| trial.domains.iter().map(move |domain| (trial, domain)))
}

pub(super) fn start(trial: &EventTrial, domain: &DomainEvents) -> Vec<Cell> {
    vec![Cell::text(trial.name.as_str()), Cell::text(domain.domain.as_str())]
}

/// Frequency, changes and energy per clock domain.
pub(super) fn domains(runs: &[&EventRun]) -> Table {
    let row = |(trial, domain): (&EventTrial, &DomainEvents)| {
        let subject = format!("domain {}", domain.domain);
        let energy = trial.energy.iter().find(|sum| sum.subject == subject);
        let mut row = start(trial, domain);
        row.extend([
            Cell::number(domain.mean_mhz.map(|mhz| mhz / 1e3), |ghz| text::number(ghz, 3)),
            Cell::number(energy.map(|sum| sum.energy_mj), text::micros),
            Cell::number(energy.and_then(|sum| sum.power_mw), text::micros),
            Cell::number(domain.transitions_per_s, |rate| text::number(rate, 1)),
            Cell::count(domain.up),
            Cell::count(domain.down),
            Cell::number(domain.delay_median_us, text::micros),
        ]);
        row
    };
    Table::new(
        "domains",
        "Clock domains, as recorded",
        vec![
            Column::words("trial"),
            Column::words("domain"),
            Column::number("mean GHz"),
            Column::number("energy mJ"),
            Column::number("power mW"),
            Column::number("changes/s"),
            Column::number("up"),
            Column::number("down"),
            Column::number("delay us"),
        ],
    )
    .rows(domains_of(runs).map(row))
}

/// Share of time per frequency: the largest in one line, or one line each.
pub(super) fn residency(runs: &[&EventRun], detail: Detail) -> Table {
    let title = "Residency per frequency".to_owned();
    let ghz = |level: &LevelShare| text::number(level.mhz / 1e3, 3);
    if detail != Detail::Short {
        let each = |(trial, domain)| {
            let domain: &DomainEvents = domain;
            domain.residency.iter().map(move |level| {
                let mut row = start(trial, domain);
                row.push(Cell::number(Some(level.mhz), |_| ghz(level)));
                row.push(Cell::number(Some(level.share), text::share));
                row
            })
        };
        let columns = vec![
            Column::words("trial"),
            Column::words("domain"),
            Column::number("GHz"),
            Column::number("of the time"),
        ];
        return Table::new("residency", title, columns).rows(domains_of(runs).flat_map(each));
    }
    let row = |(trial, domain): (&EventTrial, &DomainEvents)| {
        let mut levels: Vec<&LevelShare> = domain.residency.iter().collect();
        levels.sort_by(|a, b| b.share.total_cmp(&a.share));
        let rest: f64 = levels.iter().skip(LEVELS).map(|level| level.share).sum();
        let others = levels.len().saturating_sub(LEVELS);
        levels.truncate(LEVELS);
        levels.sort_by(|a, b| a.mhz.total_cmp(&b.mhz));
        let shown =
            levels.iter().map(|level| format!("{} {}", ghz(level), text::share(level.share)));
        let mut shown: Vec<String> = shown.collect();
        if others > 0 {
            shown.push(format!("{others} others {}", text::share(rest)));
        }
        let mut row = start(trial, domain);
        row.push(Cell::text(shown.join(", ")));
        row
    };
    let columns = vec![
        Column::words("trial"),
        Column::words("domain"),
        Column::words("GHz and share of the time"),
    ];
    Table::new("residency", title, columns).rows(domains_of(runs).map(row))
}

fn cause(cause: &CauseCount) -> String {
    match &cause.why {
        Some(why) => format!("{} ({why})", cause.event),
        None => cause.event.clone(),
    }
}

/// What led to changes of frequency.
pub(super) fn causes(runs: &[&EventRun], detail: Detail) -> Table {
    let title = "Causes of frequency changes: event (rule)".to_owned();
    let changed = domains_of(runs).filter(|(_, domain)| domain.transitions > 0);
    if detail != Detail::Short {
        let each = |(trial, domain)| {
            let domain: &DomainEvents = domain;
            let known = domain.causes.iter().map(|c| (cause(c), c.count));
            let unknown = (domain.unexplained > 0)
                .then(|| ("nothing that fits".to_owned(), domain.unexplained));
            known.chain(unknown).map(move |(name, count)| {
                let share = count as f64 / domain.transitions.max(1) as f64;
                let mut row = start(trial, domain);
                row.extend([
                    Cell::text(name),
                    Cell::count(count),
                    Cell::number(Some(share), text::share),
                ]);
                row
            })
        };
        let columns = vec![
            Column::words("trial"),
            Column::words("domain"),
            Column::words("event (rule)"),
            Column::number("changes"),
            Column::number("share"),
        ];
        return Table::new("causes", title, columns).rows(changed.flat_map(each));
    }
    let row = |(trial, domain): (&EventTrial, &DomainEvents)| {
        let share = |count| text::share_of(count, domain.transitions);
        let most = domain.causes.iter().take(CAUSES);
        let mut shown: Vec<String> =
            most.map(|c| format!("{} {}", cause(c), share(c.count))).collect();
        let others: u64 = domain.causes.iter().skip(CAUSES).map(|c| c.count).sum();
        let rest = [("others", others), ("nothing that fits", domain.unexplained)];
        let rest = rest.into_iter().filter(|(_, count)| *count > 0);
        shown.extend(rest.map(|(name, count)| format!("{name} {}", share(count))));
        let mut row = start(trial, domain);
        row.extend([Cell::count(domain.transitions), Cell::text(shown.join(", "))]);
        row
    };
    let columns = vec![
        Column::words("trial"),
        Column::words("domain"),
        Column::number("changes"),
        Column::words("event (rule) and share"),
    ];
    Table::new("causes", title, columns).rows(changed.map(row))
}

/// Energy of everything that is no clock domain, and the sum.
pub(super) fn energy(runs: &[&EventRun]) -> Table {
    let mut rows = Vec::new();
    for trial in trials(runs).filter(|trial| !trial.energy.is_empty()) {
        let own = trial.energy.iter().filter(|sum| !sum.subject.starts_with("domain "));
        for sum in own.chain(&trial.total_energy) {
            rows.push(vec![
                Cell::text(trial.name.as_str()),
                Cell::text(sum.subject.as_str()),
                Cell::number(Some(sum.energy_mj), text::micros),
                Cell::number(sum.power_mw, text::micros),
            ]);
        }
    }
    let columns = vec![
        Column::words("trial"),
        Column::words("what"),
        Column::number("energy mJ"),
        Column::number("power mW"),
    ];
    Table::new("energy", "Energy beside the clock domains", columns).rows(rows)
}
