//! What polling costs in real time: 8 clock domains under powerd, polled every 250 ms, in turn with a loop
//! that only sleeps as long. Files that the kernel reads and writes, without a driver behind them.
//!
//! `cargo run --release -p flyball-govern --example share [SECONDS]`, on a quiet machine.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::on_files;
use flyball_govern::Trail;
use flyball_host::Host;
use flyball_units::Nanos;

const DOMAINS: u16 = 8;
const PERIOD: Nanos = Nanos::from_millis(250);
const ROUNDS: usize = 5;

/// Share of a CPU in percent that `each` and the sleeps between take over this time.
fn share(host: &dyn Host, length: Nanos, mut each: impl FnMut(Nanos) -> Nanos) -> f64 {
    let (begin, cpu) = (host.now(), host.thread_cpu_time().unwrap());
    let mut now = begin;
    while now.since(begin) < length {
        let next = each(now);
        host.sleep_until(next).unwrap();
        now = host.now();
    }
    let used = host.thread_cpu_time().unwrap().since(cpu);
    100.0 * used.0 as f64 / now.since(begin).0 as f64
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(60, |text| text.parse().unwrap());
    let length = Nanos(Nanos::from_secs(seconds).0 / ROUNDS as u64);
    let dir = tempfile::tempdir().unwrap();
    let (host, mut engine) = on_files(dir.path(), "powerd", DOMAINS, Trail::none());
    engine.start(host.now()).unwrap();
    let (mut polls, mut sleeps) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        polls.push(share(host.as_ref(), length, |now| engine.step(now).unwrap().next));
        sleeps.push(share(host.as_ref(), length, |now| now + PERIOD));
    }
    for (what, shares) in [("polls", &mut polls), ("sleeps alone", &mut sleeps)] {
        shares.sort_by(f64::total_cmp);
        let (low, high) = (shares[0], shares[ROUNDS - 1]);
        println!("{what:<12} {:.4} % of a CPU ({low:.4} to {high:.4})", shares[ROUNDS / 2]);
    }
}
