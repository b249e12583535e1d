//! One trial's events: the questions, asked once, as figures of the report.

use std::collections::BTreeSet;

use flyball_events::Recording;
use flyball_events::questions::{
    Change, Distribution, FrequencyResidency, ItemLatency, Share, Transitions,
};
use flyball_events::recording::{Subject, Task};
use flyball_run::Tables;

use super::{Context, cpus, tasks};
use crate::model::{
    CauseCount, DomainEvents, EnergySum, EventTrial, FrequencyChange, LevelShare, TaskItems,
};
use crate::timeline::{Ask, RunView};

/// Changes of a domain that are told one by one.
const CHANGES: usize = 1000;

/// Every trial with events, in their order.
pub(super) fn all(context: &Context<'_>, several: bool) -> Vec<EventTrial> {
    let (tables, manifest) = (&context.run.tables, &context.run.manifest);
    let trials = numbers(tables);
    let alone = trials.len() == 1;
    let named = |number: u32| {
        let record = manifest.order.iter().find(|record| record.trial == number);
        let own = match record {
            Some(record) => record.condition.clone(),
            None => format!("phase {number}"),
        };
        match (several, alone) {
            (false, _) => own,
            (true, true) => context.name.clone(),
            (true, false) => format!("{}: {own}", context.name),
        }
    };
    let each = trials.into_iter().map(|trial| {
        let name = trial.map_or_else(|| context.name.clone(), named);
        of(context, &Recording::new(tables, manifest, trial), trial, name)
    });
    each.collect()
}

/// The numbers of the trials; `None` alone where events belong to the run.
pub(crate) fn numbers(tables: &Tables) -> Vec<Option<u32>> {
    let mut found = BTreeSet::new();
    macro_rules! see {
        ($($table:ident),+) => {$(
            // Rows of one trial lie together: most tell nothing new.
            let mut last = None;
            let told = Some(&tables.$table.trial).filter(|trials| !trials.is_all_null());
            for trial in told.into_iter().flat_map(|trials| trials.iter()).filter(Option::is_some) {
                if last != trial {
                    found.extend(trial);
                    last = trial;
                }
            }
        )+};
    }
    see!(slices, utilization, frequency, governor, items, energy, idle, wakeups);
    if found.is_empty() { vec![None] } else { found.into_iter().map(Some).collect() }
}

fn of(
    context: &Context<'_>,
    recording: &Recording<'_>,
    trial: Option<u32>,
    name: String,
) -> EventTrial {
    let workloads = context.run.manifest.workloads.iter().map(|workload| workload.name.clone());
    let looked_at = tasks::looked_at(recording, context.options.task.as_deref(), workloads);
    let wanted = context.options.marker.as_deref();
    let wanted = wanted.and_then(|text| recording.marker(text).ok()).map(|mark| mark.text);
    let zero = wanted.or_else(|| looked_at.as_ref().and_then(|task| mark(recording, task)));
    let number = looked_at.as_ref().map(|task| task.tid.to_string());
    let ask = Ask { task: number, marker: zero.map(str::to_owned), ..Ask::default() };
    let view = RunView::of(&name, recording, &ask).ok();
    let span = recording.span();
    let since = zero.and_then(|text| recording.marker(text).ok()).map_or(span.from_ns, |m| m.t_ns);
    let behind = recording.between(since, span.to_ns);
    let length_ms = recording.span().length_ns() as f64 / 1e6;
    let items = ItemLatency::all(recording).unwrap_or_default().iter().map(task).collect();
    let energy = energy(&context.run.tables, trial, length_ms);
    let mut trial = EventTrial {
        trial,
        name,
        length_ms,
        items,
        tasks: tasks::states(recording, looked_at.as_ref()),
        detail: looked_at.as_ref().map(|task| tasks::detail(&behind, task)),
        cpus: cpus::all(recording),
        domains: domains(recording),
        total_energy: total(&energy, length_ms),
        energy,
        gaps: recording.gaps().len() as u64,
        lost_events: recording.gaps().events(),
        missing: Vec::new(),
        zero: zero.map(str::to_owned),
        view: view.map(Box::new),
    };
    trial.missing = missing(&trial, recording);
    trial
}

/// The task's first mark: where its time line begins, as the results over phases count.
fn mark<'a>(recording: &Recording<'a>, task: &Task) -> Option<&'a str> {
    let own = recording.marks().find(|mark| mark.tid == Some(task.tid))?;
    // Another task may have left the same text before.
    recording.marker(own.text).is_ok_and(|first| first.t_ns == own.t_ns).then_some(own.text)
}

fn task(answer: &ItemLatency) -> TaskItems {
    let us = |of: fn(&Distribution) -> u64| answer.latency.as_ref().map(|d| of(d) as f64 / 1e3);
    TaskItems {
        task: answer.task.name.clone(),
        tid: answer.task.tid,
        done: answer.latency.as_ref().map_or(0, |d| d.count),
        unfinished: answer.unfinished,
        median_us: us(|d| d.p50_ns),
        p99_us: us(|d| d.p99_ns),
        max_us: us(|d| d.max_ns),
        with_deadline: answer.with_deadline,
        missed: answer.missed,
    }
}

