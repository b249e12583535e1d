//! Utilisation and frequency over time as a scene: all runs in one panel per quantity.

use super::curve::Curve;
use super::view::RunView;
use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::text;

const LEFT: f64 = 56.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 64.0;
const PANEL: f64 = 190.0;
const BETWEEN: f64 = 46.0;
const SCALE: f64 = 1024.0;
/// Height of the lane that shows when a run's task ran, and room from lane to lane.
const LANE: f64 = 12.0;
const LANES: f64 = 18.0;

/// One panel: its title, the top of its axis, and the curves with their run's position.
struct Panel<'a> {
    title: String,
    top: f64,
    curves: Vec<(usize, &'a Curve, bool)>,
}

/// The figure: when the task ran, utilisation (util_est dashed), one panel per clock domain beneath.
/// Its size does not grow with the number of events.
#[must_use]
pub fn figure(runs: &[RunView], width: f64) -> Scene {
    let panels = panels(runs);
    let width = if width.is_finite() { width.clamp(480.0, 4000.0) } else { 960.0 };
    let lanes = runs.iter().filter(|run| run.running.is_some()).count();
    let top = TOP + if lanes > 0 { lanes as f64 * LANES + 22.0 } else { 0.0 };
    let height = top + panels.len().max(1) as f64 * (PANEL + BETWEEN) + 12.0;
    let mut scene = Scene::new(width, height, "Utilisation and frequency over time");
    scene.description = description(runs);
    scene.text(16.0, 26.0, "Utilisation and frequency over time", 15.0).bold();
    legend(&mut scene, runs);
    if panels.is_empty() {
        scene.text(16.0, TOP + 20.0, "no curves were recorded", 12.0).fill(Paint::Muted);
    }
    let to_ms = runs.iter().map(RunView::length_ms).fold(0.0, f64::max);
    running(&mut scene, runs, to_ms);
    for (at, panel) in panels.iter().enumerate() {
        let y = top + at as f64 * (PANEL + BETWEEN) + 16.0;
        draw(&mut scene, panel, y, to_ms, runs);
    }
    scene
}

fn panels(runs: &[RunView]) -> Vec<Panel<'_>> {
    let mut panels: Vec<Panel<'_>> = Vec::new();
    let estimates =
        runs.iter().enumerate().filter_map(|(at, r)| Some((at, r.util_est.as_ref()?, true)));
    let averages =
        runs.iter().enumerate().filter_map(|(at, r)| Some((at, r.utilization.as_ref()?, false)));
    let curves: Vec<(usize, &Curve, bool)> = estimates.chain(averages).collect();
    if !curves.is_empty() {
        let title = "utilisation: util_avg, dashed util_est".to_owned();
        panels.push(Panel { title, top: SCALE, curves });
    }
    for (at, run) in runs.iter().enumerate() {
        for curve in &run.frequency {
            let title = format!("frequency of {}, GHz", text::plain(&curve.name));
            match panels.iter_mut().find(|panel| panel.title == title) {
                Some(panel) => panel.curves.push((at, curve, false)),
                None => panels.push(Panel { title, top: 0.0, curves: vec![(at, curve, false)] }),
            }
        }
    }
    for panel in &mut panels {
        let highest = panel.curves.iter().map(|(_, curve, _)| curve.max()).fold(0.0, f64::max);
        panel.top = panel.top.max(highest);
    }
    panels
}

fn legend(scene: &mut Scene, runs: &[RunView]) {
    let room = (scene.width - 16.0) / runs.len().max(1) as f64 - 44.0;
    let mut x = 16.0;
    for (at, run) in runs.iter().enumerate() {
        let name = font::fit(&run.name, 11.5, Weight::Regular, room.max(60.0));
        scene.line((x, 46.0), (x + 18.0, 46.0)).stroke(Paint::Series(at), 2.4);
        scene.text(x + 24.0, 50.0, &name, 11.5);
        x += 44.0 + font::width(&name, 11.5, Weight::Regular);
    }
}

/// One lane per run, filled as high as the share of time that its task ran.
fn running(scene: &mut Scene, runs: &[RunView], to_ms: f64) {
    let across = Scale::linear(0.0, to_ms, LEFT, scene.width - RIGHT);
    let lanes = runs.iter().enumerate().filter_map(|(at, run)| Some((at, run.running.as_ref()?)));
    for (lane, (run, curve)) in lanes.enumerate() {
        let base = TOP + 16.0 + (lane + 1) as f64 * LANES - (LANES - LANE);
        if lane == 0 {
            scene.text(LEFT, TOP + 8.0, "task runs", 11.5).fill(Paint::Muted);
        }
        let up = Scale::linear(0.0, 1.0, base, base - LANE);
        let mut corners = steps(curve, across, up);
        if let (Some(first), Some(last)) = (corners.first().copied(), corners.last().copied()) {
            corners.extend([(last.0, base), (first.0, base)]);
        }
        let item = scene.polygon(corners).fill(Paint::Series(run));
        item.tooltip(format!("share of time that {} runs", text::plain(&curve.name)));
        scene.line((LEFT, base), (scene.width - RIGHT, base)).stroke(Paint::Grid, 1.0);
    }
}

