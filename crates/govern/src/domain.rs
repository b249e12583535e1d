//! A cpufreq policy of the machine as a governor sees it, and as it stands in a log.

use crate::GovernError;
use flyball_governors::Domain;
use flyball_host::{Host, HostError, Policy};
use flyball_units::{
    CpuId, CpuSet, KernelVersion, KiloHertz, Mismatch, Nanos, OppTable, RateLimitRule, Relation,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Steps where a driver takes any frequency, in kHz: the P-states of Intel's and AMD's drivers.
const STEP: u64 = 100_000;
/// Length of a tick where the kernel's configuration is not there to be read: HZ=250, in ns.
const ASSUMED_TICK: Nanos = Nanos(4_000_000);

/// A clock domain with everything that the polling rules look at: from it and the events, every
/// decision follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRecord {
    /// Its online CPUs, ascending.
    pub cpus: Vec<CpuId>,
    /// Capacity of its CPUs, 1 to 1024.
    pub capacity: u32,
    /// Operating points, ascending.
    pub points_khz: Vec<KiloHertz>,
    /// Lower limit of the policy.
    pub min_khz: KiloHertz,
    /// Upper limit of the policy.
    pub max_khz: KiloHertz,
    /// Frequency at the start.
    pub current_khz: KiloHertz,
    /// Length of a tick.
    pub tick_ns: Nanos,
    /// Rate at which busy and idle are sampled for rules that count ticks, in Hz.
    pub stat_hz: u32,
    /// Declared latency of a switch.
    pub transition_latency_ns: Option<Nanos>,
    /// Which kernel's rule gives the default sampling rate.
    pub rate_limit_rule: RateLimitRule,
    /// Whether the machine runs on battery, where that is known.
    pub on_battery: Option<bool>,
}

impl DomainRecord {
    /// What a governor is told.
    ///
    /// # Errors
    /// Operating points that make no table; what is wrong with them.
    pub fn domain(&self) -> Result<Domain, String> {
        let khz: Vec<u64> = self.points_khz.iter().map(|khz| khz.0).collect();
        let opps = OppTable::from_khz(&khz).map_err(|error| format!("{error:?}"))?;
        Ok(Domain::new(self.cpus.clone(), opps)
            .capacity(self.capacity)
            .min(self.min_khz)
            .max(self.max_khz)
            .current(self.current_khz)
            .tick(self.tick_ns)
            .stat_hz(self.stat_hz)
            .transition_latency(self.transition_latency_ns)
            .frequency_invariant(false)
            .fast_switch(false)
            .rate_limit_rule(self.rate_limit_rule)
            .on_battery(self.on_battery))
    }
}

/// What holds for all domains.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub tick: Nanos,
    pub stat_hz: u32,
    pub rule: RateLimitRule,
    pub on_battery: Option<bool>,
    pub notes: Vec<String>,
}

