//! Commands that fit the driver, the probe's verdicts, and what holds for every finding.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod hosts;

use flyball_check::{Audit, CATALOGUE, Facts, Id, Probe, ProbedCpu, Severity, Style, audit, text};
use flyball_host::{RecordedHost, snapshot};
use hosts::{CPU, Listing, command, judge, lasting, machines, one};
use std::collections::BTreeSet;

/// `powersave` without hardware that chooses is the lowest frequency; where `performance` is not
/// built in, a raised minimum is the remedy.
#[test]
fn fixes_fit_the_driver() {
    let slow =
        machines::arm_eternal().but("scaling_governor = schedutil", "scaling_governor = powersave");
    let audit = slow.audit();
    let governor = one(&audit, Id::Governor);
    assert_eq!(governor.severity, Severity::Bad);
    assert!(governor.effect.contains("3.0 times"), "{governor:?}");
    let without = machines::arm_eternal()
        .but("userspace powersave performance schedutil", "userspace powersave schedutil")
        .audit();
    assert_eq!(
        command(one(&without, Id::Governor)),
        format!("echo 1800000 | sudo tee {CPU}/cpufreq/policy*/scaling_min_freq")
    );
    // intel_pstate without HWP has no EPP: the driver itself chooses.
    let mut old = machines::intel_laptop();
    old.0 = old
        .0
        .lines()
        .filter(|line| !line.contains("energy_performance"))
        .fold(String::new(), |text, line| text + line + "\n");
    let audit = old.audit();
    assert!(one(&audit, Id::Governor).found.contains("the driver chooses"));
    assert!(one(&audit, Id::FrequencyDriver).found.contains("every 10 ms"));
    assert_eq!(one(&audit, Id::EnergyBias).severity, Severity::Warn, "nothing else steers it");
    // No profile better than the one in force, no switch for SMT: no command.
    let plain = machines::amd_active()
        .but(
            "platform_profile_choices = low-power balanced performance",
            "platform_profile_choices = low-power",
        )
        .but("smt/control = on", "smt/control = notimplemented")
        .audit();
    assert_eq!(command(one(&plain, Id::PlatformProfile)), "");
    assert_eq!(command(one(&plain, Id::Smt)), "");
    // Only what is wrong is set: a cap on two of eight policies.
    let mut two = machines::amd_guided();
    for policy in [0, 1, 2, 3, 5, 6] {
        let file = format!("policy{policy}/scaling_max_freq = ");
        two = two.but(&format!("{file}3500000"), &format!("{file}4850000"));
    }
    let audit = two.audit();
    let capped = audit.of(Id::FrequencyLimits).find(|f| f.severity == Severity::Bad).unwrap();
    assert_eq!(
        command(capped),
        format!("echo 4850000 | sudo tee {CPU}/cpufreq/policy{{4,7}}/scaling_max_freq")
    );
    assert_eq!(capped.object, "CPUs 4,7");
}

#[test]
fn caps_in_percent_count_and_so_do_pinned_clocks() {
    let capped = machines::intel_laptop().but("max_perf_pct = 100", "max_perf_pct = 60").audit();
    let cap = capped.of(Id::FrequencyLimits).find(|f| f.object == "machine").unwrap();
    assert_eq!(cap.severity, Severity::Bad);
    assert_eq!(command(cap), format!("echo 100 | sudo tee {CPU}/intel_pstate/max_perf_pct"));
    let pinned = machines::arm_eternal()
        .but("scaling_governor = schedutil", "scaling_governor = userspace")
        .but("scaling_setspeed = <unsupported>", "scaling_setspeed = 1000000")
        .audit();
    let governor = one(&pinned, Id::Governor);
    assert_eq!(
        (governor.severity, governor.found.as_str()),
        (Severity::Note, "userspace: set to 1000 of 1800 MHz")
    );
    let climbing = machines::server()
        .but("scaling_governor = ondemand", "scaling_governor = conservative")
        .file(format!("{CPU}/cpufreq/conservative/sampling_rate"), 10_000)
        .file(format!("{CPU}/cpufreq/conservative/freq_step"), 5)
        .audit();
    // (2601 - 1200) / (5 % of 2601) = 10.8 steps of 10 ms.
    assert!(one(&climbing, Id::Governor).effect.contains("11 steps: 110 ms"));
}

fn probed(cpu: u32, core_type: &str, delivered: u64, claimed: u64) -> ProbedCpu {
    ProbedCpu {
        cpu,
        core_type: core_type.to_owned(),
        delivered_khz: Some(delivered),
        claimed_khz: Some(claimed),
        basis: "assumed".to_owned(),
        spread_permille: Some(2.0),
        disturbed_permille: 30,
    }
}

