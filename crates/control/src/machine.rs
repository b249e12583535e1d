//! What of a machine can be held: its clock domains and global switches, as they are now.

use crate::Settings;
use crate::tunables;
use flyball_host::{FrequencyScaling, Host, HostError, Policy, Topology};
use flyball_units::{CpuSet, KiloHertz};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the kernel describes CPUs.
pub(crate) const CPU: &str = "/sys/devices/system/cpu";

/// The clock domains of a machine, and what applies to all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Clock domains, ascending.
    pub policies: Vec<Policy>,
    /// Global switches.
    pub scaling: FrequencyScaling,
    /// CPUs that run.
    pub online: CpuSet,
    /// Share of the highest frequency that intel_pstate allows, in percent, where it is less than all.
    pub max_perf_percent: Option<u32>,
    /// Tunables of the governors in force, by file; read where a settings may change them.
    pub tunables: BTreeMap<PathBuf, String>,
}

impl Machine {
    /// Reads it, as far as `settings` needs it.
    ///
    /// # Errors
    /// Where the kernel says something that cannot be understood.
    pub fn read(host: &dyn Host, settings: &Settings) -> Result<Machine, HostError> {
        let online = Topology::online(host)?;
        if !settings.needs_cpufreq() {
            return Ok(Machine { online, ..Machine::default() });
        }
        let policies = policies(host)?;
        let tunables = match settings.touches_governor() {
            true => tunables::in_force(host, &policies)?,
            false => BTreeMap::new(),
        };
        Ok(Machine {
            policies,
            scaling: FrequencyScaling::read(host)?,
            online,
            max_perf_percent: max_perf(host),
            tunables,
        })
    }

    /// Reads the limits again, which boost moves: the hardware's, and the policies' own.
    pub(crate) fn read_limits(&mut self, host: &dyn Host) -> Result<(), HostError> {
        for policy in &mut self.policies {
            let khz = |name: &str| {
                let path = file(policy, name);
                let text = host.read(&path)?;
                let khz = text.trim().parse();
                khz.map(KiloHertz)
                    .map_err(|_| HostError::malformed(path.display(), "a frequency in kHz", &text))
            };
            let hardware = (khz("cpuinfo_min_freq")?, khz("cpuinfo_max_freq")?);
            let limits = (khz("scaling_min_freq")?, khz("scaling_max_freq")?);
            (policy.hardware_min_khz, policy.hardware_max_khz) =
                (Some(hardware.0), Some(hardware.1));
            (policy.min_khz, policy.max_khz) = (Some(limits.0), Some(limits.1));
        }
        Ok(())
    }
}

/// All clock domains that have a CPU online. The files of the others are busy; so that one whose
/// files were busy for a moment only is not left out, those are asked once more.
fn policies(host: &dyn Host) -> Result<Vec<Policy>, HostError> {
    const TRIES: usize = 3;
    let folder = PathBuf::from(CPU).join("cpufreq");
    let mut policies = Vec::new();
    for _ in 0..TRIES {
        policies = Policy::all(host)?;
        let names = match host.list(&folder) {
            Err(error) if error.is_absent() && !host.exists(&folder) => return Ok(Vec::new()),
            names => names?,
        };
        let id = |name: &String| name.strip_prefix("policy")?.parse::<u32>().ok();
        let is_known = |id: &u32| policies.iter().any(|policy| policy.id == *id);
        let mut missed = names.iter().filter_map(id).filter(|id| !is_known(id));
        let is_readable = |id: u32| {
            let path = folder.join(format!("policy{id}/related_cpus"));
            host.read(&path).is_ok_and(|cpus| !cpus.trim().is_empty())
        };
        if !missed.any(is_readable) {
            break;
        }
    }
    Ok(policies)
}

/// What else bounds the frequency under intel_pstate: it only explains, so an absent or odd one is
/// none.
fn max_perf(host: &dyn Host) -> Option<u32> {
    let text = host.read(Path::new("/sys/devices/system/cpu/intel_pstate/max_perf_pct")).ok()?;
    text.trim().parse().ok().filter(|percent| *percent < 100)
}

/// A file of a policy.
pub(crate) fn file(policy: &Policy, name: &str) -> PathBuf {
    PathBuf::from(policy.path()).join(name)
}
