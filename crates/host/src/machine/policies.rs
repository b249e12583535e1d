//! Clock domains: cpufreq's policies, their drivers and limits.

use super::cpus::CPU;
use super::reader::Reader;
use crate::{Host, HostError};
use flyball_units::{CpuSet, KiloHertz, Nanos};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A cpufreq policy: CPUs that share one clock, and the rules for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Its number: that of the CPU it was made for.
    pub id: u32,
    /// The CPUs of the clock domain, also those offline.
    pub cpus: CpuSet,
    /// Driver of the clock.
    pub driver: Option<String>,
    /// Who decides the frequency.
    pub governor: Option<String>,
    /// Who could.
    pub available_governors: Vec<String>,
    /// Lowest frequency of the hardware.
    pub hardware_min_khz: Option<KiloHertz>,
    /// Highest frequency of the hardware.
    pub hardware_max_khz: Option<KiloHertz>,
    /// Lowest frequency that the policy allows now.
    pub min_khz: Option<KiloHertz>,
    /// Highest frequency that the policy allows now.
    pub max_khz: Option<KiloHertz>,
    /// The frequency that `userspace` was told, where that is the governor.
    #[serde(default, rename = "setspeed_khz", skip_serializing_if = "Option::is_none")]
    pub set_khz: Option<KiloHertz>,
    /// Highest frequency without boost, where the driver tells (intel_pstate).
    pub base_khz: Option<KiloHertz>,
    /// The frequencies that can be asked for, ascending; empty where any can.
    pub available_khz: Vec<KiloHertz>,
    /// Further ones with boost.
    pub boost_khz: Vec<KiloHertz>,
    /// The *declared* latency of a switch (often a convention, not a measurement); none where the
    /// driver says "eternal" or nothing.
    #[serde(rename = "transition_latency_ns")]
    pub transition_latency: Option<Nanos>,
    /// Whether this policy may boost, where it has a switch of its own.
    pub boost: Option<bool>,
    /// Energy performance preference (EPP).
    pub energy_performance_preference: Option<String>,
    /// The preferences that could be set.
    pub available_preferences: Vec<String>,
}

/// What applies to all clock domains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrequencyScaling {
    /// cpufreq's global boost switch.
    pub boost: Option<bool>,
    /// intel_pstate's `status`: active, passive, off.
    pub intel_pstate: Option<String>,
    /// intel_pstate's `no_turbo`.
    pub no_turbo: Option<bool>,
    /// amd_pstate's `status`: active, passive, guided, disable.
    pub amd_pstate: Option<String>,
    /// amd_pstate's `prefcore`: enabled, disabled.
    pub amd_preferred_cores: Option<String>,
}

impl FrequencyScaling {
    /// Reads it, without the rest of the machine.
    ///
    /// # Errors
    /// Where a file holds something else than it should.
    pub fn read(host: &dyn Host) -> Result<FrequencyScaling, HostError> {
        scaling(&Reader::new(host))
    }

    /// Whether frequencies above the base are allowed, as far as any global switch tells.
    pub fn boost_allowed(&self) -> Option<bool> {
        self.boost.or(self.no_turbo.map(|no_turbo| !no_turbo))
    }
}

/// CPUFREQ_ETERNAL: "changing the frequency takes unknown or for ever".
const ETERNAL: u64 = u32::MAX as u64;

impl Policy {
    /// The policy's folder.
    pub fn path(&self) -> String {
        format!("{CPU}/cpufreq/policy{}", self.id)
    }

    /// All policies, ascending by number, without the rest of the machine. Those whose CPUs are all
    /// offline are left out.
    ///
    /// # Errors
    /// Where a file holds something else than it should.
    pub fn all(host: &dyn Host) -> Result<Vec<Policy>, HostError> {
        policies(&Reader::new(host))
    }

    /// What the kernel claims the frequency to be now (`scaling_cur_freq`): with many drivers only
    /// the last request. Never show it as delivered.
    pub fn claimed(&self, host: &dyn Host) -> Result<KiloHertz, HostError> {
        let path = format!("{}/scaling_cur_freq", self.path());
        let text = host.read(Path::new(&path))?;
        let khz = text.trim().parse();
        khz.map(KiloHertz).map_err(|_| HostError::malformed(path, "kHz", &text))
    }
}

/// All policies, ascending by number.
pub(crate) fn policies(reader: &Reader<'_>) -> Result<Vec<Policy>, HostError> {
    let folders = reader.numbered(&format!("{CPU}/cpufreq"), "policy");
    let policies = folders.iter().map(|(id, path)| policy(reader, *id, path));
    // A policy without CPUs is one whose CPUs all went offline.
    Ok(policies.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn policy(reader: &Reader<'_>, id: u32, path: &str) -> Result<Option<Policy>, HostError> {
    let file = |name: &str| format!("{path}/{name}");
    let khz = |name: &str| reader.value(&file(name), "kHz").map(|khz| khz.map(KiloHertz));
    let Some(cpus) = related(reader, &file("related_cpus"))? else { return Ok(None) };
    let latency: Option<u64> = reader.value(&file("cpuinfo_transition_latency"), "nanoseconds")?;
    Ok(Some(Policy {
        id,
        cpus,
        driver: reader.name(&file("scaling_driver")),
        governor: reader.name(&file("scaling_governor")),
        available_governors: reader.words(&file("scaling_available_governors")),
        hardware_min_khz: khz("cpuinfo_min_freq")?,
        hardware_max_khz: khz("cpuinfo_max_freq")?,
        min_khz: khz("scaling_min_freq")?,
        max_khz: khz("scaling_max_freq")?,
        set_khz: khz("scaling_setspeed")?,
        base_khz: khz("base_frequency")?,
        available_khz: frequencies(reader, &file("scaling_available_frequencies"))?,
        boost_khz: frequencies(reader, &file("scaling_boost_frequencies"))?,
        transition_latency: latency.filter(|&latency| latency < ETERNAL).map(Nanos),
        boost: reader.flag(&file("boost"))?,
        energy_performance_preference: reader.name(&file("energy_performance_preference")),
        available_preferences: reader.words(&file("energy_performance_available_preferences")),
    }))
}

/// cpufreq parts CPUs by spaces: `0 1 2`.
fn related(reader: &Reader<'_>, path: &str) -> Result<Option<CpuSet>, HostError> {
    let Some(text) = reader.name(path) else { return Ok(None) };
    let list = text.split_whitespace().collect::<Vec<_>>().join(",");
    list.parse().map(Some).map_err(|_| HostError::malformed(path, "CPU numbers", &text))
}

/// A list of frequencies, ascending.
fn frequencies(reader: &Reader<'_>, path: &str) -> Result<Vec<KiloHertz>, HostError> {
    let text = reader.text(path).unwrap_or_default();
    let parsed: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    let mut list =
        parsed.map_err(|_| HostError::malformed(path, "kHz, parted by spaces", &text))?;
    list.sort_unstable();
    list.dedup();
    Ok(list.into_iter().map(KiloHertz).collect())
}

/// The global switches.
pub(crate) fn scaling(reader: &Reader<'_>) -> Result<FrequencyScaling, HostError> {
    let file = |name: &str| format!("{CPU}/{name}");
    Ok(FrequencyScaling {
        boost: reader.flag(&file("cpufreq/boost"))?,
        intel_pstate: reader.name(&file("intel_pstate/status")),
        no_turbo: reader.flag(&file("intel_pstate/no_turbo"))?,
        amd_pstate: reader.name(&file("amd_pstate/status")),
        amd_preferred_cores: reader.name(&file("amd_pstate/prefcore")),
    })
}
