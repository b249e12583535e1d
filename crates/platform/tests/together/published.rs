//! What ships says what the published sources and the measured data say.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and says why it skips"
)]

use flyball_platform::{Cost, Kernel, Platform, PointKind};
use flyball_units::{CpuId, KiloHertz, Nanos};

fn platform(name: &str) -> Platform {
    Platform::named(name).unwrap_or_else(|error| panic!("{error}"))
}

fn mhz(platform: &Platform, cpu: u32) -> Vec<u64> {
    let domain = platform.domain(CpuId(cpu)).unwrap_or_else(|| panic!("no cpu{cpu}"));
    domain.opps.as_slice().iter().map(|opp| opp.frequency.0 / 1000).collect()
}

#[test]
fn m1_points_and_capacities() {
    for name in ["apple-m1", "apple-m1-macos"] {
        let m1 = platform(name);
        assert_eq!(mhz(&m1, 3), [600, 972, 1332, 1704, 2064]);
        assert_eq!(
            mhz(&m1, 4),
            [
                600, 828, 1056, 1284, 1500, 1728, 1956, 2184, 2388, 2592, 2772, 2988, 3096, 3144,
                3204
            ]
        );
        let capacities: Vec<u32> = m1.cpus.iter().map(|cpu| cpu.capacity.0).collect();
        assert_eq!(capacities, [459, 459, 459, 459, 1024, 1024, 1024, 1024]);
    }
}

/// Device-tree capacities follow from work per cycle: `work x f_max` over that of the largest core,
/// truncated (M1, RK3399, the aarch64 board).
#[test]
fn capacities_follow_from_work_per_cycle() {
    for name in ["apple-m1", "rk3399", "board-aarch64"] {
        let machine = platform(name);
        let speed = |cpu: &flyball_platform::Cpu| {
            let top = machine.domain(cpu.id).map_or(0, |domain| domain.opps.max().0);
            cpu.work_per_cycle * top as f64
        };
        let largest = machine.cpus.iter().map(speed).fold(0.0, f64::max);
        for cpu in &machine.cpus {
            let expected = 1024.0 * speed(cpu) / largest;
            let found = f64::from(cpu.capacity.0);
            assert!((found - expected).abs() <= 1.0, "{name} {}: {found} {expected}", cpu.id);
        }
    }
}

#[test]
fn pentium_m_writes_cost_table_2() {
    let machine = platform("pentium-m");
    let points = mhz(&machine, 0);
    let write = &machine.domains[0].transition.write;
    let us = |from: u64, to: u64| {
        let at = |mhz| points.iter().position(|point| *point == mhz).unwrap_or(usize::MAX);
        write.of(at(from), at(to)).as_micros_f64()
    };
    assert_eq!(us(1700, 600), 2892.0);
    assert_eq!(us(1700, 1400), 1254.0);
    assert_eq!(us(600, 1700), 735.0);
    assert_eq!(us(600, 1400), 680.0);
    assert_eq!(us(1000, 1000), 0.0);
    // The downward times fit 41.7 + 1006.9 f_src / f_dst within 1.4 %.
    for (row, from) in points.iter().enumerate() {
        for to in points.iter().take(row) {
            let fit = 41.7 + 1006.9 * *from as f64 / *to as f64;
            assert!((us(*from, *to) / fit - 1.0).abs() < 0.014, "{from} -> {to}");
        }
    }
}

#[test]
fn the_machine_of_figure_4_decays_in_93_polls() {
    let machine = platform("pentium-m-throttled");
    let levels = mhz(&machine, 0);
    assert_eq!((levels.len(), levels[0], levels[16]), (17, 75, 1700));
    let throttled = |point: &&flyball_platform::OperatingPoint| point.kind == PointKind::Throttle;
    assert_eq!(machine.domains[0].points.iter().filter(throttled).count(), 11);
    let level = |wanted: u64| levels.iter().copied().find(|level| *level >= wanted).unwrap_or(1700);
    // hadp on an idle machine: each poll asks for 31/32 of what it asked for.
    for (start, expected) in [(1700, 93), (3400, 115)] {
        let (mut wanted, mut polls) = (start, 0);
        while level(wanted) > 75 {
            wanted = wanted * 31 / 32;
            polls += 1;
        }
        assert_eq!(polls, expected, "from {start} MHz");
    }
}

