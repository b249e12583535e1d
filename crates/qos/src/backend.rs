//! What this kernel and its driver have for it, with the reason.

use crate::{By, QosError};
use flyball_control::ControlError;
use flyball_host::Host;
use flyball_units::Mismatch;
use serde::Serialize;
use std::path::Path;

/// There where the kernel has utilisation clamps (CONFIG_UCLAMP_TASK): the bound of all lower ones.
const BOUND: &str = "/proc/sys/kernel/sched_util_clamp_min";
const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
const GOVERNOR: &str = "schedutil";
/// The lower limit of a policy's frequency.
const LIMIT: &str = "scaling_min_freq";
/// Governors whose frequency is the highest, or somebody's own.
const FIXED: [&str; 2] = ["performance", "userspace"];

/// How it is done here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Backend {
    /// Its name.
    pub name: &'static str,
    /// Why this one.
    pub reason: String,
    /// What of it does not work as it should here.
    pub notes: Vec<String>,
}

/// Looks what there is for this way.
///
/// # Errors
/// Nothing of use, with what can be had instead.
pub fn backend(host: &dyn Host, by: By) -> Result<Backend, QosError> {
    let release = text(host, "/proc/sys/kernel/osrelease").unwrap_or_default();
    let unsupported = |slip: Mismatch| Err(QosError::Unsupported(slip));
    let policies = policies(host);
    if policies.is_empty() {
        return unsupported(
            Mismatch::value("cpufreq policies", "none: the kernel has no say in the frequency")
                .hint("in a virtual machine, the host decides"),
        );
    }
    match by {
        By::Clamps => clamps(host, &release, &policies),
        By::SchedExt => sched_ext(host, &release, &policies),
        By::Limits => limits(host, &release, &policies),
    }
}

/// By clamps of threads.
fn clamps(host: &dyn Host, release: &str, policies: &[Policy]) -> Result<Backend, QosError> {
    let unsupported = |slip: Mismatch| Err(QosError::Unsupported(slip));
    let Some(bound) = text(host, BOUND) else {
        return unsupported(
            Mismatch::value(
                "a kernel with utilisation clamps (CONFIG_UCLAMP_TASK)",
                format!("Linux {release} without them"),
            )
            .hint("let the lower limit of its CPU follow the thread, as root"),
        );
    };
    let others = others(policies);
    if others.len() == policies.len() {
        let slip = Mismatch::value(
            "the governor schedutil, which alone heeds utilisation clamps",
            others.join(", "),
        );
        return unsupported(match policies.iter().any(|policy| policy.offers) {
            true => slip.hint("set the governor for as long as the program runs"),
            false => slip.hint(
                "this driver chooses the frequency itself, for a CPU and not for a task: let the lower limit \
                 of its CPU follow the thread, as root",
            ),
        });
    }
    let mut notes: Vec<String> =
        others.iter().map(|other| format!("{other}, which heeds no clamp")).collect();
    match bound.parse::<u32>() {
        Ok(0) => {
            return unsupported(
                Mismatch::value("a bound of lower clamps above 0", format!("{BOUND} is 0"))
                    .hint(format!("echo 1024 | sudo tee {BOUND}")),
            );
        }
        Ok(bound) if bound < 1024 => {
            notes.push(format!("no clamp counts for more than {bound} of 1024: {BOUND}"));
        }
        _ => {}
    }
    if !is_invariant(host) {
        notes.push(
            "without frequency invariance (APERF and MPERF) a clamp acts relative to the frequency \
             that there is, so that small ones do nothing"
                .to_owned(),
        );
    }
    let reason = format!("Linux {release} has utilisation clamps, and {GOVERNOR} heeds them");
    Ok(Backend { name: "uclamp ramp", reason, notes })
}

/// Policies without schedutil, as people are told.
fn others(policies: &[Policy]) -> Vec<String> {
    let others = policies.iter().filter(|policy| policy.governor != GOVERNOR);
    others.map(|policy| format!("{} has {}", policy.name, policy.governor)).collect()
}

/// The kernel knows how fast a CPU ran from APERF and MPERF; what is asked for is relative to that.
fn is_invariant(host: &dyn Host) -> bool {
    let processor = text(host, "/proc/cpuinfo").unwrap_or_default();
    let flags = processor.lines().find(|line| line.starts_with("flags"));
    flags.is_none_or(|flags| flags.split_ascii_whitespace().any(|flag| flag == "aperfmperf"))
}

