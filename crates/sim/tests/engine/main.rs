//! Known answers of the engine: published figures, real kernels, and what has to hold always.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what should not happen")]

mod asking;
mod balancing;
mod boards;
mod cgroups;
mod common;
mod deadline;
mod idle;
mod interrupts;
mod laws;
mod leap;
mod levels;
mod load;
mod placement;
mod powerd;
mod prescribed;
mod ramp;
mod rt;
mod samplers;
mod scheduling;
mod sleeps;
mod versions;
