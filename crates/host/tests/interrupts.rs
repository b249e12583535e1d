//! Signals, in a process of their own: the counter is one per process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use flyball_host::{Host, ProcessSpec, RealHost, Signal, Wake};
use flyball_units::Nanos;

#[test]
fn an_interrupt_is_counted_and_ends_sleep() {
    let host = RealHost::new();
    host.catch_interrupts().unwrap();
    assert_eq!(host.interrupted(), 0);
    let target = std::process::id().to_string();
    let spec = ProcessSpec::new("sh", ["-c", "kill -INT \"$0\"", &target]);
    let mut child = host.spawn(&spec).unwrap();
    // Whichever thread takes the signal, the counter moves; the sleep below is bounded all the same.
    while host.interrupted() == 0 {
        host.sleep_until(host.now() + Nanos::from_millis(1)).unwrap();
    }
    assert_eq!(host.sleep_until(host.now() + Nanos::from_secs(3600)), Ok(Wake::Interrupted));
    drop(child.wait(None));
    assert_eq!(host.interrupted(), 1);
    assert_eq!(host.interrupt_signal(), Some(Signal::Interrupt));
}
