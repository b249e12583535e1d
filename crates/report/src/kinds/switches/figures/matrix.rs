//! The matrix of all switches as a heat map, from row to column.

use super::WIDTH;
use crate::draw::{Paint, Scene};
use crate::figures::Figure;
use crate::kinds::switches::analysis::{Findings, Switch};
use crate::kinds::switches::tables::{mhz, place, short};

const LEFT: f64 = 110.0;
const TOP: f64 = 96.0;
const CELL: (f64, f64) = (92.0, 40.0);
/// Faintest and strongest cell.
const OPACITY: (f64, f64) = (0.08, 0.75);

/// One per method, set-up and domain with three levels or more.
pub(super) fn figures(findings: &Findings) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (method, title, value) in [
        ("detect", "Transition, median us", transition as fn(&Switch) -> Option<f64>),
        ("direct", "Write, median us", write),
    ] {
        let all: Vec<&Switch> =
            findings.switches.iter().filter(|switch| switch.method == method).collect();
        let mut places: Vec<String> =
            all.iter().map(|switch| place(&switch.setup, &switch.domain)).collect();
        places.dedup();
        for at in places {
            let here: Vec<&Switch> = all
                .iter()
                .filter(|switch| place(&switch.setup, &switch.domain) == at)
                .copied()
                .collect();
            let mut levels: Vec<u64> = here.iter().flat_map(|s| [s.from_khz, s.to_khz]).collect();
            levels.sort_unstable();
            levels.dedup();
            if levels.len() < 3 {
                continue;
            }
            let title = if at.is_empty() { title.to_owned() } else { format!("{title}, {at}") };
            let suffix: String =
                at.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            figures.push(Figure {
                name: format!("transition-matrix-{method}-{suffix}")
                    .trim_end_matches('-')
                    .to_owned(),
                scene: draw(&title, &levels, &here, value),
            });
        }
    }
    figures
}

fn transition(switch: &Switch) -> Option<f64> {
    switch.transition_us.as_ref().map(|of| of.median.value)
}

fn write(switch: &Switch) -> Option<f64> {
    switch.write_us.as_ref().filter(|_| switch.levels != 0).map(|of| of.median.value)
}

fn draw(
    title: &str,
    levels: &[u64],
    switches: &[&Switch],
    value: fn(&Switch) -> Option<f64>,
) -> Scene {
    let n = levels.len() as f64;
    let width = (LEFT + n * CELL.0 + 20.0).max(WIDTH / 2.0);
    let mut scene = Scene::new(width, TOP + n * CELL.1 + 24.0, title);
    scene.rect(0.0, 0.0, width, scene.height).fill(Paint::Surface);
    scene.text(16.0, 28.0, title, 16.0).bold();
    scene.text(16.0, 50.0, "from row to column, MHz", 12.0).fill(Paint::Muted);
    let values = || switches.iter().filter_map(|switch| value(switch));
    let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    let strength = |value: f64| {
        // By ratio: a write of 3 us and one of 3 ms may stand side by side.
        let (value, least, most) =
            (value.max(1e-3).ln(), least.max(1e-3).ln(), most.max(1e-3).ln());
        let share = if most > least { (value - least) / (most - least) } else { 0.5 };
        OPACITY.0 + share * (OPACITY.1 - OPACITY.0)
    };
    for (row, from) in levels.iter().enumerate() {
        let y = TOP + row as f64 * CELL.1;
        scene.text(LEFT - 10.0, y + CELL.1 / 2.0 + 4.0, mhz(*from), 12.0).end();
        let x = LEFT + (row as f64 + 0.5) * CELL.0;
        scene.text(x, TOP - 10.0, mhz(*from), 12.0).middle();
        for (column, to) in levels.iter().enumerate() {
            let x = LEFT + column as f64 * CELL.0;
            let found = switches.iter().find(|s| (s.from_khz, s.to_khz) == (*from, *to));
            let Some(us) = found.and_then(|switch| value(switch)) else {
                scene.rect(x, y, CELL.0 - 2.0, CELL.1 - 2.0).stroke(Paint::Grid, 1.0);
                continue;
            };
            let tip = format!("{} to {} MHz: {} us", mhz(*from), mhz(*to), short(us));
            scene
                .rect(x, y, CELL.0 - 2.0, CELL.1 - 2.0)
                .fill(Paint::Series(0))
                .opacity(strength(us))
                .tooltip(tip);
            scene.text(x + CELL.0 / 2.0 - 1.0, y + CELL.1 / 2.0 + 4.0, short(us), 12.5).middle();
        }
    }
    scene
}
