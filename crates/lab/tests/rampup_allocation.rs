//! A spin allocates nothing and takes no page fault: proved with an allocator that counts, on the real
//! machine.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use flyball_host::{Host, RealHost};
use flyball_lab::protocol::rampup::spin::{Lengths, Repetition, Slot, repetition};
use flyball_probe::Chain;
use flyball_units::Nanos;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations of one repetition whose spin has this length.
fn allocations(host: &dyn Host, spin: Nanos) -> (usize, Repetition) {
    let hz = host.counter_hz().unwrap().hz;
    let lengths = Lengths::new(spin, hz);
    let mut slots = vec![Slot::default(); lengths.capacity()];
    slots.clear();
    let mut found = Repetition { gap: Nanos::from_millis(2), slots, ..Repetition::default() };
    let region = Region::new(ALLOCATOR);
    assert!(repetition(host, Chain::new(1_000), lengths, 1, &mut found).unwrap());
    let change = region.change();
    (change.allocations + change.reallocations, found)
}

#[test]
fn a_longer_spin_allocates_no_more() {
    let host = RealHost::new();
    // The accounts before the sleeps and behind the spin are text of the kernel's: what is left is
    // the spin's own, and it is nothing.
    let (short, _) = allocations(&host, Nanos::from_millis(10));
    // A machine that is busy takes samples away: one spin of ten has the CPU for itself, or nearly.
    let mut most = 0;
    let found =
        (0..10).map(|_| allocations(&host, Nanos::from_millis(100))).find(|(long, found)| {
            assert_eq!(short, *long);
            most = most.max(found.slots.len());
            found.slots.len() > 300
        });
    let (_, found) = found.unwrap_or_else(|| panic!("at most {most} samples"));
    let faults = found.usage.unwrap();
    assert!(faults.minor_faults + faults.major_faults < 20, "{faults:?}");
}
