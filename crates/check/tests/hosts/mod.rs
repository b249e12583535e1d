//! Machines written down by hand after the documented layouts of sysfs and /proc, in the form that
//! `RecordedHost::from_listing` reads; and two recorded virtual boards.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod machines;

use flyball_check::{Audit, Facts, Finding, Id, Severity, audit};
use flyball_host::manifest::{Calls, Manifest};
use flyball_host::{Host, RecordedHost};
use flyball_units::{CpuSet, Nanos};
use std::fmt::{Display, Write};

pub const CPU: &str = "/sys/devices/system/cpu";

/// A machine under construction.
#[derive(Clone, Default)]
pub struct Listing(pub String);

impl Listing {
    /// `cpus` CPUs, `threads` per core, numbered as Linux does: core by core, then the siblings.
    pub fn new(cpus: u32, threads: u32) -> Listing {
        let last = cpus - 1;
        let cores = cpus / threads;
        let mut listing = Listing::default()
            .file(format!("{CPU}/online"), format!("0-{last}"))
            .file(format!("{CPU}/possible"), format!("0-{last}"))
            .file(format!("{CPU}/isolated"), "")
            .file(format!("{CPU}/smt/active"), u32::from(threads > 1))
            .file(format!("{CPU}/smt/control"), if threads > 1 { "on" } else { "notsupported" });
        for cpu in 0..cpus {
            let core = cpu % cores;
            let siblings: Vec<String> =
                (0..threads).map(|thread| (core + thread * cores).to_string()).collect();
            let topology = format!("{CPU}/cpu{cpu}/topology");
            listing = listing
                .file(format!("{topology}/core_id"), core)
                .file(format!("{topology}/physical_package_id"), 0)
                .file(format!("{topology}/core_cpus_list"), siblings.join(","));
        }
        listing
    }

    /// A line of a file.
    pub fn file(mut self, path: impl Display, text: impl Display) -> Listing {
        writeln!(self.0, "{path} = {text}").unwrap();
        self
    }

    /// Several files of one folder.
    pub fn files(self, folder: impl Display, files: &[(&str, &str)]) -> Listing {
        files
            .iter()
            .fold(self, |listing, (name, text)| listing.file(format!("{folder}/{name}"), text))
    }

    /// One cpufreq policy per list of CPUs, all with the same files.
    pub fn policies(mut self, lists: &[&[u32]], files: &[(&str, &str)]) -> Listing {
        for cpus in lists {
            let folder = format!("{CPU}/cpufreq/policy{}", cpus[0]);
            let words: Vec<String> = cpus.iter().map(u32::to_string).collect();
            self = self
                .file(format!("{folder}/related_cpus"), words.join(" "))
                .file(format!("{folder}/affected_cpus"), words.join(" "))
                .files(folder, files);
        }
        self
    }

    /// Idle states (name, exit latency, residency) of the CPUs `0..cpus`.
    pub fn idle(
        mut self,
        cpus: u32,
        driver: &str,
        governor: &str,
        states: &[(&str, u32, u32)],
    ) -> Listing {
        self = self
            .file(format!("{CPU}/cpuidle/current_driver"), driver)
            .file(format!("{CPU}/cpuidle/current_governor"), governor);
        for cpu in 0..cpus {
            for (index, (name, latency, residency)) in states.iter().enumerate() {
                let folder = format!("{CPU}/cpu{cpu}/cpuidle/state{index}");
                self = self
                    .file(format!("{folder}/name"), name)
                    .file(format!("{folder}/latency"), latency)
                    .file(format!("{folder}/residency"), residency)
                    .file(format!("{folder}/disable"), 0);
            }
        }
        self
    }

    /// The same file for the CPUs `0..cpus`.
    pub fn per_cpu(self, cpus: u32, name: &str, text: impl Display) -> Listing {
        (0..cpus).fold(self, |listing, cpu| listing.file(format!("{CPU}/cpu{cpu}/{name}"), &text))
    }