/// By a program in the kernel.
fn sched_ext(host: &dyn Host, release: &str, policies: &[Policy]) -> Result<Backend, QosError> {
    let unsupported = |slip: Mismatch| Err(QosError::Unsupported(slip));
    flyball_bpf::class_is_free(host).map_err(QosError::Unsupported)?;
    let others = others(policies);
    if others.len() == policies.len() {
        return unsupported(Mismatch::value(
            "the governor schedutil, which alone heeds what BPF schedulers ask for",
            others.join(", "),
        ));
    }
    let mut notes: Vec<String> =
        others.iter().map(|other| format!("{other}, which heeds no BPF scheduler")).collect();
    if !is_invariant(host) {
        notes.push(
            "without frequency invariance (APERF and MPERF) it acts relative to the frequency that there \
             is, so that little does nothing"
                .to_owned(),
        );
    }
    notes.push(
        "by frequency alone: no thread comes to a faster core by it. For pinned threads, and CPUs that \
         are all the same"
            .to_owned(),
    );
    let reason =
        format!("Linux {release} has BPF schedulers; one without a task asks {GOVERNOR} for more");
    Ok(Backend { name: "sched_ext ramp", reason, notes })
}

/// By the lower limit of the CPU on which a thread runs.
fn limits(host: &dyn Host, release: &str, policies: &[Policy]) -> Result<Backend, QosError> {
    let unsupported = |slip: Mismatch| Err(QosError::Unsupported(slip));
    let (rising, fixed): (Vec<_>, Vec<_>) = policies.iter().partition(|policy| policy.can_rise());
    let Some(first) = rising.first() else {
        let why = |policy: &&Policy| format!("{}: {}", policy.name, policy.why_not());
        let all: Vec<String> = fixed.iter().map(why).collect();
        return unsupported(Mismatch::value(
            "a policy whose frequency its lower limit can raise",
            all.join(", "),
        ));
    };
    let path = format!("{CPUFREQ}/{}/{LIMIT}", first.name);
    let writable = host.writable(Path::new(&path));
    if !writable.map_err(QosError::host("asking for permission"))? {
        return Err(ControlError::Permission { path: path.into() }.into());
    }
    let mut notes: Vec<String> = fixed
        .iter()
        .map(|policy| {
            format!("{}: {}: its lower limit raises nothing", policy.name, policy.why_not())
        })
        .collect();
    notes.push(
        "for a CPU and not for a thread: whatever else runs on the CPUs of the same clock has that \
         frequency, too, and no thread comes to a faster core by it"
            .to_owned(),
    );
    let reason = match (&first.driver, first.governor.as_str()) {
        (_, GOVERNOR) => {
            format!("Linux {release}: the lowest frequency that {GOVERNOR} may choose")
        }
        (Some(driver), _) if !first.offers => {
            format!("Linux {release}: the lowest frequency that {driver} may choose")
        }
        (_, other) => format!("Linux {release}: the lowest frequency that {other} may choose"),
    };
    Ok(Backend { name: "limits ramp", reason, notes })
}

struct Policy {
    name: String,
    governor: String,
    driver: Option<String>,
    /// Lower and upper limit, kHz.
    range: Option<(u64, u64)>,
    /// Whether it could have [`GOVERNOR`].
    offers: bool,
}

impl Policy {
    /// Whether its frequency can be below its upper limit, and above its lower one.
    fn can_rise(&self) -> bool {
        self.range.is_some_and(|(least, most)| least < most)
            && !FIXED.contains(&self.governor.as_str())
    }

    /// Why not.
    fn why_not(&self) -> String {
        match self.range {
            None => "no limits".to_owned(),
            Some((least, most)) if least >= most => format!("limits {least} to {most} kHz"),
            Some(_) => format!("governor {}", self.governor),
        }
    }
}

fn policies(host: &dyn Host) -> Vec<Policy> {
    let names = host.list(Path::new(CPUFREQ)).unwrap_or_default();
    let of = |name: String| {
        let file = |file: &str| text(host, &format!("{CPUFREQ}/{name}/{file}"));
        let governor = file("scaling_governor")?;
        let available = file("scaling_available_governors").unwrap_or_default();
        let offers = available.split_ascii_whitespace().any(|offered| offered == GOVERNOR);
        let khz = |name: &str| file(name)?.parse().ok();
        let range = khz(LIMIT).zip(khz("scaling_max_freq"));
        let driver = file("scaling_driver");
        Some(Policy { name, governor, driver, range, offers })
    };
    names.into_iter().filter(|name| name.starts_with("policy")).filter_map(of).collect()
}

