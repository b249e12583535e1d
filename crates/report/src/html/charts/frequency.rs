//! Execution time against delivered frequency.

use super::{LABEL, LEFT, Member, WIDTH, columns, core_range, measured, rows, thinned};
use crate::draw::axis::Scale;
use crate::draw::{Paint, Scene};
use crate::text;

const HEIGHT: f64 = 250.0;

/// Caption with the unit of the frequency.
pub(in crate::html) fn frequency_caption(members: &[Member<'_>]) -> &'static str {
    if relative(members) {
        "us by percent of the best seen; dashed: constant work"
    } else {
        "us by GHz; dashed: constant cycles"
    }
}

fn relative(members: &[Member<'_>]) -> bool {
    members.iter().filter_map(|m| m.cell.delivered.as_ref()).any(text::is_percent)
}

/// The scatter; `None` where no window's frequency is known.
pub(in crate::html) fn frequency(workload: &str, members: &[Member<'_>]) -> Option<Scene> {
    let (low, high) = core_range(members);
    // A window beyond the axis would be drawn on its edge and look as if it were there.
    let points = |m: &Member<'_>, disturbed: bool| -> Vec<(f64, f64)> {
        let some = m.cell.points.iter().filter(|p| p.disturbed == disturbed);
        some.filter_map(|p| Some((p.delivered_mhz?, p.execution_us)))
            .filter(|(f, e)| *f > 0.0 && (low..=high).contains(e))
            .collect()
    };
    let mut seen: Vec<f64> = members.iter().flat_map(|m| points(m, false)).map(|p| p.0).collect();
    seen.sort_by(f64::total_cmp);
    let (first, last) = (*seen.first()?, *seen.last()?);
    let unit = if relative(members) { 1.0 } else { 1000.0 };
    let air = ((last - first) * 0.06).max(last * 0.003);
    let x = Scale::linear((first - air) / unit, (last + air) / unit, LEFT, WIDTH - 10.0);
    let y = Scale::log(low, high, HEIGHT - 26.0, 8.0);
    let mut scene = Scene::new(
        WIDTH,
        HEIGHT,
        format!("{} of {workload} against delivered frequency", measured(members)),
    );
    rows(&mut scene, y, 5);
    let ticks: Vec<_> = x.ticks(5).into_iter().map(|(v, l)| (x.at(v), l)).collect();
    columns(&mut scene, &ticks, 8.0, HEIGHT - 26.0);
    for m in members {
        let dots =
            thinned(points(m, false)).into_iter().map(|(f, e)| (x.at(f / unit), y.at(e))).collect();
        scene.dots(dots, 2.0).fill(Paint::Series(m.series)).opacity(0.5).tooltip(m.label);
        let marked = thinned(points(m, true))
            .into_iter()
            .map(|(f, e)| (x.at(f / unit), y.at(e)))
            .collect::<Vec<_>>();
        if !marked.is_empty() {
            scene
                .dots(marked, 2.0)
                .fill(Paint::Alarm)
                .opacity(0.8)
                .tooltip(format!("{}: disturbed", m.label));
        }
    }
    constant_cycles(&mut scene, members, (first, last), unit, x, y);
    Some(scene)
}

/// Where the first condition's median would lie at other frequencies if time were cycles over
/// frequency: conditions along this line differ by frequency alone.
fn constant_cycles(
    scene: &mut Scene,
    members: &[Member<'_>],
    (first, last): (f64, f64),
    unit: f64,
    x: Scale,
    y: Scale,
) {
    let known = members.iter().find_map(|m| m.cell.delivered.as_ref().map(|d| (m, d.median)));
    let Some((member, mhz)) = known.filter(|(_, mhz)| *mhz > 0.0) else { return };
    let cycles = member.cell.execution.median_us.value * mhz;
    let line = (0..=24)
        .map(|i| first + (last - first) * f64::from(i) / 24.0)
        .map(|f| (x.at(f / unit), y.at(cycles / f)))
        .collect();
    scene
        .polyline(line)
        .stroke(Paint::Ink, 1.3)
        .dashed()
        .tooltip(format!("as many cycles as {}'s median", member.label));
    if members.len() > 12 {
        scene
            .text(LEFT + 6.0, 20.0, text::count(members.len() as u64, "condition"), LABEL)
            .fill(Paint::Muted);
    }
}
