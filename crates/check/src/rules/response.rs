//! How a program's demand can be answered faster, and what was left of that.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use flyball_qos::Status;

/// There where the kernel has utilisation clamps.
const BOUND: &str = "/proc/sys/kernel/sched_util_clamp_min";

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let (found, why) = match &facts.response {
        Ok(backend) => {
            (format!("demand can be answered faster: {}", backend.name), &backend.reason)
        }
        Err(why) => ("demand cannot be answered faster by task".to_owned(), why),
    };
    let had = Finding::new(Id::ResponseTime, Severity::Ok, "machine", found).seen(BOUND, why);
    let mut findings = vec![had];
    if let Some(Status::Left { owner, processes }) = &facts.controller {
        let numbers: Vec<String> = processes.iter().map(|one| one.pid.to_string()).collect();
        let numbers = if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") };
        findings.push(
            Finding::new(
                Id::ResponseTime,
                Severity::Warn,
                "machine",
                format!("{owner} controlled clamps and was killed, and so was its guardian"),
            )
            .seen("journal of clamps", format!("processes {numbers}"))
            .effect("Threads may run faster or slower than they would: their clamps stay until they end.")
            .lasting("remove the clamps, as root"),
        );
    }
    findings
}
