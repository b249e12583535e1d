//! The Linux scheduler's load tracking, bit for bit, in the kernel's own integer arithmetic
//! (behaviour of 6.12; each patch of the response-time series switchable).
//!
//! ```
//! use flyball_pelt::{Averages, ClockPelt, PeltMultiplier};
//!
//! // A task that runs for 100 ms on a CPU of capacity 459 at 600 of 2064 MHz, tick by tick.
//! let mut clock = ClockPelt::starting_at(0, PeltMultiplier::X1);
//! let mut task = Averages::starting_at(clock.now());
//! let slowed = flyball_pelt::frequency_scale(600, 2064);
//! for _tick in 0..100 {
//!     clock.advance(1_000_000, 459, slowed);
//!     task.update_entity(clock.now(), 1024, true, true);
//! }
//! assert_eq!(task.util_avg, 234);
//! ```
//!
//! Times are in ns and wrap as the kernel's do; utilisations and capacities are on the scale of
//! 1024. Written from formulas, not from kernel source. No floats, no allocation, no dependencies,
//! no panic on any input.

#![no_std]

mod approximate;
mod averages;
mod clock;
mod decay;
mod effective;
mod features;
mod fits;
mod headroom;
mod iowait;
mod margin;
mod queue;
mod signals;
mod util_est;
mod waiting;

pub use approximate::{approximate_runtime, approximate_util_avg};
pub use averages::{Averages, CAPACITY_SCALE};
pub use clock::{ClockPelt, SATURATED, frequency_scale, scale_time};
pub use decay::{LOAD_AVG_MAX, MIN_DIVIDER, PERIOD, decay, divider};
pub use effective::{
    CpuDemand, Effective, cfs_utilization, effective_perf, effective_utilization, raw_frequency,
    reference_frequency,
};
pub use features::{Features, MigrationMargin, PeltMultiplier};
pub use fits::{Clamps, CpuCapacity, Fit, util_fits_cpu};
pub use headroom::{
    Headroom, UpdateDelay, apply_headroom, apply_response_time, default_response_time_ms,
    headroom_quarter, response_time_multiplier,
};
pub use iowait::{IOWAIT_BOOST_MIN, IowaitBoost};
pub use margin::{
    FitRule, MarginRow, capacity_greater, fits_capacity, margin_table_row, threshold_as_posted,
    threshold_scaled,
};
pub use queue::Removed;
pub use signals::new_task_utilization;
pub use util_est::{Dequeued, QueueUtilEst, Running, UtilEst, util_est_after_sleep};
pub use waiting::{QueueWaiting, Waiting};