fn with_probe(listing: &Listing, cpus: &[ProbedCpu]) -> Audit {
    let probe = Probe { cpus: cpus.to_vec(), skipped: None };
    audit(&Facts::gather(&listing.host()).unwrap(), Some(&probe))
}

#[test]
fn delivered_frequencies_are_judged() {
    let laptop = machines::intel_laptop();
    let judged = |cpus: &[ProbedCpu]| {
        let audit = with_probe(&laptop, cpus);
        let found = audit.of(Id::DeliveredFrequency).next().unwrap().clone();
        (found.severity, found.found)
    };
    assert_eq!(
        judged(&[probed(0, "all", 4_190_000, 4_200_000), probed(3, "all", 4_180_000, 4_150_000)]),
        (Severity::Ok, "delivers 4180 to 4190 MHz, as claimed".to_owned())
    );
    assert_eq!(
        judged(&[probed(0, "all", 4_190_000, 4_200_000), probed(3, "all", 1_200_000, 4_200_000)]),
        (Severity::Bad, "cpu3 delivers 1200 MHz, claimed are 4200 MHz (-71 %)".to_owned())
    );
    assert_eq!(
        judged(&[probed(0, "all", 2_900_000, 2_900_000)]).0,
        Severity::Warn,
        "below its limit"
    );
    let uneven = with_probe(
        &laptop,
        &[probed(0, "all", 4_190_000, 4_200_000), probed(3, "all", 3_900_000, 3_900_000)],
    );
    assert_eq!(command(one(&uneven, Id::DeliveredFrequency)), "taskset -c 0 CMD");
    let guest = with_probe(&machines::guest(), &[probed(1, "all", 3_500_000, 2_900_000)]);
    let seen = one(&guest, Id::DeliveredFrequency);
    assert_eq!(seen.severity, Severity::Note, "a guest's claim is a constant");
    assert!(seen.evidence[0].value.contains("3 % of samples disturbed"), "{seen:?}");
    let silent = ProbedCpu { delivered_khz: None, ..probed(0, "all", 0, 0) };
    assert_eq!(with_probe(&laptop, &[silent]).of(Id::DeliveredFrequency).count(), 0);
}

/// Which way there is to a faster answer is said, and what a killed controller left.
#[test]
fn what_clamps_can_do_and_what_was_left_of_them_is_told() {
    let audit = machines::arm_eternal().audit();
    let had = one(&audit, Id::ResponseTime);
    assert_eq!(had.severity, Severity::Ok);
    assert!(had.found.contains("cannot") && had.evidence[0].value.contains("UCLAMP"), "{had:?}");
    let listing = machines::arm_eternal()
        .file("/proc/sys/kernel/sched_util_clamp_min", 1024)
        .file("/proc/sys/kernel/random/boot_id", "one")
        .file("/proc/self/status", "Uid: 0 0 0 0")
        .file(
            "/run/flyball-qos/qos.json",
            r#"{"format": 1, "boot_id": "one", "owner": {"pid": 50, "start_ticks": 2}, "created_realtime_ns": 3, "began_ticks": 2, "processes": [], "own": []}"#,
        );
    let audit = listing.audit();
    let findings: Vec<_> = audit.of(Id::ResponseTime).collect();
    let left = findings.iter().find(|finding| finding.severity == Severity::Warn).unwrap();
    assert!(left.found.starts_with("process 50 controlled clamps"), "{left:?}");
    assert_eq!(lasting(left), "remove the clamps, as root");
    assert!(findings.iter().any(|finding| finding.found.ends_with("uclamp ramp")), "{findings:?}");
}

/// A snapshot holds everything that the rules look at.
#[test]
fn a_recording_has_the_same_findings() {
    for (name, listing) in machines::all() {
        let folder = tempfile::tempdir().unwrap();
        snapshot::capture(&listing.host(), folder.path()).unwrap();
        let recorded = RecordedHost::open(folder.path()).unwrap();
        assert_eq!(judge(&recorded), listing.audit(), "{name}");
    }
}

