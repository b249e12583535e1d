//! Execution time over the run.

use super::{LEFT, Member, WIDTH, columns, core_range, measured, rows, thinned};
use crate::draw::axis::Scale;
use crate::draw::{Paint, Scene};

const HEIGHT: f64 = 250.0;

/// Windows over time, disturbed ones marked; `None` where no points were kept.
pub(in crate::html) fn timeline(workload: &str, members: &[Member<'_>]) -> Option<Scene> {
    let times = || {
        members.iter().flat_map(|m| m.cell.points.iter().map(|p| p.t_s)).filter(|t| t.is_finite())
    };
    let first = times().reduce(f64::min)?;
    let last = times().reduce(f64::max)?;
    let (low, core_high) = core_range(members);
    // Disturbed windows lie above the 99th percentile: they get room, but not all of it.
    let top = members.iter().map(|m| m.cell.execution.max_us).fold(core_high, f64::max);
    let high = top.min(core_high * 4.0);
    let x = Scale::linear(first, last, LEFT + 4.0, WIDTH - 10.0);
    let y = Scale::log(low, high, HEIGHT - 26.0, 8.0);
    let mut scene =
        Scene::new(WIDTH, HEIGHT, format!("{} of {workload} over time", measured(members)));
    rows(&mut scene, y, 5);
    let ticks: Vec<_> = x.ticks(6).into_iter().map(|(v, l)| (x.at(v), l)).collect();
    columns(&mut scene, &ticks, 8.0, HEIGHT - 26.0);
    for m in members {
        let of = |disturbed: bool| -> Vec<(f64, f64)> {
            let some =
                m.cell.points.iter().filter(|p| p.disturbed == disturbed && p.execution_us <= high);
            thinned(some.map(|p| (x.at(p.t_s), y.at(p.execution_us))).collect())
        };
        scene.dots(of(false), 1.9).fill(Paint::Series(m.series)).opacity(0.62).tooltip(m.label);
        let marked = of(true);
        if !marked.is_empty() {
            scene
                .dots(marked, 2.2)
                .fill(Paint::Alarm)
                .opacity(0.85)
                .tooltip(format!("{}: disturbed", m.label));
        }
    }
    Some(scene)
}
