//! The clock domain that a governor rules.

use flyball_pelt::Features;
use flyball_units::{CpuId, KiloHertz, Nanos, OppTable, RateLimitRule};

/// A clock domain as its governor sees it (a cpufreq policy).
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The CPUs that share the clock, ascending.
    pub cpus: Vec<CpuId>,
    /// Capacity of each of its CPUs at the highest frequency, 1 to 1024.
    pub capacity: u32,
    /// Operating points. Their ends are the hardware's limits (`cpuinfo_min_freq`, `_max_freq`).
    pub opps: OppTable,
    /// Policy limit (`scaling_min_freq`).
    pub min: KiloHertz,
    /// Policy limit (`scaling_max_freq`).
    pub max: KiloHertz,
    /// Frequency at the start.
    pub current: KiloHertz,
    /// Length of a scheduler tick, 1 s / HZ.
    pub tick: Nanos,
    /// Rate of the statistics clock (FreeBSD's stathz; the tick's rate on Linux), in Hz.
    pub stat_hz: u32,
    /// What the driver declares a transition to cost (`cpuinfo_transition_latency`); None is
    /// cpufreq's "eternal".
    pub transition_latency: Option<Nanos>,
    /// The least time between changes that the driver asks for (`transition_delay_us`), if any.
    pub transition_delay: Option<Nanos>,
    /// Whether utilisation is frequency-invariant here.
    pub frequency_invariant: bool,
    /// Whether the frequency can be changed from the scheduler's context.
    pub fast_switch: bool,
    /// Whether idle time is accounted exactly (NO_HZ), not sampled by ticks.
    pub exact_idle_accounting: bool,
    /// Whether uclamp is built in and in use (`sched_uclamp_used`).
    pub uclamp_used: bool,
    /// Which rule of which kernel gives schedutil's default rate limit.
    pub rate_limit_rule: RateLimitRule,
    /// Whether the machine runs on battery; None where nobody knows.
    pub on_battery: Option<bool>,
    /// Patches of the response-time series that the kernel has.
    pub features: Features,
}
