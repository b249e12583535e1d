//! A clock domain as the engine sees it.

use flyball_governors::{CpuSignals, CpuTimes, Governor, Needs, UtilFlags};
use flyball_platform::{FrequencyControl, IdleState, OperatingPoint, Transition};
use flyball_units::{KiloHertz, OppTable, Relation};

/// A clock domain.
pub(super) struct Domain {
    pub(super) name: String,
    /// Numbers of its CPUs.
    pub(super) cpus: Vec<usize>,
    pub(super) opps: OppTable,
    pub(super) points: Vec<OperatingPoint>,
    /// What the estimate of energy knows of each.
    pub(super) energy: Vec<EnergyPoint>,
    pub(super) idle_states: Vec<IdleState>,
    pub(super) transition: Transition,
    pub(super) control: FrequencyControl,
    pub(super) frequency_invariant: bool,
    /// Whether CPUs of other domains may ask for a frequency.
    pub(super) from_any_cpu: bool,

    pub(super) governor: Box<dyn Governor>,
    pub(super) needs: Needs,
    /// The governor's copy of its CPUs' signals.
    pub(super) signals: Vec<CpuSignals>,
    /// Questions that CPUs are on the way to, in the order in which they will be asked.
    pub(super) questions: Vec<Question>,
    /// Its CPUs' times at the last poll.
    pub(super) times: Vec<CpuTimes>,
    /// When the governor wants to be woken; `u64::MAX`: never.
    pub(super) wake_at: u64,
    /// That time has come; the governor waits for the scheduler's call.
    pub(super) deferred: bool,
    /// The scheduler has called; the governor's worker is on its way.
    pub(super) called: bool,
    /// Task that does the governor's work, if it costs something.
    pub(super) governor_task: Option<usize>,
    /// The kernel has a worker on each CPU, for all of which that task stands: what each was denied when it last slept,
    /// in the order of `cpus`.
    pub(super) worker_lags: Vec<i64>,
    /// That task is a daemon with a timer, not a worker of the kernel's.
    pub(super) daemon: bool,
    /// When the scheduler called the governor last, or its time came where it needs no call.
    pub(super) called_at: u64,
    /// How late the clock was read then.
    pub(super) called_late: u64,
    /// When the period that began then is over.
    pub(super) period_ends_at: u64,

    /// Present operating point.
    pub(super) point: usize,
    /// What a busy CPU and an idle one whose clock runs take there, in mW.
    pub(super) powers: [f64; 2],
    /// Time for which its CPUs were busy since that point holds, in ns.
    pub(super) busy_now: u64,
    /// What was asked for last.
    pub(super) wanted: (KiloHertz, Relation),
    /// Least time between two changes that performance levels lead to, in ns: schedutil, which
    /// carries them out, has a rate limit.
    pub(super) level_limit: u64,
    /// The performance level that was asked for last.
    pub(super) level: Option<u32>,
    /// When a performance level last changed the frequency.
    pub(super) level_changed: Option<u64>,
    /// Change in flight.
    pub(super) change: Option<Change>,
    /// Whether its frequencies are prescribed.
    pub(super) prescribed: bool,
    /// Policy limits.
    pub(super) min: KiloHertz,
    pub(super) max: KiloHertz,
    /// Highest point that the temperature allows.
    pub(super) thermal_cap: usize,

    /// Since when it is at `point`.
    pub(super) since: u64,
    pub(super) residency: Vec<u64>,
    /// The rest by point.
    pub(super) busy: Vec<u64>,
    pub(super) transitions: u64,
    pub(super) governor_events: u64,
    /// When the last question was asked, how much later than that moment its CPU had come to it, and how much later the last CPU to its first one.
    pub(super) asked: (u64, u64, u64),
    pub(super) governor_wakeups: u64,
    pub(super) throttled_since: Option<u64>,

    /// Demand-driven hardware: when it decides next, and its CPUs' busy times at the last time.
    pub(super) demand_at: u64,
    pub(super) demand_busy: Vec<u64>,
}

