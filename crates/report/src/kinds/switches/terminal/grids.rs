//! The hardware's grids as text.

use super::{place, short};
use crate::kinds::switches::analysis::Findings;
use flyball_stats::Estimate;

/// Adds the section.
pub(super) fn grids(findings: &Findings, lines: &mut Vec<String>) {
    if findings.grids.is_empty() {
        return;
    }
    lines.extend([
        String::new(),
        "Grid of the hardware, looked for in the times of effect".to_owned(),
    ]);
    for found in &findings.grids {
        let at = place(&found.setup, &found.domain);
        let at = if at.is_empty() { String::new() } else { format!("{at}: ") };
        if let Some(grid) = &found.grid {
            let period = &grid.period_us;
            let places = places(period);
            let ends = match (period.low, period.high) {
                (Some(low), Some(high)) => format!(" [{low:.places$}, {high:.places$}]"),
                _ => String::new(),
            };
            lines.push(format!(
                "  {at}{:.places$} us{ends}, coherence {:.3} (of the writes {:.3}), scatter {} us, over {} s, in \
                 {} switches; chance of that without a grid: 10^{:.0}",
                period.value,
                grid.coherence,
                grid.writes_coherence,
                short(grid.jitter_us),
                short(grid.coherent_s),
                grid.switches,
                grid.log10_false_alarm,
            ));
        } else if let Some(none) = &found.none {
            lines.push(format!("  {at}{none}"));
        }
    }
}

/// Decimals that show an interval's width in two digits, from 2 to 6.
fn places(estimate: &Estimate) -> usize {
    let width = estimate.high.zip(estimate.low).map_or(0.1, |(high, low)| high - low);
    (1.0 - width.max(1e-9).log10().floor()).clamp(2.0, 6.0) as usize
}
