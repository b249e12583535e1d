//! What becomes of each condition over the blocks: applied settings, proof of its load.

use crate::plan::PlannedCondition;
use crate::protocol::windows::trial::Applied;
use flyball_control::Change;
use flyball_host::CpuQuota;
use flyball_load::LoadProof;
use flyball_run::manifest::{
    CheckOutcome, CheckRecord, ConditionRecord, CpuLimitRecord, LoadCpuRecord, LoadRecord,
};
use std::collections::BTreeMap;

/// Collects one condition's facts.
#[derive(Debug)]
pub struct ConditionLog {
    planned: PlannedCondition,
    applied: Option<Applied>,
    degraded: Vec<String>,
    /// What was held and read back, by file.
    control: toml::Table,
    governor: Option<String>,
    /// Settings that others changed while they were held.
    changes: Vec<Change>,
    proofs: Vec<LoadProof>,
    failure: Option<String>,
    /// The CPU limits of the control group that made somebody wait, by file.
    limits: BTreeMap<String, CpuLimitRecord>,
}

impl ConditionLog {
    /// Of a condition that nothing has happened to yet.
    pub fn new(planned: PlannedCondition) -> ConditionLog {
        ConditionLog {
            planned,
            applied: None,
            degraded: Vec::new(),
            control: toml::Table::new(),
            governor: None,
            changes: Vec::new(),
            proofs: Vec::new(),
            failure: None,
            limits: BTreeMap::new(),
        }
    }

    /// What the measuring thread of a trial got.
    pub fn applied(&mut self, applied: Applied) {
        for degraded in &applied.degraded {
            self.remark(format!("{}: {}", degraded.setting, degraded.reason));
        }
        self.applied = Some(applied);
    }

    /// What could not be applied, but was allowed to degrade.
    pub fn remark(&mut self, remark: String) {
        if !self.degraded.contains(&remark) {
            self.degraded.push(remark);
        }
    }

    /// What is held, and was read back, by file.
    pub fn held(&mut self, plan: &flyball_control::Plan) {
        for step in plan.all() {
            self.control.insert(step.path.display().to_string(), step.new.clone().into());
            if step.path.ends_with("scaling_governor") {
                self.governor = Some(step.new.clone());
            }
        }
    }

    /// What somebody else changed while it was held.
    pub fn changed_by_others(&mut self, changes: &[Change]) {
        self.changes.extend(changes.iter().cloned());
    }

    /// The CPU limits before and after a block.
    pub fn limited(&mut self, before: &[CpuQuota], after: &[CpuQuota]) {
        for limit in after {
            let counts = |limit: &CpuQuota| limit.throttled;
            let begun = before.iter().find(|other| other.file == limit.file).and_then(counts);
            let (Some((waited, periods)), Some(begun)) = (counts(limit), begun) else { continue };
            let record = self.limits.entry(limit.file.clone()).or_default();
            (record.quota_us, record.period_us) = (limit.quota_us, limit.period_us);
            record.throttled += waited.saturating_sub(begun.0);
            record.periods += periods.saturating_sub(begun.1);
        }
    }

    /// The limit that made tasks wait in the most periods; none where nobody had to.
    fn limit(&self) -> Option<CpuLimitRecord> {
        let worst = self.limits.iter().max_by_key(|(_, record)| record.throttled);
        let (file, record) = worst.filter(|(_, record)| record.throttled > 0)?;
        Some(CpuLimitRecord { file: file.clone(), ..record.clone() })
    }

    /// The proof of one block.
    pub fn proof(&mut self, proof: LoadProof) {
        self.proofs.push(proof);
    }

    /// The load could not be run at all.
    pub fn failed(&mut self, why: String) {
        self.failure = Some(why);
    }

    /// Whether the load was tried at all.
    pub fn was_reached(&self) -> bool {
        self.failure.is_some() || !self.proofs.is_empty()
    }

