//! What could not be read, and what this machine does not tell.

use crate::catalogue::Id;
use crate::facts::{Facts, Probe};
use crate::finding::{Finding, Severity};
use flyball_host::{Errno, HostError};
use flyball_units::{Diagnostic, ErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let failed = facts.failed.iter();
    for error in facts.surroundings.malformed.iter().chain(failed.clone()) {
        if let HostError::Malformed { object, expected, found } = error {
            findings.push(
                Finding::new(Id::Malformed, Severity::Warn, object, format!("expected {expected}"))
                    .seen(object, found)
                    .effect("What this file should tell is unknown; findings about it are missing.")
                    .lasting(
                        "if the kernel really says so, report it with a snapshot of this machine",
                    ),
            );
        }
    }
    findings.extend(unreadable(facts));
    findings
}

/// Everything that refused, in one finding.
fn unreadable(facts: &Facts) -> Option<Finding> {
    let mut refused: BTreeMap<String, String> = BTreeMap::new();
    let files: [&BTreeMap<String, Errno>; 2] =
        [&facts.topology.unreadable, &facts.surroundings.unreadable];
    for (path, errno) in files.into_iter().flatten() {
        refused.insert(path.clone(), errno.to_string());
    }
    let mut by_right = files
        .iter()
        .any(|files| files.values().any(|errno| matches!(*errno, Errno::EACCES | Errno::EPERM)));
    for error in facts.failed.iter().filter(|error| !matches!(error, HostError::Malformed { .. })) {
        if let HostError::Call { object, errno, .. } = error {
            refused.insert(object.clone(), errno.to_string());
            by_right |= error.kind() == ErrorKind::Permission;
        }
    }
    let first = refused.keys().next()?.clone();
    let found = match refused.len() {
        1 => "refuses to be read".to_owned(),
        count => format!("this and {} more refuse to be read", count - 1),
    };
    let finding = Finding::new(Id::Unreadable, Severity::Note, first, found)
        .seen_all(refused)
        .effect("What stands there is unknown; findings about it are missing.");
    Some(if by_right { finding.lasting("audit the machine as root") } else { finding })
}

/// Something that this machine does not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotKnown {
    /// What.
    pub what: String,
    /// Why, and what would tell.
    pub why: String,
}

/// What can't be known here, and why.
pub(crate) fn not_known(facts: &Facts, probe: Option<&Probe>) -> Vec<NotKnown> {
    let mut unknown = Vec::new();
    let mut add = |what: &str, why: String| {
        unknown.push(NotKnown { what: what.to_owned(), why });
    };
    let topology = &facts.topology;
    let is_virtual = topology.virtualization.is_virtual;
    let host = topology.virtualization.hypervisor.as_deref().unwrap_or("the hypervisor");
    match (topology.policies.is_empty(), is_virtual) {
        (true, true) => add(
            "governor, limits, boost, preference",
            format!("{host} shows no cpufreq to its guests: look on the host"),
        ),
        (true, false) => add("governor, limits, boost, preference", "no cpufreq driver".to_owned()),
        (false, _) => {
            let scaling = &topology.scaling;
            let own = topology.policies.iter().any(|policy| policy.boost.is_some());
            if scaling.boost_allowed().is_none() && !own {
                let driver = super::driver::words(facts);
                add("boost", format!("{driver} has no switch for it here; look into the firmware"));
            }
        }
    }
    if is_virtual {
        add("idle states, heat, power and SMT of the real machine", format!("hidden by {host}"));
        let stolen =
            facts.times.iter().flat_map(|times| &times.cpus).any(|(_, time)| time.steal > 0);
        if !stolen {
            add("stolen time", format!("{host} reports none, which some do whatever happens"));
        }
    } else {
        if topology.idle.groups.is_empty() {
            add("idle states", "cpuidle shows none".to_owned());
        }
        if facts.surroundings.throttled.is_none() {
            add("heat since boot", "nothing counts throttling here".to_owned());
        }
    }
    let hidden = facts.surroundings.holders.hidden;
    if hidden > 0 {
        let many = if hidden > 1 { "processes" } else { "process" };
        add(
            "who holds the idle latency down",
            format!("{hidden} {many} may not be looked into: run with sudo"),
        );
    }
    let skipped = match probe {
        None => Some("not probed".to_owned()),
        Some(probe) => probe.skipped.clone(),
    };
    if let Some(why) = skipped {
        add("delivered frequency", why);
    }
    unknown
}
