//! The daemon on recorded machines: what it writes, what it notices, and that all is as it was
//! afterwards.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use flyball_control::Recovered;
use flyball_govern::{
    Engine, GovernError, Lines, Options, Sink, SourceKind, Wish, prepare, replay, run, trail,
};
use flyball_host::{FaultyHost, Host, RecordedHost};
use flyball_units::{Diagnostic, ErrorKind, Nanos};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

fn wish(governor: &str, tunables: &[(&str, i64)]) -> Wish {
    let tunables = tunables.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Wish { governor: governor.to_owned(), tunables, ..Wish::default() }
}

/// Text that is kept for the test.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn options(seconds: u64, kept: &Kept) -> Options {
    let sink: Box<dyn Sink> = Box::new(Lines::new(kept.clone()));
    Options {
        socket: None,
        duration: Some(Nanos::from_secs(seconds)),
        stall_polls: 4,
        sink: Some(sink),
    }
}

fn rule(
    host: &Arc<dyn Host>,
    wish: &Wish,
    seconds: u64,
    kept: &Kept,
) -> Result<flyball_govern::Ended, GovernError> {
    run(host, Path::new(STATE), wish, options(seconds, kept), &mut |_, recovered| {
        assert_eq!(*recovered, Recovered::Nothing);
    })
}

fn settings(host: &dyn Host, domains: u32) -> Vec<String> {
    let names = ["scaling_governor", "scaling_min_freq", "scaling_max_freq", "scaling_setspeed"];
    (0..domains).flat_map(|id| names.map(|name| file(host, id, name))).collect()
}

/// An engine on a recorded machine, whose log is kept.
struct Stage {
    host: Arc<RecordedHost>,
    engine: Engine,
    writer: flyball_govern::Writer,
    kept: Kept,
    now: Nanos,
}

impl Stage {
    fn new(listing: &str, wish: &Wish) -> Stage {
        let host = machine(listing, true);
        let shared: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
        let prepared = prepare(host.as_ref(), wish).unwrap();
        // What a hold would have done.
        for id in 0..prepared.outline.domains.len() {
            let path = format!("{CPU}/cpufreq/policy{id}/scaling_governor");
            let _ = host.write(Path::new(&path), "userspace");
        }
        let (trail, writer) = trail(prepared.names());
        let mut engine = prepared.open(&shared, trail).unwrap();
        let now = host.now();
        engine.start(now).unwrap();
        Stage { host, engine, writer, kept: Kept::default(), now }
    }

    /// Runs for `time`.
    fn pass(&mut self, time: Nanos) {
        let end = self.now + time;
        loop {
            let next = self.engine.step(self.now).unwrap().next;
            if next > end {
                self.now = end;
                break;
            }
            self.now = next;
            self.host.sleep_until(self.now).unwrap();
        }
        self.writer.drain(self.now, &mut Lines::new(self.kept.clone())).unwrap();
    }

    fn load(&self, ticks: &[(u64, u64)]) {
        self.host.put(Path::new("/proc/stat"), &stat_text(ticks));
    }

    fn put(&self, id: u32, name: &str, text: &str) {
        let path = format!("{CPU}/cpufreq/policy{id}/{name}");
        self.host.put(Path::new(&path), &format!("{text}\n"));
    }

    fn state(&self, id: usize) -> &'static str {
        self.engine.status(self.now).domains[id].state
    }

    fn replays(&self) {
        let replayed = replay(&self.kept.text()).unwrap();
        assert!(replayed.decisions > 3 && replayed.different.is_empty(), "{replayed:?}");
    }
}

const SECOND: Nanos = Nanos::from_secs(1);

#[test]
fn every_rule_runs_is_restored_and_replays_to_the_byte() {
    for (governor, tunables) in [
        ("powerd", vec![]),
        ("powerd-paper", vec![]),
        ("powerd++", vec![("poll", 100)]),
        ("ondemand", vec![("sampling_rate", 20_000)]),
        ("conservative", vec![("sampling_rate", 20_000), ("down_threshold", 40)]),
        ("tick", vec![]),
        ("performance", vec![]),
        ("powersave", vec![]),
        ("userspace", vec![]),
        ("windowed", vec![("window_us", 50_000)]),
    ] {
        for listing in [acpi(3), intel()] {
            let host = machine(&listing, true);
            let domains = if listing.contains("policy2") { 3 } else { 1 };
            let before = settings(host.as_ref(), domains);
            let shared: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
            let kept = Kept::default();
            let ended = rule(&shared, &wish(governor, &tunables), 3, &kept)
                .unwrap_or_else(|error| panic!("{governor}: {error}"));
            assert_eq!(settings(host.as_ref(), domains), before, "{governor}");
            assert!(!host.exists(&Path::new(STATE).join("hold.json")), "{governor}");
            let replayed = replay(&kept.text()).unwrap();
            assert!(replayed.different.is_empty(), "{governor}: {replayed:?}");
            assert_eq!(replayed.dropped, ended.dropped);
            if governor == "performance" {
                assert!(ended.status.domains.iter().all(|it| it.current_khz.0 == 3_200_000));
            }
        }
    }
}

