//! A comparison's ratios with their intervals: pooled, like for like, and per workload.

use super::{LABEL, WIDTH, columns};
use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::model::{Comparison, Estimate, VerdictWord};
use crate::text;

const ROW: f64 = 23.0;
const NAMES: f64 = 128.0;
const VALUES: f64 = 118.0;
/// Most workloads drawn; the rest is in the tables.
const MAX_WORKLOADS: usize = 12;

struct Row<'a> {
    name: String,
    ratio: &'a Estimate,
    strong: bool,
    paint: Paint,
}

/// The chart.
pub(in crate::html) fn forest(c: &Comparison) -> Scene {
    let rows = rows(c);
    let height = ROW * rows.len() as f64 + 30.0;
    let mut scene = Scene::new(WIDTH, height, format!("Ratios of {}", c.title));
    scene.description = rows
        .iter()
        .map(|r| format!("{} {}", r.name, text::factor_interval(r.ratio)))
        .collect::<Vec<_>>()
        .join("; ");
    let (low, high) = range(&rows, c.margin);
    let scale = Scale::log(low, high, NAMES, WIDTH - VALUES);
    let bottom = height - 24.0;
    let band = (scale.at(1.0 / (1.0 + c.margin)), scale.at(1.0 + c.margin));
    let tip = format!("within {} counts as equal", text::share(c.margin));
    scene
        .rect(band.0, 2.0, band.1 - band.0, bottom - 2.0)
        .fill(Paint::Muted)
        .opacity(0.12)
        .tooltip(tip);
    let ticks: Vec<_> =
        scale.ticks(4).into_iter().map(|(v, l)| (scale.at(v), format!("{l}x"))).collect();
    columns(&mut scene, &ticks, 2.0, bottom);
    scene.line((scale.at(1.0), 2.0), (scale.at(1.0), bottom)).stroke(Paint::Muted, 1.2);
    for (i, row) in rows.iter().enumerate() {
        draw(&mut scene, row, scale, ROW * (i as f64 + 0.5) + 3.0);
    }
    scene
}

fn rows(c: &Comparison) -> Vec<Row<'_>> {
    let doubtful = matches!(c.verdict, VerdictWord::Confounded | VerdictWord::Unproven);
    let pooled = if doubtful { Paint::Muted } else { Paint::Verdict(c.verdict) };
    let mut rows = vec![Row {
        name: if doubtful { "pooled" } else { "all workloads" }.to_owned(),
        ratio: &c.ratio,
        strong: true,
        paint: pooled,
    }];
    for s in c.like_for_like.iter().chain(&c.equal_frequency) {
        rows.push(Row {
            name: s.stratum.replace("delivered ", ""),
            ratio: &s.ratio,
            strong: true,
            paint: Paint::Verdict(VerdictWord::Effect),
        });
    }
    for w in c.workloads.iter().take(MAX_WORKLOADS) {
        rows.push(Row { name: w.workload.clone(), ratio: &w.ratio, strong: false, paint: pooled });
    }
    rows
}

/// A range that holds every interval, one, and the margin.
fn range(rows: &[Row<'_>], margin: f64) -> (f64, f64) {
    let ends = rows.iter().flat_map(|r| [Some(r.ratio.value), r.ratio.low, r.ratio.high]).flatten();
    let (mut low, mut high) = (1.0 / (1.0 + margin), 1.0 + margin);
    for end in ends.filter(|e| e.is_finite() && *e > 0.0) {
        low = low.min(end);
        high = high.max(end);
    }
    let air = (high / low).powf(0.05);
    (low / air, high * air)
}

fn draw(scene: &mut Scene, row: &Row<'_>, scale: Scale, y: f64) {
    let weight = if row.strong { Weight::SemiBold } else { Weight::Regular };
    let name = font::fit(&row.name, LABEL, weight, NAMES - 12.0);
    let item = scene.text(0.0, y + 4.0, name, LABEL).tooltip(&row.name);
    if row.strong {
        item.bold();
    } else {
        item.fill(Paint::Muted);
    }
    if let (Some(low), Some(high)) = (row.ratio.low, row.ratio.high) {
        let width = if row.strong { 2.4 } else { 1.4 };
        scene.line((scale.at(low), y), (scale.at(high), y)).stroke(row.paint, width);
    }
    let radius = if row.strong { 4.6 } else { 3.2 };
    let full = text::factor_interval(row.ratio);
    scene.dots(vec![(scale.at(row.ratio.value), y)], radius).fill(row.paint).tooltip(&full);
    let item = scene.text(WIDTH, y + 4.0, full, 11.0).end();
    if !row.strong {
        item.fill(Paint::Muted);
    }
}
