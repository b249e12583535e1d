//! Interrupts: who may get them, and who did.

use super::tolerant::Tolerant;
use flyball_units::{CpuId, CpuSet};

/// One interrupt with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// Its number.
    pub number: u32,
    /// Who asked for it: the last words of its line in `/proc/interrupts`.
    pub name: Option<String>,
    /// The CPUs that get it.
    pub cpus: CpuSet,
    /// The file that says so.
    pub path: String,
    /// How often each CPU got it since boot; CPUs that never did are left out.
    pub counts: Vec<(CpuId, u64)>,
}

/// All that have a number and an affinity.
pub(super) fn interrupts(files: &Tolerant<'_>) -> Vec<Interrupt> {
    let table = parse(&files.name("/proc/interrupts").unwrap_or_default());
    let mut interrupts = Vec::new();
    for (number, folder) in files.numbered("/proc/irq", "") {
        let line = table.iter().find(|line| line.number == number);
        // Numbers that nobody asked for keep the default affinity, and never come.
        if line.is_none() && !table.is_empty() {
            continue;
        }
        // The effective one is where the hardware sends it; it is empty for those that every CPU
        // has for itself. Older kernels and some controllers have only the one asked for.
        let paths = ["effective_affinity_list", "smp_affinity_list"];
        let found = paths.iter().find_map(|name| {
            let path = format!("{folder}/{name}");
            Some((files.cpus(&path)?, path))
        });
        let Some((cpus, path)) = found.filter(|(cpus, _)| !cpus.is_empty()) else { continue };
        interrupts.push(Interrupt {
            number,
            name: line.and_then(|line| line.name.clone()),
            cpus,
            path,
            counts: line.map(|line| line.counts.clone()).unwrap_or_default(),
        });
    }
    interrupts
}

/// A line of `/proc/interrupts`.
struct Line {
    number: u32,
    name: Option<String>,
    counts: Vec<(CpuId, u64)>,
}

/// The lines with a number. The first line names the columns; behind the counts stand controller,
/// pin and kind, then who asked.
fn parse(text: &str) -> Vec<Line> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let cpus: Vec<CpuId> = header
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("CPU")?.parse().ok().map(CpuId))
        .collect();
    let parsed = lines.filter_map(|line| {
        let (number, rest) = line.split_once(':')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let counts = cpus.iter().zip(&words).filter_map(|(&cpu, word)| {
            let count: u64 = word.parse().ok()?;
            (count > 0).then_some((cpu, count))
        });
        Some(Line {
            number: number.trim().parse().ok()?,
            name: words.get(cpus.len()..)?.last().map(|name| (*name).to_owned()),
            counts: counts.collect(),
        })
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_with_numbers_are_read() {
        let text = "           CPU0       CPU2       \n  0:         44          0   IO-APIC   2-edge      timer\n \
                    45:          0     123456   PCI-MSIX-0000:01:00.0   3-edge      nvme0q3\nLOC:  1 2 Local timer\n";
        let lines = parse(text);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].name.as_deref(), Some("nvme0q3"));
        assert_eq!(lines[1].counts, [(CpuId(2), 123_456)]);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(( *[A-Z0-9]{0,5}:?){0,6}\n){0,5}") {
            let _ = parse(&text);
        }
    }
}
