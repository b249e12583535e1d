//! What holds for every governor, whatever happens to it.

use flyball_governors::{
    CpuSignals, CpuTimes, Decision, Domain, Event, Governor, Request, UtilFlags, catalogue,
};
use flyball_pelt::Features;
use flyball_units::{CpuId, KiloHertz, Nanos, Opp, OppTable, RateLimitRule};
use proptest::prelude::*;

/// Small numbers, frequent edges, and anything.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..5_000_u64, 4 => 0..20_000_000_u64, 1 => Just(u64::MAX), 1 => any::<u64>()]
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..1300_u32, 1 => any::<u32>()]
}

fn opps() -> impl Strategy<Value = OppTable> {
    let opp = |(khz, inefficient)| Opp { frequency: KiloHertz(khz), inefficient };
    let khz = prop_oneof![9 => 1..4_000_000_u64, 1 => 1..=u64::MAX];
    prop::collection::vec((khz, any::<bool>()).prop_map(opp), 1..9)
        .prop_filter_map("two points of one frequency", |points| OppTable::new(points).ok())
}

prop_compose! {
    fn domain()(
        opps in opps(),
        cpus in 1..5_u32,
        (capacity, min, max, tick_us) in (1..=1024_u32, number(), number(), 0..20_000_u64),
        (at, stat_hz) in (any::<prop::sample::Index>(), 0..2000_u32),
        (latency, delay) in (prop::option::of(number()), prop::option::of(number())),
        flags in any::<[bool; 6]>(),
        rule in 0..3_usize,
    ) -> Domain {
        let current = opps.as_slice()[at.index(opps.as_slice().len())].frequency;
        let rules = [RateLimitRule::UpTo6_8, RateLimitRule::From6_9, RateLimitRule::From6_12];
        Domain::new((4..4 + cpus).map(CpuId).collect(), opps)
            .capacity(capacity)
            .min(KiloHertz(min))
            .max(KiloHertz(max))
            .current(current)
            .tick(Nanos::from_micros(tick_us))
            .stat_hz(stat_hz)
            .transition_latency(latency.map(Nanos))
            .transition_delay(delay.map(Nanos))
            .frequency_invariant(flags[0])
            .fast_switch(flags[1])
            .need_update_limits(flags[5])
            .exact_idle_accounting(flags[2])
            .uclamp_used(flags[3])
            .rate_limit_rule(rules[rule])
            .on_battery(Some(flags[4]))
            .features(if flags[3] { Features::SERIES } else { Features::STOCK })
    }
}

prop_compose! {
    fn signals()(
        a in (small(), small(), small(), small(), small(), small()),
        b in (small(), small(), 0..1025_u32, 0..1025_u32),
        rt_runnable: bool,
        nr_running in 0..4_u32,
        slice in number(),
        idle_calls in 0..3_u64,
    ) -> CpuSignals {
        CpuSignals::IDLE
            .util(a.0)
            .runnable(a.1)
            .util_est(a.2)
            .waiting(a.3)
            .rt(a.4)
            .dl(a.5)
            .bw_dl(b.0)
            .irq(b.1)
            .uclamp_min(b.2)
            .uclamp_max(b.3)
            .rt_runnable(rt_runnable)
            .nr_running(nr_running)
            .slice(Nanos(slice))
            .idle_calls(idle_calls)
    }
}

fn times() -> impl Strategy<Value = CpuTimes> {
    (number(), number(), number(), number()).prop_map(|(busy, nice, idle, iowait)| {
        CpuTimes::ZERO.busy(Nanos(busy)).nice(Nanos(nice)).idle(Nanos(idle)).iowait(Nanos(iowait))
    })
}

fn cpu() -> impl Strategy<Value = CpuId> {
    (3..10_u32).prop_map(CpuId)
}

fn event() -> impl Strategy<Value = Event<'static>> {
    prop_oneof![
        4 => prop::collection::vec(times(), 0..5)
            .prop_map(|times| Event::Poll { times: times.into() }),
        1 => Just(Event::Timer),
        4 => (cpu(), any::<bool>()).prop_map(|(cpu, busy)| Event::Tick { cpu, busy }),
        2 => (cpu(), any::<bool>()).prop_map(|(cpu, enter)| Event::Idle { cpu, enter }),
        4 => (cpu(), prop::collection::vec(signals(), 0..5), any::<[bool; 2]>()).prop_map(
            |(cpu, signals, [iowait, deadline_bandwidth])| Event::Util {
                cpu,
                signals: signals.into(),
                flags: UtilFlags::NONE.iowait(iowait).deadline_bandwidth(deadline_bandwidth),
            }
        ),
        1 => number().prop_map(|khz| Event::Applied { frequency: KiloHertz(khz) }),
        1 => (number(), number())
            .prop_map(|(min, max)| Event::Limits { min: KiloHertz(min), max: KiloHertz(max) }),
        1 => prop::collection::vec(cpu(), 0..4).prop_map(|cpus| Event::Cpus { cpus: cpus.into() }),
        1 => any::<i32>().prop_map(|millicelsius| Event::Temperature { millicelsius }),
    ]
}

