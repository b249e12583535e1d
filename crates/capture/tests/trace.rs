//! A capture on a recorded machine: what it sets up, and that every way out restores tracefs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use flyball_units::{Diagnostic, ErrorKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_capture::trace::{Capture, Captured, Group, Options, recover};
use flyball_events::import::{Options as ImportOptions, import};
use flyball_host::manifest::Manifest;
use flyball_host::{FaultyHost, Host, RecordedHost};

const TRACEFS: &str = "/sys/kernel/tracing";
const EVENTS: &str = "sched/sched_switch sched/sched_waking sched/sched_wakeup \
    sched/sched_wakeup_new sched/sched_migrate_task sched/sched_process_fork \
    sched/sched_process_exit power/cpu_frequency power/cpu_idle irq/irq_handler_entry \
    irq/irq_handler_exit irq/softirq_entry irq/softirq_exit irq_vectors/local_timer_entry \
    irq_vectors/local_timer_exit irq_vectors/vector_setup";

/// A machine with tracefs as Linux 6.12 has it, without BTF; the process 77 is not in /proc: it
/// counts as dead once it is looked for by its number.
fn machine() -> RecordedHost {
    let mut listing = format!(
        "/proc/self/stat = 77 (flyball) S {} 4711 0\n\
         /proc/sys/kernel/osrelease = 6.12.1\n\
         /proc/filesystems = nodev tracefs\n\
         /sys/devices/system/cpu/possible = 0-1\n\
         {TRACEFS}/instances /\n\
         {TRACEFS}/README = t[:[<group>/][<event>]] <tracepoint> [<args>]\n\
         {TRACEFS}/dynamic_events =\n\
         {TRACEFS}/tracing_on = 1\n\
         {TRACEFS}/trace_clock = [local] global mono\n\
         {TRACEFS}/buffer_size_kb = 7\n\
         {TRACEFS}/buffer_percent = 50\n\
         {TRACEFS}/trace_marker =\n\
         {TRACEFS}/events/enable = 0\n\
         {TRACEFS}/per_cpu/cpu0/stats = read events: 5\n\
         {TRACEFS}/per_cpu/cpu0/stats = overrun: 2\n",
        ["1"; 18].join(" "),
    );
    for event in EVENTS.split_whitespace() {
        listing.push_str(&format!("{TRACEFS}/events/{event}/enable = 0\n"));
    }
    listing.push_str(&format!("{TRACEFS}/trace_pipe = # a comment\n"));
    let mut manifest = Manifest::default();
    manifest.calls.writable = BTreeMap::from([(TRACEFS.to_owned(), true)]);
    RecordedHost::from_listing(&listing).unwrap().with_manifest(manifest)
}

/// Every file of tracefs with its content, every folder without.
fn state(host: &dyn Host) -> Vec<(PathBuf, Option<String>)> {
    fn add(host: &dyn Host, path: &Path, to: &mut Vec<(PathBuf, Option<String>)>) {
        match host.list(path) {
            Ok(names) => {
                to.push((path.to_owned(), None));
                names.iter().for_each(|name| add(host, &path.join(name), to));
            }
            Err(_) => to.push((path.to_owned(), host.read(path).ok())),
        }
    }
    let mut all = Vec::new();
    add(host, Path::new(TRACEFS), &mut all);
    all
}

fn capture(
    host: &Arc<dyn Host>,
    text: &Path,
    options: &Options,
) -> Result<Captured, flyball_capture::trace::CaptureError> {
    let capture = Capture::start(host, text, options)?;
    capture.mark("between")?;
    capture.stop()
}

