//! A replay as a run directory.

use crate::outcome::Outcome;
use crate::play::{Kept, play};
use crate::source::SourceError;
use crate::subject::Subject;
use flyball_run::manifest::{ClockRecord, ConditionRecord, Manifest, WorkloadRecord};
use flyball_run::{EnergyShare, Note, Run, RunState, SweepValue};
use flyball_sim::record::Stop;
use flyball_units::{GovernorSpec, Nanos};
use std::path::{Path, PathBuf};

/// A run directory with every item; the replay is done again for it, so that the time that is told
/// is that of the replay alone.
///
/// # Errors
/// As [`play`]; a folder that is not empty, a full disk.
pub fn keep(
    subject: &Subject,
    choice: &GovernorSpec,
    out: &Path,
    stop: Stop<'_>,
) -> Result<PathBuf, SourceError> {
    let mut kept = Kept::default();
    let outcome = play(subject, choice, Some(&mut kept), stop)?;
    let name: String = choice.to_string().replace([':', ',', '='], "-");
    Ok(to_run(subject, &outcome, kept).write(out.join(name))?)
}

/// One governor's replay, and how long it took here.
pub struct Played {
    /// What came of it.
    pub outcome: Outcome,
    /// Wall time.
    pub took: Nanos,
    /// Its run directory, where it is kept.
    pub dir: Option<PathBuf>,
}

/// Virtual time has no date.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// The run of one governor: every item and change of frequency, energy per operating point, and the
/// results as the one point of a sweep. It holds nothing of the machine that replayed.
pub fn to_run(subject: &Subject, outcome: &Outcome, kept: Kept) -> Run {
    let mut run = Run { manifest: manifest(subject, outcome), ..Run::default() };
    energy(&mut run, subject, &kept);
    run.tables.items = kept.items;
    run.tables.frequency = kept.frequency;
    for (name, value) in results(outcome) {
        run.tables.sweep.push(SweepValue {
            point: 0,
            kind: "result".to_owned(),
            name: name.to_owned(),
            value: Some(value),
            text: None,
        });
    }
    let cut = kept.cut.then(|| "items or changes beyond a million are not kept".to_owned());
    for message in subject.notes().iter().cloned().chain(cut) {
        run.tables.notes.push(Note {
            severity: "info".to_owned(),
            object: "replay".to_owned(),
            message,
            ..Note::default()
        });
    }
    run
}

/// The figures by name, each ending in its unit.
fn results(outcome: &Outcome) -> Vec<(&'static str, f64)> {
    let latency = &outcome.latency;
    let mut results = vec![
        ("items", outcome.done as f64),
        ("items_left", outcome.left as f64),
        ("cycles_done", outcome.cycles_done),
        ("cycles_left", outcome.cycles_left),
        ("latency_p50_ns", latency.p50_ns as f64),
        ("latency_p90_ns", latency.p90_ns as f64),
        ("latency_p99_ns", latency.p99_ns as f64),
        ("latency_p999_ns", latency.p999_ns as f64),
        ("latency_max_ns", latency.max_ns as f64),
        ("latency_mean_ns", latency.mean_ns),
        ("elapsed_ns", outcome.elapsed_ns as f64),
        ("energy_mj", outcome.energy_mj),
        ("wakeups_per_s", outcome.wakeups_per_s),
        ("busy_percent", outcome.busy_percent),
    ];
    results.extend(outcome.late_percent.map(|late| ("late_percent", late)));
    results
}

fn manifest(subject: &Subject, outcome: &Outcome) -> Manifest {
    let tables = ["items", "frequency"];
    let clock = |table: &str| ClockRecord {
        table: table.to_owned(),
        clock: "virtual".to_owned(),
        ..ClockRecord::default()
    };
    Manifest {
        kind: "replay".to_owned(),
        created: CREATED.to_owned(),
        state: RunState::Complete,
        workloads: vec![WorkloadRecord {
            name: subject.name().to_owned(),
            description: format!("on {}, {}", subject.platform().title, subject.kernel().title),
            deadline_ns: subject.deadline().map(|deadline| deadline.0),
            ..WorkloadRecord::default()
        }],
        conditions: vec![ConditionRecord {
            name: outcome.governor.clone(),
            governor: Some(outcome.governor.clone()),
            ..ConditionRecord::default()
        }],
        clocks: tables.into_iter().map(clock).collect(),
        ..Manifest::default()
    }
}

/// Busy time and energy of each operating point, the rest of each domain, and the base.
fn energy(run: &mut Run, subject: &Subject, kept: &Kept) {
    let Some(summary) = &kept.summary else { return };
    let row = |domain: &str, state: &str, point_khz, time: Nanos, energy_mj| EnergyShare {
        kind: "domain".to_owned(),
        domain: Some(domain.to_owned()),
        state: state.to_owned(),
        point_khz,
        residency_ns: time.0,
        energy_mj,
        ..EnergyShare::default()
    };
    for (domain, described) in summary.domains.iter().zip(&subject.platform().domains) {
        let (mut busy, mut busy_mj) = (0, 0.0);
        for (at, point) in domain.residency.iter().zip(&described.points) {
            if at.busy.0 > 0 {
                let energy_mj = at.busy.as_secs_f64() * point.busy_power_mw;
                (busy, busy_mj) = (busy + at.busy.0, busy_mj + energy_mj);
                let khz = Some(at.frequency.0);
                run.tables.energy.push(row(&domain.name, "busy", khz, at.busy, energy_mj));
            }
        }
        let all = summary.elapsed.0.saturating_mul(described.cpus.len() as u64);
        let rest = Nanos(all.saturating_sub(busy));
        run.tables.energy.push(row(&domain.name, "idle", None, rest, domain.energy_mj - busy_mj));
    }
    run.tables.energy.push(EnergyShare {
        kind: "package".to_owned(),
        domain: None,
        ..row("", "base", None, summary.elapsed, summary.base_energy_mj)
    });
}
