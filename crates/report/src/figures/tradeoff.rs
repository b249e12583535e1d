//! Energy against latency: one point per governor.

use super::{Figure, Size};
use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};

/// One governor.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeoffPoint {
    /// Its name.
    pub label: String,
    /// Latency, in nanoseconds.
    pub latency_ns: f64,
    /// Energy, in millijoules.
    pub energy_mj: f64,
}

const LEFT: f64 = 76.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 60.0;
const DOT: f64 = 5.0;

/// Energy over the 99th percentile of the latency, on axes of their own range: what lies further left
/// and lower is better. A goal, in nanoseconds, is a line.
#[must_use]
pub fn tradeoff(title: &str, points: &[TradeoffPoint], goal_ns: Option<f64>, size: Size) -> Figure {
    let size = size.at_least(560.0, 380.0);
    let mut scene = Scene::new(size.width, size.height, title);
    scene.description = description(points);
    let room = size.width - 48.0;
    scene.text(24.0, 34.0, font::fit(title, 18.0, Weight::SemiBold, room), 18.0).bold();
    scene
        .text(
            24.0,
            54.0,
            "energy against the 99th percentile of the latency; lower left is better",
            12.0,
        )
        .fill(Paint::Muted);
    let (bottom, right) = (size.height - BOTTOM, size.width - RIGHT);
    let finite = |value: &f64| value.is_finite() && *value > 0.0;
    let times = points.iter().map(|point| point.latency_ns / 1e6).chain(goal_ns.map(|ns| ns / 1e6));
    let (low, high) = range(times.filter(finite));
    let across = match high / low > 20.0 {
        true => Scale::log(low * 0.8, high * 1.3, LEFT, right),
        false => Scale::linear(0.0, high * 1.15, LEFT, right),
    };
    let (_, most) = range(points.iter().map(|point| point.energy_mj / 1e3).filter(finite));
    let up = Scale::linear(0.0, most * 1.15, bottom, TOP);
    let plot = Plot { across, up, frame: Area { left: LEFT, right, top: TOP, bottom } };
    plot.grid(&mut scene, "p99 latency, ms");
    if let Some(goal) = goal_ns {
        let x = across.at(goal / 1e6);
        scene.line((x, TOP), (x, bottom)).stroke(Paint::Alarm, 1.4).dashed();
        scene.text(x + 4.0, TOP + 12.0, "goal", 11.0).fill(Paint::Alarm);
    }
    let dot = |(series, point): (usize, &TradeoffPoint)| Dot {
        latency_ms: point.latency_ns / 1e6,
        energy_j: point.energy_mj / 1e3,
        series,
        radius: DOT,
        label: Some(point.label.clone()),
        name: point.label.clone(),
    };
    let drawn = points.iter().enumerate().filter(|(_, point)| is_drawn(point));
    let frame = Area { left: LEFT, right: size.width, top: TOP - 8.0, bottom };
    plot.dots(&mut scene, &drawn.map(dot).collect::<Vec<_>>(), &frame);
    Figure { name: "tradeoff".to_owned(), scene }
}

/// Latency across and energy upwards.
pub(super) struct Plot {
    pub across: Scale,
    pub up: Scale,
    pub frame: Area,
}

/// One point of a plot.
pub(super) struct Dot {
    pub latency_ms: f64,
    pub energy_j: f64,
    pub series: usize,
    pub radius: f64,
    /// What stands beside it.
    pub label: Option<String>,
    /// What it is.
    pub name: String,
}

impl Plot {
    /// Grid, ticks and what the axes are.
    pub(super) fn grid(&self, scene: &mut Scene, latency: &str) {
        let Area { left, right, top, bottom } = self.frame;
        for (value, label) in self.across.ticks(6) {
            let x = self.across.at(value);
            scene.line((x, top), (x, bottom)).stroke(Paint::Grid, 1.0);
            scene.text(x, bottom + 18.0, label, 11.0).middle().fill(Paint::Muted);
        }
        for (value, label) in self.up.ticks(5) {
            let y = self.up.at(value);
            scene.line((left, y), (right, y)).stroke(Paint::Grid, 1.0);
            scene.text(left - 8.0, y + 4.0, label, 11.0).end().fill(Paint::Muted);
        }
        scene.text((left + right) / 2.0, bottom + 40.0, latency, 12.0).middle();
        scene.text(24.0, top - 10.0, "energy, J", 12.0);
    }

    pub(super) fn place(&self, dot: &Dot) -> (f64, f64) {
        (self.across.at(dot.latency_ms), self.up.at(dot.energy_j))
    }

