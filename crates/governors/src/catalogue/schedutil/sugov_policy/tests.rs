use super::*;
use crate::testing::{domain, shared_domain};
use flyball_units::KernelVersion;

const LEVELS: [u64; 8] =
    [600_000, 800_000, 1_200_000, 1_600_000, 2_000_000, 2_400_000, 2_800_000, 3_200_000];
const NO_FLAGS: UtilFlags = UtilFlags { iowait: false, deadline_bandwidth: false };
const MS: u64 = 1_000_000;

fn util(util: u32) -> CpuSignals {
    CpuSignals { util, nr_running: 1, ..CpuSignals::default() }
}

fn policy(domain: &Domain) -> SugovPolicy {
    let mut policy = SugovPolicy::new(domain);
    policy.set_rate_limit_us(1000);
    policy
}

/// The frequency after an update at `ms`, in MHz, where one was accepted.
fn at(policy: &mut SugovPolicy, ms: u64, signals: CpuSignals) -> Option<u64> {
    policy.update(0, &[signals], NO_FLAGS, Nanos(ms * MS)).map(|khz| khz.0 / 1000)
}

#[test]
fn without_invariance_600_mhz_moves_only_above_655() {
    let mut domain = domain(&LEVELS);
    domain.frequency_invariant = false;
    let mut policy = policy(&domain);
    assert_eq!(at(&mut policy, 10, util(1)), Some(600), "the first update is accepted");
    for (step, level) in (2..=655).enumerate() {
        assert_eq!(at(&mut policy, 20 + step as u64, util(level)), None, "at {level}");
    }
    assert_eq!(at(&mut policy, 900, util(656)), Some(800));
}

#[test]
fn with_invariance_the_quarter_counts_once() {
    let mut policy = policy(&domain(&LEVELS));
    assert_eq!(at(&mut policy, 10, util(512)), Some(2000), "3200 x 640 / 1024 is 2000");
    assert_eq!(at(&mut policy, 20, util(513)), Some(2400));
    assert_eq!(at(&mut policy, 30, util(1024)), Some(3200));
}

#[test]
fn an_unchanged_frequency_leaves_the_limiter_open() {
    let mut policy = policy(&domain(&LEVELS));
    assert_eq!(at(&mut policy, 10, util(512)), Some(2000));
    let just_before = Nanos(11 * MS - 1);
    assert_eq!(policy.update(0, &[util(900)], NO_FLAGS, just_before), None, "closed");
    assert_eq!(at(&mut policy, 11, util(511)), None, "open, 2000 again");
    assert_eq!(policy.last_update().0, 10 * MS);
    assert_eq!(at(&mut policy, 11, util(900)), Some(3200), "still open");
}

#[test]
fn a_single_cpu_that_was_not_idle_keeps_its_frequency() {
    let mut policy = policy(&domain(&LEVELS));
    let idle = |level, idle_calls| CpuSignals { idle_calls, ..util(level) };
    assert_eq!(at(&mut policy, 10, idle(900, 5)), Some(3200));
    let raw = policy.cached_raw();
    assert_eq!(at(&mut policy, 20, idle(100, 5)), None);
    assert_eq!(policy.cached_raw(), raw, "restored");
    assert_eq!(at(&mut policy, 30, idle(100, 6)), Some(600));
}

#[test]
fn what_uclamp_caps_is_not_held() {
    let mut domain = domain(&LEVELS);
    domain.uclamp_used = true;
    let mut policy = policy(&domain);
    let capped = |uclamp_max| CpuSignals { idle_calls: 5, uclamp_max, ..util(900) };
    assert_eq!(at(&mut policy, 10, capped(1024)), Some(3200));
    assert_eq!(at(&mut policy, 20, capped(256)), Some(800), "3200 x 256 / 1024");
    let clamped = CpuSignals { uclamp_min: 1024, ..util(0) };
    assert_eq!(at(&mut policy, 30, clamped), Some(3200), "the minimum gets no headroom");
}

