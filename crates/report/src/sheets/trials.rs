//! Tables of what was recorded, one or more rows per trial.

use super::{Cell, Detail, Sheet};
use crate::model::{CauseCount, DomainEvents, EventRun, EventTrial, LevelShare};
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

pub(super) fn columns(names: &[(&str, bool)]) -> Vec<(String, bool)> {
    names.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect()
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
pub(super) fn items(runs: &[&EventRun], detail: Detail) -> Sheet {
    let mut sheet = Sheet {
        id: "items",
        title: "Work items, release to done, as recorded".to_owned(),
        columns: columns(&[
            ("trial", false),
            ("task", false),
            ("done", true),
            ("open", true),
            ("median", true),
            ("p99", true),
            ("max", true),
            ("missed", true),
        ]),
        rows: Vec::new(),
    };
    for trial in trials(runs) {
        let most = if detail != Detail::Short { usize::MAX } else { TASKS };
        for item in trial.items.iter().take(most) {
            let missed =
                (item.with_deadline > 0).then(|| item.missed as f64 / item.with_deadline as f64);
            sheet.rows.push(vec![
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
            let more = format!("... {} more: --verbose", trial.items.len() - most);
            let mut row = vec![Cell::text(trial.name.as_str()), Cell::text(more)];
            row.resize(sheet.columns.len(), Cell::default());
            sheet.rows.push(row);
        }
    }
    sheet
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
pub(super) fn domains(runs: &[&EventRun]) -> Sheet {
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
    Sheet {
        id: "domains",
        title: "Clock domains, as recorded".to_owned(),
        columns: columns(&[
            ("trial", false),
            ("domain", false),
            ("mean GHz", true),
            ("energy mJ", true),
            ("power mW", true),
            ("changes/s", true),
            ("up", true),
            ("down", true),
            ("delay us", true),
        ]),
        rows: domains_of(runs).map(row).collect(),
    }
}

/// Share of time per frequency: the largest in one line, or one line each.
pub(super) fn residency(runs: &[&EventRun], detail: Detail) -> Sheet {
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
        let columns =
            columns(&[("trial", false), ("domain", false), ("GHz", true), ("of the time", true)]);
        let rows = domains_of(runs).flat_map(each).collect();
        return Sheet { id: "residency", title, columns, rows };
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
    let columns =
        columns(&[("trial", false), ("domain", false), ("GHz and share of the time", false)]);
    Sheet { id: "residency", title, columns, rows: domains_of(runs).map(row).collect() }
}

fn cause(cause: &CauseCount) -> String {
    match &cause.why {
        Some(why) => format!("{} ({why})", cause.event),
        None => cause.event.clone(),
    }
}

/// What led to changes of frequency.
pub(super) fn causes(runs: &[&EventRun], detail: Detail) -> Sheet {
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
        let columns = columns(&[
            ("trial", false),
            ("domain", false),
            ("event (rule)", false),
            ("changes", true),
            ("share", true),
        ]);
        return Sheet { id: "causes", title, columns, rows: changed.flat_map(each).collect() };
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
    let columns = columns(&[
        ("trial", false),
        ("domain", false),
        ("changes", true),
        ("event (rule) and share", false),
    ]);
    Sheet { id: "causes", title, columns, rows: changed.map(row).collect() }
}

/// Energy of everything that is no clock domain, and the sum.
pub(super) fn energy(runs: &[&EventRun]) -> Sheet {
    let mut rows = Vec::new();
    for trial in trials(runs).filter(|trial| !trial.energy.is_empty()) {
        // CPUs are parts of their domains where both were recorded.
        let whole = trial.energy.iter().any(|sum| sum.subject.starts_with("domain "));
        let part = |subject: &str| match subject {
            "package base" => true,
            subject if whole => subject.starts_with("domain "),
            subject => subject.starts_with("cpu"),
        };
        let counted = trial.energy.iter().filter(|sum| part(&sum.subject));
        let total: f64 = counted.map(|sum| sum.energy_mj).sum();
        let power = (trial.length_ms > 0.0).then(|| total / trial.length_ms * 1e3);
        let own = trial.energy.iter().filter(|sum| !sum.subject.starts_with("domain "));
        let own = own.map(|sum| (sum.subject.as_str(), sum.energy_mj, sum.power_mw));
        for (subject, energy, power) in own.chain([("all", total, power)]) {
            rows.push(vec![
                Cell::text(trial.name.as_str()),
                Cell::text(subject),
                Cell::number(Some(energy), text::micros),
                Cell::number(power, text::micros),
            ]);
        }
    }
    let columns =
        columns(&[("trial", false), ("what", false), ("energy mJ", true), ("power mW", true)]);
    Sheet { id: "energy", title: "Energy beside the clock domains".to_owned(), columns, rows }
}
