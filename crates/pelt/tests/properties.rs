//! What holds for every sequence of updates.

use flyball_pelt::*;
use proptest::prelude::*;

/// A stretch of time in which nothing changes: its length in ns, runnable tasks, running.
fn stretch() -> impl Strategy<Value = (u64, u64, bool)> {
    let length = prop_oneof![0..2048_u64, 0..1_200_000_u64, 0..40_000_000_u64];
    (length, 0..5_u64, any::<bool>())
}

fn any_state() -> impl Strategy<Value = Averages> {
    (any::<[u64; 5]>(), any::<[u32; 3]>()).prop_map(|(long, short)| Averages {
        last_update: long[0],
        load_sum: long[1],
        runnable_sum: long[2],
        load_avg: long[3],
        runnable_avg: long[4],
        util_sum: short[0],
        period_contrib: short[1],
        util_avg: short[2],
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn signals_keep_their_bounds(stretches in prop::collection::vec(stretch(), 1..200)) {
        let mut queue = Averages::default();
        let mut now = 0;
        for (length, runnable, running) in stretches {
            now += length;
            queue.update(now, 1024 * runnable, runnable, running);
            prop_assert!(queue.util_avg <= 1025, "{}", queue.util_avg);
            prop_assert!(queue.runnable_avg <= 4 * 1026, "{}", queue.runnable_avg);
            prop_assert!(queue.load_avg <= 4 * 1026, "{}", queue.load_avg);
            prop_assert!(queue.period_contrib < 1024);
            prop_assert!(queue.last_update <= now && now - queue.last_update < 1024);
        }
    }

    #[test]
    fn utilisation_rises_while_running(lengths in prop::collection::vec(1..9_000_000_u64, 1..400)) {
        let mut task = Averages::default();
        let mut now = 0;
        let mut highest = 0;
        for length in lengths {
            now += length;
            task.update_entity(now, 1024, true, true);
            // Truncation may take back one at most.
            prop_assert!(task.util_avg + 1 >= highest, "{} after {highest}", task.util_avg);
            highest = highest.max(task.util_avg);
        }
    }

    #[test]
    fn what_is_blocked_decays_to_nothing(
        mut task in any_state(),
        lengths in prop::collection::vec(1..90_000_000_u64, 1..60),
    ) {
        task.last_update = 0;
        task.period_contrib %= 1024;
        let mut now = 0;
        for length in lengths {
            now += length;
            let before = task;
            task.update_entity(now, 1024, false, false);
            prop_assert!(task.util_sum <= before.util_sum);
            prop_assert!(task.runnable_sum <= before.runnable_sum);
            prop_assert!(task.load_sum <= before.load_sum);
        }
        prop_assert!(task.update_entity(now + 2018 * 1024 * 1024, 1024, false, false));
        prop_assert_eq!((task.load_sum, task.runnable_sum, task.util_sum), (0, 0, 0));
        prop_assert_eq!((task.load_avg, task.runnable_avg, task.util_avg), (0, 0, 0));
    }

    #[test]
    fn only_differences_of_time_matter(
        task in any_state(),
        shift: u64,
        step in 0..1_u64 << 40,
        running: bool,
    ) {
        let mut here = task;
        let mut there = Averages { last_update: task.last_update.wrapping_add(shift), ..task };
        here.update(task.last_update.wrapping_add(step), 1024, 1, running);
        there.update(there.last_update.wrapping_add(step), 1024, 1, running);
        there.last_update = there.last_update.wrapping_sub(shift);
        prop_assert_eq!(here, there);
    }

    #[test]
    fn updates_within_a_period_are_exact(
        util in 0..1025_u32,
        cuts in prop::collection::vec(0..1_048_575_u64, 0..20),
    ) {
        let start = Averages::steady(0, util, util, util);
        let mut once = start;
        once.update(1_048_575, 1024, 1, true);
        let mut often = start;
        let mut cuts = cuts;
        cuts.sort_unstable();
        for now in cuts.into_iter().chain([1_048_575]) {
            prop_assert!(!often.update(now, 1024, 1, true));
        }
        prop_assert_eq!(once, often);
        prop_assert_eq!(often.util_avg, util, "stale until the boundary");
    }

    #[test]
    fn updates_across_periods_agree_within_rounding(
        util in 0..1025_u32,
        cuts in prop::collection::vec(0..100_000_000_u64, 0..30),
    ) {
        let mut once = Averages::steady(0, util, util, util);
        let mut often = once;
        let end = 100_000_000;
        once.update(end, 1024, 1, true);
        let mut cuts = cuts;
        cuts.sort_unstable();
        for now in cuts.into_iter().chain([end]) {
            often.update(now, 1024, 1, true);
        }
        prop_assert_eq!(once.last_update, often.last_update);
        prop_assert_eq!(once.period_contrib, often.period_contrib);
        let now = end + 2_000_000;
        once.update(now, 1024, 1, true);
        often.update(now, 1024, 1, true);
        prop_assert!(once.util_avg.abs_diff(often.util_avg) <= 2);
    }

    #[test]
    fn a_clock_that_goes_backwards_changes_only_the_time(task in any_state(), back in 1..1_u64 << 63) {
        let now = task.last_update.wrapping_sub(back);
        let mut updated = task;
        prop_assert!(!updated.update(now, 1024, 1, true));
        prop_assert_eq!(updated, Averages { last_update: now, ..task });
    }

    #[test]
    fn work_is_what_counts(capacity in 1..=1024_u32, scale in 1..=1024_u32, ticks in 1..300_u64) {
        let mut clock = ClockPelt::default();
        for _ in 0..ticks {
            clock.advance(1_000_000, capacity, scale);
        }
        let exact = (ticks * 1_000_000 * u64::from(capacity) * u64::from(scale)) >> 20;
        prop_assert!(clock.clock_pelt <= exact && exact - clock.clock_pelt <= 2 * ticks);
        prop_assert_eq!(clock.clock_task, ticks * 1_000_000);
    }

    #[test]
    fn the_multiplier_shortens_the_half_life(now in 0..1_u64 << 40, step in 0..1_u64 << 40) {
        // The kernel shifts the time between two updates; we give it a clock that runs faster.
        for (multiplier, shift) in [(PeltMultiplier::X2, 9), (PeltMultiplier::X4, 8)] {
            let mut task = Averages::starting_at(multiplier.stretch(now));
            task.update(multiplier.stretch(now + step), 1024, 1, true);
            let mut kernel = Averages::default();
            if step >> shift > 0 {
                kernel.accumulate(step >> shift, 1024, 1, true);
            }
            prop_assert_eq!(task.util_sum, kernel.util_sum);
            prop_assert_eq!(task.last_update / u64::from(multiplier.value()),
                now + (step >> shift << shift));
        }
    }

    #[test]
    fn util_est_follows(value in 0..1025_u32, util in 0..1025_u32, runnable in 0..3000_u64) {
        let after = UtilEst::from_raw(util_est_after_sleep(value, util, runnable, 1024));
        prop_assert!(after.value <= value.max(util));
        prop_assert!(after.value >= value.min(util));
        prop_assert!(after.unchanged || util > 1024);
    }

    #[test]
    fn perf_has_its_bounds(
        [cfs, rt, dl, irq, bw] in any::<[u32; 5]>(),
        [min, max] in any::<[u32; 2]>(),
        capacity in 0..=1024_u32,
        flags: [bool; 2],
    ) {
        let demand = CpuDemand {
            cfs, rt, dl, irq, bw_dl: bw, uclamp_min: min, uclamp_max: max,
            uclamp_used: flags[0], rt_runnable: flags[1],
        };
        let got = effective_utilization(&demand, capacity);
        prop_assert!(got.util <= capacity && got.max <= capacity);
        let perf = effective_perf(headroom_quarter(got.util), got.min, got.max);
        prop_assert!(perf >= got.min && perf <= got.min.max(got.max));
    }

    #[test]
    fn nothing_panics(
        mut a in any_state(),
        mut b in any_state(),
        long in any::<[u64; 6]>(),
        short in any::<[u32; 6]>(),
        flag: bool,
    ) {
        let multiplier = if flag { PeltMultiplier::X4 } else { PeltMultiplier::X1 };
        a.update(long[0], long[1], long[2], flag);
        b.update_entity(long[3], long[4], flag, !flag);
        a.accumulate(long[0], long[1], long[2], flag);
        a.attach(&mut b, long[5]);
        a.detach(&b, long[4]);
        a.remove_blocked(long[0], long[1], short[0]);
        a.recompute(long[5]);
        a.update_class(long[1], flag);
        a.update_irq(long[2], long[3], short[0], short[1], multiplier);
        let _ = new_task_utilization(short[0], short[1], long[0], long[1], &Features::STOCK);
        let mut clock = ClockPelt::starting_at(long[0], multiplier);
        clock.advance(long[1], short[0], short[1]);
        clock.enter_idle(short[2]);
        clock.advance_idle(long[2]);
        let _ = clock.now();
        let _ = frequency_scale(long[0], long[1]);
        let _ = approximate_util_avg(short[0], long[0], multiplier);
        let _ = approximate_runtime(short[0], multiplier);
        let _ = margin_table_row(short[0]);
        for margin in [MigrationMargin::SeriesAsPosted, MigrationMargin::SeriesScaledByCapacity] {
            let _ = margin.rule(short[0], long[0], multiplier).fits(short[1], short[2]);
        }
        let capacity = CpuCapacity { original: short[0], actual: short[1], available: short[2] };
        let clamps = Clamps { min: short[3], max: short[4] };
        let _ = util_fits_cpu(short[5], Some(clamps), capacity, FitRule::Fixed);
        let delay = UpdateDelay {
            runnable: short[0], slice_us: long[0], tick_us: long[1], rate_limit_us: long[2],
        };
        let headroom = Headroom { delay, waiting: short[1], falling: flag };
        let _ = apply_headroom(short[2], headroom, &Features::SERIES);
        let _ = default_response_time_ms(short[0], long[0], long[1], multiplier);
        let _ = apply_response_time(short[1], response_time_multiplier(short[2], short[3]));
        let _ = raw_frequency(long[0], short[0], short[1]);
        let _ = reference_frequency(long[0], long[1], flag);
        let mut estimate = UtilEst::from_raw(short[0]);
        let task = Running {
 executed_us: long[0], util: short[1], util_at_dequeue: short[5], multiplier: short[2],
 };
        estimate.run(task, &Features::SERIES);
        let task = Dequeued { util: short[1], runnable: long[1], capacity: short[3] };
        estimate.sleep_with(task, short[4], &Features::SERIES);
        let _ = util_est_after_sleep(short[0] & !(1 << 31), short[1], long[1], short[3]);
        let mut boost = IowaitBoost { boost: short[0], pending: flag, last_update: long[0] };
        boost.update(long[1], !flag, long[2]);
        boost.apply(long[3], short[1], long[4]);
        let mut waiting = Waiting::starting_at(long[0]);
        waiting.attach(&a);
        waiting.update(long[1], true, flag);
    }
}
