//! One step ahead: at each recorded wake-up and change of utilisation the model is given the state
//! that the kernel recorded, and asked what it would do now.
//!
//! A model that runs by itself is soon elsewhere, and two that are elsewhere can agree by chance. Here every
//! decision begins from the kernel's own state.

use super::figures::span;
use flyball_events::recording::{Ended, Signals, Subject, comm};
use flyball_events::{Missing, Recording};
use flyball_replay::shadow::{self, Ask, ShadowError, Source};
use flyball_run::Run;
use flyball_sim::engine::{Machine, PosedCpu, PosedTask};
use flyball_sim::scenario::{Built, Scenario};
use flyball_sim::setup::{Class, TaskId, TaskSetup};
use flyball_units::{CpuId, GovernorSpec, Nanos};
use serde::Serialize;
use std::collections::BTreeMap;

/// The share of frequency decisions in which both must agree.
pub const FREQUENCIES: f64 = 0.95;

/// The same of placements.
pub const PLACEMENTS: f64 = 0.90;

/// How far apart a change and its decision may be.
const TOLERANCE: Nanos = Nanos::from_millis(1);

/// How long a task may be on its way to an idle CPU: it is placed by who wakes it, and that CPU, once it has
/// answered the interrupt, says that it woke up. A CPU of a board may be that late.
const ON_ITS_WAY: Nanos = Nanos::from_millis(3);

/// How long before a task is recorded to be awake its signals are brought up to date for that.
const UPDATED_BEFORE: Nanos = Nanos::from_micros(400);

/// Decisions of one kind, weighted by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Decisions {
    /// How many there were.
    pub count: u64,
    /// In how many the model would have done the same.
    pub same: u64,
    /// The time that they held.
    pub ns: u64,
    /// The part of it after decisions that were the same.
    pub same_ns: u64,
}

impl Decisions {
    /// The share of the time in which both agree; None where nothing was decided.
    pub fn share(&self) -> Option<f64> {
        (self.ns > 0).then(|| self.same_ns as f64 / self.ns as f64)
    }

    fn add(&mut self, other: Decisions) {
        self.count += other.count;
        self.same += other.same;
        self.ns += other.ns;
        self.same_ns += other.same_ns;
    }
}

/// Placements in which model and kernel differ, of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Elsewhere {
    /// Who woke up.
    pub task: String,
    /// Where it had slept.
    pub previous: u32,
    /// Where the kernel woke it.
    pub kernel: u32,
    /// Where the model would have.
    pub model: u32,
}

/// What a model would have done in the kernel's place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OneStep {
    /// Which frequency, while CPUs were busy: changes of the kernel's, and time with the same frequency. None
    /// where the governor does not follow what a recording shows (ondemand and conservative sample
    /// times).
    pub frequency: Option<Decisions>,
    /// Which CPU for a task that woke up and was allowed on several, weighted by the time that
    /// it then ran.
    pub placement: Decisions,
    /// The same by clock domain: another CPU of the right one counts.
    pub placement_by_domain: Decisions,
    /// Placements that differ, and how often.
    #[serde(serialize_with = "counted")]
    pub elsewhere: BTreeMap<Elsewhere, u64>,
}

/// As a list: JSON has no keys but texts.
fn counted<S: serde::Serializer>(
    of: &BTreeMap<Elsewhere, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        #[serde(flatten)]
        of: &'a Elsewhere,
        count: u64,
    }
    serializer.collect_seq(of.iter().map(|(of, &count)| Row { of, count }))
}

impl OneStep {
    /// Whether both shares reach their bars.
    pub fn agrees(&self) -> bool {
        let reaches = |of: Decisions, bar: f64| of.share().is_none_or(|share| share >= bar);
        self.frequency.is_none_or(|of| reaches(of, FREQUENCIES))
            && reaches(self.placement, PLACEMENTS)
    }

    /// Puts another recording's beside it.
    pub fn add(&mut self, other: OneStep) {
        if let Some(other) = other.frequency {
            self.frequency.get_or_insert_default().add(other);
        }
        self.placement.add(other.placement);
        self.placement_by_domain.add(other.placement_by_domain);
        for (of, count) in other.elsewhere {
            *self.elsewhere.entry(of).or_default() += count;
        }
    }
}

