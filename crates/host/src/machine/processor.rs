//! Which processor it is, and in what box.

use super::reader::Reader;
use crate::HostError;
use flyball_units::{CpuId, CpuSet, KiloHertz};
use serde::{Deserialize, Serialize};

/// `/proc/cpuinfo`, as far as it tells kinds of machine apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processor {
    /// `GenuineIntel`, `AuthenticAMD`...
    pub vendor: Option<String>,
    /// `AMD EPYC 7763 64-Core Processor`; Arm's kernels don't tell.
    pub model_name: Option<String>,
    /// x86: family, model and stepping.
    pub family_model_stepping: Option<(u32, u32, u32)>,
    /// Version of the microcode.
    pub microcode: Option<String>,
    /// Whether the processor says that it is a virtual one (x86's `hypervisor` flag).
    pub hypervisor_flag: bool,
    /// x86: whether delivered cycles are counted (`aperfmperf`), without which the kernel's utilisation
    /// is not frequency-invariant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aperfmperf: Option<bool>,
    /// Arm: which designs are there, on which CPUs.
    pub arm_parts: Vec<ArmPart>,
}

/// A design of an Arm core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmPart {
    /// Who designed it: `0x41` is Arm, `0x61` Apple.
    pub implementer: String,
    /// Which design: `0xd03` is Cortex-A53.
    pub part: String,
    /// Its CPUs.
    pub cpus: CpuSet,
}

impl Processor {
    /// Whether all designs are Apple's, which calls its kinds P and E.
    pub(crate) fn is_apple(&self) -> bool {
        !self.arm_parts.is_empty() && self.arm_parts.iter().all(|part| part.implementer == "0x61")
    }
}

/// The box: DMI's strings or the device tree's. No serial numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Maker of the system.
    pub vendor: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Version of the firmware.
    pub firmware: Option<String>,
}

/// Parses `/proc/cpuinfo`; one without it is an unknown processor.
pub(crate) fn processor(reader: &Reader<'_>) -> Result<Processor, HostError> {
    let text = reader.text("/proc/cpuinfo").unwrap_or_default();
    let mut processor = parse_cpuinfo(&text);
    if processor.microcode.is_none() {
        processor.microcode = reader.name("/sys/devices/system/cpu/cpu0/microcode/version");
    }
    Ok(processor)
}

/// Parses the text of `/proc/cpuinfo`: blocks of `KEY : VALUE`, one per CPU. It has no fixed form,
/// so unknown lines are passed over.
fn parse_cpuinfo(text: &str) -> Processor {
    let mut processor = Processor::default();
    let mut x86 = [None; 3];
    let mut cpu = None;
    let mut implementer = String::new();
    for (key, value) in fields(text) {
        let set = |target: &mut Option<String>| {
            target.get_or_insert_with(|| value.to_owned());
        };
        match key {
            "processor" => cpu = value.parse().ok().map(CpuId),
            "vendor_id" => set(&mut processor.vendor),
            "model name" => set(&mut processor.model_name),
            "microcode" => set(&mut processor.microcode),
            "cpu family" => x86[0] = x86[0].or(value.parse().ok()),
            "model" => x86[1] = x86[1].or(value.parse().ok()),
            "stepping" => x86[2] = x86[2].or(value.parse().ok()),
            "flags" => {
                let has = |flag| value.split_whitespace().any(|found| found == flag);
                processor.hypervisor_flag |= has("hypervisor");
                let counted = processor.aperfmperf.unwrap_or(true) && has("aperfmperf");
                processor.aperfmperf = Some(counted);
            }
            "CPU implementer" => value.clone_into(&mut implementer),
            "CPU part" => add_part(&mut processor.arm_parts, &implementer, value, cpu),
            _ => {}
        }
    }
    if let [Some(family), Some(model), Some(stepping)] = x86 {
        processor.family_model_stepping = Some((family, model, stepping));
    }
    processor
}

/// `KEY : VALUE` lines.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim(), value.trim()))
}

fn add_part(parts: &mut Vec<ArmPart>, implementer: &str, part: &str, cpu: Option<CpuId>) {
    let Some(cpu) = cpu else { return };
    match parts.iter_mut().find(|known| known.implementer == implementer && known.part == part) {
        Some(known) => {
            known.cpus.insert(cpu);
        }
        None => parts.push(ArmPart {
            implementer: implementer.to_owned(),
            part: part.to_owned(),
            cpus: cpu.into(),
        }),
    }
}

/// What `/proc/cpuinfo` *claims* each CPU's frequency to be (x86's `cpu MHz`): on machines without
/// cpufreq often the only claim, and there usually a constant.
pub(crate) fn claimed_khz(text: &str) -> Vec<(CpuId, KiloHertz)> {
    let mut cpu = None;
    let mut claims = Vec::new();
    for (key, value) in fields(text) {
        match key {
            "processor" => cpu = value.parse().ok().map(CpuId),
            "cpu MHz" => {
                let khz = value.parse::<f64>().ok().filter(|mhz| mhz.is_finite() && *mhz > 0.0);
                if let (Some(cpu), Some(mhz)) = (cpu, khz) {
                    claims.push((cpu, KiloHertz((mhz * 1e3).round() as u64)));
                }
            }
            _ => {}
        }
    }
    claims
}

/// The box.
pub(crate) fn product(reader: &Reader<'_>) -> Product {
    let dmi = |name: &str| reader.name(&format!("/sys/class/dmi/id/{name}"));
    Product {
        vendor: dmi("sys_vendor"),
        name: dmi("product_name").or_else(|| reader.name("/proc/device-tree/model")),
        firmware: dmi("bios_version"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn arm_parts_are_grouped() {
        let text = "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd03\n\n\
                    processor : 1\nCPU implementer : 0x41\nCPU part : 0xd08\n\n\
                    processor : 2\nCPU implementer : 0x41\nCPU part : 0xd03\n";
        let parts = parse_cpuinfo(text).arm_parts;
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].cpus.to_string(), "0,2");
    }

    #[test]
    fn x86_is_read() {
        let text = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 154\n\
                    stepping\t: 3\nmicrocode\t: 0x42c\ncpu MHz\t\t: 1234.5\nflags : fpu hypervisor\n";
        let processor = parse_cpuinfo(text);
        assert_eq!(processor.family_model_stepping, Some((6, 154, 3)));
        assert!(processor.hypervisor_flag);
        assert_eq!(claimed_khz(text), [(CpuId(0), KiloHertz(1_234_500))]);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "([a-zA-Z ]{0,12}[:\n\t ]?.{0,12}\n?){0,8}") {
            let _ = (parse_cpuinfo(&text), claimed_khz(&text));
        }
    }
}
