//! A game's frame loop of 60 frames a second, which says when a frame's work begins, ends and is to be done, and
//! counts the frames that were late:
//!
//! ```text
//! flyball qos --socket &
//! cargo run --release --example frames [FRAMES]
//! ```
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use flyball_qos_client as qos;
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_micros(16_667);

fn main() {
    let frames: u32 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(300);
    qos::class("render");
    qos::deadline_ms(16);
    let (mut missed, mut due) = (0, Instant::now() + PERIOD);
    let mut worst = Duration::ZERO;
    for frame in 0..frames {
        let begin = Instant::now();
        let work = qos::work();
        // One frame in ten shows much more than the others.
        draw(if frame.is_multiple_of(10) { 4_000_000 } else { 400_000 });
        drop(work);
        let now = Instant::now();
        worst = worst.max(now - begin);
        match due.checked_duration_since(now) {
            Some(rest) => std::thread::sleep(rest),
            None => missed += 1,
        }
        due = due.max(now) + PERIOD;
    }
    let service = if qos::is_connected() { "with" } else { "without" };
    println!("{service} a service: {missed} of {frames} frames missed, the longest took {worst:?}");
}

/// Stands for what a frame takes.
fn draw(steps: u64) {
    let mut sum = 0_u64;
    for step in 0..steps {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(step));
    }
}