/// Of one playing of a scenario.
///
/// # Errors
/// A run that is no playing.
pub fn one_step(scenario: &Scenario, built: &Built, run: &Run) -> Result<OneStep, Missing> {
    let recording = span(&Recording::of(run))?;
    let mut found = OneStep { frequency: frequency(scenario, built, run), ..OneStep::default() };
    placements(scenario, built, &recording, &mut found);
    Ok(found)
}

fn frequency(scenario: &Scenario, built: &Built, run: &Run) -> Option<Decisions> {
    let governor = scenario.governors.first()?;
    let tasks = &built.setup.tasks;
    // For how long the bandwidth of one that sleeps counts is not recorded.
    if tasks.iter().any(has_deadlines) {
        return None;
    }
    let clamps = |task: &TaskSetup| task.clamps(&built.setup.cgroups);
    let clamped = tasks.iter().map(|task| (comm(&task.name), clamps(task)));
    let ask = Ask {
        choice: GovernorSpec { name: governor.name.clone(), tunables: governor.tunables.clone() },
        platform: Some(scenario.platform.clone()),
        kernel: Some(scenario.kernel.clone()),
        tolerance: TOLERANCE,
        clamps: clamped.filter(|(_, clamps)| *clamps != (0, 1024)).collect(),
    };
    let answer: Result<_, ShadowError> = shadow::shadow(Source::Run(run), &ask);
    let mut decisions = Decisions::default();
    for trial in answer.ok()?.trials {
        let report = trial.report;
        decisions.add(Decisions {
            count: report.changes as u64,
            same: report.predicted as u64,
            ns: report.busy_ns,
            same_ns: report.same_ns,
        });
    }
    Some(decisions)
}

fn has_deadlines(task: &TaskSetup) -> bool {
    matches!(task.class, Class::Deadline { .. })
}

/// What happened, in the order in which things of one moment happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happened {
    Ended {
        cpu: u32,
        tid: u32,
        runnable: bool,
        ran_ns: u64,
    },
    /// Not at a wake-up: also one that sleeps can move, while its queue still has it (delayed dequeue).
    Moved {
        cpu: u32,
        tid: u32,
    },
    /// Placed by a wake-up.
    Woke {
        cpu: u32,
        tid: u32,
    },
    /// In the queue of the CPU for which it was woken; one that `stays` was there before.
    Queued {
        cpu: u32,
        tid: u32,
        stays: bool,
    },
    /// By the trace's clock perhaps at the very time of the wake-up.
    Began {
        cpu: u32,
        tid: u32,
    },
    Told {
        subject: Subject,
        util: Option<u32>,
        runnable: Option<u32>,
        util_est: Option<u32>,
    },
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    Runs(u32),
    /// Awake, and not in that CPU's queue yet: until it has answered an interrupt nobody sees the task there, but the CPU does not
    /// look idle.
    Arrives(u32),
    Waits(u32),
    Sleeps(u32),
}

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    at: u64,
    util: u32,
    runnable: u32,
    util_est: u32,
}

/// Half the signal is gone after this long asleep.
const HALF_LIFE_NS: f64 = 32.0 * 1_048_576.0;

