//! Live capture on this machine:
//!
//! - [`trace`]: scheduler and frequency events, in an instance of tracefs of its own;
//! - [`load`]: how busy each CPU is per interval, recorded cheaply.
//!
//! What they leave is read by `flyball-events`, and so is what other tools have captured.

pub mod load;
pub mod trace;