#[test]
fn limits_and_deadline_bandwidth_pass_the_limiter() {
    let mut policy = policy(&domain(&LEVELS));
    assert_eq!(at(&mut policy, 10, util(900)), Some(3200));
    policy.set_limits(KiloHertz(600_000), KiloHertz(1_200_000));
    assert_eq!(at(&mut policy, 10, util(900)), Some(1200));
    let mut policy = self::policy(&domain(&LEVELS));
    assert_eq!(at(&mut policy, 10, util(100)), Some(600));
    let reserved = CpuSignals { bw_dl: 600, ..util(100) };
    assert_eq!(at(&mut policy, 10, reserved), Some(2000), "3200 x 600 / 1024 = 1875");
    let less = CpuSignals { bw_dl: 500, ..util(100) };
    assert_eq!(at(&mut policy, 10, less), None, "less is not more");
}

#[test]
fn a_shared_policy_takes_the_maximum_and_does_not_hold() {
    let mut policy = policy(&shared_domain(&LEVELS, 3));
    let mut at = |ms: u64, cpu, levels: [u32; 3]| {
        let khz = policy.update(cpu, &levels.map(util), NO_FLAGS, Nanos(ms * MS));
        khz.map(|khz| khz.0 / 1000)
    };
    assert_eq!(at(10, 0, [100, 900, 200]), Some(3200));
    assert_eq!(at(20, 2, [100, 300, 200]), Some(1200), "3200 x 375 / 1024 = 1171");
    assert_eq!(at(30, 7, [1024; 3]), None, "no such CPU");
}

#[test]
fn waiting_for_io_boosts() {
    let mut policy = policy(&domain(&LEVELS));
    let iowait = UtilFlags { iowait: true, ..NO_FLAGS };
    let mut at = |ms: u64, flags| {
        let khz = policy.update(0, &[util(10)], flags, Nanos(ms * MS));
        khz.map(|khz| khz.0 / 1000)
    };
    assert_eq!(at(10, iowait), Some(600), "128 and a quarter");
    assert_eq!(at(11, iowait), Some(1200), "256: 1000");
    assert_eq!(at(12, iowait), Some(2000), "512: 2000");
    assert_eq!(at(13, iowait), Some(3200));
}

#[test]
fn real_time_tasks_ask_for_everything_without_uclamp() {
    let mut policy = policy(&domain(&LEVELS));
    let real_time = CpuSignals { rt_runnable: true, ..util(0) };
    assert_eq!(at(&mut policy, 10, real_time), Some(3200));
}

#[test]
fn an_eternal_latency_blocks_for_6_44_seconds() {
    let mut domain = domain(&LEVELS);
    domain.transition_latency = None;
    let mut policy = SugovPolicy::new(&domain);
    assert_eq!(policy.rate_limit_us(), 6_442_450);
    assert_eq!(at(&mut policy, 7_000, util(100)), Some(600));
    assert_eq!(at(&mut policy, 13_442, util(1024)), None);
    assert_eq!(at(&mut policy, 13_443, util(1024)), Some(3200));
}

#[test]
fn the_series_replaces_headroom_and_response() {
    let mut domain = domain(&LEVELS);
    domain.tick = Nanos::from_millis(4);
    let mut perf = |features: Features, levels: &[u32]| {
        domain.features = features;
        let mut policy = SugovPolicy::new(&domain);
        policy.set_response_time_ms(policy.default_response_time_ms() / 2);
        let signals = |level| CpuSignals { waiting: 300, ..util(level) };
        let ask = |&level: &u32| policy.perf(0, &signals(level), Nanos(0));
        levels.iter().map(ask).collect::<Vec<u32>>()
    };
    let stock = Features::STOCK;
    assert_eq!(perf(stock, &[400, 300]), [500, 375]);
    let waiting = stock.headroom_covers_waiting(true);
    assert_eq!(perf(waiting, &[400, 300]), [700, 600]);
    let falling = stock.no_headroom_when_falling(true);
    assert_eq!(perf(falling, &[400, 300, 300]), [500, 300, 375]);
    let response = stock.response_time(true);
    let doubled = perf(response, &[200])[0];
    assert!((500..=510).contains(&doubled), "twice 200 and a quarter: {doubled}");
    let delay = stock.headroom_from_delay(true);
    let ahead = flyball_pelt::approximate_util_avg(400, 4000, stock.pelt_multiplier);
    assert_eq!(perf(delay, &[400]), [ahead]);
}

