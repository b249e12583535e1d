//! Memory management, as far as it makes pauses.

use super::tolerant::Tolerant;

/// Settings and state of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// Swap space in use, in bytes; none without swap.
    pub swap_used_bytes: Option<u64>,
}

pub(super) fn memory(files: &Tolerant<'_>) -> Memory {
    // The choice in force stands in brackets: `always [madvise] never`.
    let huge_pages = files.name("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| {
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0.to_owned())
    });
    let text = files.name("/proc/meminfo").unwrap_or_default();
    let kilobytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    let total = kilobytes("SwapTotal:").filter(|&total| total > 0);
    let used = total.map(|total| total.saturating_sub(kilobytes("SwapFree:").unwrap_or(total)));
    Memory { huge_pages, swap_used_bytes: used.map(|used| used.saturating_mul(1024)) }
}
