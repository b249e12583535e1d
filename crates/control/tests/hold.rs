//! Holds on machines of every layout: what is set, what is refused, what is told, and that all is as
//! it was afterwards.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use flyball_control::{ControlError, Hold, Moving, Recovered, Settings, recover};
use flyball_host::{Host, RecordedHost};
use flyball_units::{Diagnostic, ErrorKind, Frequency, Nanos};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn start(host: &Arc<RecordedHost>, request: &Settings) -> Result<Hold, ControlError> {
    let host: Arc<dyn Host> = Arc::clone(host) as Arc<dyn Host>;
    Hold::start(&host, Path::new(STATE), request)
}

fn journal(host: &dyn Host) -> Option<String> {
    host.read(Path::new("/var/lib/flyball/hold.json")).ok()
}

fn write(host: &dyn Host, path: &str, text: &str) {
    host.write(Path::new(&format!("{CPU}/{path}")), text).unwrap();
}

#[test]
fn every_kind_of_hold_takes_and_leaves_all_as_it_was() {
    for (name, listing, request) in cases() {
        let host = root(&listing);
        let before = settings(host.as_ref());
        let mut hold = start(&host, &request).unwrap_or_else(|error| panic!("{name}: {error}"));
        for step in hold.plan().all() {
            let found = host.read(&step.path).unwrap();
            assert_eq!(found.trim(), step.new, "{name}: {}", step.path.display());
        }
        let cpufreq =
            request != Settings { idle_latency: request.idle_latency, ..Settings::default() };
        assert_eq!(journal(host.as_ref()).is_some(), cpufreq, "{name}");
        assert_eq!(settings(host.as_ref()) != before, cpufreq, "{name}");
        assert_eq!(hold.look(), [], "{name}");
        let ended = hold.end().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(ended, Default::default(), "{name}");
        assert_eq!(settings(host.as_ref()), before, "{name}");
        assert_eq!(journal(host.as_ref()), None, "{name}");
        assert_eq!(recover(host.as_ref(), Path::new(STATE)), Ok(Recovered::Nothing), "{name}");
    }
}

#[test]
fn a_frequency_is_told_to_userspace_or_held_between_equal_limits() {
    let host = root(&acpi(1));
    let hold = start(&host, &Settings { frequency: mhz(2000), ..Settings::default() }).unwrap();
    let policy = |name: &str| value(host.as_ref(), &format!("cpufreq/policy0/{name}"));
    assert_eq!(policy("scaling_governor"), "userspace");
    assert_eq!(policy("scaling_setspeed"), "2200000", "the next point at or above");
    assert_eq!(policy("scaling_max_freq"), "3600000", "not needed, so not changed");
    assert_eq!(hold.plan().notes, ["policy0 has no 2000MHz: 2200 MHz"]);
    drop(hold);
    let host = root(&intel_active(1));
    let hold = start(&host, &Settings { frequency: mhz(2000), ..Settings::default() }).unwrap();
    let policy = |name: &str| value(host.as_ref(), &format!("cpufreq/policy0/{name}"));
    assert_eq!(policy("scaling_governor"), "performance");
    assert_eq!(
        (policy("scaling_min_freq"), policy("scaling_max_freq")),
        ("2000000".into(), "2000000".into())
    );
    assert_eq!(policy("energy_performance_preference"), "performance", "forced by the governor");
    drop(hold);
    assert_eq!(policy("energy_performance_preference"), "balance_power");
}

#[test]
fn the_highest_frequency_without_boost_is_looked_up_after_it_is_off() {
    let host = root(&acpi(2));
    let request =
        Settings { boost: Some(false), frequency: Some(Frequency::Max), ..Settings::default() };
    let hold = start(&host, &request).unwrap();
    assert_eq!(value(host.as_ref(), "cpufreq/policy1/scaling_setspeed"), "2900000");
    assert_eq!(hold.plan().domains[1].pinned.unwrap().0, 2_900_000);
}

