//! The measurement on this machine, or inside the guest of a board.

use crate::machine::describe::describe;
use crate::protocol::rampup::RampupError;
use crate::protocol::rampup::plan::{Condition, Plan, Segment};
use crate::protocol::rampup::spin::{Lengths, Repetition, busy, repetition};
use crate::protocol::windows::trial::{TrialError, overheads};
use crate::session::{Destination, Origin, Outcome, Progress, SideRecorder};
use flyball_control::{Hold, preflight, state_folder};
use flyball_host::{CounterRate, Host, HostError, Topology};
use flyball_probe::board;
use flyball_probe::calibration_targets;
use flyball_probe::{Calibration, Calibrations, Chain, calibrate, recalibrate};
use flyball_qos::{Attached, QosError};
use flyball_run::manifest::{
    CheckOutcome, CheckRecord, ClockRecord, ConditionRecord, OverheadRecord, PlanRecord,
};
use flyball_run::name::RAMPUP_TASK;
use flyball_run::name::rfc3339;
use flyball_run::{Manifest, Note, RampUp, RampUpSample, RunState, RunWriter};
use flyball_units::{CpuSet, Mismatch, Nanos};
use std::sync::Arc;

/// Stack that is touched before the first spin.
const STACK_BYTES: usize = 256 * 1024;

/// A measurement that is ready: everything that can be refused was looked at, nothing is written.
#[derive(Debug)]
pub struct Prepared {
    plan: Plan,
    topology: Topology,
    rate: CounterRate,
    calibrations: Vec<Calibration>,
    chain: Chain,
    manifest: Manifest,
}

/// Looks at the machine and calibrates the probe; some 50 ms per CPU.
///
/// # Errors
/// A plan without sense; settings that this machine or this process may not have; CPUs that cannot
/// be used; a counter that does not run.
pub fn prepare(host: &Arc<dyn Host>, plan: Plan, origin: &Origin) -> Result<Prepared, RampupError> {
    plan.check()?;
    let looking = |source| RampupError::host("looking at the machine", source);
    let topology = Topology::discover(host.as_ref()).map_err(looking)?;
    let usable = topology.online.intersection(&host.affinity_get().map_err(looking)?);
    for condition in &plan.conditions {
        let outside = condition.cpus.iter().flat_map(CpuSet::iter).find(|c| !usable.contains(*c));
        if let Some(cpu) = outside {
            return Err(RampupError::BadInput(
                Mismatch::value(format!("CPUs among {usable}"), cpu)
                    .at(format!("CPUs of condition \"{}\"", condition.name)),
            ));
        }
        let request = condition.settings.held();
        if condition.settings.response_ramp.is_some() {
            Attached::preflight(host.as_ref(), !request.is_empty())
                .map_err(|source| ramp(condition, source))?;
        }
        if !request.is_empty() {
            preflight(host.as_ref(), &request).map_err(|source| control(condition, source))?;
        }
    }
    let board = board::discover(host.as_ref());
    let targets = calibration_targets(&topology, &usable, board.as_ref());
    let calibrations = calibrate(host.as_ref(), &targets)?;
    let rate = host.counter_hz().map_err(looking)?;
    let Some(chain) = calibrations.first().map(|calibration| calibration.chain) else {
        return Err(RampupError::BadInput(
            Mismatch::value("one that may be used", "none").at("CPUs"),
        ));
    };
    let mut manifest = Manifest {
        kind: "rampup".to_owned(),
        plan: PlanRecord::of("ramp-ups", plan.segments().iter().map(|it| it.spins.len()).sum()),
        created: rfc3339(host.realtime().0 / 1_000_000_000),
        command: origin.command.clone(),
        seed: Some(plan.seed),
        flyball: origin.flyball.clone(),
        machine: Some(describe(&topology, host.as_ref())),
        conditions: plan.conditions.iter().map(asked).collect(),
        clocks: vec![clock(host.as_ref())],
        // The ring and the accounts of a window have no part in a spin.
        overheads: overheads(host.as_ref(), rate, Some(chain), false)
            .into_iter()
            .filter(|overhead| matches!(overhead.name.as_str(), "clock" | "probe"))
            .collect::<Vec<OverheadRecord>>(),
        probe: calibrations.iter().map(Calibration::record).collect(),
        ..Manifest::default()
    };
    manifest.checks.extend(board.as_ref().map(board::check));
    Ok(Prepared { plan, topology, rate, calibrations, chain, manifest })
}

