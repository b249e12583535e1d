//! What the arm64 board adds to the device tree of QEMU's `virt` machine: capacities, clusters, and
//! a performance controller whose registers are the last MiB of memory, kept from the kernel.

use super::fdt::{Node, Tree, cells, text};
use super::registers::{PAGE, RESERVED, address};
use crate::error::{BoardError, Result};
use crate::machine::Machine;

/// `capacity-dmips-mhz` of the CPUs that do most per cycle. The kernel multiplies the property by
/// each CPU's highest frequency and scales the greatest product to 1024; with a large number here
/// nothing is lost to rounding.
const TOP: f64 = 16384.0;

/// Adds the board to `tree`, whose machine has `memory` bytes of RAM.
///
/// # Errors
/// A tree that is not that of a `virt` machine with the CPUs of `machine`.
pub fn add(tree: &mut Tree, machine: &Machine, memory: u64) -> Result<()> {
    let wrong = |expected: &str| {
        BoardError::failed("device tree of QEMU's virt machine", format!("expected {expected}"))
    };
    let perf = tree.root.max_phandle() + 1;
    let capacities = capacities(machine);
    let cpus = tree.root.child_mut("cpus").ok_or_else(|| wrong("a node cpus"))?;
    let mut clusters = Node::new("socket0");
    for (number, policy) in machine.policies.iter().enumerate() {
        let mut cluster = Node::new(format!("cluster{number}"));
        for (core, cpu) in policy.cpus.iter().enumerate() {
            let name = format!("cpu@{cpu:x}");
            let node = cpus.child_mut(&name).ok_or_else(|| wrong(&format!("a node {name}")))?;
            let capacity = capacities.get(number).copied().unwrap_or_default();
            node.set("capacity-dmips-mhz", cells(&[capacity]));
            node.set("performance-domains", cells(&[perf, number as u32]));
            let phandle =
                node.cell("phandle").ok_or_else(|| wrong(&format!("a phandle in {name}")))?;
            let core = Node::new(format!("core{core}")).with("cpu", cells(&[phandle]));
            cluster.children.push(core);
        }
        clusters.children.push(cluster);
    }
    let mut map = Node::new("cpu-map");
    map.children.push(clusters);
    cpus.put(map);

    let registers = address(memory);
    let pages = 0..machine.policies.len() as u64;
    let reg = pages.flat_map(|page| range(registers + page * PAGE as u64, PAGE as u64));
    tree.root.put(
        Node::new(format!("performance-controller@{registers:x}"))
            .with("compatible", text("mediatek,cpufreq-hw"))
            .with("reg", cells(&reg.collect::<Vec<_>>()))
            .with("#performance-domain-cells", cells(&[1]))
            .with("phandle", cells(&[perf])),
    );
    let mut reserved = Node::new("reserved-memory")
        .with("#address-cells", cells(&[2]))
        .with("#size-cells", cells(&[2]))
        .with("ranges", Vec::new());
    reserved.children.push(
        Node::new(format!("pstates@{registers:x}"))
            .with("reg", cells(&range(registers, RESERVED)))
            .with("no-map", Vec::new()),
    );
    tree.root.put(reserved);
    Ok(())
}

/// `capacity-dmips-mhz` per policy: that from which the kernel calculates the platform's capacities.
/// Rounded up, because the kernel rounds down.
fn capacities(machine: &Machine) -> Vec<u32> {
    let per_mhz = machine.policies.iter().map(|policy| {
        let mhz = policy.states.first().map_or(1, |state| state.mhz.max(1));
        f64::from(policy.capacity) / f64::from(mhz)
    });
    let per_mhz: Vec<f64> = per_mhz.collect();
    let top = per_mhz.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    per_mhz.iter().map(|one| (TOP * one / top).ceil() as u32).collect()
}

/// A range as the `virt` machine writes it: two cells each of address and size.
fn range(address: u64, size: u64) -> [u32; 4] {
    [(address >> 32) as u32, address as u32, (size >> 32) as u32, size as u32]
}