#[test]
fn each_kind_of_core_takes_the_nearest_that_it_has() {
    let host = root(HYBRID);
    let hold = start(&host, &Settings { frequency: Some(Frequency::Max), ..Settings::default() });
    let hold = hold.unwrap();
    let pinned: Vec<u64> = hold.plan().domains.iter().map(|it| it.pinned.unwrap().0).collect();
    assert!(pinned.iter().min() < pinned.iter().max(), "{pinned:?}");
}

#[test]
fn a_part_of_the_cpus_is_held_alone() {
    let host = root(&acpi(3));
    let request = Settings { domains_of: Some("1".parse().unwrap()), ..governor("performance") };
    let hold = start(&host, &request).unwrap();
    assert_eq!(value(host.as_ref(), "cpufreq/policy1/scaling_governor"), "performance");
    assert_eq!(value(host.as_ref(), "cpufreq/policy0/scaling_governor"), "schedutil");
    drop(hold);
    let request = Settings { domains_of: Some("0".parse().unwrap()), ..governor("performance") };
    let host = root(ARM);
    let hold = start(&host, &request).unwrap();
    assert_eq!(hold.plan().notes, ["policy0 is one clock for CPUs 0-1: all of them are held"]);
}

#[test]
fn tunables_are_set_with_their_governor_and_the_users_own_come_back() {
    let host = root(&acpi_tuned());
    let hold = start(&host, &tuned("conservative", "freq_step", 10)).unwrap();
    assert_eq!(value(host.as_ref(), "cpufreq/conservative/freq_step"), "10");
    assert!(!host.exists(Path::new(&format!("{CPU}/cpufreq/ondemand/up_threshold"))));
    drop(hold);
    assert_eq!(value(host.as_ref(), "cpufreq/ondemand/up_threshold"), "60", "the user's own");
    let host = root(&arm_tuned());
    let hold = start(&host, &tuned("schedutil", "rate_limit_us", 100)).unwrap();
    for policy in ["policy0", "policy2"] {
        let path = format!("cpufreq/{policy}/schedutil/rate_limit_us");
        assert_eq!(value(host.as_ref(), &path), "100");
    }
    let change = hold.plan().steps.last().unwrap();
    assert_eq!((change.old.as_str(), change.new.as_str()), ("500", "100"));
    let error = start(&root(&acpi_tuned()), &tuned("ondemand", "up_treshold", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput);
    assert_eq!(error.hint().as_deref(), Some("did you mean up_threshold?"));
    let error = start(&root(&acpi_tuned()), &tuned("performance", "x", 1)).unwrap_err();
    assert!(error.to_string().contains("this governor has none here"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_made() {
    use ErrorKind::{BadInput, Unsupported};
    let none = Settings::default;
    let epp = |epp: &str| Settings { epp: Some(epp.into()), ..Settings::default() };
    let cpus = |list: &str| Some(list.parse().unwrap());
    for (listing, request, kind, words) in [
        (common::none(), governor("performance"), Unsupported, "no say in the frequency"),
        (acpi(2), governor("performence"), BadInput, "did you mean performance?"),
        (acpi(2), Settings { frequency: mhz(5000), ..none() }, BadInput, "1400 to 3600 MHz"),
        (acpi(2), epp("power"), Unsupported, "leaves the frequency to the governor"),
        (acpi(2), Settings { min: mhz(2900), max: mhz(1400), ..none() }, BadInput, "at most max"),
        (acpi(2), Settings { domains_of: cpus("2"), ..governor("powersave") }, BadInput, "0-1"),
        (
            acpi(2),
            Settings { domains_of: cpus("0"), boost: Some(false), ..none() },
            Unsupported,
            "ask for all CPUs",
        ),
        (intel_active(2), governor("schedutil"), BadInput, "performance, powersave"),
        (intel_active(2), epp("powr"), BadInput, "did you mean power?"),
        (
            intel_active(2),
            Settings { epp: Some("power".into()), ..governor("performance") },
            BadInput,
            "governor powersave",
        ),
        (
            ARM.to_owned(),
            Settings { boost: Some(true), ..none() },
            Unsupported,
            "a switch for boost",
        ),
    ] {
        let host = root(&listing);
        let before = settings(host.as_ref());
        let error = start(&host, &request).unwrap_err();
        let text = format!("{error}\n{}", error.hint().unwrap_or_default());
        assert_eq!(error.kind(), kind, "{text}");
        assert!(text.contains(words), "{text}");
        assert_eq!(settings(host.as_ref()), before);
        assert!(!host.exists(Path::new(STATE)));
    }
}

#[test]
fn without_permission_the_path_is_named_and_nothing_changes() {
    let host = machine(&acpi(2), false);
    let error = start(&host, &governor("performance")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Permission);
    assert!(error.to_string().contains("policy0/scaling_governor"), "{error}");
    assert!(error.hint().unwrap().contains("as root"));
    let idle = Settings { idle_latency: Some(Nanos::ZERO), ..Settings::default() };
    assert_eq!(start(&host, &idle).unwrap_err().kind(), ErrorKind::Permission);
    assert!(!host.exists(Path::new(STATE)));
}

#[test]
fn a_second_hold_with_another_folder_is_refused() {
    let host = writable(&(acpi(2) + "/run /\n"), true, &["/sys", "/var/lib", "/run"]);
    let _first = start(&host, &governor("performance")).unwrap();
    let other = Path::new("/var/lib/another");
    let host: Arc<dyn Host> = host;
    let error = Hold::start(&host, other, &governor("powersave")).unwrap_err();
    assert!(matches!(error, ControlError::Busy { .. }), "{error}");
}

#[test]
fn a_second_hold_is_refused_with_who_holds() {
    let host = root(
        &(acpi(2)
            + "/proc/7/stat = 7 (flyball) S 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21\n"),
    );
    let host = root_with_owner(host);
    let hold = start(&host, &governor("performance")).unwrap();
    let error = start(&host, &governor("powersave")).unwrap_err();
    assert!(error.to_string().contains("held by process 7, for 0 s"), "{error}");
    let error = recover(host.as_ref(), Path::new(STATE)).unwrap_err();
    assert!(matches!(error, ControlError::Busy { .. }), "{error}");
    assert_eq!(value(host.as_ref(), "cpufreq/policy0/scaling_governor"), "performance");
    drop(hold);
    start(&host, &governor("powersave")).unwrap();
}

fn root_with_owner(host: Arc<RecordedHost>) -> Arc<RecordedHost> {
    // Field 22 counts from 1, the start of `/proc/self/stat` of every machine here is 21.
    let stat = host.read(Path::new("/proc/7/stat")).unwrap();
    assert!(flyball_host::ProcessIdentity { pid: 7, start: 21 }.is_alive(host.as_ref()), "{stat}");
    host
}

/// A journal as a hold leaves it that was killed while it held.
fn killed(
    listing: &str,
    request: &Settings,
) -> (Arc<RecordedHost>, std::collections::BTreeMap<String, String>) {
    let host = root(listing);
    let before = settings(host.as_ref());
    std::mem::forget(start(&host, request).unwrap());
    // Its lock went with it.
    let text = journal(host.as_ref()).unwrap();
    let held = settings(host.as_ref());
    let mut listing: String = held.iter().map(|(path, text)| format!("{path} = {text}")).collect();
    listing.push_str(&format!("{CPU}/online = 0-1\n/var/lib/flyball /\n"));
    let host = root(&listing);
    host.save(Path::new("/var/lib/flyball/hold.json"), &text).unwrap();
    (host, before)
}

#[test]
fn the_next_hold_restores_what_a_killed_one_left() {
    let (host, before) = killed(&acpi(2), &governor("performance"));
    let hold = start(&host, &governor("powersave")).unwrap();
    assert!(matches!(hold.recovered(), Recovered::Restored { files: 2, .. }));
    hold.end().unwrap();
    assert_eq!(settings(host.as_ref()), before);
}

#[test]
fn a_recycled_number_is_not_taken_for_the_owner() {
    let (host, before) = killed(&acpi(2), &governor("performance"));
    let text = journal(host.as_ref()).unwrap().replace("\"pid\": 7", "\"pid\": 1");
    host.save(Path::new("/var/lib/flyball/hold.json"), &text).unwrap();
    let listing: String =
        settings(host.as_ref()).iter().map(|(path, text)| format!("{path} = {text}")).collect();
    let host = root(&format!(
        "{listing}{CPU}/online = 0-1\n/var/lib/flyball /\n/proc/1/stat = 1 (init) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"
    ));
    host.save(Path::new("/var/lib/flyball/hold.json"), &text).unwrap();
    recover(host.as_ref(), Path::new(STATE)).unwrap();
    assert_eq!(settings(host.as_ref()), before);
}

#[test]
fn after_a_new_boot_there_is_nothing_to_restore() {
    let (host, _) = killed(&acpi(2), &governor("performance"));
    let text = journal(host.as_ref()).unwrap().replace("11111111", "00000000");
    host.save(Path::new("/var/lib/flyball/hold.json"), &text).unwrap();
    let held = settings(host.as_ref());
    let recovered = recover(host.as_ref(), Path::new(STATE)).unwrap();
    assert!(matches!(recovered, Recovered::EarlierBoot { .. }), "{recovered:?}");
    assert_eq!((settings(host.as_ref()), journal(host.as_ref())), (held, None));
}

#[test]
fn a_journal_that_is_not_ours_stops_a_hold() {
    let (host, _) = killed(&acpi(2), &governor("performance"));
    let text = journal(host.as_ref()).unwrap();
    for wrong in ["", "{", &text[..text.len() / 2], "[1, 2]", "\0\0\0"] {
        host.save(Path::new("/var/lib/flyball/hold.json"), wrong).unwrap();
        let error = start(&host, &governor("powersave")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput, "{error}");
        assert!(error.hint().unwrap().contains("sudo rm /var/lib/flyball/hold.json"));
        assert!(journal(host.as_ref()).is_some(), "it is the user's to remove");
    }
}

#[test]
fn what_others_change_is_seen_told_and_undone() {
    let host = root(&acpi(2));
    let before = settings(host.as_ref());
    let mut hold = start(&host, &governor("performance")).unwrap();
    write(host.as_ref(), "cpufreq/policy1/scaling_governor", "powersave");
    let changes = hold.look();
    assert_eq!((changes.len(), changes[0].found.as_str()), (1, "powersave"));
    assert_eq!(hold.look(), [], "told once");
    write(host.as_ref(), "cpufreq/policy0/scaling_max_freq", "2900000");
    let ended = hold.end().unwrap();
    assert_eq!(ended.changes.len(), 1);
    assert_eq!(ended.foreign.len(), 1);
    assert_eq!(ended.foreign[0].found, "powersave");
    // What the hold had nothing to do with stays as the other one set it.
    let mut expected = before;
    expected.insert(format!("{CPU}/cpufreq/policy0/scaling_max_freq"), "2900000\n".into());
    assert_eq!(settings(host.as_ref()), expected);
}

#[test]
fn what_cannot_be_restored_is_named_and_stays_in_the_journal() {
    let host = root(&acpi(2));
    let before = settings(host.as_ref());
    // All CPUs of policy1 went offline: its files are busy.
    let offline = faulty(&host, "write:/sys/devices/system/cpu/cpufreq/policy1/*#2+=EBUSY");
    let hold = Hold::start(&(offline as Arc<dyn Host>), Path::new(STATE), &governor("performance"));
    let error = hold.unwrap().end().unwrap_err();
    let ControlError::Restore { left, .. } = &error else { panic!("{error}") };
    assert_eq!(left.len(), 1);
    let text = format!("{error}\n{}", error.hint().unwrap());
    for words in [
        "policy1/scaling_governor",
        "expected schedutil",
        "found performance",
        "EBUSY",
        "recover the settings",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let recovered = recover(host.as_ref(), Path::new(STATE)).unwrap();
    assert!(matches!(recovered, Recovered::Restored { files: 1, .. }), "{recovered:?}");
    assert_eq!(settings(host.as_ref()), before);
}

#[test]
fn asked_to_end_before_all_is_set_it_goes_back() {
    let host = root(&acpi(2));
    let before = settings(host.as_ref());
    host.interrupt();
    let error = start(&host, &governor("performance")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert_eq!((settings(host.as_ref()), journal(host.as_ref())), (before, None));
}

fn requests() -> impl Strategy<Value = Settings> {
    let words = |words: &'static [&'static str]| {
        proptest::option::of(proptest::sample::select(words).prop_map(str::to_owned))
    };
    let frequency = || {
        proptest::option::of(prop_oneof![
            Just(Frequency::Min),
            Just(Frequency::Max),
            (1_000..6_000u64).prop_map(|at| mhz(at).unwrap()),
        ])
    };
    (
        (
            words(&["performance", "userspace", "schedutil", "ondemand", "conservative", "odd"]),
            proptest::option::of((words(&["up_threshold", "rate_limit_us", "odd"]), 1..99i64)),
        ),
        (frequency(), frequency(), frequency()),
        proptest::option::of(any::<bool>()),
        words(&["power", "performance", "balance_power", "255", "odd"]),
        proptest::option::of(0u32..4),
    )
        .prop_map(|((governor, tunable), (frequency, min, max), boost, epp, cpu)| Settings {
            governor,
            tunables: tunable
                .into_iter()
                .filter_map(|(name, value)| Some((name?, value)))
                .collect(),
            frequency,
            min,
            max,
            boost,
            epp,
            idle_latency: None,
            domains_of: cpu.map(|cpu| flyball_units::CpuId(cpu).into()),
            ..Settings::default()
        })
}

proptest! {
    #[test]
    fn whatever_is_asked_all_is_as_it_was(request in requests(), index in 0..7usize) {
        let machines = [
            acpi(3),
            acpi_userspace(),
            acpi_tuned(),
            arm_tuned(),
            intel_active(3),
            AMD.to_owned(),
            HYBRID.to_owned(),
        ];
        let host = root(&machines[index]);
        let before = settings(host.as_ref());
        match start(&host, &request) {
            Ok(hold) => prop_assert_eq!(hold.end().unwrap(), Default::default()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        prop_assert_eq!(settings(host.as_ref()), before);
        prop_assert_eq!(journal(host.as_ref()), None);
    }
}

#[test]
fn what_moves_during_a_hold_is_restored() {
    let userspace = Settings {
        governor: Some("userspace".to_owned()),
        moving: Some(Moving::Speed),
        ..Settings::default()
    };
    let limits = Settings { moving: Some(Moving::Limits), ..Settings::default() };
    for (listing, request, file, value) in [
        (acpi(2), &userspace, "scaling_setspeed", "2200000"),
        (acpi_userspace(), &userspace, "scaling_setspeed", "1400000"),
        (acpi(2), &limits, "scaling_max_freq", "2200000"),
        (intel_active(2), &limits, "scaling_min_freq", "900000"),
    ] {
        let host = root(&listing);
        let shared: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
        let path = PathBuf::from(format!("{CPU}/cpufreq/policy1/{file}"));
        let governor = PathBuf::from(format!("{CPU}/cpufreq/policy1/scaling_governor"));
        let before = (host.read(&path), host.read(&governor));
        let hold = Hold::start(&shared, Path::new(STATE), request).unwrap();
        host.write(&path, value).unwrap();
        let ended = hold.end().unwrap();
        assert!(ended.foreign.is_empty(), "{ended:?}");
        assert_eq!((host.read(&path), host.read(&governor)), before, "{file}");
        // The same after a crash.
        let hold = Hold::start(&shared, Path::new(STATE), request).unwrap();
        host.write(&path, value).unwrap();
        let journal = host.read(&Path::new(STATE).join("hold.json")).unwrap();
        assert!(journal.contains("scaling_"), "{journal}");
        drop(hold);
        assert_eq!((host.read(&path), host.read(&governor)), before, "{file} after a drop");
    }
    let host = machine(&acpi(2), false);
    let shared: Arc<dyn Host> = host as Arc<dyn Host>;
    let error = Hold::start(&shared, Path::new(STATE), &limits).unwrap_err();
    assert!(matches!(error, ControlError::Permission { .. }), "{error}");
}
