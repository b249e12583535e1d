//! Where a difference comes from: its parts behind each other, from the baseline to the subject.

use super::{LABEL, WIDTH, columns};
use crate::draw::axis::Scale;
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::model::{Cause, VerdictWord};
use crate::text;

const ROW: f64 = 23.0;
const BAR: f64 = 13.0;
const NAMES: f64 = 128.0;
const VALUES: f64 = 118.0;

/// One bar per part, each beginning where the one before ends, and the whole below them.
pub(in crate::html) fn waterfall(cause: &Cause, title: &str) -> Scene {
    let rows = cause.parts.len() + 1;
    let height = ROW * rows as f64 + 30.0;
    let mut scene =
        Scene::new(WIDTH, height, format!("Where the difference of {title} comes from"));
    scene.description = cause
        .parts
        .iter()
        .map(|part| format!("{} {}", part.part.name(), text::micros_interval(&part.us)))
        .collect::<Vec<_>>()
        .join("; ");
    let mut ends = vec![0.0];
    let mut at = 0.0;
    for part in &cause.parts {
        at += part.us.value;
        ends.push(at);
    }
    let (low, high) =
        ends.iter().fold((0.0_f64, 0.0_f64), |(low, high), &end| (low.min(end), high.max(end)));
    let air = (high - low).max(1e-3) * 0.05;
    let scale = Scale::linear(low - air, high + air, NAMES, WIDTH - VALUES);
    let bottom = height - 24.0;
    let ticks: Vec<_> = scale.ticks(4).into_iter().map(|(v, l)| (scale.at(v), l)).collect();
    columns(&mut scene, &ticks, 2.0, bottom);
    scene.line((scale.at(0.0), 2.0), (scale.at(0.0), bottom)).stroke(Paint::Muted, 1.2);
    let mut bar = |row: usize, name: &str, from: f64, us: &crate::model::Estimate, whole: bool| {
        let y = ROW * (row as f64 + 0.5) + 3.0;
        let weight = if whole { Weight::SemiBold } else { Weight::Regular };
        let item = scene.text(0.0, y + 4.0, font::fit(name, LABEL, weight, NAMES - 12.0), LABEL);
        if whole {
            item.bold();
        }
        let (left, right) =
            (scale.at(from.min(from + us.value)), scale.at(from.max(from + us.value)));
        let paint = if whole { Paint::Muted } else { Paint::Verdict(VerdictWord::Effect) };
        let full = text::micros_interval(us);
        scene
            .rect(left, y - BAR / 2.0, (right - left).max(1.0), BAR)
            .rounded(2.0)
            .fill(paint)
            .tooltip(format!("{name} {full} us"));
        scene.text(WIDTH, y + 4.0, full, 11.0).end();
    };
    for (row, (part, from)) in cause.parts.iter().zip(&ends).enumerate() {
        bar(row, part.part.name(), *from, &part.us, false);
    }
    bar(rows - 1, "all", 0.0, &cause.total_us, true);
    scene
}
