//! One run as it is shown: every question asked once.

use flyball_events::questions::{
    CpuTime, FrequencyOverTime, FrequencyResidency, Rise, RunningFrequency, Stages, States, Target,
    Transitions, UtilizationOverTime, UtilizationResidency, WakeupLatency,
};
use flyball_events::recording::{Subject, Task};
use flyball_events::{Missing, Recording, Span};
use serde::Serialize;

use super::curve::{Curve, Point};
use super::running;

/// What to show of a recording.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The task: name, number or name-number; the one that ran longest where it is none.
    pub task: Option<String>,
    /// Time zero is the first mark whose text contains this; the recording's begin where it is
    /// none.
    pub marker: Option<String>,
    /// Levels of utilisation whose times are asked for.
    pub targets: Vec<Target>,
}

impl Default for Ask {
    fn default() -> Self {
        Self { task: None, marker: None, targets: Target::USUAL.to_vec() }
    }
}

/// One run with every answer that it can give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunView {
    /// The run's name.
    pub name: String,
    /// What is looked at, on the run's clock; its begin is time zero of the curves.
    pub span: Span,
    /// The task that is looked at.
    pub task: Option<Task>,
    /// Its util_avg over time, on the capacity scale.
    pub utilization: Option<Curve>,
    /// Its util_est over time.
    pub util_est: Option<Curve>,
    /// Share of the time, 0 to 1, that it ran in each of 1000 equal stretches of the view.
    pub running: Option<Curve>,
    /// Frequency over time in GHz: of the domains of the CPUs that it ran on, of all without a
    /// task.
    pub frequency: Vec<Curve>,
    /// Times to levels of utilisation.
    pub rise: Option<Rise>,
    /// Time on each kind of core before moving to a larger one.
    pub stages: Option<Stages>,
    /// The frequency while it ran.
    pub running_frequency: Option<RunningFrequency>,
    /// Its utilisation while it ran.
    pub utilization_residency: Option<UtilizationResidency>,
    /// Its time by state.
    pub states: Option<States>,
    /// Its wake-up latency.
    pub wakeup_latency: Option<WakeupLatency>,
    /// Its running time on each CPU; of all tasks without one.
    pub cpu_time: Vec<CpuTime>,
    /// Residency of every clock domain.
    pub frequency_residency: Vec<FrequencyResidency>,
    /// Changes of every clock domain's frequency.
    pub transitions: Vec<Transitions>,
    /// Gaps in the recording, and events known to be lost in them.
    pub gaps: usize,
    /// Events known to be lost.
    pub lost_events: u64,
    /// What was asked and cannot be answered.
    pub unanswered: Vec<Missing>,
}

impl RunView {
    /// Asks everything. What the recording cannot answer is in `unanswered`.
    ///
    /// # Errors
    /// A task or a marker that was named and is not there.
    pub fn of(
        name: impl Into<String>,
        recording: &Recording<'_>,
        ask: &Ask,
    ) -> Result<Self, Missing> {
        let span = recording.span();
        let from_ns = match &ask.marker {
            Some(text) => recording.marker(text)?.t_ns,
            None => span.from_ns,
        };
        let recording = &recording.between(from_ns, span.to_ns);
        let task = match &ask.task {
            Some(wanted) => Some(recording.find(wanted)?),
            None => longest(recording),
        };
        let mut view = Self::empty(name.into(), recording, task);
        let mut asker = Asker { missing: Vec::new() };
        if let Some(tid) = view.task.as_ref().map(|task| task.tid) {
            view.rise = asker.keep(Rise::of(recording, tid, &ask.targets));
            view.stages = asker.keep(Stages::of(recording, tid));
            view.running_frequency = asker.keep(RunningFrequency::of(recording, tid));
            view.utilization_residency =
                asker.keep(UtilizationResidency::while_running(recording, tid));
            view.states = asker.keep(States::of(recording, tid));
            view.wakeup_latency = asker.keep(WakeupLatency::of(recording, tid));
            view.cpu_time = asker.keep(CpuTime::of_task(recording, tid)).unwrap_or_default();
            view.read_signals(recording, tid);
            view.running = running::share(recording, tid);
        } else {
            view.cpu_time = asker.keep(CpuTime::all(recording)).unwrap_or_default();
        }
        view.frequency = view.frequencies(recording);
        view.unanswered = asker.missing;
        Ok(view)
    }

