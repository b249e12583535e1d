//! A million ticks of a busy CPU, for an exact count of instructions per tick:
//!
//! ```text
//! cargo build --release -p flyball-pelt --example ticks
//! valgrind --tool=callgrind target/release/examples/ticks
//! ```

#![allow(clippy::print_stdout, reason = "its result, so that nothing is optimised away")]

use flyball_pelt::{Averages, ClockPelt, PeltMultiplier};
use std::hint::black_box;

fn main() {
    let mut clock = ClockPelt::starting_at(0, PeltMultiplier::X1);
    let mut task = Averages::starting_at(0);
    let mut queue = Averages::starting_at(0);
    for _ in 0..1_000_000 {
        clock.advance(1_000_000, black_box(1024), black_box(1024));
        let now = clock.now();
        black_box(task.update_entity(now, 1024, true, true));
        black_box(queue.update(now, 1024, 1, true));
    }
    println!("{} {}", task.util_avg, queue.util_avg);
}
