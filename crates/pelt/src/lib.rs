//! The Linux scheduler's load tracking, bit for bit, in the kernel's own integer arithmetic
//! (behaviour of 6.12; each patch of the response-time series switchable).
//!
//! ```
//! use flyball_pelt::{ClockPelt, CpuSpeed, EntityState, PeltMultiplier, SchedAvg, frequency_scale};
//!
//! // A task that runs for 100 ms on a CPU of capacity 459 at 600 of 2064 MHz, tick by tick.
//! let speed = CpuSpeed { capacity: 459, frequency_scale: frequency_scale(600, 2064) };
//! let mut clock = ClockPelt::starting_at(0, PeltMultiplier::X1);
//! let mut task = SchedAvg::starting_at(clock.now());
//! for _tick in 0..100 {
//!     clock.advance(1_000_000, speed);
//!     task.update_entity(clock.now(), 1024, EntityState::Running);
//! }
//! assert_eq!(task.util_avg(), 234);
//! ```
//!
//! Times are in ns and wrap as the kernel's do; utilisations and capacities are on the scale of
//! 1024. Written from formulas, not from kernel source. No floats, no allocation, no dependencies,
//! no panic on any input.

//!
//! # How the types are made
//!
//! State ([`SchedAvg`], [`ClockPelt`], [`UtilEst`], [`IowaitBoost`]) has private fields; its methods
//! are what the kernel does to it, and `from_state` and `from_raw` take a state for tests or to go
//! on from a recording. What may grow with the kernel ([`Features`], [`CpuDemand`]) is
//! `non_exhaustive`: it starts from a constant and has one method per field. A structure that only
//! names the arguments of a function ([`QueueLoad`], [`CpuSpeed`], [`PerfLevel`] ...) is written
//! out: all of it is needed, and no two numbers can be exchanged unseen.

#![no_std]

/// Builder methods: one per field, of the field's name.
macro_rules! setters {
    ($type:ident { $($field:ident: $value:ty),+ $(,)? }) => {
        impl $type {
            $(
                #[doc = concat!(
                    "The same with another [`", stringify!($field), "`](#structfield.",
                    stringify!($field), ").",
                )]
                #[inline]
                #[must_use]
                pub const fn $field(mut self, $field: $value) -> $type {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}

mod approximate;
mod clock;
mod decay;
mod effective;
mod features;
mod fits;
mod headroom;
mod iowait;
mod margin;
mod run_queue;
mod sched_avg;
mod signals;
mod util_est;
mod waiting_avg;

pub use approximate::{approximate_runtime, approximate_util_avg};
pub use clock::{ClockPelt, CpuSpeed, SATURATED, frequency_scale, scale_time};
pub use decay::{LOAD_AVG_MAX, MIN_DIVIDER, PERIOD, decay, divider};
pub use effective::{
    CpuDemand, DomainFrequency, Effective, FairSignals, PerfLevel, cfs_utilization,
    clamped_utilization, effective_utilization, raw_frequency, reference_frequency,
};
pub use features::{Features, MigrationMargin, PeltMultiplier};
pub use fits::{CpuCapacity, Fit, Uclamp, util_fits_cpu};
pub use headroom::{
    Headroom, ResponseTime, TopPoints, UpdateDelay, apply_headroom, apply_response_time,
    default_response_time_ms, headroom_quarter, response_time_multiplier,
};
pub use iowait::{IOWAIT_BOOST_MIN, IowaitBoost};
pub use margin::{
    FitRule, MarginRow, capacity_greater, fits_capacity, margin_table_row, threshold_as_posted,
    threshold_scaled,
};
pub use run_queue::RemovedLoad;
pub use sched_avg::{CAPACITY_SCALE, EntityState, QueueLoad, SchedAvg, SchedAvgState};
pub use signals::{NewTask, new_task_utilization};
pub use util_est::{QueueUtilEst, RunningTask, SleepingTask, UtilEst};
pub use waiting_avg::{QueueWaitingAvg, WaitingAvg};