    /// Processor: vendor, family, model, name.
    pub fn processor(mut self, vendor: &str, family: u32, model: u32, name: &str) -> Listing {
        let lines = [
            "processor : 0".to_owned(),
            format!("vendor_id : {vendor}"),
            format!("cpu family : {family}"),
            format!("model : {model}"),
            format!("model name : {name}"),
            "stepping : 1".to_owned(),
            "flags : fpu tsc aperfmperf".to_owned(),
        ];
        for line in lines {
            self = self.file("/proc/cpuinfo", line);
        }
        self
    }

    /// A usual kernel on hardware: nothing remarkable.
    pub fn kernel(self, release: &str) -> Listing {
        self.files(
            "/proc/sys/kernel",
            &[
                ("osrelease", release),
                ("sched_rt_runtime_us", "950000"),
                ("sched_rt_period_us", "1000000"),
                ("nmi_watchdog", "1"),
                ("soft_watchdog", "1"),
                ("watchdog_thresh", "10"),
                ("numa_balancing", "0"),
            ],
        )
        .file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc")
        .file(
            "/sys/devices/system/clocksource/clocksource0/available_clocksource",
            "tsc hpet acpi_pm",
        )
        .file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
        .file("/proc/meminfo", "MemTotal: 16000000 kB")
        .file("/proc/meminfo", "SwapTotal: 0 kB")
        .file("/proc/loadavg", "0.10 0.10 0.10 1/400 4711")
        .file("/proc/stat", "cpu0 1000 0 1000 98000 0 0 0 0 0 0")
        .file("/proc/1/comm", "systemd")
        .file("/proc/1/fd/0", "")
    }

    /// A process of that name.
    pub fn process(self, pid: u32, name: &str) -> Listing {
        self.file(format!("/proc/{pid}/comm"), name).file(format!("/proc/{pid}/fd/0"), "")
    }

    /// Replaces every `old`; it must be there.
    pub fn but(self, old: &str, new: &str) -> Listing {
        assert!(self.0.contains(old), "no {old:?}");
        Listing(self.0.replace(old, new))
    }

    /// The machine.
    pub fn host(&self) -> RecordedHost {
        RecordedHost::from_listing(&self.0).unwrap()
    }

    /// Its audit, unprobed.
    pub fn audit(&self) -> Audit {
        judge(&self.host())
    }
}

/// The audit of a machine, unprobed.
pub fn judge(host: &dyn Host) -> Audit {
    audit(&Facts::gather(host).unwrap(), None)
}

/// The same machine, seen from a thread that may use `cpus` only, with this timer slack.
pub fn from_thread(host: RecordedHost, cpus: &str, slack: Nanos) -> RecordedHost {
    let affinity: CpuSet = cpus.parse().unwrap();
    let calls = Calls { affinity: Some(affinity), timer_slack: slack, ..Calls::default() };
    host.with_manifest(Manifest { calls, ..Manifest::default() })
}

/// `SEVERITY ID` of everything but what is fine, in the order of the audit.
pub fn found(audit: &Audit) -> Vec<String> {
    let worth = audit.findings.iter().filter(|finding| finding.severity > Severity::Ok);
    worth.map(|finding| format!("{} {}", finding.severity.name(), finding.id)).collect()
}

/// The only finding of one kind.
pub fn one(audit: &Audit, id: Id) -> &Finding {
    let mut all = audit.of(id);
    let first = all.next().unwrap_or_else(|| panic!("no {id}"));
    assert!(all.next().is_none(), "several of {id}");
    first
}

pub fn command(finding: &Finding) -> &str {
    finding.fix.as_ref().and_then(|fix| fix.command.as_deref()).unwrap_or("")
}

pub fn lasting(finding: &Finding) -> &str {
    finding.fix.as_ref().and_then(|fix| fix.persistent.as_deref()).unwrap_or("")
}
