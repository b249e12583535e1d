//! Figures printed in "Better manage system response time" and in the replies to it.

use flyball_pelt::{
    ClockPelt, CpuSpeed, EntityState, PeltMultiplier, QueueLoad, SchedAvg, approximate_runtime,
    approximate_util_avg, frequency_scale, margin_table_row,
};

const X1: PeltMultiplier = PeltMultiplier::X1;
const RUNNING: QueueLoad = QueueLoad { load: 1, runnable: 0, running: true };
/// A little core of an M1 at its lowest frequency.
const SLOWEST: CpuSpeed = CpuSpeed { capacity: 459, frequency_scale: frequency_scale(600, 2064) };

/// The table of margins of the cover letter, as printed.
const MARGIN_TABLE: &str = "\
    0       0       0       0       0
    16      0       0       0       0
    32      1       3.12    0       0
    48      3       6.25    2       4.16
    64      4       6.25    2       3.12
    80      6       7.5     5       6.25
    96      10      10.41   8       8.33
    112     14      12.5    11      9.82
    128     18      14.06   16      12.5
    144     21      14.58   18      12.5
    160     26      16.25   23      14.37
    176     33      18.75   29      16.47
    192     39      20.31   35      18.22
    208     47      22.59   43      20.67
    224     55      24.55   50      22.32
    240     63      26.25   59      24.58
    256     73      28.51   68      26.56
    272     82      30.14   77      28.30
    288     93      32.29   87      30.20
    304     103     33.88   97      31.90
    320     114     35.62   108     33.75
    336     126     37.5    120     35.71
    352     138     39.20   132     37.5
    368     151     41.03   144     39.13
    384     163     42.44   157     40.88
    704     557     79.11   550     78.12
    720     578     80.27   572     79.44
    736     606     82.33   600     81.52
    752     633     84.17   627     83.37";

/// "14.5" as 1450.
fn hundredths(percent: &str) -> Option<u32> {
    let (whole, part) = percent.split_once('.').unwrap_or((percent, "0"));
    let digits = part.len() as u32;
    Some(whole.parse::<u32>().ok()? * 100 + part.parse::<u32>().ok()? * 100 / 10_u32.pow(digits))
}

fn printed_row(line: &str) -> Option<[u32; 5]> {
    let mut cells = line.split_whitespace();
    Some([
        cells.next()?.parse().ok()?,
        cells.next()?.parse().ok()?,
        hundredths(cells.next()?)?,
        cells.next()?.parse().ok()?,
        hundredths(cells.next()?)?,
    ])
}

#[test]
fn every_cell_of_the_margin_table() {
    let printed: Vec<[u32; 5]> = MARGIN_TABLE.lines().filter_map(printed_row).collect();
    assert_eq!(printed.len(), 29);
    for row in printed {
        let ours = margin_table_row(row[0]);
        let (threshold, percent) = (ours.threshold, ours.percent_hundredths);
        let (threshold_tick, percent_tick) = (ours.threshold_tick, ours.percent_tick_hundredths);
        assert_eq!([ours.capacity, threshold, percent, threshold_tick, percent_tick], row);
    }
}

/// util_avg and for how long, in ms, of a task that runs at maximum performance from 0; as printed.
const AT_MAXIMUM: [(u32, u32); 27] = [
    (26, 1),
    (47, 1),
    (67, 1),
    (86, 1),
    (105, 1),
    (124, 1),
    (143, 1),
    (161, 1),
    (178, 1),
    (196, 1),
    (213, 1),
    (229, 1),
    (245, 2),
    (277, 1),
    (292, 1),
    (307, 1),
    (322, 1),
    (336, 1),
    (350, 1),
    (364, 1),
    (378, 1),
    (391, 1),
    (404, 1),
    (416, 1),
    (429, 1),
    (441, 1),
    (453, 1),
];

#[test]
fn residency_at_maximum_performance() {
    let mut task = SchedAvg::default().with_period_contrib(352);
    let mut residency: Vec<(u32, u32)> = vec![(0, 0)];
    for tick in 0..60 {
        task.update_entity(287_500 + tick * 1_000_000, 1024, EntityState::Running);
        match residency.last_mut() {
            Some((util, ticks)) if *util == task.util_avg() => *ticks += 1,
            _ => residency.push((task.util_avg(), 1)),
        }
    }
    let ours: Vec<_> = residency.into_iter().filter(|&(util, _)| util > 0).take(27).collect();
    assert_eq!(ours, AT_MAXIMUM);
}

