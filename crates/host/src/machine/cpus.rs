//! The CPUs: which there are, and how they hang together.

use super::reader::Reader;
use crate::HostError;
use flyball_units::{Capacity, CpuId, CpuSet, KiloHertz};
use serde::{Deserialize, Serialize};

/// One logical CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The kernel's number.
    pub id: CpuId,
    /// Whether it runs. Of a CPU that does not, nothing else is known.
    pub online: bool,
    /// Physical package.
    pub package: Option<i32>,
    /// Core, unique within its package.
    pub core: Option<i32>,
    /// Cluster of cores that share a cache or a bus.
    pub cluster: Option<i32>,
    /// NUMA node.
    pub node: Option<u32>,
    /// The CPUs of the same core, itself included (SMT).
    pub siblings: CpuSet,
    /// Relative computing capacity, where the kernel tells.
    pub capacity: Option<Capacity>,
    /// Highest frequency that the hardware declares.
    pub max_khz: Option<KiloHertz>,
    /// Number of its cpufreq policy, its clock domain.
    pub policy: Option<u32>,
    /// Name of its [`CoreType`](crate::CoreType).
    pub core_type: String,
}

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The kernel's number.
    pub id: u32,
    /// Its CPUs.
    pub cpus: CpuSet,
}

/// Where the kernel describes CPUs.
pub(crate) const CPU: &str = "/sys/devices/system/cpu";

/// The NUMA nodes.
pub(crate) fn nodes(reader: &Reader<'_>) -> Result<Vec<Node>, HostError> {
    let mut nodes = Vec::new();
    for (id, path) in reader.numbered("/sys/devices/system/node", "node") {
        if let Some(cpus) = reader.cpus(&format!("{path}/cpulist"))? {
            nodes.push(Node { id, cpus });
        }
    }
    Ok(nodes)
}

/// One CPU; clock domain and core type are filled in later, from what all CPUs say together.
pub(crate) fn cpu(
    reader: &Reader<'_>,
    id: CpuId,
    online: bool,
    nodes: &[Node],
) -> Result<Cpu, HostError> {
    let path = format!("{CPU}/cpu{}", id.0);
    let topology = |name: &str| format!("{path}/topology/{name}");
    // -1 is how firmware that does not tell appears.
    let number = |name: &str| -> Result<Option<i32>, HostError> {
        Ok(reader.value::<i32>(&topology(name), "a number")?.filter(|&number| number >= 0))
    };
    // core_cpus_list since 5.3; thread_siblings_list is its old name.
    let siblings = match reader.cpus(&topology("core_cpus_list"))? {
        Some(siblings) => Some(siblings),
        None => reader.cpus(&topology("thread_siblings_list"))?,
    };
    Ok(Cpu {
        id,
        online,
        package: number("physical_package_id")?,
        core: number("core_id")?,
        // 65535 is how kernels before 5.16 on x86 show "no cluster".
        cluster: number("cluster_id")?.filter(|&cluster| cluster != 65535),
        node: nodes.iter().find(|node| node.cpus.contains(id)).map(|node| node.id),
        siblings: siblings.unwrap_or_else(|| id.into()),
        capacity: reader.number(&format!("{path}/cpu_capacity"))?.map(Capacity),
        max_khz: None,
        policy: None,
        core_type: String::new(),
    })
}
