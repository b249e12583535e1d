//! Level and power by simulation.

use super::*;
use crate::rng::Rng;

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Standard normal by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * rng.uniform().ln()).sqrt() * (std::f64::consts::TAU * rng.uniform()).cos()
}

/// In how many of `trials` samples more than one mode is found.
fn fires(trials: u64, n: usize, alpha: f64, draw: impl Fn(&mut Rng) -> f64) -> usize {
    let options = ModeOptions { alpha, ..ModeOptions::default() };
    (0..trials)
        .filter(|&trial| {
            let mut rng = Rng::new(7, trial);
            let sample = sorted((0..n).map(|_| draw(&mut rng)).collect());
            find_modes(&sample, &options).unwrap().is_mixture()
        })
        .count()
}

#[test]
fn unimodal_samples_stay_below_the_level() {
    // 5 % of 400 is 20; three standard deviations above it: 33.
    let lognormal = |rng: &mut Rng| (0.1 * normal(rng)).exp();
    let wide = |rng: &mut Rng| (0.8 * normal(rng)).exp();
    let gamma = |rng: &mut Rng| 10.0 - (0..3).map(|_| rng.uniform().ln()).sum::<f64>();
    let pareto = |rng: &mut Rng| rng.uniform().powf(-1.0 / 1.5);
    let uniform = |rng: &mut Rng| rng.uniform().exp();
    let tail = |rng: &mut Rng| {
        let body = (0.03 * normal(rng)).exp();
        if rng.uniform() < 0.01 { body * (2.0 + 3.0 * rng.uniform()) } else { body }
    };
    assert!(fires(400, 300, 0.05, lognormal) <= 33);
    assert!(fires(400, 300, 0.05, wide) <= 33);
    assert!(fires(400, 300, 0.05, gamma) <= 33);
    assert!(fires(400, 300, 0.05, pareto) <= 33);
    assert!(fires(400, 300, 0.05, uniform) <= 33);
    assert!(fires(400, 300, 0.05, tail) <= 33);
    assert!(fires(100, 5000, 0.05, tail) <= 11);
}

#[test]
fn a_coarse_clock_makes_no_modes() {
    let coarse = |rng: &mut Rng| (20.0 * (0.1 * normal(rng)).exp()).round();
    assert!(fires(400, 1200, 0.05, coarse) <= 33);
}

#[test]
fn two_speeds_are_found_with_their_shares() {
    let mut rng = Rng::new(3, 0);
    let draw = |rng: &mut Rng| {
        let speed = if rng.uniform() < 0.3 { 1.0 } else { 1.4 };
        100.0 * speed * (0.03 * normal(rng)).exp()
    };
    let sample = sorted((0..2000).map(|_| draw(&mut rng)).collect());
    let found = find_modes(&sample, &ModeOptions::default()).unwrap();
    assert_eq!(found.modes.len(), 2);
    assert!(found.p_value <= 1e-4);
    assert!((found.modes[0].median / 100.0 - 1.0).abs() < 0.01);
    assert!((found.modes[1].median / 140.0 - 1.0).abs() < 0.01);
    assert!((found.modes[0].share - 0.3).abs() < 0.04);
    assert_eq!((found.assign(101.0), found.assign(139.0)), (0, 1));
    let single = found.coarsen(&sample, 1);
    assert_eq!((single.modes.len(), single.modes[0].count), (1, 2000));
}

#[test]
fn constant_and_single_samples_have_one_mode() {
    for sample in [vec![5.0], vec![5.0; 100]] {
        let found = find_modes(&sample, &ModeOptions::default()).unwrap();
        assert_eq!(found.modes.len(), 1);
        assert_eq!(found.modes[0].median, 5.0);
    }
    assert!(find_modes(&[], &ModeOptions::default()).is_err());
    assert!(find_modes(&[0.0], &ModeOptions::default()).is_err());
    let options = ModeOptions { alpha: 0.0, ..ModeOptions::default() };
    assert!(find_modes(&[1.0], &options).is_err());
}
