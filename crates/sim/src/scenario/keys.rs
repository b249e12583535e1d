//! Every key of a scenario, once: the reader refuses others, and docs/scenarios.md lists these.

use super::reader::key;

pub use super::reader::Key;

/// The top of the file.
pub const TOP: &[Key] = &[
    key("name", "text", "the file's name", "Goes into the run and the report."),
    key("question", "text", "none", "What the scenario asks; kept for its readers."),
    key("platform", "name or path", "", "The hardware: a platform that ships, or a TOML file."),
    key("kernel", "name or path", "linux-6.12", "The kernel: one that ships, or a TOML file."),
    key("hz", "whole number", "the kernel's", "Ticks per second."),
    key(
        "placement",
        "word",
        "the kernel's",
        "`previous-or-idle`, `capacity-aware` or `consolidating`.",
    ),
    key("duration", "duration", "1s", "Simulated time per phase."),
    key("seed", "whole number", "1", "Everything random follows from it."),
    key(
        "phases",
        "whole number",
        "20",
        "Phases of tick and poll against the workload, on a grid; results are distributions over them.",
    ),
    key(
        "record",
        "word",
        "summary",
        "`none`, `summary` (results of every phase) or `full` (also every event of one phase).",
    ),
    key("record_phase", "whole number", "0", "The phase whose events `full` keeps."),
    key(
        "utilization",
        "list",
        "[450, 1000]",
        "Utilisations whose time to reach is reported, from a task's first mark, or from its start.",
    ),
    key(
        "load",
        "profile",
        "idle",
        "Background load as real tasks: `idle`, `medium`, `heavy`, `2x50%`, `cpus=0-3,percent=90`, joined with `+`.",
    ),
    key("governor", "table", "schedutil", "Who chooses the frequency, with its tunables."),
    key("features", "table", "the kernel's", "Patches of the response-time series."),
    key("task", "list of tables", "", "The tasks."),
    key("interrupt", "list of tables", "none", "Interrupts as noise."),
];

/// `[governor]`; every other key is a tunable by its upstream name.
pub const GOVERNOR: &[Key] = &[
    key("name", "word", "schedutil", "The governor."),
    key("min", "frequency", "the hardware's", "Lower policy limit (`scaling_min_freq`)."),
    key("max", "frequency", "the hardware's", "Upper policy limit (`scaling_max_freq`)."),
    key(
        "initial",
        "frequency",
        "the governor's choice",
        "Frequency at the start, an operating point.",
    ),
    key("cost", "work", "0ms", "Work of one decision of a governor that runs as a task (powerd)."),
    key("cost_cpu", "whole number", "0", "CPU it runs on."),
    key(
        "domain",
        "table of tables",
        "none",
        "`[governor.domain.NAME]`: the same keys for one clock domain.",
    ),
];

/// `[governor.domain.NAME]`; every other key is a tunable.
pub const DOMAIN: &[Key] = &[
    key("name", "word", "[governor]'s", "The governor; with another name the tunables start anew."),
    key("min", "frequency", "[governor]'s", "Lower policy limit."),
    key("max", "frequency", "[governor]'s", "Upper policy limit."),
    key("initial", "frequency", "[governor]'s", "Frequency at the start."),
];

/// `[features]`.
pub const FEATURES: &[Key] = &[
    key(
        "series",
        "true or false",
        "false",
        "The whole response-time series as posted; other keys then change single patches.",
    ),
    key(
        "migration_margin",
        "word",
        "fixed",
        "Patch 4: `fixed`, `series` (as posted) or `series-scaled` (the cover letter's table).",
    ),
    key(
        "headroom_from_delay",
        "true or false",
        "false",
        "Patch 5: headroom from the time until the next update.",
    ),
    key(
        "response_time",
        "true or false",
        "false",
        "Patch 6: `response_time_ms` scales the utilisation.",
    ),
    key("pelt_multiplier", "1, 2 or 4", "1", "Patch 7: half-life of 32, 16 or 8 ms."),
    key(
        "util_est_ramp_up",
        "true or false",
        "false",
        "Patch 8: util_est grows while the task runs.",
    ),
    key(
        "util_est_ramp_up_transient_only",
        "true or false",
        "false",
        "Patch 9: ... only for tasks above their last utilisation.",
    ),
    key(
        "default_rampup_multiplier",
        "whole number",
        "1",
        "Patch 11: the multiplier of tasks without a hint.",
    ),
    key(
        "waiting_avg",
        "true or false",
        "false",
        "Patch 12: time runnable but not running is tracked.",
    ),
    key("headroom_covers_waiting", "true or false", "false", "Patch 13: the headroom covers it."),
    key(
        "no_headroom_when_falling",
        "true or false",
        "false",
        "Patch 14: none while the utilisation falls.",
    ),
    key("zero_multiplier_disables_util_est", "true or false", "false", "Patch 15."),
    key(
        "fork_starts_at_zero",
        "true or false",
        "false",
        "Patch 16: a new task starts with utilisation 0.",
    ),
];