#[test]
fn a_load_raises_and_idleness_lowers() {
    let mut stage = Stage::new(&acpi(2), &wish("powerd", &[]));
    stage.pass(Nanos::from_millis(10));
    stage.load(&[(25, 0), (0, 25)]);
    stage.pass(Nanos::from_millis(250));
    // powerd adds up all CPUs, and sets one frequency.
    for cpu in [0, 1] {
        assert_eq!(file(stage.host.as_ref(), cpu, "scaling_setspeed"), "2400000", "600 x 4");
    }
    for at in 1..200 {
        stage.load(&[(25, 25 * at), (0, 25 + 25 * at)]);
        stage.pass(Nanos::from_millis(250));
    }
    for cpu in [0, 1] {
        assert_eq!(file(stage.host.as_ref(), cpu, "scaling_setspeed"), "600000");
    }
    stage.replays();
}

#[test]
fn limits_that_others_set_are_kept_to() {
    let mut stage = Stage::new(&acpi(2), &wish("performance", &[]));
    stage.pass(SECOND);
    assert_eq!(file(stage.host.as_ref(), 1, "scaling_setspeed"), "3200000");
    stage.put(1, "scaling_max_freq", "2000000");
    stage.pass(SECOND);
    assert_eq!(file(stage.host.as_ref(), 1, "scaling_setspeed"), "2000000");
    assert_eq!(file(stage.host.as_ref(), 0, "scaling_setspeed"), "3200000");
    assert!(stage.kept.text().contains("limits_changed"));
    stage.put(1, "scaling_max_freq", "3200000");
    stage.pass(SECOND);
    assert_eq!(file(stage.host.as_ref(), 1, "scaling_setspeed"), "3200000");
    stage.replays();
}

#[test]
fn limits_that_set_the_frequency_are_set_again() {
    let mut stage = Stage::new(&intel(), &wish("performance", &[]));
    stage.pass(SECOND);
    assert_eq!(file(stage.host.as_ref(), 0, "scaling_min_freq"), "3200000");
    stage.put(0, "scaling_min_freq", "800000");
    stage.pass(Nanos::from_secs(2));
    assert_eq!(file(stage.host.as_ref(), 0, "scaling_min_freq"), "3200000");
    assert!(stage.kept.text().contains("limits_taken"));
}

#[test]
fn another_governor_is_left_its_domain() {
    let mut stage = Stage::new(&acpi(2), &wish("powerd", &[]));
    stage.pass(SECOND);
    stage.put(0, "scaling_governor", "schedutil");
    stage.pass(SECOND);
    assert_eq!((stage.state(0), stage.state(1)), ("taken", "ruled"));
    let writes = stage.engine.status(stage.now).domains[0].events;
    stage.pass(SECOND);
    assert_eq!(stage.engine.status(stage.now).domains[0].events, writes, "nothing is decided");
    stage.put(0, "scaling_governor", "userspace");
    stage.pass(SECOND);
    assert_eq!(stage.state(0), "ruled");
    let text = stage.kept.text();
    assert!(text.contains("governor_taken") && text.contains("governor_back"));
    stage.replays();
}

#[test]
fn domains_come_and_go_with_their_cpus() {
    let mut stage = Stage::new(&acpi(2), &wish("powerd", &[]));
    stage.pass(SECOND);
    let online = Path::new("/sys/devices/system/cpu/online");
    stage.host.put(online, "0\n");
    stage.load(&[(9, 9)]);
    stage.pass(SECOND);
    assert_eq!((stage.state(0), stage.state(1)), ("ruled", "gone"));
    stage.pass(Nanos::from_secs(3));
    stage.host.put(online, "0-1\n");
    stage.load(&[(9, 9), (0, 0)]);
    stage.pass(SECOND);
    assert_eq!(stage.state(1), "ruled");
    let text = stage.kept.text();
    assert!(text.contains("domain_gone") && text.contains("domain_back"), "{text}");
    stage.replays();
}