/// An event and the time since the one before, or a tunable and where in its range it goes.
#[derive(Clone, Debug)]
enum Step {
    Event(Event<'static>, u64),
    Set(prop::sample::Index, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        9 => (event(), number()).prop_map(|(event, after)| Step::Event(event, after)),
        1 => (any::<prop::sample::Index>(), any::<u64>()).prop_map(|(at, to)| Step::Set(at, to)),
    ];
    prop::collection::vec(step, 0..60)
}

fn set(governor: &mut dyn Governor, at: prop::sample::Index, to: u64) {
    let tunables = governor.tunables();
    if tunables.is_empty() {
        return;
    }
    let tunable = &tunables[at.index(tunables.len())];
    let span = (tunable.max - tunable.min) as u64;
    let value = tunable.min + (to % (span + 1)) as i64;
    // powerd++ refuses a critical temperature below the high one.
    let accepted = governor.set(tunable.name, value).is_ok();
    assert!(accepted || tunable.name == "hitemp_critical", "{} = {value}", tunable.name);
}

/// Limits as cpufreq verifies them.
fn verified(domain: &Domain, min: KiloHertz, max: KiloHertz) -> (KiloHertz, KiloHertz) {
    let inside = |khz: KiloHertz| khz.max(domain.opps.min()).min(domain.opps.max());
    (inside(min).min(inside(max)), inside(max))
}

fn check(decision: &Decision, limits: (KiloHertz, KiloHertz)) {
    match decision.request {
        Some(Request::Frequency { target, .. }) => {
            assert!(limits.0 <= target && target <= limits.1, "{target:?} outside {limits:?}");
        }
        Some(Request::Range { min, max }) => {
            assert!(limits.0 <= min && min <= max && max <= limits.1);
        }
        Some(Request::Perf(level)) => assert!(level <= 1024),
        _ => {}
    }
}

/// All decisions of a governor along some steps; each is checked.
fn run(governor: &mut dyn Governor, domain: &Domain, steps: &[Step]) -> Vec<Decision> {
    let mut limits = verified(domain, domain.min, domain.max);
    let mut now = Nanos::ZERO;
    let mut decisions = vec![governor.start(domain, now)];
    check(&decisions[0], limits);
    for step in steps {
        match step {
            Step::Set(at, to) => set(governor, *at, *to),
            Step::Event(event, after) => {
                now = now + Nanos(*after);
                if let Event::Limits { min, max } = event {
                    limits = verified(domain, *min, *max);
                }
                let decision = governor.on(event, now);
                check(&decision, limits);
                if governor.needs().poll && matches!(event, Event::Poll { .. }) {
                    // A polling rule goes on polling, and not at once.
                    let goes_on = decision.wake_at.is_some_and(|next| next > now);
                    assert!(goes_on || now.0 == u64::MAX, "{:?} at {now:?}", decision.wake_at);
                }
                decisions.push(decision);
            }
        }
    }
    decisions
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn requests_stay_within_limits_and_decisions_repeat(domain in domain(), steps in steps()) {
        for entry in catalogue() {
            let first = run(&mut *entry.create(), &domain, &steps);
            let second = run(&mut *entry.create(), &domain, &steps);
            prop_assert_eq!(first, second, "{}", entry.name);
        }
    }

    #[test]
    fn nothing_happens_before_the_start(steps in steps()) {
        for entry in catalogue() {
            let mut governor = entry.create();
            for step in &steps {
                match step {
                    Step::Set(at, to) => set(&mut *governor, *at, *to),
                    Step::Event(event, _) => {
                        prop_assert_eq!(governor.on(event, Nanos(5)), Decision::NONE);
                    }
                }
            }
        }
    }

    #[test]
    fn tunables_take_their_range_and_nothing_else(domain in domain()) {
        for entry in catalogue() {
            let mut governor = entry.create();
            governor.start(&domain, Nanos::ZERO);
            for at in 0..governor.tunables().len() {
                let before = governor.tunables()[at].clone();
                prop_assert!(before.min <= before.default && before.default <= before.max);
                for value in [before.min, before.max, before.default, before.value] {
                    governor.set(before.name, value).unwrap();
                    prop_assert_eq!(governor.tunables()[at].value, value);
                }
                for value in [before.min.checked_sub(1), before.max.checked_add(1)] {
                    let value = value.unwrap();
                    prop_assert!(governor.set(before.name, value).is_err(), "{} {value}", before.name);
                }
            }
            prop_assert!(governor.set("no such tunable", 0).is_err());
        }
    }
}