    /// Whether the condition's load is shown to have run in every block.
    pub fn load_in_force(&self) -> bool {
        self.failure.is_none()
            && !self.proofs.is_empty()
            && self.proofs.iter().all(|proof| proof.proven)
    }

    /// What has to hold for it to be the condition that it says it is.
    pub fn checks(&self) -> impl Iterator<Item = CheckRecord> {
        self.load_check().into_iter().chain(self.settings_check())
    }

    /// The check that its settings stayed; none where none were held.
    fn settings_check(&self) -> Option<CheckRecord> {
        let held = self.control.len();
        let change = self.changes.first();
        (held > 0).then(|| CheckRecord {
            name: "settings".to_owned(),
            outcome: match change {
                None => CheckOutcome::Passed,
                Some(_) => CheckOutcome::Failed,
            },
            object: format!("condition {}", self.planned.name),
            expected: format!("{held} settings throughout"),
            found: change.map_or("the same at the end of each block".to_owned(), |change| {
                format!(
                    "{} had {} where {} was held; {} such changes in all",
                    change.path.display(),
                    change.found,
                    change.expected,
                    self.changes.len()
                )
            }),
            hint: change.map(|_| "find who sets it, too".to_owned()),
        })
    }

    /// The check that its load ran; none where no load was asked for.
    fn load_check(&self) -> Option<CheckRecord> {
        if self.planned.asked.load.is_idle() {
            return None;
        }
        let load = self.load_record();
        Some(CheckRecord {
            name: "load".to_owned(),
            outcome: match (self.was_reached(), self.load_in_force()) {
                (false, _) => CheckOutcome::Unavailable,
                (true, true) => CheckOutcome::Passed,
                (true, false) => CheckOutcome::Failed,
            },
            object: format!("condition {}", self.planned.name),
            expected: format!("{} throughout", load.profile),
            found: load.why,
            hint: self.load_hint(),
        })
    }

    /// What may have kept the load from running.
    pub fn load_hint(&self) -> Option<String> {
        self.proofs.iter().find_map(LoadProof::hint)
    }

    /// The manifest's record.
    pub fn record(&self) -> ConditionRecord {
        let asked = toml::Table::try_from(&self.planned.asked).unwrap_or_default();
        let mut applied = toml::Table::new();
        if let Some(thread) = &self.applied {
            let cpus: flyball_units::CpuSet = thread.cpus.iter().copied().collect();
            applied.insert("cpus".into(), cpus.to_string().into());
            if let Some(slack) = thread.timer_slack {
                applied.insert("timer_slack_ns".into(), (slack.0 as i64).into());
            }
            if let Some(bytes) = thread.locked_bytes {
                applied.insert("locked_bytes".into(), (bytes as i64).into());
            }
            if let Some(latency) = thread.idle_latency {
                applied.insert("idle_latency_us".into(), ((latency.0 / 1000) as i64).into());
            }
            if let Some((least, most)) = thread.utilization_clamp {
                applied.insert("uclamp_min".into(), i64::from(least).into());
                applied.insert("uclamp_max".into(), i64::from(most).into());
            }
            if let Some(multiplier) = thread.response_ramp {
                applied.insert("response_ramp".into(), i64::from(multiplier).into());
            }
            applied.insert("counts_cycles".into(), thread.counts_cycles.into());
        }
        applied.extend(self.control.clone());
        ConditionRecord {
            name: self.planned.name.clone(),
            governor: self.governor.clone(),
            scheduling_asked: Some(self.planned.asked.scheduling.0.to_string()),
            scheduling_applied: self
                .applied
                .as_ref()
                .and_then(|applied| applied.scheduling)
                .map(|scheduling| scheduling.to_string()),
            placement: Some(self.planned.asked.placement.to_string()),
            degraded: self.degraded.clone(),
            asked,
            applied,
            load: Some(self.load_record()),
            cpu_limit: self.limit(),
        }
    }

