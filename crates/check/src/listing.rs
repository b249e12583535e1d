//! What the machine is and what may be used on it, in two lines or whole.

use flyball_host::{Grant, Permissions, Topology};
use flyball_units::KiloHertz;
use std::fmt::Write;

/// A plain listing, one fact per line.
pub fn listing(topology: &Topology, permissions: &Permissions) -> String {
    let mut listing = Listing::default();
    machine(&mut listing, topology);
    clocks(&mut listing, topology);
    idle(&mut listing, topology);
    for permission in &permissions.all {
        let (state, command) = match &permission.grant {
            Grant::Granted => ("yes".to_owned(), None),
            Grant::Denied { reason, command } => (format!("no: {reason}"), Some(command)),
            Grant::Impossible { reason } => (format!("not here: {reason}"), None),
        };
        listing.line(permission.power.name(), &state);
        if let Some(command) = command {
            listing.line("", &format!("grant with: {command}"));
        }
    }
    for (path, errno) in &topology.unreadable {
        listing.line("unreadable", &format!("{path}: {errno}"));
    }
    listing.text
}

/// What the machine is, in two lines.
pub fn summary(topology: &Topology) -> String {
    let virtualization = &topology.virtualization;
    let processor = topology.processor.model_name.as_deref().unwrap_or("unknown processor");
    let kernel = topology.kernel.release.as_deref().unwrap_or("unknown");
    let count = topology.online.len();
    let cpus = if count == 1 { "1 CPU".to_owned() } else { format!("{count} CPUs") };
    let mut first = format!("{processor}, {cpus}, Linux {kernel}");
    if virtualization.is_virtual {
        let hypervisor = virtualization.hypervisor.as_deref().unwrap_or("a hypervisor");
        let _ = write!(first, ", a virtual machine ({hypervisor})");
    }
    let second = match topology.policies.as_slice() {
        [] => "No cpufreq: no governor can be read or set here; what is delivered can be measured"
            .to_owned(),
        policies => {
            let mut kinds: Vec<String> = policies
                .iter()
                .map(|policy| {
                    let word = |text: &Option<String>| text.clone().unwrap_or("?".to_owned());
                    let mhz = |khz: Option<KiloHertz>| {
                        khz.map_or("?".to_owned(), |khz| (khz.0 / 1000).to_string())
                    };
                    format!(
                        "{} by {}, {} to {} MHz",
                        word(&policy.governor),
                        word(&policy.driver),
                        mhz(policy.min_khz),
                        mhz(policy.max_khz)
                    )
                })
                .collect();
            kinds.sort();
            kinds.dedup();
            let domains = if policies.len() == 1 { "domain" } else { "domains" };
            format!("{} clock {domains}: {}", policies.len(), kinds.join("; "))
        }
    };
    format!("{first}\n{second}\n")
}

#[derive(Default)]
struct Listing {
    text: String,
}

impl Listing {
    fn line(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.text, "{name:<22}{value}");
    }

    fn maybe(&mut self, name: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.line(name, &value.to_string());
        }
    }
}

fn machine(listing: &mut Listing, topology: &Topology) {
    let virtualization = &topology.virtualization;
    listing.maybe("processor", topology.processor.model_name.as_ref());
    listing.maybe("kernel", topology.kernel.release.as_ref());
    let hypervisor = virtualization.hypervisor.as_deref().unwrap_or("unknown hypervisor");
    let evidence = virtualization.evidence.join("; ");
    listing.line(
        "virtualisation",
        &match virtualization.is_virtual {
            true => format!("{hypervisor} ({evidence})"),
            false => "none found".to_owned(),
        },
    );
    listing.maybe("memory", topology.memory_bytes.map(|bytes| format!("{} MiB", bytes >> 20)));
    listing.line("CPUs online", &topology.online.to_string());
    for (name, cpus) in [("isolated", &topology.isolated), ("nohz_full", &topology.nohz_full)] {
        if !cpus.is_empty() {
            listing.line(name, &cpus.to_string());
        }
    }
    for kind in &topology.core_types {
        listing.line("core type", &format!("{} = {} ({})", kind.name, kind.cpus, kind.evidence));
    }
    let on_off = |on: bool| if on { "on" } else { "off" };
    listing.maybe("SMT", topology.smt_active.map(on_off));
    listing.maybe("clock source", topology.kernel.clocksource.as_ref());
    if let (Some(runtime), Some(period)) =
        (topology.kernel.rt_runtime_us, topology.kernel.rt_period_us)
    {
        let text = match runtime {
            -1 => "off".to_owned(),
            _ => format!("{runtime} of {period} us"),
        };
        listing.line("real-time throttling", &text);
    }
    let sensors = topology.temperatures.len();
    listing.line("temperature sensors", &sensors.to_string());
    listing.line("energy counters", &topology.energy.len().to_string());
}

fn clocks(listing: &mut Listing, topology: &Topology) {
    if topology.policies.is_empty() {
        listing.line("cpufreq", "none: no governor can be read or set here");
    }
    for policy in &topology.policies {
        let mhz =
            |khz: Option<KiloHertz>| khz.map_or("?".to_owned(), |khz| (khz.0 / 1000).to_string());
        listing.line(
            &format!("policy{}", policy.id),
            &format!(
                "CPUs {}, driver {}, governor {}, {} to {} MHz (limits {} to {})",
                policy.cpus,
                policy.driver.as_deref().unwrap_or("?"),
                policy.governor.as_deref().unwrap_or("?"),
                mhz(policy.hardware_min_khz),
                mhz(policy.hardware_max_khz),
                mhz(policy.min_khz),
                mhz(policy.max_khz),
            ),
        );
        listing
            .maybe("", policy.energy_performance_preference.as_ref().map(|p| format!("EPP {p}")));
        let latency = policy.transition_latency;
        listing.maybe("", latency.map(|ns| format!("declared transition latency {} ns", ns.0)));
    }
    let scaling = &topology.scaling;
    let on_off = |on: bool| if on { "on" } else { "off" };
    listing.maybe("boost", scaling.boost.or(scaling.no_turbo.map(|off| !off)).map(on_off));
    listing.maybe("intel_pstate", scaling.intel_pstate.as_ref());
    listing.maybe("amd_pstate", scaling.amd_pstate.as_ref());
}

fn idle(listing: &mut Listing, topology: &Topology) {
    let driver = topology.idle.driver.as_deref().unwrap_or("none");
    let governor = topology.idle.governor.as_deref().unwrap_or("none");
    listing.line("idle", &format!("driver {driver}, governor {governor}"));
    for group in &topology.idle.groups {
        for state in &group.states {
            let disabled = if state.disabled { ", disabled" } else { "" };
            listing.line(
                "",
                &format!(
                    "CPUs {} {}: exit {} us, residency {} us{disabled}",
                    group.cpus, state.name, state.latency_us, state.residency_us
                ),
            );
        }
    }
}
