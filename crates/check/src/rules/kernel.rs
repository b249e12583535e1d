//! The kernel's own work and settings: watchdogs, clocks, real time, memory.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_units::Nanos;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let rules = [
        nmi_watchdog,
        soft_watchdog,
        clock_source,
        real_time_limit,
        timer_slack,
        numa_balancing,
        huge_pages,
        swap,
    ];
    rules.iter().filter_map(|rule| rule(facts)).collect()
}

fn machine(id: Id, severity: Severity, found: impl Into<String>) -> Finding {
    Finding::new(id, severity, "machine", found)
}

/// Adds a setting of the kernel as the remedy.
fn set(finding: Finding, key: &str, value: &str) -> Finding {
    let (now, lasting) = fix::sysctl(key, value);
    finding.fix(now).lasting(lasting)
}

fn nmi_watchdog(facts: &Facts) -> Option<Finding> {
    let on = facts.surroundings.kernel.nmi_watchdog?;
    let source = "/proc/sys/kernel/nmi_watchdog";
    Some(match on {
        false => machine(Id::NmiWatchdog, Severity::Ok, "off").seen(source, 0),
        true => set(
            machine(Id::NmiWatchdog, Severity::Note, "on")
                .seen(source, 1)
                .effect("It takes a hardware counter, and an interrupt about every 10 s of work."),
            "kernel.nmi_watchdog",
            "0",
        ),
    })
}

fn soft_watchdog(facts: &Facts) -> Option<Finding> {
    let kernel = &facts.surroundings.kernel;
    let source = "/proc/sys/kernel/soft_watchdog";
    if !kernel.soft_watchdog? {
        return Some(machine(Id::SoftWatchdog, Severity::Ok, "off").seen(source, 0));
    }
    let measuring = facts.measuring();
    let watched = kernel.watchdog_cpus.clone().unwrap_or_else(|| facts.topology.online.clone());
    let cpus = watched.intersection(&measuring);
    if cpus.is_empty() {
        let found = "leaves the measuring CPUs out";
        return Some(
            machine(Id::SoftWatchdog, Severity::Ok, found)
                .seen("/proc/sys/kernel/watchdog_cpumask", &watched),
        );
    }
    let threshold = kernel.watchdog_threshold_s.unwrap_or(10);
    let every = threshold as f64 * 2.0 / 5.0;
    let finding =
        machine(Id::SoftWatchdog, Severity::Note, format!("looks at every CPU every {every} s"))
            .seen(source, 1)
            .seen("/proc/sys/kernel/watchdog_thresh", threshold)
            .effect("Each time a thread of the highest class takes the CPU for microseconds.");
    let others = facts.topology.online.difference(&facts.apart());
    Some(match facts.apart().is_empty() || others.is_empty() {
        true => set(finding, "kernel.soft_watchdog", "0"),
        false => set(finding, "kernel.watchdog_cpumask", &others.to_string()),
    })
}

/// Clocks that a program reads without a system call.
const QUICK_CLOCKS: &[&str] = &["tsc", "kvm-clock", "xen"];

fn clock_source(facts: &Facts) -> Option<Finding> {
    let kernel = &facts.topology.kernel;
    let name = kernel.clocksource.as_deref()?;
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let x86 = facts.topology.processor.family_model_stepping.is_some();
    let quick = QUICK_CLOCKS.contains(&name) || name.starts_with("hyperv");
    if quick || !x86 {
        return Some(machine(Id::ClockSource, Severity::Ok, name).seen(file, name));
    }
    let finding = machine(Id::ClockSource, Severity::Warn, format!("{name}, not the TSC"))
        .seen(file, name)
        .effect("Every reading of the clock is a system call of a microsecond or more.");
    Some(match kernel.available_clocksources.iter().any(|clock| clock == "tsc") {
        true => finding.fix(fix::tee("tsc", file)).lasting(fix::boot("clocksource=tsc")),
        false => finding.lasting("the kernel gave the TSC up; sudo dmesg | grep -i tsc says why"),
    })
}

