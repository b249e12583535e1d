//! What the door's calls cost here, and what the multiply chain says about the frequency:
//! `cargo run --release -p flyball-host --example costs`. Medians over many calls.
#![allow(clippy::print_stdout, reason = "an example speaks to the terminal")]

use flyball_host::{Host, HostError, RealHost, arch, hot};
use std::hint::black_box;
use std::path::Path;

/// Batches per call, and calls per batch.
const BATCHES: usize = 201;
const CALLS: u64 = 200;

/// The median time of one call, in nanoseconds.
fn cost(mut call: impl FnMut()) -> f64 {
    let mut batches: Vec<u64> = (0..BATCHES)
        .map(|_| {
            let start = hot::now();
            (0..CALLS).for_each(|_| call());
            hot::now().since(start).0
        })
        .collect();
    batches.sort_unstable();
    batches[BATCHES / 2] as f64 / CALLS as f64
}

/// Makes the optimiser believe that a result is used.
fn keep<T>(result: T) {
    let _ = black_box(result);
}

fn main() -> Result<(), HostError> {
    let host = RealHost::new();
    let any: &dyn Host = &host;
    let tid = host.thread_id();
    let schedstat = host.schedstat_of(tid)?;
    let rate = host.counter_hz()?;
    println!(
        "counter  {:.6} MHz, within {:.1} ppm",
        rate.hz / 1e6,
        rate.relative_uncertainty * 1e6
    );
    let costs = [
        ("hot::now", cost(|| keep(hot::now()))),
        ("Host::now", cost(|| keep(any.now()))),
        ("hot::counter", cost(|| keep(hot::counter()))),
        ("hot::current_cpu", cost(|| keep(hot::current_cpu()))),
        ("hot::thread_cpu_time", cost(|| keep(hot::thread_cpu_time()))),
        ("Host::cpu_time_of", cost(|| keep(any.cpu_time_of(tid)))),
        ("Host::usage", cost(|| keep(any.usage()))),
        ("SchedStatReader::read", cost(|| keep(schedstat.read()))),
        ("Host::read(/proc/stat)", cost(|| keep(any.read(Path::new("/proc/stat"))))),
    ];
    for (name, nanos) in costs {
        println!("{nanos:9.1} ns  {name}");
    }
    chain(rate.hz);
    Ok(())
}

/// Times chains of some 3 us and prints the frequency that they imply.
fn chain(counter_hz: f64) {
    const MULTIPLIES: u64 = 3200;
    let Some(cycles) = arch::MULTIPLY_CYCLES else { return };
    let mut ticks: Vec<u64> = (0..2001)
        .map(|_| {
            let start = hot::counter();
            black_box(hot::multiply_chain(MULTIPLIES));
            hot::counter() - start
        })
        .collect();
    ticks.sort_unstable();
    let ghz = |share: usize| {
        MULTIPLIES as f64 * cycles * counter_hz / ticks[ticks.len() * share / 100] as f64 / 1e9
    };
    println!(
        "chain of {MULTIPLIES}: {:.3} GHz; 5 % to 75 %: {:.3} to {:.3}",
        ghz(50),
        ghz(75),
        ghz(5)
    );
}
