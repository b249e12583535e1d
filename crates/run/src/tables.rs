//! The tables of the run directory. A later version adds tables or nullable columns; it never
//! changes the meaning of one that is here.

mod events;
mod rampups;
mod trials;

pub use events::*;
pub use rampups::*;
pub use trials::*;

use crate::table::{table, tables};

/// Lateness from which on it is recorded how much of it was waiting for the CPU, nanoseconds: a timer,
/// an idle core's exit and a switch of threads take less.
pub const WAKE_DELAY_FROM_NS: u64 = 20_000;

table! {
    /// One row per measured window: a workload released at a time, executed once.
    windows: Window => Windows {
        /// Number of the window in the run, in order of recording, from 0.
        seq: u64,
        /// Execution of one workload under one condition in one repeat; numbered in order of
        /// execution, from 0; described in the manifest's `order`.
        trial: u32,
        /// The workload's name in the manifest.
        workload: String,
        /// The condition's name in the manifest.
        condition: String,
        /// Repeat of the cell (workload x condition), from 1.
        repeat: u32,
        /// Block of the randomised order that the trial belongs to, from 0.
        block: u32,
        /// Number of the window in its trial, from 0, warm-up included.
        index: u64,
        /// Whether the window is warm-up, kept but left out of every statistic.
        warmup: bool,
        /// Scheduled release, on the clock that the manifest names for this table.
        release_ns: u64,
        /// Start of execution, on the same clock.
        dispatch_ns: u64,
        /// End of execution, on the same clock.
        end_ns: u64,
        /// Dispatch after scheduled release: `dispatch_ns - release_ns`.
        lateness_ns: i64,
        /// Execution: `end_ns - dispatch_ns`, without `transport_ns` where that is known.
        exec_ns: u64,
        /// End after scheduled release: `end_ns - release_ns`.
        response_ns: i64,
        /// Absolute deadline, on the same clock; the release where there is none.
        deadline_ns: u64,
        /// Whether the window ended after its deadline.
        missed: bool,
        /// CPU at dispatch; null where it was not recorded.
        cpu_before: Option<u32>,
        /// CPU at the end; null where it was not recorded.
        cpu_after: Option<u32>,
        /// Migrations of the thread during the window.
        migrations: Option<u32>,
        /// Involuntary context switches during the window.
        preemptions: Option<u32>,
        /// Voluntary context switches during the window.
        yields: Option<u32>,
        /// Page faults served without I/O during the window.
        minor_faults: Option<u32>,
        /// Page faults that needed I/O during the window.
        major_faults: Option<u32>,
        /// CPU time that the kernel accounted to the thread during the window.
        cpu_time_ns: Option<u64>,
        /// Time the thread was runnable but waited for a CPU during the window.
        run_delay_ns: Option<u64>,
        /// Part of the lateness in which the thread was runnable and waited for a CPU; null where
        /// nobody looked: a window that was hardly late, or data of another tool.
        wake_delay_ns: Option<u64>,
        /// Time the hypervisor gave to others during the window.
        steal_ns: Option<u64>,
        /// CPU cycles of the window itself (perf event).
        cycles: Option<u64>,
        /// Reference cycles of the window itself (perf event).
        ref_cycles: Option<u64>,
        /// Instructions of the window itself (perf event).
        instructions: Option<u64>,
        /// Frequency probe before the window, raw counter ticks.
        probe_before_ticks: Option<u32>,
        /// Frequency probe after the window, raw counter ticks.
        probe_after_ticks: Option<u32>,
        /// Frequency from the probe before the window; null where the probe is not calibrated.
        probe_before_khz: Option<u64>,
        /// Frequency from the probe after the window; null where the probe is not calibrated.
        probe_after_khz: Option<u64>,
        /// Speed from the probe before the window, in thousandths of the best seen in the run.
        probe_before_permille: Option<u32>,
        /// Speed from the probe after the window, in thousandths of the best seen in the run.
        probe_after_permille: Option<u32>,
        /// Whether a probe was interrupted and its figures are not to be trusted.
        probe_disturbed: Option<bool>,
        /// Frequency delivered to the window itself, from its cycles and CPU time (of a device: its
        /// execution).
        delivered_khz: Option<u64>,
        /// Not-a-number samples of the input that were replaced in this window.
        nan_replaced: Option<u32>,
        /// Exit status of a command workload.
        exit_status: Option<i32>,
        /// Iterations that the window's times are of, where one takes too short a time for whole
        /// nanoseconds; null: one.
        iterations: Option<u64>,
        /// Part of `end_ns - dispatch_ns` in which data were on their way to the device that
        /// executes, or back from it; null where nothing was sent.
        transport_ns: Option<u64>,
        /// Cycles of the window in which the core's back end stalled (perf event).
        stalled_cycles: Option<u64>,
        /// Time that interrupts and other noise of the operating system took during the window.
        noise_ns: Option<u64>,
    }
}

