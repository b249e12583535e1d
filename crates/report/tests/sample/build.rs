//! Pieces of a report made from drawn windows.
#![allow(clippy::unwrap_used)] // samples are made with all their intervals

use flyball_report::model::*;

/// SplitMix64 (Steele, Lea and Flood, 2014), enough to draw windows from.
pub struct Rng(pub u64);

impl Rng {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box-Muller).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (self.unit().max(1e-12), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

pub fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low: Some(low), high: Some(high) }
}

pub fn around(value: f64, by: f64) -> Estimate {
    estimate(value, value * (1.0 - by), value * (1.0 + by))
}

pub fn distribution(values: &[f64], spread: f64) -> Distribution {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let at = |q: f64| sorted[((n - 1) as f64 * q).round() as usize];
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let variance = sorted.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0);
    Distribution {
        n: n as u64,
        median_us: around(at(0.5), spread),
        mean_us: mean,
        sd_us: variance.sqrt(),
        min_us: sorted[0],
        p1_us: at(0.01),
        p5_us: at(0.05),
        p25_us: at(0.25),
        p75_us: at(0.75),
        p95_us: at(0.95),
        p99_us: around(at(0.99), spread * 4.0),
        p999_us: (n >= 1000).then(|| at(0.999)),
        max_us: sorted[n - 1],
        estimator: "Hyndman-Fan 7".to_owned(),
        histogram: histogram(&sorted),
    }
}

fn histogram(sorted: &[f64]) -> Histogram {
    const BINS: usize = 160;
    let (low, high) = (sorted[0].max(1e-6) * 0.98, sorted[sorted.len() - 1] * 1.02);
    let step = (high / low).ln() / BINS as f64;
    let edges_us: Vec<f64> = (0..=BINS).map(|i| low * (step * i as f64).exp()).collect();
    let mut counts = vec![0; BINS];
    for value in sorted {
        let bin = ((value / low).ln() / step).floor().clamp(0.0, BINS as f64 - 1.0);
        counts[bin as usize] += 1;
    }
    Histogram { edges_us, counts }
}

/// What a sample cell is made of.
pub struct Recipe<'a> {
    pub run: &'a str,
    pub workload: &'a str,
    pub condition: &'a str,
    /// Median, relative spread and share of each mode.
    pub modes: &'a [(f64, f64, f64)],
    pub labels: &'a [&'a str],
    pub n: usize,
    pub repeats: u32,
    pub mhz: Option<f64>,
    pub cpu: Option<u32>,
    pub start_s: f64,
    pub period_s: f64,
    pub disturbed_share: f64,
    pub spread: f64,
    pub effective_n: f64,
}

pub fn cell(rng: &mut Rng, recipe: &Recipe<'_>) -> Cell {
    let mut values = Vec::new();
    let mut lateness = Vec::new();
    let mut points = Vec::new();
    let every = recipe.n.div_ceil(240);
    let mut disturbed = 0;
    for i in 0..recipe.n {
        let mode = pick(rng.unit(), recipe.modes);
        let (median, spread, _) = recipe.modes[mode];
        let is_disturbed = rng.unit() < recipe.disturbed_share;
        let tail = if is_disturbed { 1.3 + 1.5 * rng.unit() } else { 1.0 };
        let speed = 1.0 + 0.006 * rng.normal();
        let value = median / speed * (spread * rng.normal()).exp() * tail;
        disturbed += u64::from(is_disturbed);
        values.push(value);
        lateness.push(32.0 * (0.35 * rng.normal()).exp() + if is_disturbed { 60.0 } else { 0.0 });
        if i % every == 0 || is_disturbed {
            points.push(Point {
                t_s: recipe.start_s + i as f64 * recipe.period_s,
                execution_us: value,
                delivered_mhz: recipe.mhz.map(|m| m * speed),
                cpu: recipe.cpu,
                mode: Some(mode as u32),
                disturbed: is_disturbed,
            });
        }
    }
    let response: Vec<f64> = values.iter().zip(&lateness).map(|(e, l)| e + l).collect();
    Cell {
        run: recipe.run.to_owned(),
        workload: recipe.workload.to_owned(),
        condition: recipe.condition.to_owned(),
        n: recipe.n as u64,
        repeats: recipe.repeats,
        measure: Measure::Execution,
        execution: distribution(&values, recipe.spread),
        lateness: recipe.cpu.map(|_| distribution(&lateness, 0.03)),
        response: recipe.cpu.map(|_| distribution(&response, 0.03)),
        missed: 0,
        deadline_us: recipe.cpu.map(|_| recipe.period_s * 1e6),
        effective_n: recipe.effective_n,
        lag1_autocorrelation: Some(if recipe.modes.len() > 1 { 0.94 } else { 0.12 }),
        modes: modes(&values, recipe),
        placement: placement(recipe, &values),
        transport: None,
        cpu_time_median_us: None,
        delivered: recipe.mhz.map(|mhz| Delivered {
            source: "probe".to_owned(),
            median: mhz,
            p1: mhz * 0.985,
            p99: mhz * 1.012,
            basis: "measured".to_owned(),
            n: recipe.n as u64 - disturbed,
        }),
        disturbed: Disturbed {
            windows: disturbed,
            preempted: recipe.cpu.map(|_| disturbed / 2),
            migrated: recipe.cpu.map(|_| 0),
            steal: recipe.cpu.map(|_| disturbed - disturbed / 2),
            faults: recipe.cpu.map(|_| 0),
            probe: recipe.cpu.map(|_| disturbed / 3),
            nan: Some(0),
        },
        scheduling: recipe.cpu.map(|_| "OTHER 0".to_owned()),
        degraded: Vec::new(),
        points,
    }
}

