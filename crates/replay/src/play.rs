//! One replay under one governor.

use crate::error::ReplayError;
use crate::outcome::{Outcome, Watched, Way};

use crate::subject::Subject;
use flyball_run::{Frequencies, FrequencySample, Item, Items};
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::observe::Observer;
use flyball_sim::record::{Quantiles, Stop};
use flyball_sim::setup::TaskId;
use flyball_sim::workload::Pace;
use flyball_units::{CpuId, GovernorSpec, KiloHertz, Nanos};

/// Simulated time between two looks at whether to stop.
const LOOK: Nanos = Nanos::from_secs(1);

/// In a closed loop, between two looks at whether everything is done: how exact its length is.
const CLOSED_LOOK: Nanos = Nanos::from_millis(10);

/// Items above this number are counted, not kept one by one.
const ITEMS_MAX: usize = 1_000_000;

/// Rows that are kept of a replay.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Every item, unless there were too many.
    pub items: Items,
    /// Every change of frequency, unless there were too many.
    pub frequency: Frequencies,
    /// Whether there were too many of either.
    pub cut: bool,
    /// The totals.
    pub summary: Option<Summary>,
}

/// Replays `subject` under `choice`. With `kept` rows are kept as well, which takes its time.
///
/// # Errors
/// No such governor; a machine that contradicts itself; `stop`.
pub fn play(
    subject: &Subject,
    choice: &GovernorSpec,
    kept: Option<&mut Kept>,
    stop: Stop<'_>,
) -> Result<Outcome, ReplayError> {
    let setup = subject.setup(choice)?;
    let until = setup.duration;
    let names: Vec<String> = setup.tasks.iter().map(|task| task.name.clone()).collect();
    let mut machine = Machine::new(setup).map_err(|error| {
        ReplayError::bad_input(subject.platform().name.clone(), "a machine", error.to_string())
    })?;
    let way = machine.cannot_leap().map_or(Way::Leaps, Way::Events);
    let mut watch = Watch {
        latency: Quantiles::default(),
        deadline: subject.deadline().map(|deadline| deadline.0),
        late: 0,
        begun: 0,
        open: vec![None; names.len()],
        names,
        domains: subject.platform().domains.iter().map(|d| d.name.clone()).collect(),
        kept,
    };
    let look = if subject.pace() == Pace::Closed { CLOSED_LOOK } else { LOOK };
    while machine.now() < until && !(subject.pace() == Pace::Closed && machine.all_ended()) {
        if stop() {
            return Err(ReplayError::interrupted());
        }
        let next = (machine.now() + look).min(until);
        match way {
            Way::Leaps => machine.leap(next, &mut watch),
            Way::Events(_) => machine.run_seen(next, &mut [&mut watch]),
        }
    }
    let summary = machine.finish();
    let watched = Watched {
        late: watch.deadline.map(|_| watch.late),
        begun: watch.begun,
        latency: watch.latency,
    };
    let outcome = Outcome::new(choice.to_string(), way, &watched, &summary, subject.recorded());
    if let Some(kept) = watch.kept {
        kept.summary = Some(summary);
    }
    Ok(outcome)
}

/// An item in flight: its number, release, begin and CPU.
type Open = Option<(u64, Nanos, Nanos, CpuId)>;

struct Watch<'a> {
    latency: Quantiles,
    deadline: Option<u64>,
    late: u64,
    begun: u64,
    open: Vec<Open>,
    names: Vec<String>,
    domains: Vec<String>,
    kept: Option<&'a mut Kept>,
}

impl Watch<'_> {
    fn keep_item(&mut self, t: usize, open: (u64, Nanos, Nanos, CpuId), at: Nanos, cpu: CpuId) {
        let Some(kept) = &mut self.kept else { return };
        if kept.items.len() >= ITEMS_MAX {
            kept.cut = true;
            return;
        }
        let (item, released, begun, first_cpu) = open;
        kept.items.push(Item {
            tid: t as u32 + 1,
            task: self.names.get(t).cloned().unwrap_or_default(),
            item,
            released_ns: released.0,
            started_ns: Some(begun.0),
            ended_ns: Some(at.0),
            latency_ns: Some(at.since(released).0),
            deadline_ns: self.deadline.map(|deadline| released.0.saturating_add(deadline)),
            cpu: Some(first_cpu.0),
            ended_cpu: Some(cpu.0),
            trial: None,
        });
    }
}

impl Observer for Watch<'_> {
    fn item_begun(&mut self, at: Nanos, task: TaskId, item: u64, released: Nanos, cpu: CpuId) {
        self.begun += 1;
        if let Some(open) = self.open.get_mut(task.0 as usize) {
            *open = Some((item, released, at, cpu));
        }
    }

    fn item_ended(&mut self, at: Nanos, task: TaskId, item: u64, cpu: CpuId) {
        let t = task.0 as usize;
        let open = self.open.get_mut(t).and_then(Option::take);
        let Some(open) = open.filter(|open| open.0 == item) else { return };
        let latency = at.since(open.1).0;
        self.latency.add(latency);
        self.late += u64::from(self.deadline.is_some_and(|deadline| latency > deadline));
        if self.kept.is_some() {
            self.keep_item(t, open, at, cpu);
        }
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        let Some(kept) = &mut self.kept else { return };
        if kept.frequency.len() >= ITEMS_MAX {
            kept.cut = true;
            return;
        }
        kept.frequency.push(FrequencySample {
            t_ns: at.0,
            domain: self.domains.get(domain).cloned().unwrap_or_default(),
            delivered_khz: Some(frequency.0),
            source: "model".to_owned(),
            ..FrequencySample::default()
        });
    }
}