#[test]
fn an_instance_with_clock_buffers_and_events_that_goes_again() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("trace.txt");
    let host: Arc<dyn Host> = Arc::new(machine());
    let before = state(host.as_ref());
    let running = Capture::start(&host, &text, &Options::default()).unwrap();
    let instance = Path::new(TRACEFS).join("instances/flyball-77-4711");
    let read = |name: &str| host.read(&instance.join(name)).unwrap();
    assert_eq!(read("trace_clock"), "local global [mono]\n");
    assert_eq!((read("buffer_size_kb"), read("tracing_on")), ("4096\n".into(), "1\n".into()));
    assert_eq!(read("events/sched/sched_switch/enable"), "1\n");
    assert_eq!(read("events/irq/softirq_entry/enable"), "0\n", "irq is not a default");
    let notes = running.notes().join("\n");
    assert!(notes.contains("util: Linux 6.12.1 lacks BTF in /sys/kernel/btf/vmlinux"), "{notes}");
    let captured = running.stop().unwrap();
    assert_eq!(state(host.as_ref()), before);
    assert_eq!(captured.groups, [Group::Sched, Group::Frequency, Group::Idle]);
    assert_eq!((captured.cost.events, captured.cost.lost), (5, 2));
    assert!(captured.left.is_empty());
    let run = import(&text, &ImportOptions::default()).unwrap();
    let markers = (0..).map_while(|row| run.tables.markers.row(row)).map(|marker| marker.name);
    assert_eq!(markers.collect::<Vec<_>>(), ["flyball begin", "flyball end"]);
    assert!(run.manifest.clocks.iter().all(|clock| clock.clock == "monotonic"));
}

#[test]
fn every_step_may_fail_and_tracefs_is_restored() {
    let mut tried = 0;
    for call in ["write", "make_dir", "open_stream", "list", "read", "exists", "wait_streams"] {
        for number in 1..60 {
            let dir = tempfile::tempdir().unwrap();
            let inner: Arc<dyn Host> = Arc::new(machine());
            let before = state(inner.as_ref());
            let faults = format!("{call}#{number}=EIO");
            let faulty = FaultyHost::parse(Arc::clone(&inner), &faults).unwrap();
            let host: Arc<dyn Host> = Arc::new(faulty);
            let outcome = capture(&host, &dir.path().join("t"), &Options::default());
            tried += usize::from(outcome.is_err());
            assert_eq!(state(inner.as_ref()), before, "{faults}: {outcome:?}");
        }
    }
    assert!(tried > 20, "only {tried} faults stopped a capture");
}

/// Every call of a capture fails once; and from every call on, as for a program that dies, after which the next one
/// removes what is left.
#[test]
fn every_call_may_fail_or_be_the_last() {
    let (mut errors, mut calls) = (0, 0);
    for call in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let inner: Arc<dyn Host> = Arc::new(machine());
        let before = state(inner.as_ref());
        let counting =
            Arc::new(FaultyHost::parse(Arc::clone(&inner), &format!("any#{call}=EIO")).unwrap());
        let host: Arc<dyn Host> = Arc::clone(&counting) as Arc<dyn Host>;
        let outcome = capture(&host, &dir.path().join("t"), &Options::default());
        errors += usize::from(outcome.is_err());
        if let Ok(captured) = &outcome {
            // What was not removed is told, and the next one removes it.
            if !captured.left.is_empty() {
                recover(inner.as_ref()).unwrap();
            }
        } else if state(inner.as_ref()) != before {
            recover(inner.as_ref()).unwrap();
        }
        assert_eq!(state(inner.as_ref()), before, "call {call}: {outcome:?}");
        let dead = FaultyHost::parse(Arc::clone(&inner), &format!("any#{call}+=EIO")).unwrap();
        let host: Arc<dyn Host> = Arc::new(dead);
        let outcome = capture(&host, &dir.path().join("dead"), &Options::default());
        recover(inner.as_ref()).unwrap();
        assert_eq!(state(inner.as_ref()), before, "dead from call {call} on: {outcome:?}");
        if counting.calls() < call {
            calls = call;
            break;
        }
    }
    assert!(calls > 40 && errors > 20, "{calls} calls, {errors} errors");
}