fn real_time_limit(facts: &Facts) -> Option<Finding> {
    let kernel = &facts.topology.kernel;
    let (runtime, period) = (kernel.rt_runtime_us?, kernel.rt_period_us?);
    let source = "/proc/sys/kernel/sched_rt_runtime_us";
    // From 6.12 on, a deadline server per CPU serves starving normal tasks instead.
    let served = facts.kernel_version().is_some_and(|version| version >= (6, 12));
    if !served && (runtime < 0 || runtime.unsigned_abs() >= period) {
        let found = "real-time threads are not limited";
        return Some(machine(Id::RealTimeLimit, Severity::Ok, found).seen(source, runtime));
    }
    let finding =
        |found: String| machine(Id::RealTimeLimit, Severity::Note, found).seen(source, runtime);
    Some(match served {
        true => finding("a fair server gives starving normal tasks 5 % of a CPU".to_owned())
            .effect("A real-time thread that never sleeps loses up to 50 ms of each second to them.")
            .fix("sudo sh -c 'for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do echo 0 > $f; done'")
            .lasting("repeat at boot; better: let the thread sleep"),
        false => {
            let rest = period.saturating_sub(runtime.unsigned_abs()) as f64 / 1e3;
            let found = format!("real-time threads get {runtime} of {period} us");
            set(
                finding(found).effect(format!(
                    "A real-time thread that never sleeps is stopped for {rest} ms per period."
                )),
                "kernel.sched_rt_runtime_us",
                "-1",
            )
        }
    })
}

fn timer_slack(facts: &Facts) -> Option<Finding> {
    let slack = facts.timer_slack?;
    let us = slack.as_micros_f64();
    let source = "prctl(PR_GET_TIMERSLACK)";
    let found = format!("sleeps of normal threads may end {us} us late");
    Some(match slack <= Nanos::from_micros(1) {
        true => {
            machine(Id::TimerSlack, Severity::Ok, found).seen(source, format!("{} ns", slack.0))
        }
        false => machine(Id::TimerSlack, Severity::Note, found)
            .seen(source, format!("{} ns", slack.0))
            .effect("Adds to the lateness of every wake-up by a timer.")
            .fix("sudo chrt -f 50 CMD")
            .lasting("in a service: TimerSlackNSec=1ns; real-time threads have no slack"),
    })
}

fn numa_balancing(facts: &Facts) -> Option<Finding> {
    let on = facts.surroundings.kernel.numa_balancing?;
    let source = "/proc/sys/kernel/numa_balancing";
    Some(match on && facts.topology.nodes.len() > 1 {
        false => machine(Id::NumaBalancing, Severity::Ok, "no NUMA balancing")
            .seen(source, u32::from(on)),
        true => set(
            machine(Id::NumaBalancing, Severity::Note, "memory is moved between NUMA nodes")
                .seen(source, 1)
                .effect("Pages are unmapped to see who uses them: page faults while you measure."),
            "kernel.numa_balancing",
            "0",
        ),
    })
}

fn huge_pages(facts: &Facts) -> Option<Finding> {
    let mode = facts.surroundings.memory.huge_pages.as_deref()?;
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    let found = format!("transparent, {mode}");
    Some(match mode {
        "always" => machine(Id::HugePages, Severity::Note, found)
            .seen(file, mode)
            .effect("A page fault may clear or compact 2 MB: rare outliers of 0.1 ms and more.")
            .fix(fix::tee("madvise", file))
            .lasting(fix::boot("transparent_hugepage=madvise")),
        _ => machine(Id::HugePages, Severity::Ok, found).seen(file, mode),
    })
}

fn swap(facts: &Facts) -> Option<Finding> {
    let used = facts.surroundings.memory.swap_used_bytes.unwrap_or(0);
    let source = "/proc/meminfo";
    facts.topology.memory_bytes?;
    Some(match used {
        0 => machine(Id::Swap, Severity::Ok, "nothing is swapped out")
            .seen(source, "SwapTotal - SwapFree = 0"),
        _ => machine(
            Id::Swap,
            Severity::Note,
            format!("{} MiB are swapped out", used.div_ceil(1 << 20)),
        )
        .seen(source, format!("SwapTotal - SwapFree = {} kB", used / 1024))
        .effect("A program that waited may read the disk before it answers.")
        .fix("sudo swapoff -a && sudo swapon -a")
        .lasting("lock the program's memory (mlockall), as a bench can"),
    })
}
