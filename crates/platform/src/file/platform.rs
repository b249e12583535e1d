//! A platform as it is written in `platforms/*.toml`.

use super::value::{Amount, At, CostValue, Declared, Micros, Source};
use crate::model::Architecture;
use serde::Deserialize;

/// Hardware: its cores, clock domains, operating points, costs and power.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "platform"))]
#[serde(deny_unknown_fields)]
pub(crate) struct PlatformFile {
    /// Title for people.
    pub(crate) title: String,
    /// What the figures rest on and what is assumed, in a few sentences.
    pub(crate) notes: String,
    /// The kernel that it runs where nothing else is asked for, one that ships; without it,
    /// `linux-6.12`.
    pub(crate) default_kernel: Option<At<String>>,
    /// `x86_64` or `aarch64`, on which some of a kernel's rules depend; without it none of these holds.
    pub(crate) architecture: Option<Architecture>,
    /// Kinds of cores.
    pub(crate) cores: At<Vec<Cores>>,
    /// CPUs that share a clock, and what their clock can do.
    pub(crate) domains: At<Vec<DomainFile>>,
    /// Power that flows whatever the CPUs do; without this table 0.
    pub(crate) base: Option<Base>,
    /// What the kernel's samplers, ondemand and conservative, cost, and how late they are; without this table nothing, and
    /// not at all.
    pub(crate) sampler: Option<Sampler>,
    /// How far apart questions to schedutil are that come at once; without this table not at all.
    pub(crate) question: Option<Question>,
    /// How long the kernel's balancers take; without this table no time.
    pub(crate) balancer: Option<Balancer>,
    /// First-order thermal model; without this table nothing heats up.
    pub(crate) thermal: Option<ThermalFile>,
}

/// CPUs of one kind.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "cores"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Cores {
    /// Kind of core, for people: `E`, `A53`.
    #[serde(rename = "type")]
    pub(crate) core_type: String,
    /// CPU numbers as the kernel lists them: `0-3` or `0,2,4-5`.
    pub(crate) cpus: At<String>,
    /// Capacity at the highest frequency, 1 to 1024; the largest core of a machine has 1024.
    pub(crate) capacity: At<u32>,
    /// Work per cycle relative to the largest core. Without it, it follows from the capacities
    /// and the highest frequencies.
    pub(crate) work_per_cycle: Option<At<f64>>,
    /// CPUs that share a core (1: none do). Consecutive numbers are siblings.
    pub(crate) threads_per_core: Option<At<u32>>,
    /// Speed of each of a core's CPUs while another one of it is busy, relative to when it is alone:
    /// above 0 to 1. Without it 1.25 over their number: together they do a quarter more than one.
    pub(crate) thread_speed: Option<At<f64>>,
    /// Where the capacity and the work per cycle come from.
    pub(crate) source: Source,
}

fn yes() -> bool {
    true
}

/// A clock domain.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains"))]
#[serde(deny_unknown_fields)]
pub(crate) struct DomainFile {
    /// Its name: `e`, `package`. Of several domains from one table, the first CPU's number follows.
    pub(crate) name: At<String>,
    /// Its CPUs, as in `cores`.
    pub(crate) cpus: At<String>,
    /// Who shares the clock: `all` the CPUs listed, each `core` (with its siblings), or each `cpu`
    /// by itself.
    #[serde(default)]
    pub(crate) shared_by: SharedBy,
    /// Whether the kernel's utilisation is frequency-invariant here.
    pub(crate) frequency_invariant: bool,
    /// Whether the driver can switch from the scheduler's context.
    pub(crate) fast_switch: bool,
    /// Whether a CPU may change the frequency of others that are not of its domain
    /// (`dvfs_possible_from_any_cpu`): where not, what the scheduler does to them from elsewhere asks nobody.
    #[serde(default = "yes")]
    pub(crate) from_any_cpu: bool,
    /// Whether the kernel has an energy model of these CPUs: it then marks inefficient points, which
    /// relation E passes over.
    #[serde(default)]
    pub(crate) energy_model: bool,
    /// Where these facts come from.
    pub(crate) source: Source,
    /// Who chooses the frequency; without this table the operating system's governor.
    pub(crate) control: Option<Control>,
    /// The operating points.
    pub(crate) opps: Opps,
    /// Power by the formula C V^2 f, where the operating points do not say it themselves.
    pub(crate) power: Option<Power>,
    /// What a change of frequency costs in truth.
    pub(crate) transition: TransitionFile,
    /// What the driver declares that it costs.
    pub(crate) declared: DeclaredFile,
    /// The idle states.
    pub(crate) idle: Idle,
}