impl Facts {
    pub fn read(host: &dyn Host, stat_hz: u32) -> Facts {
        let release = host.read(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default();
        let release = release.trim();
        let version = release.parse().unwrap_or(KernelVersion::NEWEST);
        let rule = version.rate_limit_rule();
        let mut notes = Vec::new();
        let tick = tick(host, release).unwrap_or_else(|| {
            notes.push("the kernel's HZ cannot be read: 250 is assumed".to_owned());
            ASSUMED_TICK
        });
        Facts { tick, stat_hz, rule, on_battery: on_battery(host), notes }
    }
}

/// `CONFIG_HZ` of the running kernel, where its configuration lies in /boot.
fn tick(host: &dyn Host, release: &str) -> Option<Nanos> {
    let text = host.read(Path::new(&format!("/boot/config-{release}"))).ok()?;
    let hz: u64 = text.lines().find_map(|line| line.strip_prefix("CONFIG_HZ="))?.parse().ok()?;
    Some(Nanos(1_000_000_000 / hz.max(1)))
}

/// Whether mains power is there but not plugged in; none where there is no such supply.
fn on_battery(host: &dyn Host) -> Option<bool> {
    const SUPPLIES: &str = "/sys/class/power_supply";
    let names = host.list(Path::new(SUPPLIES)).ok()?;
    let word = |name: &str, file: &str| {
        let text = host.read(Path::new(&format!("{SUPPLIES}/{name}/{file}"))).ok()?;
        Some(text.trim().to_owned())
    };
    let mains = names.iter().filter(|name| word(name, "type").as_deref() == Some("Mains"));
    let plugged = mains.filter_map(|name| word(name, "online")).map(|online| online == "1");
    plugged.reduce(|one, other| one || other).map(|plugged| !plugged)
}

/// A policy as it is now, with its online CPUs; none where all of them are offline.
///
/// # Errors
/// A policy that does not tell its range.
pub(crate) fn describe(
    host: &dyn Host,
    policy: &Policy,
    online: &CpuSet,
    facts: &Facts,
) -> Result<Option<(DomainRecord, Domain)>, GovernError> {
    let cpus: Vec<CpuId> = policy.cpus.intersection(online).iter().collect();
    if cpus.is_empty() {
        return Ok(None);
    }
    let unsupported = |expected: &str, found: String| {
        GovernError::Unsupported(Mismatch::value(expected.to_owned(), found).at(policy.path()))
    };
    let (Some(low), Some(high)) = (policy.hardware_min_khz, policy.hardware_max_khz) else {
        let expected = "the hardware's limits (cpuinfo_min_freq, cpuinfo_max_freq)";
        return Err(unsupported(expected, "none".to_owned()));
    };
    let points = points(policy, low, high);
    let min = policy.min_khz.unwrap_or(low);
    let mut record = DomainRecord {
        capacity: capacity(host, &cpus),
        cpus,
        points_khz: points,
        min_khz: min,
        max_khz: policy.max_khz.unwrap_or(high).max(min),
        current_khz: low,
        tick_ns: facts.tick,
        stat_hz: facts.stat_hz,
        transition_latency_ns: policy.transition_latency,
        rate_limit_rule: facts.rule,
        on_battery: facts.on_battery,
    };
    let wrong = |error| unsupported("operating points that make a table", error);
    let opps = record.domain().map_err(wrong)?.opps;
    // Claimed with many drivers, and good enough for where to begin.
    let claimed = match policy.claimed(host) {
        Ok(khz) => khz,
        Err(error) if error.is_absent() => record.max_khz,
        Err(source) => return Err(GovernError::host("reading the frequency")(source)),
    };
    record.current_khz = opps.resolve(claimed, record.min_khz, record.max_khz, Relation::C);
    let domain = record.domain().map_err(wrong)?;
    Ok(Some((record, domain)))
}

fn points(policy: &Policy, low: KiloHertz, high: KiloHertz) -> Vec<KiloHertz> {
    let listed = policy.available_khz.iter().chain(&policy.boost_khz).copied();
    let mut points: Vec<KiloHertz> = listed.filter(|khz| (low..=high).contains(khz)).collect();
    if points.is_empty() {
        let steps = (low.0..high.0.max(low.0)).step_by(STEP as usize).map(KiloHertz);
        points = steps.chain([high]).collect();
    }
    points.sort_unstable();
    points.dedup();
    points
}

fn capacity(host: &dyn Host, cpus: &[CpuId]) -> u32 {
    let of = |cpu: &CpuId| {
        let path = format!("/sys/devices/system/cpu/cpu{}/cpu_capacity", cpu.0);
        host.read(Path::new(&path)).ok()?.trim().parse().ok()
    };
    cpus.iter().filter_map(of).max().unwrap_or(1024)
}

/// The text of a limit, for the watch.
pub(crate) fn khz(bytes: &[u8]) -> Option<KiloHertz> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok().map(KiloHertz)
}

/// Reads CPUs that are online.
pub(crate) fn online(host: &dyn Host) -> Result<CpuSet, HostError> {
    flyball_host::Topology::online(host)
}
