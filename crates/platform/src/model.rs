//! What a platform and a kernel are, after their files were read and checked: the input of the
//! simulated machine and of the virtual board. Every `Vec` is in the order of its ids.

use flyball_pelt::Features;
use flyball_units::{
    Capacity, CpuId, KernelRules, KernelVersion, KiloHertz, Nanos, OppTable, RateLimitRule,
};

/// Hardware.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// Short name, the file's stem: `apple-m1`.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// What the figures rest on, and what is assumed.
    pub notes: String,
    /// Name of the shipped kernel that it runs where nothing else is asked for.
    pub default_kernel: String,
    /// Its architecture; None where the description does not say it.
    pub architecture: Option<Architecture>,
    /// CPUs, numbered from 0 without gaps.
    pub cpus: Vec<Cpu>,
    /// Clock domains; each CPU is in exactly one.
    pub domains: Vec<ClockDomain>,
    /// Power that flows whatever the CPUs do, in milliwatts.
    pub base_power_mw: f64,
    /// What one sample of the kernel's samplers costs.
    pub sampler: SamplerCost,
    /// How late a tick reads the clock that samplers look at.
    pub tick_reading: TickReading,
    /// What the kernel's own instructions cost on the way to a task's first one.
    pub paths: Paths,
    /// How long before events the kernel read its clock.
    pub clock_readings: ClockReadings,
    /// From one question of a CPU to schedutil to its next that comes at once.
    pub question_cycles: u64,
    /// From the tick of one CPU to that of another, on average.
    pub tick_spread: Nanos,
    /// From a busy CPU's question at its tick to that of the idle CPU that it wakes to balance, on average.
    pub round_spread: Nanos,
    /// From the tick that finds a task that does not fit its CPU to its move.
    pub balancer_latency: Nanos,
    /// How long the longest look for work took a CPU that went idle.
    pub idle_balance_cost: IdleBalanceCost,
    /// How heat leaves the package; None where it is not described.
    pub thermal: Option<Thermal>,
    /// Sources of the figures, by the path of what they cover: (`domains.e.opps`, text). A text
    /// starting with "assumed" marks a figure without a source.
    pub sources: Vec<(String, String)>,
}

/// How long the longest look for work took a CPU that went idle (`max_newidle_lb_cost`): it looks only where it is idle for longer
/// on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleBalanceCost {
    /// At the CPUs next to it: of its cluster, or all, where there are none.
    pub near: Nanos,
    /// At these and all others.
    pub all: Nanos,
}

/// How long before events a CPU's clock is read, by which load tracking goes, in cycles of the reference kind of core. From a
/// reading on, and until one, a task counts as running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ClockReadings {
    /// For a wake-up of an idle CPU. Where it is 0, nothing is known.
    pub wake_cycles: u64,
    /// For a task that goes to sleep, where its signals cross no period.
    pub sleep_cycles: u64,
    /// And where they do, which takes time to record.
    pub crossing_sleep_cycles: u64,
    /// For what makes schedutil ask for another frequency, before that changes.
    pub change_cycles: u64,
}

/// The architecture of a machine, as `uname -m` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// 64-bit x86.
    #[serde(rename = "x86_64")]
    X86_64,
    /// 64-bit ARM.
    Aarch64,
}

/// What one sample of the kernel's samplers costs, in cycles of a worker on the CPU that called it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplerCost {
    /// All of it; 0: it takes no time, and no worker.
    pub cycles: u64,
    /// Of these those until it decides; None: all. Measured.
    pub decision_cycles: Option<u64>,
    /// How many more they are where that changes the frequency. Measured.
    pub change_cycles: u64,
    /// Those from the scheduler's call until the worker is awake.
    pub wake_cycles: u64,
}

/// What the kernel's own instructions cost on the way to a task's first one, in cycles: no description says it, it is measured; 0 where
/// it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// From a wake-up of an idle CPU to the task's first instruction, where that takes longer than the idle state's exit latency.
    pub switch: u64,
    /// The same from a task's creation on; 0: as after a wake-up.
    pub birth: u64,
    /// From a timer's interrupt to the wake-up that it brings: the choice of a CPU.
    pub interrupt: u64,
    /// From one wake-up in an interrupt to the next.
    pub next: u64,
    /// From a choice until the task is in the queue of its own CPU, where it stays.
    pub stays: u64,
    /// From a choice until the task is in the queue of another, busy CPU, where the one that wakes it puts it: cycles of that one.
    pub put: u64,
    /// From a choice until the task is in the queue of another, idle CPU, which an interrupt tells of it.
    pub told: u64,
    /// From one task of which a CPU is told to the next of the same interrupt.
    pub next_told: u64,
    /// From when a deadline task's next period begins until it is in a queue.
    pub period: u64,
    /// From then until an idle CPU to which it was pushed reads its clock for it; 0: as after a wake-up.
    pub pushed: u64,
    /// The same of one where another task runs.
    pub pushed_busy: u64,
}

