//! The clock domain that a governor rules.

use flyball_pelt::{CAPACITY_SCALE, DomainFrequency, Features, reference_frequency};
use flyball_units::{CpuId, KernelRules, KiloHertz, Nanos, OppTable, RateLimitRule};

/// A clock domain as its governor sees it (a cpufreq policy). [`Domain::new`] makes one; what is
/// different there has a method of the field's name:
///
/// ```
/// use flyball_governors::Domain;
/// use flyball_units::{CpuId, OppTable};
///
/// let opps = OppTable::from_khz(&[600_000, 1_000_000, 1_400_000])?;
/// let domain = Domain::new(vec![CpuId(0), CpuId(1)], opps).capacity(459).hz(250);
/// assert_eq!(domain.max.0, 1_400_000);
/// # Ok::<(), flyball_units::OppTableError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Domain {
    /// The CPUs that share the clock, ascending.
    pub cpus: Vec<CpuId>,
    /// Capacity of each of its CPUs at the highest frequency, 1 to 1024.
    pub capacity: u32,
    /// Operating points. Their ends are the hardware's limits (`cpuinfo_min_freq`, `_max_freq`).
    pub opps: OppTable,
    /// CpufreqPolicy limit (`scaling_min_freq`).
    pub min: KiloHertz,
    /// CpufreqPolicy limit (`scaling_max_freq`).
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
    /// Whether the driver has to hear of new limits even where they do not change the frequency
    /// (`CPUFREQ_NEED_UPDATE_LIMITS`): schedutil then asks for the same frequency again.
    pub need_update_limits: bool,
    /// Whether idle time is accounted exactly (NO_HZ), not sampled by ticks.
    pub exact_idle_accounting: bool,
    /// Whether uclamp is built in and in use (`sched_uclamp_used`).
    pub uclamp_used: bool,
    /// Which rule of which kernel gives schedutil's default rate limit.
    pub rate_limit_rule: RateLimitRule,
    /// Which named rules of kernel versions hold.
    pub rules: KernelRules,
    /// Whether the machine runs on battery; None where nobody knows.
    pub on_battery: Option<bool>,
    /// Patches of the response-time series that the kernel has.
    pub features: Features,
}

impl Domain {
    /// A domain of these CPUs on these operating points: of capacity 1024, at the lowest point,
    /// with the hardware's limits, ticks at 1000 Hz, frequency-invariant utilisation, fast
    /// switching and exact accounting of idle time; under the newest stock kernel without uclamp,
    /// with a driver whose latency is below 1 us, so that schedutil's rate limit is 1 ms.
    pub fn new(cpus: Vec<CpuId>, opps: OppTable) -> Domain {
        Domain {
            cpus,
            capacity: CAPACITY_SCALE,
            min: opps.min(),
            max: opps.max(),
            current: opps.min(),
            opps,
            tick: Nanos::from_millis(1),
            stat_hz: 1000,
            transition_latency: Some(Nanos::ZERO),
            transition_delay: None,
            frequency_invariant: true,
            fast_switch: true,
            need_update_limits: false,
            exact_idle_accounting: true,
            uclamp_used: false,
            rate_limit_rule: RateLimitRule::From6_12,
            rules: KernelRules::newest(),
            on_battery: None,
            features: Features::STOCK,
        }
    }

    /// Ticks and the statistics clock at `hz`, as on Linux.
    #[must_use]
    pub fn hz(self, hz: u32) -> Domain {
        self.tick(Nanos(1_000_000_000 / u64::from(hz.max(1)))).stat_hz(hz)
    }

    /// The frequency that full utilisation stands for while `current` holds: the highest where
    /// utilisation is frequency-invariant, else 1.25 x `current`.
    pub fn reference_frequency(&self, current: KiloHertz) -> KiloHertz {
        KiloHertz(reference_frequency(DomainFrequency {
            highest: self.opps.max().0,
            current: current.0,
            invariant: self.frequency_invariant,
        }))
    }
}

setters!(Domain {
    capacity: u32,
    min: KiloHertz,
    max: KiloHertz,
    current: KiloHertz,
    tick: Nanos,
    stat_hz: u32,
    transition_latency: Option<Nanos>,
    transition_delay: Option<Nanos>,
    frequency_invariant: bool,
    fast_switch: bool,
    need_update_limits: bool,
    exact_idle_accounting: bool,
    uclamp_used: bool,
    rate_limit_rule: RateLimitRule,
    rules: KernelRules,
    on_battery: Option<bool>,
    features: Features,
});
