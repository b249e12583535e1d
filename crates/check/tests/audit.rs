//! Eleven machines with everything that is to be found on them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod hosts;

use flyball_check::{Audit, Id, Severity};
use flyball_units::Nanos;
use hosts::{CPU, Listing, command, found, from_thread, judge, lasting, machines, one};

#[track_caller]
fn expect(listing: &Listing, expected: &str) -> Audit {
    let audit = listing.audit();
    let expected: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(found(&audit), expected);
    audit
}

#[test]
fn board_x86() {
    let audit = expect(
        &machines::board_x86(),
        "warn governor
         note isolation
         note huge-pages
         note real-time-limit
         note timer-slack
         note soft-watchdog
         note virtual-machine",
    );
    let rate = one(&audit, Id::GovernorRateLimit);
    assert_eq!(rate.severity, Severity::Ok);
    assert_eq!(rate.evidence[0].source, format!("{CPU}/cpufreq/schedutil/rate_limit_us"));
    assert_eq!(rate.evidence[0].value, "15", "1.5 x the 10 us that ACPI declares");
    assert!(audit.not_known.iter().any(|unknown| unknown.what == "boost"));
}

#[test]
fn board_aarch64() {
    let audit = expect(
        &machines::board_aarch64(),
        "bad core-types
         warn governor
         note isolation
         note huge-pages
         note real-time-limit
         note timer-slack
         note nmi-watchdog
         note soft-watchdog",
    );
    assert_eq!(command(one(&audit, Id::CoreTypes)), "taskset -c 2-3 CMD");
    assert_eq!(one(&audit, Id::Governor).evidence.len(), 2, "both clock domains in one finding");
}

#[test]
fn intel_laptop() {
    let audit = expect(
        &machines::intel_laptop(),
        "warn governor
         warn boost
         warn throttled
         warn power-limit
         warn frequency-daemon
         warn frequency-daemon
         warn idle-states
         warn smt
         note energy-preference
         note energy-bias
         note isolation
         note real-time-limit
         note timer-slack
         note nmi-watchdog
         note soft-watchdog",
    );
    let governor = one(&audit, Id::Governor);
    assert!(governor.found.contains("400 to 4200 MHz"), "not the lowest frequency: {governor:?}");
    assert_eq!(
        command(governor),
        format!("echo performance | sudo tee {CPU}/cpufreq/policy*/scaling_governor")
    );
    let boost = one(&audit, Id::Boost);
    assert_eq!(boost.evidence[0].source, format!("{CPU}/intel_pstate/no_turbo"));
    assert_eq!(command(boost), format!("echo 1 | sudo tee {CPU}/intel_pstate/no_turbo"));
    let idle = one(&audit, Id::IdleStates);
    assert_eq!(
        command(idle),
        format!("echo 1 | sudo tee {CPU}/cpu[0-9]*/cpuidle/state{{2..8}}/disable")
    );
    assert_eq!(lasting(idle), "boot with: intel_idle.max_cstate=1");
    assert_eq!(one(&audit, Id::Temperature).severity, Severity::Ok, "a trip point of 0 is none");
    let daemons: Vec<&str> = audit.of(Id::FrequencyDaemon).map(command).collect();
    assert_eq!(
        daemons,
        ["sudo systemctl stop thermald", "sudo systemctl stop power-profiles-daemon"]
    );
}

#[test]
fn amd_active() {
    let audit = expect(
        &machines::amd_active(),
        "warn governor
         warn boost
         warn energy-preference
         warn platform-profile
         warn battery
         warn frequency-daemon
         warn idle-states
         warn smt
         note frequency-daemon
         note isolation
         note real-time-limit
         note timer-slack
         note nmi-watchdog
         note soft-watchdog",
    );
    let boost = one(&audit, Id::Boost);
    assert_eq!(
        boost.evidence[0].source,
        format!("{CPU}/cpufreq/boost"),
        "AMD's switch, not Intel's"
    );
    assert_eq!(command(boost), format!("echo 0 | sudo tee {CPU}/cpufreq/boost"));
    assert_eq!(one(&audit, Id::FrequencyLimits).severity, Severity::Ok, "a raised minimum is fine");
    assert_eq!(lasting(one(&audit, Id::IdleStates)), "boot with: processor.max_cstate=1");
    assert!(audit.machine.contains("amd_pstate active"), "{}", audit.machine);
}

#[test]
fn amd_guided() {
    let audit = expect(
        &machines::amd_guided(),
        "bad frequency-limits
         warn governor-rate-limit
         warn governor
         note idle-states
         note isolation
         note real-time-limit
         note timer-slack
         note nmi-watchdog
         note soft-watchdog",
    );
    assert_eq!(
        command(one(&audit, Id::FrequencyLimits)),
        format!("echo 4850000 | sudo tee {CPU}/cpufreq/policy*/scaling_max_freq")
    );
    assert!(one(&audit, Id::FrequencyDriver).found.contains("guided"));
}