table! {
    /// One row per sample of a clock domain's frequency.
    frequency: FrequencySample => Frequencies {
        /// Time of the sample, on the clock that the manifest names for this table.
        t_ns: u64,
        /// Clock domain or CPU: `policy0`, `cpu0`.
        domain: String,
        /// What the system claims.
        claimed_khz: Option<u64>,
        /// What was delivered, measured.
        delivered_khz: Option<u64>,
        /// Where the figure comes from. `model` and `cpu_frequency` (the kernel's tracepoint) are
        /// changes, which hold until the domain's next row; the others are samples.
        source: String,
        /// The condition that ran then.
        condition: Option<String>,
        /// The trial that ran then.
        trial: Option<u32>,
        /// The domain's governor then.
        governor: Option<String>,
    }
}

table! {
    /// One row per CPU and interval of background load: the proof that it ran.
    load: LoadSample => LoadSamples {
        /// End of the interval, on the clock that the manifest names for this table.
        t_ns: u64,
        /// Length of the interval.
        interval_ns: u64,
        /// The condition that ran then.
        condition: String,
        /// The trial that ran then.
        trial: Option<u32>,
        /// The CPU.
        cpu: u32,
        /// Load asked for.
        wanted_percent: f64,
        /// Load that the kernel accounted to the generator's threads.
        achieved_percent: f64,
        /// Whole CPU's busy share, everything that ran on it included.
        busy_percent: Option<f64>,
        /// Share that the hypervisor gave to others.
        steal_percent: Option<f64>,
        /// Where the achieved figure comes from.
        source: String,
    }
}

table! {
    /// One row per CPU and interval of a recorded load: how long it was busy, and how fast it was.
    activity: ActivitySample => ActivitySamples {
        /// End of the interval, on the clock that the manifest names for this table.
        t_ns: u64,
        /// Length of the interval.
        interval_ns: u64,
        /// The CPU.
        cpu: u32,
        /// Time in which it executed anything: tasks, interrupts.
        busy_ns: u64,
        /// The rest of the interval.
        idle_ns: u64,
        /// Frequency in force, as the system claimed it at the end of the interval; null where it
        /// says nothing.
        claimed_khz: Option<u64>,
        /// Time that tasks waited for this CPU, summed over them; null where nobody counts it. Over
        /// the interval's length it is the mean length of the queue behind the running task.
        waiting_ns: Option<u64>,
        /// Runnable tasks of the whole machine at the end of the interval, the recorder left out;
        /// null where nobody looked then.
        runnable: Option<u32>,
        /// The trial that ran then.
        trial: Option<u32>,
    }
}