fn draw(scene: &mut Scene, panel: &Panel<'_>, y: f64, to_ms: f64, runs: &[RunView]) {
    let right = scene.width - RIGHT;
    let across = Scale::linear(0.0, to_ms, LEFT, right);
    let up = Scale::linear(0.0, panel.top * 1.04, y + PANEL, y);
    scene.text(LEFT, y - 8.0, &panel.title, 11.5).fill(Paint::Muted);
    for (value, label) in up.ticks(4) {
        let at = up.at(value);
        scene.line((LEFT, at), (right, at)).stroke(Paint::Grid, 1.0);
        scene.text(LEFT - 7.0, at + 4.0, label, 11.0).end().fill(Paint::Muted);
    }
    for (value, label) in across.ticks(8) {
        scene.text(across.at(value), y + PANEL + 16.0, label, 11.0).middle().fill(Paint::Muted);
    }
    scene.text(right, y - 8.0, "ms", 11.0).end().fill(Paint::Muted);
    for (run, curve, dashed) in &panel.curves {
        let name = runs.get(*run).map_or("", |run| run.name.as_str());
        let item = scene.polyline(steps(curve, across, up)).stroke(Paint::Series(*run), 1.8);
        item.tooltip(format!("{}: {}", text::plain(name), text::plain(&curve.name)));
        if *dashed {
            item.dashed().opacity(0.6);
        }
    }
    scene.line((LEFT, y + PANEL), (right, y + PANEL)).stroke(Paint::Muted, 1.0);
}

/// A curve's corners: each value holds until the next.
fn steps(curve: &Curve, across: Scale, up: Scale) -> Vec<(f64, f64)> {
    let mut corners = Vec::with_capacity(curve.points.len() * 2 + 1);
    let mut last = None;
    for point in &curve.points {
        let x = across.at(point.t_ms);
        if let Some(y) = last {
            corners.push((x, y));
        }
        let y = up.at(point.value);
        corners.push((x, y));
        last = Some(y);
    }
    corners.extend(last.map(|y| (across.at(curve.until_ms), y)));
    visible(&corners)
}

/// The corners that can be seen: of those in one unit of width the first, the lowest, the highest
/// and the last, and none on a straight line between its neighbours. The line looks the same.
fn visible(corners: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for column in corners.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        let by_y = |a: &(usize, &(f64, f64)), b: &(usize, &(f64, f64))| a.1.1.total_cmp(&b.1.1);
        let low = column.iter().enumerate().min_by(by_y).map_or(0, |(at, _)| at);
        let high = column.iter().enumerate().max_by(by_y).map_or(0, |(at, _)| at);
        let mut picks = [0, low.min(high), low.max(high), column.len() - 1].to_vec();
        picks.dedup();
        for corner in picks.into_iter().filter_map(|at| column.get(at).copied()) {
            if let [.., a, b] = kept.as_slice()
                && ((a.0 == b.0 && b.0 == corner.0) || (a.1 == b.1 && b.1 == corner.1))
            {
                kept.pop();
            }
            kept.push(corner);
        }
    }
    kept
}

/// What a person sees in the figure.
fn description(runs: &[RunView]) -> String {
    let one = |run: &RunView| {
        let peak = run.utilization.as_ref().map_or(0.0, Curve::max);
        let top = run.frequency.iter().map(Curve::max).fold(0.0, f64::max);
        format!(
            "{}: {:.0} ms, utilisation up to {peak:.0}, frequency up to {top:.2} GHz",
            text::plain(&run.name),
            run.length_ms()
        )
    };
    runs.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_left_out_and_nothing_else() {
        let staircase = [(0.0, 9.0), (5.0, 9.0), (5.0, 2.0), (8.0, 2.0)];
        assert_eq!(visible(&staircase), staircase);
        assert_eq!(visible(&[(0.0, 9.0), (3.0, 9.0), (7.0, 9.0)]), [(0.0, 9.0), (7.0, 9.0)]);
        let many: Vec<(f64, f64)> =
            (0..100_000).map(|i| (f64::from(i) / 1000.0, f64::from(i * 7 % 190))).collect();
        let kept = visible(&many);
        assert!(kept.len() <= 400, "{}", kept.len());
        for column in 0..100 {
            let reach = |corners: &[(f64, f64)]| {
                let here = corners.iter().filter(|c| c.0.floor() == f64::from(column));
                here.fold((f64::MAX, f64::MIN), |(low, high), c| (low.min(c.1), high.max(c.1)))
            };
            assert_eq!(reach(&many), reach(&kept), "{column}");
        }
        assert!(visible(&[]).is_empty());
    }
}
