//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod answers;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod hints;
mod hostile;
mod model;
mod reference;
mod replay;
mod report_events;
mod reproduce;
mod topics;
mod traces;