    fn load_record(&self) -> LoadRecord {
        let profile = &self.planned.asked.load;
        let source =
            profile.groups.first().map_or_else(String::new, |group| group.generator.to_string());
        let mut record =
            LoadRecord { profile: profile.to_string(), source, ..LoadRecord::default() };
        if profile.is_idle() {
            record.why = "no load was asked for".to_owned();
            return record;
        }
        let observed: f64 = self.proofs.iter().map(|proof| proof.observed.as_secs_f64()).sum();
        record.cpus = self.cpus(observed);
        // A mean over the blocks that ran would hide those that did not.
        if observed > 0.0 && self.failure.is_none() {
            record.wanted_percent = Some(self.mean_of_threads(|thread| thread.wanted));
            record.achieved_percent = Some(self.mean_of_threads(|thread| thread.achieved));
        }
        record.proven = Some(self.load_in_force());
        record.why = self.why(observed);
        record
    }

    /// Mean over the load's threads, weighted by the time each block observed them.
    fn mean_of_threads(&self, value: impl Fn(&flyball_load::ThreadProof) -> f64) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for proof in &self.proofs {
            let seconds = proof.observed.as_secs_f64();
            for thread in &proof.threads {
                sum += value(thread) * seconds;
                weight += seconds;
            }
        }
        if weight > 0.0 { sum / weight } else { 0.0 }
    }

    fn cpus(&self, observed: f64) -> Vec<LoadCpuRecord> {
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for proof in &self.proofs {
            let seconds = proof.observed.as_secs_f64();
            for cpu in &proof.cpus {
                let sum = sums.entry(cpu.cpu.0).or_default();
                sum.0 += cpu.wanted * seconds;
                sum.1 += cpu.achieved * seconds;
            }
        }
        let mean = |sum: f64| sum / observed;
        sums.into_iter()
            .filter(|_| observed > 0.0)
            .map(|(cpu, (wanted, achieved))| LoadCpuRecord {
                cpu,
                wanted_percent: mean(wanted),
                achieved_percent: Some(mean(achieved)),
            })
            .collect()
    }

    fn why(&self, observed: f64) -> String {
        if let Some(failure) = &self.failure {
            return failure.clone();
        }
        if self.proofs.is_empty() {
            return "the run ended before this condition was reached".to_owned();
        }
        let failed: Vec<&LoadProof> = self.proofs.iter().filter(|proof| !proof.proven).collect();
        match failed.first() {
            None => format!(
                "the kernel accounted the load's CPU time to its threads in {} of {} blocks, \
                 {observed:.1} s in all",
                self.proofs.len(),
                self.proofs.len()
            ),
            Some(first) => {
                let reasons: Vec<String> = first.why.iter().map(ToString::to_string).collect();
                format!(
                    "in {} of {} blocks the load did not run as asked: {}",
                    failed.len(),
                    self.proofs.len(),
                    reasons.join("; ")
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Condition;

    #[test]
    fn periods_of_a_cpu_limit_add_up_over_the_blocks() {
        let mut log = ConditionLog::new(PlannedCondition {
            name: "busy".to_owned(),
            asked: Condition::default(),
            cpus: None,
        });
        let limit = |throttled| {
            let file = "/sys/fs/cgroup/box/cpu.max".to_owned();
            vec![CpuQuota { file, unlimited: "max", quota_us: 20, period_us: 100, throttled }]
        };
        log.limited(&limit(Some((1, 10))), &limit(Some((1, 14))));
        assert_eq!(log.record().cpu_limit, None, "nobody had to wait");
        log.limited(&limit(Some((1, 20))), &limit(Some((4, 26))));
        // Set meanwhile, or not counted: nothing to subtract from.
        log.limited(&[], &limit(Some((9, 90))));
        log.limited(&limit(None), &limit(Some((9, 90))));
        let record = log.record().cpu_limit.unwrap();
        assert_eq!((record.throttled, record.periods, record.period_us), (3, 10, 100));
    }
}
