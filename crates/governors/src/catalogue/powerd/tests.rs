use super::*;
use crate::testing::{Load, domain};

/// The machine of the paper's Figure 4: 17 levels from 75 to 1700 MHz. A Pentium M of 1700,
/// 1400, 1200, 1000, 800 and 600 MHz with clock modulation in eighths has these levels: each
/// frequency, seven eighths of it where that lies above the next one, and all eighths of the
/// lowest. That makes 18; 1225 MHz (7/8 of 1400), next to 1200, is left out. The decay does not
/// depend on it: the wanted frequency falls by 1/32 whatever the levels are, and only the
/// lowest, 75 MHz, stops it.
const FIGURE_4: [u64; 17] = [
    75_000, 150_000, 225_000, 300_000, 375_000, 450_000, 525_000, 600_000, 700_000, 800_000,
    875_000, 1_000_000, 1_050_000, 1_200_000, 1_400_000, 1_487_500, 1_700_000,
];

fn started(mode: i64, khz: u64) -> (Powerd, Load) {
    let mut governor = Powerd::default();
    governor.set("mode", mode).unwrap();
    let mut domain = domain(&FIGURE_4);
    domain.current = KiloHertz(khz);
    governor.start(&domain, Nanos::ZERO);
    let load = Load::new();
    governor.on(&load.poll(), load.now());
    (governor, load)
}

fn poll(governor: &mut Powerd, load: &mut Load, percent: u64) -> Decision {
    load.pass(250, percent);
    governor.on(&load.poll(), load.now())
}

fn current(governor: &Powerd) -> u64 {
    governor.domain.as_ref().unwrap().policy.current.0 / 1000
}

/// Idle polls until 75 MHz.
fn decay(governor: &mut Powerd, load: &mut Load) -> u32 {
    let mut polls = 0;
    while current(governor) > 75 {
        poll(governor, load, 0);
        polls += 1;
    }
    polls
}

#[test]
fn hadp_decays_from_1700_to_75_mhz_in_93_polls() {
    let (mut governor, mut load) = started(1, 1_700_000);
    assert_eq!(decay(&mut governor, &mut load), 93);
    assert_eq!(load.now(), Nanos::from_millis(23_250));
}

#[test]
fn hadp_decays_from_twice_the_maximum_in_115_polls() {
    let (mut governor, mut load) = started(1, 1_700_000);
    for _ in 0..10 {
        poll(&mut governor, &mut load, 100);
    }
    assert_eq!(governor.domain.as_ref().unwrap().wanted, 3400, "the ceiling");
    assert_eq!(decay(&mut governor, &mut load), 115, "28.75 s");
}

#[test]
fn hadp_quadruples_and_adp_doubles() {
    let (mut governor, mut load) = started(1, 600_000);
    poll(&mut governor, &mut load, 76);
    assert_eq!(governor.domain.as_ref().unwrap().wanted, 2400);
    let (mut governor, mut load) = started(1, 600_000);
    poll(&mut governor, &mut load, 60);
    assert_eq!(governor.domain.as_ref().unwrap().wanted, 960, "2 x 600 x 60 / 75");
    let (mut governor, mut load) = started(2, 600_000);
    poll(&mut governor, &mut load, 96);
    assert_eq!(governor.domain.as_ref().unwrap().wanted, 1200);
    let (mut governor, mut load) = started(2, 600_000);
    poll(&mut governor, &mut load, 90);
    assert_eq!(governor.domain.as_ref().unwrap().wanted, 720, "600 x 90 / 75");
    assert_eq!(current(&governor), 800);
}

#[test]
fn the_way_down_must_leave_room() {
    // hadp at 1700: level(1646) = 1700; 1700 x 24 = 40,800 < 1700 x 75 / 2 = 63,750.
    let (mut governor, mut load) = started(1, 1_700_000);
    poll(&mut governor, &mut load, 24);
    assert_eq!(governor.domain.as_ref().unwrap().wanted, 1646);
    poll(&mut governor, &mut load, 25);
    assert_eq!(governor.domain.as_ref().unwrap().wanted, 1646, "25 is not below 50 / 2");
    // adp at 150: level(131) = 150, and 150 x 49 < 150 x 75.
    let (mut governor, mut load) = started(2, 150_000);
    poll(&mut governor, &mut load, 49);
    assert_eq!(governor.domain.as_ref().unwrap().wanted, 131);
}

#[test]
fn a_foreign_change_is_seen_at_every_32nd_unchanged_poll() {
    let (mut governor, mut load) = started(1, 1_700_000);
    for _ in 0..3 {
        poll(&mut governor, &mut load, 30);
    }
    governor.on(&Event::Applied { frequency: KiloHertz(600_000) }, load.now());
    for _ in 3..32 {
        assert_eq!(poll(&mut governor, &mut load, 30).request, None);
    }
    assert!(poll(&mut governor, &mut load, 30).request.is_some(), "set back to 1700");
}

#[test]
fn adp_polls_slower_and_slower_and_hadp_does_not() {
    for (mode, waits) in [(2, [250, 500, 1000]), (1, [250, 250, 250])] {
        let (mut governor, mut load) = started(mode, 75_000);
        let mut wait = |until: u32, from: u32| {
            let mut wait = Nanos::ZERO;
            for _ in from..until {
                wait = poll(&mut governor, &mut load, 0).wake_at.unwrap();
            }
            wait.since(load.now())
        };
        let expected = waits.map(Nanos::from_millis);
        assert_eq!([wait(119, 0), wait(120, 119), wait(360, 120)], expected);
    }
}