fn pick(u: f64, modes: &[(f64, f64, f64)]) -> usize {
    let mut sum = 0.0;
    modes
        .iter()
        .position(|m| {
            sum += m.2;
            u < sum
        })
        .unwrap_or(modes.len() - 1)
}

fn modes(values: &[f64], recipe: &Recipe<'_>) -> Modes {
    let mixture = recipe.modes.len() > 1;
    let modes = recipe
        .modes
        .iter()
        .enumerate()
        .map(|(i, m)| Mode {
            median_us: m.0,
            low_us: m.0 * (1.0 - 3.0 * m.1),
            high_us: m.0 * (1.0 + 3.0 * m.1),
            share: m.2,
            label: recipe.labels.get(i).map(|l| (*l).to_owned()),
        })
        .collect();
    let _ = values;
    Modes {
        test: "Hartigan's dip test (1985), then kernel density valleys".to_owned(),
        p_value: Some(if mixture { 0.0 } else { 0.62 }),
        mixture,
        modes,
    }
}

fn placement(recipe: &Recipe<'_>, values: &[f64]) -> Placement {
    let cpus = recipe.cpu.map(|cpu| CpuShare {
        cpu,
        core_type: None,
        share: 1.0,
        median_us: values[values.len() / 2],
    });
    Placement {
        recorded: recipe.cpu.is_some(),
        cpus: cpus.into_iter().collect(),
        summary: recipe.cpu.map_or_else(|| "unrecorded".to_owned(), |c| format!("cpu{c}")),
        migrated: 0,
        inferred: None,
    }
}

pub fn geometric_mean(cells: &[Cell], run: &str, condition: &str) -> GeometricMean {
    let of: Vec<&Cell> =
        cells.iter().filter(|c| c.run == run && c.condition == condition).collect();
    let log = of.iter().map(|c| c.execution.median_us.value.ln()).sum::<f64>() / of.len() as f64;
    let spread =
        of.iter().map(|c| 1.0 - c.execution.median_us.low.unwrap() / c.execution.median_us.value);
    let spread = spread.fold(0.0, f64::max);
    GeometricMean {
        run: run.to_owned(),
        condition: condition.to_owned(),
        workloads: of.iter().map(|c| c.workload.clone()).collect(),
        median_us: around(log.exp(), spread),
    }
}

pub fn side(run: &str, condition: &str) -> Side {
    Side { run: run.to_owned(), condition: condition.to_owned(), workload: None }
}

pub fn reason(kind: &str, text: &str, inferred: bool) -> Reason {
    Reason { kind: kind.to_owned(), text: text.to_owned(), inferred }
}

pub fn finding(object: &str, text: &str, hint: Option<&str>) -> Finding {
    Finding { object: object.to_owned(), text: text.to_owned(), hint: hint.map(str::to_owned) }
}
