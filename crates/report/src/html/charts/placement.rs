//! Which CPUs the windows ran on.

use super::{LABEL, Member, WIDTH};
use crate::draw::font::{self, Weight};
use crate::draw::{Paint, Scene};
use crate::model::Placement;
use crate::text;

const ROW: f64 = 44.0;
const BAR: f64 = 18.0;

/// The placement where one sentence tells all: every window on one CPU, or nothing recorded.
pub(in crate::html) fn placement_in_words(members: &[Member<'_>]) -> Option<String> {
    let placements = || members.iter().map(|m| &m.cell.placement);
    if placements().all(|p| !p.recorded) {
        return Some("The CPU of the windows was not recorded.".to_owned());
    }
    let first = placements().next()?;
    let cpu = first.cpus.first()?;
    let same = |p: &Placement| p.recorded && p.cpus.len() == 1 && p.cpus[0].cpu == cpu.cpu;
    let kind = cpu.core_type.as_ref().map_or_else(String::new, |k| format!(" ({k})"));
    placements().all(same).then(|| format!("Every window ran on cpu{}{kind}.", cpu.cpu))
}

/// One bar per condition, divided by CPU; hatched where the CPU was not recorded.
pub(in crate::html) fn placement(workload: &str, members: &[Member<'_>]) -> Scene {
    let height = ROW * members.len() as f64 + 6.0;
    let mut scene = Scene::new(WIDTH, height, format!("Placement of the windows of {workload}"));
    scene.description = members
        .iter()
        .map(|m| format!("{}: {}", m.label, m.cell.placement.summary))
        .collect::<Vec<_>>()
        .join("; ");
    for (i, m) in members.iter().enumerate() {
        row(&mut scene, m, ROW * i as f64);
    }
    scene
}

fn row(scene: &mut Scene, m: &Member<'_>, top: f64) {
    let placement = &m.cell.placement;
    let note = if placement.migrated > 0 {
        format!("{} moved", text::count(placement.migrated, "window"))
    } else {
        String::new()
    };
    let room = WIDTH - 20.0 - font::width(&note, LABEL, Weight::Regular);
    scene
        .text(4.0, top + 13.0, font::fit(m.label, LABEL, Weight::SemiBold, room), LABEL)
        .bold()
        .tooltip(m.label);
    scene.text(WIDTH - 8.0, top + 13.0, note, LABEL).end().fill(Paint::Muted);
    let (left, y, width) = (4.0, top + 20.0, WIDTH - 12.0);
    if !placement.recorded || placement.cpus.is_empty() {
        scene.rect(left, y, width, BAR).rounded(3.0).fill(Paint::Muted).opacity(0.1);
        scene.hatch(left, y, width, BAR, Paint::Grid);
        scene
            .text(left + width / 2.0, y + 13.0, "CPU not recorded", LABEL)
            .middle()
            .fill(Paint::Muted);
        return;
    }
    let mut x = left;
    for (i, cpu) in placement.cpus.iter().enumerate() {
        let part = width * cpu.share.clamp(0.0, 1.0);
        let kind = cpu.core_type.as_ref().map_or_else(String::new, |k| format!(" ({k})"));
        let tip = format!(
            "{}: cpu{}{kind}, {} of windows, median {} us",
            m.label,
            cpu.cpu,
            text::share(cpu.share),
            text::micros(cpu.median_us)
        );
        scene
            .rect(x, y, (part - 1.0).max(0.5), BAR)
            .rounded(3.0)
            .fill(Paint::Series(m.series))
            .opacity(if i % 2 == 0 { 0.32 } else { 0.18 })
            .tooltip(tip);
        let label = format!("cpu{}{kind} {}", cpu.cpu, text::share(cpu.share));
        if font::width(&label, LABEL, Weight::Regular) + 12.0 < part {
            scene.text(x + 7.0, y + 13.0, label, LABEL);
        }
        x += part;
    }
}
