//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod any;
mod blame;
mod blame_any;
mod blink;
mod board;
mod cut;
mod dat;
mod dat_any;
mod ftrace_any;
mod golden;
mod import_board;
mod import_golden;
mod perf;
mod perfetto;
mod questions;
mod reading;
#[path = "../sample/mod.rs"]
mod sample;
mod schedule;
