//! A scenario after it was read and checked.

use crate::behavior::Behavior;
use crate::setup::{Before, Cared, Cgroup, Class, Creator, Hint, Placed, Placement};
use crate::workload::rt_app::Program;
use crate::workload::{Amount, FullSpeed, Overrun, Recorded, Service, Way};
use flyball_platform::{Kernel, Platform};
use flyball_units::{CpuId, KiloHertz, Nanos};
use std::fmt;
use std::sync::Arc;

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub question: Option<String>,
    /// The hardware.
    pub platform: Platform,
    /// The kernel, with the scenario's tick and features.
    pub kernel: Kernel,
    /// One per clock domain.
    pub governors: Vec<GovernorSpec>,
    /// Work of one decision of a governor that runs as a task.
    pub governor_cost: Amount,
    /// CPU that it runs on.
    pub governor_cpu: CpuId,
    /// Time from when a clamp is due until whoever sets it begins to see to it.
    pub controller_delay: Nanos,
    /// CPU time that it takes for that.
    pub controller_busy: Nanos,
    /// Where in their period the ticks of several playings elsewhere were, which the phases take in turn; none: at even
    /// distances. No file says it.
    pub measured_ticks: Vec<Nanos>,
    /// What was before those playings, in the same order; empty: nothing. No file says it.
    pub measured_before: Vec<Before>,
    /// When which frequency held in those playings, for each clock domain: the phases have these, and not their governors';
    /// empty: theirs. No file says it.
    pub measured_frequencies: Vec<Vec<Vec<(Nanos, KiloHertz)>>>,
    /// When signals of idle CPUs were brought up to date in those playings, likewise.
    pub measured_care: Vec<Vec<Cared>>,
    /// Placement at wake-up.
    pub placement: Placement,
    /// Simulated time per phase.
    pub duration: Nanos,
    /// Seed of everything random.
    pub seed: u64,
    /// Phases of the grid, at least 1.
    pub phases: u32,
    /// What is kept.
    pub record: Record,
    /// The phase whose events are kept.
    pub record_phase: u32,
    /// Utilisations whose time to reach is reported.
    pub utilization: Vec<u32>,
    /// Background load.
    pub load: Vec<LoadGroup>,
    /// Control groups.
    pub cgroups: Vec<Cgroup>,
    /// The tasks.
    pub tasks: Vec<TaskSpec>,
    /// Hints about tasks that the scheduler gets.
    pub hints: Vec<HintSpec>,
    /// Noise.
    pub interrupts: Vec<InterruptSpec>,
    /// The scenario as run, in TOML.
    pub text: String,
}

/// What a run keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// Nothing: results are printed only.
    None,
    /// The results of every phase.
    #[default]
    Summary,
    /// Also every event of one phase.
    Full,
}

/// The governor of one clock domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GovernorSpec {
    /// Its name.
    pub name: String,
    /// Tunables that differ from the defaults, checked.
    pub tunables: Vec<(String, i64)>,
    /// Policy limits; None where the hardware's hold.
    pub limits: Option<(KiloHertz, KiloHertz)>,
    /// Frequency at the start.
    pub initial: Option<KiloHertz>,
}

/// A task, or several of one kind.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// Its name.
    pub name: String,
    /// How many.
    pub count: u32,
    /// Scheduling class.
    pub class: Class,
    /// CPUs it may run on; empty: all.
    pub cpus: Vec<CpuId>,
    /// Its control group: a position in [`Scenario::cgroups`].
    pub cgroup: Option<usize>,
    /// Lower clamp.
    pub uclamp_min: u32,
    /// Upper clamp.
    pub uclamp_max: u32,
    /// The series' multiplier.
    pub rampup_multiplier: Option<u32>,
    /// The multiplier of a ramp that its lower clamp follows.
    pub clamp_ramp: Option<u32>,
    /// When it is created.
    pub start: Nanos,
    /// Who creates it.
    pub creator: Creator,
    /// Utilisation at the start.
    pub initial_util: Option<u32>,
    /// What it does.
    pub workload: Workload,
    /// What each of its tasks did in several playings elsewhere, which the phases take in turn: no file says it.
    pub measured: Vec<Vec<Measured>>,
    /// Relative deadline of its items, where they have one.
    pub deadline: Option<Nanos>,
}

/// What a task did in a playing.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Where its creator was awake, if nobody is said to be.
    pub creator_cpu: Option<CpuId>,
    /// Whether it had been denied a slice when it last slept, if it was there before.
    pub was_denied: bool,
    /// Whether it was on another CPU before.
    pub comes: bool,
    /// Where it begins, if nobody is said to create it and that does not follow from where its creator was.
    pub born_on: Option<CpuId>,
    /// Its first utilisation, if none is said.
    pub initial_util: Option<u32>,
    /// What is expected of it then.
    pub initial_util_est: u32,
    /// When it was created, if nothing is said.
    pub start: Option<Nanos>,
    /// What it did before its items, or its mark: it does this instead of its sleeps.
    pub set_up: Option<Arc<[Recorded]>>,
    /// Its items in order of their release, from the beginning of the scenario, and the way to these and from them: instead
    /// of its workload.
    pub items: Option<(Arc<[Recorded]>, Way)>,
    /// Where it was, by time, if the scheduler is not to decide that.
    pub placed: Vec<Placed>,
}