impl Prepared {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// Measures, and writes the run directory, with the rows of what records on its `side`.
///
/// # Errors
/// See [`RampupError`]. What had been measured stays in the run directory, marked invalid.
pub fn run(
    host: &Arc<dyn Host>,
    prepared: Prepared,
    destination: &Destination,
    progress: &mut dyn Progress,
    side: Option<&mut dyn SideRecorder>,
) -> Result<Outcome, RampupError> {
    let Prepared { plan, topology, rate, mut calibrations, chain, manifest } = prepared;
    let writer = destination.begin(host.as_ref(), &manifest)?;
    let mut session = Session {
        host,
        plan: &plan,
        chain,
        rate,
        calibrations: Calibrations(calibrations.clone()),
        writer,
        manifest,
        repetitions: 0,
        faults: 0,
    };
    let measured = session.all(&topology, progress);
    progress.closing();
    let Session { mut writer, mut manifest, faults, repetitions, .. } = session;
    manifest.did(repetitions as usize);
    manifest.checks.push(faults_check(faults));
    if let Some(side) = side {
        let checks = side.finish(&mut writer, &mut manifest)?;
        manifest.checks.extend(checks);
    }
    // What a CPU that went offline meanwhile leaves is the first calibration.
    if recalibrate(host.as_ref(), &mut calibrations).is_ok() {
        manifest.probe = calibrations.iter().map(Calibration::record).collect();
    }
    manifest.state = match &measured {
        Ok(true) => RunState::Complete,
        Ok(false) => RunState::Interrupted,
        Err(_) => RunState::Invalid,
    };
    let state = manifest.state;
    let dir = writer.finish(&manifest)?;
    measured?;
    Ok(Outcome { dir, state, invalid: Vec::new() })
}

/// A measurement that goes on.
struct Session<'a> {
    host: &'a Arc<dyn Host>,
    plan: &'a Plan,
    chain: Chain,
    rate: CounterRate,
    calibrations: Calibrations,
    writer: RunWriter,
    manifest: Manifest,
    repetitions: u64,
    faults: u64,
}

