//! Measurements of what a frequency switch costs.

use crate::table::table;

table! {
    /// One row per measurement of a frequency switch, good or rejected.
    trials: SwitchTrial => SwitchTrials {
        /// Number of the measurement in the run, from 0, in order of execution.
        seq: u64,
        /// `direct`: the write was timed. `windowed`: one run that alternates two frequencies.
        /// `detect`: the write, and the wait until work runs at the new speed. `fixed`: one run at
        /// one frequency, the baseline of `windowed`.
        method: String,
        /// Name of the set-up, where a run has several.
        setup: Option<String>,
        /// Clock domain: `policy0`.
        domain: Option<String>,
        /// The CPU that wrote and worked.
        cpu: Option<u32>,
        /// Frequency before the switch; of `windowed` the first of the two.
        from_khz: u64,
        /// Frequency after it; of `windowed` the second. The same as `from_khz`: no switch, which
        /// tells what the way to the driver costs by itself.
        to_khz: u64,
        /// Which try for the same measurement it is, from 1.
        attempt: u32,
        /// Start of the write, on the clock that the manifest names for this table.
        t_ns: Option<u64>,
        /// Random wait before the write.
        waited_ns: Option<u64>,
        /// From the last write that took effect to this one.
        since_last_ns: Option<u64>,
        /// The write: from the call to its return.
        write_ns: Option<u64>,
        /// Longest time in which no work was done after the write had returned, beyond a loop.
        stall_ns: Option<u64>,
        /// From the start of the write to the start of the first loop at the new speed.
        transition_ns: Option<u64>,
        /// Length of that loop: what the transition is uncertain by.
        loop_ns: Option<u64>,
        /// Of `windowed`: how long each of the two frequencies is asked for in turn.
        window_ns: Option<u64>,
        /// Of `windowed` and `fixed`: work done per second, in a unit of the run's own.
        score: Option<f64>,
        /// Why the measurement does not count; null where it does.
        rejected: Option<String>,
    }
}
