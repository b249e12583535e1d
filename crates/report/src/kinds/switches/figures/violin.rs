//! Violins: the density of the values of each switch, mirrored, with quartiles and median.

use super::WIDTH;
use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::figures::Figure;
use crate::kinds::switches::analysis::Findings;
use crate::kinds::switches::tables::{mhz, place, short};
use crate::kinds::switches::windowed::{Scores, Windowed};
use flyball_run::SwitchTrial;
use flyball_stats::{density, quantile, sort};
use std::collections::BTreeMap;

const HEIGHT: f64 = 460.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 64.0;
/// Violins in a figure at most; the others go to the next one.
const MOST: usize = 12;

/// One violin.
struct Violin {
    label: String,
    series: usize,
    /// Ascending.
    values: Vec<f64>,
}

/// The figures that there are values for: transitions, latencies of pairs, scores.
pub(super) fn figures(trials: &[SwitchTrial], findings: &Findings) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |name: &str, title: &str, unit: &str, violins: Vec<Violin>, zero: bool| {
        for (number, shown) in violins.chunks(MOST).enumerate() {
            let (title, name) = match number {
                0 => (title.to_owned(), name.to_owned()),
                more => (format!("{title} ({})", more + 1), format!("{name}-{}", more + 1)),
            };
            figures.push(Figure { name, scene: draw(&title, unit, shown, zero) });
        }
    };
    let transitions = by_switch(trials, "detect", |trial| Some(trial.transition_ns? as f64 / 1e3));
    add(
        "transition-latency",
        "From the write until work runs at the new speed",
        "us",
        transitions,
        true,
    );
    let writes = by_switch(trials, "direct", |trial| {
        trial.write_ns.filter(|_| trial.from_khz != trial.to_khz).map(|ns| ns as f64 / 1e3)
    });
    add("transition-writes", "Time of the write", "us", writes, true);
    add(
        "transition-pairs",
        "Time without work per switch, by pair (windowed)",
        "us",
        of_pairs(trials, findings),
        true,
    );
    let mut scores = by_switch(trials, "windowed", |trial| trial.score);
    scores.extend(by_switch(trials, "fixed", |trial| trial.score));
    add("transition-scores", "Scores of the runs", "per second", scores, false);
    figures
}

fn by_switch(
    trials: &[SwitchTrial],
    method: &str,
    value: impl Fn(&SwitchTrial) -> Option<f64>,
) -> Vec<Violin> {
    let mut groups: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.method == method && trial.rejected.is_none()) {
        let key = (
            place(&trial.setup, &trial.domain),
            trial.from_khz,
            trial.to_khz,
            trial.window_ns.filter(|_| method == "windowed"),
        );
        groups.entry(key).or_default().extend(value(trial));
    }
    groups
        .into_iter()
        .filter(|(_, values)| !values.is_empty())
        .map(|((place, from, to, window), values)| {
            let pair = match (method, from == to) {
                (_, true) => mhz(from),
                ("windowed", _) => format!("{}<->{}", mhz(from), mhz(to)),
                _ => format!("{}→{}", mhz(from), mhz(to)),
            };
            let window = window.map_or(String::new(), |ns| format!(" {} ms", ns as f64 / 1e6));
            Violin::new(
                format!("{place} {pair}{window}").trim().to_owned(),
                usize::from(to < from),
                values,
            )
        })
        .collect()
}

fn of_pairs(trials: &[SwitchTrial], findings: &Findings) -> Vec<Violin> {
    let scores = |pair: &Windowed, method: &str, from: u64, to: u64, window: bool| -> Vec<f64> {
        trials
            .iter()
            .filter(|trial| {
                trial.method == method
                    && (&trial.setup, &trial.domain) == (&pair.setup, &pair.domain)
                    && (trial.from_khz, trial.to_khz) == (from, to)
                    && (!window
                        || trial.window_ns.map(|ns| ns as f64 / 1e3) == Some(pair.window_us))
            })
            .filter_map(|trial| trial.score)
            .collect()
    };
    let of = |pair: &Windowed| {
        let reached = scores(pair, "windowed", pair.from_khz, pair.to_khz, true);
        let first = scores(pair, "fixed", pair.from_khz, pair.from_khz, false);
        let second = scores(pair, "fixed", pair.to_khz, pair.to_khz, false);
        let scores = Scores { reached: &reached, first: &first, second: &second };
        let label = format!(
            "{} {}<->{}",
            place(&pair.setup, &pair.domain),
            mhz(pair.from_khz),
            mhz(pair.to_khz)
        );
        let series = if pair.refused.is_some() { 1 } else { 0 };
        Violin::new(label.trim().to_owned(), series, Windowed::latencies(pair.window_us, scores))
    };
    findings.windowed.iter().map(of).collect()
}

