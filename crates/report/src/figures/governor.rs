//! All conditions side by side: geometric mean of the workloads' medians, with ratios.

use super::bars::{self, Bar, Frame};
use super::{Figure, Size};
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::model::{Report, VerdictWord};
use crate::text;
use crate::view::{self, Group};

/// Bars of every condition's geometric mean with its interval, the ratio to the baseline, and the
/// modes beside each mixture; the comparisons' verdicts stand above.
#[must_use]
pub fn governor_comparison(report: &Report, size: Size) -> Figure {
    let groups = view::groups(report);
    let size = size.at_least(640.0_f64.max(110.0 * groups.len() as f64), 420.0);
    let mut scene = Scene::new(size.width, size.height, "Latency by condition");
    let measured = view::measured(&report.cells);
    scene.description = format!("Geometric mean of the workloads' median {measured} per condition");
    scene.text(24.0, 36.0, format!("Median {measured} by condition"), 20.0).bold();
    let workloads = view::workloads(report).len();
    let subtitle = format!(
        "geometric mean over {}, us; ratio to the baseline above each bar",
        text::count(workloads as u64, "workload")
    );
    scene.text(24.0, 56.0, subtitle, 12.0).fill(Paint::Muted);
    let top = verdict_lines(&mut scene, report, size.width);
    let bars = bars(report, &groups);
    let frame =
        Frame { x: 24.0, y: top + 8.0, width: size.width - 48.0, height: size.height - top - 52.0 };
    bars::chart(&mut scene, frame, "", &bars, true);
    bars::key(&mut scene, 24.0, size.height - 16.0, bars.iter().any(|b| b.caveat.is_some()));
    Figure { name: "governor_comparison".to_owned(), scene }
}

/// The first verdicts as text under the title; returns where they end.
fn verdict_lines(scene: &mut Scene, report: &Report, width: f64) -> f64 {
    let mut y = 80.0;
    for c in report.comparisons.iter().take(3) {
        let word = text::verdict(c.verdict);
        scene.text(24.0, y, word, 12.0).bold().fill(Paint::Verdict(c.verdict));
        let x = 24.0 + 82.0;
        let like = c.like_for_like.first().filter(|_| c.verdict == VerdictWord::Confounded);
        let like = like.map_or_else(String::new, |s| {
            format!("; like for like ({}) {}", s.stratum, text::factor_interval(&s.ratio))
        });
        let line = format!("{}: {}{like}", c.title, text::change_interval(&c.ratio));
        scene
            .text(x, y, font::fit(&line, 12.0, Weight::Regular, width - x - 24.0), 12.0)
            .tooltip(line);
        y += 18.0;
    }
    y
}

/// One bar per group that has a geometric mean.
pub(super) fn bars(report: &Report, groups: &[Group]) -> Vec<Bar> {
    let base = view::baseline(report, groups).map(|i| &groups[i]);
    let base_mean = base.and_then(|g| view::geometric_mean(report, g)).map(|g| g.median_us.value);
    groups
        .iter()
        .enumerate()
        .filter_map(|(series, group)| {
            let mean = view::geometric_mean(report, group)?;
            let ratio = match (base, base_mean) {
                (Some(b), Some(_)) if b == group => "baseline".to_owned(),
                (Some(b), Some(of)) => {
                    let own = view::comparison(report, group, b).map(|c| c.ratio.value);
                    format!("{}x", text::number(own.unwrap_or(mean.median_us.value / of), 2))
                }
                _ => String::new(),
            };
            Some(Bar {
                label: group.label.clone(),
                value: mean.median_us,
                ratio,
                caveat: view::caveat(report, group),
                strata: view::strata(report, group)
                    .into_iter()
                    .map(|s| (s.label, s.median_us, s.share))
                    .collect(),
                series,
            })
        })
        .collect()
}
