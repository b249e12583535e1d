//! The optimised arithmetic against the formulas written down as plainly as possible.

use flyball_pelt::{
    LOAD_AVG_MAX, QueueLoad, SchedAvg, SchedAvgState, approximate_util_avg, decay, divider,
};
use proptest::prelude::*;

/// y^k as a 32-bit fraction, k = 0 to 31, from its definition: (2^32 - 1) * 2^(-k / 32), truncated.
fn inverse(k: u32) -> u128 {
    (f64::from(u32::MAX) * 2f64.powf(-f64::from(k) / 32.0)) as u128
}

fn plain_decay(value: u128, periods: u128) -> u128 {
    if periods > 2016 {
        0
    } else {
        ((value >> (periods / 32)) * inverse((periods % 32) as u32)) >> 32
    }
}

/// load_sum, runnable_sum, util_sum, period_contrib after `units`; the sums do not overflow here.
fn plain_accumulate(
    before: &SchedAvg,
    units: u128,
    load: u128,
    runnable: u128,
    running: u128,
) -> ([u128; 3], u128, u128) {
    let mut sums = [
        before.state().load_sum.into(),
        before.state().runnable_sum.into(),
        u128::from(before.util_sum()),
    ];
    let contrib = u128::from(before.state().period_contrib);
    let max = u128::from(LOAD_AVG_MAX);
    let periods = (units + contrib) / 1024;
    let rest = (units + contrib) % 1024;
    let mut contribution = units;
    if periods > 0 {
        sums = sums.map(|sum| plain_decay(sum, periods));
        contribution =
            plain_decay(1024 - contrib, periods) + (max - plain_decay(max, periods) - 1024) + rest;
    }
    sums[0] += load * contribution;
    sums[1] += (runnable * contribution) << 10;
    sums[2] += (running * contribution) << 10;
    (sums, rest, periods)
}

prop_compose! {
    fn any_state()(
        last_update in 0..1_u64 << 50,
        load_sum in 0..1_u64 << 45,
        runnable_sum in 0..1_u64 << 45,
        util_sum in 0..50_000_000_u32,
        period_contrib in 0..1024_u32,
    ) -> SchedAvg {
        SchedAvg::from_state(SchedAvgState {
            last_update, load_sum, runnable_sum, util_sum, period_contrib,
            ..SchedAvgState::default()
        })
    }
}

fn any_step() -> impl Strategy<Value = u64> {
    prop_oneof![0..1024_u64, 0..2_000_000_u64, 0..100_000_000_u64, 0..3_000_000_000_u64]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    fn updates_are_the_formulas(
        before in any_state(),
        step in any_step(),
        load in 0..100_000_u64,
        runnable in 0..50_u64,
        running: bool,
        weight in 1..100_000_u64,
    ) {
        let mut after = before;
        let crossed = after.update_sums(before.last_update() + step, QueueLoad { load, runnable, running });
        let on = u128::from(load > 0);
        let (sums, rest, periods) = plain_accumulate(
            &before,
            (step >> 10).into(),
            load.into(),
            on * u128::from(runnable),
            on * u128::from(running),
        );
        prop_assert_eq!(crossed, periods > 0);
        prop_assert_eq!(after.last_update(), before.last_update() + (step & !1023));
        prop_assert_eq!(u128::from(after.state().load_sum), sums[0]);
        prop_assert_eq!(u128::from(after.state().runnable_sum), sums[1]);
        prop_assert_eq!(u128::from(after.util_sum()), sums[2]);
        prop_assert_eq!(u128::from(after.state().period_contrib), rest);
        prop_assert_eq!(after.util_avg(), before.util_avg());

        after.recompute(weight);
        let by = u128::from(LOAD_AVG_MAX) - 1024 + rest;
        prop_assert_eq!(u128::from(after.load_avg()), u128::from(weight) * sums[0] / by);
        prop_assert_eq!(u128::from(after.runnable_avg()), sums[1] / by);
        prop_assert_eq!(u128::from(after.util_avg()), sums[2] / by);
    }

    #[test]
    fn decay_is_the_formula(value: u64, periods in 0..3000_u64) {
        prop_assert_eq!(u128::from(decay(value, periods)), plain_decay(value.into(), periods.into()));
    }

    #[test]
    fn approximations_are_the_formula(util in 0..2000_u32, delta in any_step()) {
        let fresh = SchedAvg::from_state(SchedAvgState {
            util_sum: util * divider(0), ..SchedAvgState::default()
        });
        let (sums, rest, _) = plain_accumulate(&fresh, delta.into(), 1, 0, 1);
        let expected = sums[2] / u128::from(divider(rest as u32));
        let ours = approximate_util_avg(util, delta, flyball_pelt::PeltMultiplier::X1);
        prop_assert_eq!(u128::from(ours), expected);
    }
}
