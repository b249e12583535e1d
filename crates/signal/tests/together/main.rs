//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.

#[path = "../common/mod.rs"]
mod common;
mod edf;
mod input;
mod oracle;
mod properties;
