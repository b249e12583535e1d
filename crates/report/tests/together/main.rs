//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod analysis;
mod blame;
mod bundle;
mod cortex;
mod events;
mod export;
mod figures;
mod gate;
mod html;
mod kinds;
mod lanes;
#[path = "../../../events/tests/sample/mod.rs"]
mod ramp;
#[path = "../sample/mod.rs"]
mod sample;
mod stable;
mod switches_properties;
mod switches_recordings;
mod terminal;
mod timeline;
mod traces;
