//! All findings of one machine, in order, with a verdict.

use crate::catalogue::Id;
use crate::facts::{Facts, Probe};
use crate::finding::{Finding, Severity};
use crate::rules::NotKnown;
use crate::{fix, rules};
use serde::{Deserialize, Serialize};

/// How many findings there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Figures measured like this mislead.
    pub bad: usize,
    /// Distorts visibly under some conditions.
    pub warn: usize,
    /// Worth knowing.
    pub note: usize,
    /// Looked at and fine.
    pub ok: usize,
}

/// The audit of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Audit {
    /// The verdict in one line.
    pub verdict: String,
    /// How many of each.
    pub counts: Counts,
    /// The machine in one line.
    pub machine: String,
    /// All findings, the worst first.
    pub findings: Vec<Finding>,
    /// What could not be looked at.
    pub not_known: Vec<NotKnown>,
}

/// What `flyball check --format json` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// Version of this format.
    pub format: u32,
    /// The audit.
    pub audit: Audit,
    /// The frequency probe, where it ran.
    pub probe: Option<Probe>,
    /// The machine: processor, topology, clock domains, idle states, kernel, and what was unreadable.
    pub machine: serde_json::Value,
    /// What this process may do, and the commands that grant it.
    pub permissions: serde_json::Value,
}

/// The schema of [`Document`], as JSON.
///
/// # Errors
/// None in practice: the schema is plain data.
#[cfg(feature = "schema")]
pub fn schema() -> Result<String, serde_json::Error> {
    let schema = schemars::schema_for!(Document);
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

/// What a finding about all online CPUs calls its object.
pub(crate) const ALL_CPUS: &str = "all CPUs";

/// Judges a machine. `probe` is what the frequency probe saw, if it ran.
pub fn audit(facts: &Facts, probe: Option<&Probe>) -> Audit {
    let mut findings = rules::all(facts, probe);
    let all = fix::cpus(&facts.topology.online);
    for finding in &mut findings {
        // `CPUs 0-7` and `policy0 (CPUs 0-7)`, where these are all there are.
        let policy = format!("({all})");
        if finding.object == all || finding.object.ends_with(&policy) {
            finding.object = ALL_CPUS.to_owned();
        }
    }
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.id));
    let count = |severity| findings.iter().filter(|found| found.severity == severity).count();
    let counts = Counts {
        bad: count(Severity::Bad),
        warn: count(Severity::Warn),
        note: count(Severity::Note),
        ok: count(Severity::Ok),
    };
    Audit {
        verdict: verdict(counts),
        counts,
        machine: machine(facts),
        findings,
        not_known: rules::not_known(facts, probe),
    }
}

fn verdict(counts: Counts) -> String {
    let several = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    };
    let found = [
        (counts.bad > 0).then(|| format!("{} bad", counts.bad)),
        several(counts.warn, "warning"),
        several(counts.note, "note"),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    let judgement = match (counts.bad, counts.warn) {
        (0, 0) => "Fit to measure",
        (0, _) => "Fit to measure with care",
        _ => "Not fit to measure as it is",
    };
    match found.is_empty() {
        true => format!("{judgement}: nothing found that distorts"),
        false => format!("{judgement}: {}", found.join(", ")),
    }
}

/// Processor, kernel, driver and governor in one line.
fn machine(facts: &Facts) -> String {
    let topology = &facts.topology;
    let mut parts = Vec::new();
    let name = topology.processor.model_name.as_ref().or(topology.product.name.as_ref());
    parts.extend(name.cloned());
    parts.push(format!("{} CPUs", topology.online.len()));
    let release = topology.kernel.release.as_ref();
    parts.extend(release.map(|release| format!("Linux {release}")));
    parts.push(rules::driver_words(facts));
    let mut governors: Vec<&str> =
        topology.policies.iter().filter_map(|policy| policy.governor.as_deref()).collect();
    governors.dedup();
    if !governors.is_empty() {
        parts.push(governors.join(" and "));
    }
    parts.join(", ")
}

impl Audit {
    /// Whether anything at least as bad as `severity` was found.
    pub fn has(&self, severity: Severity) -> bool {
        self.findings.iter().any(|finding| finding.severity >= severity)
    }

    /// The findings of one kind.
    pub fn of(&self, id: Id) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.id == id)
    }
}
