//! The same on a model: each phase of tick and poll is a repetition, and the rate is what the core
//! that runs the task delivers at that moment. The rows are those of a machine.

use crate::protocol::rampup::RampupError;
use crate::protocol::rampup::spin::steps;
use crate::session::{Destination, Outcome, Progress};
use flyball_events::{Missing, Recording};
use flyball_host::Host;
use flyball_platform::Platform;
use flyball_run::manifest::{ClockRecord, ConditionRecord, Machine, PlanRecord, TrialRecord};
use flyball_run::name::RAMPUP_TASK;
use flyball_run::{Manifest, RampUp, RampUpSample, RunState, RunWriter};
use flyball_sim::record::manifest;
use flyball_sim::scenario::Scenario;
use flyball_sim::sweep::record_phase;
use flyball_sim::workload::SPIN;
use flyball_units::{Mismatch, Nanos};

/// One condition and gap on the model.
#[derive(Clone, Debug)]
pub struct Case {
    /// The condition.
    pub condition: String,
    /// Length of the sleeps before the spin.
    pub gap: Nanos,
    /// Sleeps before the spin.
    pub sleeps: u32,
    /// What is simulated: a task `rampup` that spins from its mark to the end.
    pub scenario: Scenario,
}

/// Time between two samples at the start: what the probe of a machine takes.
const SHORTEST_NS: u64 = 16_000;

/// What was simulated.
pub struct Simulated {
    /// The run directory.
    pub outcome: Outcome,
    /// The phases of each case; fewer where it was interrupted.
    pub phases: Vec<Vec<flyball_sim::record::Outcome>>,
}

/// Simulates every phase of every case into a run directory.
/// `name` and `machine` describe the model.
///
/// # Errors
/// A scenario that cannot be set up; a full disk.
pub fn run(
    cases: &[Case],
    (name, machine): (&str, Machine),
    host: &dyn Host,
    destination: &Destination,
    progress: &mut dyn Progress,
) -> Result<Simulated, RampupError> {
    let count: usize = cases.iter().map(|case| case.scenario.phases as usize).sum();
    let length = |case: &Case| case.scenario.duration.0 * u64::from(case.scenario.phases);
    progress.planned_in_virtual_time(count, "phases", Nanos(cases.iter().map(length).sum()));
    let mut manifest = describe(cases, name, machine);
    manifest.plan = PlanRecord::of("ramp-ups", count);
    let mut writer = destination.begin(host, &manifest)?;
    let stop = || host.interrupted() > 0;
    let mut whole = true;
    let mut trial = 0;
    let mut phases: Vec<Vec<_>> = vec![Vec::new(); cases.len()];
    writer.begin::<RampUp>()?;
    writer.begin::<RampUpSample>()?;
    writer.take_rows();
    'all: for (case, phases) in cases.iter().zip(&mut phases) {
        for phase in 0..case.scenario.phases {
            match record_phase(&case.scenario, phase, trial, &mut writer, &stop)? {
                Some(outcome) => phases.push(outcome),
                None => {
                    whole = false;
                    break 'all;
                }
            }
            // The events are what the rows are made of.
            let events = writer.take_rows();
            let recording = Recording::new(&events, &manifest, Some(trial));
            rows(case, phase, trial, &recording, &mut writer)?;
            trial += 1;
            progress.step(trial as usize, RAMPUP_TASK, &case.condition);
        }
    }
    manifest.did(trial as usize);
    manifest.state = if whole { RunState::Complete } else { RunState::Interrupted };
    let dir = writer.finish(&manifest)?;
    progress.closing();
    let outcome = Outcome { dir, state: manifest.state, invalid: Vec::new() };
    Ok(Simulated { outcome, phases })
}

