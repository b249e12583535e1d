//! Machines that refuse or talk nonsense: one clear finding or error each, never a panic.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod hosts;

use flyball_check::{Facts, Id, Severity, Style, audit, text};
use flyball_host::{FaultyHost, Host, RecordedHost};
use flyball_units::Diagnostic;
use hosts::{CPU, found, judge, machines};
use proptest::prelude::*;
use std::sync::Arc;

fn faulty(faults: &str) -> FaultyHost {
    let inner: Arc<dyn Host> = Arc::new(machines::intel_laptop().host());
    FaultyHost::parse(inner, faults).unwrap()
}

#[test]
fn a_refused_file_is_one_finding_and_the_rest_stands() {
    let whole = found(&machines::intel_laptop().audit());
    let host = faulty(&format!("read:{CPU}/cpu3/power/energy_perf_bias=EACCES"));
    let audit = judge(&host);
    let refused: Vec<_> = audit.of(Id::Unreadable).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].object, format!("{CPU}/cpu3/power/energy_perf_bias"));
    assert!(refused[0].evidence[0].value.contains("EACCES"), "{refused:?}");
    assert_eq!(
        refused[0].fix.as_ref().unwrap().persistent.as_deref(),
        Some("audit the machine as root")
    );
    let rest: Vec<String> =
        found(&audit).into_iter().filter(|line| line != "note unreadable").collect();
    assert_eq!(rest, whole);
}

#[test]
fn many_refusals_are_still_one_finding() {
    let host = faulty("read:/sys/class/powercap/*=EIO,cpu_times=EIO,affinity_get=EIO");
    let audit = judge(&host);
    let refused = audit.of(Id::Unreadable).next().unwrap();
    assert_eq!(audit.of(Id::Unreadable).count(), 1);
    assert!(refused.found.contains("more refuse to be read"), "{refused:?}");
    assert!(refused.fix.is_none(), "no right helps against EIO");
    assert_eq!(audit.of(Id::StolenTime).count(), 0);
}

#[test]
fn nonsense_is_a_finding_that_names_the_file() {
    let listing = machines::intel_laptop()
        .but("/proc/sys/kernel/nmi_watchdog = 1", "/proc/sys/kernel/nmi_watchdog = maybe")
        .but("/proc/loadavg = 0.10", "/proc/loadavg = NaN")
        .but("cpu0 1000 0 1000", "cpu0 1000 much 1000");
    let audit = listing.audit();
    let odd: Vec<&str> = audit.of(Id::Malformed).map(|finding| finding.object.as_str()).collect();
    assert_eq!(odd, ["/proc/sys/kernel/nmi_watchdog", "/proc/loadavg", "/proc/stat"]);
    assert!(audit.of(Id::Malformed).all(|finding| finding.severity == Severity::Warn));
    assert_eq!(audit.of(Id::NmiWatchdog).count(), 0, "what is not known is not judged");
}

#[test]
fn a_machine_that_describes_itself_wrongly_is_an_error() {
    let listing =
        machines::intel_laptop().but("cpuinfo_max_freq = 4200000", "cpuinfo_max_freq = fast");
    let error = Facts::gather(&listing.host()).unwrap_err();
    assert!(
        error.to_string().contains("cpuinfo_max_freq: expected kHz, found \"fast\""),
        "{error}"
    );
    assert!(error.hint().is_some());
    let none = RecordedHost::from_listing("/proc/cpuinfo = processor : 0").unwrap();
    assert!(Facts::gather(&none).unwrap_err().to_string().contains("cpu/online"));
}

proptest! {
    /// Any one line of any machine replaced by anything.
    #[test]
    fn nonsense_never_panics(
        machine in 0..11usize,
        line in any::<prop::sample::Index>(),
        garbage in prop_oneof![
            "[0-9]{0,22}", "-?[0-9]{1,3}", "[a-z ,:-]{0,12}", "\\PC{0,12}", Just("18446744073709551615".to_owned()),
        ],
    ) {
        let (name, listing) = machines::all().swap_remove(machine);
        let mut lines: Vec<String> = listing.0.lines().map(str::to_owned).collect();
        let line = line.index(lines.len());
        if let Some((path, _)) = lines[line].clone().split_once(" = ") {
            lines[line] = format!("{path} = {garbage}");
        }
        let host = RecordedHost::from_listing(&lines.join("\n")).unwrap();
        match Facts::gather(&host) {
            Err(error) => prop_assert!(!error.to_string().is_empty(), "{}", name),
            Ok(facts) => {
                let audit = audit(&facts, None);
                for verbose in [false, true] {
                    let _ = text(&audit, Style { width: 80, color: true, verbose });
                }
            }
        }
    }
}