fn text(host: &dyn Host, path: &str) -> Option<String> {
    host.read(Path::new(path)).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;
    use flyball_units::Diagnostic;

    const CLAMPS: &str = "/proc/sys/kernel/sched_util_clamp_min = 1024\n";

    fn machine(governor: &str, more: &str) -> RecordedHost {
        let policy = format!("{CPUFREQ}/policy0");
        let listing = format!(
            "/proc/sys/kernel/osrelease = 7.3.4\n{policy}/scaling_governor = {governor}\n\
             {policy}/scaling_available_governors = performance schedutil\n{more}"
        );
        RecordedHost::from_listing(&listing).unwrap()
    }

    fn refused(host: &RecordedHost) -> (String, String) {
        let error = backend(host, By::Clamps).unwrap_err();
        (error.to_string(), error.hint().unwrap_or_default())
    }

    #[test]
    fn clamps_under_schedutil_are_what_it_takes() {
        let found = backend(&machine("schedutil", CLAMPS), By::Clamps).unwrap();
        assert_eq!((found.name, found.notes.len()), ("uclamp ramp", 0));
        assert_eq!(found.reason, "Linux 7.3.4 has utilisation clamps, and schedutil heeds them");
    }

    #[test]
    fn what_is_missing_is_named_with_what_can_be_had() {
        let (error, hint) = refused(&machine("schedutil", ""));
        assert!(error.contains("CONFIG_UCLAMP_TASK") && error.contains("7.3.4"), "{error}");
        assert!(hint.contains("lower limit"), "{hint}");
        let (error, hint) = refused(&machine("powersave", CLAMPS));
        assert!(error.contains("schedutil") && error.contains("policy0 has powersave"), "{error}");
        assert!(hint.contains("set the governor"), "{hint}");
        let none = RecordedHost::from_listing(CLAMPS).unwrap();
        assert!(refused(&none).0.contains("no say in the frequency"));
        let (error, hint) = refused(&machine("schedutil", &CLAMPS.replace("1024", "0")));
        assert!(error.contains("is 0") && hint.starts_with("echo 1024"), "{error} {hint}");
    }

    #[test]
    fn what_does_not_work_as_it_should_is_noted() {
        let more = format!(
            "{}/proc/cpuinfo = flags : fpu tsc\n{CPUFREQ}/policy2/scaling_governor = performance\n",
            CLAMPS.replace("1024", "512")
        );
        let notes = backend(&machine("schedutil", &more), By::Clamps).unwrap().notes;
        assert!(notes[0].contains("policy2 has performance"), "{notes:?}");
        assert!(notes[1].contains("512 of 1024") && notes[2].contains("invariance"), "{notes:?}");
    }

    #[test]
    fn a_lower_limit_does_it_for_root_where_the_frequency_can_rise() {
        let range = |least: u32, most: u32| {
            format!(
                "{CPUFREQ}/policy0/{LIMIT} = {least}\n{CPUFREQ}/policy0/scaling_max_freq = {most}\n\
                 {CPUFREQ}/policy0/scaling_driver = intel_pstate\n"
            )
        };
        let found = |governor, range: &str, root| {
            let mut manifest = flyball_host::manifest::Manifest::default();
            manifest.calls.writable.insert(CPUFREQ.into(), root);
            backend(&machine(governor, range).with_manifest(manifest), By::Limits)
        };
        let there = found("ondemand", &range(600, 900), true).unwrap();
        assert_eq!((there.name, there.notes.len()), ("limits ramp", 1));
        assert_eq!(there.reason, "Linux 7.3.4: the lowest frequency that ondemand may choose");
        let error = found("ondemand", &range(600, 900), false).unwrap_err();
        assert_eq!(error.kind(), flyball_units::ErrorKind::Permission, "{error}");
        for (governor, range) in [("performance", range(600, 900)), ("ondemand", range(900, 900))] {
            let error = found(governor, &range, true).unwrap_err().to_string();
            assert!(error.contains("can raise"), "{error}");
            let why = if governor == "performance" { governor } else { "900 to 900" };
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_program_in_the_kernel_takes_a_class_that_is_free() {
        let state = |state: &str| format!("/sys/kernel/sched_ext/state = {state}\n");
        let found = |governor, more: &str| backend(&machine(governor, more), By::SchedExt);
        let there = found("schedutil", &state("disabled")).unwrap();
        assert_eq!((there.name, there.notes.len()), ("sched_ext ramp", 1));
        let error = |governor, more: &str| found(governor, more).unwrap_err().to_string();
        assert!(error("schedutil", "").contains("CONFIG_SCHED_CLASS_EXT"));
        assert!(error("schedutil", &state("enabled")).contains("one that is enabled"));
        assert!(error("powersave", &state("disabled")).contains("policy0 has powersave"));
    }
}