    /// Dots and their labels, none of them over another dot or label; labels stay in `frame`.
    pub(super) fn dots(&self, scene: &mut Scene, dots: &[Dot], frame: &Area) {
        let mut taken: Vec<Area> =
            dots.iter().map(|dot| Area::dot(self.place(dot), dot.radius)).collect();
        for dot in dots {
            let (x, y) = self.place(dot);
            let told = format!("{}: {:.3} ms, {:.3} J", dot.name, dot.latency_ms, dot.energy_j);
            let paint = Paint::Series(dot.series);
            scene.dots(vec![(x, y)], dot.radius).fill(paint).tooltip(told);
            let Some(label) = &dot.label else { continue };
            let label = font::fit(label, LABEL, Weight::Regular, 200.0);
            let wide = font::width(&label, LABEL, Weight::Regular);
            let area = free_place((x, y), wide, frame, &taken);
            let baseline = area.bottom - 3.0;
            if (baseline - 4.0 - y).abs() > LINE {
                // Far from its point: a line says whose it is.
                let near = if area.left > x { area.left } else { area.right };
                scene.line((x, y), (near, baseline - 4.0)).stroke(paint, 0.8);
            }
            scene.text(area.left, baseline, label, LABEL);
            taken.push(area);
        }
    }
}

/// Size of a point's label.
const LABEL: f64 = 11.0;

/// From line to line of labels.
const LINE: f64 = 14.0;

/// A rectangle: of the plot, or what a dot or a label covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Area {
    fn dot((x, y): (f64, f64), radius: f64) -> Area {
        Area { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }
    }

    fn meets(&self, other: &Area) -> bool {
        let across = self.left < other.right && other.left < self.right;
        across && self.top < other.bottom && other.top < self.bottom
    }

    fn lies_in(&self, other: &Area) -> bool {
        let across = other.left <= self.left && self.right <= other.right;
        across && other.top <= self.top && self.bottom <= other.bottom
    }
}

/// Where a label of this width fits beside its point without covering anything: right of it, then
/// left of it, then ever farther above and below; right of it where nothing is free.
fn free_place((x, y): (f64, f64), wide: f64, frame: &Area, taken: &[Area]) -> Area {
    let at = |left: f64, shift: f64| {
        let middle = y + shift;
        Area { left, right: left + wide, top: middle - LINE / 2.0, bottom: middle + LINE / 2.0 }
    };
    let shifts =
        (0..24).flat_map(|step| [-1.0, 1.0].map(|sign| sign * LINE / 2.0 * f64::from(step)));
    let mut places =
        shifts.flat_map(|shift| [at(x + DOT + 5.0, shift), at(x - DOT - 5.0 - wide, shift)]);
    let free = |area: &Area| area.lies_in(frame) && !taken.iter().any(|other| area.meets(other));
    places.find(free).unwrap_or_else(|| at(x + DOT + 5.0, 0.0))
}

/// Whether a point has a place: a governor that finished nothing has no latency.
fn is_drawn(point: &TradeoffPoint) -> bool {
    point.latency_ns.is_finite() && point.latency_ns > 0.0 && point.energy_mj.is_finite()
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if low.is_finite() { (low, high) } else { (1.0, 1.0) }
}

fn description(points: &[TradeoffPoint]) -> String {
    let one = |point: &TradeoffPoint| {
        let (ms, joules) = (point.latency_ns / 1e6, point.energy_mj / 1e3);
        format!("{} {ms:.2} ms and {joules:.2} J", point.label)
    };
    let all: Vec<String> = points.iter().filter(|point| is_drawn(point)).map(one).collect();
    format!("99th percentile of the latency and energy: {}", all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(label: &str, latency_ns: f64, energy_mj: f64) -> TradeoffPoint {
        TradeoffPoint { label: label.to_owned(), latency_ns, energy_mj }
    }

    #[test]
    fn every_governor_is_in_it() {
        let points = [point("ondemand", 4e6, 9e3), point("powersave", 300e6, 4e3)];
        let svg = tradeoff("a load", &points, Some(5e6), Size::default()).svg();
        for wanted in ["ondemand", "powersave", "goal", "a load", "p99 latency, ms"] {
            assert!(svg.contains(wanted), "{wanted}");
        }
    }

    #[test]
    fn labels_of_points_close_together_do_not_overprint() {
        let frame = Area { left: 76.0, right: 560.0, top: 76.0, bottom: 320.0 };
        let points =
            [(300.0, 200.0), (301.0, 200.0), (301.0, 203.0), (540.0, 200.0), (300.0, 200.0)];
        let mut taken: Vec<Area> = points.map(|at| Area::dot(at, DOT)).to_vec();
        for point in points {
            let area = free_place(point, 90.0, &frame, &taken);
            assert!(area.lies_in(&frame), "{area:?}");
            assert!(!taken.iter().any(|other| area.meets(other)), "{area:?} in {taken:?}");
            taken.push(area);
        }
    }

    #[test]
    fn nothing_and_nonsense_are_drawn_too() {
        for points in [vec![], vec![point("x", f64::NAN, f64::INFINITY), point("y", 0.0, 0.0)]] {
            let figure = tradeoff("t", &points, None, Size::default());
            assert!(!figure.svg().contains("NaN"));
            assert!(figure.png().is_ok());
        }
    }
}