fn placements(scenario: &Scenario, built: &Built, recording: &Recording<'_>, found: &mut OneStep) {
    let tasks = &built.setup.tasks;
    let ours = |tid: u32| {
        let name = recording.task(tid).name;
        tasks.iter().position(|task| comm(&task.name) == name)
    };
    let Ok(mut machine) = Machine::new(scenario.setup(0).setup) else { return };
    let cpus = scenario.platform.cpus.len();
    let (mut at, mut told): (BTreeMap<u32, Whereabouts>, BTreeMap<Subject, Told>) =
        (BTreeMap::new(), BTreeMap::new());
    // The last decision about each task: whether it was the same, and the same by domain.
    let mut last: BTreeMap<u32, (bool, bool)> = BTreeMap::new();
    // Where each went to sleep: there its timer is.
    let mut timers: BTreeMap<u32, u32> = BTreeMap::new();
    for (t_ns, happened) in happened(recording) {
        match happened {
            Happened::Began { cpu, tid } => {
                at.insert(tid, Whereabouts::Runs(cpu));
            }
            Happened::Ended { cpu, tid, runnable, ran_ns } => {
                let now = if runnable { Whereabouts::Waits(cpu) } else { Whereabouts::Sleeps(cpu) };
                at.insert(tid, now);
                timers.insert(tid, cpu);
                if let Some(&(same, by_domain)) = last.get(&tid) {
                    let held = |same: bool| Decisions {
                        ns: ran_ns,
                        same_ns: if same { ran_ns } else { 0 },
                        ..Decisions::default()
                    };
                    found.placement.add(held(same));
                    found.placement_by_domain.add(held(by_domain));
                }
            }
            Happened::Moved { cpu, tid } => {
                if let Some(place) = at.get_mut(&tid) {
                    *place = match *place {
                        Whereabouts::Sleeps(_) => Whereabouts::Sleeps(cpu),
                        Whereabouts::Arrives(_) => Whereabouts::Arrives(cpu),
                        Whereabouts::Runs(_) | Whereabouts::Waits(_) => Whereabouts::Waits(cpu),
                    };
                }
            }
            Happened::Told { subject, util, runnable, util_est } => {
                let entry = told.entry(subject).or_default();
                entry.at = if util.is_some() { t_ns } else { entry.at };
                entry.util = util.unwrap_or(entry.util);
                entry.runnable = runnable.unwrap_or(entry.runnable);
                // The highest bit is a flag of the kernel's.
                entry.util_est = util_est.map_or(entry.util_est, |est| est & 0x7fff_ffff);
            }
            Happened::Queued { cpu, tid, stays } => {
                at.insert(tid, Whereabouts::Waits(cpu));
                if stays {
                    // What is expected of it counts at once; the queue's signals are recorded later, where one comes from
                    // elsewhere before.
                    let expected = told.get(&Subject::Task(tid)).map_or(0, |task| task.util_est);
                    told.entry(Subject::Cpu(cpu)).or_default().util_est += expected;
                }
            }
            Happened::Woke { cpu, tid } => {
                let slept = at.insert(tid, Whereabouts::Arrives(cpu));
                last.remove(&tid);
                let Some((Whereabouts::Sleeps(previous), t)) = slept.zip(ours(tid)) else {
                    continue;
                };
                let signals = told.get(&Subject::Task(tid)).copied().unwrap_or_default();
                let fair = matches!(tasks[t].class, Class::Fair { .. });
                // Without signals nobody can decide; a task of one CPU has no choice.
                if tasks[t].allowed.len() == 1 || (fair && signals.at == 0) {
                    continue;
                }
                at.insert(tid, Whereabouts::Sleeps(previous));
                let posed: Vec<PosedCpu> =
                    (0..cpus as u32).map(|cpu| pose(cpu, &at, &told, built, &ours)).collect();
                at.insert(tid, Whereabouts::Arrives(cpu));
                let queue = told.get(&Subject::Cpu(previous)).map_or(0, |queue| queue.at);
                let asleep = queue.saturating_sub(signals.at) as f64;
                let left = 0.5_f64.powf(asleep / HALF_LIFE_NS);
                let decayed = |average: u32| (f64::from(average) * left) as u32;
                let waking = PosedTask {
                    task: TaskId(t as u32),
                    previous: CpuId(previous),
                    // Whoever wakes it elsewhere is not told apart from its timer.
                    woken_on: timers.get(&tid).copied().map(CpuId),
                    util: decayed(signals.util),
                    runnable: decayed(signals.runnable),
                    util_est: signals.util_est,
                };
                let Some(chosen) = machine.place(&posed, &waking) else { continue };
                let domain = |cpu: u32| scenario.platform.cpus.get(cpu as usize).map(|c| c.domain);
                let (same, by_domain) = (chosen.0 == cpu, domain(chosen.0) == domain(cpu));
                last.insert(tid, (same, by_domain));
                if !same {
                    let of = Elsewhere {
                        task: tasks[t].name.clone(),
                        previous,
                        kernel: cpu,
                        model: chosen.0,
                    };
                    *found.elsewhere.entry(of).or_default() += 1;
                }
                let one =
                    |same| Decisions { count: 1, same: u64::from(same), ..Decisions::default() };
                found.placement.add(one(same));
                found.placement_by_domain.add(one(by_domain));
            }
        }
    }
}