/// How late a tick reads the clock that samplers look at: whether a period that ends just with a tick is over depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickReading {
    /// Cycles from when a busy CPU's tick is due.
    pub busy_cycles: u64,
    /// The same of an idle CPU's, which has to leave its idle state, and reads the clock behind the tick.
    pub idle_cycles: u64,
    /// What both vary by, evenly, from tick to tick.
    pub jitter: Nanos,
}

impl Default for TickReading {
    /// For hardware where nobody measured it: an idle CPU's tick is the later one.
    fn default() -> TickReading {
        TickReading { busy_cycles: 0, idle_cycles: 10_000, jitter: Nanos::from_micros(1) }
    }
}

/// One CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// Its number.
    pub id: CpuId,
    /// Kind of core: `E`, `P`, `A53`.
    pub core_type: String,
    /// Capacity at its highest frequency.
    pub capacity: Capacity,
    /// Position of its clock domain in [`Platform::domains`].
    pub domain: usize,
    /// Work done per cycle, relative to the core type whose cycles the workloads are counted in
    /// (1.0 there).
    pub work_per_cycle: f64,
    /// Other CPUs on the same core.
    pub siblings: Vec<CpuId>,
    /// Its speed while one of these is busy, relative to when none is; 1.0 without siblings.
    pub thread_speed: f64,
}

/// CPUs that share a clock.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockDomain {
    /// Its name: `e`, `p`, `package`.
    pub name: String,
    /// Its CPUs, ascending.
    pub cpus: Vec<CpuId>,
    /// Operating points for the governor.
    pub opps: OppTable,
    /// The same points with power, in the same order.
    pub points: Vec<OperatingPoint>,
    /// Who chooses the frequency.
    pub control: FrequencyControl,
    /// What changing the frequency costs.
    pub transition: Transition,
    /// Idle states of its CPUs, shallowest first; the first is entered where no other may be.
    pub idle: Vec<IdleState>,
    /// Whether utilisation is frequency-invariant on this hardware.
    pub frequency_invariant: bool,
    /// Whether the driver can switch from the scheduler's context.
    pub fast_switch: bool,
    /// Whether a CPU of another domain may change the frequency.
    pub from_any_cpu: bool,
    /// What its samples cost, where that was measured; None: what the platform says of all.
    pub measured_sampler: Option<SamplerCost>,
}

/// One operating point.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatingPoint {
    /// What governors ask for and the operating system lists: the point's key in
    /// [`ClockDomain::opps`].
    pub frequency: KiloHertz,
    /// Speed that software sees; less where hardware delivers less than it lists.
    pub effective: KiloHertz,
    /// What kind of point it is.
    pub kind: PointKind,
    /// Supply voltage in millivolts, where known.
    pub millivolts: Option<f64>,
    /// Power of one busy CPU, in milliwatts.
    pub busy_power_mw: f64,
    /// Power of one CPU that is awake in the idle loop, clock running, in milliwatts.
    pub idle_power_mw: f64,
}

/// Kinds of operating points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointKind {
    /// A frequency of its own.
    #[default]
    Normal,
    /// Opportunistic: not guaranteed when all CPUs are busy.
    Boost,
    /// Clock modulation (ACPI T-states): a lower speed without a lower voltage.
    Throttle,
}

/// Who chooses the frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrequencyControl {
    /// The operating system's governor.
    Software,
    /// The hardware or its firmware, by demand; governors have no say (Apple's macOS, HWP).
    Demand {
        /// How often it decides.
        period: Nanos,
        /// Busy share of the busiest CPU of the domain above which it goes to the maximum.
        up_percent: u8,
        /// ... below which it goes one point down.
        down_percent: u8,
    },
}

/// What a change of frequency costs. *Write* is how long the writer is busy, *stall* how long the
/// domain's CPUs execute nothing, *effect* how long after the write the new frequency holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// Time of the write, charged to the CPU that writes.
    pub write: Cost,
    /// Time without execution, on every CPU of the domain.
    pub stall: Cost,
    /// From the end of the write until the new frequency holds, the grid not included.
    pub effect: Cost,
    /// Hardware acts only at multiples of this, if any (Zen 2: 1 ms).
    pub grid: Option<Nanos>,
    /// Declared latency (`cpuinfo_transition_latency`); None is cpufreq's "eternal".
    pub declared_latency: Option<Nanos>,
    /// Declared least time between changes (`transition_delay_us`).
    pub declared_delay: Option<Nanos>,
    /// Whether the driver hears of new limits even where they do not change the frequency
    /// (`CPUFREQ_NEED_UPDATE_LIMITS`).
    pub need_update_limits: bool,
}

/// A time that may depend on the two operating points (positions in [`ClockDomain::points`]).
#[derive(Clone, Debug, PartialEq)]
pub enum Cost {
    /// Always the same.
    Constant(Nanos),
    /// One for rising, one for falling.
    Direction {
        /// From lower to higher.
        up: Nanos,
        /// From higher to lower.
        down: Nanos,
    },
    /// A fixed part and one per point passed.
    ByDistance {
        /// Fixed part.
        base: Nanos,
        /// Per point between source and destination.
        per_point: Nanos,
    },
    /// `matrix[from][to]`.
    Matrix(Vec<Vec<Nanos>>),
}

