//! A grid with one chart per workload: four of them make two by two.

use super::bars::{self, Bar, Frame};
use super::{Figure, Size};
use crate::draw::{Paint, Scene};
use crate::model::{Cell, Report};
use crate::text;
use crate::view::{self, Group};

/// Median execution time per workload and condition, every workload on its own axis.
#[must_use]
pub fn per_kernel_comparison(report: &Report, size: Size) -> Figure {
    let workloads = view::workloads(report);
    let groups = view::groups(report);
    let columns = if workloads.len() <= 1 { 1 } else { 2 };
    let rows = workloads.len().div_ceil(columns).max(1);
    let size = size.at_least(
        columns as f64 * (90.0 * groups.len() as f64).max(320.0) + 48.0,
        110.0 + rows as f64 * 230.0,
    );
    let mut scene = Scene::new(size.width, size.height, "Latency by workload and condition");
    let measured = view::measured(&report.cells);
    scene.description = format!("Median {measured} of every workload under every condition");
    scene.text(24.0, 36.0, format!("Median {measured} by workload"), 20.0).bold();
    scene.text(24.0, 56.0, "us; every workload has its own axis", 12.0).fill(Paint::Muted);
    let cell = ((size.width - 48.0) / columns as f64, (size.height - 116.0) / rows as f64);
    let mut doubtful = false;
    for (i, workload) in workloads.iter().enumerate() {
        let bars: Vec<Bar> = groups
            .iter()
            .enumerate()
            .filter_map(|(series, group)| {
                Some(bar(report, view::cell(report, workload, group)?, group, series))
            })
            .collect();
        doubtful |= bars.iter().any(|b| b.caveat.is_some());
        let frame = Frame {
            x: 24.0 + (i % columns) as f64 * cell.0,
            y: 84.0 + (i / columns) as f64 * cell.1,
            width: cell.0 - 14.0,
            height: cell.1 - 14.0,
        };
        bars::chart(&mut scene, frame, workload, &bars, true);
    }
    bars::key(&mut scene, 24.0, size.height - 16.0, doubtful);
    Figure { name: "per_kernel_comparison".to_owned(), scene }
}

fn bar(report: &Report, cell: &Cell, group: &Group, series: usize) -> Bar {
    let modes = &cell.modes;
    let strata = modes
        .modes
        .iter()
        .filter(|_| modes.mixture)
        .map(|m| (m.label.clone().unwrap_or_default(), m.median_us, m.share));
    let mixture = modes.mixture.then(|| text::count(modes.modes.len() as u64, "mode"));
    Bar {
        label: group.label.clone(),
        value: cell.execution.median_us,
        ratio: String::new(),
        caveat: mixture.or_else(|| view::doubt(report, group)),
        strata: strata.collect(),
        series,
    }
}
