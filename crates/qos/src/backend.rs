//! What this kernel and its driver have for it, with the reason.

use crate::{By, QosError};
use flyball_host::Host;
use flyball_units::Mismatch;
use serde::Serialize;
use std::path::Path;

/// There where the kernel has utilisation clamps (CONFIG_UCLAMP_TASK): the bound of all lower ones.
const BOUND: &str = "/proc/sys/kernel/sched_util_clamp_min";
const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
const GOVERNOR: &str = "schedutil";

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
    if by == By::SchedExt {
        return sched_ext(host, &release, &policies);
    }
    let Some(bound) = text(host, BOUND) else {
        return unsupported(
            Mismatch::value(
                "a kernel with utilisation clamps (CONFIG_UCLAMP_TASK)",
                format!("Linux {release} without them"),
            )
            .hint("for all programs at once, and at the cost of a permanent one: hold a higher lowest frequency"),
        );
    };
    let others = others(&policies);
    if others.len() == policies.len() {
        let slip = Mismatch::value(
            "the governor schedutil, which alone heeds utilisation clamps",
            others.join(", "),
        );
        return unsupported(match policies.iter().any(|policy| policy.offers) {
            true => slip.hint("set the governor for as long as the program runs"),
            false => slip.hint(
                "this driver chooses the frequency itself, for a CPU and not for a task: \
                 prefer performance over energy on all CPUs",
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

struct Policy {
    name: String,
    governor: String,
    /// Whether it could have [`GOVERNOR`].
    offers: bool,
}

fn policies(host: &dyn Host) -> Vec<Policy> {
    let names = host.list(Path::new(CPUFREQ)).unwrap_or_default();
    let of = |name: String| {
        let file = |file: &str| text(host, &format!("{CPUFREQ}/{name}/{file}"));
        let governor = file("scaling_governor")?;
        let available = file("scaling_available_governors").unwrap_or_default();
        let offers = available.split_ascii_whitespace().any(|offered| offered == GOVERNOR);
        Some(Policy { name, governor, offers })
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
        assert!(hint.contains("lowest frequency"), "{hint}");
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
