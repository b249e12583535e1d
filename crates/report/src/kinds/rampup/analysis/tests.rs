//! Rows whose truth is known: what is found in them.

use super::*;
use flyball_run::Run;
use flyball_run::manifest::{ConditionRecord, OverheadRecord};
use flyball_run::{RampUp, RampUpSample, RunState, RunWriter};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SPIN_NS: u64 = 100_000_000;

/// A run of repetitions whose rate over time is `rate(after_ms, random)`.
fn run(rate: impl Fn(f64, &mut dyn FnMut() -> f64) -> (f64, bool)) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = Manifest {
        kind: "rampup".into(),
        seed: Some(5),
        conditions: vec![ConditionRecord { name: "as it is".into(), ..Default::default() }],
        overheads: vec![OverheadRecord {
            name: "probe".into(),
            median_ns: 16_000.0,
            ..Default::default()
        }],
        ..Manifest::default()
    };
    let mut writer = RunWriter::create(folder.path().join("run"), &manifest).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    for seq in 0..20 {
        let begin_ns = 1_000_000_000 + seq * 300_000_000;
        writer
            .append(&RampUp {
                seq,
                condition: "as it is".into(),
                repeat: seq as u32 + 1,
                gap_ns: 10_000_000,
                sleeps: 1,
                begin_ns,
                end_ns: begin_ns + SPIN_NS,
                ..RampUp::default()
            })
            .unwrap();
        let mut after_ns = 0;
        while after_ns < SPIN_NS {
            let (rate_per_us, disturbed) = rate(after_ns as f64 / 1e6, &mut uniform);
            writer
                .append(&RampUpSample {
                    rampup: seq,
                    after_ns,
                    ticks: Some(1),
                    cpu: Some(if after_ns < 4_000_000 { 0 } else { 1 }),
                    rate_per_us,
                    delivered_khz: Some((rate_per_us * 3_000.0) as u64),
                    disturbed,
                })
                .unwrap();
            after_ns += 16_000 + (after_ns / 64).min(500_000);
        }
    }
    manifest.state = RunState::Complete;
    let dir = writer.finish(&manifest).unwrap();
    Run::open(dir).unwrap()
}

#[test]
fn a_ramp_is_found_with_its_times() {
    // 30 % until 2 ms, 60 % until 8 ms, 90 % until 20 ms, then all of 1000; half a percent of noise.
    let found = analyse(&run(|ms, uniform| {
        let step = match ms {
            ms if ms < 2.0 => 300.0,
            ms if ms < 8.0 => 600.0,
            ms if ms < 20.0 => 900.0,
            _ => 1000.0,
        };
        (step * (1.0 + 0.005 * (uniform() - 0.5)), false)
    }));
    assert_eq!(found.cells.len(), 1);
    let cell = &found.cells[0];
    for (time, wanted) in cell.times.iter().zip([2.0, 8.0, 20.0, 20.0]) {
        let median = time.quantiles.median.unwrap();
        assert_eq!(time.reached, 20, "{time:?}");
        assert!((median.estimate.value / wanted - 1.0).abs() < 0.03, "{time:?} {wanted}");
    }
    let Ramp::Visible { lowest, until_ms } = cell.ramp else { panic!("{:?}", cell.ramp) };
    assert!((lowest - 0.3).abs() < 0.01 && until_ms == 30.0, "{lowest} {until_ms}");
    assert!((found.highest_per_us - 1000.0).abs() < 2.0);
    assert!(found.highest_khz.is_some_and(|khz| khz.abs_diff(3_000_000) < 6_000), "{found:?}");
    assert_eq!((cell.first_cpu.get(&0), cell.moved), (Some(&20), 20));
}

#[test]
fn noise_is_no_ramp_and_has_a_bound() {
    let found = analyse(&run(|_, uniform| (1000.0 * (1.0 + 0.01 * (uniform() - 0.5)), false)));
    let Ramp::NotVisible { at_least } = found.cells[0].ramp else { panic!("{found:?}") };
    assert!((0.985..1.0).contains(&at_least), "{at_least}");
    assert!(found.cells[0].times[2].quantiles.median.unwrap().estimate.value < 0.001);
    let text = crate::kinds::rampup::terminal::render(&[found], 160);
    assert!(text.contains("  at once  at once  "), "{text}");
    assert!(text.contains("no ramp visible: at least 9"), "{text}");
}

#[test]
fn stolen_time_is_no_ramp() {
    // A tenth of the samples is disturbed, and a tenth slowed by a neighbour without being seen.
    let found = analyse(&run(|_, uniform| match uniform() {
        luck if luck < 0.1 => (300.0, true),
        luck if luck < 0.2 => (650.0, false),
        _ => (1000.0 * (1.0 + 0.01 * (uniform() - 0.5)), false),
    }));
    let cell = &found.cells[0];
    assert!(matches!(cell.ramp, Ramp::NotVisible { .. }), "{:?}", cell.ramp);
    assert!((cell.disturbed - 0.1).abs() < 0.01);
}

#[test]
fn a_slow_first_millisecond_is_a_ramp() {
    let found = analyse(&run(|ms, uniform| {
        let slow = if ms < 1.0 { 0.9 } else { 1.0 };
        (1000.0 * slow * (1.0 + 0.02 * (uniform() - 0.5)), false)
    }));
    let Ramp::Visible { lowest, until_ms } = found.cells[0].ramp else { panic!("{found:?}") };
    assert!((lowest - 0.9).abs() < 0.02 && until_ms == 1.0, "{lowest} {until_ms}");
}

#[test]
fn a_long_sample_counts_in_every_stretch_that_it_lasts_through() {
    // The second of three samples of 12 ms is disturbed.
    let slow = Series {
        begun: vec![0, 12_000_000, 24_000_000],
        rates: vec![(0, 100.0), (24_000_000, 1000.0)],
        settled: Some(1000.0),
        ..Series::default()
    };
    assert_eq!(slow.share_between(0, 30_000), Some(0.1));
    assert_eq!(slow.share_between(3_000_000, 10_000_000), Some(0.1));
    assert_eq!(slow.share_between(13_000_000, 20_000_000), None);
    assert_eq!(slow.share_between(20_000_000, 30_000_000), Some(1.0));
    assert_eq!(Series::default().share_between(0, 1), None);
}

#[test]
fn nothing_is_said_of_nothing() {
    let found = analyse(&run(|_, _| (0.0, true)));
    let cell = &found.cells[0];
    assert_eq!((cell.ramp, cell.disturbed), (Ramp::TooFew, 1.0));
    assert!(cell.times.iter().all(|time| time.reached == 0 && time.quantiles.median.is_none()));
}
