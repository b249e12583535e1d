//! The methods through the door to Linux, on machines that are written down: what is written, what is
//! refused, and that all is as it was afterwards.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use flyball_host::manifest::{Calls, Manifest};
use flyball_host::{Host, RecordedHost};
use flyball_lab::protocol::switches::TransitionError;
use flyball_lab::protocol::switches::live::{Control, Live, machine as read};
use flyball_lab::protocol::switches::methods::{Method, Plan, Sink, run};
use flyball_report::kinds::switches::analyse;
use flyball_run::{Run, SwitchTrial};
use flyball_units::{CpuId, KiloHertz, Nanos};
use std::path::Path;
use std::sync::Arc;

const CPU: &str = "/sys/devices/system/cpu";
const STATE: &str = "/var/lib/flyball";

fn machine(governor: &str, governors: &str, setspeed: &str) -> Arc<dyn Host> {
    let mut text = format!("{CPU}/online = 0-1\n{CPU}/possible = 0-1\n");
    let policy = format!("{CPU}/cpufreq/policy0");
    for (name, value) in [
        ("related_cpus", "0 1"),
        ("affected_cpus", "0 1"),
        ("scaling_driver", "acpi-cpufreq"),
        ("scaling_governor", governor),
        ("scaling_available_governors", governors),
        ("cpuinfo_min_freq", "1400000"),
        ("cpuinfo_max_freq", "2900000"),
        ("scaling_min_freq", "1400000"),
        ("scaling_max_freq", "2900000"),
        ("scaling_available_frequencies", "2900000 2200000 1400000"),
        ("scaling_cur_freq", "1400000"),
        ("scaling_setspeed", setspeed),
        ("cpuinfo_transition_latency", "10000"),
    ] {
        text.push_str(&format!("{policy}/{name} = {value}\n"));
    }
    let numbers = (3..=30).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    text.push_str(&format!("/proc/self/stat = 7 (flyball) S {numbers}\n"));
    text.push_str("/proc/sys/kernel/random/boot_id = 11111111-2222\n/var/lib /\n");
    let writable = ["/sys", "/var/lib"].iter().map(|path| ((*path).to_owned(), true)).collect();
    let manifest =
        Manifest { calls: Calls { writable, ..Calls::default() }, ..Manifest::default() };
    let host = RecordedHost::from_listing(&text).unwrap();
    Arc::new(host.with_manifest(manifest))
}

#[derive(Default)]
struct Memory(Run, Vec<String>);

impl Sink for Memory {
    fn trial(&mut self, trial: SwitchTrial) -> Result<(), TransitionError> {
        self.0.tables.trials.push(trial);
        Ok(())
    }

    fn refused(&mut self, object: &str, why: &str) -> Result<(), TransitionError> {
        self.1.push(format!("{object}: {why}"));
        Ok(())
    }
}

fn settings(host: &dyn Host) -> Vec<String> {
    let names = ["scaling_governor", "scaling_min_freq", "scaling_max_freq", "scaling_setspeed"];
    names
        .iter()
        .map(|name| host.read(Path::new(&format!("{CPU}/cpufreq/policy0/{name}"))).unwrap())
        .collect()
}

fn plan(method: Method) -> Plan {
    Plan {
        methods: vec![method],
        trials: 3,
        settle: Nanos::from_micros(100),
        wait: Nanos::from_micros(50),
        ..Plan::default()
    }
}

#[test]
fn every_way_to_switch_leaves_all_as_it_was() {
    for (governor, governors, setspeed, file) in [
        ("schedutil", "userspace schedutil", "<unsupported>", "scaling_setspeed"),
        ("userspace", "userspace schedutil", "2900000", "scaling_setspeed"),
        ("userspace", "userspace schedutil", "1400000", "scaling_setspeed"),
        ("powersave", "performance powersave", "<unsupported>", "scaling_max_freq"),
        ("performance", "performance powersave", "<unsupported>", "scaling_max_freq"),
    ] {
        let host = machine(governor, governors, setspeed);
        let before = settings(host.as_ref());
        let control = Control::of(&read(host.as_ref()).unwrap(), CpuId(1), &[]).unwrap();
        assert!(control.path.ends_with(file), "{control:?}");
        let mut live = Live::start(&host, Path::new(STATE), control).unwrap();
        let mut memory = Memory::default();
        run(&mut live, &plan(Method::Direct), &mut memory).unwrap();
        assert_ne!(settings(host.as_ref()), before);
        assert_eq!(live.end().unwrap(), Vec::<String>::new(), "{governor}");
        assert_eq!(settings(host.as_ref()), before, "{governor}");
        assert!(host.read(Path::new("/var/lib/flyball/hold.json")).is_err());
        let findings = analyse(&memory.0, 1);
        assert_eq!(findings.switches.len(), 9, "three levels, and each onto itself");
    }
}

#[test]
fn a_machine_whose_speed_never_changes_is_refused() {
    // A recorded machine multiplies at 1 GHz whatever it is told.
    let host = machine("schedutil", "userspace schedutil", "<unsupported>");
    let control = Control::of(&read(host.as_ref()).unwrap(), CpuId(0), &[]).unwrap();
    let mut live = Live::start(&host, Path::new(STATE), control).unwrap();
    let mut memory = Memory::default();
    run(&mut live, &plan(Method::Detect), &mut memory).unwrap();
    live.end().unwrap();
    assert!(memory.0.tables.trials.is_empty());
    assert_eq!(memory.1.len(), 3);
    assert!(memory.1[0].contains("cannot be told apart"), "{:?}", memory.1);
}

#[test]
fn slips_are_named() {
    let host = machine("schedutil", "userspace schedutil", "<unsupported>");
    let machine = read(host.as_ref()).unwrap();
    let of = |cpu, levels: &[u64]| {
        let levels: Vec<KiloHertz> = levels.iter().map(|khz| KiloHertz(*khz)).collect();
        Control::of(&machine, CpuId(cpu), &levels).unwrap_err().to_string()
    };
    assert!(of(7, &[]).contains("a clock domain"));
    assert!(of(0, &[1_400_000, 1_500_000]).contains("1500 MHz"));
    assert!(of(0, &[1_400_000]).contains("two levels"));
}
