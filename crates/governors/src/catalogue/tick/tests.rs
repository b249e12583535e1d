use super::*;
use crate::testing::{domain, shared_domain};

const LEVELS: [u64; 6] = [600_000, 800_000, 1_000_000, 1_200_000, 1_400_000, 1_700_000];

struct Bench {
    governor: Tick,
    now: Nanos,
}

impl Bench {
    fn new(domain: &Domain, current_mhz: u64, tunables: &[(&str, i64)]) -> Bench {
        let mut governor = Tick::default();
        for &(name, value) in tunables {
            governor.set(name, value).unwrap();
        }
        let current = KiloHertz(current_mhz * 1000);
        governor.start(&Domain { current, ..domain.clone() }, Nanos::ZERO);
        Bench { governor, now: Nanos::ZERO }
    }

    fn mhz(&self) -> u64 {
        self.governor.domain.as_ref().unwrap().policy.current.0 / 1000
    }

    /// The frequency after so many ticks of 1 ms on a CPU.
    fn ticks_on(&mut self, cpu: u32, count: u32, busy: bool) -> u64 {
        for _ in 0..count {
            self.now = self.now + Nanos::from_millis(1);
            self.governor.on(&Event::Tick { cpu: CpuId(cpu), busy }, self.now);
        }
        self.mhz()
    }

    fn ticks(&mut self, count: u32, busy: bool) -> u64 {
        self.ticks_on(0, count, busy)
    }
}

#[test]
fn four_busy_ticks_raise_to_the_maximum_and_four_idle_ones_lower_by_one_point() {
    let mut bench = Bench::new(&domain(&LEVELS), 600, &[]);
    assert_eq!(bench.ticks(3, true), 600);
    assert_eq!(bench.ticks(1, true), 1700);
    assert_eq!(bench.ticks(3, false), 1700);
    assert_eq!(bench.ticks(1, false), 1400);
    assert_eq!(bench.ticks(4, false), 1200);
    assert_eq!(bench.ticks(100, false), 600);
}

#[test]
fn a_tick_of_the_other_kind_resets_the_count() {
    let mut bench = Bench::new(&domain(&LEVELS), 600, &[]);
    for _ in 0..10 {
        bench.ticks(3, true);
        assert_eq!(bench.ticks(1, false), 600);
    }
}

#[test]
fn one_pair_of_counters_mixes_cpus_and_counters_per_cpu_do_not() {
    let mut bench = Bench::new(&shared_domain(&LEVELS, 2), 600, &[]);
    for _ in 0..10 {
        bench.ticks_on(0, 1, true);
        assert_eq!(bench.ticks_on(1, 1, false), 600, "the idle CPU hides the busy one");
    }
    let mut bench = Bench::new(&shared_domain(&LEVELS, 2), 600, &[("per_cpu", 1)]);
    for _ in 0..4 {
        bench.ticks_on(1, 1, false);
        bench.ticks_on(0, 1, true);
    }
    assert_eq!(bench.mhz(), 1700);
    assert_eq!(bench.ticks_on(1, 10, false), 1700, "the other one is not idle");
    assert_eq!(bench.ticks_on(0, 4, false), 1400);
    assert_eq!(bench.ticks_on(0, 4, false), 1400, "both have to be idle again");
    assert_eq!(bench.ticks_on(1, 4, false), 1200);
}

#[test]
fn ticks_are_taken_at_tick_hz() {
    let mut bench = Bench::new(&domain(&LEVELS), 600, &[("tick_hz", 100)]);
    assert_eq!(bench.governor.needs().tick_hz, Some(100));
    // The first tick counts, then one in ten.
    assert_eq!(bench.ticks(29, true), 600);
    assert_eq!(bench.ticks(1, true), 1700, "at 1, 10, 20 and 30 ms");
}

#[test]
fn larger_and_smaller_steps() {
    let mut bench = Bench::new(&domain(&LEVELS), 1700, &[("step_down", 3), ("step_up", 2)]);
    assert_eq!(bench.ticks(4, false), 1000);
    assert_eq!(bench.ticks(4, true), 1400);
    assert_eq!(bench.ticks(4, true), 1700);
}

#[test]
fn proportional_steps_hold_the_recent_load() {
    let tunables = [("proportional", 1), ("history_ticks", 10)];
    let mut bench = Bench::new(&domain(&LEVELS), 1700, &tunables);
    bench.ticks(10, true);
    assert_eq!(bench.ticks(4, false), 1200, "1700 x 6 / 10 = 1020");
    assert_eq!(bench.ticks(4, false), 600, "1200 x 2 / 10");
}

#[test]
fn the_idle_hook_needs_no_ticks() {
    let mut bench = Bench::new(&domain(&LEVELS), 1000, &[("idle_hook_us", 500)]);
    assert!(bench.governor.needs().idle);
    let idle = |enter| Event::Idle { cpu: CpuId(0), enter };
    let us = Nanos::from_micros;
    assert_eq!(bench.governor.on(&idle(true), us(100)).wake_at, Some(us(600)));
    assert_eq!(bench.governor.on(&Event::Timer, us(599)).wake_at, Some(us(600)), "too early");
    assert_eq!(bench.governor.on(&Event::Timer, us(600)).wake_at, Some(us(1100)));
    assert_eq!(bench.mhz(), 800);
    bench.governor.on(&idle(false), us(1000));
    assert_eq!(bench.governor.on(&Event::Timer, us(1100)), Decision::NONE, "busy since");
    bench.governor.on(&idle(true), us(1200));
    bench.governor.on(&Event::Timer, us(1700));
    assert_eq!(bench.governor.on(&Event::Timer, us(2200)).wake_at, None, "at the lowest");
    assert_eq!(bench.mhz(), 600);
    assert_eq!(bench.ticks(20, false), 600, "idle ticks are not counted as well");
}

#[test]
fn bursts_delay_the_next_rise() {
    let tunables = [("burst_ticks", 5), ("burst_delay", 4)];
    let mut bench = Bench::new(&domain(&LEVELS), 600, &tunables);
    assert_eq!(bench.ticks(6, true), 1700, "the first burst is not known as one");
    assert_eq!(bench.ticks(20, false), 600);
    assert_eq!(bench.ticks(7, true), 600, "the second is");
    assert_eq!(bench.ticks(1, true), 1700, "8 ticks");
    bench.ticks(6, true);
    assert_eq!(bench.ticks(20, false), 600, "that one was no burst");
    assert_eq!(bench.ticks(4, true), 1700);
}

#[test]
fn the_critical_speed_is_reached_at_once_and_kept() {
    let mut bench = Bench::new(&domain(&LEVELS), 1700, &[("critical_percent", 50)]);
    assert_eq!(bench.ticks(4, false), 1000, "850 is half of 1700");
    assert_eq!(bench.ticks(40, false), 1000);
}