#[test]
fn hybrid() {
    let listing = machines::hybrid();
    let audit = expect(
        &listing,
        "bad core-types
         bad temperature
         bad temperature
         bad frequency-daemon
         warn boost
         warn scheduler-extension
         warn idle-states
         note isolation
         note real-time-limit
         note timer-slack
         note nmi-watchdog
         note soft-watchdog",
    );
    assert_eq!(command(one(&audit, Id::CoreTypes)), "taskset -c 0-3 CMD");
    assert_eq!(one(&audit, Id::EnergyPreference).severity, Severity::Ok, "fixed by the governor");
    // Seen from one kind of core, as under `taskset -c 4-7`, the finding is gone.
    let pinned = judge(&from_thread(listing.host(), "4-7", Nanos(50_000)));
    assert_eq!(one(&pinned, Id::CoreTypes).severity, Severity::Ok);
}

#[test]
fn server() {
    let audit = expect(
        &machines::server(),
        "bad firmware-limit
         warn governor
         warn energy-bias
         warn idle-states
         warn interrupts
         warn clock-source
         note idle-governor
         note tick
         note interrupts
         note irqbalance
         note numa-balancing
         note huge-pages
         note swap
         note real-time-limit
         note timer-slack
         note nmi-watchdog
         note soft-watchdog
         note declared-latency
         note frequency-driver",
    );
    let interrupt = audit.of(Id::Interrupts).next().unwrap();
    assert_eq!(command(interrupt), "echo 0-5 | sudo tee /proc/irq/64/smp_affinity_list");
    assert!(interrupt.evidence[0].value.contains("eth0-TxRx-6, 9124"), "{interrupt:?}");
    assert_eq!(
        command(one(&audit, Id::SoftWatchdog)),
        "sudo sysctl kernel.watchdog_cpumask=0-5",
        "off where one measures, on elsewhere"
    );
    assert!(one(&audit, Id::DeclaredLatency).found.contains("21 to 524 us"));
    assert!(one(&audit, Id::Governor).effect.contains("20 ms"), "twice the sampling rate");
}

#[test]
fn guest() {
    let audit = expect(
        &machines::guest(),
        "warn stolen-time
         warn other-load
         note no-cpufreq
         note idle-governor
         note isolation
         note real-time-limit
         note timer-slack
         note soft-watchdog
         note virtual-machine",
    );
    let what: Vec<&str> = audit.not_known.iter().map(|unknown| unknown.what.as_str()).collect();
    assert!(what[0].starts_with("governor, limits, boost"), "{what:?}");
    assert!(!audit.findings.iter().any(|finding| command(finding).contains("scaling_governor")));
}

#[test]
fn arm_with_an_eternal_latency() {
    let listing = machines::arm_eternal();
    let audit = expect(
        &listing,
        "bad governor-rate-limit
         warn governor
         warn idle-states
         warn idle-latency-held
         note frequency-daemon
         note isolation
         note real-time-limit
         note timer-slack
         note soft-watchdog
         note declared-latency",
    );
    let rate = one(&audit, Id::GovernorRateLimit);
    assert!(rate.found.contains("6.44 s") && rate.effect.contains("eternal"), "{rate:?}");
    assert_eq!(
        command(rate),
        format!("echo 1000 | sudo tee {CPU}/cpufreq/policy*/schedutil/rate_limit_us")
    );
    assert_eq!(one(&audit, Id::IdleLatencyHeld).evidence[0].source, "/proc/1200/fd/7");
    // Under another governor it is a trap that waits.
    let other = listing.but("scaling_governor = schedutil", "scaling_governor = performance");
    let trap = other.audit();
    assert_eq!(one(&trap, Id::DeclaredLatency).severity, Severity::Warn);
    let old = other.but("osrelease = 6.12.20-v8", "osrelease = 6.8.0-v8").audit();
    assert_eq!(one(&old, Id::DeclaredLatency).severity, Severity::Note, "not by the older rules");
}

#[test]
fn a_machine_without_a_driver() {
    expect(
        &machines::no_driver(),
        "warn no-cpufreq
         note idle-states
         note idle-latency-held
         note isolation
         note real-time-limit
         note timer-slack
         note nmi-watchdog
         note soft-watchdog",
    );
}

#[test]
fn a_machine_set_up_for_measuring_is_left_alone() {
    let audit = judge(&from_thread(machines::quiet().host(), "0-3", Nanos(1_000)));
    assert_eq!(found(&audit), [""; 0]);
    assert_eq!(audit.verdict, "Fit to measure: nothing found that distorts");
    assert!(
        audit.findings.iter().all(|finding| finding.fix.is_none() && finding.effect.is_empty())
    );
}
