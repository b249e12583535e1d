//! What a CORTEX recording says, and does not say, about machine, load and clocks.

use crate::cortex_line::{Facts, SystemInfo};
use flyball_run::manifest::{
    ClockRecord, ConditionRecord, DomainRecord, LoadRecord, Machine, WorkloadRecord,
};
use flyball_run::run::{Run, Warning};

/// Words in a condition's name that say that background load was asked for.
const LOAD_WORDS: [&str; 7] = ["medium", "heavy", "light", "boosted", "stress", "load", "loaded"];

/// Collects workloads and machine from all files.
#[derive(Default)]
pub(super) struct Described {
    workloads: Vec<Facts>,
    system: Option<SystemInfo>,
    /// The first file whose system is another one.
    other_system: Option<String>,
    changed: Option<(String, String)>,
}

impl Described {
    pub fn add(&mut self, facts: &[Facts], system: Option<SystemInfo>, file: &str) {
        for fact in facts {
            match self.workloads.iter().find(|known| known.workload == fact.workload) {
                None => self.workloads.push(fact.clone()),
                Some(known) if same_parameters(known, fact) => {}
                Some(_) => {
                    self.changed.get_or_insert((fact.workload.clone(), file.to_owned()));
                }
            }
        }
        match (&mut self.system, system) {
            (slot @ None, found) => *slot = found,
            (Some(known), Some(found))
                if (&known.os, &known.cpu, known.cpu_count)
                    != (&found.os, &found.cpu, found.cpu_count) =>
            {
                self.other_system.get_or_insert(file.to_owned());
            }
            _ => {}
        }
    }

    pub fn finish(self, run: &mut Run) {
        run.manifest.workloads = self.workloads.iter().map(workload).collect();
        match self.system {
            Some(system) => run.manifest.machine = Some(machine(system, run)),
            None => run.warnings.push(Warning {
                object: "system_info".to_owned(),
                message: "no line describes the machine: its CPU and kernel are unknown".to_owned(),
                hint: None,
            }),
        }
        if let Some(object) = self.other_system {
            run.warnings.push(Warning {
                object,
                message: "recorded on another machine or kernel than the files before".to_owned(),
                hint: Some("import each machine's recording by itself".to_owned()),
            });
        }
        if let Some((workload, object)) = self.changed {
            run.warnings.push(Warning {
                object,
                message: format!("the parameters of {workload} differ between the files"),
                hint: Some("conditions are comparable only with equal parameters".to_owned()),
            });
        }
    }
}

fn same_parameters(a: &Facts, b: &Facts) -> bool {
    let of = |facts: &Facts| (facts.window, facts.hop, facts.channels, facts.rate_hz, facts.dtype);
    of(a) == of(b) && a.adapter == b.adapter
}

fn workload(facts: &Facts) -> WorkloadRecord {
    let mut params = toml::Table::new();
    let named = [
        ("window_samples", facts.window),
        ("hop_samples", facts.hop),
        ("channels", facts.channels),
        ("rate_hz", facts.rate_hz),
        ("dtype", facts.dtype),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            params.insert(name.to_owned(), toml::Value::Integer(i64::from(value)));
        }
    }
    if let Some(adapter) = &facts.adapter {
        params.insert("adapter".to_owned(), toml::Value::String(adapter.clone()));
    }
    let period_ns = match (facts.hop, facts.rate_hz) {
        (Some(hop), Some(rate)) if rate > 0 => {
            Some(u64::from(hop) * 1_000_000_000 / u64::from(rate))
        }
        _ => None,
    };
    WorkloadRecord {
        name: facts.workload.clone(),
        kernel: facts.workload.clone(),
        params,
        deadline_ns: Some(facts.deadline_ns),
        period_ns,
        ..WorkloadRecord::default()
    }
}

fn machine(system: SystemInfo, run: &Run) -> Machine {
    let known = |text: Option<String>| text.filter(|text| !text.is_empty() && text != "Unknown");
    let mut domains: Vec<DomainRecord> = Vec::new();
    for name in run.tables.frequency.domain.names() {
        domains.push(DomainRecord { name: name.to_string(), ..DomainRecord::default() });
    }
    // The kernels ran on the device: of another machine than the harness's only that is told.
    let (host, device) = (known(system.hostname), known(system.device_hostname));
    if device.is_some() && device != host {
        return Machine {
            cpu_model: known(system.device_cpu),
            kernel: known(system.device_os),
            hostname: device,
            ..Machine::default()
        };
    }
    Machine {
        cpu_model: known(system.cpu),
        kernel: known(system.os),
        hostname: host,
        cpu_count: system.cpu_count,
        memory_bytes: system.total_ram_mb.and_then(|mb| mb.checked_mul(1024 * 1024)),
        temperature_celsius: system.thermal_celsius,
        domains,
        ..Machine::default()
    }
}

/// A condition from its folder's name and its log. Nothing in such a recording proves a load.
pub(super) fn condition(name: &str, governor: Option<String>) -> ConditionRecord {
    let word = name.split(['-', '_', ',', ' ', '#']).find(|word| LOAD_WORDS.contains(word));
    let idle = name.split(['-', '_', ',', ' ', '#']).any(|word| word == "idle");
    let load = match word {
        Some(word) => Some(LoadRecord {
            profile: word.to_owned(),
            source: "unknown".to_owned(),
            proven: Some(false),
            why: "nothing in the data shows that the load ran".to_owned(),
            ..LoadRecord::default()
        }),
        None => idle.then(|| LoadRecord {
            profile: "idle".to_owned(),
            source: "none".to_owned(),
            ..LoadRecord::default()
        }),
    };
    ConditionRecord { name: name.to_owned(), governor, load, ..ConditionRecord::default() }
}

/// Which clocks the tables use, and that nothing links them; a frequency that stands in the windows'
/// own lines is on their clock.
pub(super) fn clocks(run: &mut Run, claims_of_windows: bool) {
    let clock = |table: &str, clock: &str, other: Option<&str>| ClockRecord {
        table: table.to_owned(),
        clock: clock.to_owned(),
        offset_to: other.map(str::to_owned),
        ..ClockRecord::default()
    };
    if run.tables.frequency.is_empty() {
        run.manifest.clocks = vec![clock("windows", "monotonic", None)];
        return;
    }
    if claims_of_windows {
        run.manifest.clocks =
            ["windows", "frequency"].map(|table| clock(table, "monotonic", None)).to_vec();
        return;
    }
    run.manifest.clocks = vec![
        clock("windows", "monotonic", Some("realtime")),
        clock("frequency", "realtime", Some("monotonic")),
    ];
}