impl Violin {
    fn new(label: String, series: usize, mut values: Vec<f64>) -> Violin {
        sort(&mut values);
        Violin { label, series, values }
    }

    fn at(&self, p: f64) -> f64 {
        quantile(&self.values, p)
    }
}

fn draw(title: &str, unit: &str, violins: &[Violin], from_zero: bool) -> Scene {
    let mut scene = Scene::new(WIDTH, HEIGHT, title);
    scene.description = violins
        .iter()
        .map(|violin| format!("{}: median {} {unit}", violin.label, short(violin.at(0.5))))
        .collect::<Vec<_>>()
        .join("; ");
    scene.rect(0.0, 0.0, WIDTH, HEIGHT).fill(Paint::Surface);
    scene
        .text(LEFT, 28.0, font::fit(title, 16.0, Weight::SemiBold, WIDTH - LEFT - RIGHT), 16.0)
        .bold();
    scene
        .text(LEFT, 48.0, format!("{unit}; median, quartiles, 99 % of the values"), 12.0)
        .fill(Paint::Muted);
    let largest = violins.iter().map(|violin| violin.at(0.995)).fold(f64::MIN, f64::max);
    let least = violins.iter().map(|violin| violin.at(0.005)).fold(f64::MAX, f64::min);
    let floor = if from_zero { least.min(0.0) } else { least - 0.05 * (largest - least) };
    let scale = Scale::linear(floor, largest + 0.05 * (largest - floor), HEIGHT - BOTTOM, TOP);
    for (value, label) in scale.ticks(6) {
        let y = scale.at(value);
        scene.line((LEFT, y), (WIDTH - RIGHT, y)).stroke(Paint::Grid, 1.0);
        scene.text(LEFT - 8.0, y + 4.0, label, 11.5).end().fill(Paint::Muted);
    }
    let slot = (WIDTH - LEFT - RIGHT) / violins.len().max(1) as f64;
    for (number, violin) in violins.iter().enumerate() {
        let centre = LEFT + slot * (number as f64 + 0.5);
        one(&mut scene, violin, centre, slot, &scale, unit);
        // Two rows of labels, so that neighbours do not touch.
        let y = HEIGHT - BOTTOM + if number % 2 == 0 { 20.0 } else { 38.0 };
        let label = font::fit(&violin.label, 11.0, Weight::Regular, 2.0 * slot - 4.0);
        scene.text(centre, y, label, 11.0).middle().tooltip(&violin.label);
    }
    scene
}

fn one(scene: &mut Scene, violin: &Violin, centre: f64, slot: f64, scale: &Scale, unit: &str) {
    let half = (slot * 0.4).min(46.0);
    let paint = Paint::Series(violin.series);
    let density = density(&violin.values);
    let right = density.iter().map(|(value, share)| (centre + half * share, scale.at(*value)));
    let left = density.iter().rev().map(|(value, share)| (centre - half * share, scale.at(*value)));
    let tip = format!(
        "{}: median {} {unit}, p1 {}, p99 {}, n {}",
        violin.label,
        short(violin.at(0.5)),
        short(violin.at(0.01)),
        short(violin.at(0.99)),
        violin.values.len()
    );
    scene.polygon(right.chain(left).collect()).fill(paint).opacity(0.45).tooltip(tip);
    let (lower, upper) = (scale.at(violin.at(0.25)), scale.at(violin.at(0.75)));
    scene.line((centre, lower), (centre, upper)).stroke(paint, 4.0);
    let middle = scale.at(violin.at(0.5));
    scene
        .line((centre - half * 0.5, middle), (centre + half * 0.5, middle))
        .stroke(Paint::Ink, 1.6);
    let value = short(violin.at(0.5));
    if font::width(&value, 10.5, Weight::Regular) < slot - half * 0.5 - 2.0 {
        scene.text(centre + half * 0.5 + 3.0, middle + 4.0, value, 10.5);
    }
}