#[test]
fn time_from_nothing_to_everything() {
    assert_eq!(approximate_runtime(1024, X1), 323);
    assert_eq!(approximate_runtime(0, X1), 0);
    assert_eq!(approximate_runtime(1, X1), 1);
    assert_eq!(approximate_runtime(u32::MAX, X1), 323);
    for util in 1..=1024 {
        assert!(approximate_runtime(util, X1) >= approximate_runtime(util - 1, X1));
    }
    // A step of two periods: half as many, rounded up.
    for util in 0..1000 {
        let (whole, half) =
            (approximate_runtime(util, X1), approximate_runtime(util, PeltMultiplier::X2));
        assert!(whole.div_ceil(2).abs_diff(half) <= 1, "{util}: {whole}, {half}");
    }
}

#[test]
fn a_step_at_a_time_is_a_running_signal() {
    let mut signal = SchedAvg::default();
    let mut steps = 0;
    while signal.util_avg() < 1000 {
        signal.accumulate(1024, RUNNING);
        signal.recompute(0);
        steps += 1;
    }
    assert_eq!(approximate_runtime(1000, X1), steps);
}

#[test]
fn an_approximation_is_one_accumulation() {
    for util in [0, 1, 83, 500, 1024] {
        for delta in [0, 1, 1000, 1023, 1024, 1025, 4000, 99_999, 10_000_000] {
            let mut signal = SchedAvg::steady(0, util);
            signal.accumulate(delta, RUNNING);
            signal.recompute(0);
            assert_eq!(approximate_util_avg(util, delta, X1), signal.util_avg(), "{util}, {delta}");
        }
    }
}

/// Ticks of 1 ms until a task that always runs has `util`, least and most over its phase relative
/// to the periods.
fn ticks_to(util: u32, speed: CpuSpeed) -> (u32, u32) {
    let of_phase = |contrib| {
        let mut clock = ClockPelt::starting_at(0, X1);
        let mut task = SchedAvg::default().with_period_contrib(contrib);
        let mut ticks = 0;
        while task.util_avg() < util {
            clock.advance(1_000_000, speed);
            task.update_entity(clock.now(), 1024, EntityState::Running);
            ticks += 1;
            assert!(ticks < 10_000);
        }
        ticks
    };
    let ticks = (0..1024).step_by(16).map(of_phase);
    ticks.fold((u32::MAX, 0), |(least, most), ticks| (least.min(ticks), most.max(ticks)))
}

#[test]
fn ramps_of_the_m1() {
    let at_maximum = ticks_to(450, CpuSpeed::FULL);
    assert_eq!(at_maximum, (28, 30), "published: 29.5 ms");
    let (least, most) = ticks_to(450, SLOWEST);
    assert!(
        (least..=most).contains(&223),
        "published: 223 ms at the lowest level; {least}..{most}"
    );
}

#[test]
fn utilisation_at_low_capacity_moves_in_steps() {
    let mut clock = ClockPelt::starting_at(0, X1);
    let mut task = SchedAvg::starting_at(0);
    let mut changes = Vec::new();
    let mut last = 0;
    for tick in 0..64 {
        clock.advance(1_000_000, SLOWEST);
        task.update_entity(clock.now(), 1024, EntityState::Running);
        if task.util_avg() != last {
            changes.push(tick);
            last = task.util_avg();
        }
    }
    assert!(changes.windows(2).all(|pair| (8..=9).contains(&(pair[1] - pair[0]))), "{changes:?}");
}

/// The figures of `docs/load-tracking.md`.
#[test]
fn figures_of_the_guide() {
    let after_100_ms = |speed| {
        let mut clock = ClockPelt::starting_at(0, X1);
        let mut task = SchedAvg::starting_at(0);
        for _tick in 0..100 {
            clock.advance(1_000_000, speed);
            task.update_entity(clock.now(), 1024, EntityState::Running);
        }
        task.util_avg()
    };
    assert_eq!(after_100_ms(SLOWEST), 234);
    assert_eq!(after_100_ms(CpuSpeed::FULL), 894);
}

/// Updates exactly a period apart truncate least at certain positions in the period.
#[test]
fn utilisation_can_reach_1025_and_the_sum_more_than_its_limit() {
    let mut task = SchedAvg::default().with_period_contrib(184);
    for period in 1..2000 {
        task.update_entity(period << 20, 1024, EntityState::Running);
    }
    assert_eq!(task.util_avg(), 1025);
    let rest_of_the_period = (1023 - 184) << 10;
    assert!(!task.update_entity((1999 << 20) + rest_of_the_period, 1024, EntityState::Running));
    assert!(task.util_sum() > 47742 * 1024, "{}", task.util_sum());
}