/// An operating point as the kernel's energy model has it, in its integers, so that near ties fall as there.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnergyPoint {
    /// Of one of the domain's CPUs, 1024 at the highest point of the largest.
    performance: u32,
    /// Power of a busy CPU in microwatts times ten, for each unit of performance.
    cost: u64,
}

impl EnergyPoint {
    /// Those of `points`, of CPUs of this capacity at `top`.
    pub(super) fn of(points: &[OperatingPoint], capacity: u32, top: KiloHertz) -> Vec<EnergyPoint> {
        let of = |point: &OperatingPoint| {
            let performance = u64::from(capacity) * point.frequency.0 / top.0.max(1);
            let cost = (point.busy_power_mw * 1e4) as u64 / performance.max(1);
            // At most the capacity.
            EnergyPoint { performance: performance as u32, cost }
        };
        points.iter().map(of).collect()
    }
}

/// What a CPU is about to ask: from the reading of its clock, which made it do so, it has some way to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    /// When it does.
    pub(super) at: u64,
    /// When the clock was read, as it tells.
    pub(super) read_at: u64,
    /// For which CPU.
    pub(super) cpu: usize,
    /// The signals of that one, whose queue nobody else changes meanwhile.
    pub(super) own: CpuSignals,
    pub(super) flags: UtilFlags,
}

/// A change of frequency that was written and does not hold yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Destination.
    pub(super) to: usize,
    /// When hardware takes it up: until then another write replaces it.
    pub(super) acts_at: u64,
    /// How long the domain's CPUs execute nothing from `acts_at` on.
    pub(super) stall: u64,
    /// When the frequency holds.
    pub(super) holds_at: u64,
    /// Whether `acts_at` has passed.
    pub(super) acting: bool,
    /// A destination that came later, and the CPU that wrote it.
    pub(super) queued: Option<(usize, usize)>,
}

impl Domain {
    /// Time of its next event.
    #[inline]
    pub(super) fn next_event(&self) -> u64 {
        let change = match self.change {
            Some(Change { acts_at, acting: false, .. }) => acts_at,
            Some(Change { holds_at, .. }) => holds_at,
            None => u64::MAX,
        };
        let question = self.questions.first().map_or(u64::MAX, |question| question.at);
        change.min(self.wake_at).min(self.demand_at).min(question)
    }

    /// It is at operating point `to` from now on; what its CPUs did up to now is accounted.
    pub(super) fn be_at(&mut self, to: usize) {
        self.busy[self.point] += std::mem::take(&mut self.busy_now);
        self.point = to;
        let point = &self.points[to];
        self.powers = [point.busy_power_mw, point.idle_power_mw];
    }

    /// A CPU will ask.
    pub(super) fn expect(&mut self, question: Question) {
        let behind = self.questions.partition_point(|other| other.at <= question.at);
        self.questions.insert(behind, question);
    }

    /// The question that is asked now, if one is.
    pub(super) fn next_question(&mut self, now: u64) -> Option<Question> {
        let is_due = self.questions.first().is_some_and(|question| question.at <= now);
        is_due.then(|| self.questions.remove(0))
    }

    /// The point it is at or on the way to.
    #[inline]
    pub(super) fn destination(&self) -> usize {
        match self.change {
            Some(Change { queued: Some((to, _)), .. }) => to,
            Some(Change { to, .. }) => to,
            None => self.point,
        }
    }

    /// Estimated power for each unit of utilisation at the lowest point that has the performance `asked`.
    #[inline]
    pub(super) fn energy_at(&self, asked: u32) -> u64 {
        let enough = self.energy.partition_point(|point| point.performance < asked);
        self.energy.get(enough).or(self.energy.last()).map_or(0, |point| point.cost)
    }

    /// The operating point that a wish comes to under the limits of now.
    #[inline]
    pub(super) fn resolve(&self, (target, relation): (KiloHertz, Relation)) -> usize {
        let max = self.ceiling();
        self.opps.resolve_index(target, self.min.min(max), max, relation)
    }

    /// Highest frequency allowed now.
    #[inline]
    pub(super) fn ceiling(&self) -> KiloHertz {
        self.max.min(self.points[self.thermal_cap].frequency)
    }
}
