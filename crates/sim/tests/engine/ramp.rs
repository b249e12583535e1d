//! The response to a sudden demand: the response-time series' runs on an M1.

use crate::common::*;
use flyball_sim::setup::Setup;
use flyball_units::{CpuId, KernelRule, Nanos};

/// A phase: position in the period at the start (in units of 1024 ns), and time to the first tick.
#[derive(Clone, Copy)]
struct Phase {
    contrib: u64,
    to_tick: u64,
}

impl Phase {
    /// At which the residencies published for maximum performance come out.
    const FITTED: Phase = Phase { contrib: 352, to_tick: 287_500 };

    /// In ns: late enough for any rate limit to be open.
    fn start(self) -> u64 {
        (100 * 1024 + self.contrib) * 1024
    }

    /// 32 phases, evenly.
    fn grid() -> impl Iterator<Item = Phase> {
        (0..32).map(|n| Phase { contrib: n % 8 * 128, to_tick: (n / 8) * 250_000 + 1 })
    }
}

fn ramp(kernel: &str, governor: &str, phase: Phase, cpus: &[u32]) -> Setup {
    let start = phase.start();
    let mut setup =
        without_transitions(setup("apple-m1", kernel, governor, Nanos(start + 2000 * MS)));
    setup.tick_phase = Nanos((start + phase.to_tick) % MS);
    let mut spin = task("rampup", Spin);
    spin.start = Nanos(start);
    spin.initial_util = Some(0);
    spin.allowed = cpus.iter().map(|&cpu| CpuId(cpu)).collect();
    setup.tasks.push(spin);
    setup
}

/// Steps of util_avg: value, and how long it held in ms.
fn residencies(log: &Log) -> Vec<(u32, f64)> {
    log.util.windows(2).map(|pair| (pair[0].1, (pair[1].0 - pair[0].0) as f64 / 1e6)).collect()
}

/// Time on the little core, to utilisation 450, and to 1000, in ms.
fn times(setup: Setup) -> [f64; 3] {
    let start = setup.tasks[0].start.0;
    let (log, _) = run(setup);
    let moved = log.migrations.first().map_or(f64::NAN, |&(at, ..)| (at - start) as f64 / 1e6);
    [moved, log.reached(450, start), log.reached(1000, start)]
}

/// The lowest and the highest of each time over the phases.
fn ranges(kernel: &str, multiplier: Option<u32>) -> [(f64, f64); 3] {
    let mut ranges = [(f64::INFINITY, 0.0_f64); 3];
    for phase in Phase::grid() {
        let mut setup = ramp(kernel, "schedutil", phase, &[]);
        setup.tasks[0].rampup_multiplier = multiplier;
        for (range, time) in ranges.iter_mut().zip(times(setup)) {
            *range = (range.0.min(time), range.1.max(time));
        }
    }
    ranges
}

#[track_caller]
fn assert_inside(time: f64, range: (f64, f64)) {
    assert!(range.0 <= time && time <= range.1, "{time} outside {range:?}");
}

#[test]
fn residencies_at_maximum_performance_are_the_published_ones() {
    let (log, _) = run(ramp("linux-6.8", "performance", Phase::FITTED, &[4]));
    let published = [
        26, 47, 67, 86, 105, 124, 143, 161, 178, 196, 213, 229, 245, 277, 292, 307, 322, 336, 350,
        364, 378, 391, 404, 416, 429, 441, 453,
    ];
    let ours = residencies(&log);
    for (at, &value) in published.iter().enumerate() {
        let expected = if value == 245 { 2.0 } else { 1.0 };
        assert_eq!(ours[at + 1], (value, expected), "value {at} of 27");
    }
    let start = Phase::FITTED.start();
    assert_eq!(log.reached(450, start), 28.2875);
    assert_eq!(log.reached(1015, start), 227.2875);
}

#[test]
fn a_lower_clamp_of_1024_is_maximum_performance() {
    let mut setup = ramp("linux-6.8", "schedutil", Phase::FITTED, &[]);
    // Since 6.16; before, the clamp counts from the first tick on (see `versions`).
    setup.kernel.rules = setup.kernel.rules.set(KernelRule::RequestBeforeClamp, false);
    setup.tasks[0].uclamp_min = 1024;
    let (clamped, _) = run(setup);
    let (fast, _) = run(ramp("linux-6.8", "performance", Phase::FITTED, &[4]));
    assert_eq!(clamped.util[..60], fast.util[..60], "on a P core, at its highest frequency");
}

#[test]
fn lowest_performance_takes_223_ms_to_450() {
    let (log, _) = run(ramp("linux-6.8", "powersave", Phase::FITTED, &[0]));
    assert!((log.reached(450, Phase::FITTED.start()) - 223.0).abs() < 1.0);
    let steps = residencies(&log);
    let eight = steps[1..30].iter().filter(|&&(_, ms)| ms == 8.0).count();
    assert!(eight >= 26, "utilisation updates every 8 ms most of the time: {steps:?}");
}

#[test]
fn an_upper_clamp_of_0_keeps_the_task_on_the_slowest_core() {
    let mut setup = ramp("linux-6.8", "schedutil", Phase::FITTED, &[]);
    setup.tasks[0].uclamp_max = 0;
    let (clamped, summary) = run(setup);
    let (slow, _) = run(ramp("linux-6.8", "powersave", Phase::FITTED, &[0]));
    assert_eq!(clamped.util, slow.util);
    assert_eq!(summary.tasks[0].migrations, 0);
}

#[test]
fn default_ramp_at_a_rate_limit_of_10_ms() {
    let phase = Phase { contrib: 576, to_tick: 500_000 };
    let [little, to_450, _] = times(ramp("linux-6.8", "schedutil", phase, &[]));
    assert_eq!((little, to_450), (97.5, 111.5));
    let [little, to_450, to_1000] = ranges("linux-6.8", None);
    assert_inside(97.5, little);
    assert_inside(111.5, to_450);
    assert_inside(277.5, to_1000);
}

#[test]
fn default_ramp_at_a_rate_limit_of_70_us() {
    let [.., to_1000] = ranges("linux-6.8-70us", None);
    assert_inside(273.5, to_1000);
}

#[test]
fn the_series_leaves_the_little_core_early() {
    let phase = Phase { contrib: 640, to_tick: 500_000 };
    let series = |multiplier| {
        let mut setup = ramp("linux-6.10-series", "schedutil", phase, &[]);
        setup.tasks[0].rampup_multiplier = multiplier;
        setup
    };
    assert_eq!(times(series(None))[0], 32.5);
    assert_eq!(times(series(Some(2)))[0], 18.5);
    let (_, summary) = run(ramp("linux-6.10-series", "schedutil", Phase::FITTED, &[]));
    let at = |khz| {
        let points = &summary.domains[1].residency;
        points.iter().find(|point| point.frequency.0 == khz).unwrap().time.0 / MS
    };
    assert!(at(2_988_000).abs_diff(48) <= 1 && at(2_592_000).abs_diff(15) <= 1);
    assert!(at(2_388_000).abs_diff(12) <= 1);
    let [little, ..] = ranges("linux-6.10-series", None);
    assert_inside(32.53, little);
    let [little, ..] = ranges("linux-6.10-series", Some(2));
    assert_inside(16.74, little);
}
