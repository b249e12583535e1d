//! What the rules look at: read once, then never again.

use flyball_host::{
    CpuTimes, Host, HostError, Permissions, Policy, PolicyDetail, Surroundings, Topology,
};
use flyball_qos::{Backend, By, Status, backend, qos_folder, status};
use flyball_units::{CpuId, CpuSet, KiloHertz, Nanos};
use serde::{Deserialize, Serialize};

/// Everything that is known about a machine at one moment.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What stays.
    pub topology: Topology,
    /// What may change.
    pub surroundings: Surroundings,
    /// What this process may do.
    pub permissions: Permissions,
    /// What the CPUs did since boot; none where that could not be read.
    pub times: Option<CpuTimes>,
    /// How late timers of a normal thread may fire.
    pub timer_slack: Option<Nanos>,
    /// Online CPUs that this process may use: what it starts runs there.
    pub allowed: CpuSet,
    /// How a program's demand can be answered faster, or why not.
    pub response: Result<Backend, String>,
    /// Who does that, or left something; none where that could not be read.
    pub controller: Option<Status>,
    /// Further files that could not be read or understood.
    pub failed: Vec<HostError>,
}

/// What the frequency probe saw; measured elsewhere, judged here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Probe {
    /// The CPUs that were probed: one or more of every clock domain, as time allowed.
    pub cpus: Vec<ProbedCpu>,
    /// Why nothing, or not everything, was probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// One CPU under the probe: a tenth of a second of continuous work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbedCpu {
    /// The CPU.
    pub cpu: u32,
    /// Kind of core.
    pub core_type: String,
    /// Median frequency that the core delivered at the end, in kHz; none where the cycles of a
    /// multiplication are unknown on this core.
    pub delivered_khz: Option<u64>,
    /// What the kernel claimed at that moment, in kHz.
    pub claimed_khz: Option<u64>,
    /// What the frequency rests on: `measured`, `assumed` or `relative`.
    pub basis: String,
    /// Distance of the 5th and 95th percentile of the samples, in thousandths of the median.
    pub spread_permille: Option<f64>,
    /// Samples in which something else ran, in thousandths.
    pub disturbed_permille: u32,
}

impl Facts {
    /// Reads a machine.
    ///
    /// # Errors
    /// Where the description of the machine itself is missing or nonsense: see
    /// [`Topology::discover`]. Everything else that fails becomes a finding.
    pub fn gather(host: &dyn Host) -> Result<Facts, HostError> {
        let topology = Topology::discover(host)?;
        let surroundings = Surroundings::read(host, &topology.online);
        let mut failed = Vec::new();
        let mut keep = |error: HostError| {
            if !error.is_absent() {
                failed.push(error);
            }
        };
        let times = host.cpu_times().map_err(&mut keep).ok();
        let allowed = host.affinity_get().map_err(&mut keep).ok();
        let allowed = allowed.map(|cpus| cpus.intersection(&topology.online));
        // What may not be looked at is another user's.
        let controller = qos_folder(host).ok().and_then(|folder| status(host, &folder).ok());
        Ok(Facts {
            response: backend(host, By::best(host)).map_err(|error| error.to_string()),
            controller,
            permissions: Permissions::probe(host),
            timer_slack: host.timer_slack_get().map_err(&mut keep).ok(),
            allowed: allowed
                .filter(|cpus| !cpus.is_empty())
                .unwrap_or_else(|| topology.online.clone()),
            times,
            surroundings,
            topology,
            failed,
        })
    }

    /// The CPUs where one would measure: those set apart, else all that may be used.
    pub(crate) fn measuring(&self) -> CpuSet {
        let apart = self.apart();
        if apart.is_empty() { self.allowed.clone() } else { apart }
    }

    /// CPUs set apart from the scheduler or from its tick.
    pub(crate) fn apart(&self) -> CpuSet {
        let apart = self.topology.isolated.union(&self.topology.nohz_full);
        apart.intersection(&self.topology.online)
    }

    /// What surrounds a policy.
    pub(crate) fn detail(&self, id: u32) -> Option<&PolicyDetail> {
        self.surroundings.policies.iter().find(|detail| detail.id == id)
    }

    /// The kernel's version, as (6, 12).
    pub(crate) fn kernel_version(&self) -> Option<(u32, u32)> {
        let release = self.topology.kernel.release.as_deref()?;
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    /// Policies with the same `key`, in their order.
    pub(crate) fn policies_by<K: PartialEq>(
        &self,
        key: impl Fn(&Policy) -> K,
    ) -> Vec<(K, Group<'_>)> {
        let mut groups: Vec<(K, Group<'_>)> = Vec::new();
        for policy in &self.topology.policies {
            let key = key(policy);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, group)) => group.0.push(policy),
                None => groups.push((key, Group(vec![policy]))),
            }
        }
        groups
    }
}

/// Policies that are alike in something.
pub(crate) struct Group<'a>(pub(crate) Vec<&'a Policy>);

impl Group<'_> {
    /// Their numbers.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.0.iter().map(|policy| policy.id).collect()
    }

    /// Their CPUs.
    pub(crate) fn cpus(&self) -> CpuSet {
        self.0.iter().fold(CpuSet::new(), |cpus, policy| cpus.union(&policy.cpus))
    }

    /// `policy0`, or the CPUs where there are several.
    pub(crate) fn object(&self) -> String {
        match self.0.as_slice() {
            [policy] => format!("policy{} ({})", policy.id, crate::fix::cpus(&policy.cpus)),
            _ => crate::fix::cpus(&self.cpus()),
        }
    }

    /// The file `name` of each.
    pub(crate) fn files(&self, name: &str) -> Vec<String> {
        self.0.iter().map(|policy| format!("{}/{name}", policy.path())).collect()
    }

    /// The same evidence in the file `name` of each.
    pub(crate) fn evidence<'v>(&self, name: &str, value: &'v str) -> Vec<(String, &'v str)> {
        self.files(name).into_iter().map(|file| (file, value)).collect()
    }
}

/// Frequency as people say it.
pub(crate) fn mhz(khz: KiloHertz) -> String {
    format!("{} MHz", khz.0 / 1000)
}

/// A set from numbers.
pub(crate) fn set(cpus: impl IntoIterator<Item = CpuId>) -> CpuSet {
    cpus.into_iter().collect()
}
