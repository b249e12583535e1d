//! What is done: a protocol runs on any machine and leaves a run directory.

pub mod rampup;
pub mod score;
pub mod switches;
pub mod windows;
