//! How a program's demand can be answered faster, and what was left of that.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use flyball_qos::Status;

/// There where the kernel has utilisation clamps.
const BOUND: &str = "/proc/sys/kernel/sched_util_clamp_min";
/// What can be raised where it has none.
const LIMITS: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq";

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let (found, seen, why) = match &facts.response {
        Ok(backend) => {
            let seen = if backend.name.starts_with("limits") { LIMITS } else { BOUND };
            (format!("demand can be answered faster: {}", backend.name), seen, &backend.reason)
        }
        Err(why) => ("demand cannot be answered faster by task".to_owned(), BOUND, why),
    };
    let had = Finding::new(Id::ResponseTime, Severity::Ok, "machine", found).seen(seen, why);
    let mut findings = vec![had];
    if let Some(Status::Left { owner, processes, limits }) = &facts.controller {
        let numbers: Vec<String> = processes.iter().map(|one| one.pid.to_string()).collect();
        let (what, effect, remedy) = match limits {
            true => (
                "limits of frequencies",
                "CPUs may run faster than they would: their lower limits stay until they are restored.",
                "restore the limits, as root",
            ),
            false => (
                "clamps",
                "Threads may run faster or slower than they would: their clamps stay until they end.",
                "remove the clamps, as root",
            ),
        };
        let numbers = if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") };
        findings.push(
            Finding::new(
                Id::ResponseTime,
                Severity::Warn,
                "machine",
                format!("{owner} controlled {what} and was killed, and so was its guardian"),
            )
            .seen("journal of clamps", format!("processes {numbers}"))
            .effect(effect)
            .lasting(remedy),
        );
    }
    findings
}
