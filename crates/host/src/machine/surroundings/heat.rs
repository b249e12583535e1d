//! Heat: thermal zones and how near they are to their trips, cooling, throttle counters.

use super::tolerant::Tolerant;
use crate::machine::cpus::CPU;
use flyball_units::CpuId;

/// A thermal zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThermalZone {
    /// `x86_pkg_temp`, `cpu-thermal`...
    pub name: String,
    /// Its folder.
    pub path: String,
    /// Temperature now, in thousandths of a degree Celsius.
    pub millicelsius: i64,
    /// Lowest trip point that slows or ends something (passive, hot, critical).
    pub trip: Option<Trip>,
}

/// A temperature at which something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    /// `passive`, `hot`, `critical`.
    pub kind: String,
    /// In thousandths of a degree Celsius.
    pub millicelsius: i64,
    /// The file it stands in.
    pub path: String,
}

/// A cooling device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoolingDevice {
    /// `Processor`, `intel_powerclamp`, `cpufreq-cpu0`, `Fan`...
    pub name: String,
    /// Its folder.
    pub path: String,
    /// Step in use; 0 is off.
    pub state: i64,
}

impl CoolingDevice {
    /// Whether it cools by slowing CPUs, and not with a fan or by dimming a screen.
    pub fn slows_cpus(&self) -> bool {
        let name = self.name.to_lowercase();
        ["processor", "powerclamp", "cpufreq", "cpuidle"].iter().any(|part| name.contains(part))
    }
}

/// How often heat has slowed one CPU since boot (x86).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttled {
    /// The CPU.
    pub cpu: CpuId,
    /// Times that its core was slowed.
    pub core: u64,
    /// Times that its package was slowed.
    pub package: u64,
    /// Longest single time of either, in milliseconds, where the kernel tells (5.5 and newer).
    pub longest_ms: Option<u64>,
}

/// Temperatures up to here are believed, in thousandths of a degree; firmware has odd ones.
const PLAUSIBLE: std::ops::Range<i64> = 1_000..200_000;

pub(super) fn zones(files: &Tolerant<'_>) -> Vec<ThermalZone> {
    let folders = files.numbered("/sys/class/thermal", "thermal_zone");
    let zone = |(_, path): (u32, String)| {
        // A zone that is asleep or switched off answers with an error; that is no news.
        let millicelsius = files.quiet(&format!("{path}/temp"))?.parse().ok()?;
        let name = files.name(&format!("{path}/type"))?;
        Some(ThermalZone { name, millicelsius, trip: lowest_trip(files, &path), path })
    };
    folders.into_iter().filter_map(zone).collect()
}

fn lowest_trip(files: &Tolerant<'_>, zone: &str) -> Option<Trip> {
    let names = files.names(zone);
    let trips = names.iter().filter_map(|name| {
        let point = name.strip_suffix("_type").filter(|point| point.starts_with("trip_point_"))?;
        let kind = files.quiet(&format!("{zone}/{name}"))?;
        let path = format!("{zone}/{point}_temp");
        let millicelsius: i64 = files.quiet(&path)?.parse().ok()?;
        let slows = ["passive", "hot", "critical"].contains(&kind.as_str());
        (slows && PLAUSIBLE.contains(&millicelsius)).then_some(Trip { kind, millicelsius, path })
    });
    trips.min_by_key(|trip| trip.millicelsius)
}

pub(super) fn cooling(files: &Tolerant<'_>) -> Vec<CoolingDevice> {
    let folders = files.numbered("/sys/class/thermal", "cooling_device");
    let device = |(_, path): (u32, String)| {
        let name = files.name(&format!("{path}/type"))?;
        let state = files.quiet(&format!("{path}/cur_state"))?.parse().ok()?;
        Some(CoolingDevice { name, path, state })
    };
    folders.into_iter().filter_map(device).collect()
}

/// The CPUs that were slowed; none where nothing counts it.
pub(super) fn throttled(files: &Tolerant<'_>, cpus: &[CpuId]) -> Option<Vec<Throttled>> {
    let mut counts = false;
    let mut throttled = Vec::new();
    for &cpu in cpus {
        let file = |name: &str| -> Option<u64> {
            files.number(&format!("{CPU}/cpu{}/thermal_throttle/{name}", cpu.0))
        };
        let (core, package) = (file("core_throttle_count"), file("package_throttle_count"));
        counts |= core.is_some() || package.is_some();
        let found = Throttled {
            cpu,
            core: core.unwrap_or(0),
            package: package.unwrap_or(0),
            longest_ms: file("core_throttle_max_time_ms").max(file("package_throttle_max_time_ms")),
        };
        if found.core > 0 || found.package > 0 {
            throttled.push(found);
        }
    }
    counts.then_some(throttled)
}
