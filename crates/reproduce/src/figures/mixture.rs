//! CORTEX's governor validation over the share of windows on E cores, 0 to 100 %.

use super::{Figure, Line};
use crate::model::mixture::sweep;
use crate::quantity::Undecided;
use flyball_lab::{PUBLISHED, ShareSweep, TRAP_RATIO};

/// Powersave's share in the recordings, %: 43 to 46, by the modes.
const RECORDED_POWERSAVE: u32 = 45;

/// The pooled medians, and the ratio that CORTEX's governor validation calls a trap.
pub(super) fn figures() -> Result<[Figure; 2], Undecided> {
    let sweep = sweep()?;
    Ok([medians(&sweep), trap(&sweep)])
}

fn medians(sweep: &ShareSweep) -> Figure {
    let over = |condition: &str| {
        let shares = sweep.shares.iter();
        shares.map(|&share| (f64::from(share), sweep.geo_mean_us(condition, share))).collect()
    };
    Figure {
        name: "cortex-medians-by-e-share",
        title: "CORTEX: geometric mean of pooled medians by the share of windows on E cores (M1 model)",
        axes: ["windows on E cores, %", "us"],
        lines: vec![
            Line { name: "powersave", points: over("powersave"), steps: false },
            Line { name: "performance", points: over("performance"), steps: false },
            level("printed for schedutil", printed("schedutil")),
            level("printed for powersave", printed("powersave")),
            level("printed for performance", printed("performance")),
        ],
    }
}

fn trap(sweep: &ShareSweep) -> Figure {
    let against = |powersave: Option<u32>| {
        let ratio = |share: u32| {
            sweep.ratio(("schedutil", share), ("powersave", powersave.unwrap_or(share)))
        };
        sweep.shares.iter().map(|&share| (f64::from(share), ratio(share))).collect()
    };
    let mixed = against(Some(RECORDED_POWERSAVE));
    Figure {
        name: "cortex-trap-by-e-share",
        title: "CORTEX: schedutil over powersave by the share of schedutil's windows on E cores (M1 model)",
        axes: ["schedutil's windows on E cores, %", "ratio"],
        lines: vec![
            Line { name: "powersave with 45 % on E", points: mixed, steps: false },
            Line { name: "powersave with the same share", points: against(None), steps: false },
            level("printed: the trap, 1.42", TRAP_RATIO),
        ],
    }
}

/// A published value as a line across.
fn level(name: &'static str, value: f64) -> Line {
    Line { name, points: vec![(0.0, value), (100.0, value)], steps: false }
}

/// Geometric mean of the published medians of a condition, us.
fn printed(condition: &str) -> f64 {
    let logs: Vec<f64> = PUBLISHED
        .iter()
        .filter(|published| published.condition == condition)
        .map(|published| published.median_us.ln())
        .collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}
