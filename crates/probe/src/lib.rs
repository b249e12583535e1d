//! Delivered frequency, without any permission: timing a chain of dependent multiplications.
//!
//! A dependent integer multiplication takes the same number of core cycles wherever it stands, so
//! a chain of `N` of them, timed with the free-running counter, tells the core's frequency:
//!
//! ```text
//! f = (N + o) * c * h / t
//!     N  multiplications in the chain
//!     o  cost of reading the counter, in multiplications (it runs on the core's clock too)
//!     c  core cycles per multiplication: measured, assumed, or unknown
//!     h  counter ticks per second, against CLOCK_MONOTONIC
//!     t  counter ticks
//! ```
//!
//! It sees what the core delivers: also in a virtual machine, and where sysfs is absent or wrong.
//! One sample is the mean of those of [`SUB_SAMPLES`] chains, back to back, that agree; it is
//! *disturbed* where most do not (a preemption, several interrupts, a change of frequency).
//!
//! Where `c` is unknown, the probe gives shares of the best seen, never a frequency.

pub mod board;
mod calibrate;
mod chain;
mod delivered;
mod error;
mod plateau;
mod speed;
mod targets;

pub use calibrate::{Calibration, CalibrationTarget, calibrate, on_cpu, recalibrate};
pub use chain::{BOARD_TOLERANCE, Chain, ProbeSample, SUB_SAMPLES, TOLERANCE};
pub use delivered::{Delivered, choose, delivered};
pub use error::ProbeError;
pub use plateau::{Plateau, plateaus};
pub use speed::{Calibrations, Speed};
pub use targets::calibration_targets;
