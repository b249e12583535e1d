//! A million ticks of a busy CPU, for an exact count of instructions per tick:
//!
//! ```text
//! cargo build --release -p flyball-pelt --example ticks
//! valgrind --tool=callgrind target/release/examples/ticks
//! ```

#![allow(clippy::print_stdout, reason = "its result, so that nothing is optimised away")]

use flyball_pelt::{ClockPelt, CpuSpeed, EntityState, PeltMultiplier, QueueLoad, SchedAvg};
use std::hint::black_box;

fn main() {
    let mut clock = ClockPelt::starting_at(0, PeltMultiplier::X1);
    let mut task = SchedAvg::starting_at(0);
    let mut queue = SchedAvg::starting_at(0);
    for _ in 0..1_000_000 {
        clock.advance(1_000_000, black_box(CpuSpeed::FULL));
        let now = clock.now();
        black_box(task.update_entity(now, 1024, EntityState::Running));
        black_box(queue.update(now, QueueLoad { load: 1024, runnable: 1, running: true }));
    }
    println!("{} {}", task.util_avg(), queue.util_avg());
}