#[test]
fn zen_2_acts_on_its_grid_and_declares_20_us() {
    let machine = platform("zen2");
    assert_eq!(machine.domains.len(), 4, "one clock per core");
    let transition = &machine.domains[0].transition;
    assert_eq!(transition.grid, Some(Nanos(1_000_010)));
    assert_eq!(transition.declared_latency, Some(Nanos::from_micros(20)));
    let us = |from, to| transition.effect.of(from, to).as_micros_f64();
    assert_eq!((us(0, 2), us(2, 0)), (365.0, 395.0));
    // Median of a change at a random time: half a grid and the fixed part; measured 867 and 893.
    assert!((us(0, 1) + 500.0 - 867.0).abs() < 10.0 && (us(1, 0) + 500.0 - 893.0).abs() < 10.0);
}

#[test]
fn boards_are_those_of_the_measured_ramps() {
    let x86 = platform("board-x86");
    assert_eq!(mhz(&x86, 3), [600, 800, 1200, 1600, 2000, 2400, 2800, 3200]);
    assert!(!x86.domains[0].frequency_invariant && x86.domains.len() == 1);
    let arm = platform("board-aarch64");
    assert_eq!(mhz(&arm, 1), [600, 1000, 1400, 1800]);
    assert_eq!(mhz(&arm, 2), [600, 1200, 1800, 2400, 3000]);
    assert_eq!((arm.cpus[0].capacity.0, arm.cpus[3].capacity.0), (409, 1024));
    // 1.5 x the declared latency is the rate limit of 150 us that was read there.
    assert!(arm.domains.iter().all(|d| d.transition.declared_latency == Some(Nanos(100_000))));
    for (name, uclamp) in [("debian-6.12", false), ("debian-7.2", true)] {
        let kernel = Kernel::named(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((kernel.hz, kernel.stat_hz, kernel.uclamp), (250, 250, uclamp));
    }
}

#[test]
fn the_statistics_clock_is_not_kern_hz() {
    for (name, hz) in [("freebsd-8.1", 100), ("freebsd-8.1-default", 1000)] {
        let kernel = Kernel::named(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((kernel.hz, kernel.stat_hz), (hz, 128));
    }
}

#[test]
fn per_core_clocks_are_shared_by_siblings() {
    let laptop = platform("laptop-x86");
    assert_eq!(laptop.domains.len(), 4);
    assert_eq!(laptop.domains[1].cpus, [CpuId(2), CpuId(3)]);
    assert_eq!(laptop.domains[1].name, "core2");
    assert_eq!(laptop.cpus[5].siblings, [CpuId(4)]);
    assert_eq!(laptop.cpus[5].domain, 2);
}

/// The i.MX8QM latency series: `L = W (1 - reached / expected)`, the median over the runs of each pair; expected is the
/// mean of both fixed levels, of each the median, as outliers pull the averages down.
#[test]
fn imx8qm_stalls_are_the_medians_of_the_data() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/imx8qm-coremark/4x_a53/");
    let Ok(runs) = fs_err::read_to_string(format!("{data}dataset.csv")) else {
        println!("skipped: the measured data is not here");
        return;
    };
    let machine = platform("imx8qm");
    let Cost::Matrix(stall) = &machine.domains[0].transition.stall else {
        panic!("expected a matrix")
    };
    let score = |setup: &str| median_of(&runs, setup);
    for (from, to) in [(0, 1), (0, 2), (0, 3), (3, 1), (3, 2)] {
        let expected = (score(&format!("fixed{from}")) + score(&format!("fixed{to}"))) / 2.0;
        let reached = score(&format!("alternating{from}{to}"));
        let latency_us = 1000.0 * (1.0 - reached / expected);
        let shipped = stall[from][to].as_micros_f64();
        assert!((shipped - latency_us).abs() < 1.0, "{from}-{to}: {shipped} {latency_us}");
        assert_eq!(stall[from][to], stall[to][from], "one combination is identifiable");
    }
}

/// The median of the scores on the line of this set-up.
fn median_of(runs: &str, setup: &str) -> f64 {
    let line = runs.lines().find(|line| line.split(',').next() == Some(setup));
    let line = line.unwrap_or_else(|| panic!("no {setup} in the data"));
    let mut scores: Vec<f64> =
        line.split(',').skip(1).filter_map(|cell| cell.trim().parse().ok()).collect();
    scores.sort_by(f64::total_cmp);
    let middle = scores.len() / 2;
    match scores.len().is_multiple_of(2) {
        true => (scores[middle - 1] + scores[middle]) / 2.0,
        false => scores[middle],
    }
}

#[test]
fn the_boards_energy_model_is_the_kernels() {
    let arm = platform("board-aarch64");
    let little = arm.domains[0].energy_model(arm.cpus[0].capacity);
    let big = arm.domains[1].energy_model(arm.cpus[2].capacity);
    assert_eq!(little.iter().map(|row| row.performance).collect::<Vec<_>>(), [136, 227, 318, 409]);
    assert_eq!(big.last().map(|row| row.power_uw), Some(2_000_000));
    assert!(little.is_sorted_by_key(|row| row.cost), "cost rises with speed");
    assert!(little.iter().chain(&big).all(|row| !row.inefficient));
}

#[test]
fn power_follows_from_manufacturers_figures() {
    use flyball_platform::energy::PowerFormula;
    let (high, low) =
        ((KiloHertz(1_700_000), 1484.0, 24_500.0), (KiloHertz(600_000), 956.0, 6_000.0));
    let formula = PowerFormula::through_two(high, low).unwrap_or_else(|| panic!("two points"));
    let machine = platform("pentium-m");
    for point in &machine.domains[0].points {
        let millivolts = point.millivolts.unwrap_or_else(|| panic!("no voltage"));
        let calculated = formula.busy_mw(point.effective, millivolts);
        assert!(
            (calculated - point.busy_power_mw).abs() < 1.0,
            "{calculated} {}",
            point.busy_power_mw
        );
    }
    let one = PowerFormula::through(high.0, high.1, high.2).unwrap_or_else(|| panic!("one point"));
    assert!((one.busy_mw(high.0, high.1) - 24_500.0).abs() < 1e-6);
    assert_eq!(PowerFormula::through(KiloHertz(0), 900.0, 1.0), None);
    assert_eq!(PowerFormula::through_two(high, high), None);
}

/// Relation E passes over points only where the kernel has an energy model: the M1, without one, was
/// seen at 2988, 3096 and 3144 MHz, which all have the voltage of 3204.
#[test]
fn inefficient_points_are_marked_where_there_is_an_energy_model() {
    let marked = |machine: &Platform, domain: usize| -> Vec<u64> {
        let opps = machine.domains[domain].opps.as_slice();
        opps.iter().filter(|opp| opp.inefficient).map(|opp| opp.frequency.0 / 1000).collect()
    };
    let m1 = platform("apple-m1");
    assert!(marked(&m1, 0).is_empty() && marked(&m1, 1).is_empty());
    let rows = m1.domains[1].energy_model(m1.cpus[4].capacity);
    let mhz = |row: &&flyball_platform::energy::EnergyPoint| row.frequency.0 / 1000;
    let inefficient: Vec<u64> =
        rows.iter().filter(|row| row.inefficient).map(|r| mhz(&r)).collect();
    assert!([2988, 3096, 3144].iter().all(|mhz| inefficient.contains(mhz)), "{inefficient:?}");
    // Both of RK3399's lowest points have 800 mV in each cluster; truncation decides.
    let rk3399 = platform("rk3399");
    assert_eq!((marked(&rk3399, 0), marked(&rk3399, 1)), (vec![408], vec![]));
}
