//! What the figures show, simulated.

use super::{Figure, Line};
use crate::load_tracking::platform;
use crate::quantity::Undecided;
use crate::simulation::{Log, run, setup, task};
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_sim::setup::Setup;
use flyball_units::{KiloHertz, Nanos};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Busy spells given by their starts and lengths, at whatever frequency.
struct Spells(Vec<(Nanos, Nanos)>, bool);

impl Behavior for Spells {
    fn next(&mut self, now: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        let Some(&(start, length)) = self.0.first() else { return Step::Exit };
        self.1 = !self.1;
        if self.1 {
            return Step::SleepUntil(start);
        }
        self.0.remove(0);
        // Time, not work: the burst is as long at any speed.
        let _ = now;
        Step::Run(Work { cycles: 0, memory: length })
    }
}

/// A rule on the Pentium M.
fn machine(
    platform: &str,
    governor: &str,
    tunables: &[(&str, i64)],
    start_khz: u64,
    duration: Nanos,
) -> Result<Setup, Undecided> {
    let mut setup = setup(platform, "freebsd-8.1", governor, tunables, duration)?;
    setup.kernel.stat_hz = 100;
    setup.initial = vec![Some(KiloHertz(start_khz)); setup.platform.domains.len()];
    setup.poll_phase = Nanos::from_millis(125);
    Ok(setup)
}

/// Frequency over time in s and MHz.
fn frequency(log: &Log, start_khz: u64, duration: Nanos) -> Vec<(f64, f64)> {
    let mut points = vec![(0.0, start_khz as f64 / 1e3)];
    points.extend(log.frequency.iter().map(|(at, _, khz)| (*at as f64 / 1e9, *khz as f64 / 1e3)));
    let last = points.last().map_or(0.0, |point| point.1);
    points.push((duration.as_secs_f64(), last));
    points
}

/// Busy or idle over time, drawn at the bottom of the chart.
fn busy(spells: &[(Nanos, Nanos)], height: f64, duration: Nanos) -> Line {
    let mut points = vec![(0.0, 0.0)];
    for (start, length) in spells {
        points.push((start.as_secs_f64(), height));
        points.push(((*start + *length).as_secs_f64(), 0.0));
    }
    points.push((duration.as_secs_f64(), 0.0));
    Line { name: "busy", points, steps: true }
}

/// Figure 1: power and work per energy over speed.
pub(super) fn trade_off() -> Result<Figure, Undecided> {
    let platform = platform("pentium-m")?;
    let points = platform.domains.first().map(|domain| domain.points.as_slice());
    let points = points.unwrap_or_default();
    let over_speed = |value: fn(f64, f64) -> f64| {
        points
            .iter()
            .map(|point| (point.effective.0 as f64 / 1e3, point.busy_power_mw))
            .map(|(mhz, mw)| (mhz, value(mhz, mw)))
            .collect()
    };
    Ok(Figure {
        name: "figure-1-speed-trade-off",
        title: "Figure 1: power and work per energy at each speed (Pentium M, manufacturer's figures)",
        axes: ["speed, MHz", "W, or 10^7 cycles per joule"],
        lines: vec![
            Line { name: "power, W", points: over_speed(|_, mw| mw / 1e3), steps: false },
            Line {
                name: "10^7 cycles per joule",
                points: over_speed(|mhz, mw| mhz * 1e6 / (mw / 1e3) / 1e7),
                steps: false,
            },
        ],
    })
}

fn under(
    platform: &str,
    rule: (&str, &[(&str, i64)]),
    start_khz: u64,
    spells: &[(Nanos, Nanos)],
    duration: Nanos,
) -> Result<Vec<(f64, f64)>, Undecided> {
    let mut setup = machine(platform, rule.0, rule.1, start_khz, duration)?;
    setup.tasks.push(task("load", Nanos::ZERO, Spells(spells.to_vec(), false)));
    let (log, _) = run(setup)?;
    Ok(frequency(&log, start_khz, duration))
}

const HADP: (&str, &[(&str, i64)]) = ("powerd", &[("mode", 1)]);
const TICK: (&str, &[(&str, i64)]) = ("tick", &[]);

/// Figure 2: slow up, slower down.
pub(super) fn slow_answer() -> Result<Figure, Undecided> {
    let duration = Nanos::from_secs(12);
    let spells = [(Nanos::from_secs(1), Nanos::from_secs(2))];
    let old = under("pentium-m", HADP, 600_000, &spells, duration)?;
    Ok(Figure {
        name: "figure-2-powerd-answer",
        title: "Figure 2: powerd's answer to a busy spell of 2 s",
        axes: ["time, s", "MHz"],
        lines: vec![
            Line { name: "powerd (hadp)", points: old, steps: true },
            busy(&spells, 200.0, duration),
        ],
    })
}

/// Figure 4: the way down over 17 levels.
pub(super) fn decay() -> Result<Figure, Undecided> {
    let duration = Nanos::from_secs(26);
    let points = under("pentium-m-throttled", HADP, 1_700_000, &[], duration)?;
    Ok(Figure {
        name: "figure-4-powerd-decay",
        title: "Figure 4: powerd from 1700 to 75 MHz on an idle machine of 17 levels, in 26 s",
        axes: ["time, s", "MHz"],
        lines: vec![Line { name: "powerd (hadp)", points, steps: true }],
    })
}

/// Figure 5: short bursts keep the old rule up; the new one lets go between them.
pub(super) fn bursts() -> Result<Figure, Undecided> {
    let duration = Nanos::from_secs(12);
    let spells: Vec<(Nanos, Nanos)> =
        (0..6).map(|n| (Nanos::from_millis(500 + 2000 * n), Nanos::from_millis(500))).collect();
    let old = under("pentium-m", HADP, 600_000, &spells, duration)?;
    let new = under("pentium-m", TICK, 600_000, &spells, duration)?;
    Ok(Figure {
        name: "figure-5-bursts",
        title: "Figure 5: bursts of 0.5 s every 2 s under both rules",
        axes: ["time, s", "MHz"],
        lines: vec![
            Line { name: "powerd (hadp)", points: old, steps: true },
            Line { name: "tick rule", points: new, steps: true },
            busy(&spells, 200.0, duration),
        ],
    })
}

/// Figure 6: windows of 250 ms against consecutive ticks.
pub(super) fn ticks() -> Result<Figure, Undecided> {
    let duration = Nanos::from_millis(1500);
    let spells = [(Nanos::from_millis(300), Nanos::from_millis(600))];
    let paper: (&str, &[(&str, i64)]) = ("powerd-paper", &[]);
    let old = under("pentium-m", paper, 600_000, &spells, duration)?;
    let new = under("pentium-m", TICK, 600_000, &spells, duration)?;
    Ok(Figure {
        name: "figure-6-windows-and-ticks",
        title: "Figure 6: a busy spell of 0.6 s seen in windows of 250 ms and by consecutive ticks",
        axes: ["time, s", "MHz"],
        lines: vec![
            Line { name: "old rule", points: old, steps: true },
            Line { name: "new rule", points: new, steps: true },
            busy(&spells, 200.0, duration),
        ],
    })
}
