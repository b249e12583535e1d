//! The loop allocates nothing: on real files, by the very calls of a daemon.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{on_files, stat_text};
use flyball_govern::trail;
use flyball_host::{Access, Host, RealHost};
use flyball_units::Nanos;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

// All in one test: other threads would be counted, too.
#[test]
fn a_poll_allocates_nothing_and_a_million_leave_nothing() {
    // The thread that started this one still notes that it did.
    let real = RealHost::new();
    real.sleep_until(real.now() + Nanos::from_millis(200)).unwrap();
    for (governor, tunable, polls) in [
        ("powerd-paper", ("poll_ival", 250), 20_000),
        ("powerd++", ("poll", 500), 20_000),
        ("ondemand", ("sampling_rate", 20_000), 20_000),
        ("conservative", ("sampling_rate", 20_000), 20_000),
        ("tick", ("n", 3), 20_000),
        ("powerd", ("poll_ival", 250), 1_000_000),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let kept = trail((0..2).map(|id| format!("policy{id}")).collect());
        let (host, mut engine) = on_files(dir.path(), governor, 2, kept.0);
        let mut now = host.now();
        engine.start(now).unwrap();
        engine.set(tunable.0, tunable.1, now).unwrap();
        let every = if polls > 100_000 { 50 } else { 1 };
        let (mut busy, mut idle) = (100_u64, 100_u64);
        let stat = host.open_kept(&dir.path().join("stat"), Access::Write).unwrap();
        let (mut allocations, mut grown) = (0, 0_i64);
        for poll in 0..polls {
            if poll % every == 0 {
                // Load for 40 looks, idleness for 40.
                if (poll / every / 40) % 2 == 0 {
                    busy += 25
                } else {
                    idle += 25
                }
                stat.write(stat_text(&[(busy, idle), (busy, idle)]).as_bytes()).unwrap();
            }
            let region = Region::new(GLOBAL);
            now = engine.step(now).unwrap().next;
            let change = region.change();
            if poll >= 10 {
                allocations += change.allocations + change.reallocations;
                grown += change.bytes_allocated as i64 - change.bytes_deallocated as i64;
            }
        }
        let status = engine.status(now);
        assert!(status.domains[0].writes > 10, "{governor}: it does its work: {status:?}");
        assert_eq!((allocations, grown), (0, 0), "{governor}");
        assert!(status.dropped > 0, "{governor}: the ring was full and nobody waited");
    }
}
