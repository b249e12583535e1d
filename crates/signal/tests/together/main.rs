//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;
mod edf;
mod input;
mod oracle;
mod properties;
