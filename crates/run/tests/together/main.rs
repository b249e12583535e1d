//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

#[path = "../power/disk.rs"]
#[allow(clippy::disallowed_methods, reason = "files as a power cut leaves them")]
mod disk;
mod faults;
mod formats;
mod power_cut;
mod round_trip;
mod schema;