    fn empty(name: String, recording: &Recording<'_>, task: Option<Task>) -> Self {
        let residency = |domain: &String| FrequencyResidency::of(recording, domain).ok();
        Self {
            name,
            span: recording.span(),
            task,
            utilization: None,
            util_est: None,
            running: None,
            frequency: Vec::new(),
            rise: None,
            stages: None,
            running_frequency: None,
            utilization_residency: None,
            states: None,
            wakeup_latency: None,
            cpu_time: Vec::new(),
            frequency_residency: recording.domains().iter().filter_map(residency).collect(),
            transitions: Transitions::all(recording),
            gaps: recording.gaps().len(),
            lost_events: recording.gaps().events(),
            unanswered: Vec::new(),
        }
    }

    fn read_signals(&mut self, recording: &Recording<'_>, tid: u32) {
        let Ok(over) = UtilizationOverTime::points_of(recording, Subject::Task(tid)) else {
            return;
        };
        let name = self.task.as_ref().map(|task| task.name.clone()).unwrap_or_default();
        let curve = |value: fn(
            &flyball_events::questions::utilization::UtilizationPoint,
        ) -> Option<u32>| {
            let points = over.iter().filter_map(|p| {
                Some(Point { t_ms: self.ms(p.t_ns), value: f64::from(value(&p)?) })
            });
            let until = self.ms(self.span.to_ns);
            let any = points.clone().next().is_some();
            any.then(|| Curve::new(name.clone(), "", points, until))
        };
        let (util_avg, util_est) = (curve(|p| p.util_avg), curve(|p| p.util_est));
        (self.utilization, self.util_est) = (util_avg, util_est);
    }

    fn frequencies(&self, recording: &Recording<'_>) -> Vec<Curve> {
        let own: Vec<String> = self
            .cpu_time
            .iter()
            .flat_map(|time| {
                let cpu = recording.topology().cpu(time.cpu);
                let domain = cpu.and_then(|cpu| cpu.domain.clone());
                domain.into_iter().chain([format!("cpu{}", time.cpu)])
            })
            .collect();
        let all = FrequencyOverTime::all(recording);
        let ran_on = |over: &&FrequencyOverTime| own.contains(&over.domain);
        let shown: Vec<&FrequencyOverTime> = match all.iter().any(|over| ran_on(&over)) {
            true => all.iter().filter(ran_on).collect(),
            false => all.iter().collect(),
        };
        let until = self.ms(self.span.to_ns);
        let curve = |over: &FrequencyOverTime| {
            let point = |p: &flyball_events::questions::frequency::FrequencyPoint| Point {
                t_ms: self.ms(p.t_ns),
                value: p.khz as f64 / 1e6,
            };
            Curve::new(over.domain.clone(), "GHz", over.points.iter().map(point), until)
        };
        shown.into_iter().map(curve).collect()
    }

    /// Milliseconds from time zero.
    fn ms(&self, t_ns: u64) -> f64 {
        t_ns.saturating_sub(self.span.from_ns) as f64 / 1e6
    }

    /// Length of the view in milliseconds.
    pub fn length_ms(&self) -> f64 {
        self.span.length_ns() as f64 / 1e6
    }
}

/// Collects why questions have no answer.
struct Asker {
    missing: Vec<Missing>,
}

impl Asker {
    fn keep<T>(&mut self, answer: Result<T, Missing>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(missing) => {
                if !self.missing.contains(&missing) {
                    self.missing.push(missing);
                }
                None
            }
        }
    }
}

/// The task that ran longest; the first with signals where nobody recorded who ran.
fn longest(recording: &Recording<'_>) -> Option<Task> {
    let times = CpuTime::all(recording).unwrap_or_default();
    let mut sums = std::collections::BTreeMap::<u32, u64>::new();
    for time in times.iter().flat_map(|cpu| &cpu.tasks) {
        let sum = sums.entry(time.task.tid).or_default();
        *sum = sum.saturating_add(time.ran_ns);
    }
    // Of equals the lowest number.
    let ran = sums.iter().rev().max_by_key(|(_, ran)| **ran).map(|(&tid, _)| recording.task(tid));
    ran.or_else(|| recording.tasks().next())
}
