//! The whole machine in one value.

use super::core_types::{self, CoreType};
use super::cpus::{self, CPU, Cpu, Node};
use super::energy::{self, EnergyCounter};
use super::idle::{self, Idle};
use super::kernel::{self, Kernel};
use super::policies::{self, FrequencyScaling, Policy};
use super::processor::{self, Processor, Product};
use super::reader::Reader;
use super::sensors::{self, TemperatureSensor};
use super::virtualization::{self, Virtualization};
use crate::{Errno, Host, HostError};
use flyball_units::{CpuId, CpuSet, KiloHertz};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What a machine is: everything about it that does not change from one moment to the next.
/// Frequencies, temperatures and energies are read from it with
/// [`Policy::claimed`], [`TemperatureSensor::read_millicelsius`] and [`EnergyCounter::read_uj`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Processor.
    pub processor: Processor,
    /// Box.
    pub product: Product,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// CPUs that run.
    pub online: CpuSet,
    /// CPUs that there could be.
    pub possible: CpuSet,
    /// CPUs that the scheduler leaves alone (`isolcpus=`).
    pub isolated: CpuSet,
    /// CPUs without a periodic tick (`nohz_full=`).
    pub nohz_full: CpuSet,
    /// Whether SMT is in use, where the kernel tells.
    pub smt_active: Option<bool>,
    /// Every possible CPU, ascending.
    pub cpus: Vec<Cpu>,
    /// NUMA nodes.
    pub nodes: Vec<Node>,
    /// Kinds of core, the fastest first.
    pub core_types: Vec<CoreType>,
    /// Clock domains; none where the kernel has no say in the frequency.
    pub policies: Vec<Policy>,
    /// What applies to all clock domains.
    pub scaling: FrequencyScaling,
    /// Idle states.
    pub idle: Idle,
    /// Kernel.
    pub kernel: Kernel,
    /// Whether the machine is virtual.
    pub virtualization: Virtualization,
    /// Temperature sensors.
    pub temperatures: Vec<TemperatureSensor>,
    /// Energy counters.
    pub energy: Vec<EnergyCounter>,
    /// What was there and could not be read: path to reason.
    pub unreadable: BTreeMap<String, Errno>,
}

/// The CPUs that run.
const ONLINE: &str = "/sys/devices/system/cpu/online";

impl Topology {
    /// The CPUs that run, alone: they may change while everything else is known.
    ///
    /// # Errors
    /// They cannot be read, or make no sense.
    pub fn online(host: &dyn Host) -> Result<CpuSet, HostError> {
        Reader::new(host).required_cpus(ONLINE)
    }

    /// Reads it. Only `/sys/devices/system/cpu/online` must be there; malformed content of any
    /// file is an error.
    pub fn discover(host: &dyn Host) -> Result<Topology, HostError> {
        let reader = Reader::new(host);
        let online = reader.required_cpus(ONLINE)?;
        let list = |name: &str| reader.cpus(&format!("{CPU}/{name}"));
        let possible = list("possible")?.unwrap_or_else(|| online.clone());
        let nodes = cpus::nodes(&reader)?;
        let policies = policies::policies(&reader)?;
        let mut cpus = Vec::new();
        for id in possible.iter() {
            let mut cpu = cpus::cpu(&reader, id, online.contains(id), &nodes)?;
            if let Some(policy) = policies.iter().find(|policy| policy.cpus.contains(id)) {
                (cpu.policy, cpu.max_khz) = (Some(policy.id), policy.hardware_max_khz);
            }
            cpus.push(cpu);
        }
        let processor = processor::processor(&reader)?;
        let core_types = core_types::discover(&reader, &cpus, &processor)?;
        for kind in &core_types {
            for cpu in cpus.iter_mut().filter(|cpu| kind.cpus.contains(cpu.id)) {
                cpu.core_type.clone_from(&kind.name);
            }
        }
        let product = processor::product(&reader);
        let kernel = kernel::kernel(&reader)?;
        Ok(Topology {
            memory_bytes: kernel::memory_bytes(&reader)?,
            isolated: list("isolated")?.unwrap_or_default(),
            nohz_full: list("nohz_full")?.unwrap_or_default(),
            smt_active: reader.flag(&format!("{CPU}/smt/active"))?,
            scaling: policies::scaling(&reader)?,
            idle: idle::idle(&reader, &cpus)?,
            virtualization: virtualization::virtualization(&reader, &processor, &product, &kernel),
            temperatures: sensors::temperatures(&reader),
            energy: energy::energy(&reader)?,
            processor,
            product,
            online,
            possible,
            cpus,
            nodes,
            core_types,
            policies,
            kernel,
            unreadable: reader.into_unreadable(),
        })
    }

    /// One CPU.
    pub fn cpu(&self, id: CpuId) -> Option<&Cpu> {
        self.cpus.iter().find(|cpu| cpu.id == id)
    }

    /// The kind of core of one CPU.
    pub fn core_type(&self, id: CpuId) -> Option<&CoreType> {
        self.core_types.iter().find(|kind| kind.cpus.contains(id))
    }

    /// The clock domain of one CPU.
    pub fn policy(&self, id: CpuId) -> Option<&Policy> {
        self.policies.iter().find(|policy| policy.cpus.contains(id))
    }

    /// The other online CPUs of the same core: who runs there shares its units with `id`.
    pub fn smt_siblings(&self, id: CpuId) -> CpuSet {
        let siblings = self.cpu(id).map(|cpu| cpu.siblings.intersection(&self.online));
        siblings.unwrap_or_default().difference(&id.into())
    }

    /// What the machine claims each online CPU's frequency to be, now: its policy's
    /// `scaling_cur_freq`, or `cpu MHz` of `/proc/cpuinfo` where there are no policies.
    pub fn claimed(&self, host: &dyn Host) -> Result<Vec<(CpuId, KiloHertz)>, HostError> {
        if self.policies.is_empty() {
            let text = host.read(Path::new("/proc/cpuinfo"))?;
            return Ok(processor::claimed_khz(&text));
        }
        let mut claims = Vec::new();
        for policy in &self.policies {
            let khz = policy.claimed(host)?;
            claims.extend(policy.cpus.intersection(&self.online).iter().map(|cpu| (cpu, khz)));
        }
        claims.sort_unstable();
        Ok(claims)
    }
}
