//! Every key of a scenario, once: the reader refuses others, and docs/scenarios.md lists these.

use super::reader::key;

pub use super::reader::Key;

/// A table of keys, a row each: `"key": "form" = "default" => "meaning"`, without a default where it
/// must be there; or the name of a row that several tables share.
macro_rules! keys {
    (@ [$($done:expr,)*]) => {
        &[$($done,)*]
    };
    (@ [$($done:expr,)*] $name:literal: $form:literal => $doc:literal, $($rest:tt)*) => {
        keys!(@ [$($done,)* $crate::scenario::key($name, $form, "", $doc),] $($rest)*)
    };
    (@ [$($done:expr,)*] $name:literal: $form:literal = $default:literal => $doc:literal,
        $($rest:tt)*) => {
        keys!(@ [$($done,)* $crate::scenario::key($name, $form, $default, $doc),] $($rest)*)
    };
    (@ [$($done:expr,)*] $shared:ident, $($rest:tt)*) => {
        keys!(@ [$($done,)* $shared,] $($rest)*)
    };
    ($($row:tt)*) => {
        keys!(@ [] $($row)*)
    };
}

pub(super) use keys;

/// The top of the file.
pub const TOP: &[Key] = keys! {
    "name": "text" = "the file's name" => "Goes into the run and the report.",
    "question": "text" = "none" => "What the scenario asks; kept for its readers.",
    "platform": "name or path" => "The hardware: a platform that ships, or a TOML file.",
    "kernel": "name or path" = "the platform's" => "The kernel: one that ships, or a TOML file.",
    "hz": "whole number" = "the kernel's" => "Ticks per second.",
    "latency_limit": "duration" = "none"
        => "The longest exit latency of an idle state that is allowed, as programs ask for it in `/dev/cpu_dma_latency` (PM QoS).",
    "placement": "word" = "the kernel's"
        => "`previous-or-idle`, `capacity-aware` or `consolidating`.",
    "duration": "duration" = "1s" => "Simulated time per phase.",
    "seed": "whole number" = "1" => "Everything random follows from it.",
    "phases": "whole number" = "20"
        => "Phases of tick and poll against the workload, on a grid; results are distributions over them.",
    "record": "word" = "summary"
        => "`none`, `summary` (results of every phase) or `full` (also every event of one phase).",
    "record_phase": "whole number" = "0" => "The phase whose events `full` keeps.",
    "utilization": "list" = "[450, 1000]"
        => "Utilisations whose time to reach is reported, from a task's first mark, or from its start.",
    "load": "profile" = "idle"
        => "Background load as real tasks: `idle`, `medium`, `heavy`, `2x50%`, `cpus=0-3,percent=90`, joined with `+`.",
    "governor": "table" = "the kernel's"
        => "Who chooses the frequency, with its tunables; or a text such as `schedutil:rate_limit_us=500`.",
    "controller_delay": "duration" = "0s"
        => "Time from when a clamp (`clamp_ramp`) is due until whoever sets it begins to see to it.",
    "controller_busy": "duration" = "0s" => "CPU time that it takes each time, as a task, whatever the frequency.",
    "features": "table" = "the kernel's" => "Patches of the response-time series.",
    "task": "list of tables" => "The tasks.",
    "cgroup": "list of tables" = "none" => "Control groups: what tasks have together.",
    "hint": "list of tables" = "none" => "What the scheduler is told about tasks while they run.",
    "interrupt": "list of tables" = "none" => "Interrupts as noise.",
};

/// `[governor]`; every other key is a tunable by its upstream name.
pub const GOVERNOR: &[Key] = keys! {
    "name": "word" = "the kernel's" => "The governor.",
    "min": "frequency" = "the hardware's" => "Lower policy limit (`scaling_min_freq`).",
    "max": "frequency" = "the hardware's" => "Upper policy limit (`scaling_max_freq`).",
    "initial": "frequency" = "the governor's choice"
        => "Frequency at the start, an operating point.",
    "cost": "work" = "0ms" => "Work of one decision of a governor that runs as a task with a timer of its own (powerd, Flyball's own).",
    "cost_cpu": "whole number" = "0" => "CPU it runs on.",
    "domain": "table of tables" = "none"
        => "`[governor.domain.NAME]`: the same keys for one clock domain.",
};

/// `[governor.domain.NAME]`; every other key is a tunable.
pub const DOMAIN: &[Key] = keys! {
    "name": "word" = "[governor]'s"
        => "The governor; with another name the tunables start anew.",
    "min": "frequency" = "[governor]'s" => "Lower policy limit.",
    "max": "frequency" = "[governor]'s" => "Upper policy limit.",
    "initial": "frequency" = "[governor]'s" => "Frequency at the start.",
};