/// Nothing in it depends on the computer, the time or the place where it was made.
fn describe(cases: &[Case], name: &str, machine: Machine) -> Manifest {
    let mut described = match cases.first() {
        Some(case) => manifest("rampup", &case.scenario),
        None => Manifest::default(),
    };
    described.command = ["flyball", "rampup", "--machine", name].map(str::to_owned).to_vec();
    described.machine = Some(machine);
    described.clocks.push(ClockRecord {
        table: "rampups".to_owned(),
        clock: "virtual".to_owned(),
        ..ClockRecord::default()
    });
    let mut conditions: Vec<ConditionRecord> = Vec::new();
    for case in cases.iter() {
        if conditions.iter().all(|known| known.name != case.condition) {
            conditions.push(ConditionRecord {
                name: case.condition.clone(),
                governor: case.scenario.governor_in_charge().map(str::to_owned),
                ..ConditionRecord::default()
            });
        }
    }
    described.conditions = conditions;
    let texts = cases.iter().map(|case| {
        format!("# {}, gap {} ms\n{}", case.condition, case.gap.0 as f64 / 1e6, case.scenario.text)
    });
    described.experiment = Some(texts.collect::<Vec<_>>().join("\n"));
    let phases = cases.iter().flat_map(|case| (1..=case.scenario.phases).map(move |n| (case, n)));
    let trial = |(number, (case, repeat)): (usize, (&Case, u32))| TrialRecord {
        trial: number as u32,
        workload: RAMPUP_TASK.to_owned(),
        condition: case.condition.clone(),
        repeat,
        ..TrialRecord::default()
    };
    described.order = phases.enumerate().map(trial).collect();
    described
}

/// The rows of one phase, from its events.
fn rows(
    case: &Case,
    phase: u32,
    trial: u32,
    recording: &Recording<'_>,
    writer: &mut RunWriter,
) -> Result<(), RampupError> {
    let missing = |missing: Missing| {
        RampupError::BadInput(
            Mismatch::value("a task that sleeps and spins", missing)
                .at(format!("phase {phase} of {}", case.condition)),
        )
    };
    let begin_ns = recording.marker(SPIN).map_err(missing)?.t_ns;
    let task = recording.find(RAMPUP_TASK).map_err(missing)?;
    let end_ns = recording.span().to_ns;
    writer.append(&RampUp {
        seq: u64::from(trial),
        condition: case.condition.clone(),
        repeat: phase + 1,
        gap_ns: case.gap.0,
        sleeps: case.sleeps,
        begin_ns,
        end_ns,
        trial: Some(trial),
        ..RampUp::default()
    })?;
    let platform = &case.scenario.platform;
    let clocks: Vec<_> = platform
        .cpus
        .iter()
        .map(|cpu| recording.frequency_of_cpu(cpu.id.0).unwrap_or_default())
        .collect();
    let slices = recording.between(begin_ns, end_ns).slices_of(task.tid);
    let mut slices = slices.iter().peekable();
    for after_ns in steps(end_ns.saturating_sub(begin_ns), SHORTEST_NS) {
        let at = begin_ns + after_ns;
        while slices.next_if(|slice| slice.to_ns <= at).is_some() {}
        let running = slices.peek().filter(|slice| slice.from_ns <= at);
        let delivered = running.and_then(|slice| {
            let claimed = clocks.get(slice.cpu as usize)?.at(at)?;
            delivered(platform, slice.cpu, claimed)
        });
        writer.append(&RampUpSample {
            rampup: u64::from(trial),
            after_ns,
            ticks: None,
            cpu: running.map(|slice| slice.cpu),
            rate_per_us: delivered.map_or(0.0, |(rate, _)| rate),
            delivered_khz: delivered.map(|(_, khz)| khz),
            // Waiting for a CPU is no rate of one.
            disturbed: delivered.is_none(),
        })?;
    }
    Ok(())
}

/// Work per microsecond and frequency of a CPU whose point is listed as `claimed`.
fn delivered(platform: &Platform, cpu: u32, claimed: u64) -> Option<(f64, u64)> {
    let cpu = platform.cpus.get(cpu as usize)?;
    let points = &platform.domains.get(cpu.domain)?.points;
    let point = points.iter().find(|point| point.frequency.0 == claimed);
    let khz = point.map_or(claimed, |point| point.effective.0);
    Some((khz as f64 / 1e3 * cpu.work_per_cycle, khz))
}
