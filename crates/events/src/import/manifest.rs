//! What the manifest of an imported trace says.

use std::collections::BTreeSet;

use flyball_run::manifest::{
    CheckOutcome, CheckRecord, ClockRecord, CpuRecord, DomainRecord, FileRecord, Machine,
    SourceRecord,
};
use flyball_run::{Manifest, Note, RunState, Tables, Warning};

use super::builder::{Builder, Built};
use super::clocks::{Domain, name_of};
use crate::ftrace::Header;
use crate::stream::Counts;

/// The tables that a trace may fill.
const TABLES: [&str; 11] = [
    "slices",
    "wakeups",
    "migrations",
    "idle",
    "interrupts",
    "frequency",
    "utilization",
    "capacity",
    "markers",
    "governor",
    "lost",
];

/// CPUs and clock domains, as far as the events tell.
pub(super) fn of_events(builder: &Builder, domains: &[Domain]) -> Manifest {
    let capacities = builder.clocks.largest();
    let mut cpus: BTreeSet<u32> = builder.cpus.keys().copied().collect();
    cpus.extend(capacities.keys());
    cpus.extend(domains.iter().flat_map(|domain| &domain.cpus));
    let cpus = cpus.into_iter().map(|cpu| CpuRecord {
        cpu,
        capacity: capacities.get(&cpu).copied(),
        domain: name_of(domains, cpu),
        ..CpuRecord::default()
    });
    let domains = domains.iter().map(|domain| DomainRecord {
        name: domain.name.clone(),
        cpus: domain.cpus.clone(),
        ..DomainRecord::default()
    });
    let machine =
        Machine { cpus: cpus.collect(), domains: domains.collect(), ..Machine::default() };
    Manifest {
        kind: "import".to_owned(),
        state: RunState::Complete,
        machine: Some(machine),
        ..Manifest::default()
    }
}

/// Adds what the file itself tells: clock, counts, lost events.
pub(super) fn of_file(
    manifest: &mut Manifest,
    (tool, name): (&str, &str),
    header: &Header,
    counts: &Counts,
    clock: Option<&str>,
) {
    let clock = clock.or(header.clock.as_deref()).map_or("unknown", word);
    let record = |table: &&str| ClockRecord {
        table: (*table).to_owned(),
        clock: clock.to_owned(),
        ..ClockRecord::default()
    };
    manifest.clocks = TABLES.iter().map(record).collect();
    if let (Some(machine), Some(cpus)) = (&mut manifest.machine, header.cpus) {
        machine.cpu_count = Some(cpus);
    }
    let files = vec![FileRecord {
        path: name.to_owned(),
        bytes: counts.bytes,
        rows: counts.records,
        torn_lines: counts.torn,
        skipped: 0,
    }];
    let tool = tool.to_owned();
    manifest.source = Some(SourceRecord { tool, files, ..SourceRecord::default() });
    let lost = counts.lost + header.overwritten();
    let whole = lost == 0 && counts.gaps == 0;
    manifest.checks.push(CheckRecord {
        name: "lost-events".to_owned(),
        outcome: if whole { CheckOutcome::Passed } else { CheckOutcome::Failed },
        object: name.to_owned(),
        expected: "0 lost events".to_owned(),
        found: format!("{lost} lost events in {} gaps", counts.gaps),
        hint: (!whole).then(|| "larger buffers (buffer_size_kb), fewer events".to_owned()),
    });
}

/// The manifest's word for a clock of ftrace's.
fn word(clock: &str) -> &str {
    match clock {
        "mono" => "monotonic",
        other => other,
    }
}

/// What a reader of the run has to know: nothing is dropped in silence.
pub(super) fn warnings(
    name: &str,
    header: &Header,
    counts: &Counts,
    built: &Built,
) -> Vec<Warning> {
    let mut remarks: Vec<(String, Option<&str>)> = Vec::new();
    if counts.torn > 0 {
        let named: Vec<String> = counts.first_torn.iter().map(ToString::to_string).collect();
        let more = if counts.torn > named.len() as u64 { "; ..." } else { "" };
        let torn = format!(
            "{} torn of {} {}s left out ({}{more})",
            counts.torn,
            counts.lines,
            counts.unit,
            named.join("; ")
        );
        remarks.push((torn, None));
    }
    if counts.gaps > 0 {
        let lost = format!("the kernel lost {} events in {} gaps", counts.lost, counts.gaps);
        remarks.push((
            lost,
            Some("see the table `lost`; larger buffers (buffer_size_kb), fewer events"),
        ));
    }
    if header.overwritten() > 0 {
        let overwritten =
            format!("{} events were overwritten before the first one here", header.overwritten());
        remarks.push((overwritten, Some("larger buffers (buffer_size_kb)")));
    }
    if counts.unknown_events() > 0 {
        let mut names: Vec<(&String, &u64)> = counts.unknown.iter().collect();
        names.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let names: Vec<String> =
            names.iter().take(8).map(|(name, n)| format!("{n} {name}")).collect();
        remarks.push((
            format!(
                "{} events of other kinds left out ({})",
                counts.unknown_events(),
                names.join(", ")
            ),
            None,
        ));
    }
    if built.groups > 0 {
        let groups = format!(
            "{} averages of task groups left out; run queues' averages may be a group's",
            built.groups
        );
        remarks.push((groups, Some("trace a machine without task groups (noautogroup)")));
    }
    if built.backwards > 0 {
        let back = format!("{} events went back in time on their own CPU", built.backwards);
        remarks.push((back, Some("choose a clock that does not: trace_clock mono")));
    }
    let object = || name.to_owned();
    let warning = |(message, hint): (String, Option<&str>)| Warning {
        object: object(),
        message,
        hint: hint.map(str::to_owned),
    };
    remarks.into_iter().map(warning).collect()
}

/// Warnings as rows of the table `notes`.
pub(super) fn note(tables: &mut Tables, warning: &Warning) {
    tables.notes.push(Note {
        t_ns: None,
        severity: "warning".to_owned(),
        object: warning.object.clone(),
        message: warning.message.clone(),
        hint: warning.hint.clone(),
    });
}