table! {
    /// One row per stretch of time and user of the CPUs: who else worked while something was
    /// measured. Read between blocks.
    cpu_users: CpuUser => CpuUsers {
        /// Begin of the stretch, on the clock that the manifest names for this table.
        from_ns: u64,
        /// End of the stretch, on the same clock.
        to_ns: u64,
        /// CPUs that were online.
        cpus: u32,
        /// First block of the randomised order within the stretch; null before the first one.
        first_block: Option<u32>,
        /// Last block within the stretch.
        last_block: Option<u32>,
        /// `run`: what was measured, with Flyball and its load; `other`: other programs, by name;
        /// `hypervisor`: time that it took.
        who: String,
        /// Name of the program; empty for the run and the hypervisor.
        name: String,
        /// CPU time in steps of the kernel's 10 ms.
        cpu_ns: u64,
    }
}

table! {
    /// One row per remark about the run: what failed, degraded or could not be checked.
    notes: Note => Notes {
        /// When, if it belongs to a time, on the clock that the manifest names for this table.
        t_ns: Option<u64>,
        /// `info`, `warning` or `error`.
        severity: String,
        /// What the remark is about: a path, a CPU, a table.
        object: String,
        /// The remark.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    }
}

tables! {
    /// Measured windows.
    windows: Windows,
    /// Frequency samples.
    frequency: Frequencies,
    /// Proof of background load.
    load: LoadSamples,
    /// A recorded load.
    activity: ActivitySamples,
    /// Who else used the CPUs.
    cpu_users: CpuUsers,
    /// Remarks.
    notes: Notes,
    /// Who ran where, from when to when.
    slices: Slices,
    /// Wake-ups.
    wakeups: Wakeups,
    /// Moves between CPUs.
    migrations: Migrations,
    /// Stays in idle states.
    idle: IdleStays,
    /// Stays in interrupts.
    interrupts: Interrupts,
    /// Load-tracking signals.
    utilization: UtilizationSamples,
    /// Capacities of the CPUs.
    capacity: CapacitySamples,
    /// Marks.
    markers: Markers,
    /// What governors were told and answered.
    governor: GovernorSteps,
    /// Work items.
    items: Items,
    /// Residencies with their energy.
    energy: EnergyShares,
    /// Temperatures.
    temperature: TemperatureSamples,
    /// Gaps in the recording.
    lost: Losses,
    /// Points of a sweep.
    sweep: SweepValues,
    /// Measurements of frequency switches.
    trials: SwitchTrials,
    /// Repetitions of ramp-ups.
    rampups: RampUps,
    /// Samples of the delivered rate during them.
    rampup_samples: RampUpSamples,
}

/// [`Window::deadline_ns`] of a window that has none, as importers write it.
pub const NO_DEADLINE: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::AnyRow;

    #[test]
    fn a_row_survives_the_table() {
        let mut table = Windows::default();
        let row =
            Window { seq: 4, workload: "car".into(), cpu_before: Some(1), ..Window::default() };
        table.push(Window::default());
        table.push(row.clone());
        assert_eq!(table.len(), 2);
        assert_eq!(table.row(1), Some(row));
        assert_eq!(table.row(2), None);
    }

    #[test]
    fn times_and_frequencies_name_their_unit() {
        let unitless = |name: &str| {
            [
                "release",
                "dispatch",
                "end",
                "time",
                "khz",
                "delay",
                "steal",
                "deadline",
                "interval",
                "energy",
                "latency",
                "residency",
            ]
            .iter()
            .any(|stem| name.split('_').any(|word| word == *stem))
                && !["ns", "khz", "percent", "permille", "ticks", "mj"]
                    .iter()
                    .any(|unit| name.ends_with(unit))
        };
        for table in registry() {
            for column in table.columns {
                assert!(!unitless(column.name), "{}.{}", table.name, column.name);
                assert!(column.doc.trim().ends_with('.'), "{}.{}", table.name, column.name);
            }
        }
    }

    #[test]
    fn nan_is_not_writable() {
        let row = LoadSample { achieved_percent: f64::NAN, ..LoadSample::default() };
        assert_eq!(row.unwritable(), Some("achieved_percent"));
    }
}
