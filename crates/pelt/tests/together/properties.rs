//! What holds for every sequence of updates.

use flyball_pelt::*;
use proptest::prelude::*;

/// A stretch of time in which nothing changes: its length in ns, runnable tasks, running.
fn stretch() -> impl Strategy<Value = (u64, u64, bool)> {
    let length = prop_oneof![0..2048_u64, 0..1_200_000_u64, 0..40_000_000_u64];
    (length, 0..5_u64, any::<bool>())
}

fn any_state() -> impl Strategy<Value = SchedAvg> {
    (any::<[u64; 5]>(), any::<[u32; 3]>()).prop_map(|(long, short)| {
        SchedAvg::from_state(SchedAvgState {
            last_update: long[0],
            load_sum: long[1],
            runnable_sum: long[2],
            load_avg: long[3],
            runnable_avg: long[4],
            util_sum: short[0],
            period_contrib: short[1],
            util_avg: short[2],
        })
    })
}

/// A task of nice 0 that runs.
const ONE: QueueLoad = QueueLoad { load: 1024, runnable: 1, running: true };

/// The same signals, last updated at another time.
fn at(signals: SchedAvg, last_update: u64) -> SchedAvg {
    SchedAvg::from_state(SchedAvgState { last_update, ..signals.state() })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn signals_keep_their_bounds(stretches in prop::collection::vec(stretch(), 1..200)) {
        let mut queue = SchedAvg::default();
        let mut now = 0;
        for (length, runnable, running) in stretches {
            now += length;
            queue.update(now, QueueLoad { load: 1024 * runnable, runnable, running });
            prop_assert!(queue.util_avg() <= 1025, "{}", queue.util_avg());
            prop_assert!(queue.runnable_avg() <= 4 * 1026, "{}", queue.runnable_avg());
            prop_assert!(queue.load_avg() <= 4 * 1026, "{}", queue.load_avg());
            prop_assert!(queue.state().period_contrib < 1024);
            prop_assert!(queue.last_update() <= now && now - queue.last_update() < 1024);
        }
    }

    #[test]
    fn utilisation_rises_while_running(lengths in prop::collection::vec(1..9_000_000_u64, 1..400)) {
        let mut task = SchedAvg::default();
        let mut now = 0;
        let mut highest = 0;
        for length in lengths {
            now += length;
            task.update_entity(now, 1024, EntityState::Running);
            // Truncation may take back one at most.
            prop_assert!(task.util_avg() + 1 >= highest, "{} after {highest}", task.util_avg());
            highest = highest.max(task.util_avg());
        }
    }

    #[test]
    fn what_is_blocked_decays_to_nothing(
        state in any_state(),
        lengths in prop::collection::vec(1..90_000_000_u64, 1..60),
    ) {
        let state = state.state();
        let period_contrib = state.period_contrib % 1024;
        let mut task =
            SchedAvg::from_state(SchedAvgState { last_update: 0, period_contrib, ..state });
        let mut now = 0;
        for length in lengths {
            now += length;
            let before = task;
            task.update_entity(now, 1024, EntityState::Blocked);
            prop_assert!(task.util_sum() <= before.util_sum());
            prop_assert!(task.state().runnable_sum <= before.state().runnable_sum);
            prop_assert!(task.state().load_sum <= before.state().load_sum);
        }
        prop_assert!(task.update_entity(now + 2018 * 1024 * 1024, 1024, EntityState::Blocked));
        prop_assert_eq!((task.state().load_sum, task.state().runnable_sum, task.util_sum()), (0, 0, 0));
        prop_assert_eq!((task.load_avg(), task.runnable_avg(), task.util_avg()), (0, 0, 0));
    }

    #[test]
    fn only_differences_of_time_matter(
        task in any_state(),
        shift: u64,
        step in 0..1_u64 << 40,
        running: bool,
    ) {
        let mut here = task;
        let mut there = at(task, task.last_update().wrapping_add(shift));
        let queue = QueueLoad { running, ..ONE };
        here.update(task.last_update().wrapping_add(step), queue);
        there.update(there.last_update().wrapping_add(step), queue);
        prop_assert_eq!(here, at(there, there.last_update().wrapping_sub(shift)));
    }

    #[test]
    fn updates_within_a_period_are_exact(
        util in 0..1025_u32,
        cuts in prop::collection::vec(0..1_048_575_u64, 0..20),
    ) {
        let start = SchedAvg::steady(0, util);
        let mut once = start;
        once.update(1_048_575, ONE);
        let mut often = start;
        let mut cuts = cuts;
        cuts.sort_unstable();
        for now in cuts.into_iter().chain([1_048_575]) {
            prop_assert!(!often.update(now, ONE));
        }
        prop_assert_eq!(once, often);
        prop_assert_eq!(often.util_avg(), util, "stale until the boundary");
    }

    #[test]
    fn updates_across_periods_agree_within_rounding(
        util in 0..1025_u32,
        cuts in prop::collection::vec(0..100_000_000_u64, 0..30),
    ) {
        let mut once = SchedAvg::steady(0, util);
        let mut often = once;
        let end = 100_000_000;
        once.update(end, ONE);
        let mut cuts = cuts;
        cuts.sort_unstable();
        for now in cuts.into_iter().chain([end]) {
            often.update(now, ONE);
        }
        prop_assert_eq!(once.last_update(), often.last_update());
        prop_assert_eq!(once.state().period_contrib, often.state().period_contrib);
        let now = end + 2_000_000;
        once.update(now, ONE);
        often.update(now, ONE);
        prop_assert!(once.util_avg().abs_diff(often.util_avg()) <= 2);
    }

    #[test]
    fn a_clock_that_goes_backwards_changes_only_the_time(task in any_state(), back in 1..1_u64 << 63) {
        let now = task.last_update().wrapping_sub(back);
        let mut updated = task;
        prop_assert!(!updated.update(now, ONE));
        prop_assert_eq!(updated, at(task, now));
    }

    #[test]
    fn work_is_what_counts(capacity in 1..=1024_u32, scale in 1..=1024_u32, ticks in 1..300_u64) {
        let mut clock = ClockPelt::default();
        for _ in 0..ticks {
            clock.advance(1_000_000, CpuSpeed { capacity, frequency_scale: scale });
        }
        let exact = (ticks * 1_000_000 * u64::from(capacity) * u64::from(scale)) >> 20;
        prop_assert!(clock.clock_pelt() <= exact && exact - clock.clock_pelt() <= 2 * ticks);
        prop_assert_eq!(clock.clock_task(), ticks * 1_000_000);
    }

    #[test]
    fn the_multiplier_shortens_the_half_life(now in 0..1_u64 << 40, step in 0..1_u64 << 40) {
        // The kernel shifts the time between two updates; we give it a clock that runs faster.
        for (multiplier, shift) in [(PeltMultiplier::X2, 9), (PeltMultiplier::X4, 8)] {
            let mut task = SchedAvg::starting_at(multiplier.stretch(now));
            task.update(multiplier.stretch(now + step), ONE);
            let mut kernel = SchedAvg::default();
            if step >> shift > 0 {
                kernel.accumulate(step >> shift, ONE);
            }
            prop_assert_eq!(task.util_sum(), kernel.util_sum());
            prop_assert_eq!(task.last_update() / u64::from(multiplier.value()),
                now + (step >> shift << shift));
        }
    }

    #[test]
    fn util_est_follows(value in 0..1025_u32, util in 0..1025_u32, runnable in 0..3000_u64) {
        let mut after = UtilEst::from_raw(value);
        after.sleep(SleepingTask { util, runnable, capacity: 1024 });
        prop_assert!(after.value() <= value.max(util));
        prop_assert!(after.value() >= value.min(util));
        prop_assert!(after.is_unchanged() || util > 1024);
    }

    #[test]
    fn perf_has_its_bounds(
        [cfs, rt, dl, irq, bw] in any::<[u32; 5]>(),
        [min, max] in any::<[u32; 2]>(),
        capacity in 0..=1024_u32,
        flags: [bool; 2],
    ) {
        let demand = CpuDemand::IDLE.cfs(cfs).rt(rt).dl(dl).irq(irq).bw_dl(bw);
        let demand = demand.uclamp_min(min).uclamp_max(max);
        let demand = demand.uclamp_used(flags[0]).rt_runnable(flags[1]);
        let got = effective_utilization(&demand, capacity);
        prop_assert!(got.util <= capacity && got.max <= capacity);
        let perf = got.perf(headroom_quarter(got.util));
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
        let queue = QueueLoad { load: long[1], runnable: long[2], running: flag };
        let state = if flag { EntityState::Waiting } else { EntityState::Blocked };
        let speed = CpuSpeed { capacity: short[1], frequency_scale: short[0] };
        a.update(long[0], queue);
        b.update_entity(long[3], long[4], state);
        a.accumulate(long[0], queue);
        a.attach(&mut b, long[5]);
        a.detach(&b, long[4]);
        let mut removed = RemovedLoad::default();
        removed.add(&b);
        a.take_off(&mut removed);
        a.set_runnable_avg(long[0]);
        a.recompute(long[5]);
        a.update_class(long[1], flag);
        a.update_irq(long[2], long[3], speed, multiplier);
        let new = NewTask {
            weight: long[1], capacity: short[0], queue_util: short[1], queue_load: long[0],
        };
        let _ = new_task_utilization(new, &Features::STOCK);
        let mut clock = ClockPelt::starting_at(long[0], multiplier);
        clock.advance(long[1], speed);
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
        let clamps = Uclamp { min: short[3], max: short[4] };
        let _ = util_fits_cpu(short[5], Some(clamps), capacity, FitRule::Fixed);
        let delay = UpdateDelay {
            runnable: short[0], slice_us: long[0], tick_us: long[1], rate_limit_us: long[2],
        };
        let headroom = Headroom { delay, waiting: short[1], falling: flag };
        let _ = apply_headroom(short[2], headroom, &Features::SERIES);
        let top = TopPoints { capacity: short[0], second_highest: long[0], highest: long[1] };
        let _ = default_response_time_ms(top, multiplier);
        let time = ResponseTime { default_ms: short[2], wanted_ms: short[3] };
        let _ = apply_response_time(short[1], response_time_multiplier(time));
        let _ = raw_frequency(long[0], PerfLevel { perf: short[0], capacity: short[1] });
        let of = DomainFrequency { highest: long[0], current: long[1], invariant: flag };
        let _ = reference_frequency(of);
        let mut estimate = UtilEst::from_raw(short[0]);
        let task = RunningTask {
 executed_us: long[0], util: short[1], util_at_dequeue: short[5], multiplier: short[2],
 };
        estimate.run(task, &Features::SERIES);
        let task = SleepingTask { util: short[1], runnable: long[1], capacity: short[3] };
        estimate.sleep_with(task, short[4], &Features::SERIES);
        UtilEst::from_raw(short[0] & !(1 << 31)).sleep(task);
        let mut boost = IowaitBoost::from_state(short[0], flag, long[0]);
        boost.update(long[1], !flag, long[2]);
        boost.apply(long[3], short[1], long[4]);
        let mut waiting = WaitingAvg::starting_at(long[0]);
        waiting.attach(&a);
        waiting.update(long[1], state);
    }
}