/// `[features]`.
pub const FEATURES: &[Key] = keys! {
    "series": "true or false" = "false"
        => "The whole response-time series as posted; other keys then change single patches.",
    "migration_margin": "word" = "fixed"
        => "Patch 4: `fixed`, `series` (as posted) or `series-scaled` (the cover letter's table).",
    "headroom_from_delay": "true or false" = "false"
        => "Patch 5: headroom from the time until the next update.",
    "response_time": "true or false" = "false"
        => "Patch 6: `response_time_ms` scales the utilisation.",
    "pelt_multiplier": "1, 2 or 4" = "1" => "Patch 7: half-life of 32, 16 or 8 ms.",
    "util_est_ramp_up": "true or false" = "false"
        => "Patch 8: util_est grows while the task runs.",
    "util_est_ramp_up_transient_only": "true or false" = "false"
        => "Patch 9: ... only for tasks above their last utilisation.",
    "default_rampup_multiplier": "whole number" = "1"
        => "Patch 11: the multiplier of tasks without a hint.",
    "waiting_avg": "true or false" = "false"
        => "Patch 12: time runnable but not running is tracked.",
    "headroom_covers_waiting": "true or false" = "false" => "Patch 13: the headroom covers it.",
    "no_headroom_when_falling": "true or false" = "false"
        => "Patch 14: none while the utilisation falls.",
    "zero_multiplier_disables_util_est": "true or false" = "false" => "Patch 15.",
    "fork_starts_at_zero": "true or false" = "false"
        => "Patch 16: a new task starts with utilisation 0.",
};

/// Keys of every `[[task]]`.
pub const TASK: &[Key] = keys! {
    "kind": "word" => "What it does; the keys of each kind are below.",
    "name": "text" = "the kind" => "Its name; several of one name get -2, -3, ...",
    "count": "whole number" = "1" => "How many of them.",
    "parent": "text" = "none"
        => "The task above that forks it: class, CPUs and clamps are that one's where none are given here, the ramp-up multiplier never.",
    "creator_cpu": "whole number" = "none"
        => "The CPU on which whoever creates it is awake, where that is no task above: a new task's CPU is looked for from there.",
    "class": "class" = "fair" => "`fair`, `nice:5`, `fifo:80`, `deadline:RUNTIME/PERIOD` or `deadline:RUNTIME/DEADLINE/PERIOD`.",
    "cpus": "CPUs" = "all" => "CPUs it may run on: `0-3,6`.",
    "cgroup": "text" = "none" => "Its control group: a `[[cgroup]]` by its name.",
    "uclamp_min": "0 to 1024" = "0" => "Lower utilisation clamp.",
    "uclamp_max": "0 to 1024" = "1024" => "Upper utilisation clamp.",
    "rampup_multiplier": "0 to 16" = "the kernel's"
        => "The series' ramp-up multiplier, from its start on.",
    "clamp_ramp": "1 to 64" = "none"
        => "The multiplier of a ramp that its lower clamp follows, set from outside of a kernel without the series.",
    "start": "duration" = "0s" => "When it is created.",
    "initial_util": "0 to 1024" = "a new task's" => "Its utilisation at the start.",
};

pub(super) const WORK: Key = key(
    "work",
    "work",
    "",
    "`2ms` (as long as the fastest CPU takes at its highest frequency), `229.2ms@1700MHz` or `3Mcycles`.",
);
pub(super) const MEMORY: Key =
    key("memory", "duration", "0s", "Time for memory, which does not scale with frequency.");
pub(super) const PHASE: Key = key("phase", "duration", "0s", "First release.");
pub(super) const JITTER: Key =
    key("jitter", "duration", "0s", "Releases are late by a random time below this.");
pub(super) const DEADLINE: Key = key(
    "deadline",
    "duration",
    "the period",
    "Relative deadline, for the share of items that miss it.",
);
pub(super) const OVERRUN: Key =
    key("overrun", "word", "queue", "Releases that pass while it is busy: `queue` or `skip`.");

/// `[[cgroup]]`: files of the `cpu` controller of control groups, version 2.
pub const CGROUP: &[Key] = keys! {
    "name": "text" => "Its name, by which tasks say that they are in it.",
    "cpu_max": "QUOTA/PERIOD" = "none"
        => "Time that its tasks may run in each period, on all CPUs together (`cpu.max`): `50ms/100ms`, or `50ms` of the usual 100 ms.",
    "cpu_max_burst": "duration" = "0s" => "What may be saved from earlier periods (`cpu.max.burst`).",
    "cpu_weight": "1 to 10000" = "100" => "Its weight beside other groups and tasks; a task of nice 0 has 100 (`cpu.weight`).",
    "uclamp_min": "0 to 1024" = "0" => "The least lower clamp of its tasks (`cpu.uclamp.min`, there in percent).",
    "uclamp_max": "0 to 1024" = "1024" => "The greatest clamp of its tasks (`cpu.uclamp.max`, there in percent).",
};

/// `[[hint]]`: one call each, as patch 10 of the response-time series has it.
pub const HINT: &[Key] = keys! {
    "at": "duration" => "When, from the start of the simulation.",
    "task": "text" => "Whom: a task by its name, or all that one `[[task]]` stands for.",
    "type": "word" = "rampup_multiplier" => "What is hinted at; `rampup_multiplier` is all there is.",
    "value": "0 to 16" => "The multiplier from then on. What the task forks does not inherit it.",
};

/// `[[interrupt]]`.
pub const INTERRUPT: &[Key] = keys! {
    "cpus": "CPUs" = "all" => "CPUs that take it, each on its own.",
    "mean": "duration" => "Mean time between interrupts on one CPU; times are random.",
    "work": "work" => "Work of each.",
    MEMORY,
};