impl Cost {
    /// The time for a change from point `from` to point `to`; zero where they are the same.
    #[inline]
    pub fn of(&self, from: usize, to: usize) -> Nanos {
        if from == to {
            return Nanos::ZERO;
        }
        match self {
            Cost::Constant(time) => *time,
            Cost::Direction { up, down } => *if to > from { up } else { down },
            Cost::ByDistance { base, per_point } => {
                *base + Nanos(per_point.0.saturating_mul(from.abs_diff(to) as u64))
            }
            Cost::Matrix(rows) => {
                rows.get(from).and_then(|row| row.get(to)).copied().unwrap_or_default()
            }
        }
    }
}

/// An idle state.
#[derive(Clone, Debug, PartialEq)]
pub struct IdleState {
    /// Its name: `WFI`, `C3`.
    pub name: String,
    /// Time to wake up from it.
    pub exit_latency: Nanos,
    /// Shortest stay that pays.
    pub target_residency: Nanos,
    /// Power while in it, in milliwatts.
    pub power_mw: f64,
    /// Whether the tick's timer stops in it.
    pub stops_timer: bool,
    /// Whether the CPU asks again and again whether there is work, instead of sleeping.
    pub polling: bool,
}

/// A first-order thermal model: T tends to ambient + resistance x power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thermal {
    /// In degrees Celsius.
    pub ambient_c: f64,
    /// In kelvin per watt.
    pub resistance_k_per_w: f64,
    /// Time constant, in seconds.
    pub time_constant_s: f64,
    /// Where the hardware starts to throttle, in degrees Celsius.
    pub throttle_c: Option<f64>,
    /// Critical temperature, in degrees Celsius.
    pub critical_c: Option<f64>,
}

/// A kernel: what software brings.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Short name, the file's stem: `linux-6.12`.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// What the figures rest on, and what is assumed.
    pub notes: String,
    /// Name of the governor that rules where nothing else is asked for.
    pub default_governor: String,
    /// Version of Linux; None where it is something else.
    pub version: Option<KernelVersion>,
    /// Which named rules hold.
    pub rules: KernelRules,
    /// Ticks per second.
    pub hz: u32,
    /// Rate of the statistics clock, in Hz; the tick's on Linux.
    pub stat_hz: u32,
    /// What happens to the tick of an idle CPU.
    pub idle_tick: IdleTick,
    /// Which rule gives schedutil's default rate limit.
    pub rate_limit_rule: RateLimitRule,
    /// A rate limit set by the administrator, in microseconds.
    pub rate_limit_us: Option<u32>,
    /// Whether uclamp is built in.
    pub uclamp: bool,
    /// Whether placement uses capacities.
    pub capacity_aware: bool,
    /// Whether placement uses the energy model.
    pub energy_aware: bool,
    /// Slice of a fair task.
    pub slice: Nanos,
    /// How an idle state is chosen.
    pub idle_governor: IdleGovernor,
    /// The longest exit latency of an idle state that is allowed (PM QoS); None: any.
    pub latency_limit: Option<Nanos>,
    /// Patches of the response-time series that it has.
    pub features: Features,
    /// Sources of the figures, as in [`Platform::sources`].
    pub sources: Vec<(String, String)>,
}

/// What happens to the tick of an idle CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleTick {
    /// It stops (NO_HZ_IDLE).
    #[default]
    Stops,
    /// It goes on (FreeBSD before it was tickless).
    Continues,
}

/// How an idle state is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleGovernor {
    /// Only the shallowest state.
    None,
    /// Next timer times a correction learnt from past sleeps.
    #[default]
    Menu,
    /// Past sleeps in bins of the states.
    Teo,
    /// A guest's: polls in the first state, then halts in the second.
    Haltpoll,
}

impl Kernel {
    /// Whether a ramp of a task's demand is followed by clamps: the kernel raises no estimate by itself.
    pub fn ramps_by_clamps(&self) -> bool {
        !self.features.util_est_ramp_up
    }
}

impl Platform {
    /// The clock domain of a CPU; None where the platform has no such CPU.
    pub fn domain(&self, cpu: CpuId) -> Option<&ClockDomain> {
        let cpu = self.cpus.get(usize::try_from(cpu.0).ok()?)?;
        self.domains.get(cpu.domain)
    }

    /// Whether all CPUs have one capacity.
    pub fn capacities_equal(&self) -> bool {
        self.cpus.windows(2).all(|two| two[0].capacity == two[1].capacity)
    }

    /// The sources of figures that were neither measured nor published: those starting with "assumed".
    pub fn assumptions(&self) -> impl Iterator<Item = &(String, String)> {
        self.sources.iter().filter(|(_, text)| text.starts_with("assumed"))
    }
}