#[test]
fn a_suspended_machine_starts_afresh() {
    let mut stage = Stage::new(&acpi(1), &wish("powerd", &[]));
    stage.pass(SECOND);
    stage.host.suspend(Nanos::from_secs(100));
    stage.pass(SECOND);
    let text = stage.kept.text();
    assert!(text.contains(r#""note":"suspended","for_ns":100000000000"#), "{text}");
    assert!(text.contains(r#""event":"cpus""#));
    assert_eq!(stage.engine.status(stage.now).suspends, 1);
    stage.replays();
}

#[test]
fn tunables_and_governors_change_while_it_runs() {
    let mut stage = Stage::new(&acpi(2), &wish("powerd", &[]));
    stage.pass(SECOND);
    let error = stage.engine.set("poll_ival", 10, stage.now).unwrap_err();
    assert!(matches!(error, GovernError::TooFast { .. }), "{error}");
    let value = |stage: &Stage| {
        let status = stage.engine.status(stage.now);
        status.tunables.iter().find(|it| it.name == "poll_ival").map(|it| it.value)
    };
    assert_eq!(value(&stage), Some(250), "as before");
    stage.engine.set("poll_ival", 50, stage.now).unwrap();
    assert_eq!(value(&stage), Some(50));
    assert!(stage.engine.set("nonsense", 1, stage.now).is_err());
    stage.pass(SECOND);
    assert!(stage.engine.make("schedutil").is_err());
    assert!(matches!(stage.engine.make("conservative"), Err(GovernError::TooFast { .. })));
    let governors = stage.engine.make("performance").unwrap();
    stage.engine.switch(governors, stage.now).unwrap();
    stage.pass(SECOND);
    assert_eq!(file(stage.host.as_ref(), 1, "scaling_setspeed"), "3200000");
    stage.replays();
}

#[test]
fn without_rights_nothing_changes_but_the_shadow_decides() {
    let host = machine(&acpi(1), false);
    let shared: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
    let before = settings(host.as_ref(), 1);
    let error = rule(&shared, &wish("powerd", &[]), 1, &Kept::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Permission, "{error}");
    let kept = Kept::default();
    let shadow = Wish { shadow: true, ..wish("powerd", &[]) };
    let ended = rule(&shared, &shadow, 2, &kept).unwrap();
    assert!(ended.restored.is_none() && ended.status.domains[0].compared > 5);
    assert_eq!(ended.status.domains[0].writes, 0);
    assert_eq!(settings(host.as_ref(), 1), before);
    assert!(replay(&kept.text()).unwrap().different.is_empty());
}

#[test]
fn two_at_once_are_refused() {
    let host = machine(&acpi(1), true);
    let shared: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
    let request = prepare(host.as_ref(), &wish("powerd", &[])).unwrap().request.unwrap();
    let held = flyball_control::Hold::start(&shared, Path::new(STATE), &request).unwrap();
    let error = rule(&shared, &wish("powerd", &[]), 1, &Kept::default()).unwrap_err();
    assert!(error.to_string().contains("held by"), "{error}");
    held.end().unwrap();
}

#[test]
fn a_driver_that_refuses_is_given_up_and_restored() {
    let host = machine(&acpi(1), true);
    let before = settings(host.as_ref(), 1);
    let inner: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
    let path = format!("{CPU}/cpufreq/policy0/scaling_setspeed");
    let faulty = FaultyHost::parse(inner, &format!("write:{path}#3+=EIO")).unwrap();
    let shared: Arc<dyn Host> = Arc::new(faulty);
    let windowed = wish("windowed", &[("window_us", 20_000)]);
    let kept = Kept::default();
    let error = rule(&shared, &windowed, 9, &kept).unwrap_err();
    assert!(matches!(error, GovernError::Writes { count: 20, .. }), "{error}");
    assert!(kept.text().contains("write_failed"));
    assert_eq!(settings(host.as_ref(), 1), before);
}

#[test]
fn times_that_cannot_be_read_are_told_and_tried_again() {
    let host = machine(&acpi(1), true);
    let inner: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
    let shared: Arc<dyn Host> =
        Arc::new(FaultyHost::parse(inner, "read:/proc/stat#3=EIO").unwrap());
    let kept = Kept::default();
    let ended = rule(&shared, &wish("powerd", &[]), 3, &kept).unwrap();
    assert!(kept.text().contains(r#""note":"read_failed","errno":5"#));
    assert!(ended.status.polls > 8);
}

#[test]
fn what_this_machine_cannot_do_is_refused_before_anything_is_changed() {
    let none = format!("{CPU}/online = 0-3\n{CPU}/possible = 0-3\n/proc/stat = cpu0 1 2 3 4\n");
    let error = prepare(machine(&none, true).as_ref(), &wish("powerd", &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let host = machine(&acpi(2), true);
    for (wish, kind) in [
        (wish("schedutil", &[]), ErrorKind::Unsupported),
        (wish("nonsense", &[]), ErrorKind::Usage),
        (wish("powerd", &[("poll_ival", 10)]), ErrorKind::Usage),
        (wish("powerd", &[("nonsense", 10)]), ErrorKind::Usage),
        (wish("conservative", &[]), ErrorKind::Usage),
        (Wish { cpus: Some("7".parse().unwrap()), ..wish("powerd", &[]) }, ErrorKind::BadInput),
        (Wish { source: SourceKind::Schedstat, ..wish("powerd", &[]) }, ErrorKind::Unsupported),
    ] {
        let error = prepare(host.as_ref(), &wish).unwrap_err();
        assert_eq!(error.kind(), kind, "{wish:?}: {error}");
    }
    let outline = prepare(host.as_ref(), &wish("tick", &[])).unwrap().outline;
    assert!(outline.notes.iter().any(|note| note.contains("polls at 50 Hz")), "{outline:?}");
    let one = Wish { cpus: Some("1".parse().unwrap()), ..wish("powerd", &[]) };
    let outline = prepare(host.as_ref(), &one).unwrap().outline;
    assert_eq!(outline.domains.len(), 1);
    assert_eq!(outline.domains[0].name, "policy1");
}