#[test]
fn what_cannot_be_removed_is_told_and_removed_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let inner: Arc<dyn Host> = Arc::new(machine());
    let before = state(inner.as_ref());
    let faulty = FaultyHost::parse(Arc::clone(&inner), "remove_dir=EIO").unwrap();
    let host: Arc<dyn Host> = Arc::new(faulty);
    let captured = capture(&host, &dir.path().join("a"), &Options::default()).unwrap();
    assert!(captured.left[0].contains("flyball-77-4711"), "{:?}", captured.left);
    assert!(captured.checks()[1].hint.as_ref().unwrap().contains("recover"));
    assert_eq!(recover(host.as_ref()).unwrap_err().kind(), ErrorKind::Restore);
    inner.write(&Path::new(TRACEFS).join("dynamic_events"), "t:flyball_77_4711/x tp").unwrap();
    let captured = capture(&inner, &dir.path().join("b"), &Options::default()).unwrap();
    assert!(captured.notes[0].contains("removed an instance and 1 probes of process 77, killed"));
    assert_eq!(state(inner.as_ref()), before);
}

#[test]
fn a_running_owner_is_left_alone() {
    let running = "/proc/9/stat = 9 (flyball) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 500 0";
    let listing = format!(
        "{running}\n{TRACEFS}/instances/flyball-9-500/tracing_on = 1\n\
         {TRACEFS}/instances/mine/tracing_on = 1\n{TRACEFS}/dynamic_events = p:kprobes/x do_exit\n"
    );
    let mut manifest = Manifest::default();
    manifest.calls.writable = BTreeMap::from([(TRACEFS.to_owned(), true)]);
    let host = RecordedHost::from_listing(&listing).unwrap().with_manifest(manifest);
    let before = state(&host);
    let found = recover(&host).unwrap();
    assert_eq!((found.removed.len(), found.running), (0, vec!["process 9".to_owned()]));
    assert_eq!(state(&host), before);
}

#[test]
fn what_is_missing_is_said_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let start = |listing: &str, options: &Options| {
        let host: Arc<dyn Host> = Arc::new(RecordedHost::from_listing(listing).unwrap());
        let error = capture(&host, &dir.path().join("t"), options).unwrap_err();
        (error.kind(), error.to_string(), error.hint().unwrap_or_default())
    };
    let none = Options::default();
    let (kind, text, hint) = start("/proc/filesystems = nodev tracefs", &none);
    assert_eq!(kind, ErrorKind::Permission);
    assert!(text.contains("mounted") && hint.contains("mount -t tracefs"), "{text}; {hint}");
    let (kind, text, _) = start("/proc/filesystems = ext4", &none);
    assert!(kind == ErrorKind::Unsupported && text.contains("CONFIG_TRACING"), "{text}");
    let (kind, text, hint) = start(&format!("{TRACEFS} ! EACCES"), &none);
    assert_eq!(kind, ErrorKind::Permission);
    assert!(text.contains("EACCES") && hint.contains("as root"), "{text}; {hint}");
    let (kind, ..) = start(&format!("{TRACEFS}/instances /"), &none);
    assert_eq!(kind, ErrorKind::Permission);
}

#[test]
fn a_group_that_was_named_must_be_there() {
    let dir = tempfile::tempdir().unwrap();
    let host: Arc<dyn Host> = Arc::new(machine());
    let before = state(host.as_ref());
    let options = |group| Options { groups: Some(vec![group]), buffer_bytes: Some(4096) };
    let error = capture(&host, &dir.path().join("a"), &options(Group::Util)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().starts_with("events util: expected BTF"), "{error}");
    assert_eq!(state(host.as_ref()), before);
    let captured = capture(&host, &dir.path().join("b"), &options(Group::Irq)).unwrap();
    assert!(captured.events.contains(&"irq_vectors:local_timer_exit".to_owned()));
    assert!(!captured.events.iter().any(|event| event.contains("vector_setup")));
}
