//! Once a second: what cpufreq claims, and what the hypervisor took.

use crate::protocol::windows::trial::TrialLabels;
use flyball_host::{CpuTimes, Host};
use flyball_run::{FrequencySample, Note, RunWriter};
use flyball_units::{CpuId, Nanos};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Time between two rounds.
const EVERY: Nanos = Nanos::from_secs(1);

/// Where Linux keeps the clock domains.
const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";

/// Samples the machine as a whole, beside the windows.
pub(super) struct Housekeeper {
    host: Arc<dyn Host>,
    policies: Vec<(String, PathBuf)>,
    labels: TrialLabels,
    last_round: Option<Nanos>,
    cpu_times: Option<CpuTimes>,
    steal: BTreeMap<CpuId, Nanos>,
}

impl Housekeeper {
    /// `claimed`: whether to sample clock domains. Reading `scaling_cur_freq` can interrupt the
    /// domain's CPUs with some drivers.
    pub(super) fn new(host: Arc<dyn Host>, claimed: bool) -> Housekeeper {
        let policies = if claimed { policies(host.as_ref()) } else { Vec::new() };
        Housekeeper {
            host,
            policies,
            labels: TrialLabels::default(),
            last_round: None,
            cpu_times: None,
            steal: BTreeMap::new(),
        }
    }

    /// What runs from now on.
    pub(super) fn begin(&mut self, labels: &TrialLabels) {
        self.labels = labels.clone();
    }

    /// Time taken by the hypervisor so far, of the CPUs that lost any.
    pub(super) fn steal(&self) -> Vec<(CpuId, Nanos)> {
        self.steal.iter().map(|(&cpu, &time)| (cpu, time)).collect()
    }

    /// Does a round when one is due.
    pub(super) fn tick(&mut self, writer: &mut RunWriter) -> flyball_run::Result<()> {
        let now = self.host.now();
        if self.last_round.is_some_and(|last| now.since(last) < EVERY) {
            return Ok(());
        }
        self.last_round = Some(now);
        for (domain, folder) in &self.policies {
            if let Some(row) = self.claimed(domain, folder) {
                writer.frequency(&row)?;
            }
        }
        self.steal_round(now).map_or(Ok(()), |note| writer.note(&note))
    }

    /// What one clock domain claims now; nothing where it says nothing (its CPUs are offline).
    fn claimed(&self, domain: &str, folder: &Path) -> Option<FrequencySample> {
        let read = |file: &str| self.host.read(&folder.join(file)).ok();
        let claimed_khz = read("scaling_cur_freq")?.trim().parse().ok()?;
        Some(FrequencySample {
            t_ns: self.host.now().0,
            domain: domain.to_owned(),
            claimed_khz: Some(claimed_khz),
            delivered_khz: None,
            source: "scaling_cur_freq".to_owned(),
            condition: Some(self.labels.condition.clone()),
            trial: Some(self.labels.trial),
            governor: read("scaling_governor").map(|governor| governor.trim().to_owned()),
        })
    }

    /// A remark on what the hypervisor took since the last round, if anything.
    fn steal_round(&mut self, now: Nanos) -> Option<Note> {
        let times = self.host.cpu_times().ok()?;
        let earlier = self.cpu_times.replace(times.clone())?;
        let delta = times.since(&earlier);
        let lost: Vec<(CpuId, Nanos)> = delta
            .cpus
            .iter()
            .filter(|(_, time)| time.steal > 0)
            .map(|&(cpu, time)| (cpu, delta.duration(time.steal)))
            .collect();
        for &(cpu, time) in &lost {
            let total = self.steal.entry(cpu).or_default();
            *total = *total + time;
        }
        // One percent of a second shows in latencies; less is worth a remark only.
        let worst = lost.iter().map(|(_, time)| *time).max().unwrap_or_default();
        let severity = if worst >= Nanos::from_millis(10) { "warning" } else { "info" };
        let list: Vec<String> =
            lost.iter().map(|(cpu, time)| format!("{cpu} {} ms", time.0 / 1_000_000)).collect();
        (!list.is_empty()).then(|| Note {
            t_ns: Some(now.0),
            severity: severity.to_owned(),
            object: format!("trial {}", self.labels.trial),
            message: format!("steal: the hypervisor took {} in the last second", list.join(", ")),
            hint: None,
        })
    }
}

/// The clock domains: name and folder.
fn policies(host: &dyn Host) -> Vec<(String, PathBuf)> {
    let root = Path::new(POLICIES);
    let names = host.list(root).unwrap_or_default();
    names
        .into_iter()
        .filter(|name| name.starts_with("policy"))
        .map(|name| (name.clone(), root.join(name)))
        .collect()
}