impl Session<'_> {
    /// All segments; false where the program was asked to end.
    fn all(
        &mut self,
        topology: &Topology,
        progress: &mut dyn Progress,
    ) -> Result<bool, RampupError> {
        self.writer.begin::<RampUp>()?;
        self.writer.begin::<RampUpSample>()?;
        for claimed in crate::machine::describe::claimed(topology, self.host.as_ref()) {
            self.writer.frequency(&claimed)?;
        }
        for segment in self.plan.segments() {
            let Some(condition) = self.plan.conditions.get(segment.condition) else { continue };
            let found = self.held(condition, &segment)?;
            let whole = found.len() == segment.spins.len();
            for repetition in &found {
                self.rows(condition, segment.repeat, repetition)?;
            }
            self.writer.flush()?;
            progress.step(self.repetitions as usize, RAMPUP_TASK, &condition.name);
            if !whole {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A segment under the settings of its condition, which are restored behind it.
    fn held(
        &mut self,
        condition: &Condition,
        segment: &Segment,
    ) -> Result<Vec<Repetition>, RampupError> {
        let request = condition.settings.held();
        if request.is_empty() {
            return self.segment(condition, segment);
        }
        let folder = state_folder(self.host.as_ref());
        let hold = Hold::start(self.host, &folder, &request)
            .map_err(|source| control(condition, source))?;
        let applied = hold
            .plan()
            .all()
            .map(|step| (step.path.display().to_string(), step.new.clone().into()));
        let applied = applied.collect();
        let record = self.manifest.conditions.iter_mut().find(|it| it.name == condition.name);
        if let Some(record) = record {
            record.applied = applied;
        }
        let found = self.segment(condition, segment);
        // First of all: whatever the segment came to.
        let ended = hold.end().map_err(|source| control(condition, source))?;
        for change in &ended.changes {
            let message = format!("changed by somebody else during the spins: {change:?}");
            self.remark("warning", &condition.name, message)?;
        }
        found
    }

    fn segment(
        &mut self,
        condition: &Condition,
        segment: &Segment,
    ) -> Result<Vec<Repetition>, RampupError> {
        let lengths = Lengths::new(self.plan.spin, self.rate.hz);
        let stage = Stage {
            host: self.host.as_ref(),
            chain: self.chain,
            lengths,
            hz: self.rate.hz,
            condition,
            segment,
        };
        let thread = || TrialError::Thread { thread: RAMPUP_TASK, found: "a panic".to_owned() };
        let (found, unlocked) = std::thread::scope(|scope| {
            let spawned = std::thread::Builder::new()
                .name(RAMPUP_TASK.to_owned())
                .spawn_scoped(scope, || stage.perform())
                .map_err(|error| TrialError::Thread {
                    thread: RAMPUP_TASK,
                    found: error.to_string(),
                })?;
            spawned.join().map_err(|_| RampupError::from(thread()))?
        })?;
        if let Some(reason) = unlocked.filter(|_| self.repetitions == 0) {
            let message = format!("memory is touched but not locked: {reason}");
            self.remark("info", "memory", message)?;
        }
        Ok(found)
    }

    fn remark(&mut self, severity: &str, object: &str, message: String) -> Result<(), RampupError> {
        let (severity, object) = (severity.to_owned(), object.to_owned());
        let t_ns = Some(self.host.now().0);
        Ok(self.writer.note(&Note { t_ns, severity, object, message, hint: None })?)
    }

    fn rows(
        &mut self,
        condition: &Condition,
        repeat: u32,
        found: &Repetition,
    ) -> Result<(), RampupError> {
        let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let usage = found.usage;
        let faults = usage.map(|usage| usage.minor_faults + usage.major_faults);
        self.faults += faults.unwrap_or(0);
        let seq = self.repetitions;
        self.repetitions += 1;
        self.writer.append(&RampUp {
            seq,
            condition: condition.name.clone(),
            repeat,
            gap_ns: found.gap.0,
            sleeps: condition.sleeps,
            idle_ns: found.idle.map(|(idle, _)| idle.0),
            lateness_ns: found.idle.map(|(_, late)| late),
            begin_ns: found.begin.0,
            end_ns: found.end.0,
            tid: found.tid,
            preemptions: usage.map(|usage| count(usage.involuntary)),
            faults: faults.map(count),
            steal_ns: found.steal.map(|steal| steal.0),
            trial: None,
        })?;
        let calibrations = &self.calibrations;
        for slot in &found.slots {
            let sample = slot.sample;
            let calibration =
                sample.cpu.and_then(|cpu| calibrations.of(cpu)).or(calibrations.0.first());
            let rate_per_us = calibration.map_or(0.0, |calibration| {
                let work = calibration.chain.multiplies as f64 + calibration.read_cost;
                work * calibration.counter_hz / f64::from(sample.ticks.max(1)) / 1e6
            });
            self.writer.append(&RampUpSample {
                rampup: seq,
                after_ns: self.rate.nanos(slot.after_ticks).round() as u64,
                ticks: Some(sample.ticks),
                cpu: sample.cpu.map(|cpu| cpu.0),
                rate_per_us,
                delivered_khz: calibrations.speed(sample, sample.cpu).khz,
                disturbed: sample.disturbed,
            })?;
        }
        Ok(())
    }
}

/// What the thread of a segment needs.
struct Stage<'a> {
    host: &'a dyn Host,
    chain: Chain,
    lengths: Lengths,
    hz: f64,
    condition: &'a Condition,
    segment: &'a Segment,
}

/// Repetitions, and why memory could not be locked.
type Performed = (Vec<Repetition>, Option<String>);

impl Stage<'_> {
    /// Settings and room first; then one repetition after the other, until the program is asked to
    /// end.
    fn perform(&self) -> Result<Performed, RampupError> {
        let host = self.host;
        let multiplier = self.condition.settings.response_ramp;
        let attached =
            multiplier.map(|multiplier| Attached::to_this_thread(host, multiplier)).transpose();
        let attached = attached.map_err(|source| ramp(self.condition, source))?;
        let unlocked = host.lock_memory().err().map(|error| error.to_string());
        let done = self.spins().map_err(|error| RampupError::host("preparing the spin", error));
        if unlocked.is_none() {
            // Nothing depends on it, and the process may end with it.
            let _ = host.unlock_memory();
        }
        let ended = attached.map_or(Ok(()), Attached::end);
        ended.map_err(|source| ramp(self.condition, source))?;
        Ok((done?, unlocked))
    }

    fn spins(&self) -> Result<Vec<Repetition>, HostError> {
        let host = self.host;
        if let Some(cpus) = &self.condition.cpus {
            host.affinity_set(cpus)?;
        }
        if let Some((least, most)) = self.condition.settings.clamp() {
            host.utilization_clamp_set(least, most)?;
        }
        // A stack that is too small for it costs a fault, and faults are counted.
        let _ = host.prefault_stack(STACK_BYTES);
        let tid = Some(host.thread_id());
        let room = |&(gap, _): &(Nanos, Nanos)| {
            // Filled, not only reserved: pages are mapped at their first write.
            let mut slots = vec![Default::default(); self.lengths.capacity()];
            slots.clear();
            Repetition { gap, tid, slots, ..Repetition::default() }
        };
        let mut found: Vec<Repetition> = self.segment.spins.iter().map(room).collect();
        let mut whole = 0;
        // As busy as it will be before each of the others.
        busy(host, self.chain, self.lengths.spin);
        for (repetition_of, (_, longer)) in found.iter_mut().zip(&self.segment.spins) {
            if host.interrupted() > 0 {
                break;
            }
            busy(host, self.chain, (longer.as_secs_f64() * self.hz) as u64);
            if !repetition(host, self.chain, self.lengths, self.condition.sleeps, repetition_of)? {
                break;
            }
            whole += 1;
        }
        found.truncate(whole);
        Ok(found)
    }
}