impl TaskSpec {
    /// What the task of this number did in the playing that a phase takes.
    pub(super) fn measured_in(&self, phase: u32, number: usize) -> Option<&Measured> {
        let playing = (phase as usize).checked_rem(self.measured.len())?;
        self.measured.get(playing)?.get(number)
    }

    /// The names of its tasks, in the order in which they are numbered.
    pub fn names(&self) -> Vec<String> {
        if let Workload::RtApp(program) = &self.workload {
            let threads = program.threads.iter();
            return threads.map(|thread| format!("{}.{}", self.name, thread.name)).collect();
        }
        let helpers = match &self.workload {
            Workload::PageLoad(page) => page.helpers,
            _ => 0,
        };
        let one = |number: u32| {
            let name = match number {
                1 => self.name.clone(),
                _ => format!("{}-{number}", self.name),
            };
            let helpers: Vec<String> =
                (1..=helpers).map(|helper| format!("{name}.helper-{helper}")).collect();
            std::iter::once(name).chain(helpers)
        };
        (1..=self.count).flat_map(one).collect()
    }
}

/// A call that tells the scheduler something about a task, or about each of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintSpec {
    /// When.
    pub at: Nanos,
    /// Name of a task, or of a [`TaskSpec`] for all of its tasks.
    pub task: String,
    /// What it says.
    pub hint: Hint,
}

/// What a task does.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Whatever its behaviour does.
    Making(Making),
    /// Sleeps, a mark, and work without end.
    Rampup {
        /// How many sleeps.
        sleeps: u32,
        /// Length of each.
        gap: Nanos,
    },
    /// One item per period.
    Periodic(Release),
    /// A signal kernel, periodically.
    Kernel {
        /// Its name.
        kernel: &'static str,
        /// When.
        release: Release,
    },
    /// An interactive page with its helpers.
    PageLoad(PageSpec),
    /// Requests at random times.
    Poisson {
        /// Mean time between arrivals.
        mean: Nanos,
        /// Mean work.
        work: Amount,
        /// Time for memory.
        memory: Nanos,
        /// Distribution of the work.
        service: Service,
    },
    /// Items of a recording, ascending by release.
    Recorded(Arc<[RecordedItem]>),
    /// An rt-app program.
    RtApp(Program),
}

/// An item of recorded work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedItem {
    /// When it becomes due, from the task's start.
    pub released: Nanos,
    /// Its work.
    pub work: Amount,
}

/// Makes the behaviour of a task from its start and the machine's full speed.
#[derive(Clone)]
pub struct Making(Arc<dyn Fn(Nanos, FullSpeed) -> Box<dyn Behavior> + Send + Sync>);

impl Making {
    /// A workload of tasks of the behaviour that `make` makes.
    pub fn of<B: Behavior + 'static>(
        make: impl Fn(Nanos, FullSpeed) -> B + Send + Sync + 'static,
    ) -> Workload {
        Workload::Making(Making(Arc::new(move |start, full_speed| {
            Box::new(make(start, full_speed))
        })))
    }

    /// One of them.
    pub fn behavior(&self, start: Nanos, full_speed: FullSpeed) -> Box<dyn Behavior> {
        (self.0)(start, full_speed)
    }
}

impl fmt::Debug for Making {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Making")
    }
}

/// Releases at regular times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// From release to release.
    pub period: Nanos,
    /// First release.
    pub phase: Nanos,
    /// Random delay.
    pub jitter: Nanos,
    /// What a busy task does about releases.
    pub overrun: Overrun,
    /// Work of an item; a kernel has its own.
    pub work: Amount,
    /// Its time for memory.
    pub memory: Nanos,
}

/// An interactive page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSpec {
    /// Hand-overs per page.
    pub stages: u32,
    /// Work of the main thread per stage.
    pub main: Amount,
    /// Work of a helper per stage.
    pub helper: Amount,
    /// Number of helpers.
    pub helpers: u32,
    /// Pause.
    pub pause: Nanos,
    /// Stages between pauses.
    pub pause_every: u32,
    /// Quiet time between pages.
    pub think: Nanos,
    /// Pages after which it ends.
    pub pages: Option<u64>,
}

/// Background load: some tasks at a share of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadGroup {
    /// One entry per task: the CPUs it may run on; empty: all.
    pub tasks: Vec<Vec<CpuId>>,
    /// Share of a CPU, 1 to 100.
    pub percent: u8,
}

/// Interrupts on one or more CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptSpec {
    /// CPUs that take it.
    pub cpus: Vec<CpuId>,
    /// Mean time between two on one CPU.
    pub mean: Nanos,
    /// Work of each.
    pub work: Amount,
    /// Its time for memory.
    pub memory: Nanos,
}