#[test]
fn a_driver_that_needs_to_hear_of_limits_is_given_the_same_frequency_again() {
    for (need_update_limits, again) in [(false, None), (true, Some(3200))] {
        let mut policy = policy(&domain(&LEVELS).need_update_limits(need_update_limits));
        assert_eq!(at(&mut policy, 10, util(900)), Some(3200));
        policy.set_limits(KiloHertz(800_000), KiloHertz(3_200_000));
        assert_eq!(at(&mut policy, 10, util(900)), again);
        assert_eq!(at(&mut policy, 20, util(900)), None, "once");
    }
}

/// Up to 6.7 the quarter is added to the clamped utilisation: 512 of 1024 are 640, of 3200 MHz 2000;
/// from 6.8 on the clamp holds: 1600. A lower clamp of 512 on an idle CPU is 640 and 512.
#[test]
fn the_headroom_goes_above_the_clamps_up_to_6_7() {
    for (minor, mhz) in [(7, 2000), (8, 1600)] {
        let rules = KernelRules::of(KernelVersion::new(6, minor));
        let of_kernel = domain(&LEVELS).uclamp_used(true).rules(rules);
        let capped = CpuSignals { uclamp_max: 512, ..util(900) };
        assert_eq!(at(&mut policy(&of_kernel), 10, capped), Some(mhz), "6.{minor}");
        let raised = CpuSignals { uclamp_min: 512, ..util(0) };
        assert_eq!(at(&mut policy(&of_kernel), 10, raised), Some(mhz), "6.{minor}");
    }
}

/// Two tasks that want 512 in all and wait for each other: runnable 1024 is 3200 MHz from 6.5 on;
/// before, 512 and a quarter is 2000.
#[test]
fn waiting_raises_the_frequency_from_6_5_on() {
    for (minor, mhz) in [(4, 2000), (5, 3200)] {
        let rules = KernelRules::of(KernelVersion::new(6, minor));
        let signals = CpuSignals { runnable: 1024, ..util(512) };
        let found = at(&mut policy(&domain(&LEVELS).rules(rules)), 10, signals);
        assert_eq!(found, Some(mhz), "6.{minor}");
    }
}

/// Where fair tasks are all there is the way is shorter: its answer, and what it remembers, are those of the long one.
#[test]
fn the_short_way_leads_where_the_long_one_does() {
    let some = [0, 1, 100, 511, 640, 1024, 1025, 3000];
    for capacity in [1, 459, 1024] {
        let mut domain = domain(&LEVELS);
        domain.capacity = capacity;
        let mut short = SugovPolicy::new(&domain);
        let mut long = short.clone();
        for case in 0..some.len().pow(5) {
            let of = |place: u32| some[case / some.len().pow(place) % some.len()];
            let signals = CpuSignals {
                runnable: of(1),
                util_est: of(2) / 2,
                bw_dl: of(3) / 8,
                uclamp_min: of(4).min(1024),
                uclamp_max: of(3).min(1024),
                ..util(of(0))
            };
            let found = short.perf(0, &signals, Nanos(0));
            assert_eq!(found, long.perf_for_all(0, &signals, Nanos(0)), "{capacity} {signals:?}");
            assert_eq!(short.cpus[0].min, long.cpus[0].min, "{capacity} {signals:?}");
        }
    }
}
