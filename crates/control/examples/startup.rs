//! What a hold costs before and after its program: CPU time, and calls to the machine, against
//! recorded machines of 4 and 256 CPUs with a clock domain each.
//!
//! ```sh
//! cargo run --release -p flyball-control --example startup
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example ends by panicking")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{STATE, acpi, faulty, governor, intel_active, root};
use flyball_control::{Hold, Settings};
use flyball_host::{Host, RealHost};
use flyball_units::Frequency;
use std::path::Path;
use std::sync::Arc;

const ROUNDS: usize = 21;

fn main() {
    let clock = RealHost::new();
    let pin = Settings { frequency: Some(Frequency::Max), ..Settings::default() };
    let turbo_off = Settings { boost: Some(false), ..governor("performance") };
    for cpus in [4, 256] {
        for (name, listing, request) in [
            ("acpi-cpufreq, governor", acpi(cpus), governor("performance")),
            ("acpi-cpufreq, frequency", acpi(cpus), pin.clone()),
            ("intel_pstate, governor and boost", intel_active(cpus), turbo_off.clone()),
        ] {
            let mut starts = Vec::new();
            let mut ends = Vec::new();
            let mut calls = (0, 0);
            for _ in 0..ROUNDS {
                let machine = faulty(&root(&listing), "");
                let host: Arc<dyn Host> = machine.clone();
                let begin = clock.thread_cpu_time().unwrap();
                let hold = Hold::start(&host, Path::new(STATE), &request).unwrap();
                let middle = clock.thread_cpu_time().unwrap();
                calls.0 = machine.calls();
                hold.end().unwrap();
                starts.push(middle.since(begin).0);
                ends.push(clock.thread_cpu_time().unwrap().since(middle).0);
                calls.1 = machine.calls() - calls.0;
            }
            let median = |mut all: Vec<u64>| {
                all.sort_unstable();
                all[ROUNDS / 2] as f64 / 1e6
            };
            println!(
                "{cpus:>3} CPUs, {name:<33} start {:>6.2} ms, {:>5} calls; end {:>6.2} ms, {:>5} calls",
                median(starts),
                calls.0,
                median(ends),
                calls.1
            );
        }
    }
}
