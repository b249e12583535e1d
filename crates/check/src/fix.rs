//! Commands, built so that they can be pasted: into any POSIX shell where no set of numbers is
//! involved, into bash, zsh and fish everywhere.

use flyball_host::Topology;
use flyball_units::CpuSet;

/// Where the kernel describes CPUs.
pub(crate) const CPU: &str = "/sys/devices/system/cpu";

/// Writes `value` into files that everybody may see, so that the user's shell can expand them.
pub(crate) fn tee(value: &str, files: &str) -> String {
    format!("echo {value} | sudo tee {files}")
}

/// A setting of the kernel: now, and from the next boot on. One file per key, so that two fixes
/// don't overwrite each other.
pub(crate) fn sysctl(key: &str, value: &str) -> (String, String) {
    let file = key.replace('.', "-");
    (
        format!("sudo sysctl {key}={value}"),
        format!("echo '{key} = {value}' | sudo tee /etc/sysctl.d/90-{file}.conf"),
    )
}

/// The file `name` of the policies `ids`: `policy*` where these are all.
pub(crate) fn policy_files(topology: &Topology, ids: &[u32], name: &str) -> String {
    let all = topology.policies.iter().all(|policy| ids.contains(&policy.id));
    format!("{CPU}/cpufreq/policy{}/{name}", numbers(ids, all))
}

/// The file `name` of `cpus`: `cpu[0-9]*` where these are all that run.
pub(crate) fn cpu_files(topology: &Topology, cpus: &CpuSet, name: &str) -> String {
    let ids: Vec<u32> = cpus.iter().map(|cpu| cpu.0).collect();
    match topology.online.difference(cpus).is_empty() {
        // Without the digit the pattern would match `cpufreq` and `cpuidle`, too.
        true => format!("{CPU}/cpu[0-9]*/{name}"),
        false => format!("{CPU}/cpu{}/{name}", numbers(&ids, false)),
    }
}

/// `*`, `3`, `{0..3}` or `{0,4}`.
pub(crate) fn numbers(ids: &[u32], all: bool) -> String {
    let dense = ids.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match ids {
        _ if all => "*".to_owned(),
        [one] => one.to_string(),
        // fish has no `{0..3}`, so short lists are spelt out.
        [first, .., last] if dense && ids.len() > 4 => format!("{{{first}..{last}}}"),
        _ => format!("{{{}}}", ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
    }
}

/// What to add to the kernel's command line. How differs between boot loaders.
pub(crate) fn boot(words: &str) -> String {
    format!("boot with: {words}")
}

/// `CPU 3`, `CPUs 0-7`.
pub(crate) fn cpus(cpus: &CpuSet) -> String {
    format!("CPU{} {cpus}", if cpus.len() == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        assert_eq!(numbers(&[0, 1, 2], true), "*");
        assert_eq!(numbers(&[3], false), "3");
        assert_eq!(numbers(&[0, 1], false), "{0,1}");
        assert_eq!(numbers(&[0, 1, 2, 3, 4, 5], false), "{0..5}");
        assert_eq!(numbers(&[0, 2, 4, 6, 8], false), "{0,2,4,6,8}");
    }

    #[test]
    fn settings_have_a_file_each() {
        let (now, lasting) = sysctl("kernel.nmi_watchdog", "0");
        assert_eq!(now, "sudo sysctl kernel.nmi_watchdog=0");
        assert!(lasting.ends_with("/etc/sysctl.d/90-kernel-nmi_watchdog.conf"), "{lasting}");
    }
}