fn pose(
    cpu: u32,
    at: &BTreeMap<u32, Whereabouts>,
    told: &BTreeMap<Subject, Told>,
    built: &Built,
    ours: &impl Fn(u32) -> Option<usize>,
) -> PosedCpu {
    let mut posed = PosedCpu::default();
    let (mut arrives, mut queued) = (false, false);
    for (&tid, &place) in at {
        arrives |= place == Whereabouts::Arrives(cpu);
        let runs = place == Whereabouts::Runs(cpu);
        if !runs && place != Whereabouts::Waits(cpu) {
            continue;
        }
        let known = ours(tid);
        let task = known.and_then(|t| built.setup.tasks.get(t));
        if runs {
            posed.running = known.map(|t| TaskId(t as u32));
        }
        if let Some(t) = known.filter(|_| task.is_some_and(has_deadlines)) {
            posed.reserving.push(TaskId(t as u32));
            if !runs {
                // For its next period, as a rule: nobody goes before it.
                continue;
            }
        }
        queued = true;
        posed.fair += u32::from(task.is_none_or(|task| matches!(task.class, Class::Fair { .. })));
        let (min, max) = task.map_or((0, 1024), |task| task.clamps(&built.setup.cgroups));
        let (low, high) = posed.clamps.unwrap_or((min, max));
        posed.clamps = Some((low.max(min), high.max(max)));
    }
    let signals = told.get(&Subject::Cpu(cpu)).copied().unwrap_or_default();
    (posed.util, posed.runnable) = (signals.util, signals.runnable);
    posed.util_est = if queued { signals.util_est } else { 0 };
    posed.busy = queued || arrives;
    posed
}

/// All of the recording, in order.
fn happened(recording: &Recording<'_>) -> Vec<(u64, Happened)> {
    let mut all = Vec::new();
    for ran in recording.slices() {
        let (cpu, tid) = (ran.cpu, ran.tid);
        let runnable = matches!(ran.ended, Ended::Preempted | Ended::Yielded | Ended::Migrated);
        let ran_ns = ran.length_ns();
        all.push((ran.from_ns, Happened::Began { cpu, tid }));
        // One that the trace's clock does not resolve ends after its begin, too.
        let ended_ns = ran.to_ns.max(ran.from_ns + 1);
        all.push((ended_ns, Happened::Ended { cpu, tid, runnable, ran_ns }));
    }
    for tid in recording.seen() {
        let mut moves: Vec<(u64, u32)> = recording.moves(tid).collect();
        let mut updates: Vec<u64> =
            recording.signals_of(Subject::Task(tid)).map(|of| of.t_ns).collect();
        updates.sort_unstable();
        for woken in recording.wakeups_of(tid) {
            let on_its_way = |&(t_ns, cpu): &(u64, u32)| {
                cpu == woken.cpu && t_ns <= woken.t_ns && woken.t_ns - t_ns <= ON_ITS_WAY.0
            };
            let placed = moves.iter().rposition(on_its_way).map(|at| moves.remove(at).0);
            // Its signals are brought up to date when its CPU is chosen and when it joins that one's queue, long before a
            // slow CPU records that it is awake.
            let until = updates.partition_point(|&t_ns| t_ns <= woken.t_ns);
            let near = |t_ns: &&u64| woken.t_ns - **t_ns <= UPDATED_BEFORE.0;
            let before = updates.get(..until).unwrap_or(&[]).iter().rev().take_while(near);
            let (queued, first) = (before.clone().next(), before.last());
            let t_ns = placed.or(first.copied()).unwrap_or(woken.t_ns);
            let later = |t_ns: &&u64| placed.is_none_or(|placed_ns| **t_ns > placed_ns);
            let queued_ns = queued.filter(later).copied().unwrap_or(woken.t_ns);
            all.push((t_ns, Happened::Woke { cpu: woken.cpu, tid }));
            let stays = placed.is_none();
            all.push((queued_ns, Happened::Queued { cpu: woken.cpu, tid, stays }));
        }
        all.extend(moves.into_iter().map(|(t_ns, cpu)| (t_ns, Happened::Moved { cpu, tid })));
    }
    for signals in recording.signals() {
        let Signals { subject, util_avg: util, runnable_avg: runnable, util_est, .. } = signals;
        all.push((signals.t_ns, Happened::Told { subject, util, runnable, util_est }));
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests;