fn control(condition: &Condition, source: flyball_control::ControlError) -> RampupError {
    RampupError::Control { condition: condition.name.clone(), source: Box::new(source) }
}

fn ramp(condition: &Condition, source: QosError) -> RampupError {
    RampupError::Ramp { condition: condition.name.clone(), source: Box::new(source) }
}

fn asked(condition: &Condition) -> ConditionRecord {
    let mut record = ConditionRecord {
        name: condition.name.clone(),
        governor: condition.settings.governor.clone(),
        placement: condition.cpus.as_ref().map(|cpus| format!("cpu {cpus}")),
        ..ConditionRecord::default()
    };
    let mut ask = |key: &str, value: i64| record.asked.insert(key.to_owned(), value.into());
    if let Some((min, max)) = condition.settings.clamp() {
        ask("uclamp_min", i64::from(min));
        ask("uclamp_max", i64::from(max));
    }
    if let Some(multiplier) = condition.settings.response_ramp {
        ask("response_ramp", i64::from(multiplier));
    }
    for (name, value) in &condition.settings.tunables {
        ask(name, *value);
    }
    record
}

/// Both tables are on the clock of every trace; its offset to the wall clock lets others join.
fn clock(host: &dyn Host) -> ClockRecord {
    let (before, wall, after) = (host.now(), host.realtime(), host.now());
    ClockRecord {
        table: "rampups".to_owned(),
        clock: "monotonic".to_owned(),
        offset_to: Some("realtime".to_owned()),
        offset_ns: Some(wall.0.wrapping_sub((before.0 + after.0) / 2) as i64),
        uncertainty_ns: Some(after.since(before).0.div_ceil(2)),
    }
}

fn faults_check(faults: u64) -> CheckRecord {
    CheckRecord {
        name: "page faults".to_owned(),
        outcome: if faults == 0 { CheckOutcome::Passed } else { CheckOutcome::Failed },
        object: "the spinning thread".to_owned(),
        expected: "no page fault between the sleeps and the end of a spin".to_owned(),
        found: faults.to_string(),
        hint: (faults > 0).then(|| "allow memory to be locked: ulimit -l unlimited".to_owned()),
    }
}