fn domains(recording: &Recording<'_>) -> Vec<DomainEvents> {
    let length = recording.span().length_ns().max(1) as f64;
    let one = |domain: &String| {
        let residency = FrequencyResidency::of(recording, domain).ok()?;
        let changes = Transitions::of(recording, domain).ok()?;
        let known: f64 = residency.values.iter().map(|share| share.residency_ns as f64).sum();
        let part = |share: &Share<u64>| LevelShare {
            mhz: share.value as f64 / 1e3,
            share: share.residency_ns as f64 / known,
        };
        let levels: Vec<LevelShare> =
            if known > 0.0 { residency.values.iter().map(part).collect() } else { Vec::new() };
        let mean = levels.iter().map(|level| level.mhz * level.share).sum();
        let cause = |cause: &flyball_events::questions::Cause| CauseCount {
            event: cause.event.clone(),
            why: cause.why.clone(),
            count: cause.count,
        };
        Some(DomainEvents {
            domain: domain.clone(),
            mean_mhz: (!levels.is_empty()).then_some(mean),
            residency: levels,
            unknown_share: residency.unknown_ns.saturating_add(residency.lost_ns) as f64 / length,
            transitions: changes.count,
            transitions_per_s: changes.per_second,
            up: changes.up,
            down: changes.down,
            causes: changes.causes.iter().map(cause).collect(),
            unexplained: changes.unexplained,
            delay_median_us: changes.delay.as_ref().map(|delay| delay.p50_ns as f64 / 1e3),
            changes: each_change(recording, domain),
        })
    };
    recording.domains().iter().filter_map(one).collect()
}

/// The first changes, each with what led to it.
fn each_change(recording: &Recording<'_>, domain: &str) -> Vec<FrequencyChange> {
    let begin = recording.span().from_ns;
    let one = |change: Change| {
        let cause = change.cause.as_ref().map(|cause| {
            let read = cause.util.map(|util| format!(" {util}")).unwrap_or_default();
            match &cause.why {
                Some(why) => format!("{} ({why}{read})", cause.event),
                None => format!("{}{read}", cause.event),
            }
        });
        FrequencyChange {
            t_ms: change.t_ns.saturating_sub(begin) as f64 / 1e6,
            from_mhz: change.from_khz as f64 / 1e3,
            to_mhz: change.to_khz as f64 / 1e3,
            cause,
            after_us: change.cause.as_ref().map(|cause| cause.after_ns as f64 / 1e3),
        }
    };
    Change::all(recording, domain).unwrap_or_default().into_iter().take(CHANGES).map(one).collect()
}

/// The sum over everything.
fn total(energy: &[EnergySum], length_ms: f64) -> Option<EnergySum> {
    // CPUs are parts of their domains where both were recorded.
    let whole = energy.iter().any(|sum| sum.subject.starts_with("domain "));
    let part = |sum: &&EnergySum| match sum.subject.as_str() {
        "package base" => true,
        subject if whole => subject.starts_with("domain "),
        subject => subject.starts_with("cpu"),
    };
    let energy_mj: f64 = energy.iter().filter(part).map(|sum| sum.energy_mj).sum();
    let power_mw = (length_ms > 0.0).then(|| energy_mj / length_ms * 1e3);
    (!energy.is_empty()).then(|| EnergySum { subject: "all".to_owned(), energy_mj, power_mw })
}

/// Sums of the energy table, in order of appearance.
fn energy(tables: &Tables, trial: Option<u32>, length_ms: f64) -> Vec<EnergySum> {
    let mut sums: Vec<EnergySum> = Vec::new();
    let rows = (0..tables.energy.len()).filter_map(|row| tables.energy.row(row));
    for row in rows.filter(|row| trial.is_none() || row.trial.is_none() || row.trial == trial) {
        let subject = match (row.kind.as_str(), row.cpu, &row.domain) {
            ("cpu", Some(cpu), _) => format!("cpu{cpu}"),
            (kind, _, Some(domain)) => format!("{kind} {domain}"),
            (kind, ..) => format!("{kind} {}", row.state),
        };
        match sums.iter_mut().find(|sum| sum.subject == subject) {
            Some(sum) => sum.energy_mj += row.energy_mj,
            None => {
                sums.push(EnergySum { subject, energy_mj: row.energy_mj, power_mw: None });
            }
        }
    }
    for sum in &mut sums {
        sum.power_mw = (length_ms > 0.0).then(|| sum.energy_mj / length_ms * 1e3);
    }
    sums
}

/// What stands for the governor's decisions where nobody recorded them.
fn decisions(recording: &Recording<'_>) -> &'static str {
    let read = recording.signals().any(|signals| matches!(signals.subject, Subject::Cpu(_)));
    match read {
        true => "the last reading of utilisation before a change stands for its cause",
        false => "no causes of changes",
    }
}

/// Which tables have no rows, and what cannot be told without them.
fn missing(trial: &EventTrial, recording: &Recording<'_>) -> Vec<String> {
    let lacks = [
        (trial.items.is_empty(), "items", "no latencies of work items"),
        (trial.domains.is_empty(), "frequency", "no residency and no changes of frequency"),
        (recording.decisions().next().is_none(), "governor", decisions(recording)),
        (trial.energy.is_empty(), "energy", "no energy"),
        (recording.slices().next().is_none(), "slices", "not known which task ran when"),
        (recording.signals().next().is_none(), "utilization", "no utilisation over time"),
    ];
    let say =
        |(_, table, what): &(bool, &str, &str)| format!("table `{table}`: no rows, so {what}");
    lacks.iter().filter(|(lacks, ..)| *lacks).map(say).collect()
}