/// Who shares a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "lowercase")]
pub(crate) enum SharedBy {
    /// All CPUs of the table.
    #[default]
    All,
    /// The CPUs of each core.
    Core,
    /// Nobody.
    Cpu,
}

/// Who chooses the frequency.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.control"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Control {
    /// `demand`: the hardware or its firmware; governors have no say.
    #[expect(dead_code, reason = "there is one kind; the key says so in the file")]
    pub(crate) kind: ControlKind,
    /// How often the hardware decides.
    pub(crate) period_us: At<Micros>,
    /// Busy share of the busiest CPU above which it goes to the maximum.
    pub(crate) up_percent: At<u8>,
    /// Busy share below which it goes one point down.
    pub(crate) down_percent: u8,
    /// Where this rule comes from.
    pub(crate) source: Source,
}

/// Kinds of control.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "lowercase")]
pub(crate) enum ControlKind {
    /// The hardware, by demand.
    Demand,
}

/// The operating points of a domain.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.opps"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Opps {
    /// Sources of the columns.
    pub(crate) source: OppSources,
    /// One row per operating point, lowest first.
    pub(crate) points: At<Vec<At<Point>>>,
}

/// Where each column of the operating points comes from.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.opps.source"))]
#[serde(deny_unknown_fields)]
pub(crate) struct OppSources {
    /// Of the frequencies and kinds.
    pub(crate) frequency: Source,
    /// Of the voltages; needed where points have `mv`.
    pub(crate) voltage: Option<At<Source>>,
    /// Of the power; needed where points have `busy_mw` or `idle_mw`.
    pub(crate) power: Option<At<Source>>,
}

/// One operating point.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.opps.points"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    /// What governors ask for and the operating system lists.
    pub(crate) khz: u64,
    /// Speed that software sees, where hardware delivers less than it lists.
    pub(crate) effective_khz: Option<u64>,
    /// `normal`, `boost` (not guaranteed) or `throttle` (clock modulation).
    #[serde(default)]
    pub(crate) kind: Kind,
    /// Frequency of the clock that is modulated; throttle levels only.
    pub(crate) clock_khz: Option<u64>,
    /// Supply voltage in millivolts.
    pub(crate) mv: Option<Amount>,
    /// Power of one busy CPU. Without it, by `domains.power`.
    pub(crate) busy_mw: Option<Amount>,
    /// Power of one CPU awake in the idle loop. Without it, by `domains.power`.
    pub(crate) idle_mw: Option<Amount>,
}

/// Kinds of operating points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A frequency of its own.
    #[default]
    Normal,
    /// Opportunistic.
    Boost,
    /// Clock modulation.
    Throttle,
}

/// Power by formula: `busy = coefficient x MHz x V^2 / 1000 + static`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.power"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Power {
    /// Dynamic power of one busy CPU, in microwatts per MHz and square volt (the device tree's
    /// `dynamic-power-coefficient`).
    pub(crate) coefficient_uw_per_mhz_v2: Option<At<Amount>>,
    /// Power of one CPU that does not depend on the frequency.
    pub(crate) static_mw: Option<Amount>,
    /// Power in the idle loop, as a share of busy power.
    pub(crate) idle_percent: Option<At<Amount>>,
    /// Where these figures come from.
    pub(crate) source: Source,
}

/// What a change of frequency costs.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.transition"))]
#[serde(deny_unknown_fields)]
pub(crate) struct TransitionFile {
    /// Time of the write, paid by the CPU that writes.
    pub(crate) write_us: At<CostValue>,
    /// Time without execution, on every CPU of the domain.
    pub(crate) stall_us: At<CostValue>,
    /// From the end of the write until the new frequency holds, the grid not included.
    pub(crate) effect_us: At<CostValue>,
    /// Hardware acts only at multiples of this.
    pub(crate) grid_us: Option<At<Micros>>,
    /// Where these figures come from.
    pub(crate) source: Source,
}

