//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.

#[path = "../power/disk.rs"]
mod disk;
mod faults;
mod formats;
mod power_cut;
mod round_trip;
mod schema;
