//! Is this a virtual machine, and whose?

use super::kernel::Kernel;
use super::processor::{Processor, Product};
use super::reader::Reader;
use serde::{Deserialize, Serialize};

/// Whether the machine is virtual. In a virtual machine the host decides frequencies, and steals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Virtualization {
    /// Whether anything says so.
    pub is_virtual: bool,
    /// `KVM`, `VMware`, `Xen`... where something tells.
    pub hypervisor: Option<String>,
    /// What decided, in words.
    pub evidence: Vec<String>,
}

/// DMI strings of virtual machines: part of the vendor's or product's name, and the hypervisor.
const PRODUCTS: &[(&str, &str)] = &[
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("Amazon EC2", "KVM (Amazon)"),
    ("Google Compute Engine", "KVM (Google)"),
    ("OpenStack", "KVM (OpenStack)"),
    ("DigitalOcean", "KVM (DigitalOcean)"),
    ("Hetzner", "KVM (Hetzner)"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("Virtual Machine", "Hyper-V"),
    ("Parallels", "Parallels"),
    ("Xen", "Xen"),
    ("Apple Virtualization", "Apple Virtualization"),
];

/// Clocks that only guests have.
const CLOCKS: &[(&str, &str)] = &[
    ("kvm-clock", "KVM"),
    ("xen", "Xen"),
    ("hyperv_clocksource_tsc_page", "Hyper-V"),
    ("hyperv_clocksource_msr", "Hyper-V"),
];

/// Decides from what the other parts found. The name comes from the most specific witness; the
/// same makers sell metal, so on x86 a DMI string alone proves nothing without the CPU's flag.
pub(crate) fn virtualization(
    reader: &Reader<'_>,
    processor: &Processor,
    product: &Product,
    kernel: &Kernel,
) -> Virtualization {
    let mut found = Virtualization::default();
    if processor.hypervisor_flag {
        found.is_virtual = true;
        found.evidence.push("/proc/cpuinfo: flag hypervisor".to_owned());
    }
    if let Some(name) = reader.name("/sys/hypervisor/type") {
        found.is_virtual = true;
        found.evidence.push(format!("/sys/hypervisor/type: {name}"));
        found.hypervisor = Some(if name == "xen" { "Xen".to_owned() } else { name });
    }
    if let Some(name) = reader.name("/proc/device-tree/hypervisor/compatible") {
        found.is_virtual = true;
        found.evidence.push(format!("device tree: hypervisor {name}"));
        let known = if name.contains("kvm") { "KVM" } else { "Xen" };
        found.hypervisor.get_or_insert_with(|| known.to_owned());
    }
    let clock = CLOCKS.iter().find(|(clock, _)| {
        kernel.available_clocksources.iter().any(|available| available == clock)
    });
    if let Some((clock, hypervisor)) = clock {
        found.is_virtual = true;
        found.evidence.push(format!("clocksource {clock}"));
        found.hypervisor.get_or_insert_with(|| (*hypervisor).to_owned());
    }
    let strings = [&product.vendor, &product.name].into_iter().flatten();
    let known = strings.flat_map(|text| {
        PRODUCTS.iter().filter(move |(part, _)| text.contains(part)).map(move |p| (text, p.1))
    });
    let no_flags = processor.family_model_stepping.is_none();
    if let Some((text, hypervisor)) = { known }.next().filter(|_| found.is_virtual || no_flags) {
        found.is_virtual = true;
        found.evidence.push(format!("DMI: {text}"));
        found.hypervisor.get_or_insert_with(|| hypervisor.to_owned());
    }
    found
}