/// What the driver declares.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.declared"))]
#[serde(deny_unknown_fields)]
pub(crate) struct DeclaredFile {
    /// `cpuinfo_transition_latency`, or `"eternal"` where the driver does not know.
    pub(crate) latency_us: Declared,
    /// `transition_delay_us`, if the driver asks for it.
    pub(crate) delay_us: Option<Micros>,
    /// Whether the driver hears of new limits even where they do not change the frequency
    /// (`CPUFREQ_NEED_UPDATE_LIMITS`).
    #[serde(default)]
    pub(crate) need_update_limits: bool,
    /// Where the declaration is seen.
    pub(crate) source: Source,
}

/// Idle states.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.idle"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Idle {
    /// Where the states and their figures come from.
    pub(crate) source: Source,
    /// One row per state, shallowest first.
    pub(crate) states: At<Vec<At<State>>>,
}

/// One idle state.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "domains.idle.states"))]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// Its name: `WFI`, `C3`.
    pub(crate) name: String,
    /// Time to wake up from it.
    pub(crate) exit_latency_us: Micros,
    /// Shortest stay that pays.
    pub(crate) target_residency_us: Micros,
    /// Power while in it.
    pub(crate) power_mw: Amount,
    /// Whether the tick's timer stops in it.
    #[serde(default)]
    pub(crate) stops_timer: bool,
    /// Whether the CPU asks again and again whether there is work, instead of sleeping (`POLL`): only the first may.
    #[serde(default)]
    pub(crate) polling: bool,
}

/// Power that flows whatever the CPUs do.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "base"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Base {
    /// The power.
    pub(crate) power_mw: Amount,
    /// Where it comes from.
    pub(crate) source: Source,
}

/// What the kernel's samplers, ondemand and conservative, cost, and how late they are.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "sampler"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Sampler {
    /// Cycles of the worker that takes a sample, decides and writes, on the CPU that called it.
    pub(crate) cycles: u64,
    /// Cycles from the scheduler's call until the worker is awake (an interrupt of its own, a work queue); 0 where absent.
    pub(crate) wake_cycles: Option<u64>,
    /// Cycles from when a busy CPU's tick is due until it has read the clock that samplers look at; 0 where absent.
    pub(crate) tick_cycles: Option<u64>,
    /// The same of an idle CPU's tick, which reads it later; 10,000 more where absent.
    pub(crate) idle_tick_cycles: Option<u64>,
    /// What both vary by, evenly, from tick to tick; 1 us where absent.
    pub(crate) tick_jitter_us: Option<Micros>,
    /// Where they come from.
    pub(crate) source: Source,
}

/// How far apart questions to schedutil are that come at once: each sees what the one before it changed, unless that is
/// less long ago than the rate limit.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "question"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// From one to the next of the same CPU's tick, wake-up or balance, in cycles.
    pub(crate) next_cycles: u64,
    /// From the tick of one CPU to that of another, on average: times are exponentially distributed.
    pub(crate) tick_us: Micros,
    /// From the question of a busy CPU that balances at its tick to the first one of the idle CPU that it wakes, which works beside
    /// it; distributed likewise.
    pub(crate) round_us: Micros,
    /// Where these figures come from.
    pub(crate) source: Source,
}

/// How long the kernel's balancers take.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "balancer"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Balancer {
    /// From the tick that finds a task that does not fit its CPU to its move to a larger one, where ticks are more than 1 ms
    /// apart (else it moves at the next tick).
    pub(crate) latency_us: Option<Micros>,
    /// How long the longest look for work took a CPU that went idle (`max_newidle_lb_cost`), at the CPUs of its cluster: it looks
    /// only where it is idle for longer on average.
    pub(crate) idle_cost_us: Option<Micros>,
    /// The same at these and all others, not less; else the same figure.
    pub(crate) idle_cost_all_us: Option<At<Micros>>,
    /// Where these figures come from.
    pub(crate) source: Source,
}

/// The temperature tends to `ambient + resistance x power`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "thermal"))]
#[serde(deny_unknown_fields)]
pub(crate) struct ThermalFile {
    /// Ambient temperature.
    pub(crate) ambient_c: At<f64>,
    /// Kelvin per watt.
    pub(crate) resistance_k_per_w: At<Amount>,
    /// Time constant.
    pub(crate) time_constant_s: At<Amount>,
    /// Where throttling starts.
    pub(crate) throttle_c: Option<At<f64>>,
    /// Where the machine switches off.
    pub(crate) critical_c: Option<At<f64>>,
    /// Where these figures come from.
    pub(crate) source: Source,
}
