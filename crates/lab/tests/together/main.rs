//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;
mod model;
mod model_blame;
mod playing;
mod rampup_model;
mod score;
mod switches_methods;
mod switches_simulator;
mod switches_table2;
