//! Tables of events: what the scheduler, the clocks and the governors did, by a kernel's trace or
//! by a model. Every time is on the clock that the manifest names for the table; rows come in the
//! order in which what they tell ended. A row belongs to the whole run where its trial is null.

use crate::table::table;

table! {
    /// One row per stretch of time that a task ran on a CPU without a break. The idle loop is no
    /// task.
    slices: Slice => Slices as Long {
        /// The CPU.
        cpu: u32,
        /// The task's number: the kernel's thread id, or the model's own count from 1.
        tid: u32,
        /// The task's name then.
        task: String,
        /// When it got the CPU.
        from_ns: u64,
        /// When it gave the CPU up.
        to_ns: u64,
        /// Why it gave the CPU up: `slept`, `preempted`, `yielded`, `migrated`, `exited`; null
        /// where unknown.
        why: Option<String>,
        /// What was not seen of it: its `start`, its `end` or `both`, because the recording began,
        /// ended or lost events then; null where it was seen whole.
        cut: Option<String>,
        /// The kernel's priority: 0 to 99 real-time, 100 to 139 fair.
        priority: Option<i32>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per wake-up of a task.
    wakeups: Wakeup => Wakeups as Long {
        /// When the task became runnable.
        woken_ns: u64,
        /// When it then got a CPU; null where that was not seen.
        ran_ns: Option<u64>,
        /// Wake-up latency: `ran_ns - woken_ns`.
        latency_ns: Option<u64>,
        /// The CPU that it was placed on.
        cpu: u32,
        /// The CPU that it got.
        ran_cpu: Option<u32>,
        /// The task's number.
        tid: u32,
        /// The task's name then.
        task: String,
        /// Number of the task that woke it; null where that is unknown.
        waker_tid: Option<u32>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per move of a task from one CPU to another.
    migrations: Migration => Migrations as Long {
        /// When.
        t_ns: u64,
        /// The task's number.
        tid: u32,
        /// The task's name then.
        task: String,
        /// The CPU it left.
        from_cpu: u32,
        /// The CPU it went to.
        to_cpu: u32,
        /// Why: `wakeup`, `misfit`, `balance`, `affinity`; null where unknown.
        why: Option<String>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per stay of a CPU in an idle state.
    idle: IdleStay => IdleStays as Long {
        /// The CPU.
        cpu: u32,
        /// The state's number, 0 for the shallowest.
        state: u32,
        /// The state's name, where known.
        name: Option<String>,
        /// When the CPU entered it.
        from_ns: u64,
        /// When the CPU left it.
        to_ns: u64,
        /// What was not seen of it: its `start`, its `end` or `both`; null where it was seen whole.
        cut: Option<String>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per stretch of time that a CPU spent in an interrupt. Stretches of one CPU may lie
    /// in one another: the inner one interrupted the outer one.
    interrupts: Interrupt => Interrupts as Long {
        /// The CPU.
        cpu: u32,
        /// `irq` (a device's handler), `softirq`, or `vector` (an interrupt of the CPU's own, such
        /// as the timer's).
        kind: String,
        /// Its number, where it has one: of the line, of the softirq, of the vector.
        number: Option<u32>,
        /// Its name, where it has one: `virtio0-input.0`, `TIMER`, `local_timer`.
        name: Option<String>,
        /// When it began.
        from_ns: u64,
        /// When it ended.
        to_ns: u64,
        /// What was not seen of it: its `start`, its `end` or `both`; null where it was seen whole.
        cut: Option<String>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per change of load-tracking signals, on the capacity scale (0 to 1024).
    utilization: UtilizationSample => UtilizationSamples as Long {
        /// When.
        t_ns: u64,
        /// Whose signals: `task`, `cpu` for a CPU's root fair run queue, `rt` or `dl` for what real-time or deadline tasks used of one.
        kind: String,
        /// The CPU: the run queue's, or the one that the task is on.
        cpu: Option<u32>,
        /// The task's number; null for a run queue.
        tid: Option<u32>,
        /// The task's name then; null for a run queue.
        task: Option<String>,
        /// util_avg.
        util_avg: Option<u32>,
        /// runnable_avg.
        runnable_avg: Option<u32>,
        /// util_est: a task's own, a run queue's sum over its enqueued tasks.
        util_est: Option<u32>,
        /// Of a run queue: how much of the present period of load tracking had passed, 0 to 1023 units of 1024 ns.
        period_contrib: Option<u32>,
        /// The CPU on which a run queue's signals were brought up to date, and its governor asked;
        /// null where that is not known, and for a task.
        updater_cpu: Option<u32>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per CPU at the start, and per change of its capacity.
    capacity: CapacitySample => CapacitySamples {
        /// When.
        t_ns: u64,
        /// The CPU.
        cpu: u32,
        /// Capacity left for fair tasks, after pressure by others; at most 1024.
        capacity: u32,
        /// Capacity at its highest frequency without pressure.
        original: Option<u32>,
        /// Kind of core: `E`, `P`, `A53`.
        core_type: Option<String>,
        /// Its clock domain, by the name that the frequency table uses.
        domain: Option<String>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per mark that a program or a behaviour left.
    markers: Marker => Markers as Long {
        /// When.
        t_ns: u64,
        /// The CPU it was written on.
        cpu: Option<u32>,
        /// Number of the task that left it.
        tid: Option<u32>,
        /// Name of that task then.
        task: Option<String>,
        /// The mark's text.
        name: String,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per event that a governor got, with its decision.
    governor: GovernorStep => GovernorSteps as Long {
        /// When.
        t_ns: u64,
        /// The clock domain.
        domain: String,
        /// The governor's name.
        governor: Option<String>,
        /// Kind of event: `start`, `poll`, `timer`, `tick`, `idle`, `util`, `applied`, `limits`,
        /// `cpus`, `temperature`.
        event: String,
        /// The CPU whose event it is.
        cpu: Option<u32>,
        /// Utilisation that the rule was given, the largest of the domain's CPUs.
        util: Option<u32>,
        /// Capacity that the utilisation was set against.
        max: Option<u32>,
        /// Frequency asked for, before it became an operating point.
        decision_khz: Option<u64>,
        /// Operating point that the request became.
        resolved_khz: Option<u64>,
        /// Lower end of a range asked for.
        range_min_khz: Option<u64>,
        /// Upper end of a range asked for.
        range_max_khz: Option<u64>,
        /// Performance level asked for, 0 to 1024.
        perf: Option<u32>,
        /// Energy performance preference asked for, 0 (performance) to 255 (power).
        epp: Option<u32>,
        /// When the rule asked to be woken.
        wake_at_ns: Option<u64>,
        /// The rule that led to the answer; null where nothing was decided.
        why: Option<String>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per work item of a workload: released, begun, ended.
    items: Item => Items as Long {
        /// Number of the task that did it.
        tid: u32,
        /// Name of that task.
        task: String,
        /// Number of the item in its task, from 0.
        item: u64,
        /// When it was due.
        released_ns: u64,
        /// When work on it began; null where that was not seen.
        started_ns: Option<u64>,
        /// When it was done; null where the recording ended before.
        ended_ns: Option<u64>,
        /// From release to done: `ended_ns - released_ns`.
        latency_ns: Option<u64>,
        /// Absolute deadline, where it has one.
        deadline_ns: Option<u64>,
        /// CPU where work on it began.
        cpu: Option<u32>,
        /// CPU where it was done.
        ended_cpu: Option<u32>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per state that a CPU, a clock domain or the package was in: how long, and the
    /// energy of it. Rows of one kind do not overlap; their sum is the whole.
    energy: EnergyShare => EnergyShares {
        /// Whose: `cpu`, `domain` or `package`.
        kind: String,
        /// The CPU, where it is one.
        cpu: Option<u32>,
        /// The clock domain, where it has one.
        domain: Option<String>,
        /// The state: `busy`, `idle` (awake in the idle loop), the idle state's name, `base`.
        state: String,
        /// Operating point in that state; null where the clock does not matter.
        point_khz: Option<u64>,
        /// Time in that state.
        residency_ns: u64,
        /// Energy in that state, in millijoules.
        energy_mj: f64,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per sample of a temperature.
    temperature: TemperatureSample => TemperatureSamples as Long {
        /// When.
        t_ns: u64,
        /// Where: `package`, or the thermal zone's name.
        zone: String,
        /// Degrees Celsius.
        celsius: f64,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per gap in the recording. Nothing in a gap can be told apart from nothing having
    /// happened, so no question counts it as either.
    lost: Loss => Losses {
        /// The CPU whose events are missing; null where that is unknown, or all.
        cpu: Option<u32>,
        /// Time of the last event before the gap.
        from_ns: u64,
        /// Time of the first event behind the gap.
        to_ns: u64,
        /// Number of events lost; null where unknown.
        events: Option<u64>,
        /// The trial that it belongs to.
        trial: Option<u32>,
    }
}

table! {
    /// One row per parameter and per result of each point of a sweep.
    sweep: SweepValue => SweepValues {
        /// Number of the point, from 0, in the order of the sweep.
        point: u64,
        /// `parameter` or `result`.
        kind: String,
        /// Name of the parameter or result, ending in its unit.
        name: String,
        /// Its number; null where it has none, such as a time to something that never came.
        value: Option<f64>,
        /// Its text, where it is one.
        text: Option<String>,
    }
}