/// Keys of every `[[task]]`.
pub const TASK: &[Key] = &[
    key("kind", "word", "", "What it does; the keys of each kind are below."),
    key("name", "text", "the kind", "Its name; several of one name get -2, -3, ..."),
    key("count", "whole number", "1", "How many of them."),
    key("class", "class", "fair", "`fair`, `nice:5` or `fifo:80`."),
    key("cpus", "CPUs", "all", "CPUs it may run on: `0-3,6`."),
    key("uclamp_min", "0 to 1024", "0", "Lower utilisation clamp."),
    key("uclamp_max", "0 to 1024", "1024", "Upper utilisation clamp."),
    key("rampup_multiplier", "0 to 16", "the kernel's", "The series' ramp-up multiplier."),
    key("start", "duration", "0s", "When it is created."),
    key("initial_util", "0 to 1024", "a new task's", "Its utilisation at the start."),
];

const WORK: Key = key(
    "work",
    "work",
    "",
    "`2ms` (as long as the fastest CPU takes at its highest frequency), `229.2ms@1700MHz` or `3Mcycles`.",
);
const MEMORY: Key =
    key("memory", "duration", "0s", "Time for memory, which does not scale with frequency.");
const PHASE: Key = key("phase", "duration", "0s", "First release.");

/// One kind of task.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word for `kind`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its own keys.
    pub keys: &'static [Key],
}

/// Every kind of task.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "rampup",
        doc: "Sleeps, leaves a mark, then runs without end (source E).",
        keys: &[
            key("sleeps", "whole number", "100", "Number of sleeps."),
            key("gap", "duration", "10ms", "Length of each."),
        ],
    },
    Kind { name: "spin", doc: "Runs without end from its start.", keys: &[] },
    Kind {
        name: "periodic",
        doc: "One item of work per period.",
        keys: &[
            key("period", "duration", "", "From release to release."),
            WORK,
            MEMORY,
            PHASE,
            key("jitter", "duration", "0s", "Releases are late by a random time below this."),
            key(
                "deadline",
                "duration",
                "the period",
                "Relative deadline, for the share of items that miss it.",
            ),
            key(
                "overrun",
                "word",
                "queue",
                "Releases that pass while it is busy: `queue` or `skip`.",
            ),
        ],
    },
    Kind {
        name: "bursty",
        doc: "Bursts with quiet times between them (source C, Figure 5).",
        keys: &[
            key("every", "duration", "", "From burst to burst."),
            key("busy", "duration", "", "CPU time of a burst, whatever the frequency; or `work`."),
            key("work", "work", "", "Fixed work of a burst; or `busy`."),
            MEMORY,
            PHASE,
        ],
    },
    Kind {
        name: "batch",
        doc: "Jobs of fixed work that start at random times (source C, Table 1).",
        keys: &[
            WORK,
            MEMORY,
            key("rest", "duration", "1s", "Time before each job."),
            key("spread", "duration", "0s", "A random time below this is added to each rest."),
            key("jobs", "whole number", "1", "Number of jobs; the task then ends."),
        ],
    },
    Kind {
        name: "kernel",
        doc: "A signal kernel with the costs that were measured on an M1, released periodically.",
        keys: &[
            key("kernel", "word", "", "`car`, `notch_iir`, `goertzel` or `bandpass_fir`."),
            key("period", "duration", "500ms", "From window to window."),
            PHASE,
            key("jitter", "duration", "0s", "Releases are late by a random time below this."),
            key("deadline", "duration", "the period", "Relative deadline."),
            key("overrun", "word", "queue", "`queue` or `skip`."),
        ],
    },
    Kind {
        name: "page-load",
        doc: "An interactive page: short tasks in dependency chains (stand-in for Speedometer).",
        keys: &[
            key("stages", "whole number", "40", "Hand-overs per page."),
            key("main", "work", "1.2ms", "Mean work of the main thread per stage."),
            key("helper", "work", "0.8ms", "Mean work of a helper per stage."),
            key("helpers", "whole number", "3", "Number of helpers, 0 to 64."),
            key("pause", "duration", "4ms", "Pause for timers and frames."),
            key("pause_every", "whole number", "4", "Stages between pauses; 0: none."),
            key("think", "duration", "200ms", "Quiet time between pages."),
            key("pages", "whole number", "without end", "Pages after which it ends."),
        ],
    },
    Kind {
        name: "poisson",
        doc: "Requests at random times, independent of each other.",
        keys: &[
            key("mean", "duration", "", "Mean time between arrivals."),
            WORK,
            MEMORY,
            key(
                "service",
                "word",
                "fixed",
                "Distribution of the work: `fixed`, `uniform` or `exponential`.",
            ),
            key("deadline", "duration", "none", "Relative deadline."),
        ],
    },
    Kind {
        name: "rt-app",
        doc: "An rt-app workload, all its threads.",
        keys: &[
            key("file", "path", "", "The JSON file, relative to the scenario; or `json`."),
            key("json", "text", "", "The JSON itself; or `file`."),
        ],
    },
];

/// `[[interrupt]]`.
pub const INTERRUPT: &[Key] = &[
    key("cpus", "CPUs", "all", "CPUs that take it, each on its own."),
    key("mean", "duration", "", "Mean time between interrupts on one CPU; times are random."),
    key("work", "work", "", "Work of each."),
    key("memory", "duration", "0s", "Time for memory, which does not scale with frequency."),
];
