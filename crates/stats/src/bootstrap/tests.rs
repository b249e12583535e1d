//! Known answers, determinism, and coverage by simulation.

use super::*;
use crate::Estimate;
use crate::rng::Rng;

fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * rng.uniform().ln()).sqrt() * (std::f64::consts::TAU * rng.uniform()).cos()
}

/// Repeats that differ by `between` and windows that differ by `within`, both on the logarithm.
fn cell(repeats: usize, windows: usize, between: f64, within: f64, stream: u64) -> Cell {
    let mut rng = Rng::new(99, stream);
    let repeats = (0..repeats).map(|_| {
        let level = between * normal(&mut rng);
        (0..windows).map(|_| (level + within * normal(&mut rng)).exp()).collect()
    });
    Cell::new(repeats.collect()).unwrap()
}

#[test]
fn the_value_is_the_plain_statistic() {
    let cell = Cell::new(vec![vec![4.0, 1.0], vec![3.0], vec![2.0, 10.0]]).unwrap();
    let ready = Prepared::new(&cell);
    let options = BootstrapOptions::default();
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    close(estimate(&ready, Statistic::Median, &options).unwrap().estimate.value, 3.0);
    close(estimate(&ready, Statistic::Mean, &options).unwrap().estimate.value, 4.0);
    close(
        ratio(&ready, &ready, Statistic::Median, Draws::Independent, &options)
            .unwrap()
            .estimate
            .value,
        1.0,
    );
    close(
        geometric_mean_of(&[&ready, &ready], Statistic::Median, &options).unwrap().estimate.value,
        3.0,
    );
}

#[test]
fn does_not_depend_on_the_number_of_threads() {
    let ready = Prepared::new(&cell(8, 50, 0.05, 0.1, 1));
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| estimate(&ready, Statistic::Median, &BootstrapOptions::default()).unwrap())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn refuses_what_has_no_interval() {
    let ready = Prepared::new(&cell(8, 5, 0.05, 0.1, 1));
    let few = BootstrapOptions { replicates: 10, ..Default::default() };
    assert!(estimate(&ready, Statistic::Median, &few).is_err());
    let sure = BootstrapOptions { level: 1.0, ..Default::default() };
    assert!(estimate(&ready, Statistic::Median, &sure).is_err());
    assert!(estimate(&ready, Statistic::Quantile(2.0), &Default::default()).is_err());
    assert!(geometric_mean_of(&[], Statistic::Median, &Default::default()).is_err());
}

#[test]
fn a_single_window_has_no_interval() {
    let ready = Prepared::new(&Cell::new(vec![vec![3.0]]).unwrap());
    let found = estimate(&ready, Statistic::Median, &Default::default()).unwrap();
    assert_eq!((found.estimate.interval(), found.reliable), (None, false));
}

#[test]
fn a_constant_cell_has_a_point() {
    let ready = Prepared::new(&Cell::new(vec![vec![3.0; 4]; 6]).unwrap());
    let found = estimate(&ready, Statistic::Median, &Default::default()).unwrap();
    let (low, high) = found.estimate.interval().unwrap();
    assert!((low - 3.0).abs() < 1e-12 && (high - 3.0).abs() < 1e-12);
}

/// Share of `trials` in which the 95 % interval of a median ratio holds the true value, 1.
fn coverage(repeats: usize, trials: u64) -> f64 {
    let options = BootstrapOptions { replicates: 400, ..Default::default() };
    let hits = (0..trials)
        .filter(|&trial| {
            let a = Prepared::new(&cell(repeats, 20, 0.03, 0.1, 2 * trial));
            let b = Prepared::new(&cell(repeats, 20, 0.03, 0.1, 2 * trial + 1));
            let found = ratio(&a, &b, Statistic::Median, Draws::Independent, &options).unwrap();
            found.estimate.covers(1.0)
        })
        .count();
    hits as f64 / trials as f64
}

/// The documented coverage (docs/statistics.md), with three standard errors of the simulation.
#[test]
fn intervals_cover() {
    for repeats in [2, 3, 4, 5, 8, 20] {
        let found = coverage(repeats, 400);
        println!("{repeats} repeats: {found}");
        assert!(found > 0.915, "{repeats} repeats: {found}");
    }
}

/// Repeats of two cells that share the luck of their block.
fn blocked(repeats: usize, stream: u64) -> (Prepared, Prepared) {
    let mut rng = Rng::new(7, stream);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let luck = 0.2 * normal(&mut rng);
        let own = |rng: &mut Rng| luck + 0.02 * normal(rng);
        for cell in [&mut a, &mut b] {
            let level = own(&mut rng);
            let windows = (0..20).map(|_| (level + 0.05 * normal(&mut rng)).exp());
            cell.push(windows.collect());
        }
    }
    (Prepared::new(&Cell::new(a).unwrap()), Prepared::new(&Cell::new(b).unwrap()))
}

#[test]
fn what_a_block_does_to_both_cells_cancels() {
    let options = BootstrapOptions { replicates: 400, ..Default::default() };
    for repeats in [5, 8, 20] {
        let (mut hits, mut narrower, trials) = (0, 0, 400);
        for trial in 0..trials {
            let (a, b) = blocked(repeats, trial);
            let find = |draws| ratio(&a, &b, Statistic::Mean, draws, &options).unwrap().estimate;
            let width = |of: &Estimate| of.interval().map(|(low, high)| high / low).unwrap();
            let (paired, free) = (find(Draws::Blocks), find(Draws::Independent));
            assert_eq!(paired.value, free.value);
            hits += u64::from(paired.covers(1.0));
            narrower += u64::from(width(&paired) < width(&free));
        }
        println!("{repeats} repeats: {}", hits as f64 / trials as f64);
        assert!(hits as f64 > 0.915 * trials as f64, "{repeats} repeats: {hits} of {trials}");
        assert!(narrower as f64 > 0.95 * trials as f64, "{repeats} repeats: {narrower}");
    }
}

#[test]
fn blocks_that_do_not_match_are_drawn_independently() {
    let options = BootstrapOptions::default();
    let (a, b) = (Prepared::new(&cell(8, 9, 0.1, 0.1, 1)), Prepared::new(&cell(7, 9, 0.1, 0.1, 2)));
    let find = |draws| ratio(&a, &b, Statistic::Median, draws, &options).unwrap();
    assert_eq!(find(Draws::Blocks), find(Draws::Independent));
}