#[test]
fn every_kind_of_finding_is_met() {
    let mut met: BTreeSet<Id> = machines::all()
        .iter()
        .flat_map(|(_, listing)| listing.audit().findings)
        .filter(|finding| finding.severity > Severity::Ok)
        .map(|finding| finding.id)
        .collect();
    // These have tests of their own: in here, and in `faults`.
    met.extend([Id::CpuQuota, Id::DeliveredFrequency, Id::ResponseTime]);
    met.extend([Id::Unreadable, Id::Malformed]);
    let missing: Vec<&str> =
        CATALOGUE.iter().filter(|entry| !met.contains(&entry.id)).map(|entry| entry.name).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn every_finding_says_what_it_does_and_shows_its_evidence() {
    for (name, listing) in machines::all() {
        for finding in listing.audit().findings {
            let worth = finding.severity > Severity::Ok;
            assert_eq!(worth, !finding.effect.is_empty(), "{name}: {finding:?}");
            assert!(
                !finding.evidence.is_empty() && !finding.object.is_empty(),
                "{name}: {finding:?}"
            );
            assert!(finding.effect.chars().count() <= 94, "{name}: {finding:?}");
            assert!(worth || finding.fix.is_none(), "{name}: {finding:?}");
            let mends = !command(&finding).is_empty() || !lasting(&finding).is_empty();
            assert!(finding.severity < Severity::Warn || mends, "{name}: no remedy: {finding:?}");
        }
    }
}

#[test]
fn the_short_form_fits_a_screen() {
    for (name, listing) in machines::all() {
        for width in [80, 100, 200] {
            let text = text(&listing.audit(), Style { width, color: false, verbose: false });
            assert!(text.lines().count() <= 25, "{name} at {width}:\n{text}");
            let prose =
                text.lines().filter(|line| !line.contains("fix: ") && !line.contains("do:  "));
            for line in prose {
                assert!(line.chars().count() <= width, "{name} at {width}: {line}");
            }
            let blocks = text.split("\n").filter(|line| !line.is_empty());
            let mut length = 0;
            for line in blocks.skip(2) {
                length = if line.starts_with(' ') { length + 1 } else { 1 };
                assert!(length <= 3 || width < 100, "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn the_long_form_holds_everything() {
    let audit = machines::server().audit();
    let text = text(&audit, Style { width: 100, color: false, verbose: true });
    for finding in &audit.findings {
        assert!(text.contains(finding.id.name()), "{}", finding.id);
    }
    assert!(text.contains("seen: ") && text.contains("keep: ") && text.contains("Not known"));
}

/// The limit may be that of a group above; of several the tightest holds. A file that is none is named.
#[test]
fn a_limit_of_the_control_group_is_found_in_both_versions() {
    let second = || {
        machines::intel_laptop()
            .file("/proc/self/cgroup", "0::/ci/job")
            .file("/sys/fs/cgroup/ci/job/cpu.max", "max 100000")
            .file("/sys/fs/cgroup/ci/cpu.max", "50000 100000")
            .file("/sys/fs/cgroup/ci/cpu.stat", "nr_periods 40")
            .file("/sys/fs/cgroup/ci/cpu.stat", "nr_throttled 0")
    };
    let audit = second().audit();
    let finding = one(&audit, Id::CpuQuota);
    assert_eq!(finding.severity, Severity::Warn);
    assert!(finding.found.contains("may run 50 ms of each 100 ms"), "{finding:?}");
    assert!(finding.effect.chars().count() <= 94, "{finding:?}");
    assert_eq!(command(finding), "echo max | sudo tee /sys/fs/cgroup/ci/cpu.max");
    let held_back = second().but("nr_throttled 0", "nr_throttled 12").audit();
    let finding = one(&held_back, Id::CpuQuota);
    assert_eq!(finding.severity, Severity::Bad);
    assert!(finding.found.ends_with("had to wait in 12 of 40 periods"), "{finding:?}");
    let first = || {
        machines::intel_laptop()
            .file("/proc/self/cgroup", "9:name=systemd:/")
            .file("/proc/self/cgroup", "4:cpu,cpuacct:/docker/1")
            .file("/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "150000")
            .file("/sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000")
            .file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1")
    };
    let audit = first().audit();
    let fix = command(one(&audit, Id::CpuQuota)).to_owned();
    assert_eq!(fix, "echo -1 | sudo tee /sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us");
    // As much as all CPUs have is no limit.
    let whole = first().but("quota_us = 150000", "quota_us = 6400000").audit();
    assert_eq!(one(&whole, Id::CpuQuota).severity, Severity::Ok);
    let torn = first().but("quota_us = 150000", "quota_us = much").audit();
    assert_eq!(torn.of(Id::CpuQuota).count(), 0);
    assert!(torn.of(Id::Malformed).any(|finding| finding.object.ends_with("cpu.cfs_quota_us")));
}
