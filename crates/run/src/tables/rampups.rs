//! Measurements of ramp-ups: a task slept, then spins.

use crate::table::table;

table! {
    /// One row per repetition of a ramp-up: the sleeps, and the spin behind them.
    rampups: RampUp => RampUps {
        /// Number of the repetition in the run, from 0, in order of execution.
        seq: u64,
        /// The condition's name in the manifest.
        condition: String,
        /// Number of the repetition under this condition and gap, from 1.
        repeat: u32,
        /// Length of each sleep before the spin, as asked for.
        gap_ns: u64,
        /// Sleeps before the spin.
        sleeps: u32,
        /// Length of the last sleep, from before the call to after the wake-up.
        idle_ns: Option<u64>,
        /// By how much the wake-up came late.
        lateness_ns: Option<i64>,
        /// Start of the spin, on the clock that the manifest names for this table.
        begin_ns: u64,
        /// End of the spin, on the same clock.
        end_ns: u64,
        /// The thread that spun; null on a model.
        tid: Option<u32>,
        /// Times that the CPU was taken from the thread, from before the sleeps on.
        preemptions: Option<u32>,
        /// Page faults of the thread, from before the sleeps on.
        faults: Option<u32>,
        /// Time the hypervisor gave to others, over all CPUs, from before the sleeps on; in steps of
        /// the kernel's 10 ms.
        steal_ns: Option<u64>,
        /// The trial of the events, where a run has several recordings.
        trial: Option<u32>,
    }
}

table! {
    /// One row per sample of the delivered rate during a spin.
    rampup_samples: RampUpSample => RampUpSamples {
        /// The repetition: `rampups.seq`.
        rampup: u64,
        /// Start of the sample after the start of the spin.
        after_ns: u64,
        /// Ticks of one chain of the frequency probe, raw; null on a model.
        ticks: Option<u32>,
        /// The CPU.
        cpu: Option<u32>,
        /// Work done per microsecond: multiplications of the probe's chain; on a model cycles of the
        /// reference kind of core.
        rate_per_us: f64,
        /// Frequency; null where the cycles of a multiplication are unknown.
        delivered_khz: Option<u64>,
        /// Whether something else ran during the sample, or the rate changed: not to be trusted.
        disturbed: bool,
    }
}
