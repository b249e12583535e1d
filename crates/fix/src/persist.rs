//! How a change is made to stay: by command, by systemd, on the kernel's command line. Printed, never
//! done.

use crate::change::{Candidate, Change};
use flyball_host::Topology;

const CPU: &str = "/sys/devices/system/cpu";

impl Candidate {
    /// The lines that make it stay on this machine, with comments.
    pub fn persistent(&self, topology: &Topology) -> Vec<String> {
        let mut lines = Vec::new();
        for change in &self.changes {
            lines.push(format!("# {change}"));
            lines.extend(change.persistent(topology));
        }
        lines
    }
}

impl Change {
    fn persistent(&self, topology: &Topology) -> Vec<String> {
        match self {
            Change::Ramp { multiplier } => vec![
                "rules of response times (/etc/flyball/qos.toml, unit flyball-qos.service):"
                    .to_owned(),
                format!("  [[rule]] process = \"CMD\", ramp = {multiplier}      # one key a line"),
            ],
            Change::Uclamp { least } => vec![
                format!(
                    "uclampset -m {least} -- CMD                 # util-linux; or in the program: sched_setattr"
                ),
                format!("systemd unit: ExecStart=/usr/bin/uclampset -m {least} -- CMD"),
                format!(
                    "a whole cgroup: echo {:.2} > /sys/fs/cgroup/GROUP/cpu.uclamp.min",
                    f64::from(*least) / 10.24
                ),
            ],
            Change::MinFrequency { policy, frequency, .. } => {
                setting(*policy, "scaling_min_freq", &frequency.0.to_string())
            }
            Change::IdleLatency { us } => {
                let mut lines = vec![format!(
                    "in the program: write {us} to /dev/cpu_dma_latency, and keep it open"
                )];
                if *us == 0 {
                    lines.push("kernel command line: cpuidle.off=1 (all CPUs, always)".to_owned());
                }
                let states = topology.idle.groups.iter().flat_map(|group| &group.states);
                let mut deeper: Vec<u32> = states
                    .filter(|state| state.latency_us > u64::from(*us))
                    .map(|state| state.index)
                    .collect();
                deeper.sort_unstable();
                deeper.dedup();
                lines.extend(deeper.into_iter().map(|index| {
                    format!("echo 1 | sudo tee {CPU}/cpu*/cpuidle/state{index}/disable")
                }));
                lines
            }
            Change::Preference { policy, name, .. } => {
                setting(*policy, "energy_performance_preference", name)
            }
            Change::Placement { cpu } => vec![
                format!("taskset -c {} CMD", cpu.0),
                format!("systemd unit: CPUAffinity={}", cpu.0),
                format!(
                    "keep others away: AllowedCPUs= in their slices, or isolcpus={} on the kernel's command line",
                    cpu.0
                ),
            ],
            Change::Governor { policy, name, .. } => {
                let mut lines = setting(*policy, "scaling_governor", name);
                if topology.policies.len() == 1 {
                    lines.push(format!("kernel command line: cpufreq.default_governor={name}"));
                }
                lines
            }
        }
    }
}

fn setting(policy: u32, name: &str, value: &str) -> Vec<String> {
    let path = format!("{CPU}/cpufreq/policy{policy}/{name}");
    vec![
        format!("echo {value} | sudo tee {path}"),
        format!("/etc/tmpfiles.d/flyball.conf: w {path} - - - - {value}      # at each boot"),
    ]
}
