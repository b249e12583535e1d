//! Which CPUs of a described machine to measure on.

use crate::plan::CoreChoice;
use flyball_platform::Platform;

/// One CPU per kind of core, the fastest kind first; CPU 0 is left out where the kind has
/// another, as on a real machine.
pub fn of(platform: &Platform) -> Vec<CoreChoice> {
    let mut kinds: Vec<(&str, u32)> = Vec::new();
    for cpu in &platform.cpus {
        if !kinds.iter().any(|(name, _)| *name == cpu.core_type) {
            kinds.push((&cpu.core_type, cpu.capacity.0));
        }
    }
    kinds.sort_by_key(|(_, capacity)| std::cmp::Reverse(*capacity));
    let choose = |(name, _): (&str, u32)| {
        let of_kind = || platform.cpus.iter().filter(move |cpu| cpu.core_type == name);
        let cpu = of_kind().find(|cpu| cpu.id.0 != 0).or_else(|| of_kind().next())?;
        Some(CoreChoice { core_type: name.to_owned(), cpu: cpu.id })
    };
    kinds.into_iter().filter_map(choose).collect()
}
